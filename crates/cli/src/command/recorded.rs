//! The commands on recorded runs: listing, reporting again, exporting.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use plimsoll_analyze::Findings;
use plimsoll_experiment::{RecordedRun, file_stem, read_run, read_what_is_intact};
use plimsoll_plan::Load;
use plimsoll_record::Run;
use plimsoll_report::{Values, csv, dat, for_figures, json, text, words};
use plimsoll_store::RunRow;
use plimsoll_units::{escape_control, grouped, unix_ms};

use crate::args::values::{self, RUNS_FOLDER};
use crate::exit::Exit;
use crate::files::{Output, Written};
use crate::terminal::{columns, page, remark, result};

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
    /// The full report instead of the short answer: all steps and figures, the evidence, the self-check
    #[arg(long)]
    full: bool,
    /// Draw the figures again, and write the .dat, into this folder
    #[arg(short = 'o', long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Name of these files; by default that of the run file
    #[arg(long, requires = "out", value_parser = values::name)]
    name: Option<String>,
    /// Overwrite files that are there
    #[arg(long, requires = "out")]
    force: bool,
    /// Show the values of queries and the bodies of requests in JSON and figures
    #[arg(long)]
    show_values: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// A run file; `last` is the newest
    #[arg(value_parser = values::run_file())]
    file: PathBuf,
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
    /// Show the values of queries and the bodies of requests
    #[arg(long)]
    show_values: bool,
}

fn shown_values(shown: bool) -> Values {
    if shown { Values::Shown } else { Values::Hidden }
}

/// The form in which a run is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The answer at a glance.
    Short,
    Full,
    Json(Values),
}

impl Form {
    pub(super) fn new(json: bool, full: bool) -> Self {
        match (json, full) {
            (true, _) => Self::Json(Values::Hidden),
            (false, true) => Self::Full,
            (false, false) => Self::Short,
        }
    }
}

/// Prints the report of a run, the same for a live and for a recorded one; `file` is where it is recorded.
pub(super) fn print_run(
    run: &Run,
    findings: &Findings,
    form: Form,
    file: Option<&Path>,
) -> anyhow::Result<()> {
    result(&match form {
        Form::Short => text::short(run, findings, &page(file)),
        Form::Full => text::full(run, findings),
        Form::Json(values) => json::render(&json::Document::new(run, findings, values))?,
    })
}

pub(crate) fn runs(args: &RunsArgs) -> anyhow::Result<Exit> {
    let rows = values::runs_of(&args.folder)?;
    if rows.is_empty() {
        remark(&format!("no run files in {}; `plimsoll run URL` makes one", args.folder.display()));
    }
    let is_usual = args.folder == Path::new(RUNS_FOLDER);
    let table = RunsTable { columns: columns().unwrap_or(usize::MAX), is_usual, now_unix_ms: unix_ms() };
    let mut lines = vec![table.header()];
    let mut readable = 0;
    for row in &rows {
        let name = match (is_usual && row.summary.is_ok(), readable) {
            (false, _) => String::new(),
            (true, 0) => "last".to_owned(),
            (true, before) => format!("last~{before}"),
        };
        readable += usize::from(row.summary.is_ok());
        lines.push(table.line(row, &name));
    }
    if !rows.is_empty() {
        result(&lines.concat())?;
    }
    Ok(Exit::Success)
}

/// Lists runs in lines as wide as a terminal; where that is narrow, only by the one name that a command takes.
struct RunsTable {
    columns: usize,
    is_usual: bool,
    now_unix_ms: u64,
}

impl RunsTable {
    /// From these columns on there is room for the file and the target next to the name.
    const WIDE: usize = 130;
    /// Columns of the limit.
    const LIMIT: usize = 28;

    fn header(&self) -> String {
        let last = match (self.is_wide(), self.is_usual) {
            (true, _) => "file, target",
            (false, true) => "target",
            (false, false) => "file",
        };
        self.cells(["name", "age", "command", "QPS", "limit", last])
    }

    fn is_wide(&self) -> bool {
        self.columns >= Self::WIDE
    }

    fn line(&self, row: &RunRow, name: &str) -> String {
        let file = row.path.file_name().unwrap_or(row.path.as_os_str()).to_string_lossy();
        let summary = match &row.summary {
            Err(error) => return format!("unreadable  {file}: {error}\n"),
            Ok(summary) => summary,
        };
        let target = escape_control(summary.target_url.as_deref().unwrap_or("?"));
        let age = age(Duration::from_millis(self.now_unix_ms.saturating_sub(summary.started_unix_ms)));
        let (per_sec, limit) = match read_run(&row.path) {
            Ok(recorded) => {
                (text::served_in_short(&recorded.findings), text::limit_in_short(&recorded.findings))
            }
            Err(error) => ("?".to_owned(), escape_control(&error.to_string())),
        };
        let last = match (self.is_wide(), self.is_usual) {
            (true, _) => format!("{file}  {target}"),
            (false, true) => target,
            (false, false) => file.into_owned(),
        };
        let cut = if summary.sealed { "" } else { "(did not end in order) " };
        let last = format!("{cut}{last}");
        self.cells([name, &age, summary.command.name(), &per_sec, &limit, &last])
    }

