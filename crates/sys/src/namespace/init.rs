//! The first process of a sandbox: a fork of this process that never runs another program. It only makes system calls, because
//! after a fork of a process with threads any lock may be held, including the allocator's. All its data is prepared before the
//! fork.

use std::ffi::{CStr, CString};
use std::os::fd::RawFd;

use libc::{c_int, c_long, c_uint};

/// The folder of POSIX shared memory, shm_overview(7).
pub(super) const SHARED_MEMORY: &CStr = c"/dev/shm";

/// Upper bound of the descriptors to close: more than a process opens, and few enough to close one by one within a second.
const DESCRIPTORS_MAX: libc::rlim_t = 1 << 20;

/// A step of the first process's set-up, which a failure report names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitStep {
    Mounts,
    /// Mount a file over another.
    File,
    /// Mount a new `/run`.
    Runtime,
    /// Mount a new `/dev/shm`.
    SharedMemory,
    Name,
}

impl InitStep {
    const ALL: [Self; 5] = [Self::Mounts, Self::File, Self::Runtime, Self::SharedMemory, Self::Name];

    fn number(self) -> u8 {
        Self::ALL.iter().position(|step| *step == self).map_or(0, |index| index as u8 + 1)
    }

    /// The step with this number in a report; `None` if every step succeeded.
    pub(super) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }
}

/// The data that the first process needs, in the kernel's form.
#[derive(Debug)]
pub(super) struct InitPlan {
    pub(super) name: CString,
    /// Files to mount over others: the file, and the path that it replaces.
    pub(super) files: Vec<(CString, CString)>,
    /// The folders to create in a new `/run`; `None` keeps the machine's `/run`.
    pub(super) runtime: Option<Vec<CString>>,
    /// True for a new `/dev/shm`: it contains POSIX shared memory, which no namespace separates.
    pub(super) own_shared_memory: bool,
    /// PIDs inside begin after this number.
    pub(super) last_pid: CString,
}

/// The first process's ends of its pipes.
#[derive(Debug, Clone, Copy)]
pub(super) struct InitPipes {
    /// Read until its end, which comes when the process that owns the sandbox ends.
    pub(super) lifeline: RawFd,
    /// For one report: the step that failed, and its errno.
    pub(super) report: RawFd,
}

/// Runs the first process until it ends. Called only in the fork.
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
    wait_for_end(pipes.lifeline)
}

/// Drops what the fork inherited: signal handlers, the terminal, and all descriptors but its own.
fn stand_alone(pipes: InitPipes) {
    close_others(pipes, close_range, close_each);
    // SAFETY: the name ends with a zero byte. It is what lists of processes show.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"plimsoll-host".as_ptr()) };
    // SAFETY: an ignored SIGCHLD has no handler to be valid; setsid takes no argument. The kernel then reaps all children.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
        libc::setsid();
    }
}

/// Closes all descriptors but the first process's own; `range` and `each` close a range of descriptors. The inherited copy of the
/// lifeline's other end must be closed, because with it this process would wait for ever.
fn close_others(pipes: InitPipes, range: impl Fn(c_uint, c_uint) -> bool, each: impl Fn(c_uint, c_uint)) {
    let (low, high) =
        (pipes.lifeline.min(pipes.report) as c_uint, pipes.lifeline.max(pipes.report) as c_uint);
    let between = [(0, low.checked_sub(1)), (low + 1, high.checked_sub(1)), (high + 1, Some(c_uint::MAX))];
    for (first, last) in between {
        if let Some(last) = last
            && first <= last
            && !range(first, last)
        {
            each(first, last);
        }
    }
}

/// Closes a range of descriptors with one call; returns false if the kernel is older than 5.9 or a filter refuses the call.
fn close_range(first: c_uint, last: c_uint) -> bool {
    // SAFETY: closes descriptors of this process, none of which is used again.
    let done =
        unsafe { libc::syscall(libc::SYS_close_range, c_long::from(first), c_long::from(last), 0 as c_long) };
    done == 0
}

/// Closes a range of descriptors one by one, up to the highest one that can be open.
fn close_each(first: c_uint, last: c_uint) {
    for descriptor in first..=last.min(descriptors_max()) {
        // SAFETY: closes a descriptor of this process that is not used again, or none.
        unsafe { libc::close(descriptor as c_int) };
    }
}

