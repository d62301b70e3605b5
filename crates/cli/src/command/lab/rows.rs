//! What the runs of one file say together, where it calls them rows.

use plimsoll_analyze::{RowRun, RunRows, run_rows};
use plimsoll_report::{figure, json, text};
use serde_json::{Map, Value};

use super::found::Judged;
use crate::args::CaseArgs;
use crate::command::tiers::stamp;
use crate::files::{Output, Written};

/// The rows of the runs of one file.
#[derive(Debug)]
pub(super) struct Rows(RunRows);

impl Rows {
    /// The rows of these runs; `None` where the file makes none of them.
    pub(super) fn of(judged: &[Judged]) -> Option<Self> {
        let runs: Vec<RowRun> = judged.iter().filter_map(|one| one.row.clone()).collect();
        (!runs.is_empty()).then(|| Self(run_rows(&runs)))
    }

    /// What they say, to stand after the table of the runs.
    pub(super) fn text(&self) -> String {
        let said = text::conclusions(&self.0.found);
        if said.is_empty() { said } else { format!("\n{said}") }
    }

    /// The same as keys to stand beside `runs`.
    pub(super) fn json(&self) -> anyhow::Result<Map<String, Value>> {
        match serde_json::to_value(json::run_rows(&self.0))? {
            Value::Object(keys) => Ok(keys),
            _ => Ok(Map::new()),
        }
    }

    /// Draws their figures into the folder of the runs and tells where they are; true if none is missing.
    pub(super) fn draw(&self, name: &str, how: &CaseArgs) -> bool {
        Written::to(&how.out, self.figures(name), false).tell(how.quiet)
    }

    fn figures(&self, name: &str) -> anyhow::Result<Vec<Output>> {
        let stem = format!("{name}-{}", stamp());
        let (sizes, mut outputs) = (self.0.size_lines(), Vec::new());
        if !sizes.is_empty() {
            let drawn = figure::response_sizes(name, &sizes)?;
            outputs.extend(Output::figure(&format!("{stem}_sizes"), drawn));
        }
        if let Some(lines) = self.0.held_lines() {
            outputs.extend(Output::figure(&format!("{stem}_held"), figure::held_times(name, &lines)?));
        }
        Ok(outputs)
    }
}
