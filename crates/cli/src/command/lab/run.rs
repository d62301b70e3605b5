//! `plimsoll lab run`: a file's plan and its variants.

use std::sync::atomic::Ordering;

use anyhow::Context;
use plimsoll_lab::Standing;
use serde_json::json;

use super::case;
use super::file::LabFile;
use super::found::Judged;
use super::table::{Row, render, score, words};
use crate::args::LabRunArgs;
use crate::command::{measure, recorded};
use crate::exit::Exit;
use crate::signals;
use crate::terminal::{remark, result};

pub(super) fn run(args: &LabRunArgs, standing: Standing) -> anyhow::Result<Exit> {
    let file = LabFile::named(&args.file)?;
    let interrupted = signals::interrupted().context("could not watch for Ctrl-C")?;
    let cases = file.cases();
    let mut judged: Vec<Judged> = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        if !args.how.quiet && cases.len() > 1 {
            remark(&format!("{} ({} of {})", case.name, index + 1, cases.len()));
        }
        let one = case::run(case, standing, &args.how, &interrupted)?;
        if !args.how.quiet {
            remark(&format!("wrote {}", one.file.display()));
        }
        judged.push(one);
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
    }
    result(&rendered(&judged, args.how.json)?)?;
    Ok(exit(&judged, interrupted.load(Ordering::Relaxed)))
}

/// The whole report of one run, or the table of several.
fn rendered(judged: &[Judged], as_json: bool) -> anyhow::Result<String> {
    if as_json {
        let runs: Vec<_> = judged.iter().map(Judged::json).collect();
        return Ok(serde_json::to_string_pretty(&json!({ "runs": runs }))? + "\n");
    }
    let [only] = judged else {
        let table = render(&judged.iter().map(Row::Judged).collect::<Vec<_>>());
        return Ok(table + &score(judged.iter().map(Judged::right)));
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
fn exit(judged: &[Judged], interrupted: bool) -> Exit {
    if interrupted {
        return Exit::Interrupted;
    }
    judged.iter().map(Judged::exit).find(|exit| *exit != Exit::Held).unwrap_or(Exit::Held)
}
