//! A sandbox: a set of namespaces that looks like a host of its own to the processes inside, which all end together.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use libc::c_long;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid,
};
use rustix::thread::{ThreadNameSpaceType, move_into_thread_name_spaces};

use super::init::{self, InitPipes, InitPlan, InitStep, SHARED_MEMORY};
use super::network::{NetworkNamespace, on_own_thread};
use crate::process::Cores;

/// How long a drop waits for the processes inside to end.
const END_TIMEOUT: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// The folder of sockets and PID files.
const RUNTIME: &str = "/run";

/// The properties of a sandbox.
#[derive(Debug, Clone, Default)]
pub struct SandboxSetup {
    pub name: String,
    /// Files to mount over others: the file, and the path that it replaces.
    pub files: Vec<(PathBuf, PathBuf)>,
    /// True for a new `/run`, with the folders of the machine's own, and a new empty `/dev/shm`.
    pub own_runtime: bool,
    /// PIDs inside begin after this number.
    pub last_pid: u32,
}

/// Why a sandbox could not be created.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error(transparent)]
    Namespaces(#[from] io::Error),
    #[error("{step:?}: {reason}")]
    SetUp { step: InitStep, reason: io::Error },
}

/// PID, mount, network, UTS and IPC namespaces, kept alive by a first process that does nothing else. When this value is dropped,
/// or the process that owns it ends in any way, the kernel kills every process inside.
#[derive(Debug)]
pub struct Sandbox {
    pid: u32,
    process: OwnedFd,
    /// The first process ends when this end of its pipe is closed.
    _lifeline: OwnedFd,
}

