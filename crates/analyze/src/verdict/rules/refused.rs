//! `refused`: the target turns requests away by policy, with 429 or 503, while it could serve them.

use plimsoll_units::count_text;

use crate::demand::{Load, demand};
use crate::verdict::bounds;
use crate::verdict::phrase::percent;
use crate::verdict::scene::{Scene, Suspicion};
use crate::{Law, Limit, Resource, ResourceKind, StepSummary};

/// The statuses by which servers refuse what is too much: RFC 6585 section 4, RFC 9110 section 15.6.4.
const STATUSES: [u16; 2] = [429, 503];
/// Fewer refusals than this part are no policy: it is what a step may fail by and still count.
pub(super) const PART_LEAST: f64 = 0.05;
/// What is served is the same at two loads within this part.
pub(super) const LEVEL: f64 = 0.1;

fn refusals(step: &StepSummary) -> u64 {
    step.counts.status.iter().filter(|(status, _)| STATUSES.contains(status)).map(|(_, count)| count).sum()
}

/// The part of what ended that was refused.
pub(in crate::verdict) fn part(step: &StepSummary) -> f64 {
    refusals(step) as f64 / (step.counts.ended().max(1)) as f64
}

/// Requests per second that were served while the load was on.
pub(in crate::verdict) fn served_per_sec(step: &StepSummary) -> f64 {
    step.counts.ok as f64 / (step.warmup_sec + step.measured_sec).max(f64::MIN_POSITIVE)
}

/// The step with the least load in which refusals are a policy.
pub(in crate::verdict) fn first(steps: &[StepSummary]) -> Option<usize> {
    let refused = (0..steps.len()).filter(|index| part(&steps[*index]) >= PART_LEAST);
    refused.min_by_key(|index| (steps[*index].connections, *index))
}

/// What was served, at the most, in any step.
pub(super) fn most_served(steps: &[StepSummary]) -> f64 {
    steps.iter().map(served_per_sec).fold(0.0, f64::max)
}

/// By what it takes for a request where none is refused, a resource would be free with as many as were ever served. What
/// fills it beside refusals is the refusing: clients without a pause ask again at once. All that it was used for there is
/// charged to requests, which makes the bound too low rather than too high.
fn is_far(scene: &Scene<'_>, resource: &Resource) -> bool {
    let steps = scene.case.steps;
    let accepted = (0..steps.len()).filter(|index| {
        part(&steps[*index]) < PART_LEAST && crate::knee::counts_for_capacity(&steps[*index])
    });
    let best = accepted.max_by(|a, b| steps[*a].throughput.value.total_cmp(&steps[*b].throughput.value));
    let used = best.and_then(|best| Some((steps[best].throughput.value, resource.utilisation(best)?)));
    used.is_some_and(|(accepted_per_sec, share)| most_served(steps) * share < bounds::FREE * accepted_per_sec)
}

/// Whether what is served grows with the load by half, among the steps from the first with refusals on.
fn grows(steps: &[StepSummary], first: usize) -> bool {
    let least = steps[first].connections;
    let mut later: Vec<&StepSummary> = steps.iter().filter(|step| step.connections >= least).collect();
    later.sort_by_key(|step| step.connections);
    let served: Vec<f64> = later.into_iter().map(served_per_sec).collect();
    (1..served.len()).any(|high| served[..high].iter().any(|low| served[high] > 1.5 * low.max(1.0)))
}

/// What is served stays level from the first step on that has refusals, whatever the load.
fn stays_level(steps: &[StepSummary], first: usize) -> Option<(f64, f64, usize)> {
    let least = steps[first].connections;
    let with_refusals: Vec<&StepSummary> =
        steps.iter().filter(|step| step.connections >= least && part(step) >= PART_LEAST).collect();
    let served = || with_refusals.iter().map(|step| served_per_sec(step));
    Some((served().reduce(f64::min)?, served().reduce(f64::max)?, with_refusals.len()))
}

/// As much was served before there were refusals: something else had stopped growth by then, and what waited too long for it
/// may be what is refused.
pub(super) fn was_level_before(steps: &[StepSummary], level_per_sec: f64) -> bool {
    let accepted =
        steps.iter().filter(|step| part(step) < PART_LEAST && crate::knee::counts_for_capacity(step));
    accepted.map(served_per_sec).any(|served| served >= (1.0 - bounds::TIE) * level_per_sec)
}

