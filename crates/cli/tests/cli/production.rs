//! `plimsoll explain` of production: files, a scripted Prometheus, and a real one in a lab.

use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use plimsoll_testkit::{PageServer, Reply, refused_address};
use serde_json::Value;

use crate::bench::{Bench, Called};
use crate::explain::satisfies;
use crate::lab::{lab, up};

const SCHEMA: &str = include_str!("../../../../docs/production.schema.json");

/// Two days of 10 minutes each: the rate follows the time of day, a request costs 4 ms of CPU and 2 kB·s of memory, and 0.3
/// cores are used without requests.
fn days(rate: impl Fn(f64) -> f64) -> String {
    let mut text = "time,requests/s,CPU (cores),memory (MB)\n".to_owned();
    for at in 0..288 {
        let rate = rate(f64::from(at) / 144.0);
        // What is not explained goes up and down, so that the interval has a width.
        let other = 0.01 * f64::from(at * 37 % 11 - 5);
        let (day, minute) = (18 + at / 144, at % 144 * 10);
        let (hour, minute) = (minute / 60, minute % 60);
        let (cpu, memory) = (0.3 + 0.004 * rate + other, 500.0 + 0.002 * rate + other);
        writeln!(text, "2026-11-{day} {hour:02}:{minute:02}:00,{rate:.2},{cpu:.4},{memory:.4}").unwrap();
    }
    text
}

fn day(rate_of_day: f64) -> f64 {
    250.0 - 150.0 * (TAU * rate_of_day).cos()
}

fn explained(bench: &Bench, code: i32, args: &[&str]) -> Called {
    let called = bench.expect(code, &[&["explain"], args].concat());
    if args.contains(&"--json") && code != 1 && code != 2 {
        satisfies(&called.json(), SCHEMA);
    }
    called
}

#[test]
fn a_file_of_series_says_what_is_full_first_and_how_far_that_extrapolates() {
    let bench = Bench::new();
    fs::write(bench.path("days.csv"), days(day)).unwrap();
    let args = ["--series", "days.csv", "--capacity", "CPU (cores)=4", "--capacity", "memory (MB)=1GB"];
    let found = explained(&bench, 0, &[&args[..], &["--json"]].concat()).json();
    let limit = &found["limit"];
    assert_eq!(limit["resource"], "CPU (cores)");
    // (4 − 0.3) / 0.004.
    assert!((limit["full_at_per_sec"].as_f64().unwrap() / 925.0 - 1.0).abs() < 0.02, "{limit}");
    assert!((2.2..2.4).contains(&limit["extrapolation"].as_f64().unwrap()), "{limit}");
    assert_eq!(found["resources"][0]["unit"], "cores");
    let text = explained(&bench, 0, &args).out;
    assert!(text.lines().count() <= 20 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("CPU (cores) is full first"), "{text}");
}

#[test]
fn a_figure_is_written_and_not_overwritten() {
    let bench = Bench::new();
    fs::write(bench.path("days.csv"), days(day)).unwrap();
    let args = ["--series", "days.csv", "--capacity", "CPU (cores)=4", "--figure", "figures/use"];
    explained(&bench, 0, &args);
    assert!(fs::read_to_string(bench.path("figures/use.svg")).unwrap().contains("CPU (cores)"));
    assert!(fs::read(bench.path("figures/use.png")).unwrap().starts_with(b"\x89PNG"));
    explained(&bench, 1, &args);
    explained(&bench, 0, &[&args[..], &["--force"]].concat());
}

#[test]
fn what_is_not_known_has_a_reason_and_an_exit_code() {
    let bench = Bench::new();
    fs::write(bench.path("days.csv"), days(day)).unwrap();
    fs::write(bench.path("level.csv"), days(|_| 300.0)).unwrap();
    let why = |args: &[&str]| {
        explained(&bench, 4, &[args, &["--json"]].concat()).json()["limit"]["why_unknown"].clone()
    };
    assert_eq!(why(&["--series", "days.csv"]), "no_capacity");
    assert_eq!(why(&["--series", "days.csv", "--capacity", "CPU (cores)=64"]), "beyond");
    assert_eq!(why(&["--series", "level.csv", "--capacity", "CPU (cores)=4"]), "too_little_variation");
}

#[test]
fn a_line_that_is_wrong_is_a_usage_error_that_says_what_to_write() {
    let bench = Bench::new();
    fs::write(bench.path("days.csv"), days(day)).unwrap();
    let said = |args: &[&str]| bench.expect(2, &[&["explain"], args].concat()).err;
    assert!(said(&["--series", "days.csv", "--capacity", "cpu=4"]).contains("CPU (cores)"));
    let unknown = said(&["--series", "days.csv", "--without", "cpu*"]);
    assert!(unknown.contains("--without cpu*") && unknown.contains("CPU (cores), memory (MB)"), "{unknown}");
    assert!(said(&["--series", "days.csv", "--rate", "rps"]).contains("requests/s"));
    assert!(said(&["--prometheus", "9090", "--rate", "up"]).contains("http://prometheus:9090"));
    assert!(said(&["--prometheus", "http://127.0.0.1:1"]).contains("--rate"));
    let wrong = PageServer::start(|_| Reply::Page {
        status: 400,
        body: r#"{"status":"error","errorType":"bad_data","error":"parse error: unclosed left parenthesis"}"#
            .to_owned(),
    });
    assert!(said(&["--prometheus", &wrong.url(), "--rate", "sum("]).contains("unclosed left parenthesis"));
}

