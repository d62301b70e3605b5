//! HEADERS and CONTINUATION frames (RFC 9113 sections 6.2 and 6.10): the heads of responses, and their trailers.

use super::Connection;
use super::reader::OpenBlock;
use super::receiver::Receiver;
use crate::h2::error::{Broken, Malformed};
use crate::h2::event::Event;
use crate::h2::frame::{self, FrameHeader};
use crate::h2::head::{Head, HeadReader};
use crate::h2::streams::Stream;
use crate::response::MAX_INTERIM;

const MAX_BLOCK_BYTES: usize = 64 * 1024;

impl Connection {
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

impl<E: FnMut(Event<'_>)> Receiver<'_, E> {
    pub(super) fn read_headers(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), Broken> {
        let fragment = fragment(header, payload)?;
        let open = OpenBlock { stream: header.stream, end_stream: header.has(frame::END_STREAM) };
        if header.has(frame::END_HEADERS) {
            return self.read_block(open, fragment);
        }
        let reader = &mut self.connection.reader;
        reader.open_block = Some(open);
        reader.block = self.memory.spares.take();
        reader.block.extend_from_slice(fragment);
        Ok(())
    }

    pub(super) fn read_continuation(&mut self, header: FrameHeader, fragment: &[u8]) -> Result<(), Broken> {
        let reader = &mut self.connection.reader;
        let open = reader.open_block.ok_or(Broken::Continuation)?;
        if fragment.is_empty() {
            reader.count_idle()?;
        }
        if reader.block.len() + fragment.len() > MAX_BLOCK_BYTES {
            return Err(Broken::HeadTooLarge);
        }
        reader.block.extend_from_slice(fragment);
        if !header.has(frame::END_HEADERS) {
            return Ok(());
        }
        reader.open_block = None;
        let block = std::mem::take(&mut reader.block);
        let outcome = self.read_block(open, &block);
        self.memory.spares.put(block);
        outcome
    }

    /// Reads a complete header block. A block without an open request has to be decompressed too (RFC 9113 section 4.3), although
    /// without a dynamic table it cannot affect later ones.
    fn read_block(&mut self, open: OpenBlock, block: &[u8]) -> Result<(), Broken> {
        let Some(stream) = self.connection.streams.find(open.stream).copied() else {
            self.memory.decoder.decode(block, |_, _| ())?;
            return self.connection.reader.count_idle();
        };
        let outcome = if stream.status != 0 {
            self.connection.reader.count_idle()?;
            self.read_trailers(open, block)?
        } else {
            self.connection.reader.count_progress();
            let head = self.read_head(&stream, block)?;
            head.and_then(|head| self.connection.begin_response(open, head))
        };
        match outcome {
            Err(malformed) => self.refuse(open.stream, malformed),
            Ok(()) if open.end_stream => self.complete(open.stream),
            Ok(()) => {}
        }
        Ok(())
    }

    /// Reads the head of a response. Only an unobserved head may come from the cache, because an observed one needs field events.
    fn read_head(&mut self, stream: &Stream, block: &[u8]) -> Result<Result<Head, Malformed>, Broken> {
        if !stream.observe
            && let Some(head) = self.memory.recall(block)
        {
            return Ok(Ok(head));
        }
        let mut reader = HeadReader::default();
        self.memory.decoder.decode(block, |name, value| {
            if reader.read(name, value) && stream.observe {
                (self.events)(Event::Field { tag: stream.tag, name, value });
            }
        })?;
        let head = reader.head();
        if let Ok(head) = head {
            self.memory.remember(block, head);
        }
        Ok(head)
    }

    /// Checks trailers, which end their response, and ignores their content.
    fn read_trailers(&mut self, open: OpenBlock, block: &[u8]) -> Result<Result<(), Malformed>, Broken> {
        let mut reader = HeadReader::default();
        self.memory.decoder.decode(block, |name, value| {
            reader.read(name, value);
        })?;
        Ok(if open.end_stream { reader.trailers() } else { Err(Malformed::Order) })
    }
}

/// Returns the header block within a HEADERS frame, without padding and the deprecated priority.
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
