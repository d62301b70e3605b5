//! Where throughput stops growing with concurrency.

use plimsoll_record::StepEnd;

use crate::{Knee, StepSummary};

/// Throughput within this ratio of the highest is the plateau.
pub(crate) const TOLERANCE: f64 = 0.05;

/// Failed answers are often fast. A step counts for the knee only if its failures could not move throughput by more than the
/// tolerance of the knee.
const MIN_SUCCESS: f64 = 1.0 - TOLERANCE;

/// True if the step's throughput is that of successful answers.
pub(crate) fn counts_for_capacity(step: &StepSummary) -> bool {
    step.throughput.value > 0.0 && step.success_ratio.is_some_and(|ratio| ratio >= MIN_SUCCESS)
}

/// True if the step ran until it was measured: not cut by the user or the budget, nor by the loss of the target.
pub(crate) fn whole(step: &StepSummary) -> bool {
    !matches!(step.end, StepEnd::Cut | StepEnd::TargetLost)
}

/// The step with the highest load. In a ladder, which may go down, it is the one with most connections that was not cut short; else the
/// last. `None` without a step.
pub(crate) fn highest(steps: &[StepSummary], is_ladder: bool) -> Option<usize> {
    let is_whole = |index: &usize| is_ladder && whole(&steps[*index]);
    let highest = (0..steps.len()).filter(is_whole).max_by_key(|index| steps[*index].connections);
    highest.or_else(|| steps.len().checked_sub(1))
}

/// The step from which the answer is taken: that of the plateau, else that of the highest load.
pub(crate) fn deciding(steps: &[StepSummary], knee: Option<&Knee>, is_ladder: bool) -> Option<usize> {
    let plateau = |knee: &Knee| steps.iter().position(|step| step.connections == knee.plateau_connections);
    knee.and_then(plateau).or_else(|| highest(steps, is_ladder))
}

/// The steps that were not cut and whose throughput is that of successful answers, lowest concurrency first.
pub(crate) fn usable(steps: &[StepSummary]) -> Vec<&StepSummary> {
    let counts = |step: &&StepSummary| whole(step) && counts_for_capacity(step);
    let mut usable: Vec<&StepSummary> = steps.iter().filter(counts).collect();
    usable.sort_by_key(|step| step.connections);
    usable
}

/// The step with the highest throughput of successful answers, with its position; uncut steps come first. `None` if too many requests
/// failed in every step. Refusals are fast, so that the step with the highest throughput may carry least.
pub(crate) fn best_carrying_step(steps: &[StepSummary]) -> Option<(usize, &StepSummary)> {
    let carrying = steps.iter().enumerate().filter(|(_, step)| counts_for_capacity(step));
    carrying.max_by(|(_, a), (_, b)| {
        whole(a).cmp(&whole(b)).then(a.throughput.value.total_cmp(&b.throughput.value))
    })
}

/// The knee of a ladder, or `None` with fewer than two usable steps.
///
/// The plateau is known (`reached`) if the ladder went to at least twice the knee's concurrency: then a
/// doubling of connections gained less than 5 %, however the steps are spaced. A step that was cut short does
/// not count: it may have ended in its warm-up.
///
/// N* = (D + Z)/D_max (Denning and Buzen 1978; Lazowska and others, *Quantitative System Performance*, 1984,
/// chapter 5) is where the asymptotes X ≤ N/(D + Z) and X ≤ 1/D_max cross. Without think time Z, D is the
/// mean latency of the lowest step, where nothing queues yet, and 1/D_max is the plateau; so N* = X_max·R_low.
/// It also is the number of requests the target works on at once; where each connection has several under way, the
/// connections are fewer by that factor.
pub(crate) fn knee(steps: &[StepSummary]) -> Option<Knee> {
    let usable = usable(steps);
    let [lowest, .., highest] = usable.as_slice() else { return None };
    let best = usable.iter().max_by(|a, b| a.throughput.value.total_cmp(&b.throughput.value))?;
    let near = (1.0 - TOLERANCE) * best.throughput.value;
    let connections = usable.iter().find(|step| step.throughput.value >= near)?.connections;
    let reached = highest.connections >= connections.saturating_mul(2);
    let predicted_by = if reached { best } else { highest };
    Some(Knee {
        plateau: predicted_by.throughput,
        plateau_connections: predicted_by.connections,
        connections: if reached { connections } else { highest.connections },
        connections_predicted: predicted_by.throughput.value * lowest.latency.mean_ns
            / 1e9
            / f64::from(lowest.depth.max(1)),
        reached,
    })
}
