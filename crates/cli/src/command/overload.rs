//! `plimsoll overload`: what becomes of a target that is offered more than it holds, and what protects it.

use plimsoll_analyze::Findings;
use plimsoll_analyze::overload::protection;
use plimsoll_plan::{Plan, Protector};
use plimsoll_report::{Values, for_figures, snippet};

use crate::exit::Exit;
use crate::terminal::{remark, result};

/// Says which target is overloaded, before it is.
pub(super) fn announce(plan: &Plan) {
    let Some(order) = &plan.overload else { return };
    let most = order.factors.last().copied().unwrap_or(1.0);
    remark(&format!(
        "plimsoll: this overloads {} with up to {most} times what it holds; what else depends on it will notice",
        plan.target.authority()
    ));
}

/// Prints the settings that protect a target, and nothing else.
pub(super) fn print_snippet(findings: &Findings, protector: Protector) -> anyhow::Result<Exit> {
    let Some(limits) = protection(findings) else {
        let held = findings.search.as_ref().and_then(|search| search.held_per_sec);
        remark(match held {
            Some(_) => {
                "plimsoll: the target holds less than one request per second, which no limit of a rate can protect"
            }
            None => {
                "plimsoll: no rate is known that the target holds, so there are no limits to set; `plimsoll search` finds it"
            }
        });
        return Ok(Exit::Refused);
    };
    let shown = for_figures(findings, Values::Hidden);
    result(&snippet(protector, &limits, &shown.plan.target.url))?;
    Ok(Exit::Success)
}
