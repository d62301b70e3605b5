//! The commands on one recorded run: reporting again, checking, exporting.

use std::path::{Path, PathBuf};

use anyhow::bail;
use plimsoll_analyze::Findings;
use plimsoll_experiment::{RecordedRun, file_stem, read_run, read_what_is_intact};
use plimsoll_plan::{Load, Protector};
use plimsoll_record::Run;
use plimsoll_report::{Values, csv, dat, for_figures, json, text, words};
use plimsoll_units::{escape_control, grouped};

use super::overload::print_snippet;
use crate::args::values;
use crate::documents::{DocumentArgs, Source};
use crate::exit::Exit;
use crate::files::{Output, Written};
use crate::terminal::{page, result};

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
    /// Print the settings that protect the target, and nothing else: nginx, envoy, haproxy, resilience4j or grpc
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["json", "full", "out", "html", "markdown", "junit"], value_parser = values::protector)]
    snippet: Option<Protector>,
    /// Draw the figures again, and write the .dat, into this folder
    #[arg(short = 'o', long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Name of these files; by default that of the run file
    #[arg(long, requires = "out", value_parser = values::name)]
    name: Option<String>,
    #[command(flatten)]
    documents: DocumentArgs,
    /// Overwrite files that are there
    #[arg(long)]
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

/// The formats of an exported run.
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
    /// The format
    #[arg(short, long, value_enum)]
    format: ExportFormat,
    /// Show the values of queries and the bodies of requests
    #[arg(long)]
    show_values: bool,
}

fn shown_values(shown: bool) -> Values {
    if shown { Values::Shown } else { Values::Hidden }
}

/// How a run is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The short answer.
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

/// Prints the report of a run, the same for a live and for a recorded one; `file` is the run file.
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

pub(crate) fn report(args: &ReportArgs) -> anyhow::Result<Exit> {
    let RecordedRun { run, findings, .. } = read_what_is_intact(&args.file)?;
    if let Some(protector) = args.snippet {
        return print_snippet(&findings, protector);
    }
    let is_drawn = matches!(findings.plan.load, Load::Ladder { .. }) || findings.overload.is_some();
    if args.out.is_some() && !is_drawn {
        bail!(
            "{} holds one level of load, and --out draws the table and figures of a ladder; \
             use `plimsoll report` without it, or `plimsoll export` to csv or json",
            args.file.display()
        );
    }
    let values = shown_values(args.show_values);
    let stem = args.name.clone().unwrap_or_else(|| file_stem(&args.file));
    let folder = args.out.as_deref().or(args.file.parent()).unwrap_or(Path::new("."));
    let documents = args.documents.documents(Some((folder, &stem)))?;
    documents.refuse_second_output(&[("--json", args.json), ("--full", args.full)])?;
    let source = Source { run: &run, findings: &findings, values, strict: false };
    match documents.printed(&source)? {
        Some(document) => result(&document)?,
        None => {
            let form = if args.json { Form::Json(values) } else { Form::new(false, args.full) };
            print_run(&run, &findings, form, Some(&args.file))?;
        }
    }
    let mut written = Written::default();
    if let Some(folder) = &args.out {
        let shown = for_figures(&findings, values);
        let outputs = Output::of_run(&stem, run.manifest.command, &shown);
        written = Written::to(folder, outputs, args.force);
    }
    written.extend(documents.write(&source, args.force));
    Ok(Exit::of_all(written.report(false) && run.damage.is_empty(), false))
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
