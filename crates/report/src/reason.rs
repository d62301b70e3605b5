//! What held the load generator back, in words, for text and JSON.

use plimsoll_analyze::GeneratorReason;
use plimsoll_units::{count_text, duration_text, grouped, share_text, significant};

/// A reason in a few words, for a column of notes.
pub(crate) fn brief(reason: &GeneratorReason) -> String {
    match *reason {
        GeneratorReason::WorkerBusy { ratio, .. } => format!("CPU {} busy", share_text(ratio)),
        GeneratorReason::WorkerStarved { ratio, .. } => format!("no CPU {} of the time", share_text(ratio)),
        GeneratorReason::SendLag { p99_ns, .. } => format!("sent {} late", duration_text(p99_ns)),
        GeneratorReason::LittlesLaw { observed, .. } => format!("only {} busy", significant(observed)),
        GeneratorReason::BehindSchedule { .. } => "sent too few".to_owned(),
        GeneratorReason::OutOfResources { .. } => "out of ports or descriptors".to_owned(),
        GeneratorReason::OutOfConnections { .. } => "no descriptor left".to_owned(),
        GeneratorReason::Stolen { ratio } => format!("CPU {} stolen", share_text(ratio)),
        GeneratorReason::Retransmits { ratio, .. } => format!("{} retransmitted", share_text(ratio)),
        GeneratorReason::NearCeiling { .. } => "near its ceiling".to_owned(),
    }
}

/// A reason in words, to follow a colon.
pub fn text(reason: &GeneratorReason) -> String {
    match *reason {
        GeneratorReason::WorkerBusy { worker, ratio } => {
            format!("worker {worker} used {} of a core", share_text(ratio))
        }
        GeneratorReason::WorkerStarved { worker, ratio } => {
            format!("worker {worker} was ready but had no CPU for {} of the time", share_text(ratio))
        }
        GeneratorReason::SendLag { p99_ns, service_p50_ns } => format!(
            "requests left {} late at p99, compared with a median service time of {}",
            duration_text(p99_ns),
            duration_text(service_p50_ns)
        ),
        GeneratorReason::LittlesLaw { expected, observed } => format!(
            "only {1} of {0} connections were busy on average",
            count_text(expected),
            significant(observed)
        ),
        GeneratorReason::BehindSchedule { offered_per_sec, sent_per_sec } => format!(
            "{} requests/s were due but only {} were sent",
            count_text(offered_per_sec),
            count_text(sent_per_sec)
        ),
        GeneratorReason::OutOfResources { kind, count } => {
            format!("{}, {} times", kind.row().meaning, grouped(count))
        }
        GeneratorReason::OutOfConnections { connections, descriptors } => format!(
            "requests waited although all {} connections that {} descriptors allow were open",
            grouped(connections),
            grouped(descriptors)
        ),
        GeneratorReason::Stolen { ratio } => {
            format!("other machines took {} of this machine's CPU time", share_text(ratio))
        }
        GeneratorReason::Retransmits { ratio, count } => {
            format!("{} of the TCP segments were retransmitted ({})", share_text(ratio), grouped(count))
        }
        GeneratorReason::NearCeiling { per_worker_per_sec, ceiling_per_sec } => format!(
            "each worker sent {} of the {} requests/s that one worker can send here",
            count_text(per_worker_per_sec),
            count_text(ceiling_per_sec)
        ),
    }
}

/// What helps where this process may open no more descriptors.
pub(crate) const OUT_OF_DESCRIPTORS: &str =
    "this process may open no more descriptors: raise the limit as root (ulimit -n), or lower the rate";

/// What helps against what held the generator back.
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
        GeneratorReason::OutOfResources { kind, .. } => kind.row().remedy,
        GeneratorReason::OutOfConnections { .. } => OUT_OF_DESCRIPTORS,
        GeneratorReason::Stolen { .. } => {
            "this machine's CPU is shared with others: use one that is not, or run again when it is quiet"
        }
        GeneratorReason::Retransmits { .. } => {
            "packets are lost on the way: look at the drops of the interfaces (ip -s link) and at what lies between here and the target"
        }
    }
}
