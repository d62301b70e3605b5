//! The protocols between a connection's requests and its socket: none, TLS, HTTP/2, or HTTP/2 over TLS.
//!
//! This module only converts bytes; `in_flight` and `streams` decide what they mean for requests.

use plimsoll_http::h2;
use plimsoll_record::FailureKind;
use plimsoll_tls::{Established, Session, TlsFailure};

use crate::step_spec::StepSpec;

/// A wire buffer with a larger capacity is shrunk once it is empty.
const MAX_KEPT_WIRE_BYTES: usize = 16 * 1024;

/// The protocols of one connection.
#[derive(Debug)]
pub(crate) enum ProtocolStack {
    /// HTTP/1.1 directly over the socket.
    Plain,
    /// HTTP/1.1 over TLS.
    Tls(Box<Tls>),
    /// HTTP/2 directly over the socket.
    H2(Box<H2>),
    /// HTTP/2 over TLS.
    H2OverTls(Box<H2OverTls>),
}

#[derive(Debug)]
pub(crate) struct Tls {
    session: Session,
    buffers: Buffers,
}

#[derive(Debug)]
pub(crate) struct H2 {
    client: h2::Connection,
    buffers: Buffers,
}

#[derive(Debug)]
pub(crate) struct H2OverTls {
    session: Session,
    client: h2::Connection,
    buffers: Buffers,
}

#[derive(Debug, Default)]
struct Buffers {
    /// The bytes for the socket; sent ones may remain at the front.
    wire: Vec<u8>,
    /// Bytes that the layer above TLS has written and TLS has not sealed yet.
    plain: Vec<u8>,
}

/// The result of the TLS handshake that the step depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Negotiated {
    /// True if an earlier session was resumed.
    pub(crate) resumed: bool,
    /// True if the server speaks the protocol that the step needs.
    pub(crate) protocol_matches: bool,
}

/// The layers of a stack that is not plain: TLS, HTTP/2 and the buffers.
type Layers<'a> = (Option<&'a mut Session>, Option<&'a mut h2::Connection>, &'a mut Buffers);

