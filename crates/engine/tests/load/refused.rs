//! Requests that an HTTP/2 server says it has not processed: they are sent again, whatever they are.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use plimsoll_engine::{
    CheckResult, FixedRequest, RequestMeta, RequestSource, ResponseView, SourceFactory, SourceFault,
    StepSpec, TlsConfig, Traffic,
};
use plimsoll_http::Version;
use plimsoll_plan::{Level, Shard, Target};
use plimsoll_record::FailureKind;
use plimsoll_tls::{Client, Roots, ServerName, TlsSettings};

use super::measured::{Measured, closed, open, order};
use super::refuser::{Batch, Play, Refuser, answer, eager_tls, go_away, refuse, settings};

/// SETTINGS_MAX_CONCURRENT_STREAMS.
const MAX_STREAMS: u16 = 3;

fn post(body: &[u8]) -> FixedRequest {
    let mut target = Target::parse("http://localhost/").unwrap();
    target.method = "POST".to_owned();
    target.body = body.to_vec();
    let (bytes, head_bytes) = target.request().encode(Version::Http2).unwrap().to_bytes();
    let meta = RequestMeta { head_bytes: head_bytes as u32, ..RequestMeta::for_method("POST") };
    FixedRequest { bytes: bytes.into(), meta }
}

/// Makes POST requests, each with a body of its own.
#[derive(Clone, Default)]
struct Numbered(Arc<AtomicU64>);

impl SourceFactory for Numbered {
    fn create(&self, _shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        Ok(Box::new(self.clone()))
    }
}

impl RequestSource for Numbered {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<RequestMeta, SourceFault> {
        let request = post(format!("number {}", self.0.fetch_add(1, Ordering::SeqCst)).as_bytes());
        out.extend_from_slice(&request.bytes);
        Ok(request.meta)
    }

    fn inspect(&mut self, _request: u16, _answer: &ResponseView<'_>) -> Result<CheckResult, SourceFault> {
        Ok(CheckResult::ByStatus)
    }
}

/// So many POST requests, eight at a time on each connection.
fn posts(server: &Refuser, level: Level, count: u64) -> StepSpec {
    let mut order = order(server.address, level);
    order.traffic = Traffic::Fixed(post(b"body"));
    order.streams = true;
    order.depth = 8;
    order.requests_max = Some(count);
    order.duration = Duration::from_secs(600);
    order
}

fn all_answered(order: &StepSpec) -> Measured {
    let measured = Measured::new(order);
    assert_eq!(measured.failures(), [""; 0]);
    assert_eq!(Some(measured.counts.completed), order.requests_max);
    measured
}

/// Refuses the first streams of a connection, and five after every fifty.
fn refuses_some(batch: &Batch<'_>) -> Vec<u8> {
    let reply = |(nth, stream)| if nth % 50 < 5 { refuse(stream) } else { answer(stream) };
    (batch.before..).zip(batch.streams()).flat_map(reply).collect()
}

#[test]
fn refused_posts_are_sent_again_on_other_streams_of_their_connection() {
    let server = Refuser::start(refuses_some);
    all_answered(&posts(&server, closed(1), 200));
    assert_eq!(server.connections(), 1);
    assert!(server.requests() >= 220, "{}", server.requests());
}

/// Allows no request on a connection.
struct Closed;

impl Play for Closed {
    fn greet(&self, _connection: u64) -> Vec<u8> {
        settings(&[(MAX_STREAMS, 0)])
    }

    fn reply(&self, _batch: &Batch<'_>) -> Vec<u8> {
        Vec::new()
    }
}

#[test]
fn a_server_that_allows_no_request_fails_those_that_wait_for_it() {
    // Its settings come with the end of the handshake, before any request is sent.
    let (tls, certificate) = eager_tls();
    let server = Refuser::start_with(Closed, Some(tls));
    for (level, kind) in [(closed(2), "h2_no_streams"), (open(100.0, 2), "unsent")] {
        let mut order = secure(posts(&server, level, 10_000), certificate.clone());
        order.connections_max = 2;
        order.timeout = Duration::from_secs(2);
        let before = server.connections();
        // Both connections are replaced when no request of theirs was sent in time.
        let measured = Measured::watched(&order, |_, running| {
            if server.connections() >= before + 4 {
                running.end_load();
            }
        });
        assert_eq!((measured.counts.sent, measured.failures()), (0, vec![kind]));
        assert!(measured.counts.failed.total() >= 2, "{:?}", measured.counts);
        // As long as the timeout, or as what is due may still be sent after the end of the load.
        assert!(measured.latency.min() >= 999_000_000, "{}", measured.latency.min());
    }
}

/// Answers ten requests of a connection; of the others it says that it does not look at them, and does not close.
fn answers_ten(batch: &Batch<'_>) -> Vec<u8> {
    let served = |nth: u64| nth < 10;
    let numbered = || (batch.before..).zip(batch.streams());
    let mut reply: Vec<u8> =
        numbered().filter(|(nth, _)| served(*nth)).flat_map(|(_, stream)| answer(stream)).collect();
    if numbered().any(|(nth, _)| !served(nth)) {
        reply.extend(go_away(19));
    }
    reply
}

