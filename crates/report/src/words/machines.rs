//! Machines for a target rate, in words: amounts, where a demand comes from, doubts and remarks.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_analyze::{
    DemandUnit, Doubt, Origin, Remark, RequestKind, ScalingTrial, Taken, TierCount, TierResource, TierRow,
};
use plimsoll_units::{bytes_text, count_text, duration_text, grouped, significant};

pub(crate) use super::phrase::law;
use crate::amount::{bits, if_known, list};

/// Says how well the other rows predict the row of the most machines.
pub(crate) fn trial(trial: &ScalingTrial) -> String {
    format!(
        "the others predict {} requests/s for {} machines, and {} were measured ({:+.0} %)",
        count_text(trial.predicted_per_sec),
        number(trial.machines),
        count_text(trial.measured_per_sec),
        // The addend makes 0 of -0.
        (100.0 * (trial.ratio() - 1.0)).round() + 0.0
    )
}

/// Returns the name of a resource, to follow an article or a possessive.
pub(crate) fn resource(resource: TierResource) -> &'static str {
    match resource {
        TierResource::Cpu => "CPU",
        TierResource::OneCore => "one core",
        TierResource::Thread => "busiest thread",
        TierResource::Quota => "CPU quota",
        TierResource::BandwidthIn => "link in",
        TierResource::BandwidthOut => "link out",
        TierResource::BandwidthBoth => "link (in and out)",
        TierResource::PacketsIn => "packets in",
        TierResource::PacketsOut => "packets out",
        TierResource::Pool => "pool of workers",
        TierResource::Alone => "whole capacity",
    }
}

/// Formats a number of machines, which may be a fraction in tables.
pub(crate) fn number(machines: f64) -> String {
    if machines.fract() == 0.0 { grouped(machines as u64) } else { significant(machines) }
}

/// `1 machine`, `3 machines`.
pub(crate) fn machines(count: f64) -> String {
    format!("{} machine{}", number(count), if count == 1.0 { "" } else { "s" })
}

/// An amount with its unit.
pub(crate) fn amount(unit: DemandUnit, value: f64) -> String {
    match unit {
        DemandUnit::Cores if value == 1.0 => "1 core".to_owned(),
        DemandUnit::Cores => format!("{} cores", significant(value)),
        DemandUnit::MachineShare if value == 1.0 => "1 machine".to_owned(),
        DemandUnit::MachineShare => format!("{} machines", significant(value)),
        DemandUnit::Bits => bits(value),
        DemandUnit::Packets => format!("{} packets/s", count_text(value)),
        DemandUnit::Workers => format!("{} workers", significant(value)),
    }
}

/// Formats what one request uses.
pub(crate) fn per_request(unit: DemandUnit, value: f64) -> String {
    match unit {
        DemandUnit::Cores | DemandUnit::MachineShare | DemandUnit::Workers => duration_text(value * 1e9),
        DemandUnit::Bits => bytes_text(value / 8.0),
        DemandUnit::Packets => format!("{} packets", significant(value)),
    }
}

/// Returns the source of a demand: `5 rows of phase 4`, a run's name.
pub(crate) fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Run(name) => name.clone(),
        Origin::Rows { count, group } => {
            let of = if_known(group.as_ref(), |group| format!(" of {group}"));
            format!("{count} row{}{of}", if *count == 1 { "" } else { "s" })
        }
    }
}

/// Names the runs without a row: in none of their steps did enough of the requests succeed. Runs of several folders may
/// share a name.
pub(crate) fn without_row(rows: &[TierRow], kinds: &[RequestKind]) -> Vec<String> {
    let mut with_row: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let mut has_row = |run: &str| {
        let own = with_row.iter().position(|name| *name == run);
        own.map(|own| with_row.swap_remove(own)).is_some()
    };
    let runs = kinds.iter().flat_map(|kind| &kind.runs);
    runs.filter(|run| !has_row(run)).cloned().collect()
}

/// Tiers with their machines: `1 nginx, 4 dubbo`.
pub(crate) fn tier_counts(counts: &[TierCount]) -> String {
    list(counts.iter().map(|count| format!("{} {}", count.machines, count.tier)), ", ")
}

