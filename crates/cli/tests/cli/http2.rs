//! HTTP/2, with TLS and without.

use plimsoll_testkit::{BadServer, Nginx, Script};
use serde_json::{Value, json};

use crate::bench::{Bench, Called};
use crate::https::schema_errors;

/// A short run with two connections of one worker.
fn short_run(bench: &Bench, code: i32, url: &str, more: &[&str]) -> Called {
    bench.expect(code, &[&["run", url, "-c", "2", "-t", "1", "-n", "200"], more].concat())
}

fn assert_served(document: &Value, nginx: &Nginx, before: u64) {
    let step = &document["steps"][0];
    assert_eq!(step["failed"], json!({}));
    assert_eq!(step["ok"], step["completed"]);
    assert_eq!(step["completed"], nginx.requests().unwrap() - before);
    assert_eq!(document["run"]["protocol"], "HTTP/2");
    assert_eq!(schema_errors(document), [""; 0]);
}

#[test]
fn many_streams_go_over_few_connections_within_tls() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let certificate = nginx.certificate();
    let before = nginx.requests().unwrap();
    let url = format!("https://{}/", nginx.tls_address());
    let called =
        short_run(&bench, 0, &url, &["--cacert", certificate.to_str().unwrap(), "--streams", "32", "--json"]);
    let document = called.json();
    assert_served(&document, &nginx, before);
    let step = &document["steps"][0];
    assert_eq!((&step["connects"], &step["handshakes"], &step["depth"]), (&json!(2), &json!(2), &json!(32)));
    let run = &document["run"];
    assert_eq!((&run["protocol"], &run["tls"]["verified"]), (&json!("HTTP/2"), &json!(true)));
}

#[test]
fn http2_without_tls_is_spoken_at_once() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let before = nginx.requests().unwrap();
    let url = format!("http://{}/", nginx.http2_address());
    let called = short_run(&bench, 0, &url, &["--http2", "--json"]);
    let document = called.json();
    assert_served(&document, &nginx, before);
    assert_eq!((&document["run"]["tls"], &document["steps"][0]["depth"]), (&Value::Null, &json!(1)));
    assert_eq!(document["run"]["protocol"], "HTTP/2");
}

#[test]
fn a_body_goes_out_over_streams_and_the_file_of_the_run_tells_the_same() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let url = format!("http://{}/", nginx.http2_address());
    let live =
        short_run(&bench, 0, &url, &["--streams", "4", "-b", "hello", "-H", "Content-Type: text/plain"]);
    let file = bench.run_file("plimsoll-runs");
    let file = file.to_str().unwrap();
    assert_eq!(bench.expect(0, &["report", file]).out, live.out);
    let document = bench.expect(0, &["report", file, "--json"]).json();
    assert_eq!(document["steps"][0]["ok"], document["steps"][0]["completed"]);
    assert_eq!(document["plan"]["http2"], true);
}

#[test]
fn the_whole_answers_first_request_goes_over_http2() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let certificate = nginx.certificate();
    let plain = [format!("http://{}/file", nginx.http2_address()), "--http2".to_owned()];
    let secure = [
        format!("https://{}/file", nginx.tls_address()),
        "--http2".to_owned(),
        "--cacert".to_owned(),
        certificate.to_str().unwrap().to_owned(),
    ];
    for line in [&plain[..], &secure[..]] {
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        // A budget this short may break a condition, or leave it open; only that it was answered counts here.
        let called = bench.call(&[&line[..], &["--budget", "1s", "--no-files", "--json"]].concat());
        assert!([0, 3, 4].contains(&called.code), "{}", called.err);
        let first = &called.json()["preflight"]["first_answer"];
        assert_eq!((&first["status"], &first["body_bytes"]), (&json!(200), &json!(Nginx::FILE_BYTES)));
    }
}

#[test]
fn a_sweep_holds_streams_on_each_step() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let url = format!("http://{}/", nginx.http2_address());
    let line = ["sweep", &url, "--streams", "8", "--ladder", "1,2", "--step", "1s", "--no-files", "--json"];
    let document = bench.expect(0, &line).json();
    let depths: Vec<&Value> =
        document["steps"].as_array().unwrap().iter().map(|step| &step["depth"]).collect();
    assert_eq!(depths, [&json!(8), &json!(8)]);
}

#[test]
fn a_server_that_does_not_speak_http2_gets_no_load() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let before = nginx.requests().unwrap();
    let refused = |url: String, more: &[&str]| {
        let called = short_run(&bench, 1, &url, &[more, &["--http2"]].concat());
        for part in ["does not speak HTTP/2", "leave out --http2"] {
            assert!(called.err.contains(part), "{part}: {}", called.err);
        }
        called.err
    };
    refused(format!("https://{}/", nginx.tls_http1_address()), &["--insecure"]);
    let shown = refused(format!("http://{}/", nginx.address()), &[]);
    assert!(shown.contains("what it says is not HTTP/2") || shown.contains("closed"), "{shown}");
    let silent = BadServer::start(Script::NeverAnswer);
    let shown = refused(format!("http://{}/", silent.address()), &["--timeout", "100ms"]);
    assert!(shown.contains("within the timeout"), "{shown}");
    assert!(nginx.requests().unwrap() - before <= 2, "no load was made");
}

#[test]
fn what_http2_does_not_have_is_refused() {
    let bench = Bench::new();
    let refused = |more: &[&str], expected: &str| {
        let called = short_run(&bench, 2, "http://127.0.0.1/", more);
        assert!(called.err.contains(expected), "{more:?}: {}", called.err);
    };
    refused(&["--http2", "--pipeline", "4"], "--streams");
    refused(&["--streams", "4", "--pipeline", "4"], "--streams");
    refused(&["--http2", "--no-keepalive"], "--no-keepalive");
    refused(&["--http2", "-H", "Transfer-Encoding: chunked"], "HTTP/2");
    refused(&["--streams", "0"], "is 0");
}

#[test]
fn a_limit_of_the_server_on_streams_is_named_before_the_load_and_kept() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let url = format!("http://{}/", nginx.http2_address());
    let called = short_run(&bench, 0, &url, &["--http2", "--streams", "500", "--json"]);
    assert!(
        called.err.contains("at most 128 requests at a time on each connection instead of 500"),
        "{}",
        called.err
    );
    let document = called.json();
    let step = &document["steps"][0];
    assert_eq!((&step["depth"], &step["failed"]), (&json!(128), &json!({})));
    assert_eq!(document["preflight"]["streams_max"], 128);
    let answer = bench.expect(0, &["report", "last", "--full"]).out;
    assert!(answer.contains("The server allows 128 requests at a time on a connection"), "{answer}");
}
