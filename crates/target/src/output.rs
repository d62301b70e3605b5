//! What a connection could not take yet.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use plimsoll_sys::Socket;

use crate::response::Response;

enum Source {
    Own(Vec<u8>),
    /// A long answer is not copied for each client that reads it slowly.
    Shared(Arc<Response>),
}

struct Segment {
    source: Source,
    sent_bytes: usize,
}

impl Segment {
    fn rest(&self) -> &[u8] {
        let bytes = match &self.source {
            Source::Own(bytes) => bytes,
            Source::Shared(response) => response.bytes(),
        };
        &bytes[self.sent_bytes..]
    }
}

/// Bytes for a client, in order: sent at once if the kernel takes them, kept otherwise.
#[derive(Default)]
pub(crate) struct Output(VecDeque<Segment>);

impl Output {
    /// Whether something waits for the client to read.
    pub(crate) fn is_blocked(&self) -> bool {
        !self.0.is_empty()
    }

    /// Sends bytes, or keeps a copy of what does not fit.
    pub(crate) fn send(&mut self, socket: &Socket, bytes: &[u8]) -> io::Result<()> {
        let sent_bytes = if self.is_blocked() { 0 } else { send_fitting(socket, bytes)? };
        if sent_bytes < bytes.len() {
            let source = Source::Own(bytes[sent_bytes..].to_vec());
            self.0.push_back(Segment { source, sent_bytes: 0 });
        }
        Ok(())
    }

    /// Sends an answer from one of its bytes on, or keeps hold of it.
    pub(crate) fn send_shared(
        &mut self,
        socket: &Socket,
        response: &Arc<Response>,
        from: usize,
    ) -> io::Result<()> {
        let bytes = &response.bytes()[from..];
        let sent_bytes = from + if self.is_blocked() { 0 } else { send_fitting(socket, bytes)? };
        if sent_bytes < response.len() {
            self.0.push_back(Segment { source: Source::Shared(Arc::clone(response)), sent_bytes });
        }
        Ok(())
    }

    /// Sends what waits; true once nothing does.
    pub(crate) fn flush(&mut self, socket: &Socket) -> io::Result<bool> {
        while let Some(segment) = self.0.front_mut() {
            segment.sent_bytes += send_fitting(socket, segment.rest())?;
            if !segment.rest().is_empty() {
                return Ok(false);
            }
            self.0.pop_front();
        }
        Ok(true)
    }
}

/// Sends until the kernel takes no more and says how many bytes that was.
fn send_fitting(socket: &Socket, bytes: &[u8]) -> io::Result<usize> {
    let mut sent_bytes = 0;
    while sent_bytes < bytes.len() {
        match socket.send(&bytes[sent_bytes..]) {
            Ok(more) => sent_bytes += more,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(sent_bytes)
}
