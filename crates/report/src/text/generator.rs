//! The load generator's check of itself.

use std::collections::BTreeSet;

use plimsoll_analyze::{CeilingUse, Findings, GeneratorHealth, Limit, MachineLoad, WorkerLoad};
use plimsoll_record::Run;
use plimsoll_units::{count_text, duration_text, grouped, share_text};

use super::paragraph::{advice, fact, wrapped};
use crate::amount::{counted, if_known, list, seconds};
use crate::words;

/// A ratio of open connections below this is printed.
const OPEN_RATIO_NOTED: f64 = 0.95;
/// The maximum number of workers listed.
const WORKERS_LISTED: usize = 8;

/// Says whether the generator is healthy and why, and gives the figures behind that.
pub(super) fn block(run: &Run, findings: &Findings) -> String {
    let health = &findings.generator;
    if findings.steps.is_empty() {
        return String::new();
    }
    if health.too_short {
        let text = "Load generator: not judged. The measured window is shorter than 100 ms.";
        return wrapped("", "  ", text);
    }
    let state = match list(health.reasons.iter().map(words::reason), "; ") {
        _ if health.healthy() => "healthy".to_owned(),
        reasons => format!("NOT healthy, so its figures are lower bounds: {reasons}"),
    };
    let facts = [
        wrapped("", "  ", &format!("Load generator: {state}. {}", figures(health))),
        remedies(findings),
        if health.by_worker.len() > 1 { fact("workers", &workers(&health.by_worker)) } else { String::new() },
        fact("machine", &machine(&health.machine)),
        fact("ceiling", &ceiling(run, health)),
    ];
    facts.concat()
}

/// Returns the remedies, unless the verdict already gives them.
fn remedies(findings: &Findings) -> String {
    if findings.verdict.limit == Limit::Generator {
        return String::new();
    }
    let mut remedies: Vec<&str> = findings.generator.reasons.iter().map(words::remedy).collect();
    let mut known = BTreeSet::new();
    remedies.retain(|remedy| known.insert(*remedy));
    remedies.into_iter().map(|remedy| advice("  ", remedy)).collect()
}

fn figures(health: &GeneratorHealth) -> String {
    let open = if_known(health.open_ratio.filter(|ratio| *ratio < OPEN_RATIO_NOTED), |ratio| {
        format!(", {} of the connections were open on average", share_text(ratio))
    });
    let law = if_known(health.littles_law_error, |error| {
        format!(", Little's law holds within {}", share_text(error))
    });
    let bound = if_known(health.send_lag_bound_ns, |ns| format!(" (limit {})", duration_text(ns)));
    // The send lag does not include requests that still wait for a free connection.
    let of_those = if health.backlog > 0 { "of those sent, requests left" } else { "requests left" };
    format!(
        "{}, the busiest used {} of a core and waited for a CPU {} of the time; {} of CPU in all, {} of it in \
         the kernel; {of_those} {} late at the median, {} at p99{bound}{open}{law}.",
        counted(health.workers, "worker"),
        share_text(health.busiest_worker_ratio),
        share_text(health.starved_ratio),
        seconds(health.cpu_sec),
        seconds(health.kernel_sec),
        duration_text(health.send_lag_p50_ns),
        duration_text(health.send_lag_p99_ns),
    )
}

/// Lists workers, the busiest first: `0: 31 % of a core, 24 % in the kernel` and so on.
fn workers(loads: &[WorkerLoad]) -> String {
    let mut busiest = loads.to_vec();
    busiest.sort_by(|a, b| b.cpu_ratio.total_cmp(&a.cpu_ratio));
    let text = |load: &WorkerLoad| {
        let (cpu, kernel) = (share_text(load.cpu_ratio), share_text(load.kernel_ratio));
        format!("{}: {cpu} ({kernel} in the kernel), waited {}", load.worker, share_text(load.starved_ratio))
    };
    let others = loads.len().checked_sub(WORKERS_LISTED).filter(|others| *others > 0);
    let others = others.map(|others| format!("{others} others less busy"));
    format!("CPU of {}", list(busiest.iter().take(WORKERS_LISTED).map(text).chain(others), "; "))
}

/// Says what is known about the machine. Unknown values are named, so that they are not taken for zero.
fn machine(load: &MachineLoad) -> String {
    let stolen = load.stolen_ratio.map(|ratio| format!("{} of its CPU time stolen", share_text(ratio)));
    let pressure = load.pressure_ratio;
    let pressure =
        pressure.map(|ratio| format!("some task waited for a CPU {} of the time", share_text(ratio)));
    let parts = [
        stolen.unwrap_or_else(|| "stolen CPU time not known".to_owned()),
        pressure.unwrap_or_else(|| "CPU pressure not known".to_owned()),
        retransmits(load),
        descriptors(load),
        sockets(load),
    ];
    parts.join("; ")
}

