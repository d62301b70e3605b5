//! CPU profiles as tables, differences and flame graphs.

use plimsoll_profile::pack;
use plimsoll_record::{CpuProfile, ProfileForm, ProfileOutcome, RunCommand};
use plimsoll_report::{Order, ProfiledRun, figure, text};

use super::sample::{self, Sample};

/// Samples of 10 ms in these stacks, innermost function first, as perf prints them.
fn perf_text(stacks: &[(&str, usize)]) -> String {
    let sample = |stack: &str| {
        let frames: String = stack.split(' ').map(|name| format!("\t1 {name} (/usr/bin/api)\n")).collect();
        format!("  10000000 \n{frames}\n")
    };
    stacks.iter().map(|(stack, count)| sample(stack).repeat(*count)).collect()
}

/// A run of which this was seen for 10 s, at so many requests a second.
fn profiled(outcome: ProfileOutcome, per_sec: f64) -> Sample {
    let mut sample = sample::healthy(RunCommand::Run);
    let last = sample.findings.steps.last().unwrap();
    let held = sample::step(last.index + 1, last.connections, per_sec);
    sample.findings.profiled.push(held);
    sample.run.profiles.push(CpuProfile {
        step: last.index + 1,
        source: "perf of process 7".to_owned(),
        form: ProfileForm::Perf,
        began_ns: 1_000_000_000,
        ended_ns: 11_000_000_000,
        outcome,
    });
    sample
}

fn taken(stacks: &[(&str, usize)]) -> ProfileOutcome {
    ProfileOutcome::Taken(pack(perf_text(stacks).as_bytes()).unwrap())
}

fn with() -> ProfiledRun {
    let sample = profiled(taken(&[("json.Marshal dump serve", 600), ("serve", 400)]), 1000.0);
    ProfiledRun::from_run(&sample.run, &sample.findings).unwrap()
}

fn without() -> ProfiledRun {
    let sample = profiled(taken(&[("serve", 820)]), 2000.0);
    ProfiledRun::from_run(&sample.run, &sample.findings).unwrap()
}

#[test]
fn a_report_ends_its_figures_with_the_functions_that_cost_most() {
    let sample = profiled(taken(&[("json.Marshal dump serve", 600), ("serve", 400)]), 1000.0);
    let report = text::full(&sample.run, &sample.findings);
    let block = &report[report.find("CPU profile").unwrap()..];
    let rows: Vec<Vec<&str>> = block.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(block.contains("1,000 samples, 1.00 cores busy, 1000 ± 62.0 µs of CPU per request"), "{block}");
    let serve = ["100.0", "%", "40.0", "%", "1000", "±", "62.0", "400", "±", "39.2", "serve"];
    assert!(rows.contains(&serve.to_vec()), "{block}");
    let dump = rows.iter().find(|row| row.last() == Some(&"dump")).unwrap();
    assert_eq!(dump[2..4], ["0.0", "%"], "it only calls");
}

#[test]
fn a_damaged_profile_is_reported_and_a_failed_one_is_an_event() {
    let damaged = profiled(ProfileOutcome::Taken(b"perf: segfault".to_vec()), 1000.0);
    let report = text::full(&damaged.run, &damaged.findings);
    assert!(report.contains("No CPU profile: ") && report.contains("line 1"), "{report}");
    let failed = profiled(ProfileOutcome::Failed("refused".to_owned()), 1000.0);
    assert!(!text::full(&failed.run, &failed.findings).contains("CPU profile"));
    let why = ProfiledRun::from_run(&failed.run, &failed.findings).unwrap_err().to_string();
    assert!(why.contains("refused"), "{why}");
}

#[test]
fn a_difference_names_what_only_one_run_does_with_its_cost_per_request() {
    let text = text::profile_difference(&with(), &without(), ("with", "without"), (Order::Cumulative, 30));
    assert!(text.contains("B takes 590 ± "), "{text}");
    let row = |name: &str| text.lines().find(|line| line.ends_with(&format!("  {name}"))).unwrap();
    assert!(row("dump").starts_with("+600 ± ") && row("dump").contains(" -  "), "{text}");
    assert!(row("serve").contains("·"), "it takes as long itself as before: {text}");
    let turned = text::profile_difference(&without(), &with(), ("a", "b"), (Order::Flat, 1));
    assert!(turned.contains("µs less") && turned.contains("−600 ± "), "{turned}");
    assert!(turned.lines().any(|line| line.ends_with("  json.Marshal")), "{turned}");
}

#[test]
fn a_flame_graph_is_an_svg_document_whatever_functions_are_called() {
    let stacks = [("operator<<&", 5), ("core::fmt::write main", 5)];
    let sample = profiled(taken(&stacks), 1000.0);
    let draw = || figure::flame(&ProfiledRun::from_run(&sample.run, &sample.findings).unwrap()).unwrap();
    let svg = draw();
    let title = "<title>operator&lt;&lt;&amp; (5,000 ns of CPU per request, 50.00%)</title>";
    assert!(svg.contains(title), "{svg}");
    assert_eq!(svg.matches("<title>").count(), 4, "all, and three functions: {svg}");
    assert_eq!(svg, draw());
    assert!(!svg.contains("href=\"http"), "it loads nothing");
}

#[test]
fn a_function_whose_name_ends_in_a_number_is_no_difference_of_two_profiles() {
    let text = b"  10000000 \n\t1 closure 42 (/usr/bin/api)\n";
    let sample = profiled(ProfileOutcome::Taken(pack(text).unwrap()), 1000.0);
    let svg = figure::flame(&ProfiledRun::from_run(&sample.run, &sample.findings).unwrap()).unwrap();
    assert!(svg.contains("<title>closure\u{a0}42 (1,000 ns of CPU per request, 100.00%)</title>"), "{svg}");
}

#[test]
fn a_run_without_any_is_reported_as_before() {
    let sample = sample::healthy(RunCommand::Run);
    assert!(!text::full(&sample.run, &sample.findings).contains("CPU profile"));
    let why = ProfiledRun::from_run(&sample.run, &sample.findings).unwrap_err().to_string();
    assert!(why.contains("--profile perf"), "{why}");
}
