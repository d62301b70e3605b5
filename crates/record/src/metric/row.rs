//! A row of the table of metrics.

use std::fmt;

use crate::Source;

/// Whether a metric counts up or is a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// A total since boot, or since its subject began: only its growth means something.
    Counter,
    /// A level at the instant of the read.
    Gauge,
}

/// What a metric is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Things: requests, connections, calls.
    Count,
    Bytes,
    /// Pages of memory.
    Pages,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Thousandths of a core.
    Millicores,
    /// Bits per second.
    BitsPerSec,
    /// Bytes per second.
    BytesPerSec,
    /// Packets per second.
    PacketsPerSec,
    /// The id of a process.
    Pid,
}

impl Unit {
    /// The unit for people; empty for a count.
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
        }
    }
}

/// One metric of one source.
#[derive(Clone, Copy)]
pub struct Metric {
    /// Whose it is.
    pub source: Source,
    /// Its name in run files and streams, with the unit last.
    pub name: &'static str,
    /// Whether it counts up or is a level.
    pub kind: MetricKind,
    /// What it is measured in.
    pub unit: Unit,
    /// What it says, for people.
    pub meaning: &'static str,
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

/// Makes a module for each source, with a constant for each of its metrics and `ALL` of them.
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

                pub(in crate::metric) const ALL: &[crate::Metric] = &[$($constant),*];

                #[cfg(test)]
                #[test]
                fn constants_are_called_as_their_metrics() {
                    $(assert_eq!(stringify!($constant).to_lowercase(), $name);)*
                }
            }
        )*
    };
}

pub(in crate::metric) use metrics;
