//! A CPU profile by `perf`, for targets without a profile page.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use plimsoll_plan::Profiled;
use plimsoll_record::ProfileForm;
use plimsoll_units::{Clock, RealClock};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::error::{GRACE, ProfileError};

/// How long the trial recording takes, which shows whether perf is permitted.
const TRIAL: Duration = Duration::from_millis(100);

/// The time limit for perf to convert a recording: it reads the symbols of every program in it.
const CONVERSION: Duration = Duration::from_secs(120);

/// How often perf's exit is checked: one wait cannot cover both perf's exit and the cancellation.
const LOOK_EVERY: Duration = Duration::from_millis(20);

const SAID_CHARS: usize = 160;

/// The processes that perf profiles.
#[derive(Debug, Clone)]
pub(super) struct Perf {
    /// The perf program: a path, or a name in `PATH`.
    program: PathBuf,
    pids: Vec<u32>,
}

/// A recording of perf in its own format.
#[derive(Debug)]
pub(super) struct PerfRecording<'a> {
    perf: &'a Perf,
    folder: TempDir,
}

impl Perf {
    /// Finds the processes. `target_port` is the port of a target on this machine.
    pub(super) fn find(profiled: Profiled, target_port: Option<u16>) -> Result<Self, ProfileError> {
        let port = match profiled {
            Profiled::Pid(pid) if Path::new(&format!("/proc/{pid}")).exists() => {
                return Ok(Self::new(vec![pid]));
            }
            Profiled::Pid(pid) => return Err(ProfileError::NoProcess { pid }),
            Profiled::Port(port) => port,
            Profiled::Target => target_port.ok_or(ProfileError::Elsewhere)?,
        };
        let pids = plimsoll_host::serving(Path::new("/"), port);
        let pids = pids.map_err(|reason| ProfileError::System { what: "find who listens", reason })?;
        if pids.is_empty() { Err(ProfileError::NoListener { port }) } else { Ok(Self::new(pids)) }
    }

    fn new(pids: Vec<u32>) -> Self {
        Self { program: PathBuf::from("perf"), pids }
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
        self.record(TRIAL, &cancelled)?.convert(&cancelled).map(drop)
    }

