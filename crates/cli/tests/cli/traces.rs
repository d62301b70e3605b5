//! `--trace`: the header that targets get, and the ids that reports show.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_sys::ReservedPort;
use serde_json::Value;

use crate::bench::{Bench, Target};

const DELAY: Duration = Duration::from_millis(60);
/// A busy machine makes other requests take as long as those that are answered late. Then the load is made again, and what is late
/// takes twice as long.
const ATTEMPTS: u32 = 6;

/// A server that notes the `traceparent` of each request, and answers every 20th late and every 25th with 503.
struct Recorder {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Option<String>>>>,
    late: Arc<Mutex<BTreeSet<String>>>,
}

impl Recorder {
    fn start() -> Self {
        Self::late_by(DELAY)
    }

    fn late_by(delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, late, count) = (Arc::default(), Arc::default(), Arc::new(AtomicUsize::new(0)));
        let recorder = Self { address, seen: Arc::clone(&seen), late: Arc::clone(&late) };
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (seen, late, count) = (Arc::clone(&seen), Arc::clone(&late), Arc::clone(&count));
                thread::spawn(move || serve(stream, &seen, &late, &count, delay));
            }
        });
        recorder
    }

    fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The ids that came, of which each must have come once.
    fn ids(&self) -> BTreeSet<String> {
        let seen = self.seen.lock().unwrap();
        let ids: BTreeSet<String> = seen.iter().flatten().map(|value| id(value)).collect();
        assert_eq!(ids.len(), seen.iter().flatten().count(), "an id came twice");
        ids
    }
}

fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Option<String>>>,
    late: &Mutex<BTreeSet<String>>,
    count: &AtomicUsize,
    delay: Duration,
) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    loop {
        let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        if head.is_empty() {
            return;
        }
        let value = head.iter().find_map(|line| line.strip_prefix("traceparent: ")).map(str::to_owned);
        seen.lock().unwrap().push(value.clone());
        let number = count.fetch_add(1, Ordering::Relaxed);
        if number % 20 == 19 {
            late.lock().unwrap().extend(value.as_deref().map(id));
            thread::sleep(delay);
        }
        let status = if number % 25 == 24 { "503 Busy" } else { "200 OK" };
        if write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").is_err() {
            return;
        }
    }
}

/// The trace id of a header's value, which must be one of level 1.
fn id(value: &str) -> String {
    let [version, trace, parent, flags] = value.split('-').collect::<Vec<_>>()[..] else { panic!("{value}") };
    let is_hex = |text: &str| text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    assert_eq!((version, trace.len(), parent.len(), flags), ("00", 32, 16, "01"), "{value}");
    assert!(is_hex(trace) && is_hex(parent), "{value}");
    trace.to_owned()
}

/// The traces of a kind in a run's document, by id.
fn listed(run: &Value, kind: &str) -> BTreeMap<String, Value> {
    let steps = run["traces"].as_array().unwrap();
    let traces = steps.iter().flat_map(|step| step[kind].as_array().unwrap());
    traces.map(|trace| (trace["trace_id"].as_str().unwrap().to_owned(), trace.clone())).collect()
}

/// 200 requests of which all carry an id.
fn load(bench: &Bench, url: &str, more: &[&str]) -> Value {
    let args = ["run", url, "-c", "2", "-n", "200", "--trace", "100%", "--json", "-q", "-o", "kept"];
    bench.expect(0, &[&args[..], more].concat()).json()
}

