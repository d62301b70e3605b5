//! The table of metrics: everything that a source of host samples can report.
//!
//! Each metric is a constant in the module of its source (`metric::thread::RUN_WAIT_US`). `host` writes counters with
//! these constants and `analyze` reads them with the same ones; docs/metrics.md is generated from them. A source whose
//! metrics have names that are made when they are read ([`Source::made_names`]) has only its fixed ones here.

mod component;
mod net;
mod plan;
mod processes;
mod row;
mod system;

use crate::Source;

pub use component::{go, jvm, mariadb, memcached, nginx, prometheus, redis};
pub use net::{conntrack, interface, ports, sockets, tcp};
pub use plan::{declared, intervention};
pub use processes::{descriptors, listener, other_processes, peers, probe, process, thread, waiting};
pub use row::{Metric, MetricKind, Unit};
pub use system::{cgroup, core, cpu, disk, memory, pressure, scheduler};

impl Source {
    /// Its metrics, in the order of the table.
    pub fn metrics(self) -> &'static [Metric] {
        match self {
            Self::Cpu => cpu::ALL,
            Self::Core => core::ALL,
            Self::Scheduler => scheduler::ALL,
            Self::Pressure => pressure::ALL,
            Self::Memory => memory::ALL,
            Self::Disk => disk::ALL,
            Self::Interface => interface::ALL,
            Self::Tcp => tcp::ALL,
            Self::Sockets => sockets::ALL,
            Self::Conntrack => conntrack::ALL,
            Self::Cgroup => cgroup::ALL,
            Self::Process => process::ALL,
            Self::Thread => thread::ALL,
            Self::Waiting => waiting::ALL,
            Self::Listener => listener::ALL,
            Self::Peers => peers::ALL,
            Self::OtherProcesses => other_processes::ALL,
            Self::Ports => ports::ALL,
            Self::Descriptors => descriptors::ALL,
            Self::Nginx => nginx::ALL,
            Self::Redis => redis::ALL,
            Self::Memcached => memcached::ALL,
            Self::Mariadb => mariadb::ALL,
            Self::Go => go::ALL,
            Self::Jvm => jvm::ALL,
            Self::Prometheus => prometheus::ALL,
            Self::Probe => probe::ALL,
            Self::Declared => declared::ALL,
            Self::Intervention => intervention::ALL,
        }
    }
}

impl Metric {
    /// The metric of another source that has the same name and so counts the same thing: the CPU time of a thread for
    /// that of a process.
    pub fn of(self, source: Source) -> Option<Self> {
        source.metrics().iter().copied().find(|metric| metric.name == self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_metric_is_in_the_module_of_its_source_under_a_name_of_its_own() {
        for source in Source::all() {
            let names: BTreeSet<&str> = source.metrics().iter().map(|metric| metric.name).collect();
            assert_eq!(names.len(), source.metrics().len(), "{source}");
            assert!(source.metrics().iter().all(|metric| metric.source == source), "{source}");
        }
    }

    #[test]
    fn the_unit_is_at_the_end_of_a_name() {
        for metric in Source::all().flat_map(Source::metrics) {
            let end = match metric.unit {
                Unit::Count => continue,
                Unit::Bytes => "_bytes",
                Unit::Pages => "_pages",
                Unit::Ms => "_ms",
                Unit::Us => "_us",
                Unit::Millicores => "_milli",
                Unit::BitsPerSec => "_bits_per_sec",
                Unit::BytesPerSec => "_bytes_per_sec",
                Unit::PacketsPerSec => "_per_sec",
                Unit::Pid => continue,
            };
            assert!(format!("_{}", metric.name).ends_with(end), "{metric:?}");
        }
    }

    #[test]
    fn a_metric_is_found_in_another_source_by_what_it_counts() {
        assert_eq!(process::CPU_US.of(Source::Thread), Some(thread::CPU_US));
        assert_eq!(process::CPU_US.of(Source::Disk), None);
    }
}
