//! The published schemas, and documents other than a run's that satisfy theirs.

use plimsoll_analyze::{
    CurvePoint, Fleet, Goal, HighestRates, Incomparable, Margin, PriceList, RateBracket, RateCurve,
    RequestKind, RunSide, Setting, TableRow, TableTier, Trial, Trials, explain_table, fleet_capacity, ledger,
    observe_runs, observe_table, plan_day, plan_machines, price_plan, replays, scalings, tier_rows,
};
use plimsoll_record::RunCommand;
use plimsoll_report::json::{self, schema_of};
use plimsoll_report::{AbReport, PlanView};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::hosts;

/// Each published file with the schema of this code.
fn schemas() -> [(&'static str, Value); 14] {
    [
        ("run.schema.json", schema_of::<json::Document>()),
        ("page.schema.json", schema_of::<json::PageDocument>()),
        ("explanation.schema.json", schema_of::<json::ExplanationDocument>()),
        ("table.schema.json", schema_of::<json::TableDocument>()),
        ("plan.schema.json", schema_of::<json::PlanDocument>()),
        ("fleet.schema.json", schema_of::<json::FleetDocument>()),
        ("ablation.schema.json", schema_of::<json::AblationDocument>()),
        ("tiers.schema.json", schema_of::<json::TiersDocument>()),
        ("lab-run.schema.json", schema_of::<json::LabRunDocument>()),
        ("runs.schema.json", schema_of::<json::RunsDocument>()),
        ("trend.schema.json", schema_of::<json::TrendDocument>()),
        ("diff.schema.json", schema_of::<json::DiffDocument>()),
        ("ab.schema.json", schema_of::<json::AbDocument>()),
        ("production.schema.json", schema_of::<json::ProductionDocument>()),
    ]
}

#[test]
fn the_published_schemas_are_those_of_this_code() {
    for (name, schema) in schemas() {
        let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
        let current = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(&path, &current).unwrap();
        }
        let published = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            published == current,
            "docs/{name} is stale; regenerate it: UPDATE_SCHEMA=1 cargo test -p plimsoll-report schemas"
        );
    }
}

