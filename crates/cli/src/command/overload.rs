//! `plimsoll overload`: what becomes of a target that is offered more than it holds, and what protects it.

use plimsoll_analyze::overload::protection;
use plimsoll_analyze::{Findings, OverloadDoubt};
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
        remark(&format!("plimsoll: {}", why_unprotected(findings)));
        return Ok(Exit::Refused);
    };
    let shown = for_figures(findings, Values::Hidden);
    result(&snippet(protector, &limits, &shown.plan.target.url))?;
    Ok(Exit::Success)
}

fn why_unprotected(findings: &Findings) -> &'static str {
    let of_overload = findings.overload.as_ref().and_then(|overload| overload.rate_per_sec);
    let of_search = findings.search.as_ref().and_then(|search| search.held_per_sec);
    let doubt = findings.overload.as_ref().and_then(|overload| overload.reference_doubt);
    match of_overload.or(of_search) {
        Some(_) if doubt == Some(OverloadDoubt::RateNotHeld) => {
            "the rate did not hold when it was offered, so there are no limits to set; `plimsoll search` finds one that does"
        }
        Some(rate) if rate < 1.0 => {
            "less than one request per second holds, and a limit of a rate is one at least"
        }
        Some(_) => {
            "the target was not measured at its rate, as the load was broken off or its generator was the limit; repeat it"
        }
        None => {
            "no rate is known that the target holds, so there are no limits to set; `plimsoll search` finds it"
        }
    }
}
