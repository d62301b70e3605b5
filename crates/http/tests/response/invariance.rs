//! The property that the tests and the fuzzer share: how a stream of responses is cut into reads,
//! and what the shared memory holds from before, never changes what the parser makes of it.

use plimsoll_http::{Expect, Finish, Malformed, ParserMemory, Response, ResponseParser};

/// Bytes of a fuzzed input before its stream: flags, then three lengths of pieces.
const CONTROL_BYTES: usize = 4;

/// Everything a caller learns from one connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) responses: Vec<Response>,
    pub(crate) end: End,
}

/// How the connection ended. The peer closes after the last byte of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    Before,
    Within,
    /// The close completed the last response.
    Complete,
    /// A response that closes the connection left this many bytes unread.
    Rest(usize),
    Malformed(Malformed),
}

/// Reads a stream in pieces of the given lengths, and what is left after them in one.
pub(crate) fn read(
    stream: &[u8],
    expect: Expect,
    memory: &mut ParserMemory,
    pieces: impl IntoIterator<Item = usize>,
) -> Outcome {
    let mut parser = ResponseParser::default();
    parser.reset(expect);
    let mut responses = Vec::new();
    let mut pieces = pieces.into_iter();
    let mut rest = stream;
    while !rest.is_empty() {
        let len = pieces.next().unwrap_or(rest.len()).clamp(1, rest.len());
        let advance = match parser.advance(&rest[..len], memory) {
            Ok(advance) => advance,
            Err(malformed) => {
                let end = End::Malformed(malformed);
                return Outcome { responses, end };
            }
        };
        assert!(parser.started(), "a byte was fed");
        rest = &rest[advance.consumed..];
        let Some(response) = advance.response else {
            assert_eq!(advance.consumed, len, "only a complete response leaves bytes");
            continue;
        };
        responses.push(response);
        if !response.keep_alive && !rest.is_empty() {
            let end = End::Rest(rest.len());
            return Outcome { responses, end };
        }
        parser.reset(expect);
    }
    let end = match parser.finish() {
        Finish::Before => End::Before,
        Finish::Within => End::Within,
        Finish::Complete(response) => {
            responses.push(response);
            End::Complete
        }
    };
    Outcome { responses, end }
}

/// Takes an input apart as the fuzzer writes it and asserts the property for it.
pub(crate) fn check(input: &[u8]) {
    let Some((control, stream)) = input.split_at_checked(CONTROL_BYTES) else {
        return;
    };
    let expect = if control[0] & 1 == 0 { Expect::Body } else { Expect::NoBody };
    let pieces = control[1..].iter().map(|len| usize::from(*len)).cycle();
    let whole = read(stream, expect, &mut ParserMemory::default(), []);
    let mut memory = ParserMemory::default();
    let cut = read(stream, expect, &mut memory, pieces.clone());
    assert_eq!(cut, whole, "cut in pieces");
    let bytewise = read(stream, expect, &mut memory, std::iter::repeat(1));
    assert_eq!(bytewise, whole, "byte by byte");
    // What was remembered of another kind of request must not leak into this one.
    let other = match expect {
        Expect::Body => Expect::NoBody,
        Expect::NoBody => Expect::Body,
    };
    read(stream, other, &mut memory, []);
    for _ in 0..2 {
        let again = read(stream, expect, &mut memory, []);
        assert_eq!(again, whole, "with heads remembered");
    }
}
