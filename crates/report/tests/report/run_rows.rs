//! Rows of runs: figures, JSON and sentences.

use plimsoll_analyze::{Confidence, Limit, Part, Place, RowRun, RunRows, Verdict, run_rows};
use plimsoll_plan::RowSpec;
use plimsoll_record::RunCommand;
use plimsoll_report::{figure, json, text};
use std::time::Duration;

use super::sample;

/// A run of 3,190 requests/s as a row, of responses of so many bytes.
fn run(name: &str, spec: RowSpec, bytes: f64) -> RowRun {
    let mut findings = sample::healthy(RunCommand::Sweep).findings;
    for step in &mut findings.steps {
        step.bytes_in_per_sec = bytes * step.throughput.value;
    }
    findings.verdict = Verdict::new(
        Limit::Bandwidth,
        Place::part("web", Part::Interface("eth0".to_owned())),
        Confidence::Measured,
    );
    RowRun::from_findings(name, &spec, &findings).unwrap()
}

fn of_cores(cores: f64, bytes: f64) -> RowRun {
    run(&format!("{cores}-{bytes}"), RowSpec { cores: Some(cores), ..RowSpec::default() }, bytes)
}

fn held(alone: Option<&str>, held_us: u64) -> RowRun {
    let spec = RowSpec {
        case: Some(format!("sleep {held_us}")),
        alone: alone.map(str::to_owned),
        front: Some("web".to_owned()),
        held: Some(Duration::from_micros(held_us)),
        ..RowSpec::default()
    };
    run(&format!("{held_us}{}", alone.unwrap_or_default()), spec, 150.0)
}

#[test]
fn throughput_by_size_is_drawn_with_a_line_for_each_number_of_cores() {
    let sizes = [1_100.0, 43_000.0, 86_000.0];
    let runs: Vec<RowRun> = [0.25, 0.5, 1.0]
        .into_iter()
        // Sizes are measured, and never quite the same.
        .flat_map(|cores| sizes.map(|bytes| of_cores(cores, bytes * (1.0 + cores / 1e3))))
        .collect();
    let lines = run_rows(&runs).size_lines();
    assert_eq!(lines.iter().map(|line| line.points.len()).collect::<Vec<_>>(), [3; 3]);
    let drawn = figure::response_sizes("cpu-vs-bandwidth", &lines).unwrap();
    for text in ["cpu-vs-bandwidth", "bytes of a response", "0.25 cores", "1 core", "1,100", "86,0", "QPS"] {
        assert!(drawn.svg.contains(text), "{text}: {}", drawn.svg);
    }
    assert!(drawn.png.starts_with(b"\x89PNG"));
}

#[test]
fn rows_of_one_size_or_of_one_number_of_cores_are_no_lines() {
    let none = |runs: &[RowRun]| assert_eq!(run_rows(runs).size_lines(), []);
    none(&[of_cores(1.0, 1_100.0), of_cores(2.0, 1_101.0)]);
    none(&[of_cores(1.0, 1_100.0), of_cores(1.0, 43_000.0)]);
    // Of two machines with a size each it is not known whether the size or the cores made the difference.
    none(&[of_cores(1.0, 1_100.0), of_cores(2.0, 43_000.0)]);
    none(&[]);
}

#[test]
fn the_sum_of_servers_alone_is_drawn_next_to_their_throughput_through_a_front() {
    let at = |held_us: u64| [held(Some("api1"), held_us), held(Some("api2"), held_us), held(None, held_us)];
    let made = run_rows(&[at(70_000), at(2_500)].concat());
    let drawn = figure::held_times("two-apis", &made.held_lines().unwrap()).unwrap();
    for text in ["two-apis", "through web", "sum of each alone", "(µs)", "70,000", "2,500", "6,380"] {
        assert!(drawn.svg.contains(text), "{text}: {}", drawn.svg);
    }
    let whole = run_rows(&[at(70_000), at(2_000)].concat());
    let drawn = figure::held_times("two-apis", &whole.held_lines().unwrap()).unwrap();
    assert!(drawn.svg.contains("(ms)"), "{}", drawn.svg);
    assert_eq!(run_rows(&at(70_000)).held_lines(), None, "one time is no line");
}

#[test]
fn rows_in_json_include_what_was_measured_alone() {
    let made: RunRows = run_rows(&[held(Some("api1"), 2_000), held(Some("api2"), 2_000), held(None, 2_000)]);
    let value = serde_json::to_value(json::RunRowsDocument::new(&made)).unwrap();
    let row = &value["rows"][0];
    assert_eq!(
        (&row["label"], &row["held_ms"], &row["where"]),
        (&"sleep 2000".into(), &2.0.into(), &"web: eth0".into())
    );
    assert_eq!(row["alone"][1]["name"], "api2");
    assert!((row["alone"][1]["throughput_per_sec"].as_f64().unwrap() - 3_190.0).abs() < 1.0, "{row}");
    assert!((row["response_bytes"].as_f64().unwrap() - 150.0).abs() < 0.5, "{row}");
    let said = text::conclusions(&made.found);
    assert!(said.starts_with("Together the rows say\n") && said.contains("×1.00"), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 100), "{said}");
    assert_eq!(text::conclusions(&run_rows(&[]).found), "");
}
