//! What becomes of a target under overload: simulated services, and what is found of each.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::VecDeque;
use std::time::Duration;

use plimsoll_analyze::overload::{RecoveryWatch, protection};
use plimsoll_analyze::{
    Onset, Overload, OverloadClass, OverloadDoubt, OverloadOutcome, OverloadStep, RampEffect, Recovery,
};
use plimsoll_plan::{LatencyLimit, OverloadOrder, OverloadSpec, Plan, RateProfile, Slo};
use plimsoll_record::{
    Counts, EncodedHistogram, FailureKind, Frame, FrameHead, Phase, RateStage, Run, Step, StepEnd,
    WorkerTime, latency_histogram,
};

use crate::synthetic::{Level, findings, single};

#[cfg(test)]
mod ends;
#[cfg(test)]
mod random;

const WORKERS: u32 = 2;
const INTERVAL_MS: u64 = 100;
/// What the simulated services serve at most, and what is said to hold, requests per second.
const CAPACITY: f64 = 1040.0;
const RATE: f64 = 1000.0;

fn slo() -> Slo {
    within(100.0)
}

fn within(p99_ms: f64) -> Slo {
    Slo { latency: vec![LatencyLimit::p99(p99_ms)], success_ratio: Some(0.99), throughput_per_sec: None }
}

/// What became of the requests of one interval.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// Those that fell due, where it is not the rate that says so.
    due: Option<f64>,
    /// Those that are sent and not answered at its end, where that is said.
    under_way: Option<f64>,
    good: f64,
    late: f64,
    refused: f64,
    timed_out: f64,
}

/// A service, as it answers in an interval of so many seconds in which requests fall due at a rate.
type Service = Box<dyn FnMut(f64, f64) -> Slot>;

/// It refuses at once what is beyond its capacity.
fn shedding() -> Service {
    shedding_beyond(CAPACITY)
}

fn shedding_beyond(capacity: f64) -> Service {
    Box::new(move |rate, sec| {
        let good = rate.min(capacity) * sec;
        Slot { good, refused: rate * sec - good, ..Slot::default() }
    })
}

/// It takes in everything, and works on it in order, although nothing waits for it after a second.
fn queueing() -> Service {
    queueing_beyond(CAPACITY)
}

fn queueing_beyond(capacity: f64) -> Service {
    let mut queue = 0.0;
    Box::new(move |rate, sec| {
        let wait_sec = queue / capacity;
        let served = (queue + rate * sec).min(capacity * sec);
        queue += rate * sec - served;
        match wait_sec {
            wait if wait < 0.1 => Slot { good: served, ..Slot::default() },
            wait if wait < 1.0 => Slot { late: served, ..Slot::default() },
            _ => Slot { timed_out: served, ..Slot::default() },
        }
    })
}

/// Once it is overloaded it answers nothing in time any more, until all load is gone.
fn stuck() -> Service {
    stuck_beyond(CAPACITY)
}

fn stuck_beyond(capacity: f64) -> Service {
    let mut is_down = false;
    Box::new(move |rate, sec| {
        is_down |= rate > capacity;
        let due = rate * sec;
        if is_down {
            Slot { timed_out: due, ..Slot::default() }
        } else {
            Slot { good: due, ..Slot::default() }
        }
    })
}

/// Everything that it does takes so many seconds.
fn slowed(mut service: Service, by_sec: f64) -> Service {
    let (mut now_sec, mut under_way) = (0.0, VecDeque::new());
    Box::new(move |rate, sec| {
        now_sec += sec;
        under_way.push_back((now_sec + by_sec, service(rate, sec)));
        let is_done = |(done_sec, _): &mut (f64, Slot)| *done_sec <= now_sec + sec / 2.0;
        under_way.pop_front_if(is_done).map(|(_, slot)| slot).unwrap_or_default()
    })
}

/// Under overload it serves only this part of what it can.
fn wasteful(part: f64) -> Service {
    Box::new(move |rate, sec| {
        let good = if rate > CAPACITY { part * CAPACITY } else { rate };
        Slot { good: good * sec, refused: (rate - good) * sec, ..Slot::default() }
    })
}

/// It loses most of its goodput if the rate more than doubles at once.
fn startled() -> Service {
    let (mut last, mut is_startled) = (f64::INFINITY, false);
    Box::new(move |rate, sec| {
        is_startled = rate > 2.0 * last || is_startled && rate > CAPACITY;
        last = rate;
        let good = if is_startled { 0.3 * CAPACITY } else { rate.min(CAPACITY) };
        Slot { good: good * sec, timed_out: (rate - good) * sec, ..Slot::default() }
    })
}

