//! The process and its threads: CPU time, timers, cores; and signals to child processes.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroU64;
use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use rustix::thread::{self, CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// CPU time of one thread since it started, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadTime {
    pub user_ns: u64,
    pub system_ns: u64,
    /// Time in which the thread was runnable but waited for a CPU. Zero if the kernel does not report it (no
    /// `CONFIG_SCHED_INFO`).
    pub starved_ns: u64,
}

/// Total time that the machine has been suspended since it started, in nanoseconds. It is the difference between CLOCK_BOOTTIME
/// and the workers' clock, CLOCK_MONOTONIC, which does not advance during a suspension. The two clocks are read one after the
/// other, so a thread that is descheduled in between adds that time to the result.
pub fn suspended_ns() -> u64 {
    let now = |clock| {
        let time = clock_gettime(clock);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32).as_nanos() as u64
    };
    let awake = now(ClockId::Monotonic);
    now(ClockId::Boottime).saturating_sub(awake)
}

fn timeval_ns(time: libc::timeval) -> u64 {
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_usec.cast_unsigned() * 1000
}

/// The CPU time of the calling thread since it started.
pub fn thread_time() -> ThreadTime {
    // SAFETY: rusage is plain integers, for which all-zero bytes are a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is valid for writes for the whole call, and RUSAGE_THREAD is a valid argument.
    let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    if result != 0 {
        return ThreadTime::default();
    }
    ThreadTime {
        user_ns: timeval_ns(usage.ru_utime),
        system_ns: timeval_ns(usage.ru_stime),
        starved_ns: starved_ns().unwrap_or(0),
    }
}

/// The second number of `schedstat`: the time on a run queue, in nanoseconds. It is read into a buffer on the stack, because a
/// worker calls this under load and must not allocate.
fn starved_ns() -> Option<u64> {
    let mut buffer = [0; 128];
    let length = File::open("/proc/thread-self/schedstat").ok()?.read(&mut buffer).ok()?;
    let text = std::str::from_utf8(&buffer[..length]).ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Makes timed waits of the calling thread end on time. By default Linux may end them up to 50 µs late to save wake-ups, which
/// would count as latency of the target.
pub fn disable_timer_slack() {
    // If a sandbox refuses, the delay remains and is recorded as send lag, which the self-check judges.
    thread::set_current_timer_slack(Some(NonZeroU64::MIN)).unwrap_or_default();
}

/// Number of cores that the calling thread may run on; at least 1.
pub fn allowed_cores() -> u32 {
    sched_getaffinity(None).map_or(1, |cores| cores.count().max(1))
}

/// A set of cores. A thread inherits the set of the thread that starts it.
#[derive(Debug, Clone, Copy)]
pub struct Cores(CpuSet);

impl Cores {
    /// The cores that the calling thread may run on.
    ///
    /// # Errors
    /// When the kernel does not report them, as in some sandboxes.
    pub fn allowed() -> io::Result<Self> {
        Ok(Self(sched_getaffinity(None)?))
    }

    /// A set of one core.
    pub fn only(core: u32) -> Self {
        Self::new(&[core])
    }

    /// The cores with these numbers.
    pub fn new(cores: &[u32]) -> Self {
        let mut set = CpuSet::new();
        for core in cores {
            set.set(*core as usize);
        }
        Self(set)
    }

    /// The numbers of the cores, lowest first.
    pub fn numbers(&self) -> Vec<u32> {
        (0..CpuSet::MAX_CPU).filter(|core| self.0.is_set(*core)).map(|core| core as u32).collect()
    }

    /// Binds the calling thread, and the threads that it starts from now on, to these cores.
    ///
    /// # Errors
    /// When none of the cores is allowed, or the kernel refuses.
    pub fn bind(&self) -> io::Result<()> {
        Ok(sched_setaffinity(None, &self.0)?)
    }
}

/// Sends a child SIGINT, like Ctrl-C. The child must not have been waited for, because its number may then already belong to
/// another process.
///
/// # Errors
/// When there is no such process.
pub fn interrupt(child: &Child) -> io::Result<()> {
    Ok(kill_process(Pid::from_child(child), Signal::INT)?)
}

/// Sends SIGTERM to all processes of the group that a child leads. The child must not have been waited for.
///
/// # Errors
/// When there is no such group.
pub fn end_group(child: &Child) -> io::Result<()> {
    Ok(kill_process_group(Pid::from_child(child), Signal::TERM)?)
}

/// Kills all processes of the group that a child leads. The child must not have been waited for.
///
/// # Errors
/// When there is no such group.
pub fn kill_group(child: &Child) -> io::Result<()> {
    Ok(kill_process_group(Pid::from_child(child), Signal::KILL)?)
}

/// True if a child has ended. It is not reaped, so that its number, which may be that of a group, is not reused.
///
/// # Errors
/// When it was waited for already.
pub fn has_ended(child: &Child) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;

    use super::*;

    #[test]
    fn work_shows_in_the_threads_time() {
        let before = thread_time();
        let mut sum = 0_u64;
        // At least 20 ms of CPU time by the thread's own clock, however slow the machine.
        while thread_time().user_ns + thread_time().system_ns < before.user_ns + before.system_ns + 20_000_000
        {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(thread_time().user_ns + thread_time().system_ns > before.user_ns + before.system_ns);
        assert!(sum > 0);
    }

    #[test]
    fn a_group_ends_with_what_its_leader_started_and_the_leader_is_left_to_be_waited_for() {
        let mut leader = std::process::Command::new("/bin/sh")
            .args(["-c", "sleep 600 & echo started; wait"])
            .process_group(0)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = leader.stdout.take().unwrap();
        output.read_exact(&mut [0; 8]).unwrap();
        assert!(!has_ended(&leader).unwrap());
        kill_group(&leader).unwrap();
        // The pipe closes once the last process that holds it has ended.
        output.read_to_end(&mut Vec::new()).unwrap();
        while !has_ended(&leader).unwrap() {}
        assert!(!leader.wait().unwrap().success());
    }

    #[test]
    fn there_is_a_core_to_run_on() {
        assert!(allowed_cores() >= 1);
    }

    #[test]
    fn a_bound_thread_runs_on_its_core_alone_and_so_do_those_it_starts() {
        let core = Cores::allowed().unwrap().numbers()[0];
        let seen = std::thread::spawn(move || {
            Cores::only(core).bind().unwrap();
            std::thread::spawn(|| Cores::allowed().unwrap().numbers()).join().unwrap()
        });
        assert_eq!(seen.join().unwrap(), [core]);
    }
}
