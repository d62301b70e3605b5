use plimsoll_record::StepEnd;

use super::account::rest;
use super::*;
use crate::made::tests::{Sample, ladder};

const SECOND: u64 = 1_000_000_000;

fn at(sec: u64) -> Instant {
    Instant::from_nanos(sec * SECOND)
}

#[test]
fn times_go_on_from_the_begin_of_the_run() {
    let mut left = Sample::new(ladder(Some(vec![2, 4])));
    left.run.manifest.started_unix_ms = 1_000_000;
    assert_eq!(origin_of_run(&left.run, at(500), 1_060_000), Some(at(440)));
    assert_eq!(origin_of_run(&left.run, at(50), 1_060_000), None, "the machine was started since");
    let left = left.step(2, 100, StepEnd::Steady);
    assert_eq!(origin_of_run(&left.run, at(500), 1_004_000), Some(at(490)), "the wall clock was set back");
}

#[test]
fn what_is_left_of_a_plan_is_named_with_the_reason() {
    let left = Sample::new(ladder(Some(vec![2, 4, 8]))).step(2, 100, StepEnd::Steady);
    let left = left.step(4, 150, StepEnd::Cut);
    let text = not_run_text(left.made(), &NotMade::NoAgents).unwrap();
    assert!(text.contains("no agent is left") && text.ends_with("the steps of 4, 8 connections"), "{text}");
    let doubling = Sample::new(ladder(None)).step(1, 100, StepEnd::Steady);
    assert_eq!(rest(doubling.made()), ["the ladder from the step of 2 connections on"]);
    let whole = left.step(4, 150, StepEnd::Steady).step(8, 160, StepEnd::Steady);
    assert!(rest(whole.made()).is_empty());
}