/// It answers any load that it had time to grow for, and so many requests per second of one that more than doubles at once.
fn growing(startled_per_sec: f64) -> Service {
    let (mut last, mut is_startled) = (f64::INFINITY, false);
    Box::new(move |rate, sec| {
        is_startled = rate > 2.0 * last || is_startled && rate > CAPACITY;
        last = rate;
        let good = if is_startled { startled_per_sec } else { rate };
        Slot { good: good * sec, refused: (rate - good) * sec, ..Slot::default() }
    })
}

/// What the run of an overload varies.
struct Made {
    rate: f64,
    slo: Slo,
    order: OverloadSpec,
    service: Box<dyn Fn() -> Service>,
    /// Share of its time that each worker is busy.
    busy: f64,
    /// The seconds after which the user ends the run, over all steps.
    cut_sec: f64,
}

impl Made {
    fn of(service: fn() -> Service) -> Self {
        let order = OverloadSpec { rate_per_sec: Some(RATE), ..OverloadSpec::default() };
        Self { rate: RATE, slo: slo(), order, service: Box::new(service), busy: 0.2, cut_sec: f64::INFINITY }
    }

    fn run(&self) -> Run {
        let mut run = single(Level::open(self.rate));
        let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
        plan.slo = self.slo.clone();
        plan.overload = Some(frozen_within(&self.order, &self.slo));
        run.manifest.plan = plan.to_json();
        (run.steps, run.frames) = (Vec::new(), Vec::new());
        let (mut began_ms, mut left_sec) = (0, self.cut_sec);
        for (index, profile) in (0..).zip(plan.overload.unwrap().profiles(self.rate)) {
            if left_sec <= 0.0 {
                break;
            }
            let sec = profile.duration().unwrap().as_secs_f64().min(left_sec);
            let is_cut = sec < profile.duration().unwrap().as_secs_f64();
            left_sec -= sec;
            let intervals = (sec * 1e3) as u64 / INTERVAL_MS;
            run.steps.push(step(index, &profile, began_ms, intervals, is_cut));
            run.frames.extend(self.frames(index, &profile, began_ms, intervals));
            began_ms += intervals * INTERVAL_MS + 1000;
        }
        run
    }

    fn frames(&self, index: u32, profile: &RateProfile, began_ms: u64, intervals: u64) -> Vec<Frame> {
        // Between two steps a service has time to recover.
        let mut service = (self.service)();
        let mut frames = Vec::new();
        for interval in 0..intervals {
            let middle = Duration::from_millis(interval * INTERVAL_MS + INTERVAL_MS / 2);
            let rate = profile.rate_at(middle);
            let slot = service(rate, INTERVAL_MS as f64 / 1e3);
            for worker in 0..WORKERS {
                let at_ms = began_ms + interval * INTERVAL_MS;
                frames.push(self.frame((index, worker, interval as u32), at_ms, rate, slot));
            }
        }
        frames
    }

    fn frame(&self, (step, worker, interval): (u32, u32, u32), at_ms: u64, rate: f64, slot: Slot) -> Frame {
        // What does not divide goes to the workers in turn.
        let part = |count: f64| {
            let before = (count * f64::from(interval)).round() as u64;
            let whole = (count * f64::from(interval + 1)).round() as u64 - before;
            (whole + u64::from((interval + worker).is_multiple_of(2))) / 2
        };
        let due = part(slot.due.unwrap_or(rate * INTERVAL_MS as f64 / 1e3));
        let (good, late) = (part(slot.good), part(slot.late));
        let (refused, timed_out) = (part(slot.refused), part(slot.timed_out));
        let ok = good + late;
        let completed = ok + refused;
        let mut counts = Counts { intended: due, sent: due, completed, ok, ..Counts::default() };
        counts.status.add(200, ok);
        counts.status.add(503, refused);
        counts.failed.add(FailureKind::TimedOut, timed_out);
        let ns = |ms: u64| ms * 1_000_000;
        let busy_ns = (self.busy * ns(INTERVAL_MS) as f64) as u64;
        let head = FrameHead {
            step,
            worker,
            request: 0,
            interval,
            phase: Phase::Measure,
            began_ns: ns(at_ms),
            ended_ns: ns(at_ms + INTERVAL_MS),
            counts,
            in_flight: slot.under_way.map_or(10, part),
            backlog: 0,
            connections: 20,
            time: WorkerTime { user_ns: busy_ns, ..WorkerTime::default() },
        };
        let none = EncodedHistogram::default;
        Frame {
            head,
            latency: times(&[(12, good), (400, late), (1, refused), (1000, timed_out)]),
            unsuccessful: times(&[(1, refused), (1000, timed_out)]),
            service: None,
            send_lag: none(),
            connect: none(),
            handshake: none(),
            traces: Vec::new(),
        }
    }
}

