//! Verdicts that are tried: what limits is raised, and the level of the plateau is loaded again.

use plimsoll_analyze::{
    Advice, Bound, Confidence, Findings, Flaw, Limit, Observation, Place, ProofAttempt, ProofOutcome, Raise,
    UntriedVerdict, plan_proof,
};
use plimsoll_plan::{Cap, Capacity, Plan, PlanHost};
use plimsoll_record::{HostSample, Reading, Run, Source, Step, StepEnd};

use crate::synthetic::{INTERVAL_NS, Level, findings};
use crate::watch::{Watch, pool_levels};

/// The level of the plateau, and its throughput.
const CONNECTIONS: u32 = 128;
const PLATEAU_PER_SEC: f64 = 3_200.0;

/// A ladder of 1 to 128 connections and one more step of 128, as if it were the ladder's. Of what requests take of `web`
/// nothing is left at the plateau.
fn loaded(again: Level) -> Watch {
    let mut levels = pool_levels(16.0, 0.005, CONNECTIONS);
    // The highest throughput, however little, is that of the level that is loaded again.
    levels[7].throughput_per_sec = 1.001 * PLATEAU_PER_SEC;
    levels.push(again);
    Watch::over(&levels)
}

fn on_web(again: Level) -> Watch {
    loaded(again).host("web", 0.5, 152e-6).process("web", "7 nginx", 152e-6)
}

fn again(per_sec: f64) -> Level {
    Level { intervals: 60, ..Level::at(CONNECTIONS, per_sec) }
}

/// The hosts as a lab's plan has them.
fn with_caps(run: &mut Run, cores: f64) {
    let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
    let capacity = Capacity { cores: Some(cores), ..Capacity::default() };
    let address = None;
    plan.hosts = vec![PlanHost { name: "web".to_owned(), tier: None, address, probes: Vec::new(), capacity }];
    run.manifest.plan = plan.to_json();
}

/// The run of these samples with this between its last two steps.
fn tried(watch: Watch, reading: Reading) -> Run {
    let mut run = watch.run();
    with_caps(&mut run, 0.5);
    // The last step begins when the one before it is drained.
    let at_ns = run.steps[8].began_ns;
    run.hosts.push(HostSample {
        host: "web".into(),
        source: Source::Intervention.into(),
        subject: "cores".into(),
        began_ns: at_ns - INTERVAL_NS / 2,
        ended_ns: at_ns,
        reading,
    });
    run
}

fn raise() -> Raise {
    Raise { host: "web".to_owned(), cap: Cap::Cores, before: 500, after: 750 }
}

/// What is found where the second load makes so many requests a second.
fn moved_to(per_sec: f64) -> Findings {
    findings(&tried(on_web(again(per_sec)), raise().reading()))
}

fn flaw(findings: &Findings) -> Option<Flaw> {
    findings.verdict.proof().unwrap().flaw
}

fn outcome(findings: &Findings) -> (Limit, Confidence, ProofOutcome) {
    let verdict = &findings.verdict;
    (verdict.limit, verdict.confidence, verdict.proof().unwrap().outcome)
}

#[test]
fn throughput_that_moves_as_predicted_proves_the_verdict() {
    let found = moved_to(1.5 * PLATEAU_PER_SEC);
    assert_eq!(outcome(&found), (Limit::Cpu, Confidence::Proven, ProofOutcome::Proven));
    let verdict = &found.verdict;
    let proof = verdict.proof().unwrap();
    assert_eq!((proof.raise.clone(), proof.connections, proof.predicted_ratio), (raise(), CONNECTIONS, 1.5));
    let (low, high) = proof.ratio.unwrap().interval.unwrap();
    assert!(low < 1.5 && 1.49 < high, "{low} to {high}");
    assert_eq!(proof.bound, None);
    assert!(verdict.evidence.iter().any(|row| row.observed == Observation::Raised(raise())), "{verdict:?}");
}

#[test]
fn a_little_less_than_predicted_is_as_predicted() {
    assert_eq!(outcome(&moved_to(1.46 * PLATEAU_PER_SEC)).1, Confidence::Proven);
}

#[test]
fn throughput_that_does_not_move_withdraws_the_verdict_and_says_what_was_tried() {
    let found = moved_to(PLATEAU_PER_SEC);
    assert_eq!(outcome(&found), (Limit::Cpu, Confidence::Unknown, ProofOutcome::Withdrawn));
    assert!(!found.verdict.proof().unwrap().moved());
    assert_eq!(found.verdict.advice, [Advice::SomethingElse]);
}

#[test]
fn throughput_that_moves_less_than_predicted_leaves_the_verdict_inferred() {
    let found = moved_to(1.2 * PLATEAU_PER_SEC);
    assert_eq!(outcome(&found), (Limit::Cpu, Confidence::Inferred, ProofOutcome::Withdrawn));
    assert!(found.verdict.proof().unwrap().moved());
}

