//! Requests through TLS and over the streams of HTTP/2, against nginx.

use std::fs;
use std::time::Duration;

use plimsoll_engine::{FixedRequest, RequestMeta, StepSpec, TlsConfig, Traffic};
use plimsoll_http::Version;
use plimsoll_plan::{Level, Target};
use plimsoll_record::FailureKind;
use plimsoll_testkit::{BadServer, Nginx, Script};
use plimsoll_tls::{Client, Roots, ServerName, TlsSettings};

use super::measured::{Measured, closed, open, order};

pub(crate) fn tls(nginx: &Nginx, name: &str, streams: bool) -> TlsConfig {
    let roots = Roots::Pem(fs::read(nginx.certificate()).unwrap());
    let alpn = if streams { vec![b"h2".to_vec()] } else { Vec::new() };
    let client = Client::new(&TlsSettings { roots, alpn, ..TlsSettings::default() }).unwrap();
    TlsConfig { client, name: ServerName::parse(name).unwrap() }
}

fn fixed(path: &str) -> Traffic {
    let target = Target::parse(&format!("http://localhost{path}")).unwrap();
    Traffic::Fixed(FixedRequest::new(target.encode().unwrap(), "GET"))
}

/// A request for the streams of HTTP/2: a GET, or a POST if there is a body.
fn on_stream(path: &str, body: &[u8]) -> Traffic {
    let mut target = Target::parse(&format!("https://localhost{path}")).unwrap();
    target.method = if body.is_empty() { "GET" } else { "POST" }.to_owned();
    target.body = body.to_vec();
    let (bytes, head_bytes) = target.request().encode(Version::Http2).unwrap().to_bytes();
    let meta = RequestMeta { head_bytes: head_bytes as u32, ..RequestMeta::for_method(&target.method) };
    Traffic::Fixed(FixedRequest { bytes: bytes.into(), meta })
}

fn secure(nginx: &Nginx, level: Level) -> StepSpec {
    let mut order = order(nginx.tls_address(), level);
    order.tls = Some(tls(nginx, "localhost", false));
    order.traffic = fixed("/");
    order
}

fn over_streams(nginx: &Nginx, level: Level, depth: u16) -> StepSpec {
    let mut order = order(nginx.tls_address(), level);
    order.tls = Some(tls(nginx, "localhost", true));
    order.traffic = on_stream("/", b"");
    order.streams = true;
    order.depth = depth;
    order
}

fn all_served(nginx: &Nginx, order: &StepSpec) -> Measured {
    let before = nginx.requests().unwrap();
    let measured = Measured::new(order);
    let counted = nginx.requests().unwrap() - before;
    assert_eq!(measured.failures(), [""; 0]);
    assert_eq!((measured.counts.completed, measured.counts.ok), (counted, counted));
    assert!(counted > 0);
    measured
}

#[test]
fn tls_connections_are_shaken_hands_on_once_and_counted_by_nginx() {
    let nginx = Nginx::start().unwrap();
    let measured = all_served(&nginx, &secure(&nginx, closed(10)));
    let counts = &measured.counts;
    assert_eq!((counts.connects, counts.handshakes), (10, 10));
}

#[test]
fn sessions_are_resumed_when_each_request_has_its_own_connection() {
    let nginx = Nginx::start().unwrap();
    let mut order = secure(&nginx, closed(2));
    order.requests_max = Some(200);
    order.duration = Duration::from_secs(600);
    order.traffic = fixed("/brief");
    let measured = all_served(&nginx, &order);
    assert!(measured.counts.handshakes >= 20, "{:?}", measured.counts);
    assert!(measured.counts.resumed >= measured.counts.handshakes - 4, "{:?}", measured.counts);
}

#[test]
fn large_bodies_and_pipelines_go_through_tls() {
    let nginx = Nginx::start().unwrap();
    let mut order = secure(&nginx, closed(3));
    order.traffic = fixed("/file");
    order.depth = 4;
    let measured = all_served(&nginx, &order);
    assert!(measured.counts.bytes_in / measured.counts.completed > 100_000);
}

#[test]
fn long_bodies_go_out_through_tls() {
    let nginx = Nginx::start().unwrap();
    let mut target = Target::parse("http://localhost/").unwrap();
    (target.method, target.body) = ("POST".to_owned(), vec![b'x'; 900_000]);
    let mut order = secure(&nginx, closed(2));
    order.traffic = Traffic::Fixed(FixedRequest::new(target.encode().unwrap(), "POST"));
    order.requests_max = Some(40);
    // nginx answers before it has read all of a body.
    let measured = all_served(&nginx, &order);
    assert!(measured.counts.bytes_out > 64 * 1024 * measured.counts.completed);
}

#[test]
fn an_open_loop_goes_through_tls() {
    let nginx = Nginx::start().unwrap();
    let mut order = secure(&nginx, open(500.0, 4));
    order.requests_max = Some(150);
    let measured = all_served(&nginx, &order);
    assert_eq!(measured.counts.completed, 150);
}

