//! `--metrics`: a running load as a Prometheus sees it.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use plimsoll_testkit::Server;
use serde_json::Value;

use crate::bench::{Bench, Target};

/// A run that goes on until it is ended, and where its metrics are.
struct Running {
    child: Child,
    metrics: String,
}

impl Running {
    fn start(bench: &Bench, url: &str) -> Self {
        let args = ["run", url, "-c", "2", "-d", "10m", "--metrics", "127.0.0.1:0", "--no-files"];
        let mut child = bench.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let line = lines.find(|line| line.contains("metrics at")).unwrap();
        let metrics = line.trim_start_matches("metrics at http://").trim_end_matches("/metrics").to_owned();
        Self { child, metrics }
    }

    fn end(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended, unless the test failed.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// What a query comes to, once it comes to anything.
fn queried(address: &str, query: &str) -> f64 {
    let ends = Instant::now() + Duration::from_secs(60);
    loop {
        let answer = get(address, &format!("/api/v1/query?query={query}"));
        // Before it is ready it answers with no JSON.
        let json = answer.find('{').zip(answer.rfind('}')).map(|(begin, end)| &answer[begin..=end]);
        let found: Value = json.map_or(Value::Null, |json| serde_json::from_str(json).unwrap());
        if let Some(value) = found["data"]["result"][0]["value"][1].as_str() {
            return value.parse().unwrap();
        }
        assert!(Instant::now() < ends, "{query}: {answer}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_real_prometheus_reads_the_metrics_of_a_running_load() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let running = Running::start(&bench, &target.url("/sleep?ms=5"));
    let prometheus = Server::prometheus(&running.metrics).unwrap();
    let address = prometheus.address().to_string();
    assert!(queried(&address, "rate(plimsoll_requests_total{outcome=%22ok%22}[2s])%20%3E%200") > 0.0);
    let p50 =
        queried(&address, "histogram_quantile(0.5,rate(plimsoll_latency_seconds_bucket[2s]))%20%3E%200");
    assert!((0.0025..=0.1).contains(&p50), "{p50}");
    assert_eq!(queried(&address, "plimsoll_connections%20%3E%200"), 2.0);
    assert!(queried(&address, "plimsoll_host_used_ratio{resource=%22cpu%22}%20%3E%200") > 0.0);
    assert_eq!(running.end(), Some(130));
}

#[test]
fn the_dashboard_asks_for_metrics_that_are_exported() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let running = Running::start(&bench, &target.url("/sleep?ms=5"));
    let dashboard = include_str!("../../../../docs/grafana/plimsoll.json");
    let is_of_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let names = dashboard.match_indices("plimsoll_").map(|(at, _)| {
        let rest = &dashboard[at..];
        &rest[..rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len())]
    });
    let names: BTreeSet<&str> = names.collect();
    assert!(names.len() >= 8, "{names:?}");
    // Its description stands where nothing was counted yet.
    let scraped = get(&running.metrics, "/metrics");
    for name in names {
        let described = name.trim_end_matches("_total").trim_end_matches("_bucket");
        assert!(scraped.contains(&format!("# TYPE {described} ")), "{name}: {scraped}");
    }
    assert_eq!(running.end(), Some(130));
}

#[test]
fn an_address_that_is_taken_is_said_before_the_load() {
    let bench = Bench::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let target = Target::start(&bench);
    let args = ["run", &target.url("/"), "-d", "1s", "--metrics", &address, "--no-files"];
    let refused = bench.expect(1, &args);
    assert!(refused.err.contains("--metrics") && refused.err.contains(&address), "{}", refused.err);
    assert!(!refused.out.contains("requests"), "{}", refused.out);
}
