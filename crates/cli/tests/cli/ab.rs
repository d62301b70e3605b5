//! `plimsoll ab`: two services loaded in turn.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Stdio;

use plimsoll_sys::ReservedPort;
use plimsoll_testkit::refused_address;
use serde_json::Value;

use crate::bench::{Bench, Called, Target};
use crate::explain::satisfies;

/// Short loads, as few as show anything. Sleeps decide what is compared, so that the speed of this machine does not.
const SHORT: [&str; 8] = ["-c", "2", "-d", "150ms", "--rounds", "12", "--no-probe", "--json"];

fn compared(bench: &Bench, code: i32, urls: &[&str], more: &[&str]) -> Called {
    bench.expect(code, &[&["ab"], urls, &SHORT, more].concat())
}

/// The folder that a comparison left.
fn folder(bench: &Bench) -> PathBuf {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(bench.path("plimsoll-runs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(folders.len(), 1, "{folders:?}");
    folders.remove(0)
}

fn figure<'a>(document: &'a Value, name: &str) -> &'a Value {
    document["figures"].as_array().unwrap().iter().find(|figure| figure["figure"] == name).unwrap()
}

#[test]
fn a_side_that_takes_twice_as_long_is_worse_and_its_report_says_so_again() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let (fast, slow) = (target.url("/sleep?ms=5"), target.url("/sleep?ms=10"));
    let documents = ["--markdown", "ab.md", "--junit", "ab.xml", "--html", "ab.html"];
    let called = compared(&bench, 3, &[&fast, &slow], &documents);
    let document = called.json();
    let [markdown, junit, page] =
        ["ab.md", "ab.xml", "ab.html"].map(|name| fs::read_to_string(bench.path(name)).unwrap());
    for document in [&called.out, &markdown, &junit, &page] {
        assert!(!document.contains("ms=10"), "the value of a query is in {document}");
    }
    assert!(markdown.contains("/sleep?ms=…"), "{markdown}");
    assert!(markdown.contains("❌ B is worse than A by more than the margin of 5 %"), "{markdown}");
    assert!(markdown.contains("| throughput |"), "{markdown}");
    let case = |name: &str| junit.split("<testcase ").find(|case| case.contains(name)).unwrap().to_owned();
    assert!(case(r#"name="measurement""#).contains("/>"), "{junit}");
    assert!(case("throughput of B is at most 5 % worse").contains("<failure "), "{junit}");
    assert!(case("success of B").contains("/>"), "{junit}");
    assert!(case("CPU a request of B").contains(r#"<skipped message="not measured""#), "{junit}");
    satisfies(&document, include_str!("../../../../docs/ab.schema.json"));
    let throughput = figure(&document, "throughput_per_sec");
    assert_eq!((&document["gate"], &throughput["verdict"]), (&"beyond".into(), &"worse".into()));
    assert!(throughput["ratio_interval"][1].as_f64().unwrap() < 0.9, "{throughput}");
    assert_eq!(figure(&document, "latency_ms")["verdict"], "worse");

    let folder = folder(&bench);
    for name in ["ab.json", "quantiles.svg", "rounds.png"] {
        assert!(folder.join(name).exists(), "{name}");
    }
    let again = bench.expect(3, &["ab", "--report", folder.to_str().unwrap(), "--json"]);
    assert_eq!(again.json(), document);
    let text = bench.expect(3, &["ab", "--report", folder.to_str().unwrap()]).out;
    assert!(text.contains("B is slower") && text.lines().count() <= 20, "{text}");
    let printed = bench.expect(3, &["ab", "--report", folder.to_str().unwrap(), "--markdown", "-"]).out;
    assert_eq!(printed, markdown);
    let other = ["ab", "--report", folder.to_str().unwrap(), "--margin", "3%", "--json"];
    assert_eq!(bench.expect(3, &other).json()["margin"], 0.03);
    for option in [
        "--precision=2%",
        "--rounds=30",
        "--budget=5m",
        "-HX: y",
        "--p99=1s",
        "--no-probe",
        "--seed=3",
        "--http2",
    ] {
        let refused = bench.expect(2, &["ab", "--report", folder.to_str().unwrap(), option]);
        assert!(refused.err.contains("--report"), "{option}: {}", refused.err);
    }
}

#[test]
fn a_comparison_that_cannot_begin_says_so_in_its_documents() {
    let bench = Bench::new();
    let away = format!("http://{}/?key=1f0c", refused_address());
    compared(&bench, 1, &[&away, &away], &["--junit", "ab.xml", "--markdown", "ab.md"]);
    let [junit, markdown] = ["ab.xml", "ab.md"].map(|name| fs::read_to_string(bench.path(name)).unwrap());
    assert!(junit.contains("<error ") && markdown.contains("❌"), "{junit}{markdown}");
    for document in [junit, markdown] {
        assert!(document.contains("/?key=…") && !document.contains("1f0c"), "{document}");
    }
}

#[test]
fn a_side_that_fails_is_worse_and_not_one_that_cannot_be_compared() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let called = compared(&bench, 3, &[&target.url("/sleep?ms=5"), &target.url("/status/503")], &[]);
    let document = called.json();
    assert_eq!((&document["gate"], &document["fails_more"]), (&"beyond".into(), &true.into()));
    assert!(called.err.contains("succeeded"), "{}", called.err);
    let backwards = bench
        .expect(1, &[&["ab", &target.url("/status/503"), &target.url("/sleep?ms=5")], &SHORT[..]].concat());
    assert!(backwards.err.contains("A ("), "there is nothing to compare B with: {}", backwards.err);
}

#[test]
fn a_side_that_takes_half_as_long_is_within_any_margin() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let document =
        compared(&bench, 0, &[&target.url("/sleep?ms=10"), &target.url("/sleep?ms=5")], &[]).json();
    assert_eq!(figure(&document, "throughput_per_sec")["verdict"], "better");
    let firsts: Vec<&str> =
        document["ratios"].as_array().unwrap().iter().map(|round| round["first"].as_str().unwrap()).collect();
    let a_first = firsts.iter().filter(|first| **first == "A").count();
    assert_eq!(
        2 * a_first,
        firsts.len() - firsts.len() % 4,
        "of four rounds two begin with each: {firsts:?}"
    );
}

#[test]
fn the_same_url_twice_is_an_a_a_comparison() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/sleep?ms=5");
    let called = bench.call(&[&["ab", &url, &url], &SHORT[..7]].concat());
    assert!([0, 4].contains(&called.code), "{}{}", called.out, called.err);
    assert!(called.out.contains("the same as A"), "{}", called.out);
}

