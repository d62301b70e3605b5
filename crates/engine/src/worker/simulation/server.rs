//! What a simulated server answers, and how it breaks.

use std::time::Duration;

use super::random::Random;

/// The server's and the network's character. All of it follows from the seed; a thousandth is the unit of what happens at
/// times.
#[derive(Debug, Clone)]
pub(super) struct Weather {
    pub(super) connect: Duration,
    pub(super) service: Duration,
    pub(super) gap: Duration,
    pub(super) refused: u64,
    pub(super) never_connects: u64,
    pub(super) never_answers: u64,
    pub(super) cut: u64,
    pub(super) malformed: u64,
    pub(super) closes: u64,
    pub(super) leaves_idle: u64,
    /// Bytes that a socket takes before it is full.
    pub(super) socket_bytes: u64,
    pub(super) body_bytes: u64,
}

impl Weather {
    pub(super) fn new(random: &mut Random) -> Self {
        let mut sometimes = |most: u64| if random.permille(500) { random.within(0..most) } else { 0 };
        let (refused, never_connects, never_answers) = (sometimes(100), sometimes(20), sometimes(10));
        let (cut, malformed, closes, leaves_idle) =
            (sometimes(30), sometimes(30), sometimes(200), sometimes(30));
        let ms = |random: &mut Random, most| Duration::from_millis(random.within(0..most));
        Self {
            connect: ms(random, 50),
            service: ms(random, 400),
            gap: ms(random, 20),
            refused,
            never_connects,
            never_answers,
            cut,
            malformed,
            closes,
            leaves_idle,
            socket_bytes: random.within(1..200),
            body_bytes: if random.permille(300) { 200_000 } else { 300 },
        }
    }
}

/// What becomes of the connection with a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// It goes on.
    GoesOn,
    /// The response said that it ends, and it does.
    Closed,
    /// The response said that it ends, and it stays open.
    SaidClosed,
    /// The end of the connection is the end of the response.
    EndsResponse,
    /// It ends, in order or by a reset, before the response does.
    Cut { reset: bool },
    /// The response cannot be read; the client has to close.
    Malformed,
}

/// A response, and what becomes of the connection.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) bytes: Vec<u8>,
    pub(super) after: After,
}

/// The answer to a request. In each form that RFC 9112 knows, or broken.
pub(super) fn answer(random: &mut Random, weather: &Weather) -> Answer {
    let length = random.within(0..weather.body_bytes) as usize;
    let body = vec![b'x'; length];
    if random.permille(weather.malformed) {
        return Answer { bytes: malformed(random), after: After::Malformed };
    }
    if random.permille(weather.closes) {
        return closing(random, &body);
    }
    let mut bytes = whole(random, &body);
    if random.permille(weather.cut) {
        bytes.truncate(random.within(0..bytes.len() as u64) as usize);
        return Answer { bytes, after: After::Cut { reset: random.permille(500) } };
    }
    Answer { bytes, after: After::GoesOn }
}

fn joined(head: &str, body: &[u8]) -> Vec<u8> {
    [head.as_bytes(), body].concat()
}

fn with_length(body: &[u8], fields: &str) -> Vec<u8> {
    joined(&format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: {}\r\n\r\n", body.len()), body)
}

fn whole(random: &mut Random, body: &[u8]) -> Vec<u8> {
    match random.within(0..5) {
        0 => b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
        1 => joined("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", &with_length(body, "")),
        2 => {
            let mut bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
            let most = random.within(1..4000) as usize;
            for chunk in body.chunks(most) {
                bytes.extend(joined(&format!("{:x};a=b\r\n", chunk.len()), chunk));
                bytes.extend(b"\r\n");
            }
            bytes.extend(b"0\r\nTrailer: 1\r\n\r\n");
            bytes
        }
        _ => with_length(body, ""),
    }
}

fn closing(random: &mut Random, body: &[u8]) -> Answer {
    let (bytes, after) = match random.within(0..3) {
        0 => (joined("HTTP/1.1 200 OK\r\n\r\n", body), After::EndsResponse),
        1 => (with_length(body, "Connection: close\r\n"), After::SaidClosed),
        _ => (with_length(body, "Connection: close\r\n"), After::Closed),
    };
    Answer { bytes, after }
}

fn malformed(random: &mut Random) -> Vec<u8> {
    let wrong: [&[u8]; 5] = [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno field\r\n\r\n",
    ];
    wrong[random.within(0..wrong.len() as u64) as usize].to_vec()
}
