//! A set of namespaces in which processes live as on a host of their own, and all end together.

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
use crate::Cores;

/// How long the end of an enclosure is waited for.
const END_WITHIN: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// The folder of sockets and process numbers.
const RUNTIME: &str = "/run";

/// How an enclosure looks from within.
#[derive(Debug, Clone, Default)]
pub struct EnclosureSetup {
    /// The host's name.
    pub name: String,
    /// Files that are put in the place of others: the file, and where.
    pub files: Vec<(PathBuf, PathBuf)>,
    /// Whether `/run` is fresh, with the folders that the machine's has, and `/dev/shm`, with nothing.
    pub own_runtime: bool,
    /// The number after which processes are counted within.
    pub numbers_after: u32,
}

/// Why there is no enclosure.
#[derive(Debug, thiserror::Error)]
pub enum EnclosureError {
    /// The namespaces could not be made.
    #[error(transparent)]
    Namespaces(#[from] io::Error),
    /// They were made, and could not be furnished.
    #[error("{step:?}: {reason}")]
    SetUp {
        /// What failed.
        step: InitStep,
        /// What the system said.
        reason: io::Error,
    },
}

/// Namespaces of processes, mounts, network, name and messages, held by a first process that does nothing. When this is
/// dropped, or the process that holds it ends in any way, every process within is killed by the kernel.
#[derive(Debug)]
pub struct Enclosure {
    pid: u32,
    process: OwnedFd,
    /// The first process lives as long as this end of its pipe is open.
    _lifeline: OwnedFd,
}

fn text_of(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

impl EnclosureSetup {
    /// The folders that an enclosure with [`EnclosureSetup::own_runtime`] has of its own: nothing of the machine is seen there.
    pub const FRESH: [&str; 2] = [RUNTIME, "/dev/shm"];

    fn plan(&self) -> io::Result<InitPlan> {
        let pair = |(file, place): &(PathBuf, PathBuf)| Ok((text_of(file)?, text_of(place)?));
        Ok(InitPlan {
            name: CString::new(self.name.as_str()).map_err(io::Error::other)?,
            files: self.files.iter().map(pair).collect::<io::Result<_>>()?,
            runtime: self.own_runtime.then(runtime_folders).transpose()?,
            own_shared_memory: self.own_runtime && has_shared_memory(),
            numbers_after: CString::new(self.numbers_after.to_string()).map_err(io::Error::other)?,
        })
    }
}

/// The folders in the machine's `/run`: programs expect those of their packages there.
fn runtime_folders() -> io::Result<Vec<CString>> {
    let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let entries = std::fs::read_dir(RUNTIME)?.filter_map(Result::ok);
    entries.filter(is_folder).map(|entry| text_of(&entry.path())).collect()
}

/// A machine without it has no POSIX shared memory either.
fn has_shared_memory() -> bool {
    SHARED_MEMORY.to_str().is_ok_and(|folder| Path::new(folder).is_dir())
}

impl Enclosure {
    /// Makes the namespaces and their first process.
    ///
    /// # Errors
    /// When that is not permitted (CAP_SYS_ADMIN), there are too many, or a mount is refused.
    pub fn create(setup: &EnclosureSetup) -> Result<Self, EnclosureError> {
        let plan = setup.plan()?;
        let (lifeline_inner, lifeline) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
        let (report, report_inner) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
        let pipes = InitPipes { lifeline: lifeline_inner.as_raw_fd(), report: report_inner.as_raw_fd() };
        let pid = copy_process(&plan, pipes)?;
        drop((lifeline_inner, report_inner));
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let number = number.ok_or_else(|| io::Error::other("the kernel gave no process number"))?;
        let process = pidfd_open(number, PidfdFlags::empty()).map_err(io::Error::from)?;
        let enclosure = Self { pid, process, _lifeline: lifeline };
        match furnished(report) {
            Ok(None) => Ok(enclosure),
            Ok(Some((step, reason))) => Err(EnclosureError::SetUp { step, reason }),
            Err(reason) => Err(EnclosureError::Namespaces(reason)),
        }
    }

    /// The first process by its number outside, whose files below `/proc` tell of the namespaces.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Kills every process within. Those started by [`Enclosure::spawn`] are then to be waited for.
    pub fn kill(&self) {
        // It fails only if the first process has ended, and then all have.
        pidfd_send_signal(&self.process, Signal::KILL).ok();
    }

    /// The network within.
    ///
    /// # Errors
    /// When the first process has ended.
    pub fn network(&self) -> io::Result<NetworkNamespace> {
        NetworkNamespace::of_process(self.pid)
    }

    /// Starts a command within, in this folder. It leads a session of its own, and joins each group whose file of
    /// processes is given, before anything of it runs.
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
            // Entering mounts leads to their root.
            rustix::process::chdir(folder.as_c_str())?;
            rustix::process::setsid()?;
            Ok(())
        };
        // SAFETY: the closure only calls the kernel, with what was made before the copy: no allocation, no lock.
        unsafe { command.pre_exec(enter) };
        // Processes are born into the namespace that was chosen for the children of the thread that starts them.
        on_own_thread(|| {
            move_into_thread_name_spaces(self.process.as_fd(), ThreadNameSpaceType::PROCESS_ID)?;
            command.spawn()
        })
    }
}

impl Drop for Enclosure {
    fn drop(&mut self) {
        self.kill();
        // The first process ends last, after all others have ended and were waited for. Those that were started by
        // `spawn` and that nobody waits for would hold it up, so this wait has an end.
        let mut ended = [PollFd::new(&self.process, PollFlags::IN)];
        if poll(&mut ended, Some(&END_WITHIN)).is_ok_and(|count| count > 0) {
            // It fails only if the process was waited for already.
            waitid(WaitId::PidFd(self.process.as_fd()), WaitIdOptions::EXITED).ok();
        }
    }
}

/// Copies this process into new namespaces, with all signals held back in the copy: a handler of this process has no
/// business there.
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
    // SAFETY: without a stack or shared memory this is a fork: the copy has memory of its own and goes on here.
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

/// The one report of the first process: what failed, if anything did.
fn furnished(report: OwnedFd) -> io::Result<Option<(InitStep, io::Error)>> {
    let mut bytes = [0; 5];
    File::from(report).read_exact(&mut bytes)?;
    let [step, errno @ ..] = bytes;
    let reason = io::Error::from_raw_os_error(i32::from_ne_bytes(errno));
    Ok(InitStep::of(step).map(|step| (step, reason)))
}