fn retransmits(load: &MachineLoad) -> String {
    match (load.segments_sent, load.segments_retransmitted) {
        (Some(sent), Some(again)) => {
            let opening = load.syn_retransmitted.filter(|count| *count > 0);
            let opening = if_known(opening, |count| format!(" and {} to open connections", grouped(count)));
            format!("{} sent, {}{opening} retransmitted", counted(sent, "TCP segment"), grouped(again))
        }
        _ => "TCP retransmits not known".to_owned(),
    }
}

fn descriptors(load: &MachineLoad) -> String {
    match (load.descriptors_open, load.descriptors_limit) {
        (Some(open), Some(limit)) => format!("{} of {} descriptors open", grouped(open), grouped(limit)),
        _ => "descriptors not known".to_owned(),
    }
}

fn sockets(load: &MachineLoad) -> String {
    let (Some(open), Some(time_wait)) = (load.sockets_open, load.sockets_time_wait) else {
        return "ports not known".to_owned();
    };
    let ports = load.ports.map_or("ports not known".to_owned(), |ports| format!("{} ports", grouped(ports)));
    let (open, waiting) = (counted(open, "TCP socket"), grouped(time_wait));
    format!("{open} open and {waiting} in TIME-WAIT, {ports} to one address")
}

fn ceiling(run: &Run, health: &GeneratorHealth) -> String {
    let generators = || run.steps.iter().flat_map(|step| &step.generators);
    let is_known = run.manifest.machine.calibration.is_some()
        || generators().any(|generator| generator.ceiling_per_sec.is_some());
    match &health.ceiling {
        Some(used) => used_ceiling(run, used),
        None if is_known && run.steps.iter().any(|step| step.depth > 1) => {
            "calibrated with one request under way on each connection, so it does not apply here".to_owned()
        }
        None if generators().next().is_some() => {
            "not known; plimsoll calibrate on the machine of an agent measures how much one worker can send there"
                .to_owned()
        }
        None => "not known; plimsoll calibrate measures how much one worker can send here".to_owned(),
    }
}

fn used_ceiling(run: &Run, used: &CeilingUse) -> String {
    let (ratio, ceiling) = (share_text(used.ratio()), count_text(used.ceiling_per_sec));
    let Some(age_sec) = used.age_sec else {
        let mut generators = run.steps.iter().rev().flat_map(|step| &step.generators);
        let nearest = generators.find(|generator| used.worker.is_some_and(|worker| generator.has(worker)));
        let nearest = nearest.map_or("an agent", |generator| generator.name.as_str());
        return format!(
            "{nearest} came nearest: {ratio} of the {ceiling} requests/s that one worker can send there"
        );
    };
    let (bound, doubt) = match used.known {
        true => ("", ""),
        false => {
            ("at least ", "; the worker was not the limit then, so calibrate again when the machine is idle")
        }
    };
    format!(
        "{ratio} of the {bound}{ceiling} requests/s that one worker can send here, calibrated {} before this run{doubt}",
        age_text(age_sec)
    )
}

/// Formats an age in the largest unit of which it is at least one.
fn age_text(age_sec: f64) -> String {
    let units = [(86_400.0, "day"), (3600.0, "hour"), (60.0, "minute")];
    match units.into_iter().find(|(length, _)| age_sec >= *length) {
        Some((length, name)) => counted((age_sec / length) as u64, name),
        None => "less than a minute".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_the_largest_unit_that_fits() {
        assert_eq!(age_text(59.9), "less than a minute");
        assert_eq!(age_text(60.0), "1 minute");
        assert_eq!(age_text(7199.0), "1 hour");
        assert_eq!(age_text(3.0 * 86_400.0 + 5.0), "3 days");
    }

    #[test]
    fn unknown_values_of_the_machine_are_named_and_never_zero() {
        let text = machine(&MachineLoad::default());
        assert_eq!(text.matches("not known").count(), 5, "{text}");
        assert!(!text.contains('0'), "{text}");
    }

    #[test]
    fn of_many_workers_the_busiest_are_listed() {
        let load = |worker| WorkerLoad {
            worker,
            cpu_ratio: f64::from(worker) / 100.0,
            kernel_ratio: 0.0,
            starved_ratio: 0.0,
            stalled_ratio: 0.0,
        };
        let text = workers(&(0..20).map(load).collect::<Vec<_>>());
        assert!(text.starts_with("CPU of 19: 19 %") && text.ends_with("12 others less busy"), "{text}");
    }
}
