//! The generators of a lab: processes of this program on the generators' hosts.
//!
//! This side starts them, samples the lab's hosts for them and changes caps at their request. [`process`] is the generators'
//! side.

mod caps;
mod process;
mod sampling;

use std::io::{self, BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use plimsoll_conductor::peers::{CapChange, Message, receive_line};
use plimsoll_host::Host;
use plimsoll_lab::{Lab, LabError, LabHost, LabProcess, NetworkNamespace};
use plimsoll_plan::Plan;
use plimsoll_record::HostSample;
use plimsoll_sys::create_private;
use plimsoll_units::best_effort;

use crate::ExperimentError;
use crate::context::{Progress, RunContext, RunSettings};
use caps::LabCaps;

pub use process::{GeneratorOptions, generate};

/// How often the generator is polled: its exit cannot be awaited together with Ctrl-C.
const POLL: Duration = Duration::from_millis(20);

/// Runs a plan on the generators' hosts of a lab; returns the run file.
pub(crate) fn run(lab: &mut Lab, plan: &Plan, context: RunContext<'_>) -> Result<PathBuf, ExperimentError> {
    let path = lab.folder().join("plan.json");
    let socket = lab.folder().join("generators.sock");
    remove_older(&socket)?;
    write_for_this_user(&path, &plan.to_json())?;
    let here = std::env::current_dir().map_err(ExperimentError::system("find the current folder"))?;
    let (sampled, capping) = (sampling::hosts(lab, plan), lab.capping());
    let starts_uncapped = uncap(lab, plan)?;
    let Lab { hosts, generators, network, .. } = lab;
    let [leader, others @ ..] = generators.as_slice() else {
        return Err(ExperimentError::NoHosts("the generator".to_owned()));
    };
    let socket = (!others.is_empty()).then_some(socket.as_path());
    let mut leading = command(&path, socket, context)?;
    if !others.is_empty() {
        leading.arg("--peers").arg(others.len().to_string());
    }
    if let Some(line) = &context.settings.command_line {
        leading.arg("--command-line").arg(line);
    }
    let RunSettings { quiet, prove, .. } = *context.settings;
    let flags = [(quiet, "--quiet"), (prove, "--prove"), (starts_uncapped, "--free")];
    leading.args(flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag));
    leading.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = leader.spawn(leading, &here)?;
    // Followers end with the leader; if dropped early, they are killed.
    let mut followers = Vec::new();
    for host in others {
        let mut following = command(&path, socket, context)?;
        following.stdin(Stdio::null()).stdout(Stdio::null());
        followers.push(host.spawn(following, &here)?);
    }
    let ended = watch(sampled, network, LabCaps { hosts, capping }, &mut process, context);
    // A generator that ended during the warm-up has not asked for the caps.
    hosts.iter_mut().try_for_each(LabHost::apply_caps)?;
    let (status, file) = ended?;
    match file {
        Some(file) => Ok(file),
        None if context.is_interrupted() => Err(LabError::Interrupted.into()),
        None => Err(ExperimentError::Generator(status)),
    }
}

