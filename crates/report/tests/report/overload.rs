//! What the short answer says of a target under overload.

use std::time::Duration;

use plimsoll_analyze::{
    Estimate, Onset, Overload, OverloadClass, OverloadDoubt, OverloadOutcome, OverloadPhase, OverloadStep,
    RampEffect, RateSearch, Recovery, SearchEnd,
};
use plimsoll_plan::OverloadOrder;
use plimsoll_record::RunCommand;
use plimsoll_report::text::{self, Page};

use super::document::span;
use super::sample;

const RATE: f64 = 740.0;

/// A jump to 1.2 times the rate that kept all of its goodput.
fn jump() -> OverloadStep {
    let (before, whole, settled) = (span(4.0), span(8.0), span(4.0));
    OverloadStep {
        index: 1,
        factor: 1.2,
        onset: Onset::Jump,
        before,
        whole,
        settled,
        kept: Some(Estimate { value: 0.99, interval: None }),
        outcome: OverloadOutcome::Kept,
        lost_sec: None,
        recovery: Recovery::After { sec: 0.0 },
        over_time: Vec::new(),
    }
}

fn overload(class: OverloadClass, step: OverloadStep) -> Overload {
    Overload {
        class,
        at_factor: Some(step.factor),
        doubt: None,
        by_ladder: None,
        rate_per_sec: Some(RATE),
        limit_ms: Some(500.0),
        reference: Some(span(4.0)),
        reference_doubt: None,
        held_per_sec: Some(RATE),
        steps: vec![step],
        ramp: None,
    }
}

fn order(rate_per_sec: Option<f64>, hold_sec: u64) -> OverloadOrder {
    OverloadOrder {
        rate_per_sec,
        base: 0.75,
        factors: vec![1.2],
        hold: Duration::from_secs(hold_sec),
        settle: Duration::ZERO,
        watch: None,
    }
}

/// The answer, each sentence in a line of its own.
fn said(overload: Overload, order: OverloadOrder, search: Option<SearchEnd>) -> String {
    let mut sample = sample::healthy(RunCommand::Overload);
    sample.findings.plan.overload = Some(order);
    sample.findings.overload = Some(overload);
    sample.findings.search = search.map(|end| RateSearch {
        trials: Vec::new(),
        held_per_sec: Some(RATE),
        broken_per_sec: None,
        breach: None,
        drift: None,
        hysteresis_per_sec: None,
        outage: None,
        end,
    });
    text::short(&sample.run, &sample.findings, &Page { width: 1000, colours: false, run_name: None })
}

fn of(class: OverloadClass, step: OverloadStep) -> String {
    said(overload(class, step), order(Some(RATE), 8), None)
}

#[test]
fn a_target_that_was_lost_is_said_to_have_gone_and_when() {
    let lost = OverloadStep {
        outcome: OverloadOutcome::Lost,
        lost_sec: Some(2.0),
        kept: None,
        recovery: Recovery::Unknown,
        ..jump()
    };
    let text = of(OverloadClass::Collapses, lost);
    let sentence = "collapses under overload: at 1.2 times the 740 requests/s that it holds, it went away 2.00 s after the overload \
                    began: connections were refused.";
    assert!(text.contains(sentence), "{text}");
    assert!(!text.contains("unknown part"), "{text}");
}

#[test]
fn goodput_that_was_kept_does_not_collapse_where_it_stays_down_afterwards() {
    let recovery = Recovery::Not { watched_sec: 30.0, queue_sec: 6.4, stuck: true };
    let text = of(OverloadClass::Metastable, OverloadStep { recovery, ..jump() });
    assert!(text.contains("stays down after an overload, a metastable failure: at 1.2 times"), "{text}");
    assert!(!text.contains("collapses"), "{text}");
    let outcome = OverloadOutcome::Lost;
    let text = of(OverloadClass::Metastable, OverloadStep { outcome, recovery, ..jump() });
    assert!(text.contains("collapses under overload and stays down, a metastable failure"), "{text}");
}

#[test]
fn a_target_that_kept_up_needs_a_search_more_of_it_or_a_longer_overload() {
    let kept_up =
        |rate, hold, end| said(overload(OverloadClass::NotOverloaded, jump()), order(rate, hold), end);
    let given = kept_up(Some(RATE), 8, None);
    assert!(given.contains("that it holds: that is not its maximum. plimsoll search finds it."), "{given}");
    let of_search = |end| {
        let text = kept_up(None, 8, Some(end));
        assert!(!text.contains("plimsoll search"), "{text}");
        text
    };
    let unfinished = of_search(SearchEnd::Unfinished);
    assert!(unfinished.contains("give it more time with --budget."), "{unfinished}");
    assert!(of_search(SearchEnd::GeneratorLimited).contains("the load generator could not make more"));
    assert!(of_search(SearchEnd::Found).contains("it is faster now than in the search; repeat it."));
    let short = kept_up(Some(RATE), 1, None);
    assert!(short.contains("in 1 s no queue shows; give --hold 5s."), "{short}");
}

#[test]
fn a_rate_that_did_not_hold_was_given_or_searched_for_and_then_nothing_is_known_of_what_is_left() {
    let doubt = Some(OverloadDoubt::RateNotHeld);
    let not_held = |rate| {
        let overload = Overload {
            at_factor: None,
            doubt,
            reference_doubt: doubt,
            held_per_sec: None,
            ..overload(OverloadClass::Unknown, OverloadStep { kept: None, ..jump() })
        };
        said(overload, order(rate, 8), None)
    };
    let given = not_held(Some(RATE));
    assert!(given.contains("leave --rate out to search for it"), "{given}");
    let searched = not_held(None);
    assert!(searched.contains("the target is slower now. Repeat it, or give a lower rate"), "{searched}");
    assert!(!searched.contains("leave --rate out") && !searched.contains("100 %"), "{searched}");
    assert!(of(OverloadClass::Graceful, jump()).contains("100 %"));
}

#[test]
fn a_target_that_keeps_up_in_a_ramp_needs_more_ready_and_its_limits_cost_what_it_answers() {
    let lost = OverloadStep { outcome: OverloadOutcome::Lost, ..jump() };
    let good = OverloadPhase { good_ratio: Some(0.98), ..span(4.0) };
    let ramp = OverloadStep { onset: Onset::Ramp, settled: good, ..jump() };
    let overload = Overload {
        steps: vec![lost.clone(), ramp],
        ramp: Some(RampEffect::KeepsUp),
        reference: Some(OverloadPhase { service_mean_ns: 12e6, ..span(4.0) }),
        ..overload(OverloadClass::Collapses, lost)
    };
    let text = said(overload, order(Some(RATE), 8), None);
    assert!(text.contains("In a ramp after the jumps it answers 98 % of the same load in time"), "{text}");
    assert!(text.contains("keep as many ready as the highest load needs"), "{text}");
    assert!(text.contains("that also refuses what it answers in a ramp."), "{text}");
}