#[test]
fn a_certificate_for_another_name_is_a_failure_of_its_own() {
    let nginx = Nginx::start().unwrap();
    let mut order = secure(&nginx, closed(2));
    order.tls = Some(tls(&nginx, "elsewhere.test", false));
    order.requests_max = Some(4);
    let measured = Measured::new(&order);
    assert_eq!(measured.failures(), ["tls_certificate"]);
    assert_eq!(measured.counts.completed, 0);
}

#[test]
fn a_server_without_tls_fails_the_handshake() {
    let nginx = Nginx::start().unwrap();
    let mut order = secure(&nginx, closed(2));
    order.destinations = vec![nginx.address().into()];
    order.requests_max = Some(4);
    assert_eq!(Measured::new(&order).failures(), ["tls_handshake"]);
}

#[test]
fn a_server_that_never_shakes_hands_times_out() {
    let nginx = Nginx::start().unwrap();
    let server = BadServer::start(Script::NeverAnswer);
    let mut order = secure(&nginx, closed(2));
    order.destinations = vec![server.address().into()];
    order.timeout = Duration::from_millis(500);
    order.requests_max = Some(2);
    let measured = Measured::new(&order);
    assert_eq!(measured.failures(), ["tls_handshake"]);
    // They are in the histogram at their age.
    assert_eq!(measured.latency.len(), measured.failed(FailureKind::TlsHandshake));
    assert!(measured.latency.min() >= 499_000_000, "{}", measured.latency.min());
}

#[test]
fn one_stream_and_many_streams_are_all_served() {
    let nginx = Nginx::start().unwrap();
    for depth in [1, 32] {
        let measured = all_served(&nginx, &over_streams(&nginx, closed(3), depth));
        assert_eq!(measured.counts.connects, 3);
    }
}

#[test]
fn streams_need_no_tls_if_the_server_is_known_to_speak_http2() {
    let nginx = Nginx::start().unwrap();
    let mut order = over_streams(&nginx, open(1000.0, 2), 16);
    order.destinations = vec![nginx.http2_address().into()];
    order.tls = None;
    assert_eq!(all_served(&nginx, &order).counts.completed, 300);
}

#[test]
fn large_bodies_come_over_streams() {
    let nginx = Nginx::start().unwrap();
    let mut order = over_streams(&nginx, closed(2), 8);
    order.traffic = on_stream("/file", b"");
    let measured = all_served(&nginx, &order);
    assert!(measured.counts.bytes_in / measured.counts.completed > 100_000);
}

#[test]
fn connections_that_the_server_ends_are_replaced_without_loss() {
    let nginx = Nginx::start().unwrap();
    let mut order = over_streams(&nginx, closed(2), 16);
    order.destinations = vec![nginx.brief_http2_address().into()];
    order.tls = None;
    order.requests_max = Some(1000);
    order.duration = Duration::from_secs(600);
    let measured = Measured::new(&order);
    assert_eq!(measured.failures(), [""; 0]);
    assert_eq!(measured.counts.completed, 1000);
    assert!(measured.counts.connects >= 100, "{:?}", measured.counts);
}

#[test]
fn a_server_that_does_not_speak_http2_breaks_its_rules() {
    let nginx = Nginx::start().unwrap();
    let mut order = over_streams(&nginx, closed(2), 4);
    order.destinations = vec![nginx.address().into()];
    order.tls = None;
    order.requests_max = Some(16);
    let measured = Measured::new(&order);
    assert_eq!(measured.counts.completed, 0);
    assert_eq!(measured.failures(), ["h2_not_spoken"]);
}

#[test]
fn streams_that_are_never_answered_time_out_one_by_one() {
    let server = BadServer::start(Script::NeverAnswer);
    let nginx = Nginx::start().unwrap();
    let mut order = over_streams(&nginx, closed(1), 8);
    order.destinations = vec![server.address().into()];
    order.tls = None;
    order.timeout = Duration::from_millis(300);
    order.requests_max = Some(16);
    let measured = Measured::new(&order);
    assert_eq!(measured.failures(), ["timed_out"]);
    assert_eq!(measured.latency.len(), measured.failed(FailureKind::TimedOut));
}

#[test]
fn bodies_go_out_over_streams_and_larger_ones_than_the_windows_wait_for_them() {
    let nginx = Nginx::start().unwrap();
    let mut order = over_streams(&nginx, closed(2), 2);
    // nginx answers without reading the body, so only what fits the first window is sent; and it takes a
    // client that goes on like this for a flood after some megabytes.
    order.traffic = on_stream("/", &vec![b'x'; 200_000]);
    order.requests_max = Some(40);
    order.duration = Duration::from_secs(600);
    let measured = all_served(&nginx, &order);
    let sent_each = measured.counts.bytes_out / measured.counts.completed;
    assert!((20_000..200_000).contains(&sent_each), "{sent_each} bytes a request");
}
