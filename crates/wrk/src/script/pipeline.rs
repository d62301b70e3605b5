//! Counts the requests in a text by parsing it as HTTP/1.1 (RFC 9112).
//!
//! A text that is not a sequence of complete requests would leave a connection waiting for responses that never come, so it
//! is refused with the position of the error. Line ends may lack their carriage return, as servers allow.

use super::error::ScriptError;

/// Returns the number of requests in `text`.
///
/// # Errors
/// The text is empty, its last request is not whole, or one of them is not HTTP/1.1.
pub(crate) fn depth(text: &[u8]) -> Result<usize, ScriptError> {
    let mut reader = Reader { text, at: 0 };
    let mut count = 0;
    loop {
        reader.skip_empty_lines();
        if reader.at == text.len() && count > 0 {
            return Ok(count);
        }
        reader.request().map_err(|reason| reader.refuse(reason))?;
        count += 1;
    }
}

const INCOMPLETE: &str = "incomplete request";

type Step<T> = Result<T, &'static str>;

/// A text and how far it has been read; after an error, the position of its cause.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

/// How a request delimits its body.
enum Body {
    Length(usize),
    Chunked,
}

impl<'a> Reader<'a> {
    fn refuse(&self, reason: &'static str) -> ScriptError {
        let read = &self.text[..self.at];
        let line = 1 + read.iter().filter(|byte| **byte == b'\n').count();
        let line_start = read.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        ScriptError::Request { reason, line, column: 1 + self.at - line_start }
    }

    fn skip_empty_lines(&mut self) {
        let blank = self.text[self.at..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
        self.at += blank.count();
    }

    fn request(&mut self) -> Step<()> {
        self.request_line()?;
        match self.fields()? {
            Body::Length(length) => self.skip(length),
            Body::Chunked => self.chunks(),
        }
    }

    fn request_line(&mut self) -> Step<()> {
        self.word(is_token, "invalid HTTP method")?;
        self.word(|byte| byte > b' ' && byte != 0x7f, "invalid URL")?;
        let version = self.line()?;
        if version != b"HTTP/1.1" && version != b"HTTP/1.0" {
            self.back(version.len());
            return Err("invalid HTTP version");
        }
        Ok(())
    }

    /// Reads bytes that `allowed` accepts, and the one space after them.
    fn word(&mut self, allowed: fn(u8) -> bool, reason: &'static str) -> Step<()> {
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|byte| allowed(**byte)).count();
        self.at += length;
        match rest.get(length) {
            None => Err(INCOMPLETE),
            Some(b' ') if length > 0 => self.skip(1),
            Some(_) => Err(reason),
        }
    }

    fn fields(&mut self) -> Step<Body> {
        let mut body = Body::Length(0);
        loop {
            let line = self.line()?;
            if line.is_empty() {
                return Ok(body);
            }
            let field = field(line).and_then(|(name, value)| framing(name, value));
            match field {
                Ok(None) => {}
                Ok(Some(found)) => body = strongest(body, found),
                Err(reason) => {
                    self.back(line.len());
                    return Err(reason);
                }
            }
        }
    }

    /// Reads chunks up to the last one, and the trailer fields after it.
    fn chunks(&mut self) -> Step<()> {
        loop {
            let line = self.line()?;
            let size = line.split(|byte| *byte == b';').next().and_then(|digits| number(digits, 16));
            let Some(size) = size else {
                self.back(line.len());
                return Err("invalid character in chunk size header");
            };
            if size == 0 {
                return self.fields().map(drop);
            }
            self.skip(size)?;
            if !self.line()?.is_empty() {
                return Err("chunk longer than its size");
            }
        }
    }

    /// Reads to the end of the line and returns the line without it.
    fn line(&mut self) -> Step<&'a [u8]> {
        let rest = &self.text[self.at..];
        let Some(length) = rest.iter().position(|byte| *byte == b'\n') else {
            self.at = self.text.len();
            return Err(INCOMPLETE);
        };
        self.at += length + 1;
        let line = &rest[..length];
        Ok(line.strip_suffix(b"\r").unwrap_or(line))
    }

    fn skip(&mut self, length: usize) -> Step<()> {
        if length > self.text.len() - self.at {
            self.at = self.text.len();
            return Err(INCOMPLETE);
        }
        self.at += length;
        Ok(())
    }

    /// Goes back to the start of a line of `length` bytes that has just been read.
    fn back(&mut self, length: usize) {
        let line_end = if self.text[..self.at].ends_with(b"\r\n") { 2 } else { 1 };
        self.at -= length + line_end;
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn field(line: &[u8]) -> Step<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':').ok_or("invalid header token")?;
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    match !name.is_empty() && name.iter().copied().all(is_token) {
        true => Ok((name, value)),
        false => Err("invalid header token"),
    }
}

fn framing(name: &[u8], value: &[u8]) -> Step<Option<Body>> {
    if name.eq_ignore_ascii_case(b"content-length") {
        return number(value, 10)
            .map(|length| Some(Body::Length(length)))
            .ok_or("invalid content-length header");
    }
    let chunked = name.eq_ignore_ascii_case(b"transfer-encoding") && value.eq_ignore_ascii_case(b"chunked");
    Ok(chunked.then_some(Body::Chunked))
}

/// Chunked coding overrides a length, whichever of the two comes first (RFC 9112, 6.3).
fn strongest(known: Body, found: Body) -> Body {
    match known {
        Body::Chunked => known,
        Body::Length(_) => found,
    }
}

fn number(digits: &[u8], radix: u32) -> Option<usize> {
    let digits = std::str::from_utf8(digits.trim_ascii()).ok()?;
    // The parser of the standard library accepts a sign, which a length must not have.
    let plain = digits.starts_with(|first: char| first.is_digit(radix));
    plain.then(|| usize::from_str_radix(digits, radix).ok()).flatten()
}

#[cfg(test)]
mod tests;
