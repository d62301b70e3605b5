//! The generator of a lab: this program again, on the generator's host.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use plimsoll_conductor::{Caps, Lever, RunOptions, conduct};
use plimsoll_host::{Host, StreamSource};
use plimsoll_lab::{Lab, LabError, LabHost, LabParts, LabProcess, NetworkNamespace};
use plimsoll_plan::Plan;
use plimsoll_record::HostSample;

use super::case::whole;
use super::lever::{self, Asked, Asking, Levers};
use super::mates;
use super::watch;
use crate::args::{CaseArgs, GeneratorArgs};
use crate::command::measure::run_file_is_whole;
use crate::exit::Exit;
use crate::progress::Display;
use crate::signals;
use crate::terminal::{remark, result};

/// How often the generator is looked after: its end is no event that could be waited for beside Ctrl-C.
const POLL: Duration = Duration::from_millis(20);

/// Makes the run of a frozen plan. The last line of standard output is the run file.
pub(super) fn generate(args: &GeneratorArgs) -> anyhow::Result<Exit> {
    let text = std::fs::read_to_string(&args.plan)
        .with_context(|| format!("could not read the plan {}", args.plan.display()))?;
    let plan = Plan::from_json(&text)?;
    let interrupted = signals::interrupted().context("could not watch for Ctrl-C")?;
    let mates = match &args.meet {
        None => None,
        Some(socket) if args.mates == 0 => return mates::assist_at(socket, plan, &interrupted),
        Some(socket) => Some(mates::lead(socket, args.mates, &interrupted)?),
    };
    let (mut raising, mut holding) = (Asking, Asking);
    let options = RunOptions {
        folder: Some(&args.out),
        feeds: vec![Box::new(StreamSource::reader("the lab", Box::new(std::io::stdin())))],
        lever: args.prove.then_some(&mut raising as &mut dyn Lever),
        caps: args.free.then_some(&mut holding as &mut dyn Caps),
        mates,
        // Without calibrations: what the machine can do at most is not what this host can.
        ..RunOptions::new("lab", env!("CARGO_PKG_VERSION"), &interrupted)
    };
    let outcome = conduct(plan, options, &mut Display::new(args.quiet))?;
    if let Some(file) = &outcome.file {
        result(&format!("{}\n", file.display()))?;
    }
    Ok(if run_file_is_whole(outcome.trouble) { Exit::Held } else { Exit::CouldNotRun })
}

/// Runs a plan on the generator's host of a lab; gives the run file.
pub(super) fn run(
    lab: &mut Lab,
    plan: &Plan,
    how: &CaseArgs,
    interrupted: &AtomicBool,
) -> anyhow::Result<PathBuf> {
    let path = lab.folder().join("plan.json");
    let socket = lab.folder().join("generators.sock");
    // That of the run before is still there if the lab is.
    std::fs::remove_file(&socket).ok();
    std::fs::write(&path, plan.to_json()).with_context(|| format!("could not write {}", path.display()))?;
    let here = std::env::current_dir().context("could not tell the current folder")?;
    let (looked_at, capping) = (watch::hosts(lab, plan), lab.capping());
    let free = let_free(lab, plan)?;
    let LabParts { hosts, generators, network } = lab.parts();
    let [leader, others @ ..] = generators else { bail!("the lab has no generator") };
    let order = Order { plan: &path, socket: (!others.is_empty()).then_some(&socket), free, how };
    let mut process = leader.spawn(order.leader(others.len())?, &here)?;
    // They end with the leader; dropped, they are killed.
    let _others = order.mates(others, &here)?;
    let levers = Levers { hosts, capping };
    let ended = watched((looked_at, network), levers, &mut process, interrupted);
    // A generator that ended during the warm-up has asked for nothing.
    hosts.iter_mut().try_for_each(LabHost::hold)?;
    let (status, said) = ended?;
    match said {
        Some(file) => Ok(PathBuf::from(file)),
        None if interrupted.load(Ordering::Relaxed) => Err(LabError::Interrupted.into()),
        None => bail!("the generator made no run file ({status}); what it says stands above"),
    }
}

/// Takes their caps of cores from the hosts that start free and take part in a run that warms up; true if there are any.
fn let_free(lab: &mut Lab, plan: &Plan) -> Result<bool, LabError> {
    let takes_part = |host: &LabHost| plan.hosts.iter().any(|known| known.name == host.name());
    let hosts = lab.parts().hosts.iter_mut();
    let mut free =
        hosts.filter(|host| plan.warm.is_some() && host.starts_free() && takes_part(host)).peekable();
    let any = free.peek().is_some();
    free.try_for_each(LabHost::let_free)?;
    Ok(any)
}

