//! The figures that are compared.

use super::load::{AbLoad, LoadKind};

/// The direction in which a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    Higher,
    Lower,
}

/// A figure of a load that is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AbFigure {
    /// Requests per second.
    Throughput,
    /// The highest arrival rate within the conditions, requests per second: the geometric mean of the highest held and the lowest broken.
    MaxRate,
    /// CPU time of the service per request, in seconds.
    Cpu,
    /// This quantile of latency, in nanoseconds.
    Latency(f64),
}

/// The quantiles of latency that are judged; a quantile with too few requests is left out.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

impl AbFigure {
    /// The figures of a kind of load, the main one first.
    pub fn of(kind: LoadKind) -> Vec<Self> {
        let quantiles = |main: f64| QUANTILES.into_iter().filter(move |p| *p != main).map(Self::Latency);
        match kind {
            LoadKind::Closed => {
                [Self::Throughput, Self::Cpu].into_iter().chain(QUANTILES.map(Self::Latency)).collect()
            }
            LoadKind::Open => {
                let main = Self::Latency(0.99);
                [main, Self::Cpu, Self::Throughput].into_iter().chain(quantiles(0.99)).collect()
            }
            LoadKind::Search => vec![Self::MaxRate, Self::Throughput, Self::Cpu],
        }
    }

    /// The direction in which it is better.
    pub fn better(self) -> Better {
        match self {
            Self::Throughput | Self::MaxRate => Better::Higher,
            Self::Cpu | Self::Latency(_) => Better::Lower,
        }
    }

    /// The value in one load; `None` where it is unknown, and for quantiles, which may need several loads.
    pub(super) fn value(self, load: &AbLoad) -> Option<f64> {
        match self {
            Self::Throughput => Some(load.throughput_per_sec),
            Self::MaxRate => load.max_rate_per_sec,
            Self::Cpu => load.cpu_sec,
            Self::Latency(_) => None,
        }
    }
}
