//! What held the load generator back, and remedies for that and for failed requests.

use plimsoll_analyze::{FailureAdvice, GeneratorReason};
use plimsoll_record::ConnectionResource;
use plimsoll_units::{count_text, duration_text, grouped, share_text, significant};

use super::failure::{failure_meaning, failure_remedy};

pub(super) const UNDER_WAY: &str = "requests under way by Little's law, against connections";

/// Returns a reason in a few words, for a column of notes.
pub(crate) fn short_reason(reason: &GeneratorReason) -> String {
    let (short, ..) = words(reason);
    short
}

/// Returns a reason in words, to follow a colon.
pub fn reason(reason: &GeneratorReason) -> String {
    let (_, text, _) = words(reason);
    text
}

/// Returns what was measured for a reason.
pub(super) fn measured(reason: &GeneratorReason) -> String {
    let (.., measured) = words(reason);
    measured
}

/// Returns a reason in brief, in full, and what was measured.
fn words(reason: &GeneratorReason) -> (String, String, String) {
    match *reason {
        GeneratorReason::WorkerBusy { worker, ratio } => (
            format!("CPU {} busy", share_text(ratio)),
            format!("worker {worker} used {} of a core", share_text(ratio)),
            format!("CPU of worker {worker}"),
        ),
        GeneratorReason::WorkerStarved { worker, ratio } => (
            format!("no CPU {} of the time", share_text(ratio)),
            format!("worker {worker} was ready but had no CPU for {} of the time", share_text(ratio)),
            format!("time that worker {worker} was ready and had no CPU"),
        ),
        GeneratorReason::WorkerStalled { worker, ratio } => (
            format!("stopped {} of the time", share_text(ratio)),
            format!("worker {worker} did not run for {} of the time", share_text(ratio)),
            format!("time that worker {worker} should have run and did not"),
        ),
        GeneratorReason::SendLag { p99_ns, service_p50_ns } => {
            let (lag, service) = (duration_text(p99_ns), duration_text(service_p50_ns));
            (
                format!("sent {lag} late"),
                format!("requests left {lag} late at p99, compared with a median service time of {service}"),
                "send lag p99 in ms, against the median service time".to_owned(),
            )
        }
        GeneratorReason::LittlesLaw { expected, observed } => {
            let (expected, observed) = (count_text(expected), significant(observed));
            (
                format!("only {observed} busy"),
                format!("only {observed} of {expected} connections were busy on average"),
                UNDER_WAY.to_owned(),
            )
        }
        GeneratorReason::BehindSchedule { offered_per_sec, sent_per_sec } => {
            let (offered, sent) = (count_text(offered_per_sec), count_text(sent_per_sec));
            (
                "sent too few".to_owned(),
                format!("{offered} requests/s were due but only {sent} were sent"),
                "requests/s sent, against those due".to_owned(),
            )
        }
        GeneratorReason::OutOfResources { kind, count } => (
            "out of ports or descriptors".to_owned(),
            format!("{}, {} times", failure_meaning(kind), grouped(count)),
            format!("requests failed: {}", failure_meaning(kind)),
        ),
        GeneratorReason::OutOfConnections { resource, allowed, .. } => out_of_connections(resource, allowed),
        GeneratorReason::Stolen { ratio } => (
            format!("CPU {} stolen", share_text(ratio)),
            format!("other machines took {} of this machine's CPU time", share_text(ratio)),
            "CPU time of this machine taken by others".to_owned(),
        ),
        GeneratorReason::Retransmits { ratio, count } => (
            format!("{} retransmitted", share_text(ratio)),
            format!("{} of the TCP segments were retransmitted ({})", share_text(ratio), grouped(count)),
            "TCP segments of this machine retransmitted".to_owned(),
        ),
        GeneratorReason::NearCeiling { worker, per_worker_per_sec, ceiling_per_sec } => {
            near_ceiling(worker, per_worker_per_sec, ceiling_per_sec)
        }
    }
}

fn out_of_connections(resource: ConnectionResource, allowed: u64) -> (String, String, String) {
    let (one, many) = match resource {
        ConnectionResource::Descriptors => ("descriptor", "descriptors of this process"),
        ConnectionResource::Ports => ("local port", "local ports to the target"),
    };
    (
        format!("no {one} left"),
        format!(
            "requests waited although all {} connections that the {many} allow were open",
            grouped(allowed)
        ),
        format!("connections open, against those that the {many} allow"),
    )
}

/// Words a reason near a worker's ceiling. `first` is the first worker of an agent; `None` for this machine.
fn near_ceiling(
    first: Option<u32>,
    per_worker_per_sec: f64,
    ceiling_per_sec: f64,
) -> (String, String, String) {
    let (sent, ceiling) = (count_text(per_worker_per_sec), count_text(ceiling_per_sec));
    let (whose, there) = match first {
        Some(first) => (format!("worker of the agent with worker {first}"), "there"),
        None => ("worker".to_owned(), "here"),
    };
    (
        "near its ceiling".to_owned(),
        format!("each {whose} sent {sent} of the {ceiling} requests/s that one worker can send {there}"),
        "requests/s of a worker, against its ceiling when calibrated".to_owned(),
    )
}

/// Returns the remedy where this machine allows no more connections.
fn out_of(resource: ConnectionResource) -> &'static str {
    match resource {
        ConnectionResource::Descriptors => {
            "this process may open no more descriptors: raise the limit as root (ulimit -n), or lower the rate"
        }
        ConnectionResource::Ports => {
            "no local port to the target is left: use more source addresses (--source-ip), widen net.ipv4.ip_local_port_range, or lower the rate"
        }
    }
}

/// Returns the remedy for what held the generator back.
pub(crate) fn remedy(reason: &GeneratorReason) -> &'static str {
    match reason {
        GeneratorReason::WorkerBusy { .. } | GeneratorReason::NearCeiling { .. } => {
            "the workers are busy: use more of them with -t if cores are free, or a larger machine"
        }
        GeneratorReason::BehindSchedule { .. } => {
            "this generator cannot send that many: lower the rate, use more workers with -t if cores are free, or another machine"
        }
        GeneratorReason::WorkerStarved { .. }
        | GeneratorReason::SendLag { .. }
        | GeneratorReason::LittlesLaw { .. } => {
            "the workers do not get the CPU in time: run the generator on another machine than the target, or stop what else runs here"
        }
        GeneratorReason::WorkerStalled { .. } => {
            "the process was stopped, or the machine suspended or migrated: run again without that"
        }
        GeneratorReason::OutOfResources { kind, .. } => failure_remedy(*kind, false),
        GeneratorReason::OutOfConnections { resource, .. } => out_of(*resource),
        GeneratorReason::Stolen { .. } => {
            "this machine's CPU is shared with others: use one that is not, or run again when it is quiet"
        }
        GeneratorReason::Retransmits { .. } => {
            "packets are lost on the way: look at the drops of the interfaces (ip -s link) and at what lies between here and the target"
        }
    }
}

/// Returns the remedy for failed requests.
pub(crate) fn failure_advice(advice: FailureAdvice) -> &'static str {
    match advice {
        FailureAdvice::Usual(kind) => failure_remedy(kind, false),
        FailureAdvice::OverUnixSocket(kind) => failure_remedy(kind, true),
        FailureAdvice::OutOf(resource) => out_of(resource),
        FailureAdvice::OutOfTime => {
            "the generator itself was at its limit, and more connections would not help: lower the rate, use more workers (-t) if cores are free, or another machine"
        }
        FailureAdvice::OutOfConnections => {
            "no connection was free: raise --max-connections, or lower the rate"
        }
    }
}