#[test]
fn an_open_loop_compares_latency_at_a_rate() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let urls = [target.url("/sleep?ms=3"), target.url("/sleep?ms=300")];
    let args = ["ab", &urls[0], &urls[1], "-R", "100", "-d", "1s", "--rounds", "8", "--no-probe", "--json"];
    let document = bench.call(&args).json();
    assert_eq!((&document["load"], &document["rate_per_sec"]), (&"open".into(), &100.0.into()));
    let main = &document["figures"][0];
    assert_eq!((&main["figure"], &main["percentile"]), (&"latency_ms".into(), &99.0.into()));
    assert!(main["b"].as_f64() > main["a"].as_f64(), "{main}");
}

#[test]
fn services_are_started_for_each_load_and_nothing_of_them_is_left() {
    let bench = Bench::new();
    let reserved = ReservedPort::take().unwrap();
    let port = reserved.number();
    // The name may have an address of each family, and the service listens on one of them.
    let url = format!("http://localhost:{port}/sleep?ms=2");
    let binary = env!("CARGO_BIN_EXE_plimsoll");
    let start = format!("echo started >> starts; {binary} target --port {{port}}");
    let called = bench.call(&[
        "ab",
        &url,
        "--a",
        &start,
        "--b",
        &start,
        "--ready",
        "/healthz",
        "-c",
        "2",
        "-d",
        "150ms",
        "--rounds",
        "3",
        "--no-probe",
        "--json",
    ]);
    assert_eq!(called.code, 4, "three rounds show nothing: {}{}", called.out, called.err);
    let document = called.json();
    assert_eq!((&document["rounds"], &document["restarts"]), (&3.into(), &true.into()));
    let starts = fs::read_to_string(bench.path("starts")).unwrap();
    assert_eq!(starts.lines().count(), 6, "three rounds of two");
    TcpListener::bind(("127.0.0.1", port)).unwrap();
}

