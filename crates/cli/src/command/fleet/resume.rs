//! `plimsoll fleet resume`: resumes a run whose conductor died.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use plimsoll_analyze::{RunStatus, analyze};
use plimsoll_conductor::{LeftRun, Outcome, resume};
use plimsoll_fleet::{BrokerAddress, ConductorKey, Fleet, FleetSession, Resuming};
use plimsoll_plan::{FleetSpec, Plan};
use plimsoll_record::Run;
use plimsoll_store::{RunWriter, SessionFile, StoreError};

use crate::args::{FleetAt, StoreArgs, values};
use crate::command::recorded::{Form, print_run};
use crate::delivery;
use crate::exit::{Exit, UsageError};
use crate::files::run_file_is_whole;
use crate::progress::Display;
use crate::signals;
use crate::terminal::remark;

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  # Go on with the newest run, whose conductor was killed
  plimsoll fleet resume last
  # Complete its file without any further load
  plimsoll fleet resume last --finish-only
  # The broker has moved
  plimsoll fleet resume plimsoll-runs/shop-20260101-120000.plimsoll --fleet nats://b:4222")]
pub(super) struct ResumeArgs {
    /// The run file; `last` is the newest
    #[arg(value_parser = values::run_file())]
    file: PathBuf,
    /// The broker [default: that of the run]
    #[arg(long = "fleet", value_name = "nats://HOST:PORT")]
    address: Option<BrokerAddress>,
    #[command(flatten)]
    at: FleetAt,
    /// Complete the run file with what was measured, and make none of the steps that are left
    #[arg(long)]
    finish_only: bool,
    /// The key with which this conductor signs [default: that of the run]
    #[arg(long, value_name = "FILE")]
    fleet_key: Option<PathBuf>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    /// The full report instead of the short answer
    #[arg(long)]
    full: bool,
    /// No progress on standard error
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    store: StoreArgs,
}

pub(super) fn run(args: &ResumeArgs) -> anyhow::Result<Exit> {
    let interrupted = signals::interrupted()?;
    let store = args.store.address()?;
    let (left, session) = left_run(&args.file)?;
    let mut fleet = take_over(args, &session.1, &interrupted)?;
    if !args.quiet {
        remark(&format!("plimsoll: goes on with the run of {}", fleet.names().join(", ")));
    }
    let resumed = go_on(args, (left, session), &mut fleet, &interrupted);
    let outcome = match resumed {
        Ok(outcome) => {
            report_end(fleet.end());
            outcome
        }
        Err(error) => {
            report_end(fleet.leave());
            return Err(error);
        }
    };
    let findings = analyze(&outcome.run)?;
    let printed =
        print_run(&outcome.run, &findings, Form::new(args.json, args.full), outcome.file.as_deref());
    // A run that cannot be printed is still delivered.
    if let (Some(store), Some(file)) = (store, &outcome.file) {
        delivery::hand_over(file, &store, args.quiet, &interrupted);
    }
    printed?;
    Ok(match run_file_is_whole(outcome.trouble) {
        true => RunStatus::new(&outcome.run, &findings, false).into(),
        false => Exit::CouldNotRun,
    })
}

fn report_end(ended: Result<(), plimsoll_fleet::FleetError>) {
    if let Err(error) = ended {
        remark(&format!("plimsoll: the agents may keep what they have for a while: {error}"));
    }
}

type Session = (SessionFile, FleetSession);

/// Reads a run whose conductor died, and the session that resumes it. From here on no other process can resume it.
fn left_run(file: &Path) -> anyhow::Result<((Run, Plan), Session)> {
    refuse_complete(file)?;
    let Some((locked, text)) = SessionFile::open(file)? else {
        return Err(UsageError(format!(
            "{0} is not the file of a fleet's run: {0}-session is not there; move both files together",
            file.display()
        ))
        .into());
    };
    // Another process may have completed it before it was locked.
    let run = refuse_complete(file)?;
    if let Some(damage) = run.damage.first() {
        let reason = plimsoll_report::words::damage(damage);
        return Err(StoreError::Damaged { path: file.to_owned(), reason }.into());
    }
    let plan = Plan::from_json(&run.manifest.plan)?;
    Ok(((run, plan), (locked, FleetSession::from_json(&text)?)))
}

fn refuse_complete(file: &Path) -> anyhow::Result<Run> {
    let run = plimsoll_store::read(file)?;
    match run.manifest.sealed {
        true => Err(UsageError(StoreError::Complete { path: file.to_owned() }.to_string()).into()),
        false => Ok(run),
    }
}

fn take_over(
    args: &ResumeArgs,
    session: &FleetSession,
    interrupted: &Arc<AtomicBool>,
) -> anyhow::Result<Fleet> {
    let recorded = FleetSpec {
        at: session.broker.clone(),
        agents: None,
        on_loss: None,
        credentials: session.credentials.clone(),
        key: session.key.clone(),
        cacert: session.cacert.clone(),
        cert: session.cert.clone(),
        name: Some(session.fleet.clone()),
    };
    let address = args.address.clone().map_or_else(|| recorded.at.parse(), Ok)?;
    let key = args.fleet_key.as_ref().or(recorded.key.as_ref());
    Ok(Fleet::resume(Resuming {
        broker: args.at.over(&recorded)?.broker(&address)?,
        key: key.map(|path| ConductorKey::read(path)).transpose()?,
        session,
        version: env!("CARGO_PKG_VERSION"),
        interrupted: Arc::clone(interrupted),
    })?)
}

fn go_on(
    args: &ResumeArgs,
    ((run, plan), (session, of_fleet)): ((Run, Plan), Session),
    fleet: &mut Fleet,
    interrupted: &AtomicBool,
) -> anyhow::Result<Outcome> {
    let (writer, open) = RunWriter::resume(&args.file)?;
    let (file, on_loss, finish_only) = (args.file.clone(), of_fleet.on_loss, args.finish_only);
    let left = LeftRun { run, plan, file, writer, open, session, on_loss, finish_only };
    Ok(resume(left, fleet, interrupted, &mut Display::new(args.quiet))?)
}
