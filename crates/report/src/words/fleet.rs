//! What given machines carry, in words.

use plimsoll_analyze::{FleetCause, FleetDoubt, FleetLimit, Limit};
use plimsoll_units::count_text;

use super::machines::{machines as counted, number, remark, request_kinds, resource};
use crate::amount::if_known;

/// Says of which kind of requests the held rate is, if there are several kinds.
const HELD: &str =
    "The rate at a share of each machine is, as in a plan, of the kind that is dearest for each tier.";

/// Returns what stops a tier: `the CPU of 3 machines`, `the lock of store that stopped two`.
pub(crate) fn cause(limit: &FleetLimit) -> String {
    let plural = if limit.machines == 1.0 { "" } else { "s" };
    match &limit.cause {
        FleetCause::Resource { resource: of, place, .. } => {
            let part = if_known(place.as_ref(), |place| format!(" ({place})"));
            format!("the {} of {} machine{plural}{part}", resource(*of), number(limit.machines))
        }
        FleetCause::Contention { few, most } => format!(
            "contention of {} machine{plural}, as measured from {} to {}",
            number(limit.machines),
            number(*few),
            number(*most)
        ),
        FleetCause::Halt { run, limit, place } => {
            format!("`{}` at {place}, which stopped {run}", limit.name())
        }
    }
}

/// Returns what is not known about a fleet.
pub(crate) fn doubt(doubt: &FleetDoubt) -> String {
    match doubt {
        FleetDoubt::Extrapolated { tier, resource: of, share } => format!(
            "{:.0} % of the {} of {tier} was used where the cost of a request was found. That often falls at high load, so {tier} may carry \
             more: load a lab in which it is full.",
            100.0 * share,
            resource(*of)
        ),
        FleetDoubt::UnknownStop { run, limit: Limit::None, .. } => {
            format!(
                "{run} did not push the target to its limit: something that was not met may stop these machines earlier."
            )
        }
        FleetDoubt::UnknownStop { run, limit: Limit::Generator, .. } => {
            format!(
                "The load generator limited {run}: something that was not met may stop these machines earlier."
            )
        }
        FleetDoubt::UnknownStop { run, per_sec, .. } => format!(
            "What stopped {run} at {} requests/s is not known: it may stop these machines, too.",
            count_text(*per_sec)
        ),
        FleetDoubt::Suspect { run, per_sec, limit, place } => format!(
            "In {run} `{}` at {place} may have been the limit as well, at {} requests/s. More machines do not help against that: measure \
             one machine more.",
            limit.name(),
            count_text(*per_sec)
        ),
        FleetDoubt::MoreOfStopped { tier, run, per_sec, limit, place } => format!(
            "`{}` at {place} stopped {run} at {} requests/s. Whether more machines of {tier} help against it is not known: measure two.",
            limit.name(),
            count_text(*per_sec)
        ),
        FleetDoubt::OtherRequests { run, kinds } => format!(
            "The rate is of the requests of {run}. The runs are of {} kinds of requests: {}. Locks and contention seen \
             with the other requests are left out. {HELD}",
            kinds.len(),
            request_kinds(kinds)
        ),
        FleetDoubt::OtherRows { row, kinds } => format!(
            "The rate is of the requests of {row}. The rows are of {kinds} kinds of requests; choose one with --group. {HELD}"
        ),
        FleetDoubt::Falls { tier, machines, few, few_per_sec, many, many_per_sec } => format!(
            "Throughput of {tier} falls from {} requests/s with {} to {} with {}. What {} carry was not measured, and may be less.",
            count_text(*few_per_sec),
            counted(*few),
            count_text(*many_per_sec),
            number(*many),
            number(*machines)
        ),
        FleetDoubt::ScalingBefore { tier, few, most } => format!(
            "From {} to {} machines of {tier} throughput a machine fell. How they scale after the change was not measured: \
             they may carry less.",
            number(*few),
            number(*most)
        ),
        FleetDoubt::Remark(of_plan) => remark(of_plan),
        FleetDoubt::NoFigures(tier) => {
            format!("What a request uses of {tier} was not observed: it may stop these machines earlier.")
        }
    }
}
