//! Conclusions from all runs of one file together.

use plimsoll_analyze::{
    Comparison, Findings, Goal, MachinePlan, RequestKind, RunRows, StepOutcome, TierRow, TierScaling,
    compare, observe_runs, plan_machines, request_kinds, run_rows, scalings, step_outcomes, tier_rows,
};
use plimsoll_plan::PlanFile;

use crate::lab_run::{CompletedRun, LabRuns};

/// What the runs of one file show together.
#[derive(Debug, Default)]
pub struct Conclusions<'a> {
    /// The table rows of the file; `None` if it makes none.
    pub rows: Option<RunRows>,
    pub comparisons: Vec<Comparisons<'a>>,
    /// The tiers with different numbers of machines across runs; `None` if there are none.
    pub tiers: Option<TierScalings>,
    /// The machines for the file's goal rate; `None` if the file names none.
    pub machines: Option<MachineNeed>,
}

/// Comparisons of all other runs with one reference.
#[derive(Debug)]
pub struct Comparisons<'a> {
    pub against: String,
    /// The reference; `None` if it was not run, or no request of it ended.
    pub reference: Option<Side<'a>>,
    /// The other runs, each with its comparison, which is `None` if no request of the run ended.
    pub others: Vec<(Side<'a>, Option<Comparison>)>,
}

/// One side of a comparison.
#[derive(Debug, Clone)]
pub struct Side<'a> {
    pub run: &'a CompletedRun<'a>,
    pub steps: Vec<StepOutcome>,
}

/// Tiers compared across runs.
#[derive(Debug, Clone)]
pub struct TierScalings {
    pub rows: Vec<TierRow>,
    /// One scaling for each tier whose number of machines differs between runs.
    pub scalings: Vec<TierScaling>,
    /// The kinds of requests that the runs sent.
    pub kinds: Vec<RequestKind>,
}

impl TierScalings {
    /// The tiers of these runs. `scalings` is empty if no tier's number of machines differs between runs of the same requests.
    pub fn of_runs(runs: &[(&str, &Findings)]) -> Self {
        let rows = tier_rows(runs);
        let scalings = scalings(&rows);
        Self { rows, scalings, kinds: request_kinds(runs) }
    }
}

/// The machines needed for a rate.
#[derive(Debug, Clone)]
pub enum MachineNeed {
    /// The number of machines for each tier.
    Plan(Box<MachinePlan>),
    /// No host was sampled, or no run carried its load, so the cost of a request is unknown.
    NoHostSampled,
}

/// Draws the conclusions from the runs of a file.
pub fn conclude<'a>(file: &PlanFile, name: &str, runs: &'a LabRuns<'a>) -> Conclusions<'a> {
    let rows: Vec<_> = runs.outcomes.iter().filter_map(|outcome| outcome.judged()?.row.clone()).collect();
    let rows = (!rows.is_empty()).then(|| run_rows(&rows));
    if runs.completed.is_empty() {
        return Conclusions { rows, ..Conclusions::default() };
    }
    let references = file.compare.as_ref().map_or(&[][..], |compare| &compare.against);
    let comparisons = references.iter().enumerate().map(|(index, against)| {
        Comparisons::new(against.as_deref(), &references[..index], name, &runs.completed)
    });
    Conclusions {
        rows,
        comparisons: comparisons.collect(),
        tiers: tiers(&runs.completed),
        machines: file.machines.map(|goal| {
            let goal = Goal { target_per_sec: goal.target_per_sec, utilisation: goal.utilisation };
            machines(goal, &runs.completed)
        }),
    }
}

impl<'a> Comparisons<'a> {
    /// Compares every other run with that of the variant, or of the file's own plan for `None`. References in `before` are left
    /// out, because they were already compared with it.
    fn new(
        against: Option<&str>,
        before: &[Option<String>],
        own: &str,
        runs: &'a [CompletedRun<'a>],
    ) -> Self {
        let is_new = |run: &&CompletedRun<'_>| !before.iter().any(|known| known.as_deref() == run.variant);
        let sides = runs.iter().filter(is_new).map(|run| Side { run, steps: step_outcomes(run.findings()) });
        let (references, others): (Vec<_>, Vec<_>) = sides.partition(|side| side.run.variant == against);
        let reference = references.into_iter().next().filter(|side| !side.steps.is_empty());
        let compared = |side: Side<'a>| {
            let known = reference.as_ref().filter(|_| !side.steps.is_empty());
            let comparison = known.map(|reference| compare(&side.steps, &reference.steps));
            (side, comparison)
        };
        let others = others.into_iter().map(compared).collect();
        Self { against: against.unwrap_or(own).to_owned(), reference, others }
    }
}

fn tiers(runs: &[CompletedRun<'_>]) -> Option<TierScalings> {
    let tiers = TierScalings::of_runs(&named(runs));
    (!tiers.scalings.is_empty()).then_some(tiers)
}

fn machines(goal: Goal, runs: &[CompletedRun<'_>]) -> MachineNeed {
    let observed = observe_runs(&named(runs));
    if observed.tiers.is_empty() {
        return MachineNeed::NoHostSampled;
    }
    MachineNeed::Plan(Box::new(plan_machines(&observed, goal)))
}

fn named<'a>(runs: &'a [CompletedRun<'_>]) -> Vec<(&'a str, &'a Findings)> {
    runs.iter().map(|run| (run.name, run.findings())).collect()
}
