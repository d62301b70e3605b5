use plimsoll_plan::{ArrivalProcess, LoadSpec, OverloadOrder, PlanSpec, RateProfile, RateSearchOrder};
use plimsoll_record::{
    Counts, EncodedHistogram, Event, FormatVersion, Frame, FrameHead, Limits, Machine, Manifest, Phase,
    Preflight, RateStage, RunCommand, Tags, WorkerTime,
};

use super::*;

const SECOND: u64 = 1_000_000_000;

fn spec(load: LoadSpec) -> PlanSpec {
    PlanSpec {
        timeout: Duration::from_secs(1),
        connections_max: Some(64),
        slo: Slo::reference(),
        ..PlanSpec::new("http://192.0.2.1/", load)
    }
}

pub(crate) fn ladder(steps: Option<Vec<u64>>) -> Plan {
    spec(LoadSpec::Ladder { steps, step_limit: None, budget: None }).freeze().unwrap()
}

fn manifest(plan: &Plan) -> Manifest {
    Manifest {
        format: FormatVersion::CURRENT,
        name: String::new(),
        command: RunCommand::Sweep,
        command_line: None,
        plan: plan.to_json(),
        plan_hash: String::new(),
        tool_version: String::new(),
        machine: Machine {
            hostname: String::new(),
            kernel: String::new(),
            architecture: String::new(),
            limits: Limits { descriptors: 1000, ports: 1000, cores: 1 },
            lowered_to: None,
            calibration: None,
        },
        preflight: Preflight {
            addresses: Vec::new(),
            address: String::new(),
            local: false,
            resolve_ns: 0,
            connect_ns: 0,
            first: None,
            streams_max: None,
        },
        driver: String::new(),
        protocol: String::new(),
        tls: None,
        started_unix_ms: 0,
        tags: Tags::default(),
        sealed: false,
    }
}

/// A run of this plan, whose steps each have ten seconds.
pub(crate) struct Sample {
    pub(crate) plan: Plan,
    pub(crate) run: Run,
}

impl Sample {
    pub(crate) fn new(plan: Plan) -> Self {
        let run = Run::begun(manifest(&plan));
        Self { plan, run }
    }

    pub(crate) fn made(&self) -> Made<'_> {
        Made::new(&self.run, &self.plan)
    }

    /// The next step, in which so many requests were answered each second.
    pub(crate) fn step(mut self, connections: u32, per_sec: u64, end: StepEnd) -> Self {
        let index = self.run.steps.len() as u32;
        let began_ns = u64::from(index) * 10 * SECOND;
        self.run.steps.push(Step {
            index,
            connections,
            depth: 1,
            rate_per_sec: None,
            stages: Vec::new(),
            began_ns,
            ended_ns: began_ns + 10 * SECOND,
            drained_ns: began_ns + 10 * SECOND,
            end,
            generators: Vec::new(),
        });
        let frames = (0..10).map(|interval| frame(index, interval, began_ns, per_sec));
        self.run.frames.extend(frames);
        self
    }

    /// The last step offers this rate, which goes through these stages.
    fn at_rate(mut self, rate_per_sec: f64, stages: Vec<RateStage>) -> Self {
        let last = self.run.steps.last_mut().unwrap();
        (last.rate_per_sec, last.stages) = (Some(rate_per_sec), stages);
        self
    }

    fn next(&self) -> Option<u32> {
        let Load::Ladder { steps, .. } = &self.plan.load else { panic!("no ladder") };
        self.made().next_of_ladder(steps)
    }
}

fn frame(step: u32, interval: u32, began_ns: u64, per_sec: u64) -> Frame {
    let began_ns = began_ns + u64::from(interval) * SECOND;
    let counts = Counts { completed: per_sec, ok: per_sec, ..Counts::default() };
    let head = FrameHead {
        step,
        worker: 0,
        request: 0,
        interval,
        phase: Phase::Measure,
        began_ns,
        ended_ns: began_ns + SECOND,
        counts,
        in_flight: 1,
        backlog: 0,
        connections: 1,
        time: WorkerTime::default(),
    };
    let none = EncodedHistogram::default;
    Frame {
        head,
        latency: none(),
        unsuccessful: none(),
        service: None,
        send_lag: none(),
        connect: none(),
        handshake: none(),
        traces: Vec::new(),
    }
}

#[test]
fn a_fixed_ladder_goes_on_after_its_whole_steps_and_makes_one_again_that_was_cut() {
    let begun = Sample::new(ladder(Some(vec![2, 4, 8])));
    assert_eq!(begun.next(), Some(2), "a run that begins has nothing");
    let whole = begun.step(2, 100, StepEnd::TimeLimit);
    assert_eq!(whole.next(), Some(4));
    let cut = whole.step(4, 200, StepEnd::Cut);
    assert_eq!((cut.next(), cut.made().end()), (Some(4), None));
    let again = cut.step(4, 200, StepEnd::Steady);
    assert_eq!(again.next(), Some(8));
    assert_eq!(again.step(8, 300, StepEnd::Steady).next(), None);
}

#[test]
fn steps_that_the_machine_has_no_connections_for_stay_left_out() {
    let mut begun = Sample::new(ladder(Some(vec![2, 4, 8])));
    let resource = plimsoll_record::ConnectionResource::Ports;
    begun.run.manifest.machine.lowered_to = Some(plimsoll_record::LoweredTo { connections: 4, resource });
    let Load::Ladder { steps, .. } = &begun.plan.load else { panic!("no ladder") };
    assert_eq!(begun.made().within_limits(steps), LadderSteps::Fixed(vec![2, 4]));
}

