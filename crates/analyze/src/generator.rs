//! The generator's self-check: did the generator itself limit the load?
//!
//! Each rule must stay silent while only the target is slow. A generator that shares its machine with the target competes with it
//! for the CPU. If it is starved there, that is reported too, and the observed throughput is a lower bound of what the target reaches
//! on a machine of its own.

use std::collections::BTreeMap;

use plimsoll_record::{FrameHead, WorkerTime};

use evidence::Evidence;
use health::{GeneratorHealth, WorkerLoad};

mod ceiling;
pub(crate) mod evidence;
pub(crate) mod health;
mod law;
mod machine;
mod rules;

/// How each worker's thread spent the time of these frames.
fn load_by_worker(heads: &[&FrameHead]) -> Vec<WorkerLoad> {
    let mut workers: BTreeMap<u32, (u64, WorkerTime)> = BTreeMap::new();
    for head in heads.iter().filter(|head| head.of_worker()) {
        let (span_ns, spent) = workers.entry(head.worker).or_default();
        *span_ns += head.ended_ns.saturating_sub(head.began_ns);
        spent.user_ns += head.time.user_ns;
        spent.system_ns += head.time.system_ns;
        spent.starved_ns += head.time.starved_ns;
        spent.stalled_ns += head.time.stalled_ns;
    }
    let load = |(worker, (span_ns, spent)): (u32, (u64, WorkerTime))| {
        let ratio = |part_ns| if span_ns == 0 { 0.0 } else { part_ns as f64 / span_ns as f64 };
        WorkerLoad {
            worker,
            cpu_ratio: ratio(spent.user_ns + spent.system_ns),
            kernel_ratio: ratio(spent.system_ns),
            starved_ratio: ratio(spent.starved_ns),
            // While a machine is suspended, the time of its workers stands still.
            stalled_ratio: ratio(spent.stalled_ns).min(1.0),
        }
    };
    workers.into_iter().map(load).collect()
}

/// Checks the generator's health over one step.
pub(crate) fn self_check(evidence: &Evidence<'_>) -> GeneratorHealth {
    let mut by_worker = load_by_worker(evidence.measured);
    // A stall may be mistaken for the end of the warm-up, so that the whole step counts.
    for whole in load_by_worker(evidence.all) {
        for load in by_worker.iter_mut().filter(|load| load.worker == whole.worker) {
            load.stalled_ratio = whole.stalled_ratio;
        }
    }
    let highest = |ratio: fn(&WorkerLoad) -> f64| by_worker.iter().map(ratio).fold(0.0, f64::max);
    let cpu_sec =
        |part: fn(&FrameHead) -> u64| evidence.all.iter().map(|head| part(head)).sum::<u64>() as f64 / 1e9;
    let lag_ns = |quantile| {
        if evidence.send_lag.is_empty() { 0.0 } else { evidence.send_lag.value_at_quantile(quantile) as f64 }
    };
    let mut health = GeneratorHealth {
        too_short: evidence.summary.measured_sec < health::MIN_WINDOW_SEC,
        reasons: Vec::new(),
        cpu_sec: cpu_sec(|head| head.time.user_ns + head.time.system_ns),
        kernel_sec: cpu_sec(|head| head.time.system_ns),
        busiest_worker_ratio: highest(|load| load.cpu_ratio),
        starved_ratio: highest(|load| load.starved_ratio),
        stalled_ratio: highest(|load| load.stalled_ratio),
        send_lag_p50_ns: lag_ns(0.5),
        backlog: rules::last_heads(evidence).iter().map(|head| head.backlog).sum(),
        send_lag_p99_ns: lag_ns(0.99),
        send_lag_bound_ns: evidence.summary.service.p50.ns.map(health::send_lag_ns),
        littles_law_error: law::law(evidence).map(law::Law::error),
        open_ratio: law::open_ratio(evidence),
        workers: load_by_worker(evidence.all).len() as u32,
        by_worker,
        machine: machine::load(&evidence.run.hosts, evidence.step),
        ceiling: None,
    };
    let uses = ceiling::uses(evidence, health.workers);
    health.ceiling = uses.iter().copied().max_by(|a, b| a.ratio().total_cmp(&b.ratio()));
    if !health.too_short {
        health.reasons = rules::reasons(evidence, &health, &uses);
    }
    health
}
