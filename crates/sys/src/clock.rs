//! The kernel's information about its own clocks.

use std::io;
use std::mem::MaybeUninit;

use rustix::param::clock_ticks_per_second;

/// The state of the kernel's clocks, from `adjtimex(2)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelClock {
    /// Maximum difference between the wall clock and true time, in nanoseconds; `None` if the clock is not synchronised.
    pub wall_error_ns: Option<u64>,
    /// Maximum rate, in nanoseconds per second in either direction, by which the kernel's clocks, the monotonic one included,
    /// deviate from the hardware clock.
    pub correction_ppb: u64,
}

/// Reads the state of the kernel's clocks; changes nothing.
///
/// # Errors
/// When the call is refused, as in some containers.
pub fn kernel_clock() -> io::Result<KernelClock> {
    let mut timex = MaybeUninit::<libc::timex>::zeroed();
    // SAFETY: `timex` is a valid place for the kernel to write to. All zeroes are valid for its fields, and `modes` of 0 sets nothing.
    let state = unsafe { libc::adjtimex(timex.as_mut_ptr()) };
    if state < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeroes are a valid value, and the kernel has only written valid ones.
    Ok(account(&unsafe { timex.assume_init() }))
}

fn account(timex: &libc::timex) -> KernelClock {
    let is_synchronised = timex.status & libc::STA_UNSYNC == 0;
    let nanos = if timex.status & libc::STA_NANO == 0 { 1_000 } else { 1 };
    let offset_ns = timex.offset.saturating_mul(nanos).unsigned_abs();
    // `maxerror` is in microseconds, and does not include the offset that is still to be corrected.
    let maximum_ns = u64::try_from(timex.maxerror).ok().map(|us| us.saturating_mul(1_000));
    let wall_error_ns = maximum_ns.filter(|_| is_synchronised).map(|ns| ns.saturating_add(offset_ns));
    // `freq` is in ppm with a 16-bit fraction, `tick` in microseconds per timer tick.
    let frequency_ppb = timex.freq * 1_000 / (1 << 16);
    let ticks = libc::c_long::try_from(clock_ticks_per_second()).unwrap_or(100);
    let tick_ppb = (timex.tick * ticks - 1_000_000) * 1_000;
    // An offset is corrected at no more than 500 ppm (MAXFREQ), and by no more than the whole offset per second.
    let offset_ppb = offset_ns.min(500_000);
    KernelClock { wall_error_ns, correction_ppb: (frequency_ppb + tick_ppb).unsigned_abs() + offset_ppb }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timex(change: impl FnOnce(&mut libc::timex)) -> KernelClock {
        // SAFETY: all zeroes are a valid `timex`.
        let mut timex = unsafe { MaybeUninit::<libc::timex>::zeroed().assume_init() };
        timex.tick = 1_000_000 / libc::c_long::try_from(clock_ticks_per_second()).unwrap();
        change(&mut timex);
        account(&timex)
    }

    #[test]
    fn a_clock_that_nothing_synchronises_has_no_error_that_is_known() {
        let known = timex(|timex| timex.maxerror = 1_500);
        assert_eq!(known, KernelClock { wall_error_ns: Some(1_500_000), correction_ppb: 0 });
        let unknown = timex(|timex| (timex.maxerror, timex.status) = (1_500, libc::STA_UNSYNC));
        assert_eq!(unknown.wall_error_ns, None);
        let corrected = timex(|timex| timex.offset = 100_000);
        assert_eq!(corrected.wall_error_ns, Some(100_000_000), "100 ms are still to be worked off");
    }

    #[test]
    fn frequency_tick_and_the_rest_of_an_offset_move_the_clock() {
        assert_eq!(timex(|timex| timex.freq = -25 << 16).correction_ppb, 25_000);
        assert_eq!(timex(|timex| timex.tick += 1).correction_ppb, 100_000);
        assert_eq!(timex(|timex| timex.offset = -40).correction_ppb, 40_000, "40 µs");
        let fast = timex(|timex| (timex.offset, timex.status) = (2_000_000, libc::STA_NANO));
        assert_eq!(fast.correction_ppb, 500_000);
    }

    #[test]
    fn this_kernel_gives_its_account() {
        let clock = kernel_clock().unwrap();
        assert!(clock.correction_ppb < 1_000_000_000, "{clock:?}");
    }
}