/// Makes a load of which every 20th request is answered late; true if exactly these are the slowest, or if the driver is
/// unavailable.
fn slowest_are_late(driver: &str, delay: Duration) -> bool {
    let (bench, target) = (Bench::new(), Recorder::late_by(delay));
    let args = ["run", &target.url(), "-c", "2", "-n", "200", "--trace", "100%", "--driver", driver];
    let called = bench.call(&[&args[..], &["--json", "-q", "-o", "kept"]].concat());
    if called.err.contains("io_uring cannot be used here") {
        return true;
    }
    let run = called.json();
    let (ids, late) = (target.ids(), target.late.lock().unwrap().clone());
    assert_eq!((ids.len(), late.len()), (200, 10), "{driver}");
    let slowest = listed(&run, "slowest");
    let at_least = delay.as_secs_f64() * 1e3;
    assert!(slowest.values().all(|trace| trace["latency_ms"].as_f64().unwrap() >= at_least), "{run}");
    let unsuccessful = listed(&run, "unsuccessful");
    assert_eq!(unsuccessful.len(), 8);
    assert!(unsuccessful.iter().all(|(id, trace)| ids.contains(id) && trace["status"] == 503));
    let file = bench.run_file("kept");
    let full = bench.call(&["report", file.to_str().unwrap(), "--full"]).out;
    assert!(slowest.keys().all(|id| full.contains(id)), "{full}");
    slowest.keys().eq(&late)
}

#[test]
fn the_ids_of_the_slowest_are_those_that_the_target_answered_late() {
    for driver in ["epoll", "io_uring"] {
        let mut delays = (0..ATTEMPTS).map(|attempt| DELAY * 2_u32.pow(attempt));
        assert!(delays.any(|delay| slowest_are_late(driver, delay)), "{driver}");
    }
}

#[test]
fn without_the_flag_no_request_has_the_header_and_with_a_share_some_have() {
    let (bench, target) = (Bench::new(), Recorder::start());
    bench.call(&["run", &target.url(), "-c", "2", "-n", "200", "-q", "--no-files"]);
    assert!(target.ids().is_empty());
    let args = ["--trace", "10%", "--seed", "7"];
    bench.call(&[&["run", &target.url(), "-c", "2", "-n", "2000", "-q", "--no-files"][..], &args].concat());
    // 200 are expected; 14 is their standard deviation.
    assert!((100..300).contains(&target.ids().len()), "{}", target.ids().len());
}

/// nginx that logs the header of each request on HTTP/2.
struct Nginx {
    child: Child,
    port: ReservedPort,
}

impl Nginx {
    fn start(bench: &Bench) -> Self {
        let port = ReservedPort::take().unwrap();
        let address = port.address();
        let configuration = format!(
            "daemon off; pid nginx.pid; error_log stderr; events {{}}\nhttp {{ log_format id $http_traceparent; \
             access_log ids.log id; client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; \
             scgi_temp_path t; keepalive_requests 100000;\nserver {{ listen {address} http2; return 200 ok; }} }}"
        );
        std::fs::write(bench.path("nginx.conf"), configuration).unwrap();
        let mut command = Command::new("/usr/sbin/nginx");
        command.arg("-p").arg(bench.folder()).arg("-c").arg(bench.path("nginx.conf"));
        let child = command.stderr(Stdio::null()).spawn().unwrap();
        let ends = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(address).is_err() && Instant::now() < ends {
            thread::sleep(Duration::from_millis(10));
        }
        Self { child, port }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap();
    }
}

#[test]
fn a_real_server_reads_the_ids_on_the_streams_of_http2() {
    let bench = Bench::new();
    let nginx = Nginx::start(&bench);
    let run = load(&bench, &format!("http://{}/", nginx.port.address()), &["--http2", "--streams", "4"]);
    drop(nginx);
    let log = std::fs::read_to_string(bench.path("ids.log")).unwrap();
    let ids: BTreeSet<String> = log.lines().filter(|line| line.starts_with("00-")).map(id).collect();
    assert_eq!(ids.len(), 200, "{log}");
    let slowest = listed(&run, "slowest");
    assert_eq!(slowest.len(), 10);
    assert!(slowest.keys().all(|id| ids.contains(id)));
}

#[test]
fn a_share_that_is_none_and_a_header_of_the_users_own_are_refused_before_the_load() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/");
    for share in ["0", "101%", "many"] {
        let called = bench.expect(2, &["run", &url, "--trace", share]);
        assert!(called.err.contains("trace"), "{}", called.err);
    }
    let called = bench.expect(2, &["run", &url, "--trace", "1%", "-H", "Traceparent: 00-1-2-01"]);
    assert!(called.err.contains("traceparent") && called.err.contains("--trace"), "{}", called.err);
}