#[test]
fn made_posts_that_a_server_going_away_did_not_look_at_are_sent_again_as_they_were() {
    let server = Refuser::start(answers_ten);
    for level in [closed(2), open(2000.0, 2)] {
        let factory = Numbered::default();
        server.seen.lock().unwrap().clear();
        let mut order = posts(&server, level, 200);
        order.traffic = Traffic::Generated(Arc::new(factory.clone()));
        // After a stall of the machine more would share the load, so that none has more than ten requests.
        order.connections_max = 2;
        all_answered(&order);
        let mut times = BTreeMap::new();
        for body in server.seen.lock().unwrap().iter() {
            *times.entry(String::from_utf8(body.clone()).unwrap()).or_insert(0) += 1;
        }
        let expected: Vec<String> = (0..200).map(|number| format!("number {number}")).collect();
        assert!(expected.iter().all(|body| times.contains_key(body)), "{times:?}");
        assert_eq!(times.len(), 200);
        assert!(times.values().any(|count| *count > 1), "some were refused");
    }
}

#[test]
fn a_server_that_answers_one_request_a_connection_has_all_of_them_sent_until_they_are_answered() {
    let server = Refuser::start(|batch: &Batch<'_>| {
        let first = batch.streams().next().filter(|stream| *stream == 1);
        first.map(answer).into_iter().flatten().chain(go_away(1)).collect()
    });
    let measured = all_answered(&posts(&server, closed(1), 40));
    assert!(server.connections() >= 40, "{}", server.connections());
    assert!(measured.counts.reconnects >= 30, "{:?}", measured.counts);
}

#[test]
fn a_server_that_refuses_everything_is_asked_four_times_and_the_failure_says_so() {
    let refuses: [fn(&Batch<'_>) -> Vec<u8>; 2] =
        [|batch| batch.streams().flat_map(refuse).collect(), |_| go_away(0)];
    for play in refuses {
        let server = Refuser::start(play);
        let measured = Measured::new(&posts(&server, closed(1), 16));
        assert_eq!(measured.failures(), ["h2_refused"]);
        assert_eq!(measured.failed(FailureKind::H2Refused), 16);
        assert_eq!(server.requests(), 16 * 4);
    }
}

/// Turns the first connection away with its first words, and serves all others.
struct TurnsAway;

impl Play for TurnsAway {
    fn greet(&self, connection: u64) -> Vec<u8> {
        let farewell = if connection == 0 { go_away(0) } else { Vec::new() };
        [settings(&[]), farewell].concat()
    }

    fn reply(&self, batch: &Batch<'_>) -> Vec<u8> {
        if batch.connection == 0 { Vec::new() } else { batch.streams().flat_map(answer).collect() }
    }
}

#[test]
fn a_connection_that_is_turned_away_with_the_first_words_is_replaced_at_once() {
    let server = Refuser::start(TurnsAway);
    all_answered(&posts(&server, closed(1), 40));
    assert_eq!(server.connections(), 2);
}

fn secure(mut order: StepSpec, certificate: Vec<u8>) -> StepSpec {
    let roots = Roots::Pem(certificate);
    let settings = TlsSettings { roots, alpn: vec![b"h2".to_vec()], ..TlsSettings::default() };
    let client = Client::new(&settings).unwrap();
    order.tls = Some(TlsConfig { client, name: ServerName::parse("localhost").unwrap() });
    order
}

#[test]
fn a_connection_that_is_turned_away_within_the_handshake_is_replaced_at_once() {
    let (tls, certificate) = eager_tls();
    let server = Refuser::start_with(TurnsAway, Some(tls));
    let measured = Measured::new(&secure(posts(&server, closed(1), 40), certificate));
    // The request that the connection was opened for was never sent, like one that finds no connection at all.
    assert_eq!(measured.failures(), ["h2_refused"]);
    assert_eq!((measured.failed(FailureKind::H2Refused), measured.counts.completed), (1, 39));
    assert_eq!(server.connections(), 2);
}

/// Answers one request of its first connection and refuses the others; later connections take two at a time.
struct Narrows(Arc<AtomicU64>);

impl Play for Narrows {
    fn greet(&self, connection: u64) -> Vec<u8> {
        if connection == 0 { settings(&[]) } else { settings(&[(MAX_STREAMS, 2)]) }
    }

    fn reply(&self, batch: &Batch<'_>) -> Vec<u8> {
        if batch.connection == 0 {
            return [answer(1), go_away(1)].concat();
        }
        self.0.fetch_max(batch.requests.len() as u64, Ordering::SeqCst);
        batch.streams().flat_map(answer).collect()
    }
}

#[test]
fn what_finds_no_stream_on_a_new_connection_waits_for_one() {
    let (tls, certificate) = eager_tls();
    let most = Arc::new(AtomicU64::new(0));
    let server = Refuser::start_with(Narrows(Arc::clone(&most)), Some(tls));
    all_answered(&secure(posts(&server, closed(1), 60), certificate));
    assert_eq!((server.connections(), most.load(Ordering::SeqCst)), (2, 2));
}

#[test]
fn a_connection_on_which_only_refused_requests_are_left_is_replaced_when_the_others_are_overdue() {
    // The first request of the first connection is never answered, and the fifth one ends the connection's use.
    let server = Refuser::start(|batch: &Batch<'_>| match batch.connection {
        0 if batch.streams().any(|stream| stream == 9) => go_away(1),
        0 => Vec::new(),
        _ => batch.streams().flat_map(answer).collect(),
    });
    let mut order = posts(&server, open(10.0, 1), 8);
    order.connections_max = 1;
    order.timeout = Duration::from_secs(1);
    let measured = Measured::new(&order);
    assert!(measured.failed(FailureKind::TimedOut) >= 1, "{:?}", measured.failures());
    assert!(measured.counts.completed >= 1, "{:?}", measured.failures());
    // A machine that stalls for a second makes the answers of the second one overdue as well.
    assert!(server.connections() >= 2, "{}", server.connections());
}
