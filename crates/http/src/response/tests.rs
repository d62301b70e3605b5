//! Limits, the shared memory and the life of one parser. What single responses mean is in the corpus under `tests/`.

use super::{Advance, Expect, Finish, Malformed, ParserMemory, Response, ResponseParser};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const OK_RESPONSE: Response = Response { status: 200, keep_alive: true, body_bytes: 5 };

/// Feeds `bytes` in pieces of `piece_bytes` to a new parser: what it says when it ends or fails.
fn read(bytes: &[u8], piece_bytes: usize) -> Result<Option<Response>, Malformed> {
    let mut memory = ParserMemory::default();
    let mut parser = ResponseParser::default();
    for piece in bytes.chunks(piece_bytes) {
        if let Some(response) = parser.advance(piece, &mut memory)?.response {
            return Ok(Some(response));
        }
    }
    Ok(None)
}

/// The same outcome whole, in pieces of odd size and byte by byte.
fn check(bytes: &[u8], expected: Result<Option<u16>, Malformed>) {
    for piece_bytes in [bytes.len(), 4097, 1] {
        let outcome = read(bytes, piece_bytes).map(|response| response.map(|r| r.status));
        assert_eq!(outcome, expected, "in pieces of {piece_bytes}");
    }
}

/// A head of exactly `len` bytes.
fn head_of(len: usize) -> Vec<u8> {
    let mut head = b"HTTP/1.1 204 No Content\r\nX: ".to_vec();
    head.resize(len - 4, b'x');
    head.extend_from_slice(b"\r\n\r\n");
    head
}

fn chunked(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}").into_bytes()
}

#[test]
fn a_head_of_64_kib_is_read_and_one_byte_more_is_too_large() {
    check(&head_of(64 * 1024), Ok(Some(204)));
    check(&head_of(64 * 1024 + 1), Err(Malformed::HeadTooLarge));
}

#[test]
fn a_head_without_end_is_too_large_as_soon_as_it_reaches_the_limit() {
    let endless = vec![b'x'; 1 << 20];
    let bytes = [b"HTTP/1.1 200 OK\r\nX: ", &endless[..]].concat();
    check(&bytes[..64 * 1024 - 1], Ok(None));
    check(&bytes[..64 * 1024], Err(Malformed::HeadTooLarge));
    check(&bytes, Err(Malformed::HeadTooLarge));
}

#[test]
fn a_head_of_256_fields_is_read_and_one_field_more_is_too_large() {
    let head = |fields| format!("HTTP/1.1 204 No\r\n{}\r\n", "A: b\r\n".repeat(fields));
    check(head(256).as_bytes(), Ok(Some(204)));
    check(head(257).as_bytes(), Err(Malformed::TooManyFields));
}

#[test]
fn sixteen_interim_responses_are_skipped_and_one_more_is_malformed() {
    let interim = "HTTP/1.1 103 Early Hints\r\n\r\n";
    let response = |count| interim.repeat(count) + "HTTP/1.1 204 No\r\n\r\n";
    check(response(16).as_bytes(), Ok(Some(204)));
    check(response(17).as_bytes(), Err(Malformed::InterimFlood));
}

#[test]
fn a_chunk_line_of_4_kib_is_read_and_a_longer_one_is_malformed() {
    let body = |len: usize| format!("1;{}\r\nx\r\n0\r\n\r\n", "e".repeat(len - 3));
    check(&chunked(&body(4096)), Ok(Some(200)));
    check(&chunked(&body(4097)), Err(Malformed::Chunk));
}

#[test]
fn trailers_of_64_kib_are_skipped_and_longer_ones_are_malformed() {
    let last_line = 2;
    let body = |len: usize| format!("0\r\nT: {}\r\n\r\n", "t".repeat(len - 5 - last_line));
    check(&chunked(&body(64 * 1024)), Ok(Some(200)));
    check(&chunked(&body(64 * 1024 + 1)), Err(Malformed::Chunk));
}

#[test]
fn a_body_larger_than_memory_is_counted_to_its_last_byte() {
    let mut memory = ParserMemory::default();
    let mut parser = ResponseParser::default();
    let block = vec![b'x'; 1 << 20];
    let total = 5 * block.len() + 1;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {total}\r\n\r\n");
    let first = parser.advance(head.as_bytes(), &mut memory);
    assert_eq!(first.map(|advance| advance.consumed), Ok(head.len()));
    for _ in 0..5 {
        let advance = parser.advance(&block, &mut memory).expect("a body");
        assert_eq!((advance.consumed, advance.response), (block.len(), None));
    }
    let last = parser.advance(&block, &mut memory).expect("a body");
    assert_eq!(last.consumed, 1);
    assert_eq!(last.response.map(|r| r.body_bytes), Some(total as u64));
}

#[test]
fn bytes_after_a_response_are_left_to_the_caller() {
    let mut memory = ParserMemory::default();
    let mut parser = ResponseParser::default();
    let two = [OK, OK].concat();
    let complete = Advance { consumed: OK.len(), response: Some(OK_RESPONSE) };
    let idle = Advance { consumed: 0, response: None };
    assert_eq!(parser.advance(&two, &mut memory), Ok(complete));
    assert_eq!(parser.advance(&two[OK.len()..], &mut memory), Ok(idle));
    parser.reset(Expect::Body);
    assert_eq!(parser.advance(&two[OK.len()..], &mut memory), Ok(complete));
}

