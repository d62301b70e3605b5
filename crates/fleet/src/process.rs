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

use crate::deadline::POLL_INTERVAL;
use crate::error::FleetError;

/// How long processes may take to end after they were asked to.
const DOWN_WITHIN: Duration = Duration::from_secs(10);

/// A process of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetProcess {
    pub name: String,
    pub pid: i32,
    /// Start time in clock ticks since boot. With another start time, the pid belongs to another process.
    started: u64,
    /// The id of the machine's boot: after a reboot, another process can have the same pid and ticks. `None` if the kernel does
    /// not report it.
    boot: Option<String>,
}

impl FleetProcess {
    fn of(name: String, pid: u32) -> Result<Self, FleetError> {
        let pid = pid.cast_signed();
        let started = started(pid).ok_or(FleetError::Ended { why: format!("{name} ended at once") })?;
        Ok(Self { name, pid, started, boot: boot_id() })
    }

    /// True if the process is still there.
    pub fn is_running(&self) -> bool {
        started(self.pid) == Some(self.started) && boot_id() == self.boot
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid).filter(|_| self.is_running()) {
            best_effort(kill_process(pid, signal), "it has just ended");
        }
    }
}

/// Returns the start time of a process, the 22nd field of its `/proc` entry; `None` if it is gone or a zombie.
fn started(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    fields.nth(18)?.parse().ok().filter(|_| state != "Z")
}

/// The id that the kernel made when it booted (random(4)).
fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

/// Asks these processes to end, waits for up to [`DOWN_WITHIN`], and kills those that remain.
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
    // Reaped when it ends, so that it does not count as running.
    let collect = thread::Builder::new().name("collect".to_owned()).spawn(move || child.wait());
    match collect {
        Ok(_) => Ok(process),
        Err(error) => {
            end_all(std::slice::from_ref(&process));
            Err(FleetError::system("could not start a thread")(error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_of_another_boot_is_not_taken_for_one_that_runs() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sleep");
        command.arg("600");
        let process = spawn(command, &folder.path().join("log"), "sleep".to_owned()).unwrap();
        assert!(process.is_running());
        let before = FleetProcess { boot: Some("another".to_owned()), ..process.clone() };
        assert!(!before.is_running());
        end_all(&[before]);
        assert!(process.is_running(), "no process is ended for one of another boot");
        end_all(std::slice::from_ref(&process));
        assert!(!process.is_running());
    }
}
