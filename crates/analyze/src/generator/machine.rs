//! What the generator's machine reported of itself over the step.

use plimsoll_record::metric::{cpu, descriptors, ports, pressure, tcp};
use plimsoll_record::{HostSample, Metric, Reading, Step, Subject};

use crate::MachineLoad;
use crate::hosts::tracks::GENERATOR;

/// One source of the generator's machine over one step: its samples from the last before the step to the first after it.
#[derive(Debug)]
struct StepSamples<'a> {
    samples: Vec<&'a HostSample>,
}

fn value(sample: &HostSample, metric: Metric) -> Option<u64> {
    let Reading::Ok(counters) = &sample.reading else { return None };
    counters.get(metric)
}

impl<'a> StepSamples<'a> {
    /// The samples that have a metric.
    fn new(hosts: &'a [HostSample], metric: Metric, step: &Step) -> Self {
        let ours = |sample: &&HostSample| {
            sample.host == GENERATOR && sample.source == metric.source && sample.subject() == Subject::Host
        };
        let read = |sample: &&HostSample| matches!(sample.reading, Reading::Ok(_));
        let all: Vec<&HostSample> = hosts.iter().filter(ours).filter(read).collect();
        let first = all.iter().rposition(|sample| sample.ended_ns <= step.began_ns).unwrap_or(0);
        let last = all.iter().position(|sample| sample.began_ns >= step.ended_ns);
        let last = last.map_or(all.len(), |last| last + 1);
        Self { samples: all.get(first..last).unwrap_or_default().to_vec() }
    }

    /// How much a counter grew, with the nanoseconds between the two reads; `None` where it fell, which began again.
    fn growth(&self, metric: Metric) -> Option<(u64, u64)> {
        let (first, last) = (self.samples.first()?, self.samples.last()?);
        let grown = value(last, metric)?.checked_sub(value(first, metric)?)?;
        let span_ns = last.began_ns.checked_sub(first.began_ns).filter(|span_ns| *span_ns > 0)?;
        Some((grown, span_ns))
    }

    /// The highest reading of a gauge.
    fn most(&self, metric: Metric) -> Option<u64> {
        self.samples.iter().filter_map(|sample| value(sample, metric)).max()
    }
}

/// Everything that is known of the machine during a step.
pub(super) fn load(hosts: &[HostSample], step: &Step) -> MachineLoad {
    let growth = |metric| StepSamples::new(hosts, metric, step).growth(metric);
    let grown = |metric| growth(metric).map(|(grown, _)| grown);
    let most = |metric| StepSamples::new(hosts, metric, step).most(metric);
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
