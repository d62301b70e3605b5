//! What held the load generator back, in words; text and JSON say the same.

use plimsoll_analyze::GeneratorReason;
use plimsoll_units::{count_text, duration_text, grouped, significant};

/// A ratio in whole per cent, or with one decimal below ten.
pub(crate) fn percent(ratio: f64) -> String {
    let percent = ratio * 100.0;
    if percent == 0.0 || percent >= 9.95 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// A reason in a few words, for a column of notes.
pub(crate) fn brief(reason: &GeneratorReason) -> String {
    match *reason {
        GeneratorReason::WorkerBusy { ratio, .. } => format!("CPU {} busy", percent(ratio)),
        GeneratorReason::WorkerStarved { ratio, .. } => format!("no CPU {}", percent(ratio)),
        GeneratorReason::SendLag { p99_ns, .. } => format!("sent {} late", duration_text(p99_ns)),
        GeneratorReason::LittlesLaw { observed, .. } => format!("only {} busy", significant(observed)),
        GeneratorReason::BehindSchedule { .. } => "sent too few".to_owned(),
        GeneratorReason::OutOfResources { .. } => "this machine ran out".to_owned(),
        GeneratorReason::OutOfConnections { .. } => "no descriptor left".to_owned(),
        GeneratorReason::Stolen { ratio } => format!("CPU {} stolen", percent(ratio)),
        GeneratorReason::Retransmits { ratio, .. } => format!("{} sent again", percent(ratio)),
        GeneratorReason::NearCeiling { .. } => "near its ceiling".to_owned(),
    }
}

/// A reason in words, fit to follow a colon.
pub fn text(reason: &GeneratorReason) -> String {
    match *reason {
        GeneratorReason::WorkerBusy { worker, ratio } => {
            format!("worker {worker} used {} of a core", percent(ratio))
        }
        GeneratorReason::WorkerStarved { worker, ratio } => {
            format!("worker {worker} was ready and had no CPU {} of the time", percent(ratio))
        }
        GeneratorReason::SendLag { p99_ns, service_p50_ns } => format!(
            "requests left {} late at p99, against a median service time of {}",
            duration_text(p99_ns),
            duration_text(service_p50_ns)
        ),
        GeneratorReason::LittlesLaw { expected, observed } => format!(
            "of {} connections only {} were busy on average",
            count_text(expected),
            significant(observed)
        ),
        GeneratorReason::BehindSchedule { offered_per_sec, sent_per_sec } => format!(
            "{} requests/s fell due and {} were sent",
            count_text(offered_per_sec),
            count_text(sent_per_sec)
        ),
        GeneratorReason::OutOfResources { kind, count } => {
            format!("{}, {} times", kind.row().meaning, grouped(count))
        }
        GeneratorReason::OutOfConnections { connections, descriptors } => format!(
            "requests waited while all {} connections were open that {} descriptors allow",
            grouped(connections),
            grouped(descriptors)
        ),
        GeneratorReason::Stolen { ratio } => {
            format!("others took {} of this machine's CPU time", percent(ratio))
        }
        GeneratorReason::Retransmits { ratio, count } => {
            format!("{} of the TCP segments were lost and sent again, {}", percent(ratio), grouped(count))
        }
        GeneratorReason::NearCeiling { per_worker_per_sec, ceiling_per_sec } => format!(
            "each worker made {} of the {} requests/s that one can make here",
            count_text(per_worker_per_sec),
            count_text(ceiling_per_sec)
        ),
    }
}
