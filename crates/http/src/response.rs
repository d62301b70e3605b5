//! The incremental response parser: takes bytes as they come from the socket, returns responses.
//!
//! It is on the hot path of the load generator. A response whose head arrives in one read is parsed in place, without a copy
//! or an allocation; a head that equals the last one is not parsed at all; a body is skipped by arithmetic. How the network
//! splits a response never changes the outcome; the tests check this for every parser state.

use chunked::skip;
use head::{Framing, Head};

use crate::memory::{HeadCache, Spares};

mod chunked;
pub(crate) mod fields;
pub(crate) mod head;
mod malformed;
#[cfg(test)]
mod tests;

pub use chunked::Chunked;
pub use fields::asks_to_close;
pub use head::Expect;
pub use malformed::Malformed;

/// Maximum number of interim (1xx) responses before one final response.
pub(crate) const MAX_INTERIM: u8 = 16;

/// A complete response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    /// The status code, 200 to 999; interim responses are skipped.
    pub status: u16,
    /// True if the connection may carry another request.
    pub keep_alive: bool,
    /// The body's length in bytes, without the framing of chunks.
    pub body_bytes: u64,
}

/// The result of one call of [`ResponseParser::advance`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advance {
    /// Number of input bytes that belong to this response; less than the whole input only if the response is complete.
    pub consumed: usize,
    /// The response, in the call that completed it.
    pub response: Option<Response>,
}

/// The effect of the end of the connection on the current response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// The close ended a body without a declared length: the response is complete.
    Complete(Response),
    /// The close cut a response short.
    Within,
    /// No response was in progress: none had begun, or the last one was complete.
    Before,
}

/// Memory shared by all connections of one worker, so that a connection itself needs no heap: the last head, and buffers for
/// heads that arrive in pieces.
#[derive(Debug, Default)]
pub struct ParserMemory {
    cache: HeadCache<(Expect, Head)>,
    spares: Spares,
}

impl ParserMemory {
    /// Returns the cached head and its length if `input` begins with exactly its bytes. They include the empty line at the
    /// end, so the bytes after them cannot change their meaning.
    fn recall(&self, input: &[u8], expect: Expect) -> Option<(Head, usize)> {
        let (remembered, head) = self.cache.get(|cached| input.starts_with(cached))?;
        (remembered == expect).then_some((head, self.cache.len()))
    }

    /// Caches a complete head in place of the last one. Interim heads are not cached.
    fn remember(&mut self, bytes: &[u8], expect: Expect, head: Head) {
        if !head.is_interim() {
            self.cache.set(bytes, (expect, head));
        }
    }
}

/// Reads the responses of one connection, one at a time. It expects a body until [`ResponseParser::reset`] changes that.
///
/// It holds no heap memory except while a head is arriving in pieces.
#[derive(Debug, Default)]
pub struct ResponseParser {
    stash: Vec<u8>,
    phase: Phase,
    body_bytes: u64,
    status: u16,
    keep_alive: bool,
    expect: Expect,
    started: bool,
    interim_count: u8,
}

// Ten thousand connections hold ten thousand parsers.
const _: () = assert!(size_of::<ResponseParser>() <= 96);

#[derive(Debug, Default, Clone, Copy)]
enum Phase {
    #[default]
    Head,
    Length {
        left_bytes: u64,
    },
    Chunked(Chunked),
    UntilClose,
    Complete,
    Broken(Malformed),
}

impl ResponseParser {
    /// Prepares for the next response on the same connection, or for the first on a new one.
    pub fn reset(&mut self, expect: Expect) {
        // A buffer left over from an abandoned head is used for the next one.
        self.stash.clear();
        self.phase = Phase::Head;
        self.body_bytes = 0;
        self.expect = expect;
        self.started = false;
        self.interim_count = 0;
    }

    /// True from the first byte of the current response until [`ResponseParser::reset`].
    pub const fn started(&self) -> bool {
        self.started
    }

    /// Feeds bytes as they came from the socket.
    ///
    /// It stops at the end of a response. The caller resets the parser before it passes the rest of the input; until then
    /// further bytes are not consumed.
    ///
    /// # Errors
    ///
    /// [`Malformed`] when the bytes violate HTTP/1.1, and again in each call until the reset.
    pub fn advance(&mut self, input: &[u8], memory: &mut ParserMemory) -> Result<Advance, Malformed> {
        self.started |= !input.is_empty();
        let outcome = self.read(input, memory);
        if let Err(malformed) = outcome {
            self.phase = Phase::Broken(malformed);
            memory.spares.put(std::mem::take(&mut self.stash));
        }
        outcome
    }

