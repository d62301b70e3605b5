//! The bounds beyond which the generator is not healthy.

/// A measured window shorter than this cannot be judged, in seconds. The kernel counts the time of CPUs in ticks, of 10 ms
/// where they are longest (HZ = 100); one of them is a tenth of this window, which is as much as lies between a worker
/// that counts as busy and a whole core.
pub(crate) const WINDOW_LEAST_SEC: f64 = 0.1;
/// A worker this busy has no room for another tenth of load, whatever the target does.
pub(crate) const BUSY_RATIO: f64 = 0.90;
/// A worker that waits this part of its time for a CPU sends late and notices answers late.
pub(crate) const STARVED_RATIO: f64 = 0.20;
/// Little's law may fall short by this ratio, for requests cut at the window's edges.
pub(crate) const LITTLE_ERROR: f64 = 0.05;
/// An open loop that sends less than this ratio of what falls due is behind.
pub(crate) const SENT_RATIO: f64 = 0.99;
/// More stolen CPU time than this ratio is felt.
pub(crate) const STOLEN_RATIO: f64 = 0.05;
/// With more than one segment in a hundred sent again, waiting for lost packets shows in p99 and in throughput.
pub(crate) const RETRANSMITTED_RATIO: f64 = 0.01;
/// Beyond this ratio of what one worker can do, the next tenth of load may find it busy.
pub(crate) const CEILING_RATIO: f64 = 0.80;

/// Lag below this is the resolution of timers and of one round of events, in nanoseconds.
const SEND_LAG_LEAST_NS: f64 = 1e6;
/// Lag matters if it is of the size of what is measured: at least this ratio of the median service time.
const SEND_LAG_RATIO: f64 = 0.5;

/// The most send lag at p99, in nanoseconds. Lag is compared with the median service time: half a millisecond means
/// much where an answer takes one, and nothing where it takes a hundred. A floor of 1 ms keeps a scheduler's ordinary
/// jitter out.
pub(crate) fn send_lag_ns(service_p50_ns: f64) -> f64 {
    SEND_LAG_LEAST_NS.max(SEND_LAG_RATIO * service_p50_ns)
}
