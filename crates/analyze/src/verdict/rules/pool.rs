//! `pool`: a fixed number of workers or connections, each held for the whole of a request. X·S₀ is their number, S₀ being
//! the time of a request that waits for nothing.

use plimsoll_units::{count_text, duration_text, grouped, significant};

use super::queue::Queue;
use crate::verdict::bounds;
use crate::verdict::phrase::joined;
use crate::verdict::scene::{Scene, Suspicion};
use crate::{Estimate, EvidenceRow, Limit, StepSummary};

/// The mean of a step may be this much longer than that of the lowest, and still be of requests that did not wait.
const UNQUEUED: f64 = 1.1;
/// Half of what z = 1.96 gives either side of a mean.
const Z: f64 = 1.959_963_985;

/// How much longer most answers take than the fastest where the generator's kernel delays an acknowledgement that the server
/// waits for, in seconds: Linux delays by 40 ms and a tick of up to 4 ms, and answers the first segments of a connection at once.
/// The ends leave 2 ms to what the answers themselves differ by.
const DELAYED_ACK_SEC: std::ops::RangeInclusive<f64> = 0.038..=0.046;

/// A steady step is known to this part and no better, whatever its own scatter says.
const STEADY: f64 = 0.02;

/// How many requests the target works on at once, all tiers together: by Little's law (Little 1961), X·S₀.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::verdict) struct AtOnce {
    /// X·S₀ with its interval.
    pub(in crate::verdict) count: Estimate,
    /// S₀ in seconds.
    pub(in crate::verdict) unqueued_sec: f64,
    /// Whether throughput grew in proportion to the load until near the plateau, as it does up to a fixed number of
    /// workers; one thing that requests take turns at slows them down before. `None` if no step lies there.
    pub(in crate::verdict) straight: Option<bool>,
    /// The fastest answer in seconds, where the others wait for a delayed acknowledgement: for that a worker is not held.
    pub(in crate::verdict) without_ack_sec: Option<f64>,
    /// Whether throughput was at its plateau from the lowest load on. X·S₀ is that load then, whatever limits.
    pub(in crate::verdict) flat: bool,
}

/// Usable steps of a closed loop, lowest load first.
fn climbing<'s>(scene: &'s Scene<'_>) -> Vec<&'s StepSummary> {
    let mut steps = crate::knee::usable(scene.case.steps);
    steps.retain(|step| step.rate_per_sec.is_none() && step.latency.count > 0);
    steps
}

/// Counts the requests that are worked on at once, from a ladder that reached its plateau.
pub(in crate::verdict) fn at_once(scene: &Scene<'_>) -> Option<AtOnce> {
    let steps = climbing(scene);
    let lowest = *steps.first()?;
    let low_sec = lowest.latency.mean_ns / 1e9;
    // The highest step whose requests took no longer than the lowest step's: its time has what load alone adds in it.
    let unqueued = steps.iter().rev().find(|step| step.latency.mean_ns / 1e9 <= UNQUEUED * low_sec)?;
    let unqueued_sec = unqueued.latency.mean_ns / 1e9;
    let plateau = scene.decisive().throughput;
    let value = plateau.value * unqueued_sec;
    let relative = relative_half(plateau).hypot(mean_half(unqueued)).max(STEADY);
    let without_ack_sec = without_ack(lowest);
    let least_sec = low_sec.min(unqueued_sec).min(without_ack_sec.unwrap_or(f64::INFINITY));
    let low = plateau.value * least_sec * (1.0 - relative);
    let high = plateau.value * low_sec.max(unqueued_sec) * (1.0 + relative);
    let count = Estimate { value, interval: Some((low, high)) };
    // The step that S₀ is taken from gives N/S₀ by Little's law, whatever limits it: it is no witness.
    let others = if unqueued.connections == lowest.connections { &steps[1..] } else { &steps[..] };
    let straight = is_straight(others, value, unqueued_sec);
    let flat = lowest.throughput.value >= bounds::LEVEL * plateau.value;
    Some(AtOnce { count, unqueued_sec, straight, without_ack_sec, flat })
}

/// A server that sends an answer in two parts, and the second only when the first is acknowledged (Nagle 1984, RFC 896), has
/// its worker free long before the answer is there.
fn without_ack(lowest: &StepSummary) -> Option<f64> {
    let least_sec = lowest.latency.min_ns / 1e9;
    let later_sec = lowest.latency.p50.ns? / 1e9 - least_sec;
    DELAYED_ACK_SEC.contains(&later_sec).then_some(least_sec)
}

fn relative_half(estimate: Estimate) -> f64 {
    estimate.interval.map_or(bounds::TIE, |(low, high)| (high - low) / 2.0 / estimate.value)
}

fn mean_half(step: &StepSummary) -> f64 {
    Z * step.latency.stdev_ns / (step.latency.count as f64).sqrt() / step.latency.mean_ns
}

/// At every step with less than the count under way, and half of it or more, throughput is what that many workers give.
fn is_straight(steps: &[&StepSummary], count: f64, unqueued_sec: f64) -> Option<bool> {
    let under_way = |step: &StepSummary| f64::from(step.connections) * f64::from(step.depth);
    let mut near =
        steps.iter().filter(|step| (0.45 * count..0.95 * count).contains(&under_way(step))).peekable();
    near.peek()?;
    Some(near.all(|step| step.throughput.value >= 0.9 * under_way(step) / unqueued_sec))
}

