//! A second opinion on the difference of two monotonic clocks: wall clocks that both kernels call synchronised.
//!
//! It does not depend on the broker, and the start of a step does not depend on it. The exchanges bound their own error; a
//! kernel's claim is only as good as the time servers of its machine.

use plimsoll_record::WallClocks;
use plimsoll_units::{Clock as _, RealClock, unix_time};
use serde::{Deserialize, Serialize};

use crate::clock::{DRIFT_PPB, Offset};

/// No kernel is believed to know the wall clock better than this, in nanoseconds: a daemon such as systemd-timesyncd sets the error
/// to 0 whenever it has asked its server.
const LEAST_ERROR_NS: u64 = 20_000_000;
/// How often both clocks are read. The fastest reading counts.
const READINGS: usize = 3;

/// The clocks of one machine at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MachineClocks {
    /// Wall clock minus monotonic clock, in nanoseconds.
    ahead_ns: i64,
    /// Bound on the error of the wall clock, in nanoseconds; `None` if its kernel does not call it synchronised.
    error_ns: Option<u64>,
    /// By how much the kernel corrects the rate of both clocks, in nanoseconds per second; 0 if it does not say.
    correction_ppb: u64,
}

impl MachineClocks {
    /// Reads the clocks of this machine.
    pub(crate) fn read() -> Self {
        let kernel = plimsoll_sys::kernel_clock().ok();
        let (window_ns, ahead_ns) = (0..READINGS).map(|_| reading()).min().unwrap_or_default();
        let error_ns = |kernel_ns: u64| kernel_ns.max(LEAST_ERROR_NS).saturating_add(window_ns / 2);
        Self {
            ahead_ns,
            error_ns: kernel.and_then(|clock| clock.wall_error_ns).map(error_ns),
            correction_ppb: kernel.map_or(0, |clock| clock.correction_ppb),
        }
    }

    /// Returns the bound on the drift between these clocks and others, in nanoseconds per second. A kernel that corrects its clocks
    /// by more than a sound quartz needs is setting them.
    pub(crate) fn drift_ppb(self, other: Self) -> u64 {
        let beyond = |clocks: Self| clocks.correction_ppb.saturating_sub(DRIFT_PPB);
        DRIFT_PPB + beyond(self) + beyond(other)
    }

    /// Compares the measured offset with the wall clocks of this agent and of its conductor; `None` unless both are
    /// synchronised.
    pub(crate) fn second_opinion(self, conductor: Self, measured: Offset) -> Option<WallClocks> {
        let apart_ns = measured.ahead_ns() + i128::from(conductor.ahead_ns) - i128::from(self.ahead_ns);
        let explained_ns = self.error_ns?.saturating_add(conductor.error_ns?);
        Some(WallClocks {
            apart_ns: u64::try_from(apart_ns.unsigned_abs()).unwrap_or(u64::MAX),
            error_ns: explained_ns.saturating_add(measured.own_error_ns()),
        })
    }
}

/// Returns the time it took to read the wall clock, and how far that is ahead of the monotonic clock, in nanoseconds.
fn reading() -> (u64, i64) {
    let before = RealClock.now();
    let wall = unix_time();
    let window_ns = RealClock.now().nanos_since(before);
    let middle_ns = i128::from(before.as_nanos()) + i128::from(window_ns / 2);
    (window_ns, i64::try_from(wall.as_nanos() as i128 - middle_ns).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use plimsoll_units::Instant;

    use super::*;
    use crate::clock::Exchange;

    const SYNCHRONISED: MachineClocks =
        MachineClocks { ahead_ns: 1_000_000, error_ns: Some(300), correction_ppb: 20_000 };

    /// The conductor's monotonic clock is 5,000 ns ahead of the agent's, known to ± 101 ns.
    fn offset() -> Offset {
        let [asked, received, answered, arrived] = [0, 5_100, 5_100, 200].map(Instant::from_nanos);
        Offset::best(&[Exchange { asked, received, answered, arrived }], DRIFT_PPB).unwrap()
    }

    #[test]
    fn wall_clocks_that_are_both_synchronised_confirm_the_difference_or_contradict_it() {
        let conductor = MachineClocks { ahead_ns: 995_200, ..SYNCHRONISED };
        let opinion = SYNCHRONISED.second_opinion(conductor, offset()).unwrap();
        assert_eq!(opinion, WallClocks { apart_ns: 200, error_ns: 300 + 300 + 102 });
        assert!(opinion.agree());
        let other = MachineClocks { ahead_ns: 1_000_000, ..SYNCHRONISED };
        assert!(!SYNCHRONISED.second_opinion(other, offset()).unwrap().agree(), "5 µs apart");
        let unknown = MachineClocks { error_ns: None, ..conductor };
        assert_eq!(SYNCHRONISED.second_opinion(unknown, offset()), None);
        assert_eq!(unknown.second_opinion(SYNCHRONISED, offset()), None);
    }

    #[test]
    fn a_clock_that_its_kernel_is_setting_may_drift_further() {
        let set = MachineClocks { correction_ppb: 500_000, ..SYNCHRONISED };
        assert_eq!(SYNCHRONISED.drift_ppb(SYNCHRONISED), 100_000);
        assert_eq!(set.drift_ppb(SYNCHRONISED), 500_000);
        assert_eq!(SYNCHRONISED.drift_ppb(set), 500_000);
    }
}