/// Returns what is not known about a tier.
pub(crate) fn doubt(doubt: &Doubt) -> String {
    match doubt {
        Doubt::NeverNear { share, resource: of } => format!(
            "it was never observed fuller than {:.0} % of its {}, so that what else stops it is not known: this is the least it needs",
            100.0 * share,
            resource(*of)
        ),
        Doubt::IdleUsesAll { idle, unit, resource: of } => format!(
            "without a request it uses {} of its {} already, more than may be used: no number of such machines helps",
            amount(*unit, *idle),
            resource(*of)
        ),
        Doubt::NoCapacity(taken) => no_capacity(taken),
        Doubt::UsedOtherwise { .. } | Doubt::UsedOtherwiseOften { .. } => used_otherwise(doubt),
        Doubt::NothingObserved => "nothing was observed of what a request uses of it".to_owned(),
        Doubt::NotSampled { runs, machines } => not_sampled(runs, machines),
        Doubt::StoppedBy { run, per_sec, limit, place } => format!(
            "{run} was stopped at {} requests/s by `{}` at {place}, which is not among the resources counted here: fix that first",
            count_text(*per_sec),
            limit.name()
        ),
        Doubt::NoFigures { machines, per_sec } => format!(
            "no figure of it is in the rows; {} carried {} requests/s",
            significant(*machines),
            count_text(*per_sec)
        ),
        Doubt::CostsDiffer { origin: rows, resource: of, unit, least, most } => format!(
            "{} differ in what a request costs its {}, from {} to {}: something else changed between them",
            origin(rows),
            resource(*of),
            per_request(*unit, *least),
            per_request(*unit, *most)
        ),
        Doubt::TooMany(of) => {
            format!(
                "by its {} the target takes more than a million machines, which no plan has",
                resource(*of)
            )
        }
        Doubt::OtherRuns { of_requests, of_size, lower_bounds } => {
            other_runs(of_requests, of_size, lower_bounds)
        }
        Doubt::MoreThanLinear { few, most } => format!(
            "from {} to {} machines throughput grew more than linearly, which machines alone do not do: something else \
             changed between them",
            number(*few),
            number(*most)
        ),
        Doubt::NeverByLaw { most_per_sec } => format!(
            "by the scalability law no number of machines carries that: {} requests/s at most, at the utilisation asked for",
            count_text(*most_per_sec)
        ),
        Doubt::Falls { few, few_per_sec, many, many_per_sec } => {
            falls((*few, *few_per_sec), (*many, *many_per_sec))
        }
        Doubt::ScalingBefore { few, most } => format!(
            "from {} to {} machines throughput a machine fell, and how they scale after the change was not measured: this is \
             the least it needs",
            number(*few),
            number(*most)
        ),
        Doubt::Contended { few, most, alpha, machines } => contended((*few, *most), *alpha, *machines),
        Doubt::BeyondMeasured { count, most, trusted } => format!(
            "it was the limit with {} machines at most: that {count} share the load as well is not measured beyond {}",
            number(*most),
            number(*trusted)
        ),
    }
}

/// Says what the target uses of resources whose capacity is not known.
fn no_capacity(taken: &[Taken]) -> String {
    let one =
        |taken: &Taken| format!("{} of its {}", amount(taken.unit, taken.amount), resource(taken.resource));
    let all = list(taken.iter().map(one), ", ");
    format!("how much more the rest can carry is not known: the target takes {all}")
}

/// Says that throughput falls with more machines. Each argument is a number of machines and its requests per second.
fn falls((few, few_per_sec): (f64, f64), (many, many_per_sec): (f64, f64)) -> String {
    format!(
        "throughput falls from {} requests/s with {} to {} with {}: more machines do not carry the target at the \
         utilisation asked for",
        count_text(few_per_sec),
        machines(few),
        count_text(many_per_sec),
        number(many)
    )
}

fn contended((few, most): (f64, f64), alpha: f64, machines: Option<u64>) -> String {
    let then = match machines {
        Some(machines) => format!("the target takes {} machines", grouped(machines)),
        None => "no number of machines reaches the target".to_owned(),
    };
    format!(
        "from {} to {} machines throughput a machine fell as if {:.0} % of the work were done one machine at a time: if that goes on, {then}",
        number(few),
        number(most),
        100.0 * alpha
    )
}

