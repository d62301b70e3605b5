//! `plimsoll fleet` on Kubernetes.

use anyhow::Context as _;
use plimsoll_fleet::{AgentPod, KubernetesFleet};
use serde_json::json;

use crate::args::{ContainerArgs, KubernetesArgs, OnKubernetesArgs, PlacedArgs};
use crate::exit::Exit;
use crate::signals;
use crate::terminal::{remark, result};

/// Starts the agents, or prints what would be created.
pub(super) fn up(
    (args, containers): (&KubernetesArgs, &ContainerArgs),
    (placed, allow): (&PlacedArgs, Vec<String>),
) -> anyhow::Result<Exit> {
    let (broker, placement) = placed.resolve(allow)?;
    let flags = placed.conductor_flags((&broker, &placement));
    let fleet = KubernetesFleet::at(&args.at.place())?;
    if placed.calibrate.is_some() && args.is_too_small_to_calibrate() {
        remark(
            "plimsoll: a calibration takes 2 cores, so these agents find no ceiling and count alike; use --cpu 2",
        );
    }
    let agents = args.agents(containers.image.as_deref().unwrap_or_default(), placement);
    if containers.print {
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": fleet.objects(&agents)? });
        let text = serde_json::to_string_pretty(&list).context("could not write the objects")?;
        result(&format!("{text}\n"))?;
        return Ok(Exit::Success);
    }
    fleet.up(&agents, (&broker, placed.within()), signals::interrupted()?.as_ref())?;
    result(&format!("{}\n", broker.address))?;
    remark(&format!(
        "plimsoll: {} agents wait there; load with {flags}, end them with plimsoll fleet down --kubernetes",
        agents.count
    ));
    Ok(Exit::Success)
}

/// Shows the pods of the agents.
pub(super) fn show(args: &OnKubernetesArgs) -> anyhow::Result<()> {
    let pods = KubernetesFleet::at(&args.at.place())?.status()?;
    let text: String = pods.iter().map(line).collect();
    result(if text.is_empty() { "no pods\n" } else { &text })?;
    Ok(())
}

fn line(pod: &AgentPod) -> String {
    let node = pod.node.as_deref().unwrap_or("no node");
    let why = pod.why.as_ref().map(|why| format!("  {why}")).unwrap_or_default();
    format!("pod     {}  {node}  {}{why}\n", pod.name, pod.phase)
}

/// Deletes the agents.
pub(super) fn down(args: &OnKubernetesArgs) -> anyhow::Result<Exit> {
    let place = args.at.place();
    if !KubernetesFleet::at(&place)?.down()? {
        remark(&format!("plimsoll: there is no fleet {} in this namespace", place.name));
    }
    Ok(Exit::Success)
}
