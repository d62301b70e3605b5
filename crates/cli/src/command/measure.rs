//! The commands that make load: the whole answer, a sweep, one run.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context as _;
use plimsoll_analyze::{Findings, RunStatus, analyze};
use plimsoll_conductor::peers::PeerGroup;
use plimsoll_conductor::{ConductError, Outcome, RunOptions, conduct};
use plimsoll_fleet::{DiscardedRun, EndingFleet, Fleet};
use plimsoll_history::StoreAddress;
use plimsoll_plan::{Load, Plan};
use plimsoll_record::RunCommand;

use super::overload::{announce, print_snippet};
use super::recorded::{Form, print_run};
use crate::args::{
    AnswerArgs, Asked, FleetSetting, KeepArgs, OverloadArgs, RunArgs, SearchArgs, SweepArgs, command_line,
};
use crate::calibrations;
use crate::delivery;
use crate::documents::{Source, Usual};
use crate::exit::{Exit, UsageError};
use crate::files::{self, Output, Written, run_file_is_whole};
use crate::otlp;
use crate::progress::Display;
use crate::screen;
use crate::signals;
use crate::terminal::{remark, result};
use plimsoll_report::json::PageDocument;
use plimsoll_report::{Values, for_figures, page_run};
use plimsoll_web::{LivePage, LiveTotals, OtlpExporter, OtlpSettings};

pub(crate) fn answer(args: &AnswerArgs) -> anyhow::Result<Exit> {
    measure(args.plan()?, RunCommand::Answer, &args.keep, args.slo.strict)
}

pub(crate) fn search(args: &SearchArgs) -> anyhow::Result<Exit> {
    measure(args.plan()?, RunCommand::Search, &args.keep, args.slo.strict)
}

pub(crate) fn overload(args: &OverloadArgs) -> anyhow::Result<Exit> {
    let (asked, recorded) = args.plan()?;
    if !args.keep.quiet {
        announce(&asked.plan, recorded.as_ref());
    }
    let Some(protector) = args.snippet else {
        return measure(asked, RunCommand::Overload, &args.keep, args.slo.strict);
    };
    let documents = args.keep.documents.documents(usual(&args.keep, ""))?;
    documents.refuse_second_output(&[("--snippet", true)])?;
    measure_and(asked, RunCommand::Overload, &args.keep, args.slo.strict, |_, findings| {
        print_snippet(findings, protector)
    })
}

pub(crate) fn sweep(args: &SweepArgs) -> anyhow::Result<Exit> {
    measure(args.plan()?, RunCommand::Sweep, &args.keep, args.slo.strict)
}

pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    measure(args.plan()?, RunCommand::Run, &args.keep, args.slo.strict)
}

fn measure(asked: Asked, command: RunCommand, keep: &KeepArgs, strict: bool) -> anyhow::Result<Exit> {
    let documents = keep.documents.documents(usual(keep, ""))?;
    documents.refuse_second_output(&[("--json", keep.json), ("--full", keep.full)])?;
    measure_and(asked, command, keep, strict, |outcome, findings| {
        match documents.printed(&source(outcome, findings, strict))? {
            Some(document) => result(&document)?,
            None => {
                let form = Form::new(keep.json, keep.full);
                print_run(&outcome.run, findings, form, outcome.file.as_deref())?;
            }
        }
        Ok(Exit::Success)
    })
}

/// Makes a run and prints it with `print`; the exit code is that of the run, unless there was nothing to print.
fn measure_and(
    asked: Asked,
    command: RunCommand,
    keep: &KeepArgs,
    strict: bool,
    print: impl FnOnce(&Outcome, &Findings) -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    refuse_existing(&asked.plan, command, keep)?;
    let store = store(keep)?;
    let totals = LiveTotals::default();
    let pushed = otlp::settings(keep.otlp.as_deref())?;
    check_folder(keep)?;
    warn_of_lengths(&asked.plan);
    let interrupted = signals::interrupted()?;
    let calibrations = calibrations::known();
    let options = RunOptions {
        command_line: command_line(),
        ask_first: matches!(command, RunCommand::Answer | RunCommand::Search | RunCommand::Overload),
        csv: asked.csv.as_deref(),
        folder: (!keep.no_files).then_some(keep.out.as_path()),
        calibrations: &calibrations,
        probing: asked.probing,
        tags: keep.tags.tags(),
        ..RunOptions::new(command, env!("CARGO_PKG_VERSION"), &interrupted)
    };
    let live = live_page(keep)?;
    let name = asked.plan.name.clone();
    let mut fleet = match &asked.fleet {
        Some(setting) => {
            let load = (&asked.plan, asked.csv.as_deref(), longest(&asked.plan));
            Some((setting.gather(load, &interrupted)?, setting))
        }
        None => None,
    };
    let prepared = prepare(&mut fleet, (&asked.plan, keep), (live.as_ref(), &totals), pushed, &interrupted);
    let (met, mut display, exporter) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            wait_for_agents(fleet.map(|(fleet, _)| fleet.begin_end()));
            return Err(error);
        }
    };
    let (peers, session) = met.unzip();
    let options = RunOptions { peers, session, ..options };
    let conducted = conduct(asked.plan, options, &mut display);
    drop(display);
    // The answer does not wait until the agents know that the run is over.
    let ending = fleet.map(|(fleet, _)| fleet.begin_end());
    let answered =
        FinishedRun { name, keep, store, live, exporter, strict }.present(conducted, &interrupted, print);
    wait_for_agents(ending);
    answered
}

