//! Why a pod does not run.

use crate::event::Event;
use crate::pod::{Pod, PodCondition, Terminated, Waiting};

/// The reasons for which a healthy pod waits while it starts.
const STARTING: [&str; 3] = ["", "ContainerCreating", "PodInitializing"];

/// Returns why a pod does not run, in the cluster's words: how its container ended, what it waits for, why it has no node, or else
/// the last warning about it. `None` if nothing is known to be wrong. Warnings about a running pod are about its past, and ignored.
pub fn trouble(pod: &Pod, events: &[Event]) -> Option<String> {
    let is_past = pod.status.phase == "Running";
    let warns = |event: &&Event| !is_past && event.warns_of(&pod.metadata.name);
    let warning = || events.iter().rev().find(warns);
    ended(pod)
        .or_else(|| waiting(pod))
        .or_else(|| unscheduled(pod))
        .or_else(|| warning().map(|event| format!("{}: {}", event.reason, event.message)))
}

fn ended(pod: &Pod) -> Option<String> {
    let states = pod.status.container_statuses.iter().map(|container| &container.state);
    let container = states.filter_map(|state| state.terminated.as_ref()).next().map(exit);
    let evicted = || Some(with(pod.status.reason.as_deref()?, pod.status.message.as_deref()));
    container.or_else(evicted)
}

fn exit(terminated: &Terminated) -> String {
    let code = format!("ended with exit code {} ({})", terminated.exit_code, terminated.reason);
    with(&code, terminated.message.as_deref())
}

fn waiting(pod: &Pod) -> Option<String> {
    let states = pod.status.container_statuses.iter().map(|container| &container.state);
    let Waiting { reason, message } = states
        .filter_map(|state| state.waiting.as_ref())
        .find(|waiting| !STARTING.contains(&waiting.reason.as_str()))?;
    Some(with(reason, message.as_deref()))
}

fn unscheduled(pod: &Pod) -> Option<String> {
    let is_refusal =
        |condition: &&PodCondition| condition.kind == "PodScheduled" && condition.status == "False";
    let condition = pod.status.conditions.iter().find(is_refusal)?;
    Some(with(condition.reason.as_deref().unwrap_or("not scheduled"), condition.message.as_deref()))
}

/// Joins a reason and its explanation on one line.
fn with(reason: &str, message: Option<&str>) -> String {
    match message.map(str::trim).filter(|message| !message.is_empty()) {
        Some(message) => {
            format!("{reason}: {}", message.split_whitespace().collect::<Vec<_>>().join(" "))
        }
        None => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests;
