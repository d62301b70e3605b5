//! The processes of a fleet: they outlive the command that starts them.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use plimsoll_units::{Clock as _, RealClock, best_effort};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::error::FleetError;

/// Processes have so long to end after they were asked to.
const DOWN_WITHIN: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A process of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetProcess {
    pub name: String,
    pub pid: i32,
    /// When it was started, in ticks since the machine was: a number that is used again belongs to another process.
    started: u64,
}

impl FleetProcess {
    fn of(name: String, pid: u32) -> Result<Self, FleetError> {
        let pid = pid.cast_signed();
        let started = started(pid).ok_or(FleetError::Ended { why: format!("{name} ended at once") })?;
        Ok(Self { name, pid, started })
    }

    /// True if the process is still there.
    pub fn is_running(&self) -> bool {
        started(self.pid) == Some(self.started)
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid).filter(|_| self.is_running()) {
            best_effort(kill_process(pid, signal), "it has just ended");
        }
    }
}

/// When a process was started, by its 22nd field in `/proc`; `None` if it is gone, or only waits to be collected.
fn started(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    fields.nth(18)?.parse().ok().filter(|_| state != "Z")
}

/// Ends these processes, and waits until they have ended.
pub(crate) fn end_all(processes: &[FleetProcess]) {
    processes.iter().for_each(|process| process.signal(Signal::TERM));
    let deadline = RealClock.now() + DOWN_WITHIN;
    while processes.iter().any(FleetProcess::is_running) && RealClock.now() < deadline {
        thread::sleep(POLL_INTERVAL);
    }
    processes.iter().for_each(|process| process.signal(Signal::KILL));
}

/// Starts a process that outlives this one and writes to a log.
pub(crate) fn spawn(mut command: Command, log: &Path, name: String) -> Result<FleetProcess, FleetError> {
    let log = File::create(log).map_err(FleetError::system("could not make a log"))?;
    let same = log.try_clone().map_err(FleetError::system("could not make a log"))?;
    command.stdin(Stdio::null()).stdout(log).stderr(same).process_group(0);
    let mut child = command.spawn().map_err(FleetError::system("could not start a process of the fleet"))?;
    let process = FleetProcess::of(name, child.id())?;
    // Collected when it ends, so that it is not taken for one that runs.
    let collect = thread::Builder::new().name("collect".to_owned()).spawn(move || child.wait());
    collect.map_err(FleetError::system("could not start a thread"))?;
    Ok(process)
}
