//! What stands between requests and the socket: encryption, and the streams of HTTP/2.

use plimsoll_http::h2;
use plimsoll_record::FailureKind;
use plimsoll_tls::{Session, TlsFailure, TlsFailureKind};

/// A connection with more than this to be sent takes no further requests until it is sent.
pub(crate) const UNSENT_MOST_BYTES: usize = 64 * 1024;
/// A buffer for what goes over the wire that has grown beyond this is given back once it is empty.
const WIRE_KEPT_BYTES: usize = 16 * 1024;

/// The layers of one connection.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    session: Option<Session>,
    pub(crate) link: Option<h2::Connection>,
    /// What goes over the wire, from the first byte that is still to be sent or before it.
    pub(crate) wire: Vec<u8>,
    /// What the layer above encryption has to say, until it can be sealed.
    said: Vec<u8>,
}

impl Layers {
    pub(crate) fn new(session: Option<Session>, link: Option<h2::Connection>) -> Self {
        Self { session, link, ..Self::default() }
    }

    /// The socket is connected: says what is to be said first. The connection is ready for requests at once
    /// if there is no encryption to be agreed on.
    pub(crate) fn begin(&mut self) -> Result<(), TlsFailure> {
        let Self { session, link, wire, said } = self;
        wire.clear();
        said.clear();
        if let Some(link) = link {
            link.open(if session.is_some() { said } else { wire });
        }
        session.as_mut().map_or(Ok(()), |session| session.start(wire))
    }

    /// Lets the layer above encryption speak, and seals what it says.
    pub(crate) fn speak(
        &mut self,
        words: impl FnOnce(Option<&mut h2::Connection>, &mut Vec<u8>),
    ) -> Result<(), TlsFailure> {
        let Self { session, link, wire, said } = self;
        match session {
            None => words(link.as_mut(), wire),
            Some(_) => words(link.as_mut(), said),
        }
        self.seal()
    }

    /// Takes what came, and shows what it means to the layer above encryption, which may answer.
    pub(crate) fn hear(
        &mut self,
        bytes: &mut [u8],
        mut plain: impl FnMut(Option<&mut h2::Connection>, &[u8], &mut Vec<u8>),
    ) -> Result<(), TlsFailure> {
        let Self { session, link, wire, said } = self;
        match session {
            None => plain(link.as_mut(), bytes, wire),
            Some(session) => session.receive(bytes, wire, &mut |bytes| plain(link.as_mut(), bytes, said))?,
        }
        self.seal()
    }

    /// Seals what was said, once there is a session to seal it with.
    fn seal(&mut self) -> Result<(), TlsFailure> {
        let Self { session, wire, said, .. } = self;
        if let Some(session) = session
            && session.is_open()
            && !said.is_empty()
        {
            session.seal(said, wire)?;
            said.clear();
        }
        Ok(())
    }

    /// Everything was sent.
    pub(crate) fn clear_wire(&mut self) {
        self.wire.clear();
        self.wire.shrink_to(WIRE_KEPT_BYTES);
    }

    /// True while encryption is still to be agreed on.
    pub(crate) fn is_securing(&self) -> bool {
        self.session.as_ref().is_some_and(|session| !session.is_open() && !session.peer_closed())
    }

    /// True once the peer has said, under encryption, that it closes.
    pub(crate) fn peer_closed(&self) -> bool {
        self.session.as_ref().is_some_and(Session::peer_closed)
    }

    /// True if the bytes may have ended before the peer wanted them to: encryption would say so.
    pub(crate) fn cut_off(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.end().is_err())
    }

    /// What encryption agreed on: whether an earlier session was resumed, and whether the protocol is the one that
    /// was asked for.
    pub(crate) fn agreed(&self) -> Option<Agreed> {
        let established = self.session.as_ref()?.established()?;
        let wanted: Option<&[u8]> = self.link.is_some().then_some(b"h2");
        let fits = wanted.is_none_or(|wanted| established.alpn.as_deref() == Some(wanted));
        Some(Agreed { resumed: established.resumed, fits })
    }
}

/// What encryption agreed on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Agreed {
    pub(crate) resumed: bool,
    /// The server speaks the protocol that was asked for.
    pub(crate) fits: bool,
}

/// The name of a failure of encryption.
pub fn tls_failure(failure: &TlsFailure) -> FailureKind {
    match failure.kind() {
        TlsFailureKind::Certificate => FailureKind::TlsCertificate,
        TlsFailureKind::Handshake => FailureKind::TlsHandshake,
        TlsFailureKind::Record => FailureKind::TlsRecord,
    }
}

/// Which of a connection's places its requests under way take: in order of their sending, or, where answers may
/// come in any order, as they are free.
#[derive(Debug)]
pub(crate) enum Places {
    /// A ring: the place of the oldest.
    InOrder { first: u16 },
    /// Places under way, the oldest first, those of them that no stream carries, and free ones.
    Any(Box<AnyOrder>),
}

#[derive(Debug, Default)]
pub(crate) struct AnyOrder {
    active: Vec<u16>,
    free: Vec<u16>,
    /// Of those under way, the ones whose requests the server has not processed and says so, or that found no
    /// stream: they are sent again once there is one.
    held: Vec<u16>,
}

impl Places {
    pub(crate) fn in_any_order(depth: u16) -> Self {
        let active = Vec::with_capacity(usize::from(depth));
        Self::Any(Box::new(AnyOrder { active, free: (0..depth).rev().collect(), held: Vec::new() }))
    }

    /// No stream carries the request in this place for now.
    pub(crate) fn hold(&mut self, place: u16) {
        if let Self::Any(any) = self
            && !any.held.contains(&place)
        {
            any.held.push(place);
        }
    }

    /// The places that are held, the first one first.
    pub(crate) fn held(&self) -> &[u16] {
        match self {
            Self::InOrder { .. } => &[],
            Self::Any(any) => &any.held,
        }
    }

    /// Takes a place when `pending` of `depth` are taken.
    #[inline]
    pub(crate) fn take(&mut self, pending: u16, depth: u16) -> u16 {
        match self {
            Self::InOrder { first } => (*first + pending) % depth,
            Self::Any(any) => {
                let place = any.free.pop().unwrap_or_default();
                any.active.push(place);
                place
            }
        }
    }

    /// The place of number `index` of those under way, the oldest being 0.
    #[inline]
    pub(crate) fn at(&self, index: u16, depth: u16) -> u16 {
        match self {
            Self::InOrder { first } => (*first + index) % depth,
            Self::Any(any) => any.active[usize::from(index)],
        }
    }

    /// Which number of those under way has this place.
    pub(crate) fn index_of(&self, place: u16) -> Option<u16> {
        match self {
            Self::InOrder { .. } => None,
            Self::Any(any) => any.active.iter().position(|active| *active == place).map(|at| at as u16),
        }
    }

    /// Frees the place of number `index`; in order, that can only be the oldest.
    #[inline]
    pub(crate) fn free(&mut self, index: u16, depth: u16) {
        match self {
            Self::InOrder { first } => *first = (*first + 1) % depth,
            Self::Any(any) => {
                let place = any.active.remove(usize::from(index));
                any.held.retain(|held| *held != place);
                any.free.push(place);
            }
        }
    }
}
