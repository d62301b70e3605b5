//! The chunked transfer coding (RFC 9112 section 7.1), read only to count the body.
//!
//! Body bytes are skipped by arithmetic, and the text of extensions and trailers by search; only sizes and line ends are read
//! byte by byte.

use super::malformed::Malformed;

/// Maximum length in bytes of a line that announces a chunk, extensions included.
const MAX_LINE_BYTES: u32 = 4 * 1024;
/// Maximum length of the trailer section in bytes.
const MAX_TRAILER_BYTES: u32 = 64 * 1024;

/// The read position in a chunked body.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Chunked {
    /// Bytes of the chunk still to come; while a size is read, its value so far.
    left_bytes: u64,
    /// Bytes read of the current size line, or of the trailer section.
    line_bytes: u32,
    state: State,
}

/// What is expected next. `…Lf` states have read the CR and accept only its LF.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Size,
    Padding,
    Extension,
    SizeLf,
    Body,
    BodyCr,
    BodyLf,
    TrailerStart,
    Trailer,
    TrailerLf,
    LastLf,
    Done,
}

impl Chunked {
    /// True once the last chunk and the trailers are read.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Reads `input`, adds the length of its body bytes to `body_bytes` and returns the number of bytes consumed: all of them,
    /// unless the body ended.
    ///
    /// # Errors
    /// [`Malformed::Chunk`] where the coding is invalid, or a size line or the trailers are too long.
    pub fn advance(&mut self, input: &[u8], body_bytes: &mut u64) -> Result<usize, Malformed> {
        let mut consumed = 0;
        while consumed < input.len() && !self.is_done() {
            let rest = &input[consumed..];
            consumed += match self.state {
                State::Body => self.skip_body(rest.len(), body_bytes),
                State::Extension => self.skip_text(rest, State::SizeLf)?,
                State::Trailer => self.skip_text(rest, State::TrailerLf)?,
                _ => self.read_byte(rest[0])?,
            };
        }
        Ok(consumed)
    }

    fn skip_body(&mut self, input_bytes: usize, body_bytes: &mut u64) -> usize {
        let skipped = skip(&mut self.left_bytes, input_bytes);
        *body_bytes += skipped as u64;
        if self.left_bytes == 0 {
            self.state = State::BodyCr;
        }
        skipped
    }

    /// Skips text up to its CR. A bare LF does not end a line here: where two readers disagree about that, one response can
    /// pass for two.
    fn skip_text(&mut self, input: &[u8], at_cr: State) -> Result<usize, Malformed> {
        let found = memchr::memchr2(b'\r', b'\n', input);
        let Some(at) = found else {
            self.count(input.len())?;
            return Ok(input.len());
        };
        self.count(at + 1)?;
        if input[at] == b'\n' {
            return Err(Malformed::Chunk);
        }
        self.state = at_cr;
        Ok(at + 1)
    }

    fn read_byte(&mut self, byte: u8) -> Result<usize, Malformed> {
        self.state = match (self.state, byte) {
            (State::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => self.push_digit(byte)?,
            (State::Size, _) if self.line_bytes == 0 => return Err(Malformed::Chunk),
            (State::Size | State::Padding, b' ' | b'\t') => State::Padding,
            (State::Size | State::Padding, b';') => State::Extension,
            (State::Size | State::Padding, b'\r') => State::SizeLf,
            (State::SizeLf, b'\n') => return Ok(self.begin_chunk()),
            (State::BodyCr, b'\r') => State::BodyLf,
            (State::BodyLf, b'\n') => {
                *self = Self::default();
                return Ok(1);
            }
            (State::TrailerStart, b'\r') => State::LastLf,
            (State::TrailerStart, byte) if byte != b'\n' => State::Trailer,
            (State::TrailerLf, b'\n') => State::TrailerStart,
            (State::LastLf, b'\n') => State::Done,
            _ => return Err(Malformed::Chunk),
        };
        self.count(1)?;
        Ok(1)
    }

    fn push_digit(&mut self, byte: u8) -> Result<State, Malformed> {
        let digit = char::from(byte).to_digit(16).ok_or(Malformed::Chunk)?;
        // Leading zeros are allowed in any number: only the value can overflow.
        let shifted = self.left_bytes.checked_mul(16).ok_or(Malformed::Chunk)?;
        self.left_bytes = shifted | u64::from(digit);
        Ok(State::Size)
    }

    fn begin_chunk(&mut self) -> usize {
        self.line_bytes = 0;
        self.state = if self.left_bytes == 0 { State::TrailerStart } else { State::Body };
        1
    }

    fn count(&mut self, bytes: usize) -> Result<(), Malformed> {
        let limit = match self.state {
            State::TrailerStart | State::Trailer | State::TrailerLf | State::LastLf | State::Done => {
                MAX_TRAILER_BYTES
            }
            _ => MAX_LINE_BYTES,
        };
        let added = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.line_bytes = self.line_bytes.saturating_add(added);
        if self.line_bytes > limit {
            return Err(Malformed::Chunk);
        }
        Ok(())
    }
}

/// Subtracts as much of `left_bytes` as is available, and returns that number.
pub(super) fn skip(left_bytes: &mut u64, available: usize) -> usize {
    let left = usize::try_from(*left_bytes).unwrap_or(usize::MAX);
    let skipped = left.min(available);
    *left_bytes -= skipped as u64;
    skipped
}
