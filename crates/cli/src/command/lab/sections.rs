//! The common results of the runs of a lab file: the sections after the table, their JSON and their figures.

use plimsoll_analyze::latency_differences;
use plimsoll_experiment::{
    AblationRuns, Comparisons, CompletedRun, Conclusions, LabRuns, MachineNeed, Side, TierScalings,
};
use plimsoll_report::json::{
    ComparedDocument, ComparisonDocument, LabRunDocument, PlanDocument, ProfileDocument, RunRowsDocument,
    TiersDocument,
};
use plimsoll_report::{NoProfile, Order, PlanView, ProfiledRun, figure, text};

use super::documents::case_document;
use crate::command::ablate::Ledgers;
use crate::command::diff;
use crate::command::tiers;
use crate::files::Output;

/// The number of functions that are shown of each profile; `plimsoll profile --top N` shows more.
const TOP: usize = 20;

#[derive(Debug)]
pub(super) struct Sections {
    /// The beginning of the names of figures.
    stem: String,
    pub(super) document: LabRunDocument,
    /// The sections as text, each with its heading.
    pub(super) texts: Vec<String>,
    /// Figures, or why they could not be drawn.
    pub(super) figures: Vec<anyhow::Result<Vec<Output>>>,
}

/// The CPU profile of a run; `None` if its plan asks for none.
type Profiled = Option<Result<ProfiledRun, NoProfile>>;

impl Sections {
    /// Creates the sections of runs and their conclusions; `name` is that of the file.
    pub(super) fn new(
        name: &str,
        stem: String,
        LabRuns { outcomes, completed }: &LabRuns<'_>,
        conclusions: &Conclusions<'_>,
    ) -> Self {
        let runs = outcomes.iter().map(case_document).collect();
        let document = LabRunDocument::new(runs);
        let mut sections = Self { stem, document, texts: Vec::new(), figures: Vec::new() };
        sections.rows(name, conclusions);
        let overloaded: Vec<_> = completed.iter().map(|run| (run.name, run.findings())).collect();
        let overloads = text::overloads(&overloaded);
        if !overloads.is_empty() {
            sections.section("Overload, run by run", &overloads);
        }
        let profiled: Vec<Profiled> = completed.iter().map(profiled).collect();
        let profile_of = |run: &CompletedRun<'_>| {
            let index = completed.iter().position(|known| known.name == run.name)?;
            profiled[index].as_ref()?.as_ref().ok()
        };
        conclusions.comparisons.iter().for_each(|one| sections.comparison(one, &profile_of));
        sections.profiles(completed, &profiled);
        if let Some(tiers) = &conclusions.tiers {
            sections.tiers(name, tiers);
        }
        match &conclusions.machines {
            None => {}
            Some(MachineNeed::NoHostSampled) => {
                let why = "No host was sampled, or in no run 95 % of the requests succeeded: nothing says what a request uses.\n";
                sections.section("Machines", why);
            }
            Some(MachineNeed::Plan(plan)) => {
                sections.section("Machines", &text::machines(&PlanView::new(plan)));
                sections.document.machines = Some(PlanDocument::new(&PlanView::new(plan)));
            }
        }
        sections
    }

    fn section(&mut self, heading: &str, text: &str) {
        let line = "=".repeat(heading.chars().count());
        self.texts.push(format!("\n{heading}\n{line}\n\n{text}"));
    }

    fn rows(&mut self, name: &str, conclusions: &Conclusions<'_>) {
        let Some(rows) = &conclusions.rows else { return };
        let text = text::conclusions(&rows.found);
        if !text.is_empty() {
            self.texts.push(format!("\n{text}"));
        }
        self.figures.push(row_figures(&self.stem, name, rows));
        self.document.together = Some(RunRowsDocument::new(rows));
    }

    /// Compares each run with the reference, as `plimsoll diff` and `plimsoll profile --diff` compare two.
    fn comparison<'p>(
        &mut self,
        comparisons: &Comparisons<'_>,
        profile_of: &impl Fn(&CompletedRun<'_>) -> Option<&'p ProfiledRun>,
    ) {
        let name = &comparisons.against;
        let heading = format!("Comparison with {name}");
        let Some(reference) = &comparisons.reference else {
            let text = format!(
                "{name} was not run, or none of its requests ended: there is nothing to compare with.\n"
            );
            return self.section(&heading, &text);
        };
        let (mut texts, mut compared) = (Vec::new(), Vec::new());
        for (side, comparison) in &comparisons.others {
            let (a, b) = (side.run, reference.run);
            let Some(comparison) = comparison else {
                texts.push(format!("{}: no request ended: there is nothing to compare.\n", a.name));
                continue;
            };
            let profiles = profile_of(a).zip(profile_of(b));
            texts.push(comparison_text(comparison, a, b, profiles));
            let latency = latency_differences(a.findings(), b.findings());
            let (bound, latency) = (a.findings().lower_bound, latency.as_ref());
            compared.push(ComparedDocument::new(a.name, bound, comparison, latency, profiles));
            let stem = format!("{}_{}_{name}", self.stem, a.name);
            self.figures.push(diff::figures(&stem, &diff_side(reference), &diff_side(side)));
        }
        self.section(&heading, &texts.join("\n"));
        let lower_bound = reference.run.findings().lower_bound;
        let document = ComparisonDocument::new(name, lower_bound, compared);
        self.document.comparisons.push(document);
    }

    /// Adds the functions with the most CPU time, and a flame graph. The report of a single run already has the table.
    fn profiles(&mut self, runs: &[CompletedRun<'_>], profiled: &[Profiled]) {
        let mut texts = Vec::new();
        for (run, profiled) in runs.iter().zip(profiled) {
            match profiled {
                None => {}
                Some(Err(why)) => texts.push(format!("{}: {why}\n", run.name)),
                Some(Ok(profiled)) => {
                    texts.push(format!("{}\n{}", run.name, text::profile(profiled, Order::Cumulative, TOP)));
                    let name = format!("{}_{}_flame.svg", self.stem, run.name);
                    let flame = figure::flame(profiled).map(|svg| vec![Output::new(name, svg)]);
                    self.figures.push(flame.map_err(Into::into));
                    self.document.profiles.push(ProfileDocument::new(run.name, profiled, TOP));
                }
            }
        }
        if runs.len() > 1 && !texts.is_empty() {
            self.section("Profiles", &texts.join("\n"));
        }
    }

    fn tiers(&mut self, name: &str, tiers: &TierScalings) {
        self.section("Tiers", &text::tier_rows(&tiers.rows, &tiers.kinds));
        self.figures.push(tiers::figures(&self.stem, name, &tiers.scalings));
        self.document.tiers = Some(TiersDocument::new(&tiers.rows, &tiers.scalings, &tiers.kinds));
    }

    /// Adds the costs of the file's switches, as `plimsoll ablate` shows them.
    pub(super) fn switches(&mut self, runs: &AblationRuns) {
        let ledgers = Ledgers::new(&runs.measured);
        self.section("Switches", &ledgers.text());
        self.figures.push(ledgers.figures(&runs.stem));
        self.document.files.push(runs.table.to_string_lossy().into_owned());
        self.document.switches = Some(ledgers.document());
    }
}