#[test]
fn a_service_that_does_not_start_is_named_with_what_it_wrote() {
    let bench = Bench::new();
    let url = format!("http://{}/", refused_address());
    let broken = "echo no such file: conf.toml >&2; exit 7";
    let called = bench.expect(1, &["ab", &url, "--a", broken, "--b", broken, "-c", "1"]);
    let named = called.err.contains("A (") || called.err.contains("B (");
    assert!(named && called.err.contains("exit 7"), "{}", called.err);
    assert!(called.err.contains("no such file: conf.toml"), "{}", called.err);
}

#[test]
fn strict_is_refused_as_a_comparison_that_shows_nothing_fails_by_itself() {
    let url = format!("http://{}/", refused_address());
    let strict = Bench::new().expect(2, &["ab", &url, &url, "--strict"]);
    assert!(strict.err.contains("ends with 4 by itself"), "{}", strict.err);
}

#[test]
fn a_port_that_is_taken_gets_no_load_instead_of_the_service() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let called = bench.expect(1, &["ab", &target.url("/"), "--a", "sleep 60", "--b", "sleep 60", "-c", "1"]);
    assert!(called.err.contains("takes connections before the service is started"), "{}", called.err);
}

#[test]
fn a_side_that_cannot_be_reached_is_named() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let dead = format!("http://{}/", refused_address());
    let called = bench.expect(1, &["ab", &target.url("/"), &dead, "-c", "1", "-d", "100ms"]);
    assert!(called.err.contains("B (") && called.err.contains(&dead), "{}", called.err);
}

/// A line of progress after two rounds or more: on a busy machine not every round has one.
fn is_of_rounds(line: &str) -> bool {
    line.split_once(" rounds").is_some_and(|(count, _)| count.parse::<u32>().is_ok_and(|count| count >= 2))
}

#[test]
fn the_rounds_before_a_side_was_lost_are_reported() {
    let bench = Bench::new();
    let (steady, lost) = (Target::start(&bench), Target::start(&bench));
    let (a, b) = (steady.url("/sleep?ms=5"), lost.url("/sleep?ms=5"));
    let mut command =
        bench.command(&["ab", &a, &b, "-c", "1", "-d", "100ms", "--no-probe", "--budget", "5m"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.by_ref().map(Result::unwrap).any(|line| is_of_rounds(&line)));
    drop(lost);
    let rest: String = lines.map(|line| line.unwrap() + "\n").collect();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{rest}");
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(rest.contains("B (") && out.contains("rounds in"), "{out}{rest}");
}

#[test]
fn ctrl_c_keeps_the_rounds_and_prints_what_they_show() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/sleep?ms=2");
    let mut command =
        bench.command(&["ab", &url, &url, "-c", "1", "-d", "100ms", "--no-probe", "--budget", "5m"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.by_ref().any(|line| is_of_rounds(&line)));
    plimsoll_sys::interrupt(&child).unwrap();
    lines.for_each(drop);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8(output.stdout).unwrap().contains("rounds in"));
}

