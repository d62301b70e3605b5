//! Figures: what a program can check.

use plimsoll_analyze::{
    DayPlan, Estimate, Goal, HourPlan, Machines, Observed, TierHours, plan_machines, step_outcomes,
};
use plimsoll_record::{FailureKind, RunCommand};
use plimsoll_report::figure::{Caption, Figure, Series, StepPoint, answer, comparison, success, throughput};

use super::sample;

fn caption() -> Caption {
    Caption::new(&sample::healthy(RunCommand::Sweep).findings)
}

fn series(points: Vec<StepPoint>) -> Series {
    Series { name: "apiserver".to_owned(), points }
}

fn point(connections: u32, per_sec: f64, success_ratio: Option<f64>) -> StepPoint {
    let around = |value: f64| Estimate { value, interval: Some((value * 0.9, value * 1.1)) };
    let mean_ms = (per_sec > 0.0).then(|| around(f64::from(connections) / per_sec * 1e3));
    let success_interval = success_ratio.map(|ratio| (ratio - 0.2, ratio + 0.2));
    let throughput = around(per_sec);
    let (p50_ms, p99_ms) = (mean_ms, mean_ms);
    StepPoint {
        connections,
        throughput,
        mean_ms,
        p50_ms,
        p99_ms,
        success_ratio,
        success_interval,
        lower_bound: false,
    }
}

/// A PNG of the promised size that holds more than paper, and an SVG without numbers that are none.
fn sound(figure: &Figure) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(&figure.png)).read_info().unwrap();
    assert_eq!((reader.info().width, reader.info().height), (1200, 720));
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    assert!(pixels.iter().any(|byte| *byte < 100));
    assert!(figure.svg.starts_with("<svg") && figure.svg.contains("concurrency (connections)"));
    assert!(!figure.svg.contains("NaN") && !figure.svg.contains("inf\""));
}

fn both(series: &Series) -> Vec<Figure> {
    vec![throughput(&caption(), series).unwrap(), success(&caption(), series).unwrap()]
}

#[test]
fn any_series_can_be_drawn() {
    let none = series(Vec::new());
    let zero = series(vec![point(1, 0.0, None), point(2, 0.0, Some(0.0))]);
    let tiny = series(vec![point(1, 3e-7, Some(1.0)), point(2, 5e-7, Some(0.9999))]);
    let huge = series((0..40).map(|n| point(1 << (n / 2), 1e9 / f64::from(n + 1), Some(1.0))).collect());
    let broken = series(vec![point(1, f64::NAN, Some(f64::NAN)), point(2, f64::INFINITY, Some(1.0))]);
    for series in [none, zero, tiny, huge, broken] {
        both(&series).iter().for_each(sound);
    }
}

#[test]
fn axes_name_their_units_and_the_legend_its_best_value() {
    let figures = both(&Series::new(&sample::healthy(RunCommand::Sweep).findings));
    let speeds = &figures[0].svg;
    for text in
        ["throughput (QPS: responses per second)", "mean response time (ms)", "best 3,190 at 32 connections"]
    {
        assert!(speeds.contains(text), "{text}");
    }
    assert!(speeds.contains("http://127.0.0.1:8080/healthz") && speeds.contains("95 % interval"));
    assert!(figures[1].svg.contains("100 % throughout"));
}

/// The success figure of this many steps, each with so many requests of which so many failed.
fn ratios_of(steps: u32, ended: u64, failed: impl Fn(u32) -> u64) -> Figure {
    let steps = (0..steps).map(|n| {
        let mut step = sample::step(n, n + 1, ended as f64 / 10.0);
        if failed(n) > 0 {
            sample::fail(&mut step, FailureKind::TimedOut, failed(n));
        }
        step
    });
    let mut findings = sample::healthy(RunCommand::Sweep).findings;
    findings.steps = steps.collect();
    success(&caption(), &Series::new(&findings)).unwrap()
}

#[test]
fn a_full_success_rate_still_has_its_interval() {
    let figure = ratios_of(12, 100, |_| 0);
    sound(&figure);
    assert!(figure.svg.contains("100 % throughout, intervals down to 96.302 %"), "{}", figure.svg);
    assert!(figure.svg.contains("bars: 95 % interval"));
    // A run of plain figures has no interval, and none is claimed for it.
    let mut without = series(vec![point(1, 10.0, Some(1.0))]);
    without.points[0].success_interval = None;
    let svg = success(&caption(), &without).unwrap().svg;
    assert!(!svg.contains("95 %") && svg.contains("100 % throughout"), "{svg}");
}

