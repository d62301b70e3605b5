//! Adds a trace id to a share of the requests, in the `traceparent` header of W3C Trace Context.
//!
//! Without tracing, this code does not run. With it, a worker's source draws a share of the requests and adds the header to
//! their bytes; the others are sent unchanged.

use std::io;

use plimsoll_plan::Shard;
use plimsoll_record::TraceId;

use crate::requests::{
    CheckResult, FixedRequest, RequestMeta, RequestSource, ResponseInterest, ResponseView, SourceFactory,
    SourceFault, Traffic,
};

/// The header that carries the id, in lower case as HTTP/2 needs it.
const NAME: &[u8] = b"traceparent";
/// Version, trace id, parent id and the flag "sampled"; the digits of the ids are filled in.
const VALUE: &[u8; 55] = b"00-00000000000000000000000000000000-0000000000000000-01";
/// Offset of the trace id's digits in [`VALUE`]; that of the parent id follows.
const TRACE_AT: usize = 3;
const PARENT_AT: usize = 36;
/// 2^64 divided by the golden ratio: the increment of a Weyl sequence.
const APART: u64 = 0x9E37_79B9_7F4A_7C15;

/// Requests, a share of which carries a trace id.
#[derive(Debug)]
pub struct Traced {
    /// The requests without the header.
    pub traffic: Traffic,
    /// The share of requests that get the header, above 0 and at most 1.
    pub share: f64,
    /// Seed of the random choice of requests.
    pub seed: u64,
    /// Seed of the ids. Runs with the same seed have the same ids.
    pub id_seed: u64,
    /// True if the head of a request is an HTTP/2 header block.
    pub http2: bool,
}

impl SourceFactory for Traced {
    fn create(&self, shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        let requests = match &self.traffic {
            Traffic::Fixed(request) => Requests::Fixed(request.clone()),
            Traffic::Generated(factory) => Requests::Generated(factory.create(shard)?),
        };
        let of_worker = |seed: u64| mixed(seed ^ mixed(u64::from(shard.index) + 1));
        Ok(Box::new(TracedSource {
            requests,
            // For a share of 1, `as` saturates at `u64::MAX`, which includes every request.
            drawn_up_to: (self.share * u64::MAX as f64) as u64,
            draw: of_worker(self.seed),
            ids: of_worker(self.id_seed),
            count: 0,
            http2: self.http2,
        }))
    }
}

/// The finalizer of SplitMix64.
fn mixed(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

enum Requests {
    Fixed(FixedRequest),
    Generated(Box<dyn RequestSource>),
}

/// The requests of one worker.
struct TracedSource {
    requests: Requests,
    /// A request gets the header if the next random number is at most this.
    drawn_up_to: u64,
    draw: u64,
    ids: u64,
    /// Number of requests that got the header.
    count: u32,
    http2: bool,
}

impl TracedSource {
    /// Decides whether the next request carries a trace; returns the number of its trace, or `None`.
    fn drawn(&mut self) -> Option<u32> {
        self.draw = self.draw.wrapping_add(APART);
        if mixed(self.draw) > self.drawn_up_to {
            return None;
        }
        self.count = self.count.checked_add(1)?;
        Some(self.count)
    }

    /// Random bits of the trace with number `number`; `part` selects which of its ids.
    fn bits(&self, number: u32, part: u64) -> u64 {
        mixed(self.ids.wrapping_add((u64::from(number) * 4 + part).wrapping_mul(APART)))
    }

    fn id(&self, number: u32) -> TraceId {
        let id = (u128::from(self.bits(number, 0)) << 64) | u128::from(self.bits(number, 1));
        TraceId(id.max(1))
    }

    fn value(&self, number: u32) -> [u8; VALUE.len()] {
        let mut value = *VALUE;
        write_hex(self.id(number).0, &mut value[TRACE_AT..TRACE_AT + 32]);
        write_hex(self.bits(number, 2).max(1).into(), &mut value[PARENT_AT..PARENT_AT + 16]);
        value
    }

    /// Adds the header to the request that begins at `from`; returns the number of bytes added to its head.
    fn add_header(&self, number: u32, (from, head_bytes): (usize, u32), out: &mut Vec<u8>) -> u32 {
        let value = self.value(number);
        let before = out.len();
        if self.http2 {
            // A literal field without indexing, whose name and value are not compressed (RFC 7541, section 6.2.2).
            let lengths = [NAME.len() as u8, value.len() as u8];
            insert(out, from + head_bytes as usize, &[&[0, lengths[0]], NAME, &lengths[1..], &value]);
        } else {
            let end = out[from..].windows(4).position(|bytes| bytes == b"\r\n\r\n");
            let Some(end) = end else { return 0 };
            insert(out, from + end + 2, &[NAME, b": ", &value, b"\r\n"]);
        }
        (out.len() - before) as u32
    }
}

/// Writes the last digits of a number in hexadecimal, as many as `digits` holds.
fn write_hex(mut number: u128, digits: &mut [u8]) {
    for digit in digits.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(number & 15) as usize];
        number >>= 4;
    }
}

