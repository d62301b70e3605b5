//! What the runs of one file say together.

use plimsoll_analyze::{
    Comparison, Findings, Goal, MachinePlan, RequestKind, RunRows, StepOutcome, TierRow, TierScaling,
    compare, observe_runs, plan_machines, request_kinds, run_rows, scalings, step_outcomes, tier_rows,
};
use plimsoll_plan::PlanFile;

use crate::lab_run::{CompletedRun, LabRuns};

/// What the runs of one file say together.
#[derive(Debug, Default)]
pub struct Conclusions<'a> {
    /// The rows of the file, if it makes any.
    pub rows: Option<RunRows>,
    pub comparisons: Vec<Comparisons<'a>>,
    /// The tiers of which runs differ in the number of machines; `None` if there are none.
    pub tiers: Option<TierScalings>,
    /// Machines for the rate that the file names; `None` if it names none.
    pub machines: Option<MachineNeed>,
}

/// Runs compared with one of them.
#[derive(Debug)]
pub struct Comparisons<'a> {
    pub against: String,
    /// The reference; `None` if it was not run, or none of its requests ended.
    pub reference: Option<Side<'a>>,
    /// The other runs, each with its comparison; that is `None` if none of its requests ended.
    pub others: Vec<(Side<'a>, Option<Comparison>)>,
}

/// One side of a comparison.
#[derive(Debug, Clone)]
pub struct Side<'a> {
    pub run: &'a CompletedRun<'a>,
    pub steps: Vec<StepOutcome>,
}

/// Tiers side by side.
#[derive(Debug, Clone)]
pub struct TierScalings {
    pub rows: Vec<TierRow>,
    /// One scaling for each tier whose number of machines differs.
    pub scalings: Vec<TierScaling>,
    /// The requests that the runs were made of.
    pub kinds: Vec<RequestKind>,
}

impl TierScalings {
    /// The tiers of these runs; without scalings if no tier differs in its machines between runs of the same requests.
    pub fn of_runs(runs: &[(&str, &Findings)]) -> Self {
        let rows = tier_rows(runs);
        let scalings = scalings(&rows);
        Self { rows, scalings, kinds: request_kinds(runs) }
    }
}

/// The machines for a rate.
#[derive(Debug, Clone)]
pub enum MachineNeed {
    /// The number of each tier.
    Plan(Box<MachinePlan>),
    /// No host was sampled, or no run carried what it was sent, so that nothing says what a request uses.
    NoHostSampled,
}

/// The conclusions from the runs of a file.
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
    /// Every other run compared with that of the variant, or of the file's own plan. References in `before` were compared
    /// with it already.
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