#[test]
fn bars_of_the_success_rate_end_at_nothing_and_at_a_hundred_per_cent() {
    let one = |success_interval| {
        let point = StepPoint { success_interval, ..point(1, 10.0, Some(0.5)) };
        success(&caption(), &series(vec![point])).unwrap().svg
    };
    assert_eq!(one(Some((-0.4, 1.3))), one(Some((0.0, 1.0))));
    assert_ne!(one(Some((0.1, 0.9))), one(Some((0.0, 1.0))));
}

#[test]
fn lower_bounds_are_marked() {
    let svg = &both(&Series::new(&sample::lower_bound().findings))[0].svg;
    assert!(svg.contains("hollow: lower bound (≥)"), "{svg}");
    assert!(svg.contains("best ≥ 3,190"), "{svg}");
}

#[test]
fn two_runs_share_one_figure_though_their_steps_differ() {
    let a = Series::from_steps("candidate", &step_outcomes(&sample::healthy(RunCommand::Sweep).findings));
    let b = Series::from_steps("reference", &step_outcomes(&sample::unsettled().findings));
    let figure = comparison(&caption(), &a, &b).unwrap();
    sound(&figure);
    for text in ["candidate: QPS", "reference: QPS", "candidate: mean", "candidate: p99", "1,000", "16"] {
        assert!(figure.svg.contains(text), "{text}");
    }
}

#[test]
fn any_two_series_can_be_compared() {
    let none = series(Vec::new());
    let zero = series(vec![point(1, 0.0, None), point(2, 0.0, Some(0.0))]);
    let broken = series(vec![point(1, f64::NAN, Some(f64::NAN)), point(2, f64::INFINITY, Some(1.0))]);
    for (old, new) in [(&none, &none), (&none, &zero), (&zero, &broken)] {
        sound(&comparison(&caption(), old, new).unwrap());
    }
}

#[test]
fn the_answer_has_the_verdict_the_knee_and_the_limit_of_the_slo_and_success_only_below_all() {
    let healthy = answer(&sample::healthy(RunCommand::Answer).findings).unwrap();
    sound(&healthy);
    for text in ["3,190 requests/s", "limit: not known", "sweet spot", "limit of p99", "p50", "p99"] {
        assert!(healthy.svg.contains(text), "{text}: {}", healthy.svg);
    }
    assert!(!healthy.svg.contains("success rate"), "{}", healthy.svg);
    let failing = answer(&sample::unsettled().findings).unwrap();
    sound(&failing);
    assert!(failing.svg.contains("success rate") && failing.svg.contains("99.99"), "{}", failing.svg);
    // Nothing that is not known is drawn as a figure.
    sound(&answer(&sample::dead().findings).unwrap());
}

#[test]
fn long_titles_are_cut_before_they_leave_the_sheet() {
    let caption = Caption { title: "http://a/".to_owned() + &"x".repeat(400), detail: String::new() };
    let svg = throughput(&caption, &series(vec![point(1, 5.0, Some(1.0))])).unwrap().svg;
    assert!(svg.contains('…') && !svg.contains(&"x".repeat(200)));
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let series = Series::new(&sample::healthy(RunCommand::Sweep).findings);
    assert_eq!(both(&series), both(&series));
}

#[test]
fn a_day_has_its_rate_and_the_machines_of_each_tier_by_hour() {
    let machines = |count| Some(Machines { count, range: None, at_least: false });
    let hour = |hour: i64, per_sec: f64, web: u64, api: Option<Machines>| HourPlan {
        hour,
        label: format!("{hour:02}:00"),
        peak_per_sec: per_sec,
        machines: vec![machines(web), api],
        sizes: vec![Vec::new(); 2],
        cost: None,
    };
    let tier = |tier: &str| TierHours { tier: tier.to_owned(), by_hour: None, constant: None };
    let hours =
        vec![hour(8, 400.0, 1, machines(2)), hour(9, 900.0, 1, None), hour(11, 300.0, 1, machines(1))];
    let goal = Goal { target_per_sec: 900.0, utilisation: 0.7 };
    let (peak, tiers) = (plan_machines(&Observed::default(), goal), vec![tier("web"), tier("api")]);
    let day =
        DayPlan { peak, peak_cost: None, hours, missing: vec![10], merges_days: false, tiers, cost: None };
    let drawn = plimsoll_report::figure::day("shop", &day).unwrap();
    assert!(drawn.png.len() > 1_000 && !drawn.svg.contains("NaN"));
    for text in ["Machines by hour: shop", "requests/s", "machines", "hour of the day", "web", "api"] {
        assert!(drawn.svg.contains(text), "{text}");
    }
    let later = DayPlan { hours: vec![hour(490_000, 5.0, 1, None)], missing: Vec::new(), ..day };
    assert!(plimsoll_report::figure::day("shop", &later).unwrap().svg.contains("hours since 490000:00"));
}