#[test]
fn a_full_resource_that_holds_nothing_can_be_left_out() {
    let bench = Bench::new();
    let full: String = days(day)
        .lines()
        .map(|line| line.to_owned() + if line.starts_with("time") { ",cache %\n" } else { ",98\n" })
        .collect();
    fs::write(bench.path("days.csv"), full).unwrap();
    let args = ["--series", "days.csv", "--capacity", "CPU (cores)=4", "--json"];
    let limit = explained(&bench, 4, &args).json()["limit"].clone();
    assert_eq!(limit["why_unknown"], "full");
    assert!(limit["text"].as_str().unwrap().contains("--without 'cache %'"), "{limit}");
    let found = explained(&bench, 0, &[&args[..], &["--without", "cache*"]].concat()).json();
    assert_eq!(found["limit"]["resource"], "CPU (cores)");
}

#[test]
fn per_cent_of_one_processor_have_the_capacity_that_is_stated() {
    let bench = Bench::new();
    let text = days(day).replace("CPU (cores)", "used").replace("memory (MB)", "CPU %");
    fs::write(bench.path("days.csv"), text).unwrap();
    let args = ["--series", "days.csv", "--json"];
    // The memory of the file is 500 and more.
    let called = explained(&bench, 4, &args);
    assert!(called.err.contains("`CPU %` goes up to 501 %"), "{}", called.err);
    let stated = explained(&bench, 4, &[&args[..], &["--capacity", "CPU %=800%"]].concat());
    assert_eq!(stated.json()["notes"], serde_json::json!([]));
    let per_cent = ["explain", "--series", "days.csv", "--capacity", "used=90%"];
    let said = bench.expect(2, &per_cent).err;
    assert!(said.contains("--capacity used") && said.contains("between 0 and 1"), "{said}");
}

