//! The table of metrics: everything that sources of host samples can report.
//!
//! Each metric is a constant in the module of its source (`metric::thread::RUN_WAIT_US`). `host` writes counters with these
//! constants, `analyze` reads them with the same ones, and docs/metrics.md is generated from them. For a source that also has
//! names only known at the time of the read ([`Source::made_names`]), the table holds its fixed metrics.

use std::fmt;

use crate::Source;

/// Whether a metric is a running total or a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// A total since boot, or since the beginning of its subject. Only its growth is meaningful.
    Counter,
    /// A level at the instant of the read.
    Gauge,
}

/// The unit of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A number of things: requests, connections, calls.
    Count,
    Bytes,
    /// Pages of memory.
    Pages,
    Ms,
    Us,
    /// Thousandths of a core.
    Millicores,
    BitsPerSec,
    BytesPerSec,
    PacketsPerSec,
    /// A process id.
    Pid,
    /// An identifying number.
    Id,
    /// A set of cores: bit n represents core n.
    CoreSet,
}

impl Unit {
    /// Returns the unit's symbol for output; empty for a count.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Count => "",
            Self::Bytes => "bytes",
            Self::Pages => "pages",
            Self::Ms => "ms",
            Self::Us => "µs",
            Self::Millicores => "1/1000 core",
            Self::BitsPerSec => "bit/s",
            Self::BytesPerSec => "bytes/s",
            Self::PacketsPerSec => "packets/s",
            Self::Pid => "process id",
            Self::Id => "id",
            Self::CoreSet => "bit set",
        }
    }
}

/// A metric of one source.
#[derive(Clone, Copy)]
pub struct Metric {
    pub source: Source,
    /// The name in run files and streams, which ends with the unit.
    pub name: &'static str,
    pub kind: MetricKind,
    pub unit: Unit,
    /// The meaning, as text for users.
    pub meaning: &'static str,
}

impl Metric {
    /// Returns the metric of another source that has the same name and so counts the same thing, such as the CPU time of a thread for
    /// that of a process.
    pub fn in_source(self, source: Source) -> Option<Self> {
        source.metrics().iter().copied().find(|metric| metric.name == self.name)
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.name == other.name
    }
}

impl Eq for Metric {}

impl fmt::Debug for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.source, self.name)
    }
}

/// Defines a module for each source, with a constant for each of its metrics.
///
/// A row is the constant, the name in run files, counter or gauge, the unit, and the meaning.
macro_rules! metrics {
    ($($module:ident = $source:ident { $($constant:ident $name:literal $kind:ident $unit:ident $meaning:literal;)* })*) => {
        $(
            #[doc = concat!("Metrics of [`Source::", stringify!($source), "`](crate::Source::", stringify!($source), ").")]
            pub mod $module {
                $(
                    #[doc = $meaning]
                    pub const $constant: crate::Metric = crate::Metric {
                        source: crate::Source::$source,
                        name: $name,
                        kind: crate::MetricKind::$kind,
                        unit: crate::Unit::$unit,
                        meaning: $meaning,
                    };
                )*

                #[cfg(test)]
                #[test]
                fn constants_are_called_as_their_metrics() {
                    $(assert_eq!(stringify!($constant).to_lowercase(), $name);)*
                }
            }
        )*

        impl crate::Source {
            /// Returns the metrics of this source, in the order of the table.
            pub fn metrics(self) -> &'static [crate::Metric] {
                match self {
                    $(Self::$source => &[$($module::$constant),*],)*
                }
            }
        }
    };
}

mod table;

pub use table::{
    cgroup, conntrack, core, cpu, declared, descriptors, disk, go, interface, intervention, jvm, listener,
    mariadb, memcached, memory, nginx, other_processes, peers, ports, pressure, probe, process, prometheus,
    redis, scheduler, sockets, tcp, thread, waiting,
};

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
                Unit::Pid | Unit::Id | Unit::CoreSet => continue,
            };
            assert!(format!("_{}", metric.name).ends_with(end), "{metric:?}");
        }
    }

    #[test]
    fn a_metric_is_found_in_another_source_by_what_it_counts() {
        assert_eq!(process::CPU_US.in_source(Source::Thread), Some(thread::CPU_US));
        assert_eq!(process::CPU_US.in_source(Source::Disk), None);
    }
}
