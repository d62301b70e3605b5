//! One TLS session, from the first byte to the last.

use crate::channel::Channel;
use crate::failure::TlsFailure;
use crate::handshake::{Established, Handshake};
use crate::record::{self, HEADER_BYTES};

#[cfg(test)]
mod tests;

enum Phase {
    Handshake(Box<Handshake>),
    Open(Box<Channel>),
    Failed(Box<TlsFailure>),
}

/// One TLS session of a client: takes received bytes, returns the bytes to send and the plaintext.
///
/// The network may split the server's bytes in any way; the results never depend on it.
pub struct Session {
    phase: Phase,
    /// During the handshake all unconsumed bytes; later the beginning of a record, otherwise empty and without capacity.
    partial: Vec<u8>,
    established: Option<Box<Established>>,
}

impl Session {
    pub(crate) fn new(handshake: Handshake) -> Self {
        Self { phase: Phase::Handshake(Box::new(handshake)), partial: Vec::new(), established: None }
    }

    /// Appends the first message of the handshake to `out`. Call it once, when the socket is connected.
    ///
    /// # Errors
    /// When rustls cannot create its first message; no cause is known.
    pub fn start(&mut self, out: &mut Vec<u8>) -> Result<(), TlsFailure> {
        self.receive(&mut [], out, &mut |_| {})
    }

    /// Reads `bytes` as they came from the server. Passes plaintext to `plain`, one record at a time, and appends replies to
    /// `out`. Whole records are decrypted in place, which overwrites `bytes`.
    ///
    /// # Errors
    /// The failure that ends the session; the plaintext before it has been passed. `out` may end with an alert for the
    /// server. Later calls return the same failure.
    pub fn receive(
        &mut self,
        bytes: &mut [u8],
        out: &mut Vec<u8>,
        plain: &mut impl FnMut(&[u8]),
    ) -> Result<(), TlsFailure> {
        let outcome = match &mut self.phase {
            Phase::Handshake(_) => self.negotiate(bytes, out, plain),
            Phase::Open(_) => self.read(bytes, out, plain),
            Phase::Failed(failure) => return Err((**failure).clone()),
        };
        if let Err(failure) = &outcome {
            self.partial = Vec::new();
            self.phase = Phase::Failed(Box::new(failure.clone()));
        }
        outcome
    }

    fn negotiate(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        plain: &mut impl FnMut(&[u8]),
    ) -> Result<(), TlsFailure> {
        self.partial.extend_from_slice(bytes);
        let Phase::Handshake(handshake) = &mut self.phase else { return Ok(()) };
        if !handshake.advance(&mut self.partial, out)? {
            return Ok(());
        }
        // The phase is replaced below, so this placeholder is never observed.
        let Phase::Handshake(done) =
            std::mem::replace(&mut self.phase, Phase::Failed(Box::new(TlsFailure::ClosedInHandshake)))
        else {
            return Ok(());
        };
        let (channel, established) = done.open()?;
        self.phase = Phase::Open(Box::new(channel));
        self.established = Some(Box::new(established));
        let mut rest = std::mem::take(&mut self.partial);
        self.read(&mut rest, out, plain)
    }

    fn read(
        &mut self,
        bytes: &mut [u8],
        out: &mut Vec<u8>,
        plain: &mut impl FnMut(&[u8]),
    ) -> Result<(), TlsFailure> {
        let Phase::Open(channel) = &mut self.phase else { return Ok(()) };
        let mut rest = bytes;
        if !self.partial.is_empty() {
            let used = complete(&mut self.partial, rest)?;
            rest = &mut rest[used..];
            if whole(&self.partial)?.is_none() {
                return Ok(());
            }
            // Taken out, so that the buffer is freed as soon as its record is read.
            channel.receive(&mut std::mem::take(&mut self.partial), out, plain)?;
        }
        // Bytes after close_notify are ignored.
        while !channel.peer_closed {
            let Some(length) = whole(rest)? else {
                complete(&mut self.partial, rest)?;
                return Ok(());
            };
            let (record, after) = rest.split_at_mut(length);
            channel.receive(record, out, plain)?;
            rest = after;
        }
        Ok(())
    }

    /// True if the handshake is complete and neither side has ended the session: requests can be sealed.
    pub fn is_open(&self) -> bool {
        matches!(&self.phase, Phase::Open(channel) if channel.is_open())
    }

    /// True once the server has sent close_notify, after which nothing more arrives.
    pub fn peer_closed(&self) -> bool {
        matches!(&self.phase, Phase::Open(channel) if channel.peer_closed)
    }

    /// Encrypts `plain` and appends it to `out` in records of at most 16 KiB.
    ///
    /// # Errors
    /// [`TlsFailure::NotOpen`] before the handshake is done and after the session ended.
    pub fn seal(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), TlsFailure> {
        match &mut self.phase {
            Phase::Open(channel) => channel.seal(plain, out),
            Phase::Handshake(_) | Phase::Failed(_) => Err(TlsFailure::NotOpen),
        }
    }

    /// Appends close_notify to `out` if the session is open and has not sent it yet.
    pub fn close(&mut self, out: &mut Vec<u8>) {
        if let Phase::Open(channel) = &mut self.phase {
            channel.close(out);
        }
    }

    /// Checks whether the connection may end at this point.
    ///
    /// # Errors
    /// [`TlsFailure::ClosedInHandshake`]; [`TlsFailure::Truncated`] when the server has not sent close_notify; or the failure that
    /// ended the session earlier.
    pub fn end(&self) -> Result<(), TlsFailure> {
        match &self.phase {
            Phase::Handshake(_) => Err(TlsFailure::ClosedInHandshake),
            Phase::Open(channel) if channel.peer_closed => Ok(()),
            Phase::Open(_) => Err(TlsFailure::Truncated),
            Phase::Failed(failure) => Err((**failure).clone()),
        }
    }

    /// The result of the handshake; `None` until it is complete.
    pub fn established(&self) -> Option<&Established> {
        self.established.as_deref()
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let phase = match &self.phase {
            Phase::Handshake(_) => "handshake",
            Phase::Open(_) => "open",
            Phase::Failed(_) => "failed",
        };
        formatter.debug_struct("Session").field("phase", &phase).finish_non_exhaustive()
    }
}

/// Returns the length of the first record of `bytes` if all of it is there.
fn whole(bytes: &[u8]) -> Result<Option<usize>, TlsFailure> {
    Ok(length(bytes)?.filter(|length| *length <= bytes.len()))
}

fn length(bytes: &[u8]) -> Result<Option<usize>, TlsFailure> {
    record::record_bytes(bytes).map_err(|_| TlsFailure::BrokenRecord("bytes came that are no record"))
}

/// Appends to `partial` the missing bytes of its record; returns how many bytes of `rest` that took.
fn complete(partial: &mut Vec<u8>, rest: &[u8]) -> Result<usize, TlsFailure> {
    let head = HEADER_BYTES.saturating_sub(partial.len()).min(rest.len());
    partial.extend_from_slice(&rest[..head]);
    let Some(length) = length(partial)? else { return Ok(head) };
    let missing = length - partial.len();
    partial.reserve_exact(missing);
    let body = missing.min(rest.len() - head);
    partial.extend_from_slice(&rest[head..head + body]);
    Ok(head + body)
}