impl ProtocolStack {
    /// Creates the stack of a new connection.
    pub(crate) fn new(spec: &StepSpec) -> Result<Self, FailureKind> {
        let client = || h2::Connection::new(u32::from(spec.depth));
        let buffers = Buffers::default();
        let Some(tls) = &spec.tls else {
            return Ok(match spec.streams {
                true => Self::H2(Box::new(H2 { client: client(), buffers })),
                false => Self::Plain,
            });
        };
        let session = tls.client.session(&tls.name).map_err(|_| FailureKind::TlsHandshake)?;
        Ok(match spec.streams {
            true => Self::H2OverTls(Box::new(H2OverTls { session, client: client(), buffers })),
            false => Self::Tls(Box::new(Tls { session, buffers })),
        })
    }

    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self, Self::Plain)
    }

    fn layers(&mut self) -> Option<Layers<'_>> {
        match self {
            Self::Plain => None,
            Self::Tls(tls) => Some((Some(&mut tls.session), None, &mut tls.buffers)),
            Self::H2(h2) => Some((None, Some(&mut h2.client), &mut h2.buffers)),
            Self::H2OverTls(both) => {
                Some((Some(&mut both.session), Some(&mut both.client), &mut both.buffers))
            }
        }
    }

    fn session(&self) -> Option<&Session> {
        match self {
            Self::Plain | Self::H2(_) => None,
            Self::Tls(tls) => Some(&tls.session),
            Self::H2OverTls(both) => Some(&both.session),
        }
    }

    /// The HTTP/2 layer, if there is one.
    pub(crate) fn h2(&self) -> Option<&h2::Connection> {
        match self {
            Self::Plain | Self::Tls(_) => None,
            Self::H2(h2) => Some(&h2.client),
            Self::H2OverTls(both) => Some(&both.client),
        }
    }

    /// The HTTP/2 layer, to close its streams when the connection has ended.
    pub(crate) fn h2_mut(&mut self) -> Option<&mut h2::Connection> {
        self.layers().and_then(|(_, h2, _)| h2)
    }

    /// Writes the client's first bytes, once the socket is connected.
    pub(crate) fn start(&mut self) -> Result<(), TlsFailure> {
        let Some((session, h2, Buffers { wire, plain })) = self.layers() else { return Ok(()) };
        if let Some(h2) = h2 {
            h2.open(if session.is_some() { plain } else { wire });
        }
        session.map_or(Ok(()), |session| session.start(wire))
    }

    /// Calls `above` to write for the layer above TLS, and seals the result.
    pub(crate) fn write(
        &mut self,
        above: impl FnOnce(Option<&mut h2::Connection>, &mut Vec<u8>),
    ) -> Result<(), TlsFailure> {
        let Some((session, h2, Buffers { wire, plain })) = self.layers() else { return Ok(()) };
        above(h2, if session.is_some() { plain } else { wire });
        self.seal()
    }

    /// Reads bytes from the wire. `above` is called with each piece of their content for the layer above TLS, and with a
    /// buffer for that layer's immediate reply.
    pub(crate) fn read(
        &mut self,
        bytes: &mut [u8],
        mut above: impl FnMut(Option<&mut h2::Connection>, &[u8], &mut Vec<u8>),
    ) -> Result<(), TlsFailure> {
        let Some((session, mut h2, Buffers { wire, plain })) = self.layers() else { return Ok(()) };
        match session {
            None => above(h2, bytes, wire),
            Some(session) => {
                session.receive(bytes, wire, &mut |bytes| above(h2.as_deref_mut(), bytes, plain))?;
            }
        }
        self.seal()
    }

    /// Seals what the layer above TLS has written, once the handshake is done.
    fn seal(&mut self) -> Result<(), TlsFailure> {
        if let Some((Some(session), _, Buffers { wire, plain })) = self.layers()
            && session.is_open()
            && !plain.is_empty()
        {
            session.seal(plain, wire)?;
            plain.clear();
        }
        Ok(())
    }

    /// The bytes for the wire; empty for a plain stack, whose requests go to the socket directly.
    pub(crate) fn wire(&self) -> &[u8] {
        match self {
            Self::Plain => &[],
            Self::Tls(tls) => &tls.buffers.wire,
            Self::H2(h2) => &h2.buffers.wire,
            Self::H2OverTls(both) => &both.buffers.wire,
        }
    }

    /// Empties the wire buffer, all of which was sent.
    pub(crate) fn clear_wire(&mut self) {
        if let Some((_, _, Buffers { wire, .. })) = self.layers() {
            wire.clear();
            wire.shrink_to(MAX_KEPT_WIRE_BYTES);
        }
    }

    /// Removes `count` sent bytes from the front of the wire buffer.
    pub(crate) fn drop_sent(&mut self, count: usize) {
        if let Some((_, _, Buffers { wire, .. })) = self.layers() {
            wire.drain(..count);
        }
    }

    /// True while the TLS handshake is under way.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.session().is_some_and(|session| !session.is_open() && !session.peer_closed())
    }

    /// True once the peer has closed the TLS session.
    pub(crate) fn peer_closed(&self) -> bool {
        self.session().is_some_and(Session::peer_closed)
    }

    /// True if the connection ended without a proper end of the TLS session: bytes may be missing.
    pub(crate) fn is_truncated(&self) -> bool {
        self.session().is_some_and(|session| session.end().is_err())
    }

    /// What the TLS handshake agreed on, once it is done.
    pub(crate) fn established(&self) -> Option<&Established> {
        self.session()?.established()
    }

    /// The part of the result that the step depends on; `None` until the handshake is done.
    pub(crate) fn negotiated(&self) -> Option<Negotiated> {
        let established = self.established()?;
        let needed: Option<&[u8]> = self.h2().is_some().then_some(b"h2");
        let protocol_matches = needed.is_none_or(|needed| established.alpn.as_deref() == Some(needed));
        Some(Negotiated { resumed: established.resumed, protocol_matches })
    }
}
