//! Encoded requests: the head as HTTP/1.1 text or as an HTTP/2 header block, and the body.

use super::part::Part;
use crate::h2::hpack;

/// The HTTP version that a request is encoded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    Http1,
    /// HTTP/2: the head is a header block, without its frames.
    Http2,
}

/// A piece of a head, or the value of a field.
#[derive(Debug)]
pub(super) enum Segment<P> {
    /// Constant bytes. In a head they are never empty, and two such segments never follow each other.
    Bytes(Vec<u8>),
    Part(P),
    /// The length of the body, for bodies that are rendered.
    BodyLength,
}

impl<P: Part> Segment<P> {
    fn constant(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Part(part) => part.constant(),
            Self::BodyLength => None,
        }
    }

    fn max_bytes(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Part(part) => part.max_bytes() + MAX_PREFIX_BYTES,
            Self::BodyLength => MAX_LENGTH_DIGITS + MAX_PREFIX_BYTES,
        }
    }
}

const MAX_LENGTH_DIGITS: usize = 20;
/// Maximum number of bytes before a value in a header block, which encode its length (RFC 7541 section 5.1).
const MAX_PREFIX_BYTES: usize = 6;

/// A request ready to be sent. [`EncodedRequest::render`] fills in its variable parts.
#[derive(Debug)]
pub struct EncodedRequest<P> {
    version: Version,
    head: Vec<Segment<P>>,
    body: P,
    max_bytes: usize,
}

impl<P: Part> EncodedRequest<P> {
    /// Returns the whole request and the length of its head in bytes; `None` if any part is rendered.
    pub fn constant(&self) -> Option<(Vec<u8>, usize)> {
        let [Segment::Bytes(head)] = self.head.as_slice() else { return None };
        Some(([head, self.body.constant()?].concat(), head.len()))
    }

    /// The rendered parts of the head, and the body.
    pub fn parts(&self) -> impl Iterator<Item = &P> {
        let in_head = self.head.iter().filter_map(|segment| match segment {
            Segment::Part(part) => Some(part),
            Segment::Bytes(_) | Segment::BodyLength => None,
        });
        in_head.chain([&self.body])
    }

    /// Appends the current request to `out` and returns the length of its head in bytes.
    ///
    /// `scratch` is memory for a body whose length is written before it. Allocates nothing once both buffers have grown.
    pub fn render(&self, values: &mut P::Values, scratch: &mut Vec<u8>, out: &mut Vec<u8>) -> usize {
        out.reserve(self.max_bytes);
        let counted = self.head.iter().any(|segment| matches!(segment, Segment::BodyLength));
        if counted {
            scratch.clear();
            scratch.reserve(self.body.max_bytes());
            self.body.render(values, scratch);
        }
        let begin = out.len();
        for segment in &self.head {
            match segment {
                Segment::Bytes(bytes) => out.extend_from_slice(bytes),
                Segment::Part(part) => self.version.push_value(out, |out| part.render(values, out)),
                Segment::BodyLength => self.version.push_value(out, |out| {
                    out.extend_from_slice(itoa::Buffer::new().format(scratch.len()).as_bytes());
                }),
            }
        }
        let head_bytes = out.len() - begin;
        match counted {
            true => out.extend_from_slice(scratch),
            false => self.body.render(values, out),
        }
        head_bytes
    }
}

impl EncodedRequest<&[u8]> {
    /// Returns the whole request and the length of its head in bytes.
    pub fn to_bytes(&self) -> (Vec<u8>, usize) {
        let mut bytes = Vec::new();
        let head_bytes = self.render(&mut (), &mut Vec::new(), &mut bytes);
        (bytes, head_bytes)
    }
}

impl Version {
    /// Appends the value that `write` writes, encoded as this version needs.
    fn push_value(self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        match self {
            Self::Http1 => write(out),
            Self::Http2 => hpack::push_value(out, write),
        }
    }
}

pub(super) struct HeadWriter<P> {
    version: Version,
    segments: Vec<Segment<P>>,
    /// Constant bytes since the last segment.
    tail: Vec<u8>,
}

impl<P: Part> HeadWriter<P> {
    pub(super) fn http1(method: &str, path: P) -> Self {
        let mut head = Self { version: Version::Http1, segments: Vec::new(), tail: Vec::new() };
        head.tail.extend_from_slice(method.as_bytes());
        head.tail.push(b' ');
        head.push_value(Segment::Part(path));
        head.tail.extend_from_slice(b" HTTP/1.1\r\n");
        head
    }

    /// Begins an HTTP/2 head with its pseudo-fields (RFC 9113 section 8.3.1).
    pub(super) fn http2(method: &str, scheme: &str, authority: Segment<P>, path: P) -> Self {
        let mut head = Self { version: Version::Http2, segments: Vec::new(), tail: Vec::new() };
        head.push_field(":method", Segment::Bytes(method.into()));
        head.push_field(":scheme", Segment::Bytes(scheme.into()));
        head.push_field(":authority", authority);
        head.push_field(":path", Segment::Part(path));
        head
    }

    pub(super) fn push_field(&mut self, name: &str, value: Segment<P>) {
        match self.version {
            Version::Http1 => {
                self.tail.extend_from_slice(name.as_bytes());
                self.tail.extend_from_slice(b": ");
                self.push_value(value);
                self.tail.extend_from_slice(b"\r\n");
            }
            Version::Http2 => self.push_compressed(name.to_ascii_lowercase().as_bytes(), value),
        }
    }

    /// Trims the value: field values of HTTP/2 have no surrounding white space (RFC 9113 section 8.2.1).
    fn push_compressed(&mut self, name: &[u8], value: Segment<P>) {
        match value.constant() {
            Some(text) => hpack::push(&mut self.tail, name, text.trim_ascii()),
            None => {
                hpack::push_name(&mut self.tail, name);
                self.push_value(value);
            }
        }
    }

    fn push_value(&mut self, value: Segment<P>) {
        if let Some(text) = value.constant() {
            self.tail.extend_from_slice(text);
        } else {
            self.flush_tail();
            self.segments.push(value);
        }
    }

    fn flush_tail(&mut self) {
        if !self.tail.is_empty() {
            self.segments.push(Segment::Bytes(std::mem::take(&mut self.tail)));
        }
    }

    pub(super) fn end(mut self, body: P) -> EncodedRequest<P> {
        if self.version == Version::Http1 {
            self.tail.extend_from_slice(b"\r\n");
        }
        self.flush_tail();
        let max_bytes = self.segments.iter().map(Segment::max_bytes).sum::<usize>() + body.max_bytes();
        EncodedRequest { version: self.version, head: self.segments, body, max_bytes }
    }
}