pub(crate) fn frozen(order: &OverloadSpec) -> OverloadOrder {
    frozen_within(order, &slo())
}

fn frozen_within(order: &OverloadSpec, slo: &Slo) -> OverloadOrder {
    let mut spec = plimsoll_plan::PlanSpec::new(
        "http://api.test:8080/",
        plimsoll_plan::LoadSpec::Ladder { steps: None, step_limit: None, budget: None },
    );
    (spec.slo, spec.overload) = (slo.clone(), Some(order.clone()));
    spec.freeze().unwrap().overload.unwrap()
}

fn times(all: &[(u64, u64)]) -> EncodedHistogram {
    let mut histogram = latency_histogram();
    all.iter().for_each(|(ms, count)| histogram.record_n(ms * 1_000_000, *count).unwrap());
    EncodedHistogram::encode(&histogram)
}

fn step(index: u32, profile: &RateProfile, began_ms: u64, intervals: u64, is_cut: bool) -> Step {
    let stage = |stage: &plimsoll_plan::Stage| RateStage {
        from_per_sec: stage.from_per_sec,
        to_per_sec: stage.to_per_sec,
        span_ns: stage.duration.as_nanos() as u64,
    };
    let began_ns = began_ms * 1_000_000;
    let ended_ns = began_ns + intervals * INTERVAL_MS * 1_000_000;
    Step {
        index,
        connections: 10,
        depth: 1,
        rate_per_sec: Some(profile.mean_per_sec()),
        stages: profile.stages().iter().map(stage).collect(),
        began_ns,
        ended_ns,
        drained_ns: ended_ns,
        end: if is_cut { StepEnd::Cut } else { StepEnd::TimeLimit },
        generators: Vec::new(),
    }
}

fn overload(service: fn() -> Service) -> Overload {
    found(&Made::of(service))
}

fn found(made: &Made) -> Overload {
    findings(&made.run()).overload.unwrap()
}

fn jumps(overload: &Overload) -> Vec<&OverloadStep> {
    overload.steps.iter().filter(|step| step.onset == Onset::Jump).collect()
}

#[test]
fn a_service_that_refuses_what_is_too_much_degrades_gracefully() {
    let overload = overload(shedding);
    assert_eq!((overload.class, overload.doubt), (OverloadClass::Graceful, None));
    let factors: Vec<f64> = jumps(&overload).iter().map(|step| step.factor).collect();
    assert_eq!(factors, [1.2, 1.5, 2.0]);
    for step in &overload.steps {
        assert!(step.kept.unwrap().value > 1.0, "{:?}", step.kept);
        assert_eq!((step.outcome, step.recovery), (OverloadOutcome::Kept, Recovery::After { sec: 0.0 }));
    }
    assert_eq!(overload.ramp, Some(RampEffect::None));
    let highest = &jumps(&overload)[2].settled;
    assert!(highest.refused > 3_500 && highest.failed.total() == 0 && highest.late == 0);
}

#[test]
fn a_queue_without_a_limit_collapses_and_is_back_when_it_is_gone() {
    let overload = overload(queueing);
    assert_eq!((overload.class, overload.at_factor), (OverloadClass::Collapses, Some(1.2)));
    let mut last_sec = 0.0;
    for step in jumps(&overload) {
        let Recovery::After { sec } = step.recovery else { panic!("{:?}", step.recovery) };
        // The excess over the spare capacity at the base.
        let queue_sec = (step.factor * RATE - CAPACITY) * 8.0 / (CAPACITY - 750.0);
        assert!((queue_sec - 1.5..=queue_sec + 1.5).contains(&sec) && sec > last_sec, "{sec} {queue_sec}");
        last_sec = sec;
    }
}

