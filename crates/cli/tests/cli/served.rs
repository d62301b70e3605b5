//! `--live` and `plimsoll view`: who may read, what is streamed, and that viewers change nothing.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::Value;

use crate::bench::{Bench, Target};

/// A page that is served by a command that goes on.
struct Page {
    child: Child,
    address: String,
    token: String,
    errors: Option<Lines<BufReader<ChildStderr>>>,
}

impl Page {
    /// Starts a run with a live page.
    fn of_run(bench: &Bench, target: &Target, duration: &str) -> Self {
        let url = target.url("/sleep?ms=5");
        let args = ["run", &url, "-c", "2", "-d", duration, "--live", "--name", "watched"];
        let mut child = bench.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = errors.by_ref().map(Result::unwrap).find(|line| line.starts_with("live: ")).unwrap();
        Self::new(child, line.trim_start_matches("live: "), Some(errors))
    }

    /// Starts `plimsoll view`.
    fn of_runs(bench: &Bench) -> Self {
        let mut child =
            bench.command(&["view"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self::new(child, url.trim(), None)
    }

    fn new(child: Child, url: &str, errors: Option<Lines<BufReader<ChildStderr>>>) -> Self {
        let (address, token) = url.trim_start_matches("http://").split_once("/?token=").unwrap();
        Self { child, address: address.to_owned(), token: token.to_owned(), errors }
    }

    fn send(&self, request: &str, host: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        stream
    }

    /// The whole answer to a request, heads included.
    fn answer(&self, request: &str, host: &str) -> String {
        let mut text = String::new();
        self.send(request, host).read_to_string(&mut text).unwrap();
        text
    }

    /// The answer to a request with the token.
    fn get(&self, path: &str, query: &str) -> String {
        self.answer(&format!("GET {path}?token={}{query}", self.token), &self.address)
    }

    fn json(&self, path: &str, query: &str) -> Value {
        let answer = self.get(path, query);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
        serde_json::from_str(body).unwrap()
    }

    /// The lines of the stream of events.
    fn events(&self) -> impl Iterator<Item = String> {
        let stream = self.send(&format!("GET /events?token={}", self.token), &self.address);
        BufReader::new(stream).lines().map_while(Result::ok)
    }

    fn signal(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
    }

    fn interrupt(mut self) -> i32 {
        self.signal();
        self.child.wait().unwrap().code().unwrap()
    }

    /// How the run ends, and the rest of what it says.
    fn ended(mut self) -> (i32, String) {
        let said: Vec<String> = self.errors.take().unwrap().map(Result::unwrap).collect();
        (self.child.wait().unwrap().code().unwrap(), said.join("\n"))
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // It has ended, unless the test failed.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The documents of a stream of events, which is read to its end. The run is ended once one has more requests than the first.
fn documents(page: &Page) -> (Vec<Value>, bool) {
    let (mut documents, mut interrupted, mut ended) = (Vec::new(), false, false);
    for line in page.events() {
        if let Some(data) = line.strip_prefix("data: ").filter(|data| data.starts_with('{')) {
            documents.push(serde_json::from_str(data).unwrap());
        }
        ended |= line == "event: end";
        let has_grown = documents.last().is_some_and(|last| completed(last) > completed(&documents[0]));
        if has_grown && !interrupted {
            page.signal();
            interrupted = true;
        }
    }
    (documents, ended)
}

fn completed(document: &Value) -> u64 {
    let steps = document["runs"][0]["document"]["steps"].as_array().unwrap();
    steps.iter().map(|step| step["completed"].as_u64().unwrap()).sum()
}

#[test]
fn only_who_has_the_token_and_asks_this_host_reads_a_live_page() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let page = Page::of_run(&bench, &target, "10m");
    let status = |answer: &str| answer.split(' ').nth(1).unwrap().to_owned();
    let with_token = format!("GET /?token={}", page.token);
    for path in ["/", "/events"] {
        assert_eq!(status(&page.answer(&format!("GET {path}"), &page.address)), "401");
        assert_eq!(status(&page.answer(&format!("GET {path}?token=0123"), &page.address)), "403");
    }
    assert_eq!(status(&page.answer(&with_token, "evil.test")), "403");
    assert_eq!(status(&page.answer(&with_token.replace("GET", "POST"), &page.address)), "405");
    assert_eq!(status(&page.answer(&with_token.replace("GET", "HEAD"), &page.address)), "405");
    let answer = page.get("/", "");
    let head = answer.split("\r\n\r\n").next().unwrap().to_ascii_lowercase();
    for header in [
        "http/1.1 200",
        "cache-control: no-store",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "content-security-policy: default-src 'none'; script-src 'sha256-",
        "connect-src 'self'",
        "frame-ancestors 'none'",
    ] {
        assert!(head.contains(header), "{header}: {head}");
    }
    assert!(!head.contains("access-control"), "{head}");
    // A run that has not begun has no file.
    assert!(page.events().any(|line| line.starts_with("data: {")), "the run ended without a document");
    assert_eq!(page.interrupt(), 130);
    let kept = fs::read(bench.run_file("plimsoll-runs")).unwrap();
    assert!(!kept.windows(8).any(|part| part == b"?token=0"));
}

#[test]
fn a_live_page_grows_and_ends_with_the_document_of_the_file() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let page = Page::of_run(&bench, &target, "10m");
    // A viewer who leaves, and one who reads nothing, hold up neither the run nor others.
    let mut left = page.events();
    assert!(left.any(|line| line.starts_with("data: ")));
    drop(left);
    let silent = page.send(&format!("GET /events?token={}", page.token), &page.address);
    let token = page.token.clone();
    let (documents, ended) = documents(&page);
    let (code, said) = page.ended();
    drop(silent);
    assert!(code == 130 && ended, "{code}: {said}");
    let (last, earlier) = documents.split_last().unwrap();
    let counts: Vec<u64> = documents.iter().map(completed).collect();
    assert!(!earlier.is_empty() && counts.is_sorted() && counts[0] < completed(last), "{counts:?}");
    for document in earlier {
        assert_eq!(document["runs"][0]["document"]["run"]["sealed"], false);
    }
    let file = bench.run_file("plimsoll-runs");
    bench.expect(0, &["report", file.to_str().unwrap(), "--html", "page.html"]);
    let html = fs::read_to_string(bench.path("page.html")).unwrap();
    let (_, rest) = html.split_once("id=\"plimsoll\">").unwrap();
    let embedded: Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(*last, embedded);
    let kept = fs::read(&file).unwrap();
    assert!(!kept.windows(token.len()).any(|part| part == token.as_bytes()));
}

#[test]
fn an_address_of_a_page_that_is_taken_is_said_before_the_load() {
    let bench = Bench::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let target = Target::start(&bench);
    let url = target.url("/");
    let refused = bench.expect(1, &["run", &url, "-d", "1s", "--live", &address]);
    assert!(refused.err.contains("--live") && refused.err.contains(&address), "{}", refused.err);
    assert!(!refused.out.contains("requests") && !bench.path("plimsoll-runs").exists(), "{}", refused.out);
    let refused = bench.expect(1, &["view", "--listen", &address]);
    assert!(refused.err.contains("--listen") && refused.err.contains(&address), "{}", refused.err);
    let wrong = bench.expect(2, &["run", "--live", &url]);
    assert!(wrong.err.contains("write the URL before this flag"), "{}", wrong.err);
}

#[test]
fn the_viewer_lists_opens_and_compares_runs_next_to_a_damaged_file() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let run = |name: &str, tag: &str| {
        let url = target.url("/healthz");
        bench.expect(
            0,
            &["run", &url, "-n", "40", "-c", "1", "--no-probe", "-q", "--name", name, "--tag", tag],
        );
    };
    run("first", "release=1");
    run("second", "release=2");
    fs::write(bench.path("plimsoll-runs/broken.plimsoll"), "no run file").unwrap();
    let page = Page::of_runs(&bench);
    let names = |query: &str| {
        let document = page.json("/runs", query);
        let names =
            document["runs"].as_array().unwrap().iter().map(|run| run["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let listed = page.json("/runs", "");
    assert_eq!(listed["schema"], "plimsoll/runs/1");
    assert_eq!(listed["unreadable"][0]["file"], "broken.plimsoll");
    assert_eq!(names(""), ["second", "first"]);
    assert_eq!(names("&match=fir"), ["first"]);
    assert_eq!(names("&tag=release%3D2&target=healthz"), ["second"]);
    assert!(names("&target=nowhere").is_empty());
    let file = |at: usize| listed["runs"][at]["file"].as_str().unwrap().to_owned();
    let both = page.json("/page", &format!("&run={}&run={}", file(1), file(0)));
    assert_eq!(both["schema"], "plimsoll/page/1");
    assert_eq!((&both["runs"][0]["name"], &both["runs"][1]["name"]), (&"first".into(), &"second".into()));
    assert_eq!(both["together"]["found"]["runs"]["against"], "first");
    for (query, status) in
        [("", "400"), ("&run=broken.plimsoll", "500"), ("&run=..%2Fsecret.plimsoll", "404")]
    {
        assert!(page.get("/page", query).starts_with(&format!("HTTP/1.1 {status}")), "{query}");
    }
    let mut changes = page.events().filter(|line| line == "event: changed");
    changes.next().unwrap();
    run("third", "release=3");
    changes.next().unwrap();
    assert_eq!(names("")[0], "third");
    drop(changes);
    assert_eq!(page.interrupt(), 0);
}
