//! `plimsoll lab run`: a file's plan and its variants.

use std::sync::atomic::Ordering;

use anyhow::Context;
use plimsoll_lab::Standing;
use serde_json::json;

use super::case;
use super::file::LabFile;
use super::found::Judged;
use super::rows::Rows;
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
    let rows = Rows::of(&judged);
    result(&rendered(&judged, rows.as_ref(), args.how.json)?)?;
    let drawn = rows.is_none_or(|rows| rows.draw(file.name(), &args.how));
    Ok(if drawn { exit(&judged, interrupted.load(Ordering::Relaxed)) } else { Exit::CouldNotRun })
}

/// The whole report of one run, or the table of several.
fn rendered(judged: &[Judged], rows: Option<&Rows>, as_json: bool) -> anyhow::Result<String> {
    if as_json {
        let runs: Vec<_> = judged.iter().map(Judged::json).collect();
        let mut document = rows.map(Rows::json).transpose()?.unwrap_or_default();
        document.insert("runs".to_owned(), json!(runs));
        return Ok(serde_json::to_string_pretty(&document)? + "\n");
    }
    let [only] = judged else {
        let table = render(&judged.iter().map(Row::Judged).collect::<Vec<_>>());
        let said = rows.map_or_else(String::new, Rows::text);
        return Ok(table + &score(judged.iter().map(Judged::right)) + &said);
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
