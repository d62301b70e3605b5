//! The CPU profiles of the runs, as `plimsoll profile` shows one.

use plimsoll_report::json::ProfileDocument;
use plimsoll_report::{Order, ProfiledRun, figure, text};

use super::{Conclusions, Made};
use crate::files::Output;

/// Functions that are shown of each; `plimsoll profile` shows as many as one likes.
pub(super) const TOP: usize = 20;

/// The profile of a run, if it was taken.
pub(super) fn taken<'a>(run: &'a Made<'_>) -> Option<&'a ProfiledRun> {
    run.profiled.as_ref()?.as_ref().ok()
}

impl Conclusions {
    /// The functions with the most CPU time, and a flame graph. One run alone has its table in its report.
    pub(super) fn profiles(&mut self, runs: &[Made<'_>]) {
        let mut texts = Vec::new();
        for run in runs {
            match &run.profiled {
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
}
