//! How many requests the target works on at once.

use plimsoll_stats::Z_95;

use crate::findings::{AtOnceLaw, Estimate, StepSummary};
use crate::hosts::utilisation::TIE;
use crate::verdict::bounds;
use crate::verdict::context::RuleContext;

/// The mean of a step may be this many times the lowest mean, and its requests still count as not having waited.
const UNQUEUED: f64 = 1.1;

/// How much longer most answers take than the fastest if the generator's kernel delays an acknowledgement that the
/// server waits for, in seconds: Linux delays by 40 ms and a tick of up to 4 ms, and acknowledges the first segments of a
/// connection at once. Each end of the range leaves 2 ms for differences between the answers themselves.
const DELAYED_ACK_SEC: std::ops::RangeInclusive<f64> = 0.038..=0.046;

/// A steady step is known to within this share and no better, whatever its own scatter says.
const STEADY: f64 = 0.02;

/// Requests under way, as shares of the count, at the steps that show whether throughput grows linearly up to it: about half of
/// the count or more, and so far below it that the error of the count does not reach there.
const NEAR_COUNT: std::ops::Range<f64> = 0.45..0.95;

/// Such a step must reach this share of the throughput that as many workers give.
const LINEAR: f64 = 0.9;

/// Requests of one kind wait if they take this many times as long under the highest load as under the lowest.
const WAITS: f64 = 1.5;

/// Their wait must also be this share of the longest wait of any kind: times of microseconds vary by as much.
const WAITS_AS_LONG: f64 = 0.05;

/// How many requests the target works on at once, all tiers together: by Little's law (Little 1961), X·S₀.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Concurrency {
    /// X·S₀ with its interval.
    pub(crate) count: Estimate,
    /// X of the requests that wait under load: of all, or of those kinds of a mix that meet what limits.
    pub(crate) per_sec: f64,
    /// S₀ in seconds.
    pub(crate) unqueued_sec: f64,
    /// Whether throughput grew linearly with the load until near the plateau, as it does up to a fixed number of
    /// workers; a single thing at which requests take turns slows them down before that. `None` if no step lies there.
    pub(crate) straight: Option<bool>,
    /// The fastest answer in seconds, if the others wait for a delayed acknowledgement, during which no worker is held.
    pub(crate) without_ack_sec: Option<f64>,
    /// Whether throughput was at its plateau from the lowest load on. X·S₀ is then that load, whatever limits.
    pub(crate) flat: bool,
    /// As `flat`, with more than one request in that load: these may have waited, and X·S₀ is only the most that are served at once.
    pub(crate) saturated: bool,
}

impl Concurrency {
    /// Little's law as it was applied.
    pub(crate) fn law(self) -> AtOnceLaw {
        AtOnceLaw { per_sec: self.per_sec, unqueued_sec: self.unqueued_sec, at_once: self.count.value }
    }

    /// The count for those kinds of a mix that wait: other kinds pass by the limit and are under way without waiting for it.
    fn of_waiting(self, steps: &[&StepSummary], step: Option<&StepSummary>) -> Self {
        let (Some(lowest), Some(highest), Some(step)) = (steps.first(), steps.last(), step) else {
            return self;
        };
        let wait = |kind: usize| {
            let sec = lowest.requests.get(kind)?.latency.mean_ns / 1e9;
            Some((sec, highest.requests.get(kind)?.latency.mean_ns / 1e9 - sec))
        };
        let longest_sec = (0..step.requests.len()).filter_map(wait).map(|(_, sec)| sec).fold(0.0, f64::max);
        let at_once = |kind: usize| {
            let (sec, waited_sec) = wait(kind)?;
            let per_sec = step.requests.get(kind)?.throughput_per_sec;
            let waits = waited_sec >= (WAITS - 1.0) * sec && waited_sec >= WAITS_AS_LONG * longest_sec;
            Some((per_sec, per_sec * sec, waits))
        };
        let kinds: Vec<(f64, f64, bool)> = (0..step.requests.len()).filter_map(at_once).collect();
        let waiting = kinds.iter().filter(|(.., waits)| *waits);
        let (per_sec, held) = waiting.fold((0.0, 0.0), |sum, kind| (sum.0 + kind.0, sum.1 + kind.1));
        if kinds.len() < 2 || held <= 0.0 || self.count.value <= 0.0 || kinds.iter().all(|(.., waits)| *waits)
        {
            return self;
        }
        // The share of each kind varies by chance: X·S₀ over all kinds would count another mix than the one that came.
        let count = self.count.times(held / self.count.value);
        Self { count, per_sec, unqueued_sec: count.value / per_sec, ..self }
    }
}

