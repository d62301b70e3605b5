//! What the kernel says of its own clocks.

use std::io;
use std::mem::MaybeUninit;

use rustix::param::clock_ticks_per_second;

/// The kernel's account of its clocks, from `adjtimex(2)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelClock {
    /// How far the wall clock may be from true time, in nanoseconds; `None` where nothing synchronises it.
    pub wall_error_ns: Option<u64>,
    /// How fast the kernel moves its clocks, the monotonic one too, off the pace of the hardware: at most so many nanoseconds per
    /// second, either way.
    pub correction_ppb: u64,
}

/// The kernel's account of its clocks; changes nothing.
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
    // `maxerror` is in microseconds, and does not count what is still to be worked off.
    let maximum_ns = u64::try_from(timex.maxerror).ok().map(|us| us.saturating_mul(1_000));
    let wall_error_ns = maximum_ns.filter(|_| is_synchronised).map(|ns| ns.saturating_add(offset_ns));
    // `freq` is in ppm with 16 bits behind the point, `tick` in microseconds per timer tick.
    let frequency_ppb = timex.freq * 1_000 / (1 << 16);
    let ticks = libc::c_long::try_from(clock_ticks_per_second()).unwrap_or(100);
    let tick_ppb = (timex.tick * ticks - 1_000_000) * 1_000;
    // The rest of an offset is worked off at no more than 500 ppm (MAXFREQ), and at no more than all of it per second.
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