#[test]
fn no_more_is_predicted_than_the_next_limit_allows() {
    let watch = |per_sec| on_web(again(per_sec)).host("api", 1.0, 250e-6).process("api", "8 java", 250e-6);
    let found = findings(&tried(watch(1.23 * PLATEAU_PER_SEC), raise().reading()));
    assert_eq!(outcome(&found), (Limit::Cpu, Confidence::Proven, ProofOutcome::Proven));
    let proof = found.verdict.proof().unwrap();
    assert!((1.2..1.26).contains(&proof.predicted_ratio), "{proof:?}");
    assert_eq!(proof.bound, Some(Bound::Next { limit: Limit::Cpu, place: Place::host("api") }));
}

#[test]
fn what_is_measured_of_the_first_load_is_the_same_with_and_without_the_second() {
    let mut alone = tried(on_web(again(4_000.0)), raise().reading());
    let both = findings(&alone);
    let at_ns = alone.hosts.last().unwrap().began_ns;
    alone.steps.pop();
    alone.frames.retain(|frame| frame.head.step < 8);
    alone.hosts.retain(|sample| sample.began_ns < at_ns);
    let alone = findings(&alone);
    assert_eq!((&both.steps, &both.knee, &both.usl), (&alone.steps, &alone.knee, &alone.usl));
    assert_eq!((&both.resources, both.verdict.limit), (&alone.resources, alone.verdict.limit));
}

#[test]
fn a_second_load_that_was_cut_short_or_never_made_decides_nothing() {
    let cut = Level { end: StepEnd::Cut, ..again(PLATEAU_PER_SEC) };
    let found = findings(&tried(on_web(cut), raise().reading()));
    assert_eq!(outcome(&found), (Limit::Cpu, Confidence::Measured, ProofOutcome::Undecided));
    assert_eq!(flaw(&found), Some(Flaw::CutShort));
    let mut never = tried(on_web(again(PLATEAU_PER_SEC)), raise().reading());
    never.steps.pop();
    let found = findings(&never);
    assert_eq!(outcome(&found), (Limit::Cpu, Confidence::Measured, ProofOutcome::Undecided));
    assert_eq!(flaw(&found), Some(Flaw::NotMade));
}

#[test]
fn a_load_that_the_generator_held_back_decides_nothing() {
    let busy = Level { busy: 0.99, ..again(PLATEAU_PER_SEC) };
    let found = findings(&tried(on_web(busy), raise().reading()));
    assert_eq!(outcome(&found), (Limit::Cpu, Confidence::Measured, ProofOutcome::Undecided));
    assert_eq!(flaw(&found), Some(Flaw::Generator));
}

#[test]
fn a_cap_that_could_not_be_raised_is_reported_and_changes_nothing() {
    let failed = Reading::Failed("this machine has no more than its 2 cores".to_owned());
    let verdict = findings(&tried(on_web(again(PLATEAU_PER_SEC)), failed)).verdict;
    let why = "this machine has no more than its 2 cores".to_owned();
    assert_eq!(
        (verdict.confidence, verdict.proof_attempt),
        (Confidence::Measured, Some(ProofAttempt::NotMade(why)))
    );
}

/// A run without a second load, with `web` capped.
fn plain(watch: Watch) -> Findings {
    let mut run = watch.run();
    with_caps(&mut run, 0.5);
    findings(&run)
}

#[test]
fn half_as_much_again_of_what_limits_is_to_be_given() {
    let found =
        plain(Watch::pool(16.0, 0.005, 128).host("web", 0.5, 152e-6).process("web", "7 nginx", 152e-6));
    let (raised, step) = plan_proof(&found).unwrap();
    assert_eq!(raised, raise());
    let repeated: &Step = &Watch::pool(16.0, 0.005, 128).run().steps[step as usize];
    assert_eq!(repeated.connections, found.knee.unwrap().plateau_connections);
}

#[test]
fn what_no_cap_can_raise_or_would_show_nothing_is_not_tried() {
    let why = |watch: Watch| plan_proof(&plain(watch)).unwrap_err();
    let web = || Watch::pool(16.0, 0.005, 128).host("web", 0.5, 152e-6).process("web", "7 nginx", 152e-6);
    let thread = Watch::pool(16.0, 0.005, 128).host("web", 4.0, 305e-6).process("web", "9 redis", 305e-6);
    let place = Place::process("web", "redis");
    assert_eq!(why(thread), UntriedVerdict::NoCap { limit: Limit::Thread, place });
    let elsewhere = Watch::pool(16.0, 0.005, 128).host("api", 0.5, 152e-6).process("api", "7 nginx", 152e-6);
    assert_eq!(why(elsewhere), UntriedVerdict::NotCapped { host: "api".to_owned(), cap: Cap::Cores });
    let near = web().host("api", 1.0, 286e-6).process("api", "8 java", 286e-6);
    let bound = Bound::Next { limit: Limit::Cpu, place: Place::host("api") };
    assert!(matches!(why(near), UntriedVerdict::Bounded { bound: next, .. } if next == bound));
    let growing = Watch::over(&pool_levels(1e6, 0.005, 16)).host("web", 0.5, 1e-6);
    assert_eq!(why(growing), UntriedVerdict::NoLevel);
}