    /// A line: a name, an age, a command, a throughput, a limit and what is last.
    fn cells(&self, [name, age, command, per_sec, limit, last]: [&str; 6]) -> String {
        let name = if self.is_usual { format!("{name:<8}") } else { String::new() };
        let limit = text::cut(limit, Self::LIMIT);
        let line =
            format!("{name}{age:>6}  {command:<7}{per_sec:>8}  {limit:<width$}  ", width = Self::LIMIT);
        let room = self.columns.saturating_sub(text::width(&line));
        // What a command takes is never cut.
        let last = if self.is_usual { text::cut(last, room) } else { last.to_owned() };
        format!("{}\n", format!("{line}{last}").trim_end())
    }
}

/// An age in its largest unit, rounded down: `59 s`, `3 min`, `5 h`, `12 d`.
fn age(age: Duration) -> String {
    let sec = age.as_secs();
    match sec {
        0..60 => format!("{sec} s"),
        60..3_600 => format!("{} min", sec / 60),
        3_600..86_400 => format!("{} h", sec / 3_600),
        _ => format!("{} d", sec / 86_400),
    }
}

pub(crate) fn report(args: &ReportArgs) -> anyhow::Result<Exit> {
    let RecordedRun { run, findings, .. } = read_what_is_intact(&args.file)?;
    if args.out.is_some() && !matches!(findings.plan.load, Load::Ladder { .. }) {
        bail!(
            "{} holds one level of load, and --out draws the table and figures of a ladder; \
             use `plimsoll report` without it, or `plimsoll export` to csv or json",
            args.file.display()
        );
    }
    let values = shown_values(args.show_values);
    let form = if args.json { Form::Json(values) } else { Form::new(false, args.full) };
    print_run(&run, &findings, form, Some(&args.file))?;
    if let Some(folder) = &args.out {
        let stem = args.name.clone().unwrap_or_else(|| file_stem(&args.file));
        let shown = for_figures(&findings, values);
        let written = Written::to(folder, Output::ladder(&stem, run.manifest.command, &shown), args.force);
        return Ok(Exit::of_all(written.report(false) && run.damage.is_empty(), false));
    }
    Ok(Exit::of_all(run.damage.is_empty(), false))
}

/// Shows which parts of a run file match their digests.
pub(crate) fn check(args: &CheckArgs) -> anyhow::Result<Exit> {
    let checked = plimsoll_store::check(&args.file)?;
    let mut lines = vec![format!(
        "{}: format {}.{}, {}\n",
        args.file.display(),
        checked.format.major,
        checked.format.minor,
        if checked.sealed { "ended in order" } else { "did not end in order" }
    )];
    for (table, rows) in &checked.rows {
        let is_intact = checked.damage.iter().all(|damage| damage.table != *table);
        let state = if is_intact { "intact" } else { "damaged" };
        lines.push(format!("  {table:<12}{:>10} rows  {state}\n", grouped(*rows)));
    }
    lines.extend(checked.damage.iter().map(|damage| format!("damaged: {}\n", words::damage(damage))));
    lines.extend(checked.untrue.iter().map(|reason| format!("damaged: {}\n", escape_control(reason))));
    if checked.is_intact() {
        let requests = if checked.accounted { ", and every request is accounted for" } else { "" };
        lines.push(format!("Every row matches its digest{requests}.\n"));
    }
    result(&lines.concat())?;
    Ok(Exit::of_all(checked.is_intact(), false))
}

pub(crate) fn export(args: &ExportArgs) -> anyhow::Result<Exit> {
    let RecordedRun { run, findings, .. } = read_run(&args.file)?;
    result(&match args.format {
        ExportFormat::Dat => dat::render(&findings)?,
        ExportFormat::Csv => csv::render(&for_figures(&findings, shown_values(args.show_values))),
        ExportFormat::Json => {
            json::render(&json::Document::new(&run, &findings, shown_values(args.show_values)))?
        }
    })?;
    Ok(Exit::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_one_unit() {
        let text = |sec| age(Duration::from_secs(sec));
        assert_eq!([text(0), text(59), text(60), text(3_599)], ["0 s", "59 s", "1 min", "59 min"]);
        assert_eq!([text(3_600), text(86_399), text(86_400 * 12)], ["1 h", "23 h", "12 d"]);
    }
}