fn satisfies<D: JsonSchema + Serialize>(document: &D) {
    let validator = jsonschema::validator_for(&schema_of::<D>()).unwrap();
    let value: Value = serde_json::from_str(&json::render(document).unwrap()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let mut wrong = value;
    wrong["schema"] = 1.into();
    assert!(!validator.is_valid(&wrong));
}

fn rows() -> Vec<TableRow> {
    let row = |count: f64, per_sec: f64| TableRow {
        label: format!("{count} web"),
        throughput_per_sec: per_sec,
        tiers: vec![
            TableTier {
                name: "web".to_owned(),
                instances: Some(count),
                cpu_ratio: Some(0.95),
                ..TableTier::default()
            },
            TableTier { name: "db".to_owned(), instances: Some(1.0), ..TableTier::default() },
        ],
        ..TableRow::default()
    };
    vec![row(1.0, 1000.0), row(2.0, 1900.0), row(3.0, 2700.0)]
}

#[test]
fn plans_of_tables_and_of_runs_satisfy_their_schema() {
    let goal = Goal { target_per_sec: 10_000.0, utilisation: 0.7 };
    let rows = rows();
    let observed = observe_table(&rows, &explain_table(&rows));
    let changed = "web.cores=2x".parse::<plimsoll_analyze::WhatIf>().unwrap().applied(&observed).unwrap();
    let (plan, changed) = (plan_machines(&observed, goal), plan_machines(&changed, goal));
    let view = PlanView { what_if: Some(("web.cores=2x", &changed)), ..PlanView::new(&plan) };
    satisfies(&json::PlanDocument::new(&view));
    let sample = hosts::watched(RunCommand::Answer);
    let observed = observe_runs(&[("api", &sample.findings)]);
    let plan = plan_machines(&observed, goal);
    let tier = &plan.tiers[0].tier;
    let prices = PriceList::new(vec![format!("{tier}=$0.17/h").parse().unwrap()]).unwrap().unwrap();
    let point =
        |hour| CurvePoint { hour, label: format!("{hour:02}:00"), per_sec: 500.0 * (1 + hour) as f64 };
    let curve = RateCurve::new((0..3).map(point)).unwrap();
    let day = plan_day(&observed, &curve, goal.utilisation, Some(&prices));
    let cost = price_plan(&plan, &prices);
    satisfies(&json::PlanDocument::new(&PlanView {
        cost: Some(&cost),
        day: Some(&day),
        ..PlanView::new(&plan)
    }));
}

#[test]
fn rates_of_given_machines_satisfy_their_schema() {
    let rows = rows();
    let observed = observe_table(&rows, &explain_table(&rows));
    let fleet: Fleet = "web=3".parse().unwrap();
    let capacity = fleet_capacity(&observed, &fleet, 0.7).unwrap();
    satisfies(&json::FleetDocument::new(&capacity, Some(("web.cores=2x", &capacity))));
}

#[test]
fn ledgers_satisfy_their_schema() {
    let trial = |settings: [bool; 2], round: u32, per_sec: f64| Trial {
        settings: settings.to_vec(),
        round: Some(round),
        throughput_per_sec: per_sec + f64::from(round),
        at_most: round == 2,
        per_request: vec![Some(1.0), None],
    };
    let all = |round: u32| {
        [
            trial([false, false], round, 1000.0),
            trial([true, false], round, 500.0 + 7.0 * f64::from(round)),
            trial([false, true], round, 800.0),
            trial([true, true], round, 300.0),
        ]
    };
    let switches = vec!["a".to_owned(), "b".to_owned()];
    let per_request = vec!["CPU µs api".to_owned(), "packets api".to_owned()];
    let state = |group: &str| {
        let trials = (0..3).flat_map(all).collect();
        ledger(&Trials {
            group: Some(group.to_owned()),
            switches: switches.clone(),
            per_request: per_request.clone(),
            trials,
        })
    };
    let ledgers = [state("before"), state("after")];
    let steps = replays(&ledgers, &switches);
    assert_eq!(steps.len(), 4);
    let document = json::AblationDocument::new(&switches, &ledgers, &steps, Some(64.0));
    assert!(document.ledgers.iter().all(|ledger| ledger.noise.is_some() && ledger.no_noise.is_none()));
    satisfies(&document);
    let trials = all(0).to_vec();
    let once = ledger(&Trials { group: None, switches: switches.clone(), per_request, trials });
    let document = json::AblationDocument::new(&switches, &[once], &[], None);
    let why = document.ledgers[0].no_noise.as_deref();
    assert!(why.is_some_and(|why| why.starts_with("no combination was run twice")), "{why:?}");
    satisfies(&document);
}

#[test]
fn a_comparison_of_two_runs_satisfies_its_schema() {
    let sample = hosts::watched(RunCommand::Answer);
    let steps = plimsoll_analyze::step_outcomes(&sample.findings);
    let against = [
        Incomparable::Differs(Setting::Kernel, "6.1".to_owned(), "6.7".to_owned()),
        Incomparable::GeneratorLimited(RunSide::Old),
        Incomparable::Unfinished(RunSide::New),
        Incomparable::Noisy(RunSide::New, None),
        Incomparable::OtherProcesses(RunSide::New, 0.4),
    ];
    let bracket = RateBracket { held_per_sec: Some(900.0), broken_per_sec: None };
    let highest_rates = Some(HighestRates { candidate: bracket, reference: bracket });
    let comparison =
        plimsoll_analyze::Comparison { highest_rates, ..plimsoll_analyze::compare(&steps, &steps) };
    let judged = Some((Margin::Within, 0.05));
    satisfies(&json::DiffDocument::new(["old", "new"], &comparison, &against, judged, None));
}

#[test]
fn two_compared_services_satisfy_their_schema() {
    let (findings, quantiles) = super::ab::compared(1.1, 20);
    let labels = ["http://127.0.0.1:1/".to_owned(), "http://127.0.0.1:2/".to_owned()];
    satisfies(&json::AbDocument::new(&AbReport {
        labels: &labels,
        restarts: false,
        findings: &findings,
        quantiles: &quantiles,
    }));
}

#[test]
fn rows_of_tiers_satisfy_their_schema() {
    let sample = hosts::watched(RunCommand::Answer);
    let rows = tier_rows(&[("one", &sample.findings), ("two", &sample.findings)]);
    assert_eq!(rows.len(), 2);
    let kinds =
        [RequestKind { name: "GET /".to_owned(), runs: vec!["two".to_owned(), "refused".to_owned()] }];
    let document = json::TiersDocument::new(&rows, &scalings(&rows), &kinds);
    assert_eq!(document.without_row, ["refused"]);
    satisfies(&document);
}
