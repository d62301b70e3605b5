//! Which step the hosts are told of; text and JSON say the same.

use plimsoll_analyze::Findings;

/// The position among the steps of the one that hosts are told of: that of the plateau, or else of the highest throughput;
/// `None` without steps.
pub(crate) fn told_step(findings: &Findings) -> Option<usize> {
    let plateau = findings.knee.map(|knee| knee.plateau_connections);
    let at_plateau = findings.steps.iter().position(|step| Some(step.connections) == plateau);
    let throughput = |position: &usize| findings.steps[*position].throughput.value;
    let highest = || (0..findings.steps.len()).max_by(|a, b| throughput(a).total_cmp(&throughput(b)));
    at_plateau.or_else(highest)
}
