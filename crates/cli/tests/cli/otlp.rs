//! `--otlp`: metrics as an OpenTelemetry collector gets them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use plimsoll_testkit::{Server, refused_address};
use prost::Message as _;
use serde_json::Value;

use crate::bench::{Bench, Called, Target};

/// A wait that fails the test instead of hanging it.
const PATIENCE: Duration = Duration::from_secs(60);

/// What was posted.
struct Post {
    /// In lower case.
    head: String,
    body: Vec<u8>,
}

/// A server that takes posts and answers all alike.
struct Sink {
    url: String,
    posts: Receiver<Post>,
}

impl Sink {
    fn start(status: &'static str, answer: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, posts) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (sender, answer) = (sender.clone(), answer.clone());
                thread::spawn(move || {
                    let mut reader = BufReader::new(stream);
                    while let Some(post) = read_post(&mut reader) {
                        // Known before the client may go on.
                        sender.send(post).ok();
                        respond(reader.get_mut(), status, &answer);
                    }
                });
            }
        });
        Self { url, posts }
    }

    fn next(&self) -> Post {
        self.posts.recv_timeout(PATIENCE).unwrap()
    }

    /// The newest of all posts so far.
    fn newest(&self) -> Post {
        self.posts.try_iter().last().unwrap()
    }
}

fn read_post(reader: &mut BufReader<TcpStream>) -> Option<Post> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).ok()?;
    Some(Post { head, body })
}

fn respond(stream: &mut TcpStream, status: &str, answer: &[u8]) {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", answer.len());
    stream.write_all(&[head.as_bytes(), answer].concat()).ok();
}

fn load(bench: &Bench, target: &Target, otlp: &str, variables: &[(&str, &str)]) -> Called {
    let url = target.url("/");
    let mut command =
        bench.command(&["run", &url, "-n", "500", "-c", "2", "--name", "shop", "--json", "--otlp", otlp]);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    Called {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A run that goes on until it is ended.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended, unless the test failed.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The values of a sum, by the value of their first attribute.
fn sums(request: &ExportMetricsServiceRequest, name: &str) -> Vec<(String, i64)> {
    let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
    let metric = metrics.iter().find(|metric| metric.name == name).unwrap();
    let Some(Data::Sum(sum)) = &metric.data else { panic!("{name} is no sum") };
    let points = sum.data_points.iter().map(|point| {
        let label = point.attributes.first().and_then(|label| label.value.clone()?.value);
        let Some(any_value::Value::StringValue(label)) = label else { panic!("{name} has no label") };
        let Some(Number::AsInt(count)) = point.value else { panic!("{name} is no integer") };
        (label, count)
    });
    points.collect()
}

#[test]
fn the_last_push_has_the_counts_of_the_run() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let sink = Sink::start("200 OK", Vec::new());
    let run = load(
        &bench,
        &target,
        &sink.url,
        &[("OTEL_EXPORTER_OTLP_HEADERS", "api-key=s3cret"), ("OTEL_SERVICE_NAME", "checkout")],
    );
    assert_eq!(run.code, 0, "{}", run.err);
    let post = sink.newest();
    assert!(post.head.starts_with("post /v1/metrics http/1.1"), "{}", post.head);
    assert!(post.head.contains("content-type: application/x-protobuf"), "{}", post.head);
    assert!(post.head.contains("api-key: s3cret"), "{}", post.head);
    let request = ExportMetricsServiceRequest::decode(&*post.body).unwrap();
    let outcomes = [("ok", 500), ("unsuccessful", 0), ("failed", 0)].map(|(label, n)| (label.to_owned(), n));
    assert_eq!(sums(&request, "plimsoll.requests"), outcomes);
    assert_eq!(sums(&request, "plimsoll.responses"), [("200".to_owned(), 500)]);
    let resource = request.resource_metrics[0].resource.as_ref().unwrap();
    assert!(resource.attributes.iter().any(|attribute| attribute.key == "plimsoll.run.name"));
    let file = std::fs::read(bench.run_file("plimsoll-runs")).unwrap();
    assert!(!String::from_utf8_lossy(&file).contains("s3cret"));
    assert!(!run.out.contains("s3cret") && !run.err.contains("s3cret"), "{}", run.err);
}

#[test]
fn metrics_are_pushed_while_the_load_goes_on() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let sink = Sink::start("200 OK", Vec::new());
    let args = ["run", &target.url("/sleep?ms=5"), "-c", "2", "-d", "10m", "--no-files", "--otlp", &sink.url];
    let mut command = bench.command(&args);
    command.env("OTEL_METRIC_EXPORT_INTERVAL", "100").stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = Running(command.spawn().unwrap());
    let ok = |post: Post| {
        sums(&ExportMetricsServiceRequest::decode(&*post.body).unwrap(), "plimsoll.requests")[0].1
    };
    let first = ok(sink.next());
    while ok(sink.next()) <= first {}
    let id = running.0.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
    assert_eq!(running.0.wait().unwrap().code(), Some(130));
}

