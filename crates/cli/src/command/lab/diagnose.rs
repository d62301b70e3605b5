//! `plimsoll lab diagnose`: the scenarios of a folder, each in a lab of its own.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use plimsoll_lab::Standing;
use plimsoll_plan::Expect;
use serde_json::{Value, json};

use super::case;
use super::file::{Case, LabFile, files_in};
use super::found::{Judged, expected_json};
use super::table::{Row, render, score};
use crate::args::DiagnoseArgs;
use crate::exit::Exit;
use crate::signals;
use crate::terminal::{remark, result, with_causes};

/// What came of one scenario.
#[derive(Debug)]
enum Outcome {
    Judged(Box<Judged>),
    /// It could not be run: its name, what it expects, and why.
    Failed(String, Option<Expect>, String),
}

impl Outcome {
    fn row(&self) -> Row<'_> {
        match self {
            Self::Judged(judged) => Row::Judged(judged),
            Self::Failed(name, _, why) => Row::Failed { name, why },
        }
    }

    /// Whether it is what was expected. One that could not be run is not.
    fn right(&self) -> Option<bool> {
        match self {
            Self::Judged(judged) => judged.right(),
            Self::Failed(..) => Some(false),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Judged(judged) => judged.json(),
            Self::Failed(name, expected, why) => json!({
                "name": name, "expected": expected.as_ref().map(expected_json), "found": null, "confidence": null,
                "right": false, "text": why,
            }),
        }
    }
}

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
            Ok(file) => file.cases().iter().filter_map(|case| self.outcome(case)).collect(),
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
            Err(error) => Outcome::Failed(case.name.clone(), case.file.expect.clone(), with_causes(&error)),
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
        let scenarios: Vec<Value> = outcomes.iter().map(Outcome::json).collect();
        return Ok(serde_json::to_string_pretty(&json!({ "scenarios": scenarios }))? + "\n");
    }
    let table = render(&outcomes.iter().map(Outcome::row).collect::<Vec<_>>());
    Ok(table + &score(outcomes.iter().map(Outcome::right)))
}