/// Usable steps of a closed loop, lowest load first.
pub(crate) fn climbing<'s>(ctx: &RuleContext<'s>) -> Vec<&'s StepSummary> {
    let mut steps = crate::load::knee::usable(ctx.steps());
    steps.retain(|step| step.rate_per_sec.is_none() && step.latency.count > 0);
    steps
}

/// Counts the requests that are worked on at once, from a ladder that reached its plateau.
pub(crate) fn concurrency(ctx: &RuleContext<'_>) -> Option<Concurrency> {
    let steps = climbing(ctx);
    let lowest = *steps.first()?;
    // The lowest step has the fewest to wait for, unless what else runs on the machine kept it from its CPU.
    let low_sec = steps.iter().map(|step| step.latency.mean_ns / 1e9).reduce(f64::min)?;
    // The highest step whose requests took about as long as that: its time includes what load alone adds.
    let unqueued = steps.iter().rev().find(|step| step.latency.mean_ns / 1e9 <= UNQUEUED * low_sec)?;
    let unqueued_sec = unqueued.latency.mean_ns / 1e9;
    let plateau = ctx.throughput_estimate();
    let value = plateau.value * unqueued_sec;
    let relative = plateau.relative_half().unwrap_or(TIE).hypot(mean_half(unqueued)).max(STEADY);
    let without_ack_sec = without_ack(lowest);
    let least_sec = low_sec.min(unqueued_sec).min(without_ack_sec.unwrap_or(f64::INFINITY));
    let low = plateau.value * least_sec * (1.0 - relative);
    let high = plateau.value * low_sec.max(unqueued_sec) * (1.0 + relative);
    let count = Estimate { value, interval: Some((low, high)) };
    // By Little's law, the step that S₀ is taken from has throughput N/S₀, whatever limits it: it shows nothing here.
    let others = if unqueued.connections == lowest.connections { &steps[1..] } else { &steps[..] };
    let straight = is_straight(others, value, unqueued_sec);
    let flat = is_level(lowest, plateau.value);
    let saturated = is_saturated(lowest, plateau.value);
    let per_sec = plateau.value;
    let all = Concurrency { count, per_sec, unqueued_sec, straight, without_ack_sec, flat, saturated };
    Some(all.of_waiting(&steps, ctx.step()))
}

/// The fastest answer, if most others wait for a delayed acknowledgement. A server that sends an answer in two parts, the second
/// only when the first is acknowledged (Nagle 1984, RFC 896), has its worker free long before the answer arrives.
fn without_ack(lowest: &StepSummary) -> Option<f64> {
    let least_sec = lowest.latency.min_ns / 1e9;
    let later_sec = lowest.latency.p50.ns? / 1e9 - least_sec;
    DELAYED_ACK_SEC.contains(&later_sec).then_some(least_sec)
}

fn mean_half(step: &StepSummary) -> f64 {
    Z_95 * step.latency.stdev_ns / (step.latency.count as f64).sqrt() / step.latency.mean_ns
}

fn is_level(lowest: &StepSummary, plateau_per_sec: f64) -> bool {
    lowest.throughput.value >= bounds::LEVEL * plateau_per_sec
}

/// True if the lowest load, with more than one request under way, already had the throughput of the plateau: requests may have
/// waited there too.
pub(crate) fn is_saturated(lowest: &StepSummary, plateau_per_sec: f64) -> bool {
    is_level(lowest, plateau_per_sec) && lowest.under_way() > 1.0
}

/// True if, at every step near the count, throughput is what as many workers give as requests are under way; `None` without such a step.
fn is_straight(steps: &[&StepSummary], count: f64, unqueued_sec: f64) -> Option<bool> {
    let range = NEAR_COUNT.start * count..NEAR_COUNT.end * count;
    let mut near = steps.iter().filter(|step| range.contains(&step.under_way())).peekable();
    near.peek()?;
    Some(near.all(|step| step.throughput.value >= LINEAR * step.under_way() / unqueued_sec))
}