#[test]
fn a_remembered_head_is_not_taken_for_another_request_kind_or_another_head() {
    let mut memory = ParserMemory::default();
    let mut parser = ResponseParser::default();
    let mut read = |expect, bytes: &[u8]| {
        parser.reset(expect);
        let advance = parser.advance(bytes, &mut memory).expect("well-formed");
        (advance.consumed, advance.response.map(|r| r.body_bytes))
    };
    let other = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhello";
    for _ in 0..2 {
        assert_eq!(read(Expect::Body, OK), (OK.len(), Some(5)));
        assert_eq!(read(Expect::NoBody, OK), (OK.len() - 5, Some(0)));
        assert_eq!(read(Expect::Body, other), (other.len() - 1, Some(4)));
    }
}

#[test]
fn a_head_in_pieces_borrows_a_buffer_and_gives_it_back_when_complete() {
    let mut memory = ParserMemory::default();
    let mut parser = ResponseParser::default();
    for _ in 0..3 {
        parser.reset(Expect::Body);
        for byte in OK.chunks(1) {
            parser.advance(byte, &mut memory).expect("well-formed");
        }
        assert_eq!((parser.stash.capacity(), memory.spares.count()), (0, 1));
    }
}

#[test]
fn a_buffer_comes_back_after_an_error_and_after_an_abandoned_head() {
    let mut memory = ParserMemory::default();
    let mut parser = ResponseParser::default();
    parser.advance(b"HTTP/1.1 ", &mut memory).expect("a start");
    assert_eq!(memory.spares.count(), 0);
    let broken = parser.advance(b"nonsense\r\n\r\n", &mut memory);
    assert_eq!(broken, Err(Malformed::Head));
    assert_eq!((parser.stash.capacity(), memory.spares.count()), (0, 1));
    parser.reset(Expect::Body);
    parser.advance(b"HTTP/1.1 5", &mut memory).expect("a start");
    parser.reset(Expect::Body);
    let advance = parser.advance(OK, &mut memory).expect("well-formed");
    assert_eq!(advance.response, Some(OK_RESPONSE));
    assert_eq!((parser.stash.capacity(), memory.spares.count()), (0, 1));
}

#[test]
fn the_meaning_of_a_close_depends_on_what_was_outstanding() {
    let finish = |bytes: &[u8]| {
        let mut parser = ResponseParser::default();
        let advance = parser.advance(bytes, &mut ParserMemory::default());
        advance.expect("well-formed so far");
        (parser.started(), parser.finish())
    };
    assert_eq!(finish(b""), (false, Finish::Before));
    assert_eq!(finish(b"H"), (true, Finish::Within));
    assert_eq!(finish(b"HTTP/1.1 100 Continue\r\n\r\n"), (true, Finish::Within));
    assert_eq!(finish(&OK[..OK.len() - 1]), (true, Finish::Within));
    assert_eq!(finish(OK), (true, Finish::Before));
    assert_eq!(finish(&chunked("5\r\nhello\r\n0\r\n")), (true, Finish::Within));
    let unframed = Response { keep_alive: false, ..OK_RESPONSE };
    let closed = finish(b"HTTP/1.1 200 OK\r\n\r\nhello");
    assert_eq!(closed, (true, Finish::Complete(unframed)));
}

#[test]
fn a_close_is_counted_once() {
    let mut parser = ResponseParser::default();
    let advance = parser.advance(b"HTTP/1.0 200 OK\r\n\r\n", &mut ParserMemory::default());
    assert_eq!(advance.map(|advance| advance.response), Ok(None));
    assert!(matches!(parser.finish(), Finish::Complete(_)));
    assert_eq!(parser.finish(), Finish::Before);
}

#[test]
fn a_malformed_response_stays_malformed_until_the_reset() {
    let mut memory = ParserMemory::default();
    let mut parser = ResponseParser::default();
    assert_eq!(parser.advance(b"SSH-2.0", &mut memory), Err(Malformed::Head));
    assert_eq!(parser.advance(OK, &mut memory), Err(Malformed::Head));
    assert_eq!(parser.finish(), Finish::Within);
    parser.reset(Expect::Body);
    let advance = parser.advance(OK, &mut memory).expect("well-formed");
    assert_eq!(advance.response, Some(OK_RESPONSE));
}

#[test]
fn another_protocol_is_refused_at_its_first_wrong_byte() {
    for bytes in [&b"S"[..], b"\r\n", b"HTTP/2", b"HTTP/1,"] {
        check(bytes, Err(Malformed::Head));
    }
    check(b"HTTP/1.", Ok(None));
}

#[test]
fn a_body_thrown_away_unseen_counts_like_one_that_was_read() {
    let mut parser = ResponseParser::default();
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab";
    assert_eq!(parser.advance(head, &mut ParserMemory::default()).unwrap().response, None);
    assert_eq!(parser.unseen_bytes(), 8);
    assert_eq!(parser.skip(5), None);
    let response = parser.skip(100).unwrap();
    assert_eq!((response.body_bytes, parser.unseen_bytes(), parser.skip(1)), (10, 0, None));
    assert_eq!(parser.finish(), Finish::Before);
}