    /// Records for `time`, or until the sender of `cancelled` is dropped.
    ///
    /// The event is the CPU clock, which every machine has and whose periods are times. A virtual machine may have no cycle
    /// counter.
    pub(super) fn record(
        &self,
        time: Duration,
        cancelled: &Receiver<()>,
    ) -> Result<PerfRecording<'_>, ProfileError> {
        let folder = tempfile::tempdir().map_err(|reason| system("make a folder for perf", reason))?;
        let recording = PerfRecording { perf: self, folder };
        let mut command = self.command();
        command
            .args(["record", "-q", "-e", "cpu-clock", "-F", "99", "-g", "-p", &self.list(","), "-o"])
            .arg(recording.file());
        command.args(["--", "sleep", &time.as_secs_f64().to_string()]).stdout(Stdio::null());
        self.run(command, time + GRACE, ProfileError::Late(GRACE), cancelled)?;
        Ok(recording)
    }

    /// A perf command in its own process group, so that Ctrl-C for Plimsoll does not end it.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.stdin(Stdio::null()).process_group(0);
        command
    }

    /// Runs perf to its end. If it takes longer than `patience`, it is terminated and the error is `late`.
    fn run(
        &self,
        mut command: Command,
        patience: Duration,
        late: ProfileError,
        cancelled: &Receiver<()>,
    ) -> Result<(), ProfileError> {
        let no_file = |reason| system("make a file for the messages of perf", reason);
        // A file, because perf would wait for the reader of a pipe.
        let messages = tempfile::tempfile().map_err(no_file)?;
        command.stderr(messages.try_clone().map_err(no_file)?);
        let mut child = command.spawn().map_err(not_started)?;
        let Some(status) = wait(&mut child, patience, cancelled)? else { return Err(late) };
        match status.code() {
            Some(0) => Ok(()),
            Some(_) => Err(self.refused(&text_of(messages))),
            // perf was ended by a signal.
            None => Err(ProfileError::Cancelled),
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

impl PerfRecording<'_> {
    fn file(&self) -> PathBuf {
        self.folder.path().join("perf.data")
    }

    /// Converts the samples to packed text. Frames of inlined functions are left out, because perf takes minutes to find them.
    pub(super) fn convert(&self, cancelled: &Receiver<()>) -> Result<Vec<u8>, ProfileError> {
        let path = self.folder.path().join("perf.txt");
        let text =
            File::create(&path).map_err(|reason| system("make a file for the text of perf", reason))?;
        let mut command = self.perf.command();
        command
            .args(["script", "--no-inline", "-F", "period,ip,sym,dso", "-i"])
            .arg(self.file())
            .stdout(text);
        self.perf.run(command, CONVERSION, ProfileError::Unconverted(CONVERSION), cancelled)?;
        let text = fs::read(&path).map_err(|reason| system("read the text of perf", reason))?;
        let read = plimsoll_profile::parse(ProfileForm::Perf, &text);
        read.map_err(|reason| ProfileError::NoProfile { source_name: self.perf.name(), reason })?;
        plimsoll_profile::pack(&text).map_err(|reason| system("pack the profile", reason))
    }
}

/// Returns perf's messages.
fn text_of(mut messages: File) -> String {
    let mut text = Vec::new();
    match messages.rewind().and_then(|()| messages.read_to_end(&mut text)) {
        Ok(_) => String::from_utf8_lossy(&text).into_owned(),
        Err(error) => format!("its messages cannot be read ({error})"),
    }
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

/// Waits for perf to exit. It is terminated when `patience` is over, which returns `None`, or when it is cancelled; it then ends its
/// own `sleep`.
fn wait(
    child: &mut Child,
    patience: Duration,
    cancelled: &Receiver<()>,
) -> Result<Option<ExitStatus>, ProfileError> {
    let deadline = RealClock.now() + patience;
    let outcome = loop {
        if let Some(status) = child.try_wait().map_err(|reason| system("wait for perf", reason))? {
            return Ok(Some(status));
        }
        if RealClock.now() >= deadline {
            break Ok(None);
        }
        if cancelled.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Disconnected) {
            break Err(ProfileError::Cancelled);
        }
    };
    terminate(child).map_err(|reason| system("end perf", reason))?;
    child.wait().map_err(|reason| system("wait for perf", reason))?;
    outcome
}

/// Sends SIGTERM. The process must not be waited for yet, so that its id cannot belong to another process.
fn terminate(child: &Child) -> io::Result<()> {
    let pid = Pid::from_child(child);
    Ok(kill_process(pid, Signal::TERM)?)
}

#[cfg(test)]
impl Perf {
    /// A shell script in place of perf, in this folder. Its first argument is `record` or `script`.
    pub(super) fn scripted(folder: &Path, script: &str) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let program = folder.join("perf");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        // A process that another test is just starting may still have the file open for writing.
        let is_busy = |error: io::Error| error.kind() == io::ErrorKind::ExecutableFileBusy;
        while Command::new(&program).stdout(Stdio::null()).status().is_err_and(is_busy) {}
        Self { program, pids: vec![1] }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// What became of a recording by this script.
    fn recorded(script: &str) -> Result<Vec<u8>, ProfileError> {
        let (folder, (_go_on, cancelled)) = (tempfile::tempdir().unwrap(), channel());
        let perf = Perf::scripted(folder.path(), script);
        perf.record(Duration::ZERO, &cancelled).and_then(|recording| recording.convert(&cancelled))
    }

    #[test]
    fn perf_that_a_signal_ends_is_no_lack_of_permission() {
        let interrupted = recorded("[ \"$1\" != record ] || kill -TERM $$");
        assert!(matches!(interrupted, Err(ProfileError::Cancelled)), "{interrupted:?}");
        let refused = recorded("[ \"$1\" != record ] || { echo no access >&2; exit 255; }");
        assert!(matches!(&refused, Err(ProfileError::PerfRefused { said, .. }) if said == "no access"));
    }

    #[test]
    fn perf_is_in_a_group_that_a_terminal_does_not_interrupt() {
        let group = "[ \"$(cut -d' ' -f5 /proc/$$/stat)\" = $$ ]";
        let samples = r"printf '5\n  1 main (/a)\n'";
        let taken = recorded(&format!("{group} || exit 1; [ \"$1\" = record ] || {samples}"));
        assert!(taken.is_ok(), "{taken:?}");
    }
}
