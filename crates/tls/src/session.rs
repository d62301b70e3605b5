//! One session, from its first byte to its last.

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

/// One TLS session of a client: it takes what arrived, and returns what to send and the plain text.
///
/// The bytes of the server may be cut in any way; that never changes what is reported.
pub struct Session {
    phase: Phase,
    /// In a handshake everything that is not used up; later the beginning of a record, else empty and without capacity.
    partial: Vec<u8>,
    established: Option<Box<Established>>,
}

impl Session {
    pub(crate) fn new(handshake: Handshake) -> Self {
        Self { phase: Phase::Handshake(Box::new(handshake)), partial: Vec::new(), established: None }
    }

    /// Appends the first message of the handshake to `out`. Call it once, when the connection is there.
    ///
    /// # Errors
    /// A failure of rustls to make its first message; none is known.
    pub fn start(&mut self, out: &mut Vec<u8>) -> Result<(), TlsFailure> {
        self.receive(&mut [], out, &mut |_| {})
    }

    /// Takes `bytes` as they came from the server. Plaintext goes to `plain`, a record at a time, and what must be sent
    /// back is appended to `out`. Whole records are decrypted where they are, so `bytes` are not what they were.
    ///
    /// # Errors
    /// The failure that ends the session; plaintext before it has been given. `out` may hold an alert
    /// for the server. Later calls return the same failure.
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
        // The phase is replaced at once; this name for it is never seen.
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
            // Taken, so that the buffer is freed as soon as its record is read.
            channel.receive(&mut std::mem::take(&mut self.partial), out, plain)?;
        }
        // Bytes after close_notify have no meaning and are not read.
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

    /// Whether the handshake is done and neither side has ended the session: requests can be sealed.
    pub fn is_open(&self) -> bool {
        matches!(&self.phase, Phase::Open(channel) if channel.is_open())
    }

    /// Whether the server has said close_notify, so that nothing more will come.
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

    /// Appends close_notify to `out` if the session is open and has not said so yet.
    pub fn close(&mut self, out: &mut Vec<u8>) {
        if let Phase::Open(channel) = &mut self.phase {
            channel.close(out);
        }
    }

    /// What it means that the connection's bytes have ended here.
    ///
    /// # Errors
    /// [`TlsFailure::ClosedInHandshake`], or [`TlsFailure::Truncated`] when the server has not said
    /// close_notify; the failure before it, if there was one.
    pub fn end(&self) -> Result<(), TlsFailure> {
        match &self.phase {
            Phase::Handshake(_) => Err(TlsFailure::ClosedInHandshake),
            Phase::Open(channel) if channel.peer_closed => Ok(()),
            Phase::Open(_) => Err(TlsFailure::Truncated),
            Phase::Failed(failure) => Err((**failure).clone()),
        }
    }

    /// What the handshake agreed on; `None` until it is done.
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

/// Length of the record that `bytes` begin with, if all of it is there.
fn whole(bytes: &[u8]) -> Result<Option<usize>, TlsFailure> {
    Ok(length(bytes)?.filter(|length| *length <= bytes.len()))
}

fn length(bytes: &[u8]) -> Result<Option<usize>, TlsFailure> {
    record::record_bytes(bytes).map_err(|_| TlsFailure::BrokenRecord("bytes came that are no record"))
}

/// Adds to `partial` what its record lacks, and returns how many bytes of `rest` that took.
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
