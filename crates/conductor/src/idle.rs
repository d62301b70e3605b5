//! Generators that get no load in a run.

use plimsoll_plan::{LadderSteps, Load};
use plimsoll_units::named;

use crate::context::RunContext;
use crate::load::{own_workers, workers};
use crate::peers::PeerGroup;

/// Names the generators that get no load because there are fewer connections than workers; `None` if all get load.
pub(crate) fn idle_text(context: &RunContext, group: &PeerGroup) -> Option<String> {
    let load = &context.plan.load;
    let connections = most_connections(load);
    let own = own_workers(context, &group.peers);
    let idle = group.peers.idle(own, workers(context, Some(group), connections));
    let needed = own + group.peers.workers();
    let remedy = match load {
        Load::Single { .. } => format!("use -c {needed}, or fewer workers with -t"),
        Load::Ladder { steps: LadderSteps::Fixed(_), .. } => {
            format!("use a ladder up to {needed} connections, or fewer workers with -t")
        }
        Load::Ladder { steps: LadderSteps::Doubling { .. }, .. } => {
            format!("use --max-connections {needed}, or fewer workers with -t")
        }
    };
    (!idle.is_empty()).then(|| {
        format!(
            "{} {} no load: {connections} of {needed} workers have a connection; {remedy}",
            named(&idle),
            if idle.len() == 1 { "gets" } else { "get" }
        )
    })
}

/// The connections of the largest step; for an open loop those at its start.
fn most_connections(load: &Load) -> u32 {
    match load {
        Load::Single { level, .. } => level.connections(),
        Load::Ladder { steps: LadderSteps::Fixed(steps), .. } => steps.iter().copied().max().unwrap_or(1),
        Load::Ladder { steps: LadderSteps::Doubling { connections_max }, .. } => *connections_max,
    }
}
