//! What a simulated server of HTTP/1.1 answers, and how it breaks.

use plimsoll_units::Instant;

use super::peer::{End, Mark, Says, Served, Speech, Spoken};
use super::traffic::Request;
use super::weather::Weather;
use plimsoll_testkit::Random;

const HEAD_END: &[u8] = b"\r\n\r\n";

/// The server's end of a connection. It answers in the order of the requests.
#[derive(Debug, Default)]
pub(super) struct Http1 {
    unread: Vec<u8>,
    /// It answers no further requests.
    deaf: bool,
    /// When the last answer is sent.
    answered_at: Instant,
}

impl Http1 {
    /// Takes what the client sent: what the server says to it.
    pub(super) fn take(&mut self, sent: &[u8], served: &mut Served<'_>) -> Vec<Says> {
        self.unread.extend(sent);
        let mut says = Vec::new();
        while let Some(request) = self.next_request() {
            served.arrived(request);
            if self.deaf {
                continue;
            }
            self.deaf = served.random.permille(served.weather.never_answers);
            if !self.deaf {
                self.answer(request, served, &mut says);
            }
        }
        says
    }

    fn next_request(&mut self) -> Option<Request> {
        let head_bytes =
            self.unread.windows(HEAD_END.len()).position(|bytes| bytes == HEAD_END)? + HEAD_END.len();
        let request = Request::from_text(&self.unread[..head_bytes]);
        let bytes = head_bytes + request.body_bytes;
        if self.unread.len() < bytes {
            return None;
        }
        let body: Vec<u8> = self.unread.drain(..bytes).skip(head_bytes).collect();
        assert!(body.iter().all(|byte| *byte == b'r'), "the body of request {}", request.number);
        Some(request)
    }

    fn answer(&mut self, request: Request, served: &mut Served<'_>, says: &mut Vec<Says>) {
        let answer = answer(served.random, served.weather);
        let (service, idle) =
            (served.random.time(served.weather.service), served.random.permille(served.weather.leaves_idle));
        let at = self.answered_at.max(served.now) + service;
        self.answered_at = at;
        self.deaf = answer.after != After::GoesOn || idle;
        let spoken = Spoken { bytes: answer.bytes, ..answer.after.spoken(request.number) };
        says.push(Says { at, speech: Speech::Bytes(spoken) });
        if idle && answer.after == After::GoesOn {
            let left = at + served.random.time(served.weather.service);
            says.push(Says {
                at: left,
                speech: Speech::Bytes(Spoken { end: Some(End::Orderly), ..Spoken::default() }),
            });
        }
    }
}

/// What becomes of the connection with a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
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

impl After {
    /// What the last byte of a response means.
    fn spoken(self, number: u64) -> Spoken {
        let (mark, end, closes_tls) = match self {
            Self::GoesOn => (Mark::Whole(number), None, false),
            Self::Closed => (Mark::LastWhole(number), Some(End::Orderly), true),
            Self::SaidClosed => (Mark::LastWhole(number), None, false),
            Self::EndsResponse => (Mark::WholeAtEnd(number), Some(End::Orderly), true),
            Self::Cut { reset } => {
                (Mark::Nothing, Some(if reset { End::Reset } else { End::Orderly }), false)
            }
            Self::Malformed => (Mark::Broken, None, false),
        };
        Spoken { mark, end, closes_tls, ..Spoken::default() }
    }
}

/// A response, and what becomes of the connection.
#[derive(Debug)]
struct Answer {
    bytes: Vec<u8>,
    after: After,
}

/// The answer to a request. In each form that RFC 9112 knows, or broken.
fn answer(random: &mut Random, weather: &Weather) -> Answer {
    let length = weather.body_bytes(random);
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
            // Of a response, little more than the longest body is kept for a check, framing included.
            let least = body.len() as u64 / 10_000 + 1;
            let most = random.within(least..least + 4000) as usize;
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