/// What a pool would be here. `queue` is where requests wait.
pub(in crate::verdict) fn suspicion(scene: &Scene<'_>, queue: &Queue, at_once: AtOnce) -> Suspicion {
    let tiers: Vec<_> = queue.tiers.iter().filter_map(|tier| scene.flow.tiers.get(*tier)).collect();
    let among = tiers.len().max(1) as f64;
    let each = |value: f64| value / among;
    let size = Estimate {
        value: each(at_once.count.value),
        interval: at_once.count.interval.map(|(low, high)| (each(low), each(high))),
    };
    let place = tiers.first().map_or_else(|| sole_place(scene), |tier| tier.place());
    let names = by_place(tiers.iter().map(|tier| tier.place()));
    let whose = if names.is_empty() { place.clone() } else { joined(&names) };
    let apiece = if tiers.len() > 1 { " each" } else { "" };
    let sentence = format!(
        "a pool of about {} workers or connections in {whose}{apiece} is the limit: {} requests/s of {} each are {} at \
         once, and more at a time do not raise it",
        whole(size.value),
        count_text(scene.throughput()),
        duration_text(at_once.unqueued_sec * 1e9),
        significant(at_once.count.value),
    );
    let mut evidence: Vec<EvidenceRow> = vec![scene.row(
        "requests worked on at once: throughput × the time of a request that does not wait",
        at_once.count.value,
        None,
    )];
    evidence.extend(queue.at_the_door.map(|part| {
        scene.row(format!("waiting requests that are seen at the door of {whose}"), part.min(1.0), Some(1.0))
    }));
    evidence.extend(queue.out.filter(|out| *out > 0.0).map(|out| {
        scene.row(
            format!("connections out of {whose} at the highest step, against that many at once"),
            out,
            Some(at_once.count.value),
        )
    }));
    let seen = at_once.straight == Some(true) && is_seen(queue, at_once.count.value);
    let direct = seen && at_once.without_ack_sec.is_none();
    let (sentence, no_delay) = match (at_once.without_ack_sec, size.interval) {
        (Some(_), Some((low, high))) => (
            format!(
                "{sentence}; of that time about 40 ms are a delayed acknowledgement, for which no worker need be held, so that \
                 they are between {} and {}",
                whole(low),
                whole(high)
            ),
            Some(format!(
                "set TCP_NODELAY in {whose}, or let it send head and body of an answer at once, and repeat the load: each \
                 answer should come 40 ms earlier"
            )),
        ),
        _ => (sentence, None),
    };
    let raise = format!(
        "raise the pool in {whose} from about {} to {} (threads, workers, connections to what it uses) and repeat the load: \
         throughput should grow by half, or up to the next limit",
        whole(size.value),
        whole(1.5 * size.value)
    );
    Suspicion {
        size: Some(size),
        direct,
        evidence,
        advice: no_delay.into_iter().chain([raise]).chain((!direct).then(|| held_back(scene))).collect(),
        ..Suspicion::new(Limit::Pool, place, sentence)
    }
}

/// What holds throughput down without being busy, and is neither a pool nor a lock.
pub(super) fn held_back(scene: &Scene<'_>) -> String {
    format!(
        "if nothing there is set to that, look for a rate limit that delays requests, or a link that is shaped on the way: \
         either holds throughput at {} requests/s whatever the load",
        count_text(scene.throughput())
    )
}

/// Places, each once: several servers of one name on one host are told as so many of it.
fn by_place(places: impl Iterator<Item = String>) -> Vec<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for place in places {
        match counts.iter_mut().find(|(known, _)| *known == place) {
            Some((_, count)) => *count += 1,
            None => counts.push((place, 1)),
        }
    }
    let told =
        |(place, count): (String, usize)| if count > 1 { format!("{count} × {place}") } else { place };
    counts.into_iter().map(told).collect()
}

/// Workers come in whole numbers, and one at least.
fn whole(count: f64) -> String {
    grouped(count.round().max(1.0) as u64)
}

/// The queue was seen at the door of the pool, and all but as many as it has were there; or connections out of it are as
/// many as it has. Where more requests are past the door than are served at once, they wait for something behind it, be it
/// over a way that is no TCP connection.
fn is_seen(queue: &Queue, count: f64) -> bool {
    let as_many = |seen: f64| (seen / count - 1.0).abs() <= bounds::SAME_SIZE;
    let at_door = queue.at_the_door.is_some_and(|part| part >= bounds::AT_THE_DOOR)
        && queue.inside.is_some_and(as_many);
    let counted = queue.out.is_some_and(as_many);
    let nothing_beyond = queue.out == Some(0.0);
    !queue.tiers.is_empty() && ((at_door && nothing_beyond) || counted)
}

/// Where requests wait if nobody told: the only host, or the target itself.
fn sole_place(scene: &Scene<'_>) -> String {
    match scene.hosts().as_slice() {
        [only] => (*only).to_owned(),
        _ => scene.case.plan.target.authority(),
    }
}
