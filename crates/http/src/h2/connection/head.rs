//! HEADERS and CONTINUATION frames (RFC 9113 sections 6.2 and 6.10): the heads of responses, and
//! their trailers.

use super::Connection;
use super::reader::{OpenBlock, Sink};
use crate::h2::error::{Broken, Malformed};
use crate::h2::event::Event;
use crate::h2::frame::{self, FrameHeader};
use crate::h2::head::{Head, HeadReader};
use crate::h2::streams::Stream;

/// The longest header block, in bytes.
const MAX_BLOCK_BYTES: usize = 64 * 1024;
/// The most interim (1xx) responses before one final response.
const MAX_INTERIM: u8 = 16;

impl Connection {
    pub(super) fn read_headers<E: FnMut(Event<'_>)>(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        sink: &mut Sink<'_, E>,
    ) -> Result<(), Broken> {
        let fragment = fragment(header, payload)?;
        let end_stream = header.has(frame::END_STREAM);
        if header.has(frame::END_HEADERS) {
            return self.read_block(OpenBlock { stream: header.stream, end_stream }, fragment, sink);
        }
        self.reader.open_block = Some(OpenBlock { stream: header.stream, end_stream });
        self.reader.block = sink.memory.take_buffer();
        self.reader.block.extend_from_slice(fragment);
        Ok(())
    }

    pub(super) fn read_continuation<E: FnMut(Event<'_>)>(
        &mut self,
        header: FrameHeader,
        fragment: &[u8],
        sink: &mut Sink<'_, E>,
    ) -> Result<(), Broken> {
        let Some(open) = self.reader.open_block else {
            return Err(Broken::Continuation);
        };
        if fragment.is_empty() {
            self.reader.count_idle()?;
        }
        if self.reader.block.len() + fragment.len() > MAX_BLOCK_BYTES {
            return Err(Broken::HeadTooLarge);
        }
        self.reader.block.extend_from_slice(fragment);
        if !header.has(frame::END_HEADERS) {
            return Ok(());
        }
        self.reader.open_block = None;
        let block = std::mem::take(&mut self.reader.block);
        let outcome = self.read_block(open, &block, sink);
        sink.memory.return_buffer(block);
        outcome
    }

    /// A header block is complete. One that no request waits for is skipped: without a table it
    /// changes nothing for the next.
    fn read_block<E: FnMut(Event<'_>)>(
        &mut self,
        open: OpenBlock,
        block: &[u8],
        sink: &mut Sink<'_, E>,
    ) -> Result<(), Broken> {
        let Some(stream) = self.streams.find(open.stream).copied() else {
            return self.reader.count_idle();
        };
        let outcome = if stream.status != 0 {
            self.reader.count_idle()?;
            read_trailers(open, block, sink)?
        } else {
            self.reader.count_progress();
            let head = read_head(&stream, block, sink)?;
            head.and_then(|head| self.begin_response(open, head))
        };
        match outcome {
            Err(malformed) => self.refuse(open.stream, malformed, sink),
            Ok(()) if open.end_stream => self.complete(open.stream, sink),
            Ok(()) => {}
        }
        Ok(())
    }

    fn begin_response(&mut self, open: OpenBlock, head: Head) -> Result<(), Malformed> {
        let Some(stream) = self.streams.find(open.stream) else {
            return Ok(());
        };
        if head.is_interim() {
            stream.interim_count += 1;
            let bounded = stream.interim_count <= MAX_INTERIM;
            return if bounded && !open.end_stream { Ok(()) } else { Err(Malformed::Order) };
        }
        stream.status = head.status;
        stream.declared = head.declared(stream.expect);
        Ok(())
    }
}

/// What of a HEADERS frame is header block: padding and an outdated priority stand around it.
fn fragment(header: FrameHeader, payload: &[u8]) -> Result<&[u8], Broken> {
    let mut rest = payload;
    let mut padding = 0;
    if header.has(frame::PADDED) {
        let (len, after) = rest.split_first().ok_or(Broken::FrameSize)?;
        (padding, rest) = (usize::from(*len), after);
    }
    if header.has(frame::PRIORITIZED) {
        rest = rest.get(5..).ok_or(Broken::FrameSize)?;
    }
    let len = rest.len().checked_sub(padding).ok_or(Broken::Padding)?;
    Ok(&rest[..len])
}

/// Only an unobserved head may be taken from memory: an observed one has events for its fields.
fn read_head<E: FnMut(Event<'_>)>(
    stream: &Stream,
    block: &[u8],
    sink: &mut Sink<'_, E>,
) -> Result<Result<Head, Malformed>, Broken> {
    if !stream.observe
        && let Some(head) = sink.memory.recall(block)
    {
        return Ok(Ok(head));
    }
    let mut reader = HeadReader::new();
    sink.memory.decoder.decode(block, |name, value| {
        if reader.read(name, value) && stream.observe {
            (sink.events)(Event::Field { tag: stream.tag, name, value });
        }
    })?;
    let head = reader.head();
    if let Ok(head) = head {
        sink.memory.remember(block, head);
    }
    Ok(head)
}

/// Trailers are checked and passed over; they are the end of their response.
fn read_trailers<E: FnMut(Event<'_>)>(
    open: OpenBlock,
    block: &[u8],
    sink: &mut Sink<'_, E>,
) -> Result<Result<(), Malformed>, Broken> {
    let mut reader = HeadReader::new();
    sink.memory.decoder.decode(block, |name, value| {
        reader.read(name, value);
    })?;
    Ok(if open.end_stream { reader.trailers() } else { Err(Malformed::Order) })
}
