//! `plimsoll lab run`: a file's plan and its variants, and what they say together.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use plimsoll_lab::Standing;
use plimsoll_report::{ProfiledRun, json};

use super::conclusions::{Ablating, Conclusions, Made};
use super::file::{Case, LabFile};
use super::found::Judged;
use super::kept::KeptLab;
use super::outcome::Outcome;
use super::table::{render, score, words};
use crate::args::{CaseArgs, LabRunArgs};
use crate::command::tiers::stamp;
use crate::command::{ablate, measure, recorded};
use crate::exit::Exit;
use crate::files::Written;
use crate::signals;
use crate::terminal::{fail, remark, result};

pub(super) fn run(args: &LabRunArgs, standing: Standing) -> anyhow::Result<Exit> {
    let (file, how) = (LabFile::named(&args.file)?, &args.how);
    let switched = !file.content.switches.is_empty();
    if switched {
        // Said before the runs, which take long.
        ablate::check(&file.content, file.name(), how.quick)?;
    }
    let interrupted = signals::interrupted().context("could not watch for Ctrl-C")?;
    let ended = || interrupted.load(Ordering::Relaxed);
    let runs = Runs::make(&file, standing, how, &interrupted)?;
    let mut told = Conclusions::of(&runs.outcomes, format!("{}-{}", file.name(), stamp()));
    told.rows(file.name(), &runs.outcomes);
    told.conclude(&file.content, file.name(), &runs.made);
    if !how.json {
        result(&(runs.text()? + &told.texts.concat()))?;
        told.texts.clear();
    }
    let ablating = Ablating { file: &file, standing, how, interrupted: &interrupted };
    let ablated = if switched && !ended() { told.switches(&ablating) } else { Ok(true) };
    // That nothing was measured when the user ended it is no error.
    let ablated = ablated.or_else(|error| if ended() { Ok(false) } else { Err(error) });
    let all_there = written(&mut told, how, ablated)?;
    Ok(runs.exit(all_there, ended()))
}

/// Prints what is left to be printed, and writes the figures; true if nothing failed.
fn written(told: &mut Conclusions, how: &CaseArgs, ablated: anyhow::Result<bool>) -> anyhow::Result<bool> {
    let figures = std::mem::take(&mut told.figures);
    let written: Vec<Written> =
        figures.into_iter().map(|figures| Written::to(&how.out, figures, false)).collect();
    let paths = written.iter().flat_map(|written| &written.paths);
    told.document.files.extend(paths.map(|path| path.to_string_lossy().into_owned()));
    result(&if how.json { json::render(&told.document)? } else { told.texts.concat() })?;
    let ablated = ablated.unwrap_or_else(|error| fail(&error) == Exit::Held);
    let drawn = written.iter().filter(|written| !written.tell(how.quiet)).count() == 0;
    Ok(ablated && drawn)
}

/// The runs of a file.
#[derive(Default)]
struct Runs<'a> {
    /// What came of each plan that was begun.
    outcomes: Vec<Outcome>,
    /// Those that were run to their end, or the only one.
    made: Vec<Made<'a>>,
    /// How the first that could not be run would have ended the command by itself.
    failed: Option<Exit>,
}

impl<'a> Runs<'a> {
    /// Runs the file's own plan and its variants. One of several that fails is told and does not end the others.
    fn make(
        file: &'a LabFile,
        standing: Standing,
        how: &CaseArgs,
        interrupted: &AtomicBool,
    ) -> anyhow::Result<Self> {
        let mut kept = KeptLab::new(standing, how, interrupted);
        let mut runs = Self::default();
        let cases = file.cases(how.quick);
        for (index, (case, (variant, _))) in cases.iter().zip(file.content.of_pass(how.quick)).enumerate() {
            if !how.quiet && cases.len() > 1 {
                let same = if kept.fits(case) { ", in the lab of the one before" } else { "" };
                remark(&format!("{} ({} of {}){same}", case.name, index + 1, cases.len()));
            }
            let made = one(case, (variant, variant.unwrap_or_else(|| file.name())), &mut kept);
            let ended = interrupted.load(Ordering::Relaxed);
            match made {
                Ok((judged, _)) if cases.len() > 1 && judged.exit == Exit::Interrupted => {
                    // It is shown, but is no evidence beside others that were not cut short.
                    runs.keep(Judged { row: None, ..judged }, None, how.quiet);
                }
                Ok((judged, made)) => runs.keep(judged, Some(made), how.quiet),
                Err(error) if cases.len() == 1 => return Err(error),
                Err(_) if ended => {}
                Err(error) => runs.lose(case, error),
            }
            if ended {
                break;
            }
        }
        Ok(runs)
    }

    fn keep(&mut self, judged: Judged, made: Option<Made<'a>>, quiet: bool) {
        if !quiet {
            remark(&format!("wrote {}", judged.file.display()));
        }
        self.outcomes.push(Outcome::Judged(Box::new(judged)));
        self.made.extend(made);
    }

    fn lose(&mut self, case: &Case<'_>, error: anyhow::Error) {
        self.outcomes.push(Outcome::failed(case, &error));
        let exit = fail(&error.context(case.name.clone()));
        self.failed.get_or_insert(exit);
    }

    /// The whole report of one run, or the table of several.
    fn text(&self) -> anyhow::Result<String> {
        if self.outcomes.is_empty() {
            return Ok(String::new());
        }
        let [Outcome::Judged(only)] = self.outcomes.as_slice() else {
            let table = render(&self.outcomes.iter().map(Outcome::row).collect::<Vec<_>>());
            let expecting = self.outcomes.iter().any(Outcome::expects);
            let right = self.outcomes.iter().map(Outcome::right).filter(|_| expecting);
            return Ok(table + &score(right));
        };
        let (run, findings) = recorded::read(&only.file)?;
        let report = measure::rendered(&run, &findings, false)?;
        let expected = only.expected.as_ref().map_or_else(String::new, |expected| match only.right() {
            Some(true) => format!("\nas expected: {}\n", words(expected)),
            _ => format!("\nNOT as expected: {} instead of {}\n", only.found.words(), words(expected)),
        });
        Ok(report + &expected)
    }

    /// The first code that is not that of success.
    fn exit(&self, all_there: bool, interrupted: bool) -> Exit {
        let whole = Exit::of_all(all_there, interrupted);
        let codes = self.outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Judged(judged) => Some(judged.exit()),
            Outcome::Failed(..) => None,
        });
        match self.failed.filter(|_| !interrupted) {
            Some(exit) => exit,
            None => std::iter::once(whole).chain(codes).find(|exit| *exit != Exit::Held).unwrap_or(whole),
        }
    }
}

/// Runs one plan, that of the variant if it is one, under this name.
fn one<'a>(
    case: &Case<'a>,
    (variant, name): (Option<&'a str>, &'a str),
    kept: &mut KeptLab<'_>,
) -> anyhow::Result<(Judged, Made<'a>)> {
    let path = kept.run(case)?;
    let (run, findings) = recorded::read(&path)?;
    let judged = Judged::of(case, path, &run, &findings)?;
    let profiled = case.file.profile.as_ref().map(|_| ProfiledRun::from_run(&run, &findings));
    Ok((judged, Made { variant, name, file: case.file, findings, profiled }))
}
