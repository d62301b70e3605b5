//! The load of the generator's machine during a step, as its kernel reported it.

use plimsoll_record::metric::{cpu, descriptors, ports, pressure, tcp};
use plimsoll_record::{HostSample, Metric, Reading, Step, Subject};

use crate::MachineLoad;
use crate::hosts::tracks::GENERATOR;

/// The readings of a metric over a step, from the last before it to the first after it: begin and value of each.
fn readings(hosts: &[HostSample], metric: Metric, step: &Step) -> Vec<(u64, Option<u64>)> {
    let ours = |sample: &&HostSample| {
        sample.host == GENERATOR && sample.source == metric.source && sample.subject() == Subject::Host
    };
    let read = |sample: &&HostSample| matches!(sample.reading, Reading::Ok(_));
    let all: Vec<&HostSample> = hosts.iter().filter(ours).filter(read).collect();
    let first = all.iter().rposition(|sample| sample.ended_ns <= step.began_ns).unwrap_or(0);
    let last = all.iter().position(|sample| sample.began_ns >= step.ended_ns);
    let last = last.map_or(all.len(), |last| last + 1);
    let value = |sample: &&HostSample| match &sample.reading {
        Reading::Ok(counters) => (sample.began_ns, counters.get(metric)),
        _ => (sample.began_ns, None),
    };
    all.get(first..last).unwrap_or_default().iter().map(value).collect()
}

/// The growth of a counter, with the nanoseconds between the two reads; `None` where the counter fell because it was reset.
fn growth(readings: &[(u64, Option<u64>)]) -> Option<(u64, u64)> {
    let (first, last) = (readings.first()?, readings.last()?);
    let span_ns = last.0.checked_sub(first.0).filter(|span_ns| *span_ns > 0)?;
    Some((last.1?.checked_sub(first.1?)?, span_ns))
}

/// Collects the figures of this machine during a step. In a fleet other machines make the load, so that losses or stolen time of this
/// one do not matter.
pub(super) fn load(hosts: &[HostSample], step: &Step) -> MachineLoad {
    if !step.generators.is_empty() {
        return MachineLoad::default();
    }
    let growth = |metric| growth(&readings(hosts, metric, step));
    let grown = |metric| growth(metric).map(|(grown, _)| grown);
    let most = |metric| readings(hosts, metric, step).into_iter().filter_map(|(_, value)| value).max();
    let total_ms = grown(cpu::TOTAL_MS).filter(|total_ms| *total_ms > 0);
    let stolen = || Some(grown(cpu::STEAL_MS)? as f64 / total_ms? as f64);
    let waited = |(some_us, span_ns): (u64, u64)| some_us as f64 * 1e3 / span_ns as f64;
    let syn_retransmitted = grown(tcp::SYN_RETRANSMITTED);
    let retransmitted = grown(tcp::SEGMENTS_RETRANSMITTED);
    MachineLoad {
        stolen_ratio: stolen(),
        pressure_ratio: growth(pressure::CPU_SOME_US).map(waited),
        segments_sent: grown(tcp::SEGMENTS_SENT),
        segments_retransmitted: retransmitted.map(|all| all.saturating_sub(syn_retransmitted.unwrap_or(0))),
        syn_retransmitted,
        sockets_open: most(ports::SOCKETS_OPEN),
        sockets_time_wait: most(ports::SOCKETS_TIME_WAIT),
        ports: most(ports::PORTS_IN_RANGE),
        descriptors_open: most(descriptors::OPEN),
        descriptors_limit: most(descriptors::LIMIT),
    }
}