/// Refusals as a policy. `scene.step` must be the first step that has them.
pub(in crate::verdict) fn suspicion(scene: &Scene<'_>) -> Option<Suspicion> {
    let steps = scene.case.steps;
    let step = scene.decisive();
    let refused = part(step);
    let (least, most, count) = stays_level(steps, scene.step)?;
    let level = most <= (1.0 + LEVEL) * least;
    // A target that sheds load because it is full says 503 too; then it is what is full that limits.
    let spent = || scene.of_target().filter(|resource| resource.kind.is_spent());
    let near = |least: f64| {
        let share = move |resource: &Resource| scene.share(resource).is_some_and(|share| share >= least);
        spent().any(|resource| share(resource) && !is_far(scene, resource))
    };
    // Limiters that count what they deny serve next to nothing once they are exceeded.
    let denied = || scene.hosts().iter().any(|host| scene.cpu(host).is_some_and(|cpu| is_far(scene, cpu)));
    let falls = || !grows(steps, scene.step) && !near(bounds::FREE) && denied();
    let varies = count > 1 && !level && most > least * 1.5;
    if refused < PART_LEAST || near(bounds::BUSY) || (varies && !falls()) {
        return None;
    }
    let place = deepest_that_refuses(scene);
    let sentence = format!(
        "{place} refuses what is more than about {} requests/s: {} of the answers at {} were of status 429 or 503, and what \
         was served did not grow with the load",
        count_text(if varies { most_served(steps) } else { served_per_sec(step) }),
        percent(refused),
        scene.at()
    );
    let watched = scene
        .resources
        .iter()
        .any(|resource| resource.kind == ResourceKind::Cpu && resource.host == host(&place));
    let before = was_level_before(steps, least);
    let pool = before.then(|| Suspicion::new(Limit::Pool, &place, String::new()));
    Some(Suspicion {
        direct: level && count > 1 && watched && !before,
        beside: pool.into_iter().collect(),
        evidence: vec![
            scene.row("answers of status 429 or 503", refused, Some(1.0)),
            scene.row(
                "requests/s that were served, least and most over the steps with refusals",
                least,
                Some(most),
            ),
        ],
        advice: vec![format!(
            "look for a rate limit, a limit of connections or a bounded queue in {place} (limit_req, limit_conn, maxconn); \
             raise it by half and repeat the load: what is served should grow by half"
        )],
        ..Suspicion::new(Limit::Refused, place, sentence)
    })
}

fn host(place: &str) -> &str {
    place.split_once(": ").map_or(place, |(host, _)| host)
}

/// Refusals reach the load from the tier that makes them; those behind it never see what was refused. The deepest host
/// whose packets grow with the refusals is where they come from.
fn deepest_that_refuses(scene: &Scene<'_>) -> String {
    let mut here = scene.flow.front();
    let front = here.first().map(|tier| &scene.flow.tiers[*tier]);
    let mut place = front.map_or_else(|| scene.case.plan.target.authority(), |tier| tier.place());
    for _ in 0..scene.flow.tiers.len() {
        let next: Vec<usize> = here
            .iter()
            .flat_map(|tier| &scene.flow.tiers[*tier].out)
            .map(|flow| flow.to)
            .filter(|tier| scene.flow.tiers[*tier].is_looked_at() && !here.contains(tier))
            .filter(|tier| sees_refusals(scene, &scene.flow.tiers[*tier].node.host))
            .collect();
        let Some(first) = next.first() else { return place };
        place = scene.flow.tiers[*first].place();
        here = next;
    }
    place
}

/// The packets that a host receives grow with the refusals, what was served being the same.
fn sees_refusals(scene: &Scene<'_>, host: &str) -> bool {
    let packets = |resource: &&Resource| resource.kind == ResourceKind::PacketsIn && resource.host == host;
    let Some(link) = scene.resources.iter().find(packets) else { return false };
    let steps = scene.case.steps.iter().zip(&link.used).filter(|(step, _)| part(step) >= PART_LEAST);
    let loads: Vec<Load> = steps
        .filter_map(|(step, used)| {
            let refused_per_sec = step.throughput.value * part(step);
            Some(Load { throughput_per_sec: refused_per_sec, used: (*used)? })
        })
        .collect();
    let most = loads.iter().copied().max_by(|a, b| a.throughput_per_sec.total_cmp(&b.throughput_per_sec));
    let found = most.and_then(|most| demand(&loads, most, None));
    // Each refused request is a packet at least.
    found.is_some_and(|demand| demand.law == Law::Holds && demand.per_request.value >= 0.5)
}