/// Upper bound of the descriptors that are expected to be open. The kernel assigns the lowest free number, so even if the limit
/// is thousands of millions, no more need to be tried.
fn descriptors_max() -> c_uint {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is valid for writes.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0;
    let limit = if known { limit.rlim_cur } else { DESCRIPTORS_MAX };
    limit.min(DESCRIPTORS_MAX) as c_uint
}

type Step = Result<(), (InitStep, c_int)>;

fn set_up(plan: &InitPlan) -> Step {
    // Unmounts on the machine propagate into the sandbox, so that a disk can be removed while a lab is up.
    mount(InitStep::Mounts, None, c"/", None, libc::MS_REC | libc::MS_SLAVE)?;
    // Refused if parts of /proc are hidden, as in containers: then the old /proc remains and shows other processes too.
    mount(InitStep::Mounts, Some(c"proc"), c"/proc", Some(c"proc"), 0).unwrap_or_default();
    for (file, place) in &plan.files {
        mount(InitStep::File, Some(file), place, None, libc::MS_BIND)?;
    }
    if let Some(folders) = &plan.runtime {
        fresh_runtime(folders)?;
    }
    if plan.own_shared_memory {
        mount_empty(InitStep::SharedMemory, SHARED_MEMORY)?;
    }
    // SAFETY: the name is valid for reads of its length.
    let named = unsafe { libc::sethostname(plan.name.as_ptr(), plan.name.as_bytes().len()) };
    outcome(InitStep::Name, named)?;
    set_last_pid(&plan.last_pid);
    Ok(())
}

/// Mounts an empty tmpfs over a folder.
fn mount_empty(step: InitStep, place: &CStr) -> Step {
    mount(step, Some(c"tmpfs"), place, Some(c"tmpfs"), libc::MS_NOSUID | libc::MS_NODEV)
}

fn fresh_runtime(folders: &[CString]) -> Step {
    mount_empty(InitStep::Runtime, c"/run")?;
    for folder in folders {
        // SAFETY: the path ends with a zero byte. A program that needs a folder that cannot be made reports it.
        unsafe { libc::mkdir(folder.as_ptr(), 0o1777) };
        // SAFETY: as above; the umask does not apply to chmod.
        unsafe { libc::chmod(folder.as_ptr(), 0o1777) };
    }
    Ok(())
}

/// Programs leave files named after their PID in shared folders, so the PIDs of two sandboxes should differ. If the kernel does
/// not allow this, as in containers, they may be equal.
fn set_last_pid(number: &CStr) {
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

/// Waits until the other end of the pipe is closed, then ends this process and with it all others in its PID namespace.
fn wait_for_end(lifeline: RawFd) -> ! {
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn all_descriptors_but_the_own_two_are_closed_also_one_by_one() {
        for (lifeline, report, expected) in [
            (5, 3, &[(0, 2), (4, 4), (6, c_uint::MAX)][..]),
            (0, 1, &[(2, c_uint::MAX)][..]),
            (1, 2, &[(0, 0), (3, c_uint::MAX)][..]),
        ] {
            for has_ranges in [true, false] {
                let (ranges, each) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
                let range = |first, last| {
                    ranges.borrow_mut().push((first, last));
                    has_ranges
                };
                let one_by_one = |first, last| each.borrow_mut().push((first, last));
                close_others(InitPipes { lifeline, report }, range, one_by_one);
                assert_eq!(ranges.into_inner(), expected);
                let expected_each: &[(c_uint, c_uint)] = if has_ranges { &[] } else { expected };
                assert_eq!(each.into_inner(), expected_each);
            }
        }
    }

    #[test]
    fn descriptors_are_closed_one_by_one() {
        let file = std::fs::File::open("/dev/null").unwrap();
        // A number far beyond those in use.
        let far = descriptors_max() - 1;
        // SAFETY: the number is of no other descriptor, and the copy is closed by what is tested.
        let copy = unsafe { libc::dup2(file.as_raw_fd(), far as c_int) };
        assert_eq!(copy, far as c_int);
        close_each(far, c_uint::MAX);
        // SAFETY: asks for the flags of a descriptor that is not open.
        assert_eq!(unsafe { libc::fcntl(copy, libc::F_GETFD) }, -1);
    }
}
