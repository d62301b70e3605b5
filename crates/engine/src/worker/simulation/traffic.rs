//! Requests that carry a number, so that the server knows which one it has.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_plan::Shard;

use crate::requests::{
    CheckResult, FixedRequest, RequestMeta, RequestSource, ResponseInterest, ResponseView, SourceFactory,
    SourceFault, Traffic,
};
use plimsoll_testkit::Random;

/// A request, as its head says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) number: u64,
    pub(super) body_bytes: usize,
    /// It is not idempotent.
    pub(super) once: bool,
}

/// Header blocks begin with the method and these: `:scheme`, `:path` and a literal field named `n`, from the static table
/// where it has them (RFC 7541, appendix A).
const FIELDS: [u8; 5] = [0x86, 0x84, 0x00, 1, b'n'];
const GET: u8 = 0x82;
const POST: u8 = 0x83;

impl Request {
    fn method(self) -> &'static str {
        if self.once { "POST" } else { "GET" }
    }

    /// Appends it as it goes over the wire; for HTTP/2 its header block and its body.
    fn write(self, streams: bool, out: &mut Vec<u8>) -> RequestMeta {
        let begin = out.len();
        let tag = format!("{}-{}", self.number, self.body_bytes);
        if streams {
            out.push(if self.once { POST } else { GET });
            out.extend(FIELDS);
            out.push(tag.len() as u8);
            out.extend(tag.as_bytes());
        } else {
            let (method, length) = (self.method(), self.body_bytes);
            out.extend(
                format!("{method} /{tag} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n").bytes(),
            );
        }
        let head_bytes = (out.len() - begin) as u32;
        out.resize(out.len() + self.body_bytes, b'r');
        RequestMeta { head_bytes, ..RequestMeta::for_method(self.method()) }
    }

    /// Reads the head of an HTTP/1.1 request, or panics: the client has written something else.
    pub(super) fn from_text(head: &[u8]) -> Self {
        let text = std::str::from_utf8(head).expect("a head of a request");
        let (method, rest) = text.split_once(" /").expect("a request line");
        let (tag, fields) = rest.split_once(" HTTP/1.1\r\nHost: a\r\n").expect("a request line and a host");
        let request = Self::from_tag(method == "POST", tag);
        assert_eq!(fields, format!("Content-Length: {}\r\n\r\n", request.body_bytes));
        request
    }

    /// Reads the header block of an HTTP/2 request, or panics.
    pub(super) fn from_block(block: &[u8]) -> Self {
        let (method, rest) = block.split_first().expect("a header block");
        let tag = rest.strip_prefix(&FIELDS).expect("the header block of a request");
        assert!([GET, POST].contains(method) && tag.len() == usize::from(tag[0]) + 1, "{block:?}");
        Self::from_tag(*method == POST, std::str::from_utf8(&tag[1..]).expect("a tag"))
    }

    fn from_tag(once: bool, tag: &str) -> Self {
        let (number, length) = tag.split_once('-').expect("a tag");
        Self {
            number: number.parse().expect("a number"),
            body_bytes: length.parse().expect("a length"),
            once,
        }
    }
}

/// The traffic of a world: always the same request, or numbered ones with think times and checks of the responses.
pub(super) fn traffic(random: &mut Random, streams: bool) -> Traffic {
    let body_bytes = if random.permille(700) { 0 } else { random.within(1..100_000) as usize };
    if random.permille(500) {
        let request = Request { number: 0, body_bytes, once: false };
        let mut bytes = Vec::new();
        let meta = request.write(streams, &mut bytes);
        return Traffic::Fixed(FixedRequest { bytes: bytes.into(), meta });
    }
    let think_time = Duration::from_millis(if random.permille(500) { random.within(0..500) } else { 0 });
    let posts = if random.permille(500) { 300 } else { 0 };
    let inspects = random.permille(500);
    Traffic::Generated(Arc::new(Numbered {
        seed: random.within(0..1 << 40),
        streams,
        body_bytes,
        think_time,
        posts,
        inspects,
    }))
}

/// Generates numbered requests.
#[derive(Debug, Clone)]
struct Numbered {
    seed: u64,
    streams: bool,
    /// Of a request that has a body.
    body_bytes: usize,
    think_time: Duration,
    /// Of a thousand requests.
    posts: u64,
    inspects: bool,
}

impl SourceFactory for Numbered {
    fn create(&self, _shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        Ok(Box::new(Numbers { random: Random::new(self.seed), next: 0, traffic: self.clone() }))
    }
}

struct Numbers {
    random: Random,
    next: u64,
    traffic: Numbered,
}

impl RequestSource for Numbers {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<RequestMeta, SourceFault> {
        let once = self.random.permille(self.traffic.posts);
        let body_bytes = if once { self.traffic.body_bytes } else { 0 };
        let request = Request { number: self.next, body_bytes, once };
        self.next += 1;
        Ok(request.write(self.traffic.streams, out))
    }

    fn think_time(&mut self) -> Result<Duration, SourceFault> {
        Ok(self.random.time(self.traffic.think_time))
    }

    fn interest(&self) -> ResponseInterest {
        if self.traffic.inspects { ResponseInterest::Full } else { ResponseInterest::None }
    }

    fn inspect(&mut self, _request: u16, response: &ResponseView<'_>) -> Result<CheckResult, SourceFault> {
        assert_eq!(response.body.len() as u64, response.body_bytes);
        assert!(response.body.iter().all(|byte| *byte == b'x'), "the body is another");
        Ok(CheckResult::ByStatus)
    }
}
