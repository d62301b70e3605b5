//! One case: what a server sends, and what a client has to make of it.

/// The protocol that the cases of a suite are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    Http1,
    Http2,
}

impl Suite {
    /// The name of its folder, and in data.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http1 => "http1",
            Self::Http2 => "http2",
        }
    }
}

/// The cases of one file.
#[derive(Debug, Clone)]
pub struct Group {
    pub title: String,
    pub cases: Vec<Case>,
}

/// What a server sends to one request, and what a client has to make of it.
#[derive(Debug, Clone)]
pub struct Case {
    /// In snake case, unique in its suite.
    pub name: String,
    /// The section of the RFC that decides, such as `9112 6.3`.
    pub rule: String,
    pub why: String,
    /// The method of the request.
    pub method: String,
    /// The server ends its side of the connection after the last byte.
    pub closes: bool,
    /// It ends it with a reset.
    pub resets: bool,
    /// It means something else if it does not arrive in one piece.
    pub whole_only: bool,
    pub right: Right,
    /// What Plimsoll makes of it, in the notation of [`super::Observed`].
    pub plimsoll: String,
    /// Why that is not what the RFC asks for; `None` where it is.
    pub deviation: Option<String>,
    pub steps: Vec<Step>,
}

/// What a server does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Send(Vec<u8>),
    /// Waits for a frame of the client whose description begins so. HTTP/2 only.
    Await(String),
}

/// What a client has to make of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Right {
    /// It is this response.
    Valid(Answer),
    /// It is no response.
    Invalid,
    /// The RFC leaves it to the client. One that takes it for a response has to take it for this one.
    Free(Option<Answer>),
    /// It is no response and the end of the connection, with this code.
    ConnectionError(String),
    /// It is no response and the end of the stream, or of the connection, with this code.
    StreamError(String),
}

/// A response as a client counts it. `None` is what the client does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The status, or only its class: 2 for 2xx.
    pub status: Option<u16>,
    pub body_bytes: Option<u64>,
    /// Whether the connection may carry the next request. HTTP/1.1 only.
    pub keep_alive: Option<bool>,
}

impl Answer {
    /// Reads `200 5 keep`, with `?` for what is not known and `2xx` for a class.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let status = words.next()?.trim_end_matches("xx");
        let body = words.next()?;
        Some(Self {
            status: if status == "?" { None } else { Some(status.parse().ok()?) },
            body_bytes: if body == "?" { None } else { Some(body.parse().ok()?) },
            keep_alive: words.next().map(|word| word == "keep"),
        })
    }

    /// Whether a client that counted `self` saw the response `right`, as far as it shows.
    pub(super) fn agrees_with(&self, right: &Self) -> bool {
        let class = |status: u16| if status < 10 { status } else { status / 100 };
        let same_status = |a: u16, b: u16| if a.min(b) < 10 { class(a) == class(b) } else { a == b };
        self.status.zip(right.status).is_none_or(|(a, b)| same_status(a, b))
            && self.body_bytes.zip(right.body_bytes).is_none_or(|(a, b)| a == b)
    }
}
