//! The JSON document and its published schema.

use plimsoll_analyze::{
    Estimate, Overload, OverloadClass, OverloadDoubt, OverloadOutcome, OverloadPhase, OverloadStep, Recovery,
    TableReading, TableRow, TimeSummary, compare, explain_table, step_outcomes,
};
use plimsoll_plan::Onset;
use plimsoll_record::{FailureCounts, RunCommand};
use plimsoll_report::{Values, json};

use super::hosts;
use super::sample::{self, Sample};
use super::variants;

fn samples() -> Vec<Sample> {
    vec![
        sample::healthy(RunCommand::Answer),
        sample::lower_bound(),
        sample::dead(),
        sample::unsettled(),
        sample::few(),
        sample::behind(),
        sample::lost(),
        sample::slow(RunCommand::Answer),
        variants::several_requests(RunCommand::Sweep),
        variants::ramp(),
        hosts::watched(RunCommand::Answer),
    ]
}

fn value_of(sample: &Sample) -> serde_json::Value {
    let document = json::Document::new(&sample.run, &sample.findings, Values::Hidden);
    serde_json::from_str(&json::render(&document).unwrap()).unwrap()
}

#[test]
fn every_explanation_satisfies_the_published_schema() {
    let validator = jsonschema::validator_for(&json::schema_of::<json::ExplanationDocument>()).unwrap();
    for sample in samples() {
        let value =
            serde_json::from_str(&json::render(&json::ExplanationDocument::new(&sample.findings)).unwrap())
                .unwrap();
        let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
    let table = jsonschema::validator_for(&json::schema_of::<json::TableDocument>()).unwrap();
    let row = TableRow { label: "a".to_owned(), throughput_per_sec: 100.0, ..TableRow::default() };
    let found = explain_table(&[row]);
    let mut value: serde_json::Value = serde_json::from_str(
        &json::render(&json::TableDocument::new(&found, &TableReading::default())).unwrap(),
    )
    .unwrap();
    assert!(table.is_valid(&value), "{value:#}");
    value["rows"][0]["verdict"]["limit"] = 7.into();
    assert!(!table.is_valid(&value));
}

#[test]
fn every_document_satisfies_the_published_schema() {
    let validator = jsonschema::validator_for(&json::schema_of::<json::Document>()).unwrap();
    for sample in samples() {
        let value = value_of(&sample);
        let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
    let mut wrong = value_of(&sample::healthy(RunCommand::Answer));
    wrong["steps"][0]["completed"] = "many".into();
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn credentials_of_the_plan_are_hidden_and_other_headers_are_not() {
    let mut sample = sample::healthy(RunCommand::Answer);
    let mut plan: serde_json::Value = serde_json::from_str(&sample.run.manifest.plan).unwrap();
    let names = ["Authorization", "proxy-authorization", "COOKIE", "X-Api-Key", "x-auth-token", "Accept"];
    plan["target"]["headers"] = names.iter().map(|name| vec![*name, "keep-secret"]).collect();
    plan["mix"] = vec![serde_json::Value::Null, plan["target"].clone()].into();
    sample.run.manifest.plan = plan.to_string();
    let document = json::Document::new(&sample.run, &sample.findings, Values::Hidden);
    let headers = document.plan["target"]["headers"].as_array().unwrap();
    assert_eq!(document.plan["mix"][1]["headers"].as_array(), Some(headers));
    for header in &headers[..5] {
        assert_eq!(header[1], "(hidden)", "{header}");
    }
    assert_eq!((&headers[5][0], &headers[5][1]), (&"Accept".into(), &"keep-secret".into()));
    assert!(headers.len() == 6 && headers[2][0] == "COOKIE");
}

#[test]
fn what_is_not_a_number_is_null() {
    let mut sample = sample::healthy(RunCommand::Answer);
    let step = &mut sample.findings.steps[0];
    step.throughput.value = f64::NAN;
    step.throughput.interval = Some((0.0, f64::INFINITY));
    step.latency.mean_ns = f64::INFINITY;
    let value = value_of(&sample);
    let step = &value["steps"][0];
    assert!(step["throughput_per_sec"].is_null() && step["throughput_interval"].is_null());
    assert!(step["latency_ms"]["mean"].is_null());
    let validator = jsonschema::validator_for(&json::schema_of::<json::Document>()).unwrap();
    assert!(validator.is_valid(&value), "every float may be null");
}

#[test]
fn what_is_not_known_is_null_and_never_zero() {
    let value = value_of(&sample::few());
    assert!(value["steps"][0]["latency_ms"]["p99"].is_null());
    assert!(value["answer"]["max_within_slo_per_sec"].is_null());
    let value = value_of(&sample::dead());
    assert!(value["answer"]["knee_connections"].is_null());
    assert!(value["steps"][0]["latency_ms"]["mean"].is_null());
    assert_eq!(value["steps"][0]["failed"]["connect_refused"], 12_340);
    assert_eq!(value["answer"]["slo"]["success_held"], false);
    assert!(value["answer"]["slo"]["p99_held"].is_null());
}

/// A span of an overload, with a goodput of 900 requests/s.
pub(super) fn span(span_sec: f64) -> OverloadPhase {
    let goodput = if span_sec > 0.0 { 900.0 } else { 0.0 };
    OverloadPhase {
        offered_per_sec: 2000.0,
        span_sec,
        due: (2000.0 * span_sec) as u64,
        goodput: Estimate { value: goodput, interval: None },
        good_ratio: None,
        answered: 0,
        late: 0,
        refused: 0,
        failed: FailureCounts::default(),
        latency: TimeSummary::default(),
        service_mean_ns: 0.0,
        in_flight: 0,
        backlog: 0,
    }
}

#[test]
fn goodput_of_a_span_that_did_not_begin_is_null() {
    let mut sample = sample::healthy(RunCommand::Overload);
    sample.findings.overload = Some(Overload {
        class: OverloadClass::Unknown,
        at_factor: None,
        doubt: Some(OverloadDoubt::Interrupted),
        by_ladder: None,
        rate_per_sec: Some(1000.0),
        limit_ms: None,
        reference: None,
        reference_doubt: None,
        held_per_sec: Some(1000.0),
        steps: vec![OverloadStep {
            index: 9,
            factor: 2.0,
            onset: Onset::Jump,
            before: span(2.0),
            whole: span(3.0),
            settled: span(0.0),
            kept: None,
            outcome: OverloadOutcome::Unknown(OverloadDoubt::Interrupted),
            lost_sec: None,
            recovery: Recovery::Unknown,
            over_time: Vec::new(),
        }],
        ramp: None,
    });
    let value = value_of(&sample);
    let step = &value["overload"]["steps"][0];
    assert_eq!(step["settled"]["goodput_per_sec"], serde_json::Value::Null);
    assert_eq!(step["whole"]["goodput_per_sec"], 900.0);
}

#[test]
fn lower_bounds_are_marked_in_steps_and_in_comparisons() {
    let (bounded, exact) = (sample::lower_bound(), sample::healthy(RunCommand::Answer));
    let value = value_of(&bounded);
    let marked: Vec<bool> =
        value["steps"].as_array().unwrap().iter().map(|step| step["lower_bound"] == true).collect();
    assert_eq!(marked, [false, false, false, false, true, true, true, true]);
    let comparison = compare(&step_outcomes(&bounded.findings), &step_outcomes(&exact.findings));
    let compared = json::ComparedDocument::new("new", true, &comparison, None, None);
    let value = serde_json::to_value(&compared).unwrap();
    let sides = |one: &serde_json::Value| (one["lower_bound"] == true, one["against_lower_bound"] == true);
    assert_eq!(sides(&value["best"]), (true, false));
    assert_eq!(sides(&value["rows"][0]), (false, false));
    assert_eq!(sides(&value["rows"][5]), (true, false));
    let turned = compare(&step_outcomes(&exact.findings), &step_outcomes(&bounded.findings));
    let value = serde_json::to_value(json::ComparedDocument::new("new", false, &turned, None, None)).unwrap();
    assert_eq!((sides(&value["best"]), sides(&value["rows"][5])), ((false, true), (false, true)));
}

#[test]
fn requests_checks_encryption_and_changing_rates_have_their_fields() {
    let value = value_of(&variants::several_requests(RunCommand::Run));
    let step = &value["steps"][0];
    assert_eq!(step["requests"][2]["name"], "POST /orders");
    assert_eq!(step["requests"][2]["failed_checks"]["json:/code=200"], 40);
    assert_eq!((&step["depth"], &step["resumed"]), (&8.into(), &64.into()));
    assert_eq!((&step["connect_ms"]["mean"], &step["handshake_ms"]["p99"]), (&2.4.into(), &3.57.into()));
    assert_eq!(
        (&value["run"]["protocol"], &value["run"]["tls"]["verified"]),
        (&"HTTP/2".into(), &false.into())
    );
    assert_eq!(step["generator"]["driver"], "io_uring");
    let step = &value_of(&variants::ramp())["steps"][0];
    assert_eq!((&step["steadiness"], &step["over_time"][5]["backlog"]), (&"ramp".into(), &1000.into()));
}

#[test]
fn the_document_of_an_answer_is_kept() {
    let sample = sample::lower_bound();
    let text = json::render(&json::Document::new(&sample.run, &sample.findings, Values::Hidden)).unwrap();
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("document_lower_bound", text);
    });
}
