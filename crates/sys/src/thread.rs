//! What a worker's thread may do, and what it cost.

use std::fs::File;
use std::io::Read;
use std::num::NonZeroU64;

use rustix::thread;

/// CPU time of one thread since it began, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadTime {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
    /// Ready to run, without a CPU. Zero where the kernel does not say (no `CONFIG_SCHED_INFO`).
    pub starved_ns: u64,
}

fn timeval_ns(time: libc::timeval) -> u64 {
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_usec.cast_unsigned() * 1000
}

/// What the calling thread has cost so far.
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

/// The second number of `schedstat` is the time spent waiting on a run queue, in nanoseconds. Read into
/// the stack, because a worker asks in the middle of its load, where nothing may be allocated.
fn starved_ns() -> Option<u64> {
    let mut buffer = [0; 128];
    let length = File::open("/proc/thread-self/schedstat").ok()?.read(&mut buffer).ok()?;
    let text = std::str::from_utf8(&buffer[..length]).ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Lets the calling thread's timed waits end when they are due. By default Linux may end them up to 50 µs
/// late to save wake-ups, which would be charged to the target as latency. Where the kernel refuses, the
/// lateness stays and is measured as send lag.
pub fn sharpen_timers() {
    const FINEST_NS: NonZeroU64 = NonZeroU64::MIN;
    if thread::set_current_timer_slack(Some(FINEST_NS)).is_err() {
        // Nothing else can be done here, and the self-check shows what it costs.
    }
}

/// How many cores the calling thread may run on; at least 1.
pub fn allowed_cores() -> u32 {
    thread::sched_getaffinity(None).map_or(1, |cores| cores.count().max(1))
}

#[cfg(test)]
mod tests {
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
    fn there_is_a_core_to_run_on() {
        assert!(allowed_cores() >= 1);
    }
}