/// What the processes on the generators' hosts are told.
struct Order<'a> {
    plan: &'a Path,
    /// Where they meet, if there are several.
    socket: Option<&'a PathBuf>,
    /// Hosts have no caps until they are warm.
    free: bool,
    how: &'a CaseArgs,
}

impl Order<'_> {
    fn command(&self) -> anyhow::Result<Command> {
        let program = std::env::current_exe().context("could not tell where this program is")?;
        let mut command = Command::new(program);
        command.args(["lab", "generator", "--plan"]).arg(self.plan).arg("--out").arg(whole(&self.how.out)?);
        if let Some(socket) = self.socket {
            command.arg("--meet").arg(socket);
        }
        Ok(command)
    }

    fn leader(&self, mates: usize) -> anyhow::Result<Command> {
        let mut command = self.command()?;
        if mates > 0 {
            command.arg("--mates").arg(mates.to_string());
        }
        let flags = [(self.how.quiet, "--quiet"), (self.how.prove, "--prove"), (self.free, "--free")];
        command.args(flags.iter().filter(|(wanted, _)| *wanted).map(|(_, flag)| flag));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Ok(command)
    }

    /// Starts a process on each of the hosts.
    fn mates<'a>(&self, hosts: &'a [LabHost], folder: &Path) -> anyhow::Result<Vec<LabProcess<'a>>> {
        let mut processes = Vec::new();
        for host in hosts {
            let mut command = self.command()?;
            command.stdin(Stdio::null()).stdout(Stdio::null());
            processes.push(host.spawn(command, folder)?);
        }
        Ok(processes)
    }
}

/// Looks at the hosts of the lab until the generator ends; gives what it said last. What fails in looking costs the
/// samples, not the run.
fn watched(
    (hosts, network): (Vec<Host>, &NetworkNamespace),
    levers: Levers<'_>,
    process: &mut LabProcess<'_>,
    interrupted: &AtomicBool,
) -> anyhow::Result<(ExitStatus, Option<String>)> {
    let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
        bail!("the generator cannot be spoken with");
    };
    thread::scope(|scope| {
        let (answers, told) = mpsc::channel();
        let (lines, said) = mpsc::channel();
        let looking = scope.spawn(move || watch::write_samples(hosts, network, input, told));
        scope.spawn(move || {
            // Nobody takes the lines any more once the generator is given up.
            let whole = BufReader::new(output).lines().map_while(Result::ok);
            whole.map(|line| lines.send(line)).find(Result::is_err)
        });
        let ended = wait(process, Spoken { said, answers, levers }, interrupted);
        match looking.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => remark(&format!("plimsoll: the lab's hosts could not be looked at: {error}")),
            Err(_) => remark(
                "plimsoll: what looks at the lab's hosts ended too early; the report says which samples there are",
            ),
        }
        ended
    })
}

/// What the generator says and is told.
struct Spoken<'a> {
    said: Receiver<String>,
    answers: Sender<HostSample>,
    levers: Levers<'a>,
}

impl Spoken<'_> {
    /// Does what a line asks for; gives any other line back.
    fn heard(&mut self, line: String) -> Result<Option<String>, LabError> {
        match lever::asked(&line) {
            None => return Ok(Some(line)),
            Some(Asked::Hold) => self.levers.hold()?,
            Some(Asked::Raise(raise)) => {
                let answer = self.levers.raise(&raise);
                // Whoever would pass it on is gone only if the generator is, which then needs no answer.
                self.answers.send(answer).ok();
            }
        }
        Ok(None)
    }
}

/// Waits for the end of the generator and does what it asks for. It does not hear of Ctrl-C by itself: it leads a session of
/// its own.
fn wait(
    process: &mut LabProcess<'_>,
    mut spoken: Spoken<'_>,
    interrupted: &AtomicBool,
) -> anyhow::Result<(ExitStatus, Option<String>)> {
    let (mut told, mut last) = (false, None);
    loop {
        if let Some(status) = process.try_wait().context("could not wait for the generator")? {
            let rest = spoken.said.iter().filter(|line| lever::asked(line).is_none());
            return Ok((status, rest.last().or(last)));
        }
        if interrupted.load(Ordering::Relaxed) && !told {
            told = true;
            // If it ended meanwhile, the next look shows it.
            process.interrupt().ok();
        }
        match spoken.said.recv_timeout(POLL) {
            Ok(line) => last = spoken.heard(line)?.or(last),
            Err(RecvTimeoutError::Timeout) => {}
            // It said its last word, and is about to end.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(POLL),
        }
    }
}