    /// Number of body bytes still to come; 0 unless the body has a declared length. The parser need not see them: the caller may
    /// discard them and call [`ResponseParser::skip`].
    pub const fn unseen_bytes(&self) -> u64 {
        match self.phase {
            Phase::Length { left_bytes } => left_bytes,
            _ => 0,
        }
    }

    /// Accounts for `count` discarded bytes of the body, at most [`ResponseParser::unseen_bytes`]. Returns the response if it
    /// is now complete.
    pub fn skip(&mut self, count: u64) -> Option<Response> {
        let Phase::Length { left_bytes } = &mut self.phase else { return None };
        let count = count.min(*left_bytes);
        *left_bytes -= count;
        let done = *left_bytes == 0;
        self.body_bytes += count;
        if done {
            self.phase = Phase::Complete;
        }
        done.then(|| self.response())
    }

    /// The peer closed the connection. A body without a declared length is complete now; any other response is cut off.
    pub fn finish(&mut self) -> Finish {
        match self.phase {
            Phase::UntilClose => {
                self.phase = Phase::Complete;
                Finish::Complete(self.response())
            }
            Phase::Complete => Finish::Before,
            Phase::Head if !self.started => Finish::Before,
            _ => Finish::Within,
        }
    }

    fn read(&mut self, input: &[u8], memory: &mut ParserMemory) -> Result<Advance, Malformed> {
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            consumed += match &mut self.phase {
                Phase::Broken(malformed) => return Err(*malformed),
                Phase::Complete => {
                    let response = (consumed > 0).then(|| self.response());
                    return Ok(Advance { consumed, response });
                }
                _ if rest.is_empty() => return Ok(Advance { consumed, response: None }),
                Phase::Head => self.read_head(rest, memory)?,
                Phase::Length { left_bytes } => {
                    let skipped = skip(left_bytes, rest.len());
                    self.body_bytes += skipped as u64;
                    if *left_bytes == 0 {
                        self.phase = Phase::Complete;
                    }
                    skipped
                }
                Phase::Chunked(chunked) => {
                    let read = chunked.advance(rest, &mut self.body_bytes)?;
                    if chunked.is_done() {
                        self.phase = Phase::Complete;
                    }
                    read
                }
                Phase::UntilClose => {
                    self.body_bytes += rest.len() as u64;
                    rest.len()
                }
            };
        }
    }

    fn read_head(&mut self, input: &[u8], memory: &mut ParserMemory) -> Result<usize, Malformed> {
        if self.stash.capacity() > 0 {
            return self.read_head_in_pieces(input, memory);
        }
        if let Some((head, len)) = memory.recall(input, self.expect) {
            self.begin_body(head)?;
            return Ok(len);
        }
        let Some((head, len)) = head::scan(input, self.expect)? else {
            self.stash = memory.spares.take();
            self.stash.extend_from_slice(input);
            return Ok(input.len());
        };
        memory.remember(&input[..len], self.expect, head);
        self.begin_body(head)?;
        Ok(len)
    }

    /// The search for the end resumes where it last stopped, and the head is parsed once, when it is complete. So a server that
    /// sends byte by byte causes no extra work.
    fn read_head_in_pieces(&mut self, input: &[u8], memory: &mut ParserMemory) -> Result<usize, Malformed> {
        let before = self.stash.len();
        let taken = input.len().min(head::MAX_HEAD_BYTES - before);
        self.stash.extend_from_slice(&input[..taken]);
        let Some(end) = head::terminator(&self.stash, before.saturating_sub(2)) else {
            head::check_incomplete(&self.stash)?;
            return Ok(taken);
        };
        let scanned = head::scan(&self.stash[..end], self.expect)?;
        memory.spares.put(std::mem::take(&mut self.stash));
        let (head, len) = scanned.ok_or(Malformed::Head)?;
        self.begin_body(head)?;
        Ok(len - before)
    }

    fn begin_body(&mut self, head: Head) -> Result<(), Malformed> {
        if head.is_interim() {
            self.interim_count += 1;
            let bounded = self.interim_count <= MAX_INTERIM;
            return if bounded { Ok(()) } else { Err(Malformed::InterimFlood) };
        }
        self.status = head.status;
        self.keep_alive = head.keep_alive;
        self.phase = match head.framing {
            Framing::Length(0) => Phase::Complete,
            Framing::Length(left_bytes) => Phase::Length { left_bytes },
            Framing::Chunked => Phase::Chunked(Chunked::default()),
            Framing::UntilClose => Phase::UntilClose,
        };
        Ok(())
    }

    const fn response(&self) -> Response {
        Response { status: self.status, keep_alive: self.keep_alive, body_bytes: self.body_bytes }
    }
}