/// What a run needs once its agents are found: the agents, the display and the exporter.
type Prepared = (Option<(PeerGroup, String)>, Display, Option<OtlpExporter>);

/// Waits until the agents can begin, and starts to show the run. If this fails, the caller must end the run for the agents.
fn prepare(
    fleet: &mut Option<(Fleet, &FleetSetting)>,
    (plan, keep): (&Plan, &KeepArgs),
    (live, totals): (Option<&LivePage>, &LiveTotals),
    pushed: Option<OtlpSettings>,
    interrupted: &Arc<AtomicBool>,
) -> anyhow::Result<Prepared> {
    let met = fleet.as_mut().map(|fleet| meet(fleet, keep, interrupted)).transpose()?;
    let display = display(plan, keep, interrupted, live, totals)?;
    Ok((met, display, otlp::start(pushed, totals)?))
}

/// Fails, before the load, if files cannot be written to their folder.
fn check_folder(keep: &KeepArgs) -> anyhow::Result<()> {
    if keep.no_files { Ok(()) } else { files::check_writable(&keep.out) }
}

/// What is needed to present a run once it is over.
struct FinishedRun<'a> {
    name: String,
    keep: &'a KeepArgs,
    store: Option<StoreAddress>,
    live: Option<LivePage>,
    exporter: Option<OtlpExporter>,
    strict: bool,
}

impl FinishedRun<'_> {
    /// Analyses the run, prints and writes what was asked for, and delivers the run file.
    fn present(
        self,
        conducted: Result<Outcome, ConductError>,
        interrupted: &AtomicBool,
        print: impl FnOnce(&Outcome, &Findings) -> anyhow::Result<Exit>,
    ) -> anyhow::Result<Exit> {
        let Self { name, keep, store, live, exporter, strict } = self;
        let outcome = conducted.or_else(|error| without_result(error.into(), &name, keep))?;
        let findings = analyze(&outcome.run)?;
        if let Some(live) = &live {
            let run = page_run(&outcome.run, &findings, Values::Hidden)?;
            live.end(&PageDocument::new(vec![run], None));
        }
        // A run that cannot be printed is still written and delivered.
        let printed = print(&outcome, &findings);
        otlp::end(exporter);
        let stem = stem(&outcome, keep);
        let documents = keep.documents.documents(usual(keep, &stem))?;
        let mut written = figures(&outcome, &findings, keep);
        written.paths.splice(0..0, outcome.file.clone());
        written.extend(documents.write(&source(&outcome, &findings, strict), keep.force));
        let figures_are_there = written.report(keep.quiet);
        if let (Some(store), Some(file)) = (store, &outcome.file) {
            delivery::hand_over(file, &store, keep.quiet, interrupted);
        }
        let all_is_kept = run_file_is_whole(outcome.trouble) && figures_are_there;
        // The status of the run counts more than that there are no settings to print.
        Ok(match (all_is_kept, RunStatus::new(&outcome.run, &findings, strict).into()) {
            (false, _) => Exit::CouldNotRun,
            (true, Exit::Success) => printed?,
            (true, status) => printed.map(|_| status)?,
        })
    }
}

/// Waits until the agents know that the run is over.
fn wait_for_agents(ending: Option<EndingFleet>) {
    if let Some(Err(error)) = ending.map(EndingFleet::wait) {
        remark(&format!("plimsoll: the agents may go on until they notice that the run is over: {error}"));
    }
}

/// Waits until the agents of a run can begin. Also returns the session with which the run can be resumed if this process dies.
fn meet(
    (fleet, setting): &mut (Fleet, &FleetSetting),
    keep: &KeepArgs,
    interrupted: &AtomicBool,
) -> anyhow::Result<(PeerGroup, String)> {
    let names = fleet.names();
    fleet.discarded().iter().for_each(|run| remark(&discarded_text(run)));
    if !keep.quiet {
        remark(&format!("plimsoll: agents that make the load: {}", names.join(", ")));
    }
    let met = PeerGroup::meet(fleet, names.len(), env!("CARGO_PKG_VERSION"), interrupted);
    let mut peers = met.map_err(ConductError::from)?;
    peers.set_on_loss(setting.on_loss);
    Ok((peers, setting.session(fleet)?))
}

/// Says that agents discard what they kept of a run that could have been resumed.
fn discarded_text(DiscardedRun { run, agents }: &DiscardedRun) -> String {
    format!(
        "plimsoll: run {run} was not resumed after its conductor died, and this run discards what {} kept of it; \
         plimsoll fleet resume RUN.plimsoll, the file of that run, still collects what the broker holds",
        agents.join(", ")
    )
}

