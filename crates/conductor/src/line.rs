//! One connection that bytes go over in the plainest way, encrypted or not.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_tls::{Established, Session, TlsFailure};
use plimsoll_units::{Clock, Instant, RealClock};

use crate::reach::Stream;

/// The most bytes taken at a time.
const READ_BYTES: usize = 64 * 1024;

/// How long somebody waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience<'a> {
    deadline: Instant,
    interrupted: &'a AtomicBool,
}

impl<'a> Patience<'a> {
    /// From now on so long, or until the user wants the end.
    pub(crate) fn new(longest: Duration, interrupted: &'a AtomicBool) -> Self {
        Self { deadline: RealClock.now() + longest, interrupted }
    }

    /// Bounds the next call on the stream; past the deadline there is none.
    fn limit(&self, stream: &Stream) -> io::Result<()> {
        let left = self.deadline.since(RealClock.now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_timeout(left)
    }
}

/// A connection with what encrypts it.
#[derive(Debug)]
pub(crate) struct Line {
    stream: Stream,
    session: Option<Session>,
    /// What the server said as soon as the handshake allowed it.
    early: Vec<u8>,
}

impl Line {
    /// A connection that is not encrypted yet.
    pub(crate) fn new(stream: Stream) -> Self {
        Self { stream, session: None, early: Vec::new() }
    }

    /// Shakes hands; what is sent and received from now on is encrypted.
    ///
    /// An error of the kind `Other` holds the [`TlsFailure`] behind it.
    pub(crate) fn secure(
        &mut self,
        mut session: Session,
        patience: &Patience<'_>,
    ) -> io::Result<Established> {
        let mut wire = Vec::new();
        session.start(&mut wire).map_err(io::Error::other)?;
        loop {
            self.send(&wire, patience)?;
            if let Some(established) = session.established().cloned() {
                self.session = Some(session);
                return Ok(established);
            }
            let mut bytes = self.receive(patience)?;
            if bytes.is_empty() {
                return Err(io::Error::other(TlsFailure::ClosedInHandshake));
            }
            wire.clear();
            let early = &mut self.early;
            if let Err(failure) =
                session.receive(&mut bytes, &mut wire, &mut |plain| early.extend_from_slice(plain))
            {
                // The alert is a courtesy; the failure is what counts.
                self.send(&wire, patience).ok();
                return Err(io::Error::other(failure));
            }
        }
    }

    /// Sends all of the bytes. An error of the kind `Other` holds the [`TlsFailure`] behind it.
    pub(crate) fn write(&mut self, bytes: &[u8], patience: &Patience<'_>) -> io::Result<()> {
        let Some(session) = &mut self.session else { return self.send(bytes, patience) };
        let mut wire = Vec::new();
        session.seal(bytes, &mut wire).map_err(io::Error::other)?;
        self.send(&wire, patience)
    }

    /// Waits for more bytes; none at the end. An error of the kind `Other` holds the [`TlsFailure`] behind it.
    pub(crate) fn read(&mut self, patience: &Patience<'_>) -> io::Result<Vec<u8>> {
        let mut plain = std::mem::take(&mut self.early);
        while plain.is_empty() {
            let mut bytes = self.receive(patience)?;
            let Some(session) = &mut self.session else { return Ok(bytes) };
            if bytes.is_empty() || session.peer_closed() {
                return session.end().map(|()| Vec::new()).map_err(io::Error::other);
            }
            let mut wire = Vec::new();
            let received =
                session.receive(&mut bytes, &mut wire, &mut |piece| plain.extend_from_slice(piece));
            let peer_closed = session.peer_closed();
            self.send(&wire, patience)?;
            // Plaintext before a failure comes first; the session tells the failure again.
            if plain.is_empty() {
                received.map_err(io::Error::other)?;
            }
            if peer_closed {
                break;
            }
        }
        Ok(plain)
    }

    fn send(&mut self, bytes: &[u8], patience: &Patience<'_>) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        patience.limit(&self.stream)?;
        self.stream.write_all(bytes)
    }

    /// Waits for bytes as they stand on the wire.
    fn receive(&mut self, patience: &Patience<'_>) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; READ_BYTES];
        loop {
            patience.limit(&self.stream)?;
            match self.stream.read(&mut bytes) {
                Ok(count) => {
                    bytes.truncate(count);
                    return Ok(bytes);
                }
                // A signal came: the user's wish to end, or only a stop and a continue.
                Err(error)
                    if error.kind() == io::ErrorKind::Interrupted
                        && !patience.interrupted.load(Ordering::Relaxed) => {}
                Err(error) => return Err(error),
            }
        }
    }
}
