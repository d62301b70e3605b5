use clap::Parser;
use plimsoll_plan::{LadderSteps, Load};

use super::*;
use crate::args::{Args, Command};

const SEARCH: &str = "[load]\nsearch = true\nbudget = \"5m\"\n";
const OVERLOAD: &str = "[overload]\nrate = 100\n[slo]\np99 = \"500ms\"\n";
const RATE: &str = "[load]\nrate = 500\n";
const LADDER: &str = "[load]\nladder = [4, 16]\n";

/// What the words of a line ask for, over a plan file with this content.
fn asked(content: &str, words: &[&str]) -> anyhow::Result<Plan> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    std::fs::write(&path, format!("[target]\nurl = \"http://127.0.0.1:1/\"\n{content}")).unwrap();
    let file = ["-f", path.to_str().unwrap()];
    let line = [&["plimsoll"][..], &words[..1], &file, &words[1..]].concat();
    let asked = match Args::try_parse_from(line).unwrap().command {
        Some(Command::Run(run)) => run.plan(),
        Some(Command::Sweep(sweep)) => sweep.plan(),
        other => panic!("{other:?}"),
    };
    asked.map(|asked| asked.plan)
}

fn plan(content: &str, words: &[&str]) -> Plan {
    asked(content, words).unwrap()
}

/// Why the line is wrong.
fn refused(content: &str, words: &[&str]) -> String {
    let error = asked(content, words).unwrap_err();
    assert!(error.is::<UsageError>() || error.is::<plimsoll_plan::PlanError>(), "{error:?}");
    error.to_string()
}

#[test]
fn a_ladder_of_the_line_takes_the_place_of_a_search_and_of_an_overload() {
    for content in [SEARCH, OVERLOAD] {
        let plan = plan(content, &["sweep", "--ladder", "1,2,4"]);
        let Load::Ladder { steps, budget, .. } = &plan.load else { panic!("{:?}", plan.load) };
        assert_eq!((steps, budget), (&LadderSteps::Fixed(vec![1, 2, 4]), &None));
        assert!(plan.search.is_none() && plan.overload.is_none());
    }
    assert!(plan(OVERLOAD, &["sweep"]).overload.is_some());
}

#[test]
fn a_part_of_a_load_is_refused_where_the_file_makes_more_than_one() {
    for content in [SEARCH, OVERLOAD, LADDER, ""] {
        for part in [["-d", "60s"], ["-n", "50"], ["--arrivals", "poisson"]] {
            let said = refused(content, &["run", part[0], part[1]]);
            assert!(said.starts_with(&format!("{} alone does not say how much", part[0])), "{said}");
        }
        assert!(plan(content, &["run", "-d", "60s", "-c", "7"]).level().is_some());
    }
    assert!(
        refused(LADDER, &["run", "-c", "7", "--arrivals", "poisson"]).contains("--arrivals is about a rate")
    );
    let rate = plan(RATE, &["run", "-d", "60s", "--arrivals", "poisson"]);
    let Load::Single { level, duration, .. } = rate.load else { panic!("{:?}", rate.load) };
    assert_eq!((level.profile(), duration), (Some(&RateProfile::Constant(500.0)), Duration::from_secs(60)));
}

#[test]
fn the_most_connections_of_the_line_hold_for_the_ladder_of_a_file() {
    assert!(refused(LADDER, &["sweep", "--max-connections", "8"]).contains("a step of the ladder is 16"));
    assert!(refused(LADDER, &["run", "--max-connections", "8"]).contains("a step of the ladder is 16"));
    plan(LADDER, &["sweep", "--max-connections", "16"]);
}

#[test]
fn users_of_an_overload_are_as_patient_as_the_line_says_or_its_limit() {
    let timeout = |words: &[&str]| plan(OVERLOAD, words).generator.timeout.as_secs();
    assert_eq!(timeout(&["run"]), 2);
    assert_eq!(timeout(&["run", "--p99", "2s"]), 8);
    assert_eq!(timeout(&["run", "--p99", "2s", "--timeout", "3s"]), 3);
}

#[test]
fn a_connection_header_of_the_line_counts_before_that_of_a_file() {
    let closing = "headers = { Connection = \"close\" }\n";
    let keeps =
        |value: &str| plan(closing, &["run", "-H", &format!("Connection: {value}")]).network.keep_alive;
    assert!(keeps("keep-alive") && !keeps("close"));
    assert!(!plan(closing, &["run"]).network.keep_alive);
}

#[test]
fn the_parts_of_a_single_request_are_refused_over_several_of_a_file() {
    let several = "[[request]]\nurl = \"/a\"\n[[request]]\nurl = \"/b\"\n";
    for part in ["-b", "-m"] {
        let said = refused(several, &["run", "-c", "1", part, "PUT"]);
        assert!(said.contains(part) && said.contains("[[request]]"), "{said}");
    }
}