#[test]
fn what_stays_down_for_longer_than_a_queue_lasts_is_metastable() {
    let overload = overload(stuck);
    assert_eq!((overload.class, overload.at_factor), (OverloadClass::Metastable, Some(1.2)));
    for step in &overload.steps {
        let Recovery::Not { watched_sec, queue_sec, stuck } = step.recovery else {
            panic!("{:?}", step.recovery)
        };
        assert!(stuck && watched_sec > 1.25 * queue_sec, "{watched_sec} {queue_sec}");
        assert_eq!(step.kept.unwrap().value, 0.0);
    }
}

#[test]
fn a_watch_that_is_too_short_does_not_call_a_service_metastable() {
    let mut made = Made::of(stuck);
    made.order.watch = Some(Duration::from_secs(5));
    let overload = found(&made);
    assert_eq!(overload.class, OverloadClass::Collapses);
    let highest = jumps(&overload)[2];
    assert!(matches!(highest.recovery, Recovery::Not { stuck: false, .. }), "{:?}", highest.recovery);
}

#[test]
fn a_service_that_serves_less_the_more_is_offered_degrades_and_below_half_it_collapses() {
    let of = |service| {
        let overload = overload(service);
        (overload.class, overload.at_factor)
    };
    assert_eq!(of(|| wasteful(0.65)), (OverloadClass::Degrades, Some(1.2)));
    assert_eq!(of(|| wasteful(0.4)), (OverloadClass::Collapses, Some(1.2)));
    assert_eq!(of(|| wasteful(0.85)), (OverloadClass::Graceful, Some(2.0)));
}

#[test]
fn what_is_offered_is_no_overload_where_all_of_it_is_served() {
    let limitless = || -> Service { Box::new(|rate, sec| Slot { good: rate * sec, ..Slot::default() }) };
    let run = Made::of(limitless).run();
    let findings = findings(&run);
    assert_eq!(findings.overload.as_ref().unwrap().class, OverloadClass::NotOverloaded);
    assert_eq!(protection(&findings), None, "limits would refuse what it served");
}

#[test]
fn a_target_that_serves_just_its_rate_does_not_keep_up_with_little_more() {
    let mut made = Made::of(|| shedding_beyond(RATE));
    made.order.factors = vec![1.05];
    let overload = found(&made);
    assert_eq!((overload.class, overload.at_factor), (OverloadClass::Graceful, Some(1.05)));
}

#[test]
fn where_fewer_requests_have_to_succeed_a_rate_holds_with_fewer_and_a_target_keeps_up_with_as_few() {
    let of = |service| {
        let slo = Slo { success_ratio: Some(0.8), ..slo() };
        let overload = found(&Made { slo, ..Made::of(service) });
        (overload.class, overload.doubt)
    };
    // 15 % are answered with 404 by design.
    assert_eq!(of(|| missing(shedding())), (OverloadClass::Graceful, None));
    assert_eq!(of(|| missing(shedding_beyond(f64::INFINITY))), (OverloadClass::NotOverloaded, None));
    let strict = found(&Made::of(|| missing(shedding())));
    assert_eq!(strict.doubt, Some(OverloadDoubt::RateNotHeld));
}

/// It has nothing to give to 15 % of the requests that it serves.
fn missing(mut service: Service) -> Service {
    Box::new(move |rate, sec| {
        let slot = service(rate, sec);
        Slot { good: 0.85 * slot.good, refused: slot.refused + 0.15 * slot.good, ..slot }
    })
}

#[test]
fn a_ramp_may_help_where_a_jump_does_harm() {
    let overload = overload(startled);
    assert_eq!(overload.ramp, Some(RampEffect::Helps));
    assert_eq!(overload.jump_to_the_same().unwrap().outcome, OverloadOutcome::Lost);
    assert_eq!(overload.ramped().unwrap().outcome, OverloadOutcome::Kept);
}

#[test]
fn a_target_may_keep_up_in_a_ramp_with_what_it_does_not_answer_after_a_jump() {
    let lost = overload(|| growing(0.0));
    assert_eq!((lost.class, lost.at_factor), (OverloadClass::Collapses, Some(2.0)));
    assert_eq!(lost.ramp, Some(RampEffect::KeepsUp));
    let kept = overload(|| growing(CAPACITY));
    assert_eq!(kept.class, OverloadClass::Graceful, "it was overloaded by the jump");
    assert_eq!(kept.ramp, Some(RampEffect::KeepsUp));
}

#[test]
fn a_generator_that_was_the_limit_says_nothing_of_the_target() {
    let overload = found(&Made { busy: 0.97, ..Made::of(queueing) });
    assert_eq!((overload.class, overload.doubt), (OverloadClass::Unknown, Some(OverloadDoubt::Generator)));
}

