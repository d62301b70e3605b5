//! What a server does, right or wrong, once it has read a request.

use std::time::Duration;

/// The body where a script does not name one.
const BODY: &[u8] = b"{\"status\":\"ok\"}";
/// The head of [`Script::HugeHead`]; the limit of a careful client is 64 KiB.
const HUGE_HEAD_BYTES: usize = 80 * 1024;
/// The body that [`Script::SlowTrickle`] promises.
const TRICKLE_BYTES: usize = 1_000_000;

/// How a server errs. Unless it says otherwise the connection stays open and each request is treated alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Script {
    /// Nothing is wrong: 200 with this body.
    Correct {
        body: Vec<u8>,
    },
    /// Answers with these statuses in turn, over all connections; those that can have no body have none.
    Statuses(Vec<u16>),
    Http10,
    /// Answers without a length; the end of the connection ends the body.
    CloseDelimited,
    /// An interim 100 comes before each answer.
    Continue100,
    /// A correct answer, each byte in a packet of its own.
    OneBytePieces,
    /// Closes after so many answers on a connection, without having said so.
    CloseBetweenRequests {
        after: u64,
    },
    /// Announces 100 bytes of body, sends 50 and closes.
    TruncatedBody,
    /// Sends what is no HTTP and closes.
    GarbageHead,
    /// Sends a head of more than 64 KiB, then a body.
    HugeHead,
    EarlyClose,
    ResetBeforeResponse,
    ResetMidBody,
    NeverAnswer,
    /// Sends the head at once and then a byte of a megabyte's body per gap. It takes more than a second if the
    /// gap is more than a microsecond.
    SlowTrickle {
        gap: Duration,
    },
    /// Announces more bytes than it sends, and leaves the connection open.
    ContentLengthTooLarge,
    /// Sends more bytes than it announces.
    ContentLengthTooSmall,
    /// Sends a chunk whose size is not a number.
    BadChunk,
    ConflictingLength,
    /// Sends these bytes, whatever is asked.
    Raw(Vec<u8>),
    /// Sends these bytes, and then the others again and again as fast as they are taken, until the client closes.
    WithoutEnd {
        first: Vec<u8>,
        piece: Vec<u8>,
    },
    /// Is slow at first, like what is compiled while it runs.
    SlowAtFirst {
        /// So many requests, over all connections, are answered slowly.
        requests: u64,
        cold: Duration,
        warm: Duration,
    },
    /// Answers so many requests over all connections; at the next one the listener and all connections close at
    /// once, as if the server had been killed.
    KillAfter {
        requests: u64,
    },
}

pub(crate) struct Request {
    pub(crate) before_on_server: u64,
    pub(crate) before_on_connection: u64,
    pub(crate) head_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Read,
    Close,
    Reset,
    Kill,
}

pub(crate) struct Reply {
    pub(crate) bytes: Vec<u8>,
    /// So long it takes until the first byte.
    pub(crate) delay: Duration,
    /// So many bytes at first are sent at once, the rest one by one with this gap; nothing means all at once.
    pub(crate) trickle: Option<(usize, Duration)>,
    /// What follows again and again.
    pub(crate) without_end: Option<Vec<u8>>,
    pub(crate) then: Then,
}

impl Reply {
    fn new(bytes: Vec<u8>, then: Then) -> Self {
        Self { bytes, delay: Duration::ZERO, trickle: None, without_end: None, then }
    }

    fn silent(then: Then) -> Self {
        Self::new(Vec::new(), then)
    }
}

