//! `plimsoll overload`: what happens to a target that is offered more than it holds, and what protects it.

use plimsoll_analyze::overload::protection;
use plimsoll_analyze::{Findings, OverloadClass, OverloadDoubt};
use plimsoll_plan::{OverloadOrder, Plan, Protector, hold_for_requests};
use plimsoll_report::{Values, for_figures, snippet};
use plimsoll_units::{count_text, exact_duration_text};

use crate::args::RecordedRate;
use crate::exit::Exit;
use crate::terminal::{remark, result};

/// Prints, before the load, which target is overloaded and by how much, and what may weaken the answer.
pub(super) fn announce(plan: &Plan, recorded: Option<&RecordedRate>) {
    let Some(order) = &plan.overload else { return };
    let most = order.factors.last().copied().unwrap_or(1.0);
    let rate = match (order.rate_per_sec, recorded) {
        (Some(rate), Some(run)) => format!("the {} requests/s of {}", count_text(rate), run.path.display()),
        (Some(rate), None) => format!("{} requests/s", count_text(rate)),
        (None, _) => "what it holds".to_owned(),
    };
    remark(&format!(
        "plimsoll: this overloads {} with up to {most} times {rate}; what else depends on it will notice",
        plan.target.authority()
    ));
    let doubts = [
        recorded.and_then(|run| run.other_limit(plan)),
        longest(order),
        short_hold(order, plan),
        few_requests(order),
        short_timeout(plan),
    ];
    doubts.into_iter().flatten().for_each(|doubt| remark(&format!("plimsoll: {doubt}")));
}

/// Says how long the load takes at most, if the rate is known.
fn longest(order: &OverloadOrder) -> Option<String> {
    let minutes = (order.longest(order.rate_per_sec?).as_secs_f64() / 60.0).ceil();
    Some(format!("this takes up to {minutes} min, and longer where the target does not come back"))
}

/// Warns if too few requests fall due in an overload to judge it.
fn few_requests(order: &OverloadOrder) -> Option<String> {
    let needed = hold_for_requests(order.rate_per_sec?);
    (order.hold < needed).then(|| {
        format!(
            "in half of {} too few requests fall due to be judged; give --hold {}s",
            exact_duration_text(order.hold.as_nanos() as f64),
            needed.as_secs()
        )
    })
}

/// Warns if the lowest overload is held for too short a time to show a queue.
fn short_hold(order: &OverloadOrder, plan: &Plan) -> Option<String> {
    let lowest = order.factors.first().copied()?;
    let needed = order.longer_hold(lowest, &plan.slo)?;
    Some(format!(
        "at {lowest} times the rate a queue makes answers late only in the second half of {0} s; give --hold {0}s",
        needed.as_secs()
    ))
}

/// Warns if users give up before an answer is late.
fn short_timeout(plan: &Plan) -> Option<String> {
    let limit = plan.slo.tail_limit()?;
    let timeout_ns = plan.generator.timeout.as_nanos() as f64;
    (timeout_ns < limit.limit_ns()).then(|| {
        format!(
            "--timeout {} is below the limit of {}: what takes longer fails, and no answer is late; leave it out, or give more",
            exact_duration_text(timeout_ns),
            exact_duration_text(limit.limit_ns())
        )
    })
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
    let is_searched = findings.plan.overload.as_ref().is_some_and(OverloadOrder::is_searched);
    let kept_up =
        findings.overload.as_ref().is_some_and(|overload| overload.class == OverloadClass::NotOverloaded);
    match of_overload.or(of_search) {
        Some(_) if kept_up => {
            "the target kept up with more than that rate, so limits would refuse what it holds; the report of the run says what to do"
        }
        Some(_) if doubt == Some(OverloadDoubt::RateNotHeld) && is_searched => {
            "the rate that the search found did not hold when it was offered again, so there are no limits to set: the target is slower \
             now. Repeat it, or give a lower rate with --rate"
        }
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
