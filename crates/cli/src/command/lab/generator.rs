//! The generator of a lab: this program again, on the generator's host.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use plimsoll_conductor::{RunOptions, conduct};
use plimsoll_host::StreamFeed;
use plimsoll_lab::{Lab, LabProcess};
use plimsoll_plan::Plan;

use super::case::whole;
use super::watch;
use crate::args::{CaseArgs, GeneratorArgs};
use crate::command::measure::run_file_is_whole;
use crate::exit::Exit;
use crate::progress::Display;
use crate::signals;
use crate::terminal::{remark, result};

/// How often the generator is looked after: its end is no event that could be waited for beside Ctrl-C.
const POLL: Duration = Duration::from_millis(20);

/// Makes the run of a frozen plan. The first line of standard output is the run file.
pub(super) fn generate(args: &GeneratorArgs) -> anyhow::Result<Exit> {
    let text = std::fs::read_to_string(&args.plan)
        .with_context(|| format!("could not read the plan {}", args.plan.display()))?;
    let plan = Plan::from_json(&text)?;
    let interrupted = signals::interrupted().context("could not watch for Ctrl-C")?;
    let options = RunOptions {
        command: "lab",
        ask_first: false,
        csv: None,
        folder: Some(&args.out),
        interrupted: &interrupted,
        tool_version: env!("CARGO_PKG_VERSION"),
        supplied: None,
        // What the machine can do at most is not what this host can.
        calibrations: &[],
        feeds: vec![Box::new(StreamFeed::reader("the lab", Box::new(std::io::stdin())))],
        probing: false,
    };
    let outcome = conduct(plan, options, &mut Display::new(args.quiet))?;
    if let Some(file) = &outcome.file {
        result(&format!("{}\n", file.display()))?;
    }
    Ok(if run_file_is_whole(outcome.trouble) { Exit::Held } else { Exit::CouldNotRun })
}

/// Runs a plan on the generator's host of a lab; gives the run file.
pub(super) fn run(
    lab: &Lab,
    plan: &Plan,
    how: &CaseArgs,
    interrupted: &AtomicBool,
) -> anyhow::Result<PathBuf> {
    let path = lab.folder().join("plan.json");
    std::fs::write(&path, plan.to_json()).with_context(|| format!("could not write {}", path.display()))?;
    let program = std::env::current_exe().context("could not tell where this program is")?;
    let mut command = Command::new(program);
    command.args(["lab", "generator", "--plan"]).arg(&path).arg("--out").arg(whole(&how.out)?);
    if how.quiet {
        command.arg("--quiet");
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let here = std::env::current_dir().context("could not tell the current folder")?;
    let mut process = lab.generator().spawn(command, &here)?;
    let status = watched(lab, plan, &mut process, interrupted)?;
    let mut said = String::new();
    if let Some(mut output) = process.stdout.take() {
        output.read_to_string(&mut said).context("could not read what the generator said")?;
    }
    match said.lines().next() {
        Some(file) => Ok(PathBuf::from(file)),
        None => bail!("the generator made no run file ({status}); what it says stands above"),
    }
}

/// Looks at the hosts of the lab until the generator ends. What fails in looking costs the samples, not the run.
fn watched(
    lab: &Lab,
    plan: &Plan,
    process: &mut LabProcess<'_>,
    interrupted: &AtomicBool,
) -> anyhow::Result<ExitStatus> {
    let Some(input) = process.stdin.take() else { return wait(process, interrupted) };
    let (hosts, network) = (watch::hosts(lab, plan), lab.network());
    thread::scope(|scope| {
        let (running, ended) = mpsc::channel();
        let looking = scope.spawn(move || watch::write_samples(hosts, network, input, ended));
        let status = wait(process, interrupted);
        drop(running);
        match looking.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => remark(&format!("plimsoll: the lab's hosts could not be looked at: {error}")),
            Err(_) => remark(
                "plimsoll: what looks at the lab's hosts ended too early; the report says which samples there are",
            ),
        }
        status
    })
}

/// Waits for the end of the generator. It does not hear of Ctrl-C by itself: it leads a session of its own.
fn wait(process: &mut LabProcess<'_>, interrupted: &AtomicBool) -> anyhow::Result<ExitStatus> {
    let mut told = false;
    loop {
        if let Some(status) = process.try_wait().context("could not wait for the generator")? {
            return Ok(status);
        }
        if interrupted.load(Ordering::Relaxed) && !told {
            told = true;
            // If it ended meanwhile, the next look shows it.
            process.interrupt().ok();
        }
        thread::sleep(POLL);
    }
}
