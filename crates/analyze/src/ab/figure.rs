//! The figures that are compared.

use super::load::{AbLoad, LoadKind};

/// Which way a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    Higher,
    Lower,
}

/// A figure of a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AbFigure {
    /// Requests per second.
    Throughput,
    /// The highest rate of arrivals within the conditions, requests per second: the middle of the two rates between which it lies.
    MaxRate,
    /// CPU time of the service for one request, in seconds.
    Cpu,
    /// This quantile of latency, in nanoseconds.
    Latency(f64),
}

/// The quantiles of latency that are judged; those of which too little is known are left out.
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

    /// Which way it is better.
    pub fn better(self) -> Better {
        match self {
            Self::Throughput | Self::MaxRate => Better::Higher,
            Self::Cpu | Self::Latency(_) => Better::Lower,
        }
    }

    /// Its value in one load; `None` where it is not known, and of a quantile, which may take several loads to know.
    pub(super) fn value(self, load: &AbLoad) -> Option<f64> {
        match self {
            Self::Throughput => Some(load.throughput_per_sec),
            Self::MaxRate => load.max_rate_per_sec,
            Self::Cpu => load.cpu_sec,
            Self::Latency(_) => None,
        }
    }
}
