//! What the runs of one file say together.

mod comparison;
mod profiles;
mod rows;
mod switches;

use plimsoll_analyze::{Findings, Goal, observe_runs, plan_machines, tier_rows};
use plimsoll_plan::{MachineGoal, PlanFile};
use plimsoll_report::json::{CaseDocument, LabRunDocument, PlanDocument, TiersDocument};
use plimsoll_report::{NoProfile, ProfiledRun, text};

use super::outcome::Outcome;
use crate::command::tiers;
use crate::files::Output;

pub(super) use switches::Ablating;

/// A run of the file.
#[derive(Debug)]
pub(super) struct Made<'a> {
    /// The variant; `None` for the file's own plan.
    pub(super) variant: Option<&'a str>,
    /// What it is called: the variant's name, or the file's.
    pub(super) name: &'a str,
    /// What was run.
    pub(super) file: &'a PlanFile,
    pub(super) findings: Findings,
    /// Its CPU profile, if one was asked for.
    pub(super) profiled: Option<Result<ProfiledRun, NoProfile>>,
}

/// The sections after the table, as they come.
#[derive(Debug)]
pub(super) struct Conclusions {
    /// What the names of figures begin with.
    stem: String,
    /// All of it as JSON.
    pub(super) document: LabRunDocument,
    /// The sections as text, each with its heading.
    pub(super) texts: Vec<String>,
    /// Figures, or why they could not be drawn.
    pub(super) figures: Vec<anyhow::Result<Vec<Output>>>,
}

impl Conclusions {
    /// Nothing but what came of each plan.
    pub(super) fn of(outcomes: &[Outcome], stem: String) -> Self {
        let runs: Vec<CaseDocument> = outcomes.iter().map(Outcome::document).collect();
        let document = LabRunDocument::new(runs);
        Self { stem, document, texts: Vec::new(), figures: Vec::new() }
    }

    fn section(&mut self, heading: &str, text: &str) {
        let line = "=".repeat(heading.chars().count());
        self.texts.push(format!("\n{heading}\n{line}\n\n{text}"));
    }

    /// All that these runs say together.
    pub(super) fn conclude(&mut self, file: &PlanFile, name: &str, runs: &[Made<'_>]) {
        if runs.is_empty() {
            return;
        }
        let references = file.compare.as_ref().map_or(&[][..], |compare| &compare.against);
        for (index, against) in references.iter().enumerate() {
            self.comparison((against.as_deref(), &references[..index]), name, runs);
        }
        self.profiles(runs);
        self.tiers(name, runs);
        if let Some(goal) = file.machines {
            self.machines(goal, runs);
        }
    }

    /// As `plimsoll tiers` has it, where runs of the same requests differ in the machines of a tier.
    fn tiers(&mut self, name: &str, runs: &[Made<'_>]) {
        let (mut rows, mut scalings) = (Vec::new(), Vec::new());
        for group in groups(runs) {
            let own = tier_rows(&group);
            scalings.extend(plimsoll_analyze::scalings(&own));
            rows.extend(own);
        }
        if scalings.is_empty() {
            return;
        }
        self.section("Tiers", &text::tier_rows(&rows));
        self.figures.push(tiers::figures(&self.stem, name, &scalings));
        self.document.tiers = Some(TiersDocument::new(&rows, &scalings));
    }

    /// As `plimsoll plan` has it.
    fn machines(&mut self, goal: MachineGoal, runs: &[Made<'_>]) {
        let observed = observe_runs(&groups(runs));
        if observed.tiers.is_empty() {
            self.section("Machines", "No host was looked at: nothing tells what a request uses.\n");
            return;
        }
        let goal = Goal { target_per_sec: goal.target_per_sec, utilisation: goal.utilisation };
        let plan = plan_machines(&observed, goal);
        self.section("Machines", &text::machines(&plan, None));
        self.document.machines = Some(PlanDocument::new(&plan, None));
    }
}

/// The findings of a run under its name.
type NamedRun<'a> = (&'a str, &'a Findings);

/// Runs of the same requests together, in the order of the first of each.
fn groups<'a>(runs: &'a [Made<'_>]) -> Vec<Vec<NamedRun<'a>>> {
    let mut groups: Vec<(Option<&str>, Vec<NamedRun<'_>>)> = Vec::new();
    for run in runs {
        let group = run.file.row.as_ref().and_then(|row| row.group.as_deref());
        let one = (run.name, &run.findings);
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, runs)) => runs.push(one),
            None => groups.push((group, vec![one])),
        }
    }
    groups.into_iter().map(|(_, runs)| runs).collect()
}
