//! What a server receives from one command over HTTP/1.1 and over HTTP/2: the same requests.

use crate::bench::Bench;
use crate::echo::{Echo, Received};

/// Requests of each run.
const COUNT: &str = "6";

/// What the server received from a run over HTTP/1.1, once it is certain that it received the same over HTTP/2.
fn received(bench: &Bench, path: &str, more: &[&str]) -> Vec<Received> {
    let over = |version: &[&str]| {
        let server = Echo::start();
        let url = server.url() + path;
        let line = ["run", &url, "-c", "1", "-t", "1", "-n", COUNT, "--seed", "7", "--no-files", "--json"];
        let document = bench.expect(0, &[&line[..], version, more].concat()).json();
        let step = &document["steps"][0];
        assert_eq!((&step["ok"], &step["completed"]), (&COUNT.parse::<u64>().unwrap().into(), &step["ok"]));
        let mut requests = server.received();
        for request in &mut requests {
            // The one header that differs: each server has an address of its own.
            let authority = server.url().replace("http://", "");
            request.authority = request.authority.replace(&authority, "server");
            request.headers.retain(|(name, _)| name != "connection");
        }
        requests
    };
    let (http1, http2) = (over(&[]), over(&["--http2"]));
    assert_eq!(http1.len().to_string(), COUNT);
    assert_eq!(http1, http2, "{path} {more:?}");
    http1
}

fn sent(path: &str, more: &[&str]) -> Received {
    let mut requests = received(&Bench::new(), path, more);
    requests.dedup();
    assert_eq!(requests.len(), 1, "{path} {more:?}");
    requests.remove(0)
}

#[test]
fn fixed_requests_are_the_same() {
    let get = sent("/a?b=c", &[]);
    assert_eq!((get.line(), get.authority.as_str()), ("GET /a?b=c".to_owned(), "server"));
    assert_eq!(get.values_of("content-length"), [""; 0]);
    assert!(get.values_of("user-agent")[0].starts_with("plimsoll/"));
    for (method, body, length) in [
        ("POST", "", Some("0")),
        ("PUT", "", Some("0")),
        ("PATCH", "", Some("0")),
        ("DELETE", "", None),
        ("HEAD", "", None),
        ("POST", "hello", Some("5")),
        ("PUT", "hello", Some("5")),
        ("PATCH", "hello", Some("5")),
        ("DELETE", "hello", Some("5")),
    ] {
        let more = if body.is_empty() { vec!["-m", method] } else { vec!["-m", method, "-b", body] };
        let request = sent("/", &more);
        assert_eq!((request.method.as_str(), request.body.as_str()), (method, body));
        assert_eq!(request.values_of("content-length").first().copied(), length, "{method}");
    }
}

#[test]
fn headers_of_the_user_are_the_same() {
    let line =
        ["-H", "X-B: 2", "-H", "Host: other.test", "-H", "x-a:  1 ", "-H", "X-B: 3", "-H", "User-Agent: me"];
    let request = sent("/", &line);
    assert_eq!(request.authority, "other.test");
    let pairs = [("x-b", "2"), ("x-a", "1"), ("x-b", "3"), ("user-agent", "me")];
    assert_eq!(request.headers, pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let request =
        sent("/", &["-m", "POST", "-b", "hello", "-H", "Content-Length: 5", "-H", "Connection: keep-alive"]);
    assert_eq!((request.values_of("content-length"), request.body.as_str()), (vec!["5"], "hello"));
}

#[test]
fn rendered_requests_are_the_same() {
    let bench = Bench::new();
    std::fs::write(bench.path("rows.csv"), "n,text\n1,a\n2,\n3,some longer text\n").unwrap();
    let line = [
        "-m",
        "PUT",
        "-H",
        "X-Id: ${uuid}",
        "-H",
        "X-Text: ${csv.text}",
        "-H",
        "Host: host-${csv.n}.test",
        "-b",
        "n=${random(1,100000)} text=${csv.text}",
        "--csv",
        "rows.csv",
        "--expect",
        "status=200",
        "--expect",
        "body~^n=[0-9]+ text=",
    ];
    let requests = received(&bench, "/items/${counter}?n=${csv.n}", &line);
    for (number, request) in requests.iter().enumerate() {
        let row = number % 3;
        let (n, text) = ([1, 2, 3][row], ["a", "", "some longer text"][row]);
        assert_eq!(request.line(), format!("PUT /items/{number}?n={n}"));
        assert_eq!(request.authority, format!("host-{n}.test"));
        assert_eq!(request.values_of("x-text"), [text]);
        assert_eq!(request.values_of("content-length"), [request.body.len().to_string()]);
        assert!(request.body.ends_with(&format!(" text={text}")), "{request:?}");
    }
    assert_ne!(requests[0].values_of("x-id"), requests[1].values_of("x-id"));
}

#[test]
fn requests_of_a_file_are_the_same() {
    let bench = Bench::new();
    std::fs::write(bench.path("body.json"), "{\"id\": ${counter}}").unwrap();
    let file = "POST /empty\n\nPOST /orders\nContent-Type: application/json\n@body.json\n\nHEAD /${counter}\nX-A: own";
    std::fs::write(bench.path("shop.txt"), file).unwrap();
    let requests = received(&bench, "", &["--requests", "shop.txt", "-H", "X-A: common"]);
    let lengths = |line: &str| -> Vec<&str> {
        let named = requests.iter().filter(|request| request.line().starts_with(line));
        named.flat_map(|request| request.values_of("content-length")).collect()
    };
    assert_eq!((lengths("POST /empty"), lengths("POST /orders")), (vec!["0"; 2], vec!["9"; 2]));
    assert_eq!(lengths("HEAD"), [""; 0]);
}

#[test]
fn the_request_before_the_load_is_the_same() {
    let bench = Bench::new();
    let first = |version: &[&str]| {
        let server = Echo::start();
        let url = server.url() + "/${counter}";
        // In a budget this short a condition may break or stay open, and a busy machine answers nothing; only what was sent counts.
        let line = [&url, "-m", "POST", "-H", "Host: a.test", "--seed", "7", "--budget", "1s", "--no-files"];
        let called = bench.call(&[&line[..], version].concat());
        assert!([0, 1, 3, 4].contains(&called.code), "{}", called.err);
        server.received().remove(0)
    };
    let (http1, http2) = (first(&[]), first(&["--http2"]));
    assert_eq!(http1, http2);
    assert_eq!((http1.line(), http1.values_of("content-length")), ("POST /0".to_owned(), vec!["0"]));
}

#[test]
fn a_rendered_host_that_http2_cannot_send_is_refused() {
    let bench = Bench::new();
    std::fs::write(bench.path("rows.csv"), "host\na b\n").unwrap();
    let line = ["run", "http://127.0.0.1:1/", "--http2", "-H", "Host: ${csv.host}", "--csv", "rows.csv"];
    let called = bench.expect(2, &line);
    assert!(called.err.contains("column `host` in line 2 of the CSV file holds byte 0x20"), "{}", called.err);
}
