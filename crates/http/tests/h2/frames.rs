//! Frames as a server writes them, and what a client wrote, taken apart.

use std::fmt::Write;

use plimsoll_http::h2::ErrorCode;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

const NAMES: [&str; 10] = [
    "data",
    "headers",
    "priority",
    "rst_stream",
    "settings",
    "push_promise",
    "ping",
    "goaway",
    "window_update",
    "continuation",
];

/// One frame; its length may be other than the payload's when a test wants it to lie.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let len = u32::try_from(payload.len()).expect("a short payload").to_be_bytes();
    [&len[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

pub(crate) fn settings(settings: &[(u16, u32)]) -> Vec<u8> {
    let bytes =
        |(identifier, value): &(u16, u32)| [&identifier.to_be_bytes()[..], &value.to_be_bytes()].concat();
    frame(SETTINGS, 0, 0, &settings.iter().flat_map(bytes).collect::<Vec<_>>())
}

pub(crate) fn window_update(stream: u32, increment: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &increment.to_be_bytes())
}

/// A complete `200` without a body.
pub(crate) fn answer(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, b"\x88")
}

/// One frame that the client wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

/// Takes what a client wrote apart; nothing may be left over.
pub(crate) fn sent(mut bytes: &[u8]) -> Vec<Sent> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let (header, rest) = bytes.split_first_chunk::<9>().expect("a whole header");
        let [a, b, c, kind, flags, stream @ ..] = *header;
        let len = u32::from_be_bytes([0, a, b, c]) as usize;
        let (payload, rest) = rest.split_at_checked(len).expect("a whole payload");
        let stream = u32::from_be_bytes(stream);
        frames.push(Sent { kind, flags, stream, payload: payload.to_vec() });
        bytes = rest;
    }
    frames
}

/// What a client wrote, in words: `settings ack; rst_stream 1 CANCEL; window_update 0 +5`.
pub(crate) fn describe(bytes: &[u8]) -> String {
    let describe_one = |sent: &Sent| {
        let mut text = NAMES[usize::from(sent.kind)].to_owned();
        if sent.stream != 0 || sent.kind == WINDOW_UPDATE {
            write!(text, " {}", sent.stream).unwrap();
        }
        let number =
            |at: usize| sent.payload[at..].first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
        match sent.kind {
            DATA => {
                write!(text, " {} bytes{}", sent.payload.len(), if sent.flags & 1 == 1 { " end" } else { "" })
            }
            RST_STREAM => write!(text, " {}", ErrorCode(number(0)).name()),
            GOAWAY => write!(text, " {}", ErrorCode(number(4)).name()),
            WINDOW_UPDATE => write!(text, " +{}", number(0)),
            SETTINGS if sent.flags & 1 == 1 => write!(text, " ack"),
            6 => write!(text, " ack {}", String::from_utf8_lossy(&sent.payload)),
            _ => Ok(()),
        }
        .unwrap();
        text
    };
    sent(bytes).iter().map(describe_one).collect::<Vec<_>>().join("; ")
}
