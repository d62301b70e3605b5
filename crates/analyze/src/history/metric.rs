//! The metrics that a trend can follow.

use std::str::FromStr;

use plimsoll_stats::Estimate;

use super::entry::RunEntry;

/// A figure that is followed over runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrendMetric {
    /// Served requests per second.
    Throughput,
    /// The highest rate that held in a search.
    HighestRate,
    Median,
    P99,
    CpuPerRequest,
}

impl TrendMetric {
    /// Every metric.
    pub const ALL: [Self; 5] =
        [Self::Throughput, Self::HighestRate, Self::Median, Self::P99, Self::CpuPerRequest];

    /// The word for it on a command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Throughput => "qps",
            Self::HighestRate => "lambda",
            Self::Median => "p50",
            Self::P99 => "p99",
            Self::CpuPerRequest => "cpu",
        }
    }

    /// The unit of its values in JSON.
    pub fn unit(self) -> &'static str {
        if self.is_rate() { "requests_per_sec" } else { "ns" }
    }

    /// True where the figure of this run is a bound: the target may have served more, or a limiting generator may have added to the
    /// latency. The latency at the rate of a search is none, since the generator could make that rate.
    pub fn is_bound(self, run: &RunEntry) -> bool {
        let figures = &run.figures;
        match self {
            Self::Throughput => figures.is_least,
            Self::HighestRate => figures.held_per_sec.is_some_and(|held| held.interval.is_none()),
            Self::Median | Self::P99 => figures.held_per_sec.is_none() && figures.is_generator_limited(),
            Self::CpuPerRequest => false,
        }
    }

    /// True for rates, where more is better; false for times, where less is better.
    pub fn is_rate(self) -> bool {
        matches!(self, Self::Throughput | Self::HighestRate)
    }

    /// True where too many requests failed for the value to describe the service. Never for the highest rate of a search, at which its
    /// conditions held.
    pub fn is_of_failures(self, run: &RunEntry) -> bool {
        self != Self::HighestRate && run.figures.is_failing()
    }

    /// The value of a run, even if its requests failed; `None` where it is unknown.
    pub fn of(self, run: &RunEntry) -> Option<Estimate> {
        let figures = &run.figures;
        let value = match self {
            Self::Throughput => figures.throughput_per_sec,
            Self::HighestRate => figures.held_per_sec,
            Self::Median => figures.p50_ns,
            Self::P99 => figures.p99_ns,
            Self::CpuPerRequest => figures.cpu_per_request_ns,
        };
        value.map(Estimate::from).filter(|estimate| estimate.value.is_finite() && estimate.value > 0.0)
    }
}

impl FromStr for TrendMetric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|metric| metric.name() == text);
        known.ok_or_else(|| format!("`{text}` is no metric; write qps, lambda, p50, p99 or cpu"))
    }
}
