//! `plimsoll URL`: the whole answer.

use crate::bench::{Bench, Target, happened};

#[test]
fn a_pool_of_workers_shows_as_the_knee_and_the_plateau() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    // Four at a time, 200 ms each: 20 requests a second, from 4 connections on. A machine that is busy with other things
    // adds milliseconds to each, which must stay far below the 5 % that the knee is found by.
    let url = target.url("/sleep?ms=200&workers=4");
    // What limits it is for tests that look at hosts: other tests may keep this machine busy.
    let called = bench.call(&[&url, "--budget", "45s", "--no-probe", "--json"]);
    let run = called.json();
    let answer = &run["answer"];
    let plateau = answer["plateau_per_sec"].as_f64().unwrap();
    // On a machine that stalls, answers come in bursts, and the mean has a wide interval.
    let low = answer["plateau_interval"][0].as_f64().unwrap_or(plateau);
    assert!(plateau > 10.0 && low < 20.1, "{answer}");
    if answer["lower_bound"] == true {
        // Other programs took the processor away: what was measured is the generator, and the run says so.
        assert_eq!(run["verdict"]["limit"], "generator", "{}", run["verdict"]);
        return;
    }
    // Some sixty answers a step: on a busy machine a few that come late make the next step the first that is within 5 %.
    let knee = answer["knee_connections"].as_u64();
    assert!(knee.is_none_or(|knee| [4, 8, 16, 32].contains(&knee)), "{answer}");
    assert_eq!(run["verdict"]["limit"], "unknown", "{}", run["verdict"]);
}

#[test]
fn an_slo_that_is_not_met_is_reported_and_ends_with_code_3() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    // At most 200 a second, which is enough to judge the other conditions in steps of a few seconds.
    let url = target.url("/sleep?ms=5&workers=1");
    bench.expect(3, &[&url, "--budget", "20s", "--qps", "1000"]);
}

#[test]
fn a_budget_is_kept_and_what_it_cut_is_reported() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    // Without a pool this target serves ever more, so the ladder has no end of its own within the budget.
    let url = target.url("/sleep?ms=100");
    let called = bench.call(&[&url, "--budget", "2s", "--json"]);
    let run = called.json();
    let steps = run["steps"].as_array().unwrap();
    let seconds: f64 = steps.iter().map(|step| step["duration_sec"].as_f64().unwrap()).sum();
    assert!(!steps.is_empty() && seconds <= 2.0, "{seconds} s");
    assert!(happened(&run, "budget_ended"), "{}", run["events"]);
}

#[test]
fn a_target_that_only_fails_gets_no_figure_for_what_it_holds() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/status/503");
    let called = bench.expect(3, &[&url, "--budget", "20s", "--json"]);
    let run = called.json();
    assert!(run["answer"]["max_within_slo_per_sec"].is_null(), "{}", run["answer"]);
    assert!(run["steps"].as_array().unwrap().len() <= 2, "there is no use in climbing on");
}
