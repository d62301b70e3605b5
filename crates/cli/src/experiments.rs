//! What commands pass to experiments: settings, Ctrl-C, and progress on standard error, a line for each event.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use plimsoll_experiment::{
    CaseOutcome, LabFile, Observer, Progress, RunContext, RunSettings, TrialDesign, file_stem,
};
use plimsoll_lab::Privileges;
use plimsoll_record::Calibration;
use plimsoll_units::count_text;

use crate::args::{HistoryArgs, command_line};
use crate::calibrations;
use crate::delivery::NewRuns;
use crate::progress::Display;
use crate::signals;
use crate::terminal::{remark, report_error, with_causes};

/// Returns the settings of a command's runs: they test no verdict, and record its command line.
pub(crate) fn settings(out: &Path, quick: bool, quiet: bool) -> RunSettings {
    RunSettings { quick, command_line: command_line(), prove: false, out: out.to_owned(), quiet }
}

/// The settings of a command's experiment.
pub(crate) struct ExperimentSetup {
    settings: RunSettings,
    calibrations: Vec<Calibration>,
    interrupted: Arc<AtomicBool>,
    display: ExperimentDisplay,
}

impl ExperimentSetup {
    /// Creates the setup, and watches for Ctrl-C from here on.
    pub(crate) fn new(settings: RunSettings) -> anyhow::Result<Self> {
        let display = ExperimentDisplay { quiet: settings.quiet, runs: NewRuns::default() };
        let interrupted = signals::interrupted()?;
        Ok(Self { settings, calibrations: calibrations::known(), interrupted, display })
    }

    /// Creates the setup for a file of this path, or of this name below `lab`. Privileges for the hosts that it makes are acquired
    /// before anything starts a second thread.
    pub(crate) fn for_file(
        named: &str,
        settings: RunSettings,
    ) -> anyhow::Result<(LabFile, Option<Privileges>, Self)> {
        let file = LabFile::named(named)?;
        let privileges = file.makes_hosts().then(Privileges::acquire).transpose()?;
        Ok((file, privileges, Self::new(settings)?))
    }

    /// Adds tags and a store for the runs. It asks git in a thread, so privileges must be acquired before.
    pub(crate) fn with_history(mut self, args: &HistoryArgs) -> anyhow::Result<Self> {
        self.display.runs = NewRuns::new(args)?;
        Ok(self)
    }

    /// Delivers the runs to the store, if there is one. This comes last, since results do not depend on it.
    pub(crate) fn deliver(&self) {
        self.display.runs.deliver(&self.settings.out, self.settings.quiet, &self.interrupted);
    }

    /// Returns the runs so far with the names of their files.
    pub(crate) fn recorded(&self) -> Vec<(String, PathBuf)> {
        self.display.runs.files().into_iter().map(|file| (file_stem(&file), file)).collect()
    }

    pub(crate) fn context(&self) -> RunContext<'_> {
        RunContext {
            settings: &self.settings,
            calibrations: &self.calibrations,
            interrupted: &self.interrupted,
            observer: &self.display,
        }
    }
}

/// Shows the progress of an experiment; with `quiet`, only failures.
#[derive(Debug)]
struct ExperimentDisplay {
    quiet: bool,
    runs: NewRuns,
}

impl Observer for ExperimentDisplay {
    fn observe(&self, progress: &Progress<'_>) {
        let inform = |text: &str| {
            if !self.quiet {
                remark(text);
            }
        };
        match progress {
            Progress::RunFailed(error) => report_error(*error),
            Progress::ServiceEnded(error) => {
                remark(&format!("plimsoll: a service ended during the run: {}", with_causes(*error)));
            }
            Progress::SamplingFailed(Some(error)) => {
                remark(&format!("plimsoll: the lab's hosts could not be sampled: {error}"));
            }
            Progress::SamplingFailed(None) => remark(
                "plimsoll: the thread that samples the lab's hosts ended too early; the report says which samples there are",
            ),
            Progress::GaveUp { failed_in_a_row } => {
                remark(&format!("plimsoll: {failed_in_a_row} runs in a row failed; the rest is left out"));
            }
            // `plimsoll ab` has a display of its own.
            Progress::Ab(_) => {}
            Progress::LabRemark(text) => inform(&format!("plimsoll: {text}")),
            Progress::RunBegins { name, number, count, same_lab } => {
                let same = if *same_lab { ", in the lab of the run before" } else { "" };
                inform(&format!("{name} ({number} of {count}){same}"));
            }
            Progress::RunRecorded(path) => {
                self.runs.add(path);
                inform(&format!("wrote {}", path.display()));
            }
            Progress::TableWritten(path) => inform(&format!("wrote {}", path.display())),
            Progress::CaseEnded(outcome) => inform(&case_line(outcome)),
            Progress::AblationBegins { name, design, states, runs, rounds } => {
                let what = design.map_or_else(
                    || format!("{states} states of it, {runs} combinations"),
                    |design| format!("{}, {runs}", design_text(design)),
                );
                inform(&format!("{name}: {what} in each of {rounds} rounds, in turn"));
            }
            Progress::TrialEnded { trial, done, count, throughput_per_sec, lower_bound } => {
                let at_least = if *lower_bound { "≥ " } else { "" };
                let throughput = count_text(*throughput_per_sec);
                inform(&format!("{done} of {count}: {trial}: {at_least}{throughput} requests/s"));
                if *lower_bound {
                    inform(
                        "plimsoll: the load generator was the limit: that combination needs less time than this shows",
                    );
                }
            }
        }
    }

    fn run_observer(&self) -> Box<dyn plimsoll_conductor::Observer> {
        Box::new(Display::new(self.quiet))
    }
}

fn design_text(design: TrialDesign) -> &'static str {
    match design {
        TrialDesign::Named => "the combinations of its switches that it names",
        TrialDesign::OneAtATime => "its switches one at a time: none, all, each by itself and each left out",
        TrialDesign::Full => "all combinations of its switches",
    }
}

fn case_line(outcome: &CaseOutcome) -> String {
    let name = &outcome.name;
    let mark = match outcome.as_expected() {
        Some(true) => "right",
        Some(false) => "WRONG",
        None => "done",
    };
    match &outcome.result {
        Ok(judged) => {
            let confidence = match judged.overload {
                Some(_) => String::new(),
                None => format!(" ({})", judged.verdict.confidence.name()),
            };
            format!("{mark}: {name}: {}{confidence}", judged.found_text())
        }
        Err(error) => format!("{mark}: {name}: could not be run: {}", with_causes(error)),
    }
}
