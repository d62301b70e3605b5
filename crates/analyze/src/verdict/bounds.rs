//! The bounds of the rules. `docs/method.md`, section 9, gives the reason for each value.

use crate::hosts::utilisation::TIE;

/// Utilisation from which a CPU is busy if more of it was needed: the rest is what the last slice of a throttled period leaves, or
/// what others on the machine used while the target was ready to run.
pub(crate) const BUSY_NEEDED: f64 = 0.80;
/// The share of its periods in which a control group must be throttled: in most of them it had work left when its quota was used up.
pub(crate) const THROTTLED: f64 = 0.5;
/// Ready threads that got less than this share of the CPU time they needed were kept from it. The bound is one half because
/// what is missing then costs more than a second worker, or twice the CPU, would give.
pub(crate) const KEPT: f64 = 0.5;
/// Waiting for the CPU is felt if it takes this share of the CPU time needed, or of the time of requests: without it the target
/// would serve a third more.
pub(crate) const FELT: f64 = 0.25;
/// If the lowest step has this share of the highest throughput, the growth is within the error of the steps and of the times of
/// their requests.
pub(crate) const LEVEL: f64 = 0.9;
/// The share of a process's CPU time from which garbage collection is its limit. An intervention raises what
/// is short by half; without the collection the same CPU does 1/(1 − g) times the work, which is 1.5 at a third.
pub(crate) const COLLECTING: f64 = 1.0 / 3.0;
/// A thread or process that uses less of a core than this takes no part in the work.
pub(crate) const TAKES_PART: f64 = 0.05;
/// How often per request something must happen to be more than chance: once in ten requests.
pub(crate) const PER_REQUEST: f64 = 0.1;
/// The mean number of threads that must wait for a disk: half of a thread is more than one thread waits otherwise.
pub(crate) const DISK_WAITING: f64 = 0.5;
/// The share of the waiting requests that must be observed at a door for the queue to be there.
pub(crate) const AT_THE_DOOR: f64 = 0.2;
/// The share of the requests reaching a tier that must be under way beyond it for the tier to pass them on.
pub(crate) const PASSED_ON: f64 = 0.8;
/// Two counts of one size are the same within this share.
pub(crate) const SAME_SIZE: f64 = 0.2;
/// The share of new connections that must find the accept queue full to be more than the burst at the beginning of a step.
pub(crate) const OVERFLOWN: f64 = 0.01;
/// The share of a row's requests that must fail, or be refused, for its throughput not to be what the target holds.
pub(crate) const FAILING: f64 = 0.01;
/// A window shorter than this shows nothing of hosts, in seconds. The kernel counts CPU time in ticks of 10 ms, and there may be
/// one tick more or less between two reads: that error must stay within the distance at which two limits are distinguished. The
/// value is also two periods of a default quota.
pub(crate) const MIN_WINDOW_SEC: f64 = 0.010 / TIE;

/// True for sizes that are the same within [`SAME_SIZE`].
pub(crate) fn is_same_size(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() <= SAME_SIZE
}
