//! `plimsoll search`: the highest rate of arrivals within conditions.

use serde_json::Value;

use crate::bench::{Bench, Target};
use crate::https::schema_errors;

#[test]
fn the_rate_within_the_conditions_is_bracketed_and_the_report_says_it_again() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    // Four workers of 20 ms each: no more than 200 requests a second, however fast the machine is.
    let url = target.url("/sleep?ms=20&workers=4");
    let called =
        bench.call(&["search", &url, "--p99", "200ms", "--budget", "30s", "--within", "10%", "--json"]);
    let document = called.json();
    assert_eq!(schema_errors(&document), [""; 0]);
    let search = &document["search"];
    assert!(!search["trials"].as_array().unwrap().is_empty(), "{}", called.err);
    let rate = |name: &str| search[name].as_f64();
    assert!(rate("held_per_sec").is_none_or(|held| held <= 210.0), "{search}");
    if let (Some(held), Some(broken)) = (rate("held_per_sec"), rate("broken_per_sec")) {
        assert!(held < broken, "{held} {broken}");
    }
    assert_eq!(document["answer"]["max_within_slo_per_sec"], search["held_per_sec"]);
    assert!(document["steps"].as_array().unwrap().iter().all(|step| step["rate_per_sec"] == Value::Null));
    let again = bench.expect(0, &["report", "last", "--json"]).json();
    assert_eq!(again["search"], *search);
    let full = bench.expect(0, &["report", "last", "--full"]).out;
    assert!(full.contains("Search, in the order of the trials"), "{full}");
}

#[test]
fn conditions_that_no_rate_holds_are_broken_and_not_searched_for_long() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/sleep?ms=20&workers=4");
    let called = bench.expect(3, &["search", &url, "--p99", "5ms", "--budget", "40s", "--json"]);
    assert_eq!(called.json()["search"]["held_per_sec"], Value::Null);
}

#[test]
fn without_a_rate_that_holds_conditions_of_the_user_are_not_known_to_hold() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/healthz");
    // No trial fits into half of four seconds.
    let line = [url.as_str(), "--budget", "4s", "--json"];
    let asked = bench.expect(4, &[&line[..], &["--p99", "500ms", "--qps", "1"]].concat()).json();
    assert_eq!((&asked["search"], &asked["answer"]["slo"]["success_held"]), (&Value::Null, &Value::Null));
    assert_eq!(asked["answer"]["slo"]["throughput_held"], Value::Null);
    let unasked = bench.expect(0, &line).json();
    assert_eq!(unasked["answer"]["slo"]["success_held"], Value::Bool(true));
}

#[test]
fn the_target_rests_after_an_overload_whether_hosts_are_watched_or_not() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    // Of 180 requests a second more than one in a hundred waits for longer than 5 ms.
    let url = target.url("/sleep?ms=20&workers=4");
    let line =
        ["search", &url, "--p99", "25ms", "--budget", "60s", "--within", "10%", "--no-probe", "--json"];
    let document = bench.call(&line).json();
    // On a busy machine the ladder may leave no time for two trials.
    let trials = document["search"]["trials"].as_array().map_or(&[][..], Vec::as_slice);
    if let [first, second, ..] = trials
        && first["outcome"] == "broken"
    {
        assert_eq!(second["after_overload"], false, "{second}");
    }
}

#[test]
fn a_width_that_makes_no_sense_is_refused() {
    let bench = Bench::new();
    let refused = bench.expect(2, &["search", "http://127.0.0.1:1/", "--within", "0%"]);
    assert!(refused.err.contains("from 0.1 % to 50 %"), "{}", refused.err);
}