fn not_sampled(runs: &[String], machines: &[String]) -> String {
    let place = match runs {
        [run] => run.clone(),
        _ => format!("{} runs", runs.len()),
    };
    let machines = list(machines.iter().cloned(), ", ");
    format!(
        "in {place} nothing was sampled of {machines}: each counts as the sampled ones, and may take more"
    )
}

fn other_runs(of_requests: &[String], of_size: &[String], lower_bounds: &[String]) -> String {
    let part = |runs: &[String], why: &str| {
        (!runs.is_empty()).then(|| format!("{} ({why})", list(runs.iter().cloned(), ", ")))
    };
    let parts = [
        part(of_requests, "other requests"),
        part(of_size, "machines of another size"),
        part(lower_bounds, "the load generator had a part in the limit"),
    ];
    format!(
        "how it scales is computed only from throughputs of the same requests on machines of one size that are no lower bounds, which \
         leaves out {}",
        list(parts.into_iter().flatten(), " and ")
    )
}

/// Says which resources something else uses too, each once and in the order of their names.
fn used_otherwise(doubt: &Doubt) -> String {
    const WHY: &str = "does not grow with throughput: something else uses it, and nothing is planned by it";
    match doubt {
        Doubt::UsedOtherwise { run, resources } => {
            let words: BTreeSet<String> = resources.iter().map(|of| resource(*of).to_owned()).collect();
            format!("in {run} the use of its {} {WHY}", list(words, " and its "))
        }
        Doubt::UsedOtherwiseOften { some, all, resources } => {
            let words: BTreeMap<&str, usize> =
                resources.iter().map(|(of, runs)| (resource(*of), *runs)).collect();
            let words = list(words.iter().map(|(word, runs)| format!("{word} ({runs})")), ", ");
            format!("in {some} of {all} runs the use of its {words} {WHY} there")
        }
        _ => String::new(),
    }
}

/// Kinds of requests with their runs: `GET /a (one, two); GET /b (three)`.
pub(crate) fn request_kinds(kinds: &[RequestKind]) -> String {
    let kind = |kind: &RequestKind| format!("{} ({})", kind.name, list(kind.runs.iter().cloned(), ", "));
    list(kinds.iter().map(kind), "; ")
}

/// Returns a remark about the whole plan.
pub(crate) fn remark(remark: &Remark) -> String {
    match remark {
        Remark::NoAnswers(run) => format!("{run} has no step with answers and is not used."),
        Remark::NothingCarried(run) => format!(
            "{run} is not used: in none of its steps did 95 % of the requests succeed; refused requests are no capacity."
        ),
        Remark::GeneratorLimit(run) => {
            format!("In {run} the load generator was the limit: what stops the target there is not known.")
        }
        Remark::LowerBound(run) => {
            format!("In {run} the load generator was not healthy: throughput is a lower bound.")
        }
        Remark::SharedWithGenerator(run) => format!(
            "In {run} the load generator used a part of the CPU that limits: throughput is a lower bound."
        ),
        Remark::NotPushed(run) => format!(
            "In {run} the target was not pushed to its limit: what would have stopped it is not known."
        ),
        Remark::Unlawful(broken, all) => {
            format!("{broken} of {all} rows break Little's law and were not used.")
        }
        Remark::Kinds(kinds) => format!(
            "The rows are of {kinds} kinds of requests. Each tier is planned by the kind that is dearest for it, since their \
             mix is not known; choose one with --group."
        ),
        Remark::Requests(kinds) => format!(
            "The runs are of {} kinds of requests: {}. Each tier is planned by the kind that is dearest for it, since their mix \
             is not known, and how it scales is computed from one kind at a time.",
            kinds.len(),
            request_kinds(kinds)
        ),
        Remark::QuotaStays(change) => format!(
            "{change} leaves the CPU quota as it is: write how many times as many cores, such as 2x, to change both."
        ),
        Remark::Without(tier) => format!(
            "Without {tier}: what it does for the others (connections kept ready, waiting for slow clients, encryption) falls \
             to them, and what that costs is not known."
        ),
    }
}
