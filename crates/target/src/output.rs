//! The output of a connection that its client has not accepted yet.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use plimsoll_sys::Socket;

/// Partly sent bytes. They are shared, so that a long response is not copied for each client that reads it slowly.
struct Segment {
    bytes: Arc<Vec<u8>>,
    sent_bytes: usize,
}

/// Bytes for a client, in order: sent at once if the kernel accepts them, kept otherwise.
#[derive(Default)]
pub(crate) struct Output(VecDeque<Segment>);

impl Output {
    /// True if bytes wait for the client to read.
    pub(crate) fn is_blocked(&self) -> bool {
        !self.0.is_empty()
    }

    /// Sends bytes, or keeps a copy of the ones that the kernel does not accept.
    pub(crate) fn send(&mut self, socket: &Socket, bytes: &[u8]) -> io::Result<()> {
        let sent_bytes = if self.is_blocked() { 0 } else { send_fitting(socket, bytes)? };
        if sent_bytes < bytes.len() {
            let rest = Arc::new(bytes[sent_bytes..].to_vec());
            self.0.push_back(Segment { bytes: rest, sent_bytes: 0 });
        }
        Ok(())
    }

    /// Sends the bytes from offset `from` on, or keeps a reference to them.
    pub(crate) fn send_shared(
        &mut self,
        socket: &Socket,
        bytes: &Arc<Vec<u8>>,
        from: usize,
    ) -> io::Result<()> {
        let sent_bytes = from + if self.is_blocked() { 0 } else { send_fitting(socket, &bytes[from..])? };
        if sent_bytes < bytes.len() {
            self.0.push_back(Segment { bytes: Arc::clone(bytes), sent_bytes });
        }
        Ok(())
    }

    pub(crate) fn flush(&mut self, socket: &Socket) -> io::Result<bool> {
        while let Some(segment) = self.0.front_mut() {
            segment.sent_bytes += send_fitting(socket, &segment.bytes[segment.sent_bytes..])?;
            if segment.sent_bytes < segment.bytes.len() {
                return Ok(false);
            }
            self.0.pop_front();
        }
        Ok(true)
    }
}

/// Sends until the kernel accepts no more; returns the number of bytes sent.
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
