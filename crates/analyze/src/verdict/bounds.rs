//! The bounds of the rules. `docs/method.md`, section 9, says why each stands where it does.

use crate::hosts::utilisation::TIE;

/// The utilisation of a busy CPU where more was needed: what is missing is what the last slice of a throttled period leaves, or what
/// others on the machine had while the target was ready for it.
pub(crate) const BUSY_NEEDED: f64 = 0.80;
/// The part of its periods in which a control group is throttled: in most of them it had work left when its quota was used up.
pub(crate) const THROTTLED: f64 = 0.5;
/// Ready threads that got less than this part of the CPU they needed were kept from it: one half, since what is missing
/// then costs more than what a second worker, or twice the CPU, would give.
pub(crate) const KEPT: f64 = 0.5;
/// Without what kept it from this part of the CPU time that it needed, or that its requests took, the target would serve a third
/// more: that is felt.
pub(crate) const FELT: f64 = 0.25;
/// A lowest step of this part of the highest leaves growth no larger than what steps and the times of their requests are
/// distinguished by.
pub(crate) const LEVEL: f64 = 0.9;
/// The part of its CPU that a process spends on collecting garbage for that to be its limit. An intervention raises what
/// is short by half; without the collection the same CPU does 1/(1 − g) times the work, which is 1.5 at a third.
pub(crate) const COLLECTING: f64 = 1.0 / 3.0;
/// A thread or process with less of a core than this takes no part in the work.
pub(crate) const TAKES_PART: f64 = 0.05;
/// The part of a request for which something must happen to be more than chance: once in ten requests.
pub(crate) const PER_REQUEST: f64 = 0.1;
/// Threads that wait for a disk at any moment: half of a thread is more than one thread does otherwise.
pub(crate) const DISK_WAITING: f64 = 0.5;
/// Of the requests that wait somewhere, the part that must be seen at a door for the queue to be there.
pub(crate) const AT_THE_DOOR: f64 = 0.2;
/// Of the requests that reach a tier, the part that must be under way beyond it for it to pass them on.
pub(crate) const PASSED_ON: f64 = 0.8;
/// A size counted in two ways is the same within this part.
pub(crate) const SAME_SIZE: f64 = 0.2;
/// The part of new connections that must find the accept queue full to be more than the burst of a step's begin.
pub(crate) const OVERFLOWN: f64 = 0.01;
/// The part of the requests of a row that must fail, or be refused, for its throughput not to be what the target holds.
pub(crate) const FAILING: f64 = 0.01;
/// A window shorter than this reports nothing of hosts, in seconds. The kernel counts the time of CPUs in ticks of 10 ms, of
/// which one more or less may lie between two reads: that must stay within what two limits are distinguished by. It also is
/// two periods of a quota by default.
pub(crate) const MIN_WINDOW_SEC: f64 = 0.010 / TIE;

/// True for sizes that are the same within [`SAME_SIZE`].
pub(crate) fn is_same_size(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() <= SAME_SIZE
}