#[test]
fn a_doubling_ladder_goes_on_to_its_plateau_and_a_step_that_was_cut_shows_none() {
    let rising = Sample::new(ladder(None)).step(1, 100, StepEnd::Steady).step(2, 200, StepEnd::Steady);
    assert_eq!(rising.next(), Some(4));
    let flat = rising.step(4, 201, StepEnd::Steady).step(8, 90, StepEnd::Cut);
    assert_eq!(flat.next(), Some(8), "one step without gain is no plateau");
    assert_eq!(flat.step(8, 202, StepEnd::Steady).next(), None);
}

#[test]
fn a_search_and_an_overload_that_were_begun_follow_a_ladder_that_has_ended() {
    let search = Some(RateSearchOrder { tolerance: 0.05 });
    let load = LoadSpec::Ladder { steps: Some(vec![2, 4]), step_limit: None, budget: None };
    let plan = PlanSpec { search, ..spec(load) }.freeze().unwrap();
    let climbing = Sample::new(plan).step(2, 100, StepEnd::Steady);
    assert_eq!(climbing.next(), Some(4));
    let searching = climbing.step(10, 90, StepEnd::Cut).at_rate(90.0, Vec::new());
    assert_eq!(searching.next(), None, "its time was over before the step of 4 connections");
    assert!(searching.made().is_beyond_ladder() && !searching.made().has_overloads());
    assert!(searching.made().is_made_again(&searching.run.steps[1]));
}

#[test]
fn a_search_goes_on_after_a_ladder_that_used_up_its_part_and_not_after_its_own_time() {
    let search = Some(RateSearchOrder { tolerance: 0.05 });
    let load = LoadSpec::Ladder { steps: Some(vec![2, 4]), step_limit: None, budget: None };
    let plan = PlanSpec { search, ..spec(load) }.freeze().unwrap();
    let budget_ended =
        |at_ns| Event { at_ns, kind: EventKind::BudgetEnded, failure: None, text: String::new() };
    let mut climbed = Sample::new(plan).step(2, 100, StepEnd::Steady);
    assert!(climbed.made().is_left());
    climbed.run.events.push(budget_ended(10 * SECOND - 1));
    assert!(climbed.made().is_search_left() && climbed.made().is_left());
    let mut tried = climbed.step(10, 90, StepEnd::Cut).at_rate(90.0, Vec::new());
    assert!(tried.made().is_search_left());
    tried.run.events.push(budget_ended(20 * SECOND));
    assert!(!tried.made().is_left());
}

#[test]
fn overloads_that_were_made_are_counted_without_the_load_before_them() {
    let overload = OverloadOrder {
        rate_per_sec: Some(100.0),
        base: 0.7,
        factors: vec![1.5],
        hold: Duration::from_secs(5),
        settle: Duration::ZERO,
        watch: None,
    };
    let load = LoadSpec::Single {
        connections: None,
        profile: Some(RateProfile::Constant(100.0)),
        arrivals: ArrivalProcess::Constant,
        duration: Some(Duration::from_secs(10)),
        requests_max: None,
    };
    let plan = Plan { overload: Some(overload), ..spec(load).freeze().unwrap() };
    let stages = || vec![RateStage { from_per_sec: 70.0, to_per_sec: 70.0, span_ns: SECOND }];
    let first = Sample::new(plan).step(10, 100, StepEnd::TimeLimit).at_rate(100.0, stages());
    assert_eq!(first.made().overloads(), 0, "it is the load of the plan");
    let second = first.step(10, 100, StepEnd::Steady).at_rate(100.0, stages());
    let third = second.step(10, 100, StepEnd::Cut).at_rate(100.0, stages());
    assert_eq!((third.made().overloads(), third.made().end()), (1, None));
}

#[test]
fn a_load_that_is_the_only_one_of_its_plan_is_not_made_again() {
    let load = LoadSpec::Single {
        connections: Some(2),
        profile: None,
        arrivals: ArrivalProcess::Constant,
        duration: None,
        requests_max: None,
    };
    let cut = Sample::new(spec(load).freeze().unwrap()).step(2, 100, StepEnd::Cut);
    assert_eq!(cut.made().end(), Some(StepEnd::Cut));
}

#[test]
fn nothing_follows_the_loss_of_the_target() {
    let lost = Sample::new(ladder(Some(vec![2, 4]))).step(2, 100, StepEnd::TargetLost);
    assert_eq!(lost.made().end(), Some(StepEnd::TargetLost));
}

#[test]
fn a_pause_without_a_conductor_takes_nothing_of_the_time_of_the_run() {
    let mut run = Sample::new(ladder(Some(vec![2, 4, 8])))
        .step(2, 100, StepEnd::Steady)
        .step(4, 200, StepEnd::Cut)
        .step(4, 200, StepEnd::Steady);
    let later = |step: &mut Step, ns: u64| {
        (step.began_ns, step.drained_ns) = (step.began_ns + ns, step.drained_ns + ns);
    };
    later(&mut run.run.steps[1], 2 * SECOND);
    later(&mut run.run.steps[2], 3600 * SECOND);
    let resumed = |at_ns| Event { at_ns, kind: EventKind::Resumed, failure: None, text: String::new() };
    assert_eq!(run.made().took(), Duration::from_secs(3630));
    run.run.events.push(resumed(15 * SECOND));
    assert_eq!(run.made().took(), Duration::from_secs(3630), "agents made a step meanwhile");
    run.run.events.push(resumed(3000 * SECOND));
    assert_eq!(run.made().took(), Duration::from_secs(32));
}
