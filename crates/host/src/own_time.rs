//! What looking costs.

use rustix::time::{ClockId, clock_gettime};

/// The CPU time that the calling thread has used since it began, in microseconds.
pub(crate) fn thread_cpu_us() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The kernel never gives negative CPU times; both casts keep the value.
    time.tv_sec.cast_unsigned() * 1_000_000 + time.tv_nsec.cast_unsigned() / 1000
}
