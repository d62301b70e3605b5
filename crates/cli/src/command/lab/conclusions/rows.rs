//! What the runs say together where the file calls them rows.

use plimsoll_analyze::{RowRun, RunRows, run_rows};
use plimsoll_report::json::RunRowsDocument;
use plimsoll_report::{figure, text};

use super::Conclusions;
use crate::command::lab::outcome::Outcome;
use crate::files::Output;

impl Conclusions {
    /// The rows of these runs, if the file makes any.
    pub(in crate::command::lab) fn rows(&mut self, name: &str, outcomes: &[Outcome]) {
        let runs: Vec<RowRun> = outcomes.iter().filter_map(Outcome::row_run).cloned().collect();
        if runs.is_empty() {
            return;
        }
        let rows = run_rows(&runs);
        let said = text::conclusions(&rows.found);
        if !said.is_empty() {
            self.texts.push(format!("\n{said}"));
        }
        self.figures.push(figures(&self.stem, name, &rows));
        self.document.together = Some(RunRowsDocument::new(&rows));
    }
}

fn figures(stem: &str, name: &str, rows: &RunRows) -> anyhow::Result<Vec<Output>> {
    let (sizes, mut outputs) = (rows.size_lines(), Vec::new());
    if !sizes.is_empty() {
        outputs.extend(Output::figure(&format!("{stem}_sizes"), figure::response_sizes(name, &sizes)?));
    }
    if let Some(lines) = rows.held_lines() {
        outputs.extend(Output::figure(&format!("{stem}_held"), figure::held_times(name, &lines)?));
    }
    Ok(outputs)
}