/// Writes a file that other users cannot read: a plan holds the headers and bodies of its requests, including secrets.
fn write_for_this_user(path: &Path, text: &str) -> Result<(), ExperimentError> {
    remove_older(path)?;
    let written = create_private(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(ExperimentError::file("write", path))
}

/// Removes the file that the previous run left in a reused lab.
fn remove_older(path: &Path) -> Result<(), ExperimentError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(ExperimentError::file("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Removes the core caps of hosts that start uncapped and take part in a run with a warm-up; true if there are any.
fn uncap(lab: &mut Lab, plan: &Plan) -> Result<bool, LabError> {
    let takes_part = |host: &LabHost| plan.hosts.iter().any(|known| known.name == host.name);
    let hosts = lab.hosts.iter_mut().filter(|_| plan.warm.is_some());
    let free: Vec<_> = hosts.filter(|host| host.starts_uncapped() && takes_part(host)).collect();
    let any = !free.is_empty();
    free.into_iter().try_for_each(LabHost::uncap)?;
    Ok(any)
}

/// The command of a process on a generator's host. `socket` is the socket on which several generators meet.
fn command(plan: &Path, socket: Option<&Path>, context: RunContext<'_>) -> Result<Command, ExperimentError> {
    let program = std::env::current_exe().map_err(ExperimentError::system("find this program"))?;
    let out = &context.settings.out;
    let out = std::path::absolute(out).map_err(ExperimentError::file("find the folder", out))?;
    let mut command = Command::new(program);
    command.args(["lab", "generator", "--plan"]).arg(plan).arg("--out").arg(out);
    if let Some(socket) = socket {
        command.arg("--meet").arg(socket);
    }
    Ok(command)
}

/// Samples the hosts of the lab until the generator ends; returns its exit status and the run file that it named. A sampling
/// error loses samples, but not the run.
fn watch(
    hosts: Vec<Host>,
    network: &NetworkNamespace,
    caps: LabCaps<'_>,
    process: &mut LabProcess<'_>,
    context: RunContext<'_>,
) -> Result<(ExitStatus, Option<PathBuf>), ExperimentError> {
    let (Some(input), Some(output)) = (process.child.stdin.take(), process.child.stdout.take()) else {
        let closed = io::ErrorKind::BrokenPipe.into();
        return Err(ExperimentError::system("open the generator's input and output")(closed));
    };
    thread::scope(|scope| {
        let (answers, samples) = mpsc::channel();
        let (sender, received) = mpsc::channel();
        let sampling = scope.spawn(move || sampling::write_samples(hosts, network, input, samples));
        scope.spawn(move || pass_on(&mut BufReader::new(output), &sender));
        let ended = Conversation { received, answers, caps, file: None }.hold(process, context);
        if ended.is_err() {
            // The thread that reads the generator's output runs until the generator ends.
            best_effort(process.child.kill(), "it fails only if the generator has ended");
        }
        match sampling.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => context.report(&Progress::SamplingFailed(Some(&error))),
            Err(_) => context.report(&Progress::SamplingFailed(None)),
        }
        ended
    })
}

/// Forwards the generator's messages, until it ends or the receiver is gone.
fn pass_on(from: &mut impl BufRead, to: &Sender<io::Result<Message>>) {
    while let Some(message) = receive_line(from).transpose() {
        let unreadable = message.is_err();
        if to.send(message).is_err() || unreadable {
            return;
        }
    }
}

/// The exchange of messages with the generator.
struct Conversation<'a> {
    received: Receiver<io::Result<Message>>,
    answers: Sender<HostSample>,
    caps: LabCaps<'a>,
    /// The run file, once the generator has named it.
    file: Option<PathBuf>,
}

impl Conversation<'_> {
    /// Handles the generator's requests until it ends. The generator has its own terminal session, so Ctrl-C does not reach it
    /// directly.
    fn hold(
        mut self,
        process: &mut LabProcess<'_>,
        context: RunContext<'_>,
    ) -> Result<(ExitStatus, Option<PathBuf>), ExperimentError> {
        let mut interrupted = false;
        loop {
            let ended =
                process.child.try_wait().map_err(ExperimentError::system("wait for the generator"))?;
            if let Some(status) = ended {
                return Ok((status, self.last()));
            }
            if context.is_interrupted() && !interrupted {
                interrupted = true;
                best_effort(process.interrupt(), "it has ended, which the next poll shows");
            }
            match self.received.recv_timeout(POLL) {
                Ok(message) => self.take(message)?,
                Err(RecvTimeoutError::Timeout) => {}
                // The generator closed its output, and is about to end.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(POLL),
            }
        }
    }

    fn take(&mut self, message: io::Result<Message>) -> Result<(), ExperimentError> {
        match message.map_err(ExperimentError::system("read what the generator reports"))? {
            Message::Caps(CapChange::Apply) => self.caps.apply()?,
            Message::Caps(CapChange::Raise(raise)) => best_effort(
                self.answers.send(self.caps.raise(&raise)),
                "without the thread that samples the hosts the generator gets no answer, and reports that",
            ),
            Message::Recorded { file } => self.file = Some(file),
            // The lab ignores messages between coordinator and peers.
            _ => {}
        }
        Ok(())
    }

    /// The last run file that the generator named. Requests for caps no longer matter.
    fn last(self) -> Option<PathBuf> {
        let named = self.received.iter().filter_map(|message| match message {
            Ok(Message::Recorded { file }) => Some(file),
            _ => None,
        });
        named.last().or(self.file)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn no_other_user_can_read_the_plan_of_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.json");
        for text in ["a longer plan", "a plan"] {
            write_for_this_user(&path, text).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
