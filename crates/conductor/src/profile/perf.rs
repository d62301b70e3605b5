//! A CPU profile by `perf`, for targets that have no page of their own.

use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use plimsoll_plan::Profiled;
use plimsoll_record::ProfileForm;
use plimsoll_units::{Clock, RealClock};
use rustix::process::{Pid, Signal, kill_process};

use super::error::{GRACE, ProfileError};

/// How long the trial takes that shows whether perf is permitted.
const TRIAL: Duration = Duration::from_millis(100);

/// How often the end of perf is checked: one wait cannot cover both that and the end of the run.
const LOOK_EVERY: Duration = Duration::from_millis(20);

const SAID_CHARS: usize = 160;

/// The processes that perf profiles.
#[derive(Debug, Clone)]
pub(super) struct Perf {
    pids: Vec<u32>,
}

impl Perf {
    /// Finds the processes. `target_port` is that of a target on this machine.
    pub(super) fn find(profiled: Profiled, target_port: Option<u16>) -> Result<Self, ProfileError> {
        let port = match profiled {
            Profiled::Pid(pid) if Path::new(&format!("/proc/{pid}")).exists() => {
                return Ok(Self { pids: vec![pid] });
            }
            Profiled::Pid(pid) => return Err(ProfileError::NoProcess { pid }),
            Profiled::Port(port) => port,
            Profiled::Target => target_port.ok_or(ProfileError::Elsewhere)?,
        };
        let pids = plimsoll_host::serving(Path::new("/"), port);
        let pids = pids.map_err(|reason| ProfileError::System { what: "find who listens", reason })?;
        if pids.is_empty() { Err(ProfileError::NoListener { port }) } else { Ok(Self { pids }) }
    }

    pub(super) fn name(&self) -> String {
        format!("perf of {}", self.processes())
    }

    fn processes(&self) -> String {
        let noun = if self.pids.len() == 1 { "process" } else { "processes" };
        format!("{noun} {}", self.list(", "))
    }

    fn list(&self, joint: &str) -> String {
        self.pids.iter().map(u32::to_string).collect::<Vec<_>>().join(joint)
    }

    /// Checks that perf is installed and permitted.
    pub(super) fn try_out(&self) -> Result<(), ProfileError> {
        let (_cancel, cancelled) = std::sync::mpsc::channel();
        self.take(TRIAL, &cancelled).map(drop)
    }

    /// Profiles for so long, or until the other end of `cancelled` is gone.
    pub(super) fn take(&self, time: Duration, cancelled: &Receiver<()>) -> Result<Vec<u8>, ProfileError> {
        let folder = tempfile::tempdir().map_err(|reason| system("make a folder for perf", reason))?;
        let file = folder.path().join("perf.data");
        self.record(&file, time, cancelled)?;
        let text = self.script(&file)?;
        let read = plimsoll_profile::parse(ProfileForm::Perf, &text);
        read.map_err(|reason| ProfileError::NoProfile { source_name: self.name(), reason })?;
        plimsoll_profile::pack(&text).map_err(|reason| system("pack the profile", reason))
    }

    /// The clock of the CPU is sampled, which every machine has and whose periods are time. A virtual machine may have no
    /// counter of cycles.
    fn record(&self, file: &Path, time: Duration, cancelled: &Receiver<()>) -> Result<(), ProfileError> {
        let mut command = perf();
        command
            .args(["record", "-q", "-e", "cpu-clock", "-F", "99", "-g", "-p", &self.list(","), "-o"])
            .arg(file);
        command.args(["--", "sleep", &time.as_secs_f64().to_string()]);
        let mut child = command.stdout(Stdio::null()).spawn().map_err(not_started)?;
        let outcome = wait(&mut child, time + GRACE, cancelled);
        let mut said = String::new();
        if let Some(mut errors) = child.stderr.take()
            && let Err(error) = errors.read_to_string(&mut said)
        {
            said = format!("its messages cannot be read ({error})");
        }
        if outcome? { Ok(()) } else { Err(self.refused(&said)) }
    }

    /// The samples as text. Frames of inlined functions are left out: to find them takes perf minutes.
    fn script(&self, file: &Path) -> Result<Vec<u8>, ProfileError> {
        let mut command = perf();
        command.args(["script", "--no-inline", "-F", "period,ip,sym,dso", "-i"]).arg(file);
        let Output { status, stdout, stderr } = command.output().map_err(not_started)?;
        match status.success() {
            true => Ok(stdout),
            false => Err(self.refused(&String::from_utf8_lossy(&stderr))),
        }
    }

    fn refused(&self, said: &str) -> ProfileError {
        let lines = said.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "Error:");
        let said: String = lines.take(2).collect::<Vec<_>>().join(" ").chars().take(SAID_CHARS).collect();
        let said =
            if said.is_empty() { "it ended with an error and does not say why".to_owned() } else { said };
        ProfileError::PerfRefused { processes: self.processes(), said }
    }
}

fn perf() -> Command {
    let mut command = Command::new("perf");
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    command
}

fn not_started(error: io::Error) -> ProfileError {
    match error.kind() {
        io::ErrorKind::NotFound => ProfileError::NoPerf,
        _ => system("start perf", error),
    }
}

fn system(what: &'static str, reason: io::Error) -> ProfileError {
    ProfileError::System { what, reason }
}

/// Waits for the end of perf; true if it ended well. It ends its own `sleep` when it is asked to end.
fn wait(child: &mut Child, patience: Duration, cancelled: &Receiver<()>) -> Result<bool, ProfileError> {
    let deadline = RealClock.now() + patience;
    let why = loop {
        if let Some(status) = child.try_wait().map_err(|reason| system("wait for perf", reason))? {
            return Ok(status.success());
        }
        if RealClock.now() >= deadline {
            break ProfileError::Late(GRACE);
        }
        if cancelled.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Disconnected) {
            break ProfileError::Cancelled;
        }
    };
    terminate(child).map_err(|reason| system("end perf", reason))?;
    child.wait().map_err(|reason| system("wait for perf", reason))?;
    Err(why)
}

/// Asks for the end of a process that is still to be waited for, so that its number is its own.
fn terminate(child: &Child) -> io::Result<()> {
    let pid = Pid::from_child(child);
    Ok(kill_process(pid, Signal::TERM)?)
}
