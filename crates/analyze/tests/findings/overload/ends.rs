//! Overloads that did not come to their end: the target was lost, or the run.

use super::*;

/// The first overload begins after the rate itself and its own base, is held for 8 s, and the base is watched for 13.6 s.
const FIRST_BEGINS_SEC: f64 = 13.0 + 5.0;
const SECOND_STEP_SEC: f64 = 13.0 + 26.6;

/// What is found where the target is lost after so many seconds over all steps.
fn lost_after(cut_sec: f64) -> Overload {
    let mut run = Made { cut_sec, ..Made::of(shedding) }.run();
    run.steps.last_mut().unwrap().end = StepEnd::TargetLost;
    findings(&run).overload.unwrap()
}

#[test]
fn a_target_that_is_lost_before_the_second_half_of_an_overload_collapses() {
    let overload = lost_after(FIRST_BEGINS_SEC + 2.0);
    assert_eq!((overload.class, overload.steps[0].kept), (OverloadClass::Collapses, None));
    assert_eq!(overload.steps[0].lost_sec, Some(2.0));
}

#[test]
fn a_target_that_is_lost_while_its_base_is_watched_collapses_whatever_goodput_was() {
    let overload = lost_after(FIRST_BEGINS_SEC + 8.0 + 3.0);
    let step = &overload.steps[0];
    assert!(step.kept.unwrap().value > 0.9, "{:?}", step.kept);
    assert_eq!((step.outcome, step.recovery), (OverloadOutcome::Lost, Recovery::Unknown));
    assert_eq!((overload.class, overload.at_factor), (OverloadClass::Collapses, Some(1.2)));
}

#[test]
fn a_target_that_is_lost_at_the_base_before_an_overload_is_not_called_graceful() {
    let overload = lost_after(SECOND_STEP_SEC + 3.0);
    assert_eq!((overload.class, overload.doubt), (OverloadClass::Unknown, Some(OverloadDoubt::Interrupted)));
    assert_eq!((overload.steps[1].lost_sec, overload.steps[0].outcome), (None, OverloadOutcome::Kept));
    // Also after the highest jump, of which the ramp would be only another form.
    let overload = lost_after(SECOND_STEP_SEC + 41.0 + 65.0 + 3.0);
    assert_eq!((overload.steps.len(), overload.class), (4, OverloadClass::Unknown));
}

#[test]
fn a_target_is_lost_when_it_refuses_the_first_connection_after_its_last_answer() {
    let mut run = Made { cut_sec: FIRST_BEGINS_SEC + 7.0, ..Made::of(shedding) }.run();
    run.steps[1].end = StepEnd::TargetLost;
    let begins_ns = run.steps[1].began_ns + 5_000_000_000;
    for frame in run.frames.iter_mut().filter(|frame| frame.head.step == 1) {
        let Some(since_ns) = frame.head.began_ns.checked_sub(begins_ns + 3_000_000_000) else { continue };
        let Counts { intended, sent, completed, .. } = frame.head.counts;
        frame.head.counts = Counts { intended, sent, ..Counts::default() };
        // Requests under way time out before a connection is opened anew.
        let kind = if since_ns < 1_000_000_000 { FailureKind::TimedOut } else { FailureKind::ConnectRefused };
        frame.head.counts.failed.add(kind, completed);
        (frame.latency, frame.unsuccessful) = (EncodedHistogram::default(), EncodedHistogram::default());
    }
    let lost_sec = findings(&run).overload.unwrap().steps[0].lost_sec.unwrap();
    assert!((lost_sec - 4.1).abs() < 1e-6, "{lost_sec}");
}

#[test]
fn a_run_that_ended_between_two_overloads_says_nothing_of_the_highest() {
    let run = Made::of(shedding).run();
    let with_steps = |count: usize| {
        let mut run = run.clone();
        run.steps.truncate(count);
        let overload = findings(&run).overload.unwrap();
        (overload.class, overload.doubt)
    };
    assert_eq!(with_steps(2), (OverloadClass::Unknown, Some(OverloadDoubt::Interrupted)));
    assert_eq!(with_steps(3), (OverloadClass::Unknown, Some(OverloadDoubt::Interrupted)));
    assert_eq!(with_steps(4), (OverloadClass::Graceful, None), "the ramp leads to the same rate");
    let mut limitless = Made::of(|| shedding_beyond(f64::INFINITY)).run();
    limitless.steps.truncate(2);
    assert_eq!(findings(&limitless).overload.unwrap().class, OverloadClass::Unknown);
}

#[test]
fn a_ramp_that_was_cut_leaves_what_the_jump_to_the_same_load_showed() {
    let overload = found(&Made { cut_sec: 157.0, ..Made::of(shedding) });
    assert_eq!((overload.steps.len(), overload.class), (4, OverloadClass::Graceful));
    assert_eq!(overload.ramp, None, "it cannot be compared");
}
