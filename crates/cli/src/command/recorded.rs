//! The commands on recorded runs: listing, reporting again, exporting.

use std::path::Path;

use plimsoll_analyze::{Findings, analyze};
use plimsoll_record::Run;
use plimsoll_report::{csv, dat, text};
use plimsoll_store::StoreError;

use super::measure::rendered;
use crate::args::{ExportArgs, ExportFormat, ReportArgs, RunsArgs};
use crate::exit::Exit;
use crate::files::{self, Output};
use crate::terminal::{remark, result};

/// Reads a run and judges it, as the live run was judged.
pub(super) fn read(file: &Path) -> anyhow::Result<(Run, Findings)> {
    let run = plimsoll_store::read(file)?;
    let findings = analyze(&run)?;
    Ok((run, findings))
}

pub(crate) fn runs(args: &RunsArgs) -> anyhow::Result<Exit> {
    let rows = match plimsoll_store::list(&args.folder) {
        // The folder is made by the first run.
        Err(StoreError::Missing { .. }) => Vec::new(),
        listed => listed?,
    };
    if rows.is_empty() {
        remark(&format!("no run files in {}; `plimsoll run URL` makes one", args.folder.display()));
    }
    let rows: Vec<text::RunLine> = rows.iter().map(line).collect();
    result(&text::runs(&rows))?;
    Ok(Exit::Held)
}

fn line(row: &plimsoll_store::RunRow) -> text::RunLine {
    let file = row.path.file_name().unwrap_or(row.path.as_os_str()).to_string_lossy().into_owned();
    text::RunLine {
        file,
        size_bytes: row.size_bytes,
        content: match &row.summary {
            Err(error) => Err(error.to_string()),
            Ok(summary) => Ok(text::RunContent {
                started_unix_ms: summary.started_unix_ms,
                command: summary.command.clone(),
                steps: summary.step_count,
                target: summary.target_url.clone().unwrap_or_default(),
                sealed: summary.sealed,
            }),
        },
    }
}

pub(crate) fn report(args: &ReportArgs) -> anyhow::Result<Exit> {
    let (run, findings) = read(&args.file)?;
    result(&rendered(&run, &findings, args.json))?;
    if let Some(folder) = &args.out {
        let stem = args.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let outputs = Output::ladder(&stem, &findings)?;
        for path in files::write_all(folder, &outputs, args.force)? {
            remark(&format!("wrote {}", path.display()));
        }
    }
    Ok(Exit::Held)
}

pub(crate) fn export(args: &ExportArgs) -> anyhow::Result<Exit> {
    let (run, findings) = read(&args.file)?;
    result(&match args.format {
        ExportFormat::Dat => dat::render(&findings),
        ExportFormat::Csv => csv::render(&findings),
        ExportFormat::Json => rendered(&run, &findings, true),
    })?;
    Ok(Exit::Held)
}
