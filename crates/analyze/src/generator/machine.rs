//! What the generator's machine reported of itself over the step.

use plimsoll_record::{HostSample, Reading, Step};

use crate::MachineLoad;
use crate::hosts::GENERATOR;

/// One source of the generator's machine over one step: its samples from the last before the step to the first after it.
#[derive(Debug)]
struct Source<'a> {
    samples: Vec<&'a HostSample>,
}

fn counter(sample: &HostSample, name: &str) -> Option<u64> {
    let Reading::Ok(counters) = &sample.reading else { return None };
    counters.named(name)
}

impl<'a> Source<'a> {
    fn new(hosts: &'a [HostSample], source: &str, step: &Step) -> Self {
        let ours = |sample: &&HostSample| {
            sample.host == GENERATOR && sample.source == source && sample.subject.is_empty()
        };
        let read = |sample: &&HostSample| matches!(sample.reading, Reading::Ok(_));
        let all: Vec<&HostSample> = hosts.iter().filter(ours).filter(read).collect();
        let first = all.iter().rposition(|sample| sample.ended_ns <= step.began_ns).unwrap_or(0);
        let last = all.iter().position(|sample| sample.began_ns >= step.ended_ns);
        let last = last.map_or(all.len(), |last| last + 1);
        Self { samples: all.get(first..last).unwrap_or_default().to_vec() }
    }

    /// How much a counter grew, with the nanoseconds between the two reads; a machine that was started again counts anew.
    fn growth(&self, name: &str) -> Option<(u64, u64)> {
        let (first, last) = (self.samples.first()?, self.samples.last()?);
        let grown = counter(last, name)?.checked_sub(counter(first, name)?)?;
        let span_ns = last.began_ns.checked_sub(first.began_ns).filter(|span_ns| *span_ns > 0)?;
        Some((grown, span_ns))
    }

    fn grown(&self, name: &str) -> Option<u64> {
        self.growth(name).map(|(grown, _)| grown)
    }

    /// The highest reading of a level.
    fn most(&self, name: &str) -> Option<u64> {
        self.samples.iter().filter_map(|sample| counter(sample, name)).max()
    }
}

/// Everything that is known of the machine during a step.
pub(super) fn load(hosts: &[HostSample], step: &Step) -> MachineLoad {
    let source = |name| Source::new(hosts, name, step);
    let (cpu, pressure, tcp) = (source("cpu"), source("pressure"), source("tcp"));
    let (ports, descriptors) = (source("ports"), source("descriptors"));
    let total_ms = cpu.grown("total_ms").filter(|total_ms| *total_ms > 0);
    let stolen = || Some(cpu.grown("steal_ms")? as f64 / total_ms? as f64);
    let waited = |(some_us, span_ns): (u64, u64)| some_us as f64 * 1e3 / span_ns as f64;
    let syn_retransmitted = tcp.grown("syn_retransmitted");
    let retransmitted = tcp.grown("segments_retransmitted");
    MachineLoad {
        stolen_ratio: stolen(),
        pressure_ratio: pressure.growth("cpu_some_us").map(waited),
        segments_sent: tcp.grown("segments_sent"),
        segments_retransmitted: retransmitted.map(|all| all.saturating_sub(syn_retransmitted.unwrap_or(0))),
        syn_retransmitted,
        sockets_open: ports.most("sockets_open"),
        sockets_time_wait: ports.most("sockets_time_wait"),
        ports: ports.most("ports_in_range"),
        descriptors_open: descriptors.most("open"),
        descriptors_limit: descriptors.most("limit"),
    }
}
