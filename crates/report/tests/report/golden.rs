//! Whole texts, kept as snapshots: read them as a user would.

use plimsoll_analyze::{Estimate, GeneratorReason, Steadiness, StepOutcome, compare, step_outcomes};
use plimsoll_record::{Event, EventKind, FailureKind, RunCommand};
use plimsoll_report::text::{self, Page, Side};

use super::sample::{self, Sample};
use super::variants;

/// Compares the text with its snapshot, after what holds for every report.
fn check(name: &str, sample: &Sample) {
    let text = text::full(&sample.run, &sample.findings);
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{name}: wider than 100 columns: {line}");
        assert!(!line.chars().any(char::is_control), "{name}: a control character: {line:?}");
        assert_eq!(line, line.trim_end(), "{name}: blanks at the end");
    }
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!(name, text);
    });
}

/// Compares the short answer with its snapshot, after what holds for every one.
fn check_short(name: &str, sample: &Sample) {
    let page = |colours| Page { width: Page::DEFAULT_WIDTH, colours, run_name: Some("last".to_owned()) };
    let text = text::short(&sample.run, &sample.findings, &page(false));
    assert!(text.lines().count() <= text::MAX_LINES, "{name}: {text}");
    for line in text.lines() {
        assert!(line.chars().count() <= Page::DEFAULT_WIDTH, "{name}: too wide: {line}");
        assert_eq!(line, line.trim_end(), "{name}: blanks at the end");
    }
    // Colours add nothing but themselves.
    let coloured = text::short(&sample.run, &sample.findings, &page(true));
    let plain = anstream::adapter::strip_str(&coloured).to_string();
    assert_eq!(plain, text, "{name}");
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{name}: a control character");
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn short_answers_hold_what_matters_on_one_page() {
    check_short("short_healthy", &sample::healthy(RunCommand::Answer));
    check_short("short_lower_bound", &sample::lower_bound());
    check_short("short_dead_target", &sample::dead());
    check_short("short_unsettled", &sample::unsettled());
    check_short("short_open_loop_behind", &sample::behind());
    check_short("short_target_lost", &sample::lost());
}

#[test]
fn a_step_outside_the_conditions_is_no_sweet_spot() {
    let text = |p99_ms: f64| {
        let mut sample = sample::healthy(RunCommand::Answer);
        sample.findings.slo.as_mut().unwrap().slo.latency = vec![plimsoll_plan::LatencyLimit::p99(p99_ms)];
        text::short(&sample.run, &sample.findings, &Page { width: 80, colours: false, run_name: None })
    };
    assert!(text(500.0).contains("sweet spot"), "{}", text(500.0));
    assert!(!text(1.0).contains("sweet spot"), "{}", text(1.0));
}

#[test]
fn a_short_answer_without_a_file_says_how_to_see_the_rest() {
    let sample = sample::healthy(RunCommand::Answer);
    let page = Page { width: 60, colours: false, run_name: None };
    let text = text::short(&sample.run, &sample.findings, &page);
    assert!(text.ends_with("More: --full (all 8 steps, evidence, self-check)\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
}

#[test]
fn a_healthy_answer_begins_with_what_the_target_holds() {
    check("answer_healthy", &sample::healthy(RunCommand::Answer));
}

#[test]
fn a_lower_bound_carries_its_mark_and_its_reason_everywhere() {
    let sample = sample::lower_bound();
    check("answer_lower_bound", &sample);
    let text = text::full(&sample.run, &sample.findings);
    for claim in text.match_indices("3,190") {
        assert!(text[..claim.0].ends_with("≥ "), "unmarked: {}", &text[claim.0..]);
    }
}

/// A report in one line, for its lines break where their width ends.
fn in_one_line(sample: &Sample) -> String {
    text::full(&sample.run, &sample.findings).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_remedy_for_requests_never_sent_depends_on_their_cause() {
    let mut sample = sample::behind();
    let text = in_one_line(&sample);
    assert!(text.contains("→ no connection was free: raise --max-connections"), "{text}");
    assert!(text.contains("of those sent, requests left"), "{text}");
    let busy = vec![GeneratorReason::WorkerBusy { worker: 0, ratio: 0.98 }];
    sample.findings.steps[0].generator.reasons = busy;
    sample.findings.steps[0].lower_bound = true;
    sample.findings.lower_bound = true;
    let text = in_one_line(&sample);
    assert!(!text.contains("--max-connections"), "{text}");
    assert!(!text.contains("the target does not keep up"), "{text}");
    assert!(text.contains("lower the rate, use more workers (-t) if cores are free, or another"), "{text}");
}

#[test]
fn a_generator_that_cannot_be_judged_has_no_figures_and_no_advice() {
    let mut sample = sample::few();
    let health = &mut sample.findings.generator;
    (health.too_short, health.busiest_worker_ratio) = (true, 1.08);
    let text = in_one_line(&sample);
    assert!(text.contains("Load generator: not judged."), "{text}");
    for figure in ["of a core", "108", "healthy", "waited for a CPU"] {
        assert!(!text.contains(figure), "{figure}: {text}");
    }
}

#[test]
fn a_dead_target_is_reported_with_the_name_of_its_failure() {
    check("answer_dead_target", &sample::dead());
}

#[test]
fn a_target_lost_under_load_is_in_the_headline_and_bounds_what_was_measured() {
    check("run_target_lost", &sample::lost());
}

#[test]
fn answers_slower_than_a_step_are_not_called_failures() {
    check("answer_slower_than_a_step", &sample::slow(RunCommand::Answer));
    check("run_slower_than_its_load", &sample::slow(RunCommand::Run));
}

#[test]
fn a_change_within_the_only_level_is_in_its_headline() {
    let mut sample = sample::few();
    sample.findings.steps[0].steadiness = Steadiness::Moving;
    let text = text::full(&sample.run, &sample.findings);
    assert!(text.split("\n\n").next().unwrap().contains("changed within that step"), "{text}");
}

#[test]
fn a_generator_that_was_the_limit_leaves_the_targets_knee_open() {
    let sample = sample::lower_bound();
    let text = text::full(&sample.run, &sample.findings);
    assert!(text.contains("With this generator") && !text.contains("Throughput stops growing"), "{text}");
    assert!(!text.contains("(the knee)") && !text.contains("only waiting grows"), "{text}");
}

#[test]
fn connections_that_were_not_open_are_named() {
    let mut sample = sample::few();
    sample.findings.generator.open_ratio = Some(0.5);
    sample.findings.generator.littles_law_error = None;
    let text = text::full(&sample.run, &sample.findings);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains("50 % of the connections were open on average"), "{line}");
}

#[test]
fn steps_that_did_not_settle_and_failures_are_named() {
    check("answer_unsettled", &sample::unsettled());
}

#[test]
fn a_sweep_begins_with_its_table() {
    check("sweep_healthy", &sample::healthy(RunCommand::Sweep));
}

#[test]
fn a_step_names_its_failures_and_why_it_is_a_lower_bound() {
    let mut sample = sample::healthy(RunCommand::Sweep);
    let steps = &mut sample.findings.steps;
    steps.iter_mut().for_each(|step| step.warmup_sec = 0.0);
    sample::fail(&mut steps[3], FailureKind::TimedOut, 3);
    steps[5].counts.ok -= 1_212;
    steps[5].counts.status.add(503, 1_212);
    let starved = GeneratorReason::WorkerStarved { worker: 0, ratio: 0.21 };
    steps[0].generator.reasons.push(starved);
    steps[0].lower_bound = true;
    let text = text::full(&sample.run, &sample.findings);
    let row = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
    assert!(row("    8 ").contains("timed_out ×3"), "{text}");
    assert!(row("   32 ").contains("503 ×1,212"), "{text}");
    assert!(row("    1 ").contains("≥ 212") && row("    1 ").contains("no CPU 21 % of the time"), "{text}");
}

#[test]
fn percentiles_of_few_requests_are_not_known() {
    check("run_few_requests", &sample::few());
}

#[test]
fn an_open_loop_that_falls_behind_prints_its_backlog() {
    check("run_open_loop_behind", &sample::behind());
}

#[test]
fn each_request_of_a_plan_and_each_check_is_listed() {
    check("run_several_requests", &variants::several_requests(RunCommand::Run));
    check("sweep_several_requests", &variants::several_requests(RunCommand::Sweep));
}

#[test]
fn a_rate_that_changes_is_shown_over_time_and_not_called_unsteady() {
    check("run_ramp", &variants::ramp());
}

#[test]
fn a_ladder_without_a_slo_speaks_of_its_best_step() {
    let mut sample = sample::healthy(RunCommand::Answer);
    sample.findings.slo = None;
    let text = text::full(&sample.run, &sample.findings);
    assert!(text.contains("holds 3,190 requests/s (3,152 to 3,228) at 32 connections."), "{text}");
    assert!(!text.contains("SLO"), "{text}");
}

#[test]
fn a_run_that_was_cut_before_its_first_step_still_has_a_report() {
    for command in [RunCommand::Answer, RunCommand::Sweep, RunCommand::Run] {
        let mut sample = sample::healthy(command);
        sample.findings.steps.clear();
        sample.findings.knee = None;
        sample.run.manifest.sealed = false;
        let text = text::full(&sample.run, &sample.findings);
        assert!(
            text.contains("This run did not finish.") && text.contains("No step was recorded."),
            "{text}"
        );
        assert!(!text.contains("killed") && !text.contains("No load was made"), "{text}");
    }
}

#[test]
fn a_cold_target_is_reported_before_any_figure_and_a_warm_one_only_as_an_event() {
    for command in [RunCommand::Answer, RunCommand::Sweep, RunCommand::Run] {
        let with = |kind, text: &str| {
            let mut sample = sample::healthy(command);
            sample.run.events.push(Event {
                at_ns: 61_000_000_000,
                kind,
                failure: None,
                text: text.to_owned(),
            });
            in_one_line(&sample)
        };
        let cold =
            with(EventKind::NotWarm, "not steady after 60 s of warm-up: 3,100 requests/s at 32 connections");
        assert!(
            cold.starts_with("The target was not steady after 60 s of warm-up: 3,100 requests/s"),
            "{cold}"
        );
        assert!(cold.contains("32 connections. It may have become faster"), "{cold}");
        let warm = with(EventKind::WarmedUp, "warmed up for 23 s: 3,100 requests/s at 32 connections");
        assert!(!warm.starts_with("The target was") && warm.contains("61.0 s warmed up for 23 s"), "{warm}");
    }
}

fn step(connections: u32, per_sec: f64, mean_ms: f64) -> StepOutcome {
    StepOutcome {
        lower_bound: false,
        unfinished: false,
        connections,
        throughput: Estimate::exact(per_sec),
        exact: true,
        mean_latency_ns: mean_ms * 1e6,
        p99_ns: None,
        success_ratio: 1.0,
        success_interval: None,
    }
}

fn side<'a>(name: &'a str, label: &'a str) -> Side<'a> {
    Side { name, label }
}

fn check_comparison(name: &str, text: &str) {
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn a_comparison_of_runs_gives_ratios_with_intervals() {
    let mut other = sample::healthy(RunCommand::Sweep);
    other.findings.steps.iter_mut().for_each(|step| step.throughput.value *= 1.04);
    other.findings.steps.remove(2);
    let comparison = compare(
        &step_outcomes(&other.findings),
        &step_outcomes(&sample::healthy(RunCommand::Sweep).findings),
    );
    check_comparison(
        "comparison_of_runs",
        &text::comparison(&comparison, side("candidate", "new"), side("reference", "old")),
    );
}

#[test]
fn a_comparison_of_dat_files_names_the_ratio_of_the_best_qps() {
    let api = [step(200, 8_940.0, 22.4), step(500, 8_876.0, 56.33), step(50_000, 5_210.0, 9_596.0)];
    let http = [step(200, 61_220.0, 3.27), step(500, 65_351.0, 7.65), step(1_000, 63_090.0, 15.9)];
    let text = text::comparison(&compare(&api, &http), side("apiserver", "B"), side("http", "A"));
    assert!(text.contains("apiserver: best QPS is 13.7 % of http's"), "{text}");
    check_comparison("comparison_of_dat_files", &text);
}