#[test]
fn a_second_ctrl_c_ends_a_service_that_does_not_end_when_it_is_asked_to() {
    let bench = Bench::new();
    let port = ReservedPort::take().unwrap();
    let url = format!("http://{}/sleep?ms=2", port.address());
    let binary = env!("CARGO_BIN_EXE_plimsoll");
    let service = format!("trap '' TERM; echo $$ > number; {binary} target --port {{port}}; sleep 60");
    let options = ["-c", "1", "-d", "100ms", "--no-probe", "--budget", "5m", "--ready", "/healthz"];
    let mut command =
        bench.command(&[&["ab", &url, "--a", &service, "--b", &service][..], &options].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let number = loop {
        assert!(child.try_wait().unwrap().is_none(), "it goes on");
        match fs::read_to_string(bench.path("number")) {
            Ok(number) if number.ends_with('\n') => break number,
            _ => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    };
    let address = url.trim_start_matches("http://").split('/').next().unwrap();
    while std::net::TcpStream::connect(address).is_err() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    plimsoll_sys::interrupt(&child).unwrap();
    // The shell does not end, but what it started does: the first signal has arrived.
    while std::net::TcpStream::connect(address).is_ok() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    plimsoll_sys::interrupt(&child).unwrap();
    lines.by_ref().for_each(drop);
    assert!(child.wait().unwrap().code().is_some_and(|code| code != 0));
    assert!(!std::path::Path::new("/proc").join(number.trim()).exists(), "the service is gone");
}

#[test]
fn what_apache_bench_would_do_is_answered_with_the_command_that_does_it() {
    let bench = Bench::new();
    for line in
        ["ab -n 100 -c 10 http://127.0.0.1:1/", "ab http://127.0.0.1:1/", "ab -k -n 5 http://127.0.0.1:1/"]
    {
        let called = bench.expect(2, &line.split(' ').collect::<Vec<_>>());
        assert!(called.err.contains("plimsoll run"), "{line}: {}", called.err);
    }
    let url = "http://127.0.0.1:1/";
    for (args, what) in [
        (vec!["ab", url, url, "--a", "x", "--b", "y"], "only that URL"),
        (vec!["ab", url, "--a", "x"], "--b"),
        (vec!["ab", url, url, "--p99", "5ms"], "--search"),
        (vec!["ab", url, url, "--precision", "0%"], "--precision"),
        (vec!["ab", url, url, "--search", "--budget", "29m"], "30m"),
        (
            vec!["ab", url, url, "--search", "-d", "1m", "--pause", "5s", "--warm", "10s", "--budget", "10m"],
            "20m",
        ),
        (vec!["ab", "http://198.51.100.7/", "--a", "x", "--b", "y"], "not on this machine"),
        (vec!["ab", "https://127.0.0.1:1/", "--a", "x", "--b", "y", "--ready", "/up"], "plain HTTP"),
    ] {
        let called = bench.expect(2, &args);
        assert!(called.err.contains(what), "{args:?}: {}", called.err);
    }
    let none = bench.expect(1, &["ab", "--report", "nowhere"]);
    assert!(none.err.contains("no folder of `plimsoll ab`"), "{}", none.err);
}

#[test]
fn cpu_time_of_a_request_is_compared_where_the_service_is_sampled() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let (cheap, dear) = (target.url("/cpu?us=1000"), target.url("/cpu?us=3000"));
    let line = ["ab", &cheap, &dear, "-c", "2", "-d", "500ms", "--rounds", "10", "--json"];
    let document = bench.expect(3, &line).json();
    let cpu = figure(&document, "cpu_us");
    // The service burns this much by its own CPU clock; what the kernel adds to both brings the ratio nearer to 1.
    assert!(cpu["ratio"].as_f64().unwrap() > 2.0, "{cpu}");
    assert!(cpu["a"].as_f64().unwrap() >= 900.0 && cpu["b"].as_f64().unwrap() >= 2700.0, "{cpu}");
}

#[test]
fn a_search_of_each_side_counts_the_one_of_which_no_rate_holds() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    // All responses of B are late, however fast this machine is.
    let (a, b) = (target.url("/sleep?ms=20&workers=4"), target.url("/sleep?ms=1000"));
    let line =
        ["ab", &a, &b, "--search", "--p99", "500ms", "-d", "20s", "--rounds", "1", "--no-probe", "--json"];
    // One round shows nothing yet.
    let document = bench.expect(4, &line).json();
    satisfies(&document, include_str!("../../../../docs/ab.schema.json"));
    assert_eq!(document["load"], "search", "{document}");
    let sides = document["sides"].as_array().unwrap();
    assert_eq!((&sides[0]["without_rate"], &sides[1]["without_rate"]), (&0.into(), &1.into()), "{document}");
}
