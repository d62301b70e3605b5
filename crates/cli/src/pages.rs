//! Pages of several runs, and the flags that ask for them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use plimsoll_analyze::{compare, latency_differences, step_outcomes};
use plimsoll_experiment::{RecordedRun, file_stem, read_run};
use plimsoll_report::json::{
    ComparedDocument, ComparisonDocument, FoundTogether, PageDocument, PageRunDocument, TogetherDocument,
};
use plimsoll_report::{ProfiledRun, Values, html, page_run, text};

use crate::documents::{PageArgs, Usual};
use crate::exit::UsageError;
use crate::files::Written;

/// The maximum number of runs on a page: each adds about as much as the page itself.
const RUNS_MAX: usize = 24;

/// The page of a command that has no other file of the user's naming.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TogetherPageArgs {
    #[command(flatten)]
    page: PageArgs,
    /// Overwrite the page if it is there
    #[arg(long, requires = "html")]
    force: bool,
}

impl TogetherPageArgs {
    /// Fails, before anything is measured, if the page has no place or would replace a file.
    pub(crate) fn check(&self, usual: Usual<'_>) -> anyhow::Result<()> {
        match self.page.place(usual)? {
            Some(place) if !self.force => place.refuse_existing(),
            _ => Ok(()),
        }
    }

    /// Writes the page, if one is asked for.
    ///
    /// # Errors
    /// When it needs a file and has none.
    pub(crate) fn write(
        &self,
        usual: Usual<'_>,
        page: impl FnOnce() -> anyhow::Result<String>,
    ) -> Result<Written, UsageError> {
        let place = self.page.place(usual)?;
        Ok(place.map(|place| place.write(page(), self.force)).unwrap_or_default())
    }
}

/// The common result of several runs, and where they are recorded.
pub(crate) struct Together<'a> {
    /// The heading of the page.
    pub(crate) name: &'a str,
    /// The answer as the terminal prints it.
    pub(crate) text: String,
    pub(crate) found: FoundTogether,
    /// The runs with their names on the page.
    pub(crate) runs: Vec<(String, Recorded<'a>)>,
}

/// A run of a page.
pub(crate) enum Recorded<'a> {
    /// A run that was read already.
    Read(&'a RecordedRun),
    /// A run file that is read for the page.
    File(PathBuf),
}

impl Together<'_> {
    /// Renders the page.
    ///
    /// # Errors
    /// When a run cannot be read.
    pub(crate) fn page(self) -> anyhow::Result<String> {
        let left_out = self.runs.len().saturating_sub(RUNS_MAX);
        let shown = self.runs.iter().take(RUNS_MAX);
        let runs: anyhow::Result<Vec<_>> = shown.map(|(name, run)| run.on_page(name)).collect();
        let (name, text, found) = (self.name.to_owned(), self.text, self.found);
        let together = TogetherDocument { name, text, runs_left_out: left_out, found };
        Ok(html(&PageDocument::new(runs?, Some(together)))?)
    }
}

impl Recorded<'_> {
    fn on_page(&self, name: &str) -> anyhow::Result<PageRunDocument> {
        match self {
            Self::Read(recorded) => on_page(name, recorded),
            Self::File(file) => on_page(name, &read_run(file)?),
        }
    }
}

fn on_page(name: &str, recorded: &RecordedRun) -> anyhow::Result<PageRunDocument> {
    let run = page_run(&recorded.run, &recorded.findings, Values::Hidden)?;
    Ok(PageRunDocument { name: name.to_owned(), ..run })
}

/// Returns the page of one run, or of several compared with the earliest.
///
/// # Errors
/// When a recorded histogram cannot be read.
pub(crate) fn page_of_runs(mut runs: Vec<RecordedRun>) -> anyhow::Result<PageDocument> {
    runs.sort_by_key(|recorded| recorded.run.manifest.started_unix_ms);
    let named = distinct_names(&runs);
    let shown = named.iter().map(|(name, recorded)| on_page(name, recorded));
    let shown = shown.collect::<anyhow::Result<Vec<_>>>()?;
    let together = match named.as_slice() {
        [reference, others @ ..] if !others.is_empty() => Some(compared(reference, others)),
        _ => None,
    };
    Ok(PageDocument::new(shown, together))
}

/// Returns each run with its name, or with that of its file if two runs have the same name.
fn distinct_names(runs: &[RecordedRun]) -> Vec<(String, &RecordedRun)> {
    let names: BTreeSet<&str> = runs.iter().map(|recorded| &*recorded.run.manifest.name).collect();
    let name = |recorded: &RecordedRun| match names.len() == runs.len() {
        true => recorded.run.manifest.name.clone(),
        false => file_stem(&recorded.path),
    };
    runs.iter().map(|recorded| (name(recorded), recorded)).collect()
}

fn compared(
    (against, reference): &(String, &RecordedRun),
    others: &[(String, &RecordedRun)],
) -> TogetherDocument {
    let (steps, profile) = (step_outcomes(&reference.findings), profile_of(reference));
    let (mut documents, mut texts) = (Vec::new(), Vec::new());
    for (name, other) in others {
        let comparison = compare(&step_outcomes(&other.findings), &steps);
        let sides = [(name, "B"), (against, "A")].map(|(name, label)| text::Side { name, label });
        let [candidate, side] = sides;
        texts.push(text::comparison(&comparison, candidate, side));
        let latency = latency_differences(&other.findings, &reference.findings);
        let own = profile_of(other);
        let profiles = own.as_ref().zip(profile.as_ref());
        let bound = other.findings.lower_bound;
        documents.push(ComparedDocument::new(name, bound, &comparison, latency.as_ref(), profiles));
    }
    let document = ComparisonDocument::new(against, reference.findings.lower_bound, documents);
    TogetherDocument {
        name: format!("{} runs compared", others.len() + 1),
        text: texts.join("\n"),
        runs_left_out: 0,
        found: FoundTogether::Runs(document.into()),
    }
}

fn profile_of(recorded: &RecordedRun) -> Option<ProfiledRun> {
    ProfiledRun::from_run(&recorded.run, &recorded.findings).ok()
}
