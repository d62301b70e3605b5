//! The load generator's check of itself.

use plimsoll_analyze::{CeilingUse, Findings, GeneratorHealth, Limit, MachineLoad, WorkerLoad};
use plimsoll_record::Run;
use plimsoll_units::{count_text, duration_text, grouped, share_text};

use super::paragraph::{fact, wrapped};
use crate::amount::{count_of, counted, seconds};
use crate::reason;

/// The ratio of open connections is printed below this.
const OPEN_RATIO_NOTED: f64 = 0.95;
/// At most this many workers are listed.
const WORKERS_LISTED: usize = 8;

/// Healthy or not and why, and the figures it rests on.
pub(super) fn block(run: &Run, findings: &Findings) -> String {
    let health = &findings.generator;
    if findings.steps.is_empty() {
        return String::new();
    }
    if health.too_short {
        let text = "Load generator: not judged. The measured window is shorter than 100 ms.";
        return wrapped("", "  ", text);
    }
    let state = if health.healthy() { "healthy".to_owned() } else { unhealthy(health) };
    let blocks = [
        wrapped("", "  ", &format!("Load generator: {state}. {}", figures(health))),
        remedies(findings),
        if health.by_worker.len() > 1 { fact("workers", &workers(&health.by_worker)) } else { String::new() },
        fact("machine", &machine(&health.machine)),
        fact("ceiling", &ceiling(run, health)),
    ];
    blocks.concat()
}

fn unhealthy(health: &GeneratorHealth) -> String {
    let reasons: Vec<String> = health.reasons.iter().map(reason::text).collect();
    format!("NOT healthy, so its figures are lower bounds: {}", reasons.join("; "))
}

/// The remedies, unless the verdict already gives them.
fn remedies(findings: &Findings) -> String {
    let mut remedies: Vec<&str> = Vec::new();
    let reasons = findings.generator.reasons.iter().filter(|_| findings.verdict.limit != Limit::Generator);
    for remedy in reasons.map(reason::remedy) {
        if !remedies.contains(&remedy) {
            remedies.push(remedy);
        }
    }
    remedies.iter().map(|remedy| wrapped("  → ", "    ", remedy)).collect()
}

fn figures(health: &GeneratorHealth) -> String {
    let open = health.open_ratio.filter(|ratio| *ratio < OPEN_RATIO_NOTED);
    let open = open.map(|ratio| format!(", {} of the connections were open on average", share_text(ratio)));
    let law =
        health.littles_law_error.map(|error| format!(", Little's law holds within {}", share_text(error)));
    let bound = health.send_lag_bound_ns.map(|ns| format!(" (limit {})", duration_text(ns)));
    // The send lag does not include requests that still wait for a free connection.
    let of_those = if health.backlog > 0 { "of those sent, requests left" } else { "requests left" };
    format!(
        "{}, the busiest used {} of a core and waited for a CPU {} of the time; {} of CPU in all, {} of it in \
         the kernel; {of_those} {} late at the median, {} at p99{}{}{}.",
        count_of(health.workers, "worker"),
        share_text(health.busiest_worker_ratio),
        share_text(health.starved_ratio),
        seconds(health.cpu_sec),
        seconds(health.kernel_sec),
        duration_text(health.send_lag_p50_ns),
        duration_text(health.send_lag_p99_ns),
        bound.unwrap_or_default(),
        open.unwrap_or_default(),
        law.unwrap_or_default(),
    )
}

/// `0: 31 % of a core, 24 % in the kernel` and so on, the busiest first.
fn workers(loads: &[WorkerLoad]) -> String {
    let mut busiest = loads.to_vec();
    busiest.sort_by(|a, b| b.cpu_ratio.total_cmp(&a.cpu_ratio));
    let text = |load: &WorkerLoad| {
        let (cpu, kernel) = (share_text(load.cpu_ratio), share_text(load.kernel_ratio));
        format!("{}: {cpu} ({kernel} in the kernel), waited {}", load.worker, share_text(load.starved_ratio))
    };
    let texts: Vec<String> = busiest.iter().take(WORKERS_LISTED).map(text).collect();
    let rest = loads.len().saturating_sub(WORKERS_LISTED);
    let rest = if rest > 0 { format!("; {rest} others less busy") } else { String::new() };
    format!("CPU of {}{rest}", texts.join("; "))
}

/// What is known of the machine. What is not known is named, so that it is not taken for zero.
fn machine(load: &MachineLoad) -> String {
    let parts = [
        load.stolen_ratio.map_or("stolen CPU time not known".to_owned(), |r| {
            format!("{} of its CPU time stolen", share_text(r))
        }),
        load.pressure_ratio.map_or("CPU pressure not known".to_owned(), |ratio| {
            format!("some task waited for a CPU {} of the time", share_text(ratio))
        }),
        retransmits(load),
        descriptors(load),
        sockets(load),
    ];
    parts.join("; ")
}

fn retransmits(load: &MachineLoad) -> String {
    match (load.segments_sent, load.segments_retransmitted) {
        (Some(sent), Some(again)) => {
            let opening = load
                .syn_retransmitted
                .filter(|count| *count > 0)
                .map_or_else(String::new, |count| format!(" and {} to open connections", grouped(count)));
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
    format!(
        "{} open and {} in TIME-WAIT, {ports} to one address",
        counted(open, "TCP socket"),
        grouped(time_wait)
    )
}

fn ceiling(run: &Run, health: &GeneratorHealth) -> String {
    match (&health.ceiling, &run.manifest.machine.calibration) {
        (Some(used), _) => used_ceiling(used),
        (None, Some(_)) => {
            "calibrated with one request under way on each connection, so it does not apply here".to_owned()
        }
        (None, None) => "not known; plimsoll calibrate measures how much one worker can send here".to_owned(),
    }
}

fn used_ceiling(used: &CeilingUse) -> String {
    let ratio = share_text(used.per_worker_per_sec / used.ceiling_per_sec);
    let (bound, doubt) = match used.known {
        true => ("", ""),
        false => {
            ("at least ", "; the worker was not the limit then, so calibrate again when the machine is idle")
        }
    };
    format!(
        "{ratio} of the {bound}{} requests/s that one worker can send here, calibrated {} before this run{doubt}",
        count_text(used.ceiling_per_sec),
        age_text(used.age_sec)
    )
}

/// An age in the largest unit of which it is at least one.
fn age_text(age_sec: f64) -> String {
    let units = [(86_400.0, "day"), (3600.0, "hour"), (60.0, "minute")];
    let whole =
        units.iter().map(|(length, name)| ((age_sec / length) as u64, *name)).find(|(count, _)| *count > 0);
    whole.map_or_else(|| "less than a minute".to_owned(), |(count, name)| counted(count, name))
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
        };
        let text = workers(&(0..20).map(load).collect::<Vec<_>>());
        assert!(text.starts_with("CPU of 19: 19 %") && text.ends_with("12 others less busy"), "{text}");
    }
}