/// Writes the documents of a run that has no result, so that a pipeline shows why; returns the error itself.
fn without_result(error: anyhow::Error, name: &str, keep: &KeepArgs) -> anyhow::Result<Outcome> {
    let stem = keep.name.as_deref().unwrap_or(name);
    let documents = keep.documents.documents(usual(keep, stem))?;
    documents.write_failure(name, &format!("{error:#}"), keep.force)?.report(keep.quiet);
    Err(error)
}

fn live_page(keep: &KeepArgs) -> anyhow::Result<Option<LivePage>> {
    let page = keep.live.map(|address| {
        LivePage::serve(address).with_context(|| {
            format!("could not serve the live page at {address}; name a free port of this machine with --live 127.0.0.1:PORT, or none")
        })
    });
    page.transpose()
}

/// Returns how long a run may take, without overloads; `None` if a number of requests ends it.
fn longest(plan: &Plan) -> Option<Duration> {
    let load = match &plan.load {
        Load::Single { requests_max: Some(_), .. } => return None,
        Load::Single { duration, .. } => *duration,
        Load::Ladder { budget: Some(budget), .. } => return Some(*budget),
        Load::Ladder { step_limit, .. } => step_limit.saturating_mul(plan.load.steps_max()),
    };
    Some(load.saturating_add(plan.warm.unwrap_or_default()))
}

fn display(
    plan: &Plan,
    keep: &KeepArgs,
    interrupted: &Arc<AtomicBool>,
    live: Option<&LivePage>,
    totals: &LiveTotals,
) -> anyhow::Result<Display> {
    // The address of a page or of metrics must stay visible.
    let is_served = live.is_some() || keep.metrics.is_some();
    let on_screen = keep.tui || (!keep.no_tui && !is_served && screen::is_default(longest(plan)));
    let mut display = match on_screen {
        true => Display::on_screen(keep.quiet, interrupted)
            .context("could not start the thread that draws to the terminal; call it with --no-tui"),
        false => Ok(Display::new(keep.quiet)),
    }?;
    if let Some(address) = keep.metrics {
        display = display.with_metrics(address, totals).with_context(|| {
            format!("could not serve metrics at {address}; name a free port of this machine with --metrics 127.0.0.1:PORT")
        })?;
    }
    if keep.otlp.is_some() {
        display = display.with_totals(totals);
    }
    Ok(display.with_live(live))
}

/// Returns the store that gets the run. Refuses, before the load, a store that is named for a run without a file.
fn store(keep: &KeepArgs) -> anyhow::Result<Option<StoreAddress>> {
    if keep.no_files && keep.store.is_given() {
        return Err(UsageError(
            "--store delivers the run file, and --no-files makes none; leave out one".to_owned(),
        )
        .into());
    }
    Ok(keep.store.address()?.filter(|_| !keep.no_files))
}

/// Warns, before the load, of a wrong Content-Length. It is sent as typed, since the wrong length may be what the user tests.
fn warn_of_lengths(plan: &Plan) {
    for request in plan.mixed().iter() {
        let Some((stated, own)) = request.misstated_length() else { continue };
        let of = match request.line {
            0 => String::new(),
            line => format!(" of the request in line {line}"),
        };
        remark(&format!(
            "plimsoll: the header Content-Length{of} says {stated} bytes and the body has {own}: leave the header out, \
             unless the wrong length is what you test"
        ));
    }
}

/// Returns the default folder of documents, with this name without its ending; `None` if no files are written.
fn usual<'a>(keep: &'a KeepArgs, stem: &'a str) -> Usual<'a> {
    (!keep.no_files).then_some((&*keep.out, stem))
}

fn source<'a>(outcome: &'a Outcome, findings: &'a Findings, strict: bool) -> Source<'a> {
    Source { run: &outcome.run, findings, values: Values::Hidden, strict }
}

/// Fails, before the load, if files with a name that the user chose exist already.
fn refuse_existing(plan: &Plan, command: RunCommand, keep: &KeepArgs) -> anyhow::Result<()> {
    if !keep.force {
        let stem = keep.name.as_deref().unwrap_or_default();
        keep.documents.documents(usual(keep, stem))?.refuse_existing()?;
    }
    let Some(name) = keep.name.as_ref().filter(|_| !keep.force && !keep.no_files) else { return Ok(()) };
    let names = files::names_of_run(name, command, plan);
    files::refuse_existing(names.iter().map(|name| keep.out.join(name)), files::ANOTHER_NAME)
}

/// Returns the name of figures and tables: the user's own, or else that of the run file, which is unique.
fn stem(outcome: &Outcome, keep: &KeepArgs) -> String {
    let from_file = || outcome.file.as_ref()?.file_stem()?.to_str().map(ToOwned::to_owned);
    keep.name.clone().or_else(from_file).unwrap_or_else(|| outcome.run.manifest.name.clone())
}

fn figures(outcome: &Outcome, findings: &Findings, keep: &KeepArgs) -> Written {
    if keep.no_files {
        return Written::default();
    }
    let shown = for_figures(findings, Values::Hidden);
    let outputs = Output::of_run(&stem(outcome, keep), outcome.run.manifest.command, &shown);
    Written::to(&keep.out, outputs, keep.force)
}