/// Inserts the parts, one after the other, at offset `at`.
fn insert(out: &mut Vec<u8>, mut at: usize, parts: &[&[u8]]) {
    let (end, added) = (out.len(), parts.iter().map(|part| part.len()).sum::<usize>());
    out.resize(end + added, 0);
    out.copy_within(at..end, at + added);
    for part in parts {
        out[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
}

impl RequestSource for TracedSource {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<RequestMeta, SourceFault> {
        let from = out.len();
        let mut meta = match &mut self.requests {
            Requests::Fixed(request) => {
                out.extend_from_slice(&request.bytes);
                request.meta
            }
            Requests::Generated(source) => source.write(out)?,
        };
        if let Some(number) = self.drawn() {
            let added = self.add_header(number, (from, meta.head_bytes), out);
            meta.head_bytes += added;
            meta.trace = number;
        }
        Ok(meta)
    }

    fn think_time(&mut self) -> Result<std::time::Duration, SourceFault> {
        match &mut self.requests {
            Requests::Fixed(_) => Ok(std::time::Duration::ZERO),
            Requests::Generated(source) => source.think_time(),
        }
    }

    fn interest(&self) -> ResponseInterest {
        match &self.requests {
            Requests::Fixed(_) => ResponseInterest::None,
            Requests::Generated(source) => source.interest(),
        }
    }

    fn inspect(&mut self, request: u16, response: &ResponseView<'_>) -> Result<CheckResult, SourceFault> {
        match &mut self.requests {
            Requests::Fixed(_) => Ok(CheckResult::ByStatus),
            Requests::Generated(source) => source.inspect(request, response),
        }
    }

    fn trace_id(&self, number: u32) -> Option<TraceId> {
        Some(self.id(number))
    }

    fn stopped(&self) -> bool {
        match &self.requests {
            Requests::Fixed(_) => false,
            Requests::Generated(source) => source.stopped(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "POST /a HTTP/1.1\r\nHost: b\r\nContent-Length: 4\r\n\r\n\r\n\r\n";

    fn source(share: f64, worker: u32, http2: bool, request: FixedRequest) -> Box<dyn RequestSource> {
        let traced = Traced { traffic: Traffic::Fixed(request), share, seed: 1, id_seed: 2, http2 };
        traced.create(Shard { index: worker, of: 2 }).unwrap()
    }

    fn fixed() -> FixedRequest {
        FixedRequest::new(TEXT.as_bytes().to_vec(), "POST")
    }

    fn written(source: &mut Box<dyn RequestSource>, out: &mut Vec<u8>) -> (RequestMeta, Vec<u8>) {
        let from = out.len();
        let meta = source.write(out).unwrap();
        (meta, out[from..].to_vec())
    }

    #[test]
    fn a_drawn_request_carries_its_id_behind_its_other_headers() {
        let (mut source, mut out) = (source(1.0, 0, false, fixed()), Vec::new());
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..100 {
            let (meta, bytes) = written(&mut source, &mut out);
            let text = String::from_utf8(bytes).unwrap();
            let id = source.trace_id(meta.trace).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            let (_, value) = head.split_once("\r\nContent-Length: 4\r\ntraceparent: ").unwrap();
            let [version, trace, parent, flags] = value.split('-').collect::<Vec<_>>()[..] else { panic!() };
            assert_eq!((version, trace, flags), ("00", id.to_string().as_str(), "01"));
            assert!(parent.len() == 16 && parent.bytes().any(|digit| digit != b'0'), "{value}");
            assert_eq!(body, "\r\n\r\n");
            assert!(seen.insert(id), "{id} came twice");
        }
    }

    #[test]
    fn an_http2_block_gets_a_literal_field_at_its_end() {
        let mut request = fixed();
        request.bytes = (*b"BLOCKbody").into();
        request.meta.head_bytes = 5;
        let (mut source, mut out) = (source(1.0, 0, true, request), Vec::new());
        let (meta, bytes) = written(&mut source, &mut out);
        let (block, body) = bytes.split_at(meta.head_bytes as usize);
        assert_eq!((&block[..5], body), (&b"BLOCK"[..], &b"body"[..]));
        assert_eq!(&block[5..22], b"\x00\x0btraceparent\x3700-");
        assert_eq!(block.len(), 5 + 2 + 11 + 1 + 55);
    }

    #[test]
    fn about_the_share_is_drawn_and_the_others_are_unchanged() {
        let (mut source, mut out) = (source(0.1, 0, false, fixed()), Vec::new());
        let requests: Vec<_> = (0..10_000).map(|_| written(&mut source, &mut out)).collect();
        let drawn = requests.iter().filter(|(meta, _)| meta.trace != 0).count();
        assert!((900..1100).contains(&drawn), "{drawn}");
        assert!(requests.iter().all(|(meta, bytes)| (meta.trace == 0) == (bytes == TEXT.as_bytes())));
    }

    #[test]
    fn workers_have_other_ids() {
        let id = |worker| source(1.0, worker, false, fixed()).trace_id(1).unwrap();
        assert_ne!(id(0), id(1));
    }

    #[test]
    fn writing_allocates_nothing_once_warm() {
        let (mut source, mut out) = (source(0.5, 0, false, fixed()), Vec::new());
        let mut write = || {
            out.clear();
            source.write(&mut out).unwrap();
        };
        (0..100).for_each(|_| write());
        assert_eq!(allocation_counter::measure(|| (0..10_000).for_each(|_| write())).count_total, 0);
    }
}
