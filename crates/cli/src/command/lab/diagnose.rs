//! `plimsoll lab diagnose`: the scenarios of a folder, each in a lab of its own.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use plimsoll_lab::Standing;
use plimsoll_report::json::CaseDocument;
use serde_json::json;

use super::case;
use super::file::{Case, LabFile, files_in};
use super::outcome::Outcome;
use super::table::{render, score};
use crate::args::DiagnoseArgs;
use crate::exit::Exit;
use crate::signals;
use crate::terminal::{remark, result, with_causes};

pub(super) fn diagnose(args: &DiagnoseArgs, standing: Standing) -> anyhow::Result<Exit> {
    let files = files_in(&args.folder)?;
    if files.is_empty() {
        bail!("there is no lab file in {}; their names end in .toml", args.folder.display());
    }
    let interrupted = signals::interrupted().context("could not watch for Ctrl-C")?;
    let mut outcomes = Vec::new();
    for _ in 0..args.repeat {
        for path in &files {
            outcomes.extend(Scenarios { args, standing, interrupted: &interrupted }.of(path));
        }
    }
    if outcomes.is_empty() && !interrupted.load(Ordering::Relaxed) {
        bail!("no scenario in {} has a name with {}", args.folder.display(), args.only.join(" or "));
    }
    result(&rendered(&outcomes, args.how.json)?)?;
    let all_right = outcomes.iter().all(|outcome| outcome.right() != Some(false));
    Ok(match (interrupted.load(Ordering::Relaxed), all_right) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Held,
        (false, false) => Exit::Broken,
    })
}

/// How scenarios are run.
#[derive(Debug, Clone, Copy)]
struct Scenarios<'a> {
    args: &'a DiagnoseArgs,
    standing: Standing,
    interrupted: &'a AtomicBool,
}

impl Scenarios<'_> {
    fn wants(self, name: &str) -> bool {
        self.args.only.is_empty() || self.args.only.iter().any(|text| name.contains(text.as_str()))
    }

    /// Runs the scenarios of a file. One that fails is told and does not end the others.
    fn of(self, path: &Path) -> Vec<Outcome> {
        match LabFile::read(path) {
            Ok(file) => {
                file.cases(self.args.how.quick).iter().filter_map(|case| self.outcome(case)).collect()
            }
            Err(error) => {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let failed = self.wants(&name).then(|| Outcome::Failed(name, None, with_causes(&error)));
                failed.inspect(|outcome| self.tell(outcome)).into_iter().collect()
            }
        }
    }

    /// What comes of a scenario; `None` if it is not wanted, or the user ended it.
    fn outcome(self, case: &Case<'_>) -> Option<Outcome> {
        let ended = || self.interrupted.load(Ordering::Relaxed);
        if !self.wants(&case.name) || ended() {
            return None;
        }
        let outcome = match case::run(case, self.standing, &self.args.how, self.interrupted) {
            Ok(judged) => Outcome::Judged(Box::new(judged)),
            Err(error) => Outcome::failed(case, &error),
        };
        // What was cut short is no evidence for anything.
        if ended() {
            return None;
        }
        self.tell(&outcome);
        Some(outcome)
    }

    /// Says at once what came of a scenario, for they take long.
    fn tell(self, outcome: &Outcome) {
        if self.args.how.quiet {
            return;
        }
        let mark = match outcome.right() {
            Some(true) => "right",
            Some(false) => "WRONG",
            None => "done",
        };
        remark(&match outcome {
            Outcome::Judged(judged) => {
                format!("{mark}: {}: {} ({})", judged.name, judged.found.words(), judged.found.confidence)
            }
            Outcome::Failed(name, _, why) => format!("{mark}: {name}: could not be run: {why}"),
        });
    }
}

fn rendered(outcomes: &[Outcome], as_json: bool) -> anyhow::Result<String> {
    if as_json {
        let scenarios: Vec<CaseDocument> = outcomes.iter().map(Outcome::document).collect();
        return Ok(serde_json::to_string_pretty(&json!({ "scenarios": scenarios }))? + "\n");
    }
    let table = render(&outcomes.iter().map(Outcome::row).collect::<Vec<_>>());
    Ok(table + &score(outcomes.iter().map(Outcome::right)))
}