/// A server that has the rate and the use of a pool, and for which what is named `broken` is too much.
fn of_a_pool() -> PageServer {
    PageServer::start(|target| {
        let second = |name: &str| {
            let part = target.split(['&', '?']).find_map(|part| part.strip_prefix(name))?;
            part.parse::<f64>().ok()
        };
        let page = |data: &str| Reply::Page {
            status: 200,
            body: format!(r#"{{"status":"success","data":{data}}}"#),
        };
        let (Some(start), Some(end)) = (second("start="), second("end=")) else { return page("{}") };
        if target.contains("/label/") {
            return page("[]");
        }
        if target.contains("broken") {
            return Reply::Page { status: 503, body: String::new() };
        }
        let times = (0..).map(|at| (at, start + 600.0 * f64::from(at))).take_while(|(_, sec)| *sec <= end);
        let rows = times.map(|(at, sec)| format!(r#"[{sec},"{}"]"#, 100 + 10 * (at * 7 % 31)));
        let rows = rows.collect::<Vec<_>>().join(",");
        page(&format!(r#"{{"resultType":"matrix","result":[{{"metric":{{}},"values":[{rows}]}}]}}"#))
    })
}

#[test]
fn what_is_stated_of_a_resource_that_could_not_be_read_leaves_the_others() {
    let bench = Bench::new();
    let server = of_a_pool();
    let url = server.url();
    let args = ["--prometheus", &url, "--rate", "sum(rate(served[5m]))", "--resource", "pool=sum(used)"];
    let time = ["--from", "1763424000", "--to", "1763596800", "--step", "10m", "--capacity", "pool=1000"];
    let unread = ["--resource", "links=sum(broken)", "--capacity", "links=40"];
    let unread = [&unread[..], &["--capacity", "network_out:eth0=1Gbit", "--without", "container_memory:*"]];
    let found = explained(&bench, 0, &[&args[..], &time, &unread.concat(), &["--json"]].concat()).json();
    assert_eq!(found["limit"]["resource"], "pool");
    let notes = found["notes"].to_string();
    for argument in ["--capacity links", "--capacity network_out:eth0", "--without container_memory:*"] {
        assert!(notes.contains(&format!("{argument} is not used")), "{notes}");
    }
    let wrong = [&["explain"], &args[..], &time, &["--without", "contaner*"]].concat();
    assert!(bench.expect(2, &wrong).err.contains("--without contaner*"));
    let bytes = ["--resource", "out=rate(sent_bytes[5m])", "--capacity", "out=1Gbit"];
    let said = bench.expect(2, &[&["explain"], &args[..], &bytes].concat()).err;
    assert!(said.contains("out='(rate(sent_bytes[5m])) * 8'"), "{said}");
}

#[test]
fn a_time_that_would_end_after_now_ends_now() {
    let bench = Bench::new();
    let server = PageServer::start(|_| Reply::Page { status: 400, body: String::new() });
    // In the year 2096.
    bench.call(&[
        "explain",
        "--prometheus",
        &server.url(),
        "--rate",
        "up",
        "--to",
        "4000000000",
        "--last",
        "1d",
    ]);
    let head = server.heads().remove(0);
    let end = head.split(['&', '?', ' ']).find_map(|part| part.strip_prefix("end=")).unwrap();
    assert!(end.parse::<f64>().unwrap() < 3.9e9, "{head}");
}

#[test]
fn a_column_that_is_not_read_is_named() {
    let bench = Bench::new();
    let line = |(row, line): (usize, &str)| format!("{line},{}\n", if row == 0 { "release" } else { "v1.2" });
    let text: String = days(day).lines().enumerate().map(line).collect();
    fs::write(bench.path("days.csv"), text).unwrap();
    let called = explained(&bench, 0, &["--series", "days.csv", "--capacity", "CPU (cores)=4", "--json"]);
    let note = called.json()["notes"][0].as_str().unwrap().to_owned();
    assert!(note.contains("release") && called.err.contains(&note), "{note}: {}", called.err);
}

#[test]
fn a_server_that_is_not_there_is_no_usage_error() {
    let bench = Bench::new();
    let url = format!("http://{}", refused_address());
    let said = bench.expect(1, &["explain", "--prometheus", &url, "--rate", "up"]).err;
    assert!(said.contains("could not connect") && said.contains(&url), "{said}");
}

#[test]
fn an_authority_that_cannot_be_read_is_named() {
    let bench = Bench::new();
    let url = format!("https://{}", refused_address());
    let said =
        bench.expect(1, &["explain", "--prometheus", &url, "--rate", "up", "--cacert", "absent.pem"]).err;
    assert!(said.contains("absent.pem") && said.contains("--cacert"), "{said}");
}

/// Bytes of the page; around it come some 2 % of headers, of HTTP and of packets.
const PAGE_BYTES: f64 = 20_000.0;
const LINK_BITS_PER_SEC: f64 = 20e6;

/// Whatever the machine's speed, the link of the lab's host carries so many pages.
#[test]
fn a_real_prometheus_says_when_the_link_of_a_lab_host_is_full() {
    let Some(bench) = lab("") else { return };
    let file = format!("{}/../../lab/production/api.toml", env!("CARGO_MANIFEST_DIR"));
    let up = up(&bench, &file);
    let within = |host: &str, line: &str| -> Called {
        let plimsoll = env!("CARGO_BIN_EXE_plimsoll");
        let line = format!("cd {} && {} {plimsoll} {line}", bench.folder().display(), up.way_into(host));
        Command::new("/bin/sh").args(["-c", &line]).output().unwrap().into()
    };
    let day = "ramp(10,60,20s) ramp(60,10,20s) ramp(10,60,20s)";
    let load =
        within("generator", &format!("run http://api:8080/page -R '{day}' --no-probe --no-files --quiet"));
    assert_eq!(load.code, 0, "{}{}", load.out, load.err);
    let explain = "explain --prometheus http://127.0.0.1:9090 --last 60s --step 2s --json \
        --rate 'sum(rate(caddy_http_requests_total{handler=\"file_server\"}[4s]))' --capacity network_out:eth0=20Mbit";
    let called = within("metrics", explain);
    let found: Value =
        serde_json::from_str(&called.out).unwrap_or_else(|_| panic!("{}{}", called.out, called.err));
    satisfies(&found, SCHEMA);
    let of = |kind: &str| {
        let all = found["resources"].as_array().unwrap();
        all.iter()
            .find(|resource| resource["kind"] == kind)
            .unwrap_or_else(|| panic!("no {kind}: {found:#}"))
            .clone()
    };
    let link = of("network_out");
    let each_bytes = link["demand"]["per_request"].as_f64().unwrap() / 8.0;
    assert!((0.8..1.25).contains(&(each_bytes / PAGE_BYTES)), "{link:#}");
    let full_at = link["demand"]["full_at_per_sec"].as_f64().unwrap();
    let truth = LINK_BITS_PER_SEC / 8.0 / (1.045 * PAGE_BYTES);
    assert!((full_at / truth - 1.0).abs() < 0.25, "{full_at} of {truth}: {link:#}");
    // The quota of the host's control group is found as that of a container.
    assert_eq!(of("container_cpu")["capacity"], 0.4);
    assert_eq!(called.code, 0, "{}", called.err);
}
