//! The `.dat` and CSV forms.

use plimsoll_record::RunCommand;
use plimsoll_report::{csv, dat};

use super::{sample, variants};

#[test]
fn a_dat_file_has_four_columns_a_step_and_reads_back() {
    let sample = sample::unsettled();
    let text = dat::render(&sample.findings).unwrap();
    assert_eq!(text, "200 9000.00 22.22 100.00\n500 15000.00 33.33 100.00\n1000 19500.00 51.28 99.54\n");
    let steps = dat::parse(&text).unwrap();
    assert_eq!(steps[2].throughput.value, 19_500.0);
    assert_eq!(steps[0].mean_latency_ns, 22.22e6);
}

#[test]
fn a_step_without_answers_is_a_row_of_zeros() {
    assert_eq!(dat::render(&sample::dead().findings).unwrap(), "1 0.00 0.00 0.00\n");
}

#[test]
fn an_offered_rate_is_no_row_of_a_dat_file() {
    let refusal = dat::render(&sample::behind().findings).unwrap_err().to_string();
    assert!(refusal.contains("2000 requests/s") && refusal.contains("csv or json"), "{refusal}");
}

#[test]
fn every_csv_row_has_a_cell_for_each_column_and_leaves_the_unknown_empty() {
    for sample in [sample::healthy(RunCommand::Sweep), sample::few(), sample::dead(), sample::behind()] {
        let text = csv::render(&sample.findings);
        let widths: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(widths.len(), sample.findings.steps.len() + 1);
        assert!(widths.iter().all(|width| *width == widths[0]), "{text}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
    assert_eq!(csv_cell(&sample::few(), "latency_p99_ms"), "");
}

/// The cell of a sample's last step.
fn csv_cell(sample: &sample::Sample, name: &str) -> String {
    let text = csv::render(&sample.findings);
    let column = text.lines().next().unwrap().split(',').position(|column| column == name).unwrap();
    text.lines().last().unwrap().split(',').nth(column).unwrap().to_owned()
}

#[test]
fn the_requests_of_a_plan_follow_their_step_with_their_names_quoted() {
    let text = csv::render(&variants::several_requests(RunCommand::Run).findings);
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(rows.len(), 1 + 3 * 4);
    assert!(
        rows[1].ends_with(",8,40,90,2.4,4.08,88,2.1,3.57,,\"{\"\"json:/code=200\"\":40}\""),
        "{}",
        rows[1]
    );
    assert!(rows[3].ends_with(",8,0,,,,,,,\"GET /orders?page=\"\"1\"\"\","), "{}", rows[3]);
    assert!(rows[4].starts_with("32,,9.25,0.75,,1000,1000,960,7,100,,,"), "{}", rows[4]);
}

#[test]
fn the_csv_holds_the_interval_of_the_success_ratio() {
    let bound = |sample: &sample::Sample, name| csv_cell(sample, name).parse::<f64>().unwrap();
    let full = sample::healthy(RunCommand::Sweep);
    assert!(bound(&full, "success_lower") < 1.0);
    assert_eq!(bound(&full, "success_upper"), 1.0);
    let failing = sample::unsettled();
    let ratio = bound(&failing, "success_ratio");
    assert!(bound(&failing, "success_lower") < ratio && ratio < bound(&failing, "success_upper"));
}