fn profiled(run: &CompletedRun<'_>) -> Profiled {
    let asked = run.file.profile.as_ref();
    asked.map(|_| ProfiledRun::from_run(&run.recorded.run, &run.recorded.findings))
}

fn diff_side(side: &Side<'_>) -> diff::Side {
    diff::Side::new(side.run.name, side.run.findings())
}

fn row_figures(stem: &str, name: &str, rows: &plimsoll_analyze::RunRows) -> anyhow::Result<Vec<Output>> {
    let (sizes, mut outputs) = (rows.size_lines(), Vec::new());
    if !sizes.is_empty() {
        outputs.extend(Output::figure(&format!("{stem}_sizes"), figure::response_sizes(name, &sizes)?));
    }
    if let Some(lines) = rows.held_lines() {
        outputs.extend(Output::figure(&format!("{stem}_held"), figure::held_times(name, &lines)?));
    }
    Ok(outputs)
}

/// Formats the comparison of two runs, and that of their CPU times if both have a profile.
fn comparison_text(
    comparison: &plimsoll_analyze::Comparison,
    a: &CompletedRun<'_>,
    b: &CompletedRun<'_>,
    profiles: Option<(&ProfiledRun, &ProfiledRun)>,
) -> String {
    let mut said = text::comparison(
        comparison,
        text::Side { name: a.name, label: "B" },
        text::Side { name: b.name, label: "A" },
    );
    for bounded in [a, b].into_iter().filter(|run| run.findings().lower_bound) {
        said +=
            &format!("  In {} the load generator was the limit: its QPS are lower bounds.\n", bounded.name);
    }
    if let Some((of_a, of_b)) = profiles {
        let difference = text::profile_difference(of_a, of_b, (a.name, b.name), (Order::Cumulative, TOP));
        said = format!("{said}\n{difference}");
    }
    said
}