#[test]
fn a_rate_that_does_not_hold_cannot_be_overloaded() {
    let findings = findings(&Made::of(|| wasteful_below(800.0)).run());
    let overload = findings.overload.as_ref().unwrap();
    assert_eq!((overload.class, overload.doubt), (OverloadClass::Unknown, Some(OverloadDoubt::RateNotHeld)));
    assert_eq!(protection(&findings), None, "and it does not protect");
}

/// Its capacity is lower than what is said to hold.
fn wasteful_below(capacity: f64) -> Service {
    Box::new(move |rate, sec| {
        let good = rate.min(capacity);
        Slot { good: good * sec, refused: (rate - good) * sec, ..Slot::default() }
    })
}

#[test]
fn too_few_requests_decide_nothing() {
    let mut made = Made { rate: 10.0, ..Made::of(shedding) };
    (made.order.rate_per_sec, made.order.hold) = (Some(10.0), Some(Duration::from_secs(8)));
    let overload = found(&made);
    assert_eq!((overload.class, overload.doubt), (OverloadClass::Unknown, Some(OverloadDoubt::TooFew)));
    assert_eq!(overload.held_per_sec, Some(10.0), "and contradict nothing");
}

#[test]
fn a_service_of_few_requests_is_not_called_stuck_before_it_can_be_seen_to_be_back() {
    let at_30 = |service, base| {
        let mut made = Made { rate: 30.0, ..Made::of(service) };
        made.order = OverloadSpec { rate_per_sec: Some(30.0), base, ..made.order };
        found(&made)
    };
    // A window of 50 requests takes more than four seconds.
    let overload = at_30(|| shedding_beyond(40.0), Some(0.4));
    assert_eq!(overload.class, OverloadClass::Graceful);
    assert!(overload.steps.iter().all(|step| matches!(step.recovery, Recovery::After { .. })));
    let queued = at_30(|| queueing_beyond(31.0), None);
    assert_eq!(queued.class, OverloadClass::Collapses, "{:?}", queued.steps.iter().map(|step| step.recovery));
    assert_eq!(at_30(stuck, None).class, OverloadClass::NotOverloaded);
    let stuck = at_30(|| stuck_beyond(31.0), None);
    assert_eq!(stuck.class, OverloadClass::Metastable);
}

#[test]
fn a_watch_of_less_than_three_windows_says_nothing_of_the_recovery() {
    let mut made = Made::of(stuck);
    made.order = OverloadSpec { watch: Some(Duration::from_secs(2)), ..made.order };
    assert_eq!(found(&made).steps[0].recovery, Recovery::Unknown);
}

#[test]
fn a_limit_of_the_median_lets_half_of_the_requests_be_late() {
    let half_late = || -> Service {
        Box::new(|rate, sec| {
            let good = 0.7 * rate.min(CAPACITY);
            Slot {
                good: good * sec,
                late: 0.3 * rate.min(CAPACITY) * sec,
                refused: (rate - CAPACITY).max(0.0) * sec,
                ..Slot::default()
            }
        })
    };
    let mut run = Made::of(half_late).run();
    let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
    assert_eq!(findings(&run).overload.unwrap().doubt, Some(OverloadDoubt::RateNotHeld));
    plan.slo.latency = vec![LatencyLimit { percent: 50.0, limit_ms: 100.0 }];
    run.manifest.plan = plan.to_json();
    let overload = findings(&run).overload.unwrap();
    assert_eq!((overload.class, overload.doubt), (OverloadClass::Graceful, None));
}

#[test]
fn few_requests_of_which_most_are_bad_contradict_the_rate() {
    let mut made = Made { rate: 10.0, ..Made::of(|| wasteful_below(5.0)) };
    made.order.rate_per_sec = Some(10.0);
    let overload = found(&made);
    assert_eq!((overload.doubt, overload.held_per_sec), (Some(OverloadDoubt::RateNotHeld), None));
}

