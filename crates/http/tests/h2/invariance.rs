//! The property that the tests and the fuzzer share: how a server's bytes are cut into reads, and
//! what the shared memory holds from before, never changes what the client makes of them.

use plimsoll_http::Expect;
use plimsoll_http::h2::{Broken, Connection, Event, Memory, Request};

/// Bytes of a fuzzed input before its stream: requests, window, then three lengths of pieces.
const CONTROL_BYTES: usize = 5;
/// The body of an upload: more than the windows that connections begin with.
const UPLOAD_BYTES: usize = 100_000;

/// The kinds of requests that stand open when the server's bytes begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Get,
    Head,
    Observed,
    Upload,
    Cancelled,
}

/// What was done on a connection before the server's first byte.
#[derive(Debug, Clone)]
pub(crate) struct Opening {
    /// One request of each kind, tagged from 0.
    pub(crate) kinds: Vec<Kind>,
    pub(crate) window_bytes: u32,
}

/// Something seen, kept beyond its event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Observed {
    Field(u32, Vec<u8>, Vec<u8>),
    Body(u32, Vec<u8>),
    Ended(u32, Event<'static>),
}

/// Everything a caller learns from one connection, and everything it sends after the opening.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) seen: Vec<Observed>,
    pub(crate) sent: Vec<u8>,
    pub(crate) broken: Option<Broken>,
}

/// Notes an event; pieces of one body are put together again.
pub(crate) fn note(seen: &mut Vec<Observed>, event: Event<'_>) {
    let ended = match event {
        Event::Field { tag, name, value } => {
            seen.push(Observed::Field(tag, name.to_vec(), value.to_vec()));
            return;
        }
        Event::Body { tag, bytes } => {
            assert!(!bytes.is_empty(), "a piece holds something");
            match seen.last_mut() {
                Some(Observed::Body(last, body)) if *last == tag => body.extend_from_slice(bytes),
                _ => seen.push(Observed::Body(tag, bytes.to_vec())),
            }
            return;
        }
        Event::Answered { tag, response } => Observed::Ended(tag, Event::Answered { tag, response }),
        Event::Malformed { tag, malformed } => Observed::Ended(tag, Event::Malformed { tag, malformed }),
        Event::Reset { tag, code } => Observed::Ended(tag, Event::Reset { tag, code }),
        Event::Refused { tag } => Observed::Ended(tag, Event::Refused { tag }),
        Event::Cut { tag, begun } => Observed::Ended(tag, Event::Cut { tag, begun }),
    };
    seen.push(ended);
}

/// Opens a connection and its requests.
fn open(opening: &Opening, memory: &mut Memory) -> Connection {
    let streams_max = u32::try_from(opening.kinds.len()).expect("few requests");
    let mut connection = Connection::with_window(streams_max, opening.window_bytes);
    let mut out = Vec::new();
    connection.open(&mut out);
    let body = vec![b'u'; UPLOAD_BYTES];
    for (tag, kind) in (0_u32..).zip(&opening.kinds) {
        let request = Request {
            tag,
            block: b"\x82\x86\x84",
            body: if *kind == Kind::Upload { &body } else { &[] },
            expect: if *kind == Kind::Head { Expect::NoBody } else { Expect::Body },
            observe: *kind == Kind::Observed,
        };
        assert!(connection.request(&request, memory, &mut out), "there is capacity");
    }
    for (tag, kind) in (0_u32..).zip(&opening.kinds) {
        if *kind == Kind::Cancelled {
            assert!(connection.cancel(tag, memory, &mut out), "it was open");
        }
    }
    connection
}

/// Reads a stream in pieces of the given lengths, and what is left after them in one.
pub(crate) fn read(
    opening: &Opening,
    stream: &[u8],
    memory: &mut Memory,
    pieces: impl IntoIterator<Item = usize>,
) -> Outcome {
    let mut connection = open(opening, memory);
    let (mut seen, mut sent) = (Vec::new(), Vec::new());
    let mut pieces = pieces.into_iter();
    let (mut rest, mut broken) = (stream, None);
    while !rest.is_empty() && broken.is_none() {
        let len = pieces.next().unwrap_or(rest.len()).clamp(1, rest.len());
        let (piece, after) = rest.split_at(len);
        rest = after;
        broken = connection.receive(piece, memory, &mut sent, &mut |event| note(&mut seen, event)).err();
    }
    if broken.is_some() {
        let again = connection.receive(b"", memory, &mut Vec::new(), &mut |_| ());
        assert_eq!(again.err(), broken, "what is broken stays so");
    }
    connection.finish(memory, &mut |event| note(&mut seen, event));
    assert_eq!(connection.capacity(), 0, "a finished connection takes nothing");
    check_ends(opening, &seen);
    Outcome { seen, sent, broken }
}

/// Each request that was not cancelled ends once, and nothing is said of it afterwards.
fn check_ends(opening: &Opening, seen: &[Observed]) {
    for (tag, kind) in (0_u32..).zip(&opening.kinds) {
        let mine = |seen: &&Observed| match seen {
            Observed::Field(of, ..) | Observed::Body(of, _) | Observed::Ended(of, _) => *of == tag,
        };
        let ends = seen.iter().filter(mine).filter(|seen| matches!(seen, Observed::Ended(..))).count();
        assert_eq!(ends, usize::from(*kind != Kind::Cancelled), "request {tag} ends once");
        let last = seen.iter().rfind(mine);
        assert!(last.is_none_or(|last| matches!(last, Observed::Ended(..))), "request {tag} ends last");
        let observed = seen.iter().filter(mine).count() <= 1 || *kind == Kind::Observed;
        assert!(observed, "request {tag} shows no more than was asked");
    }
}

/// Takes an input apart as the fuzzer writes it and asserts the property for it.
pub(crate) fn check(input: &[u8]) {
    let Some((control, stream)) = input.split_at_checked(CONTROL_BYTES) else {
        return;
    };
    let opening = opening(control);
    let pieces = control[2..].iter().map(|len| usize::from(*len)).cycle();
    let whole = read(&opening, stream, &mut Memory::default(), []);
    let mut memory = Memory::default();
    let cut = read(&opening, stream, &mut memory, pieces);
    assert_eq!(cut, whole, "cut in pieces");
    let bytewise = read(&opening, stream, &mut memory, std::iter::repeat(1));
    assert_eq!(bytewise, whole, "byte by byte");
    let again = read(&opening, stream, &mut memory, []);
    assert_eq!(again, whole, "with blocks remembered");
}

/// Five kinds from one byte, so that every kind meets every place among a few.
fn opening(control: &[u8]) -> Opening {
    const KINDS: [Kind; 5] = [Kind::Get, Kind::Observed, Kind::Head, Kind::Upload, Kind::Cancelled];
    let (mut code, mut kinds) = (usize::from(control[0]), Vec::new());
    for _ in 0..3 {
        kinds.push(KINDS[code % 5]);
        code /= 5;
    }
    Opening { kinds, window_bytes: u32::from(control[1]) * 64 }
}
