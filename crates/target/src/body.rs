//! The body of a request: found to its end, counted nowhere, kept nowhere.

use httparse::Status;
use memchr::memchr;

use crate::route::Refusal;

/// The longest line that gives the size of a chunk, extensions included.
const MAX_SIZE_LINE_BYTES: usize = 4096;

/// All trailer fields together.
const MAX_TRAILER_BYTES: usize = 16 * 1024;

/// What is still to come of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// Nothing: the request is whole.
    Read,
    /// This many bytes.
    Sized(u64),
    /// The line with the next chunk's size.
    ChunkSize,
    /// This many bytes of a chunk.
    Chunk(u64),
    /// The line end after a chunk.
    ChunkEnd,
    /// Trailer fields, of which this many bytes were read, up to an empty line.
    Trailers(usize),
}

impl Body {
    /// Reads past as much of the body as is there and says how many bytes that was.
    pub(crate) fn skip(&mut self, input: &[u8]) -> Result<usize, Refusal> {
        let mut used = 0;
        while let Some((bytes, next)) = self.step(&input[used..])? {
            used += bytes;
            *self = next;
        }
        Ok(used)
    }

    /// One part of the body and what follows it; nothing if the body is read or more input is needed.
    fn step(self, rest: &[u8]) -> Result<Option<(usize, Self)>, Refusal> {
        match self {
            Self::Read => Ok(None),
            Self::Sized(0) => Ok(Some((0, Self::Read))),
            Self::Chunk(0) => Ok(Some((0, Self::ChunkEnd))),
            Self::Sized(left) => Ok(part(left, rest).map(|(bytes, left)| (bytes, Self::Sized(left)))),
            Self::Chunk(left) => Ok(part(left, rest).map(|(bytes, left)| (bytes, Self::Chunk(left)))),
            Self::ChunkSize => chunk_size(rest),
            Self::ChunkEnd => chunk_end(rest),
            Self::Trailers(read) => trailer(read, rest),
        }
    }
}

fn part(left: u64, rest: &[u8]) -> Option<(usize, u64)> {
    let bytes = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
    (bytes > 0).then_some((bytes, left - bytes as u64))
}

fn chunk_size(rest: &[u8]) -> Result<Option<(usize, Body)>, Refusal> {
    match httparse::parse_chunk_size(rest) {
        Ok(Status::Complete((bytes, 0))) => Ok(Some((bytes, Body::Trailers(0)))),
        Ok(Status::Complete((bytes, size))) => Ok(Some((bytes, Body::Chunk(size)))),
        Ok(Status::Partial) if rest.len() <= MAX_SIZE_LINE_BYTES => Ok(None),
        Ok(Status::Partial) | Err(_) => Err(Refusal::Malformed),
    }
}

fn chunk_end(rest: &[u8]) -> Result<Option<(usize, Body)>, Refusal> {
    match rest {
        [b'\r', b'\n', ..] => Ok(Some((2, Body::ChunkSize))),
        [] | [b'\r'] => Ok(None),
        _ => Err(Refusal::Malformed),
    }
}

fn trailer(read: usize, rest: &[u8]) -> Result<Option<(usize, Body)>, Refusal> {
    let line_bytes = memchr(b'\n', rest).map(|at| at + 1);
    if read + line_bytes.unwrap_or(rest.len()) > MAX_TRAILER_BYTES {
        return Err(Refusal::Malformed);
    }
    Ok(line_bytes.map(|bytes| {
        let last = matches!(&rest[..bytes], b"\r\n" | b"\n");
        (bytes, if last { Body::Read } else { Body::Trailers(read + bytes) })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNKED: &[u8] = b"5;name=value\r\nhello\r\n1\r\n!\r\n0\r\nDigest: none\r\n\r\nGET";

    #[test]
    fn a_body_ends_where_it_says_and_what_follows_is_left() {
        let mut body = Body::Sized(3);
        assert_eq!((body.skip(b"abcGET"), body), (Ok(3), Body::Read));
        let mut body = Body::ChunkSize;
        assert_eq!(body.skip(CHUNKED), Ok(CHUNKED.len() - 3));
        assert_eq!(body, Body::Read);
    }

    #[test]
    fn a_chunked_body_may_be_cut_anywhere() {
        let whole = &CHUNKED[..CHUNKED.len() - 3];
        for cut in 0..whole.len() {
            let mut body = Body::ChunkSize;
            let first = body.skip(&whole[..cut]).unwrap();
            assert_ne!(body, Body::Read, "cut at {cut}");
            assert_eq!(first + body.skip(&whole[first..]).unwrap(), whole.len(), "cut at {cut}");
            assert_eq!(body, Body::Read, "cut at {cut}");
        }
    }

    #[test]
    fn what_is_not_chunked_is_refused() {
        let long_line = [b"1;".as_slice(), &[b'x'; MAX_SIZE_LINE_BYTES]].concat();
        let long_trailers = [b"0\r\n".as_slice(), &b"a: b\r\n".repeat(4000)].concat();
        for input in [b"zz\r\n".as_slice(), b"1\r\nab", b"-1\r\n", &long_line, &long_trailers] {
            assert_eq!(Body::ChunkSize.skip(input), Err(Refusal::Malformed));
        }
    }
}