#[test]
fn what_was_measured_before_an_interruption_is_kept() {
    // In the middle of the second overload.
    let cut = |service| found(&Made { cut_sec: 13.0 + 26.6 + 6.0, ..Made::of(service) });
    let graceful = cut(shedding);
    assert_eq!((graceful.class, graceful.doubt), (OverloadClass::Unknown, Some(OverloadDoubt::Interrupted)));
    assert_eq!((graceful.steps.len(), graceful.steps[0].outcome), (2, OverloadOutcome::Kept));
    let early = found(&Made { cut_sec: 13.0 + 26.6 + 3.0, ..Made::of(shedding) });
    assert_eq!(early.steps[1].kept, None, "of its second half there is nothing");
    let collapsed = cut(stuck);
    assert_eq!(collapsed.class, OverloadClass::Metastable, "the first overload shows it");
    assert_eq!(collapsed.steps[1].recovery, Recovery::Unknown);
}

#[test]
fn a_base_that_does_not_hold_is_not_blamed_on_the_overload() {
    let sick = || -> Service {
        // Well at the rate itself, and at nothing else.
        Box::new(|rate, sec| {
            let good = if (rate - RATE).abs() < 1.0 { rate } else { 0.3 * rate };
            Slot { good: good * sec, timed_out: (rate - good) * sec, ..Slot::default() }
        })
    };
    let overload = overload(sick);
    assert_eq!((overload.class, overload.doubt), (OverloadClass::Unknown, Some(OverloadDoubt::Base)));
    assert!(overload.steps.iter().all(|step| step.recovery == Recovery::Unknown));
}

#[test]
fn a_slow_service_is_well_at_the_base_although_its_first_answers_take_a_while() {
    let mut made = Made { slo: within(5000.0), ..Made::of(|| slowed(shedding(), 2.0)) };
    made.order.hold = Some(Duration::from_secs(8));
    let overload = found(&made);
    let steps: Vec<_> = overload.steps.iter().map(|step| (step.outcome, step.recovery)).collect();
    assert_eq!((overload.class, overload.doubt), (OverloadClass::Graceful, None), "{steps:?}");
    // Answers of the overload come for two more seconds.
    assert!(
        steps.iter().all(|step| *step == (OverloadOutcome::Kept, Recovery::After { sec: 2.0 })),
        "{steps:?}"
    );
}

#[test]
fn a_watch_ends_a_step_when_the_recorded_run_shows_goodput_back_and_in_any_order_of_frames() {
    let run = Made::of(queueing).run();
    let overload = findings(&run).overload.unwrap();
    for step in &overload.steps {
        let recorded = run.steps.iter().find(|known| known.index == step.index).unwrap();
        let ends_sec: f64 = recorded.stages[..recorded.stages.len() - 1]
            .iter()
            .map(|stage| Duration::from_nanos(stage.span_ns).as_secs_f64())
            .sum();
        let Recovery::After { sec } = step.recovery else { panic!("{:?}", step.recovery) };
        let frames: Vec<&Frame> = run.frames_of(step.index).collect();
        for backwards in [false, true] {
            let mut watch = RecoveryWatch::new(&recorded.stages, &slo(), WORKERS as usize).unwrap();
            let back = frames.chunks(WORKERS as usize).find(|both| {
                let mut both = both.to_vec();
                if backwards {
                    both.reverse();
                }
                both.into_iter().for_each(|frame| watch.add(frame).unwrap());
                watch.is_back()
            });
            let seen_ns = back.unwrap()[0].head.ended_ns - recorded.began_ns;
            // Three windows of a second later, and the interval that shows that the last of them is whole.
            let expected_sec = ends_sec + sec + 3.0;
            let seen_sec = Duration::from_nanos(seen_ns).as_secs_f64();
            assert!((expected_sec..=expected_sec + 0.21).contains(&seen_sec), "{seen_sec} {expected_sec}");
        }
    }
    assert!(RecoveryWatch::new(&run.steps[0].stages, &slo(), 2).is_none(), "nothing follows the rate itself");
}

#[test]
fn a_search_without_a_rate_that_holds_leaves_nothing_to_overload() {
    let mut made = Made::of(shedding);
    made.order.rate_per_sec = None;
    let overload = found(&made);
    assert_eq!((overload.class, overload.doubt), (OverloadClass::Unknown, Some(OverloadDoubt::NoRate)));
}

#[test]
fn the_load_that_holds_is_the_answer_and_its_limits_follow_from_it() {
    let findings = findings(&Made::of(shedding).run());
    assert_eq!(findings.steps.len(), 1, "overloads are no steps of the load");
    let limits = protection(&findings).unwrap();
    assert_eq!((limits.rate_per_sec, limits.concurrency, limits.burst), (1000.0, 50, 25));
    assert!((limits.in_progress - 12.0).abs() < 0.2, "{limits:?}");
}