#[test]
fn a_real_collector_has_the_counts_of_the_run_at_its_end() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let sink = Sink::start("200 OK", b"{}".to_vec());
    let collector = Server::collector(&format!("{}/v1/metrics", sink.url)).unwrap();
    let run = load(&bench, &target, &format!("http://{}", collector.address()), &[]);
    assert_eq!(run.code, 0, "{}", run.err);
    // It answers only after it passed on what it took.
    let passed: Value = serde_json::from_slice(&sink.newest().body).unwrap();
    let resource = &passed["resourceMetrics"][0];
    let metrics = resource["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let data = |name: &str| metrics.iter().find(|metric| metric["name"] == name).unwrap();
    let requests = &data("plimsoll.requests")["sum"];
    assert_eq!(requests["isMonotonic"], true);
    assert_eq!(requests["aggregationTemporality"], 2);
    assert_eq!(requests["dataPoints"][0]["asInt"], "500");
    assert_eq!(data("plimsoll.requests_due")["sum"]["dataPoints"][0]["asInt"], "500");
    assert_eq!(data("plimsoll.latency_seconds")["histogram"]["dataPoints"][0]["count"], "500");
    let attributes = resource["resource"]["attributes"].as_array().unwrap();
    let named = |key: &str| attributes.iter().find(|attribute| attribute["key"] == key).unwrap();
    assert_eq!(named("service.name")["value"]["stringValue"], "plimsoll");
    assert_eq!(named("plimsoll.run.name")["value"]["stringValue"], "shop");
}

#[test]
fn a_collector_behind_tls_gets_the_metrics_if_its_authority_is_trusted() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let sink = Sink::start("200 OK", b"{}".to_vec());
    let collector = Server::tls_collector(&format!("{}/v1/metrics", sink.url)).unwrap();
    let url = format!("https://{}", collector.address());
    let untrusted = load(&bench, &target, &url, &[]);
    assert_eq!(untrusted.code, 0, "{}", untrusted.err);
    assert!(untrusted.err.contains("certificate"), "{}", untrusted.err);
    assert!(sink.posts.try_iter().next().is_none(), "what is not trusted gets nothing");
    let certificate = collector.certificate();
    let trusted = load(&bench, &target, &url, &[("SSL_CERT_FILE", certificate.to_str().unwrap())]);
    assert_eq!(trusted.code, 0, "{}", trusted.err);
    assert!(!trusted.err.contains("pushes of metrics"), "{}", trusted.err);
    let passed: Value = serde_json::from_slice(&sink.newest().body).unwrap();
    let metrics = passed["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let requests = metrics.iter().find(|metric| metric["name"] == "plimsoll.requests").unwrap();
    assert_eq!(requests["sum"]["dataPoints"][0]["asInt"], "500");
}

#[test]
fn a_collector_that_is_away_or_refuses_is_reported_once_and_fails_no_run() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let away = load(&bench, &target, &format!("http://{}", refused_address()), &[]);
    assert_eq!(away.code, 0, "{}", away.err);
    assert_eq!(away.err.matches("pushes of metrics").count(), 1, "{}", away.err);
    assert!(away.err.contains("connection refused"), "{}", away.err);
    let part =
        ExportMetricsPartialSuccess { rejected_data_points: 2, error_message: "over the quota".to_owned() };
    let answer = ExportMetricsServiceResponse { partial_success: Some(part) }.encode_to_vec();
    let sink = Sink::start("200 OK", answer);
    let partly = load(&bench, &target, &sink.url, &[]);
    assert_eq!(partly.code, 0, "{}", partly.err);
    assert!(partly.err.contains("2 values refused, \"over the quota\""), "{}", partly.err);
}

#[test]
fn a_wrong_url_or_variable_is_a_usage_error_before_the_load() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let without_scheme = load(&bench, &target, "127.0.0.1:4318", &[]);
    assert_eq!(without_scheme.code, 2, "{}", without_scheme.err);
    assert!(without_scheme.err.contains("http://127.0.0.1:4318"), "{}", without_scheme.err);
    let variable = ("OTEL_EXPORTER_OTLP_HEADERS", "s3cret");
    let wrong_header = load(&bench, &target, "http://127.0.0.1:1", &[variable]);
    assert_eq!(wrong_header.code, 2, "{}", wrong_header.err);
    assert!(!wrong_header.err.contains("s3cret") && !wrong_header.out.contains("s3cret"));
}