fn text_of(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

impl SandboxSetup {
    /// The folders that are new in a sandbox with [`SandboxSetup::own_runtime`]; the machine's are invisible there.
    pub const FRESH: [&str; 2] = [RUNTIME, "/dev/shm"];

    fn plan(&self) -> io::Result<InitPlan> {
        let pair = |(file, place): &(PathBuf, PathBuf)| Ok((text_of(file)?, text_of(place)?));
        Ok(InitPlan {
            name: CString::new(self.name.as_str()).map_err(io::Error::other)?,
            files: self.files.iter().map(pair).collect::<io::Result<_>>()?,
            runtime: self.own_runtime.then(runtime_folders).transpose()?,
            own_shared_memory: self.own_runtime && has_shared_memory(),
            last_pid: CString::new(self.last_pid.to_string()).map_err(io::Error::other)?,
        })
    }
}

/// The folders in the machine's `/run`: programs expect the folders of their packages there.
fn runtime_folders() -> io::Result<Vec<CString>> {
    let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let entries = std::fs::read_dir(RUNTIME)?.filter_map(Result::ok);
    entries.filter(is_folder).map(|entry| text_of(&entry.path())).collect()
}

/// False on some minimal systems, which have no `/dev/shm`.
fn has_shared_memory() -> bool {
    SHARED_MEMORY.to_str().is_ok_and(|folder| Path::new(folder).is_dir())
}

impl Sandbox {
    /// Creates the namespaces and their first process.
    ///
    /// # Errors
    /// When the process lacks the permission (CAP_SYS_ADMIN), there are too many namespaces, or a mount is refused.
    pub fn create(setup: &SandboxSetup) -> Result<Self, SandboxError> {
        let plan = setup.plan()?;
        let (lifeline_inner, lifeline) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
        let (report, report_inner) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
        let pipes = InitPipes { lifeline: lifeline_inner.as_raw_fd(), report: report_inner.as_raw_fd() };
        let pid = copy_process(&plan, pipes)?;
        drop((lifeline_inner, report_inner));
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let number = number.ok_or_else(|| io::Error::other("the kernel gave no process number"))?;
        let process = pidfd_open(number, PidfdFlags::empty()).map_err(io::Error::from)?;
        let sandbox = Self { pid, process, _lifeline: lifeline };
        match set_up_report(report) {
            Ok(None) => Ok(sandbox),
            Ok(Some((step, reason))) => Err(SandboxError::SetUp { step, reason }),
            Err(reason) => Err(SandboxError::Namespaces(reason)),
        }
    }

    /// The PID of the first process, as seen outside; `/proc/PID/ns` names the namespaces.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Kills every process inside. The caller still has to wait for the children that it started with [`Sandbox::spawn`].
    pub fn kill(&self) {
        // This fails only if the first process has ended, and then all others have ended too.
        pidfd_send_signal(&self.process, Signal::KILL).unwrap_or_default();
    }

    /// Opens the network inside.
    ///
    /// # Errors
    /// When the first process has ended.
    pub fn network(&self) -> io::Result<NetworkNamespace> {
        NetworkNamespace::open(Path::new(&format!("/proc/{}/ns/net", self.pid)))
    }

    /// Starts a command inside, in this folder and in a new session. Before it runs, it joins each control group whose
    /// `cgroup.procs` file is given, and is bound to `cores`.
    ///
    /// # Errors
    /// When the command cannot be started, moved, or put into a group.
    pub fn spawn(
        &self,
        command: &mut Command,
        folder: &Path,
        groups: &[File],
        cores: Option<Cores>,
    ) -> io::Result<Child> {
        let folder = text_of(folder)?;
        let groups: Vec<OwnedFd> =
            groups.iter().map(|file| file.as_fd().try_clone_to_owned()).collect::<io::Result<_>>()?;
        let process = self.process.try_clone()?;
        let enter = move || -> io::Result<()> {
            for group in &groups {
                // Zero stands for the process that writes.
                rustix::io::write(group, b"0")?;
            }
            if let Some(cores) = cores {
                cores.bind()?;
            }
            let kinds = ThreadNameSpaceType::MOUNT
                | ThreadNameSpaceType::NETWORK
                | ThreadNameSpaceType::HOST_NAME_AND_NIS_DOMAIN_NAME
                | ThreadNameSpaceType::INTER_PROCESS_COMMUNICATION;
            move_into_thread_name_spaces(process.as_fd(), kinds)?;
            // Entering a mount namespace moves the process to its root.
            rustix::process::chdir(folder.as_c_str())?;
            rustix::process::setsid()?;
            Ok(())
        };
        // SAFETY: the closure only makes system calls, with values made before the fork: no allocation, no lock.
        unsafe { command.pre_exec(enter) };
        // A process starts in the PID namespace that its parent thread has set for its children.
        on_own_thread(|| {
            move_into_thread_name_spaces(self.process.as_fd(), ThreadNameSpaceType::PROCESS_ID)?;
            command.spawn()
        })
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.kill();
        // The first process ends last, after all others have ended and were waited for. A child of `spawn` that is not waited
        // for would block it, so this wait has a timeout.
        let mut ended = [PollFd::new(&self.process, PollFlags::IN)];
        if poll(&mut ended, Some(&END_TIMEOUT)).is_ok_and(|count| count > 0) {
            // This fails only if the process was waited for already.
            waitid(WaitId::PidFd(self.process.as_fd()), WaitIdOptions::EXITED).unwrap_or_default();
        }
    }
}

/// Forks this process into new namespaces. All signals stay blocked in the fork, so that no handler of this process runs
/// there.
fn copy_process(plan: &InitPlan, pipes: InitPipes) -> io::Result<u32> {
    let kinds =
        libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWNET | libc::CLONE_NEWUTS | libc::CLONE_NEWIPC;
    // SAFETY: signal sets are plain integers, for which all-zero bytes are a valid value.
    let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = unsafe { std::mem::zeroed() };
    // SAFETY: both sets are valid for reads and writes during the calls.
    unsafe {
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
    }
    // SAFETY: without a stack or shared memory this is a fork: the copy has its own memory and continues here.
    let pid = unsafe {
        libc::syscall(libc::SYS_clone, c_long::from(kinds | libc::SIGCHLD), 0_u64, 0_u64, 0_u64, 0_u64)
    };
    if pid == 0 {
        init::run(plan, pipes);
    }
    let outcome = if pid < 0 { Err(io::Error::last_os_error()) } else { Ok(pid as u32) };
    // SAFETY: the set is what the kernel gave above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    outcome
}

/// Reads the report of the first process: the step that failed and its error, or `None`.
fn set_up_report(report: OwnedFd) -> io::Result<Option<(InitStep, io::Error)>> {
    let mut bytes = [0; 5];
    File::from(report).read_exact(&mut bytes)?;
    let [step, errno @ ..] = bytes;
    let reason = io::Error::from_raw_os_error(i32::from_ne_bytes(errno));
    Ok(InitStep::from_number(step).map(|step| (step, reason)))
}
