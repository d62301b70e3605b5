//! The first process of an enclosure. It is a copy of this process that never runs another program: between being
//! copied and its end it calls the kernel and nothing else, because a copy of a process with threads may find any lock
//! taken, the allocator's among them. Everything it needs is prepared before.

use std::ffi::{CStr, CString};
use std::os::fd::RawFd;

use libc::{c_int, c_long, c_uint};

/// Where POSIX shared memory lies, shm_overview(7).
pub(super) const SHARED_MEMORY: &CStr = c"/dev/shm";

/// What the first process does before it waits; a failure names one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitStep {
    /// Keeps its mounts to itself.
    Mounts,
    /// Puts a file in the place of another.
    File,
    /// Gives `/run` a fresh content.
    Runtime,
    /// Gives `/dev/shm` a fresh content.
    SharedMemory,
    /// Sets the host's name.
    Name,
}

impl InitStep {
    const ALL: [Self; 5] = [Self::Mounts, Self::File, Self::Runtime, Self::SharedMemory, Self::Name];

    fn number(self) -> u8 {
        Self::ALL.iter().position(|step| *step == self).map_or(0, |index| index as u8 + 1)
    }

    /// The step of a report; `None` if all went well.
    pub(super) fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }
}

/// What the first process needs, in the form in which the kernel takes it.
#[derive(Debug)]
pub(super) struct InitPlan {
    /// The host's name within.
    pub(super) name: CString,
    /// Files that are put in the place of others: the file, and where.
    pub(super) files: Vec<(CString, CString)>,
    /// The folders that a fresh `/run` holds; `None` leaves it as it is.
    pub(super) runtime: Option<Vec<CString>>,
    /// Whether `/dev/shm` is fresh: POSIX shared memory lies there, which no namespace keeps apart.
    pub(super) own_shared_memory: bool,
    /// The number after which processes are counted within.
    pub(super) numbers_after: CString,
}

/// The ends of pipes that the first process holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct InitPipes {
    /// Is at its end when the process that owns the enclosure is.
    pub(super) lifeline: RawFd,
    /// Takes one report: the step that failed, and the error's number.
    pub(super) report: RawFd,
}

/// The first process, up to its end. Called in a fresh copy of this process alone.
pub(super) fn run(plan: &InitPlan, pipes: InitPipes) -> ! {
    stand_alone(pipes);
    let report = match set_up(plan) {
        Ok(()) => [0; 5],
        Err((step, errno)) => {
            let [a, b, c, d] = errno.to_ne_bytes();
            [step.number(), a, b, c, d]
        }
    };
    // SAFETY: the bytes are valid for reads, and the descriptors are this process's own.
    unsafe {
        libc::write(pipes.report, report.as_ptr().cast(), report.len());
        libc::close(pipes.report);
    }
    wait_for_the_end(pipes.lifeline)
}

/// Lets go of what was copied: signals, the terminal, all descriptors but its own.
fn stand_alone(pipes: InitPipes) {
    let (low, high) = (pipes.lifeline.min(pipes.report), pipes.lifeline.max(pipes.report));
    let close = |first: c_int, last: c_uint| {
        // SAFETY: closes descriptors of this process, none of which is used again.
        unsafe { libc::syscall(libc::SYS_close_range, first as c_long, c_long::from(last), 0 as c_long) };
    };
    if low > 0 {
        close(0, (low - 1) as c_uint);
    }
    if high > low + 1 {
        close(low + 1, (high - 1) as c_uint);
    }
    close(high + 1, c_uint::MAX);
    // SAFETY: the name ends with a zero byte. It is what lists of processes show.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"plimsoll-host".as_ptr()) };
    // SAFETY: an ignored SIGCHLD has no handler to be valid; setsid takes nothing. Children that ended are then reaped by
    // the kernel, whoever began them.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
        libc::setsid();
    }
}

type Step = Result<(), (InitStep, c_int)>;

fn set_up(plan: &InitPlan) -> Step {
    mount(InitStep::Mounts, None, c"/", None, libc::MS_REC | libc::MS_PRIVATE)?;
    // In a sandbox that hides parts of /proc this is refused; the one that is there then shows other processes too.
    mount(InitStep::Mounts, Some(c"proc"), c"/proc", Some(c"proc"), 0).ok();
    for (file, place) in &plan.files {
        mount(InitStep::File, Some(file), place, None, libc::MS_BIND)?;
    }
    if let Some(folders) = &plan.runtime {
        fresh_runtime(folders)?;
    }
    if plan.own_shared_memory {
        fresh(InitStep::SharedMemory, SHARED_MEMORY)?;
    }
    // SAFETY: the name is valid for reads of its length.
    let named = unsafe { libc::sethostname(plan.name.as_ptr(), plan.name.as_bytes().len()) };
    outcome(InitStep::Name, named)?;
    number_after(&plan.numbers_after);
    Ok(())
}

/// Puts empty memory over a folder.
fn fresh(step: InitStep, place: &CStr) -> Step {
    mount(step, Some(c"tmpfs"), place, Some(c"tmpfs"), libc::MS_NOSUID | libc::MS_NODEV)
}

fn fresh_runtime(folders: &[CString]) -> Step {
    fresh(InitStep::Runtime, c"/run")?;
    for folder in folders {
        // SAFETY: the path ends with a zero byte. A folder that cannot be made is missed by whoever needs it.
        unsafe { libc::mkdir(folder.as_ptr(), 0o1777) };
        // SAFETY: as above; the mask of this process does not count for chmod.
        unsafe { libc::chmod(folder.as_ptr(), 0o1777) };
    }
    Ok(())
}

/// Programs leave files named after their number in shared folders, so numbers of two enclosures should differ. Where
/// that cannot be set they may be equal, as they are in containers.
fn number_after(number: &CStr) {
    // SAFETY: the path ends with a zero byte.
    let file =
        unsafe { libc::open(c"/proc/sys/kernel/ns_last_pid".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    if file >= 0 {
        // SAFETY: the bytes are valid for reads, and the descriptor was opened here.
        unsafe {
            libc::write(file, number.as_ptr().cast(), number.to_bytes().len());
            libc::close(file);
        }
    }
}

fn mount(
    step: InitStep,
    source: Option<&CStr>,
    place: &CStr,
    kind: Option<&CStr>,
    flags: libc::c_ulong,
) -> Step {
    let text = |text: Option<&CStr>| text.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: each text ends with a zero byte or is null, which mount allows for these kinds of mounts.
    let result = unsafe { libc::mount(text(source), place.as_ptr(), text(kind), flags, std::ptr::null()) };
    outcome(step, result)
}

fn outcome(step: InitStep, result: c_int) -> Step {
    if result == 0 {
        return Ok(());
    }
    // SAFETY: the location of errno is valid for this thread.
    Err((step, unsafe { *libc::__errno_location() }))
}

/// Waits until the other end of the pipe is closed. Then this process ends, and with it all others in its namespace.
fn wait_for_the_end(lifeline: RawFd) -> ! {
    loop {
        let mut byte = 0_u8;
        // SAFETY: one byte is valid for writes.
        let got = unsafe { libc::read(lifeline, (&raw mut byte).cast(), 1) };
        // SAFETY: the location of errno is valid for this thread.
        let interrupted = got < 0 && unsafe { *libc::__errno_location() } == libc::EINTR;
        if got <= 0 && !interrupted {
            // SAFETY: ends this process without running anything of the one it was copied from.
            unsafe { libc::_exit(0) }
        }
    }
}