impl Script {
    pub(crate) fn reply(&self, request: &Request) -> Reply {
        match self {
            Self::Correct { body } => Reply::new(answer(200, body, request), Then::Read),
            Self::Statuses(statuses) => {
                Reply::new(answer(status(statuses, request), BODY, request), Then::Read)
            }
            Self::CloseBetweenRequests { after } => {
                let last = request.before_on_connection + 1 >= *after;
                Reply::new(ok(request), if last { Then::Close } else { Then::Read })
            }
            Self::KillAfter { requests } if request.before_on_server >= *requests => {
                Reply::silent(Then::Kill)
            }
            Self::KillAfter { .. } => Reply::new(ok(request), Then::Read),
            Self::OneBytePieces => {
                Reply { trickle: Some((0, Duration::ZERO)), ..Reply::new(ok(request), Then::Read) }
            }
            Self::SlowTrickle { gap } => trickle(*gap),
            Self::Raw(bytes) => Reply::new(bytes.clone(), Then::Read),
            Self::WithoutEnd { first, piece } => {
                Reply { without_end: Some(piece.clone()), ..Reply::new(first.clone(), Then::Close) }
            }
            Self::SlowAtFirst { requests, cold, warm } => {
                let delay = if request.before_on_server < *requests { *cold } else { *warm };
                Reply { delay, ..Reply::new(ok(request), Then::Read) }
            }
            Self::EarlyClose => Reply::silent(Then::Close),
            Self::ResetBeforeResponse => Reply::silent(Then::Reset),
            Self::NeverAnswer => Reply::silent(Then::Read),
            _ => self.fixed_reply(request),
        }
    }

    /// Of the scripts that send the same bytes every time.
    fn fixed_reply(&self, request: &Request) -> Reply {
        let half = vec![b'x'; 50];
        match self {
            Self::Http10 => {
                Reply::new(joined("HTTP/1.0 200 OK\r\nContent-Length: 15\r\n\r\n", BODY), Then::Close)
            }
            Self::CloseDelimited => Reply::new(joined("HTTP/1.1 200 OK\r\n\r\n", BODY), Then::Close),
            Self::Continue100 => {
                Reply::new(joined("HTTP/1.1 100 Continue\r\n\r\n", &ok(request)), Then::Read)
            }
            Self::TruncatedBody => Reply::new(joined(&head(100), &half), Then::Close),
            Self::ResetMidBody => Reply::new(joined(&head(100), &half), Then::Reset),
            Self::ContentLengthTooLarge => Reply::new(joined(&head(100), &half), Then::Read),
            Self::ContentLengthTooSmall => Reply::new(joined(&head(10), &half), Then::Read),
            Self::GarbageHead => Reply::new(joined("\u{16}\u{3}\u{1}garbage\r\n\r\n", b""), Then::Close),
            Self::HugeHead => Reply::new(joined(&huge_head(), BODY), Then::Read),
            Self::BadChunk => {
                let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
                Reply::new(joined(head, b"wrong\r\nhello\r\n0\r\n\r\n"), Then::Read)
            }
            Self::ConflictingLength => {
                let head = "HTTP/1.1 200 OK\r\nContent-Length: 15\r\nContent-Length: 50\r\n\r\n";
                Reply::new(joined(head, BODY), Then::Read)
            }
            _ => Reply::new(ok(request), Then::Read),
        }
    }
}

fn joined(head: &str, body: &[u8]) -> Vec<u8> {
    [head.as_bytes(), body].concat()
}

fn head(length: usize) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n")
}

fn huge_head() -> String {
    let padding = "x".repeat(1000);
    let fields = format!("X-Padding: {padding}\r\n").repeat(HUGE_HEAD_BYTES / 1000);
    format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: {}\r\n\r\n", BODY.len())
}

fn trickle(gap: Duration) -> Reply {
    let head = head(TRICKLE_BYTES);
    let trickle = Some((head.len(), gap));
    Reply { trickle, ..Reply::new(joined(&head, &vec![b'x'; TRICKLE_BYTES]), Then::Read) }
}

fn status(statuses: &[u16], request: &Request) -> u16 {
    statuses.get(request.before_on_server as usize % statuses.len().max(1)).copied().unwrap_or(200)
}

fn ok(request: &Request) -> Vec<u8> {
    answer(200, BODY, request)
}

fn answer(status: u16, body: &[u8], request: &Request) -> Vec<u8> {
    let line = format!("HTTP/1.1 {status} Scripted\r\n");
    if matches!(status, 204 | 304) {
        return joined(&line, b"\r\n");
    }
    let head = format!("{line}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
    joined(&head, if request.head_only { b"" } else { body })
}
