//! The commands on recorded runs: listing, reporting again, exporting.

use std::path::PathBuf;

use anyhow::bail;
use jiff::Timestamp;
use plimsoll_analyze::Findings;
use plimsoll_experiment::{RecordedRun, file_stem, read_run};
use plimsoll_plan::Load;
use plimsoll_record::Run;
use plimsoll_report::{csv, dat, json, text};
use plimsoll_store::RunRow;
use plimsoll_units::escape_control;

use crate::args::values::{self, RUNS_FOLDER};
use crate::exit::Exit;
use crate::files::{Output, Written};
use crate::terminal::{print, remark, result};

#[derive(Debug, clap::Args)]
pub(crate) struct RunsArgs {
    /// The folder of run files
    #[arg(default_value = RUNS_FOLDER)]
    folder: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// A run file; `last` is the newest
    #[arg(value_parser = values::run_file())]
    file: PathBuf,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    /// Draw the figures again, and write the .dat, into this folder
    #[arg(short = 'o', long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Name of these files; by default that of the run file
    #[arg(short, long, requires = "out", value_parser = values::name)]
    name: Option<String>,
    /// Overwrite files that are there
    #[arg(long, requires = "out")]
    force: bool,
}

/// The forms a run can be exported to.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ExportFormat {
    /// One row a step: concurrency, QPS, mean response time in ms, success in per cent
    Dat,
    /// One row a step with all figures, and a header
    Csv,
    /// The JSON document that --json prints
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// A run file; `last` is the newest
    #[arg(value_parser = values::run_file())]
    file: PathBuf,
    /// The form
    #[arg(short, long, value_enum)]
    format: ExportFormat,
}

/// Prints the report of a run, the same for a live and for a recorded one.
pub(super) fn print_run(run: &Run, findings: &Findings, as_json: bool) -> anyhow::Result<()> {
    print(as_json, || json::render(&json::Document::new(run, findings)), || text::render(run, findings))
}

pub(crate) fn runs(args: &RunsArgs) -> anyhow::Result<Exit> {
    let rows = values::runs_of(&args.folder)?;
    if rows.is_empty() {
        remark(&format!("no run files in {}; `plimsoll run URL` makes one", args.folder.display()));
    }
    let lines: Vec<String> = rows.iter().map(line).collect();
    result(&lines.concat())?;
    Ok(Exit::Success)
}

/// One line a run: when, which command, how many steps, the file, the target.
fn line(row: &RunRow) -> String {
    let file = row.path.file_name().unwrap_or(row.path.as_os_str()).to_string_lossy();
    let summary = match &row.summary {
        Err(error) => return format!("unreadable  {file}: {error}\n"),
        Ok(summary) => summary,
    };
    let target = escape_control(summary.target_url.as_deref().unwrap_or("?"));
    let command = summary.command.name();
    let steps = if summary.step_count == 1 { "1 step" } else { &format!("{} steps", summary.step_count) };
    let cut = if summary.sealed { "" } else { "  (did not end in order)" };
    format!("{}  {command:<6}  {steps:<8}  {file}  {target}{cut}\n", utc(summary.started_unix_ms))
}

/// A time as people write it, in UTC as in the names of run files.
fn utc(unix_ms: u64) -> String {
    let time = i64::try_from(unix_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    time.map_or_else(|| "?".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}

pub(crate) fn report(args: &ReportArgs) -> anyhow::Result<Exit> {
    let RecordedRun { run, findings, .. } = read_run(&args.file)?;
    if args.out.is_some() && !matches!(findings.plan.load, Load::Ladder { .. }) {
        bail!(
            "{} holds one level of load, and --out draws the table and figures of a ladder; \
             use `plimsoll report` without it, or `plimsoll export` to csv or json",
            args.file.display()
        );
    }
    print_run(&run, &findings, args.json)?;
    if let Some(folder) = &args.out {
        let stem = args.name.clone().unwrap_or_else(|| file_stem(&args.file));
        let written = Written::to(folder, Output::ladder(&stem, &findings), args.force);
        return Ok(Exit::of_all(written.report(false), false));
    }
    Ok(Exit::Success)
}

pub(crate) fn export(args: &ExportArgs) -> anyhow::Result<Exit> {
    let RecordedRun { run, findings, .. } = read_run(&args.file)?;
    result(&match args.format {
        ExportFormat::Dat => dat::render(&findings)?,
        ExportFormat::Csv => csv::render(&findings),
        ExportFormat::Json => json::render(&json::Document::new(&run, &findings))?,
    })?;
    Ok(Exit::Success)
}
