//! Plays a case of HTTP/2, and takes down what the client replies.

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use super::case::Step;
use super::playback::{CONTROL_STATUS, Shared};
use crate::frame_notation::{FRAME_NAMES, frame_bytes};

/// What a client sends first (RFC 9113 section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// How long a client may take to send what a case waits for.
const PATIENCE: Duration = Duration::from_secs(20);
const HEADERS: u8 = 1;
const CODES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

/// A connection of a client that begins as HTTP/2 does.
struct Conversation<'a> {
    stream: &'a TcpStream,
    reader: BufReader<&'a TcpStream>,
    shared: &'a Shared,
    played: bool,
    greeted: bool,
}

/// One frame of the client.
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

/// Serves a connection to its end.
pub(super) fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut preface = [0; PREFACE.len()];
    reader.read_exact(&mut preface)?;
    if preface != PREFACE {
        return Ok(());
    }
    let mut conversation = Conversation { stream, reader, shared, played: false, greeted: false };
    while let Some(frame) = conversation.read_frame()? {
        conversation.advance(&frame);
    }
    Ok(())
}

impl Conversation<'_> {
    /// What the client sent next; `None` at its end.
    fn read_frame(&mut self) -> io::Result<Option<Frame>> {
        let mut header = [0; 9];
        if let Err(error) = self.reader.read_exact(&mut header) {
            return if error.kind() == io::ErrorKind::UnexpectedEof { Ok(None) } else { Err(error) };
        }
        let [a, b, c, kind, flags, stream @ ..] = header;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.reader.read_exact(&mut payload)?;
        let frame = Frame { kind, flags, stream: u32::from_be_bytes(stream), payload };
        if self.played && matches!(kind, 3 | 7) | frame.is_ping_ack() {
            let words: Vec<_> = frame.describe().split(' ').map(str::to_owned).collect();
            let named = if kind == 3 { vec![words[0].clone(), words[2].clone()] } else { words };
            self.shared.note_sent(named.join(" "));
        }
        Ok(Some(frame))
    }

    /// Replies to requests. What cannot be written went to a client that has closed, whose last frames are still read.
    fn advance(&mut self, frame: &Frame) {
        if frame.kind != HEADERS {
            return;
        }
        if self.played {
            self.shared.note_reuse();
        }
        match self.shared.begin_request() {
            Some(true) => {
                self.played = true;
                self.greeted = true;
                self.play().ok();
            }
            Some(false) => self.send_control(frame.stream).unwrap_or_default(),
            None => {}
        }
    }

    fn play(&mut self) -> io::Result<()> {
        for step in &self.shared.case.steps {
            match step {
                Step::Send(bytes) => self.shared.send(self.stream, bytes)?,
                Step::Await(frame) => self.wait_for(frame)?,
            }
        }
        if self.shared.case.closes { self.stream.shutdown(Shutdown::Write) } else { Ok(()) }
    }

    /// A client that does not send it is left.
    fn wait_for(&mut self, expected: &str) -> io::Result<()> {
        self.stream.set_read_timeout(Some(PATIENCE))?;
        loop {
            match self.read_frame() {
                Ok(Some(frame)) if frame.describe().starts_with(expected) => break,
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return self.stream.shutdown(Shutdown::Both),
            }
        }
        self.stream.set_read_timeout(None)
    }

    fn send_control(&mut self, stream: u32) -> io::Result<()> {
        let greeting = if self.greeted { "" } else { "settings 0\nsettings 0 ack\n" };
        self.greeted = true;
        let control = format!("{greeting}headers {stream} end_headers end_stream status:{CONTROL_STATUS}");
        self.stream.write_all(&frame_bytes(&control))
    }
}

impl Frame {
    fn is_ping_ack(&self) -> bool {
        (self.kind, self.flags & 1) == (6, 1)
    }

    /// In words: `settings ack`, `rst_stream 1 CANCEL`, `goaway PROTOCOL_ERROR`, `ping ack TEXT`.
    fn describe(&self) -> String {
        let name = FRAME_NAMES.get(usize::from(self.kind)).copied().unwrap_or("unknown");
        let ack = if self.flags & 1 == 1 { " ack" } else { "" };
        match self.kind {
            3 => format!("{name} {} {}", self.stream, self.code(0)),
            4 => format!("{name}{ack}"),
            6 => format!("{name}{ack} {}", String::from_utf8_lossy(&self.payload)),
            7 => format!("{name} {}", self.code(4)),
            _ => format!("{name} {}", self.stream),
        }
    }

    fn code(&self, at: usize) -> &'static str {
        let code =
            self.payload.get(at..).and_then(<[u8]>::first_chunk).map(|bytes| u32::from_be_bytes(*bytes));
        code.and_then(|code| CODES.get(code as usize).copied()).unwrap_or("UNKNOWN")
    }
}
