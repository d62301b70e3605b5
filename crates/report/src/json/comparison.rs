//! Comparisons of runs with a baseline, as by `plimsoll diff`; CPU time per request, of one run and of two compared.

use plimsoll_analyze::{
    BestComparison, Comparison, ComparisonRow, HighestRates, Incomparable, LatencyDifferences, Margin,
    PercentileDifference, SharedLoad,
};
use plimsoll_profile::{Change, Cost, FunctionCost, Micros, difference};

use super::document::{Interval, document, each, ms, value};
use crate::ProfiledRun;
use crate::privacy::shown_sentence;

document! {
    /// A new run, or table, compared with an old one.
    #[schemars(title = "Two runs compared")]
    pub struct DiffDocument(
        names: [&str; 2],
        comparison: &Comparison,
        against: &[Incomparable],
        judged: Option<(Margin, f64)>,
        latency: Option<&LatencyDifferences>,
    ) {
        /// Always `plimsoll/diff/1`.
        schema: &'static str = "plimsoll/diff/1",
        /// The name of the old run, the baseline.
        old: String = names[0],
        /// The name of the new one.
        new: String = names[1],
        /// How much worse the new run may be; null if no margin was given.
        margin: Option<f64> = judged.map(|(_, margin)| margin),
        /// Whether the new run is worse than the margin allows, by best throughput, success and highest rates: `within`,
        /// `beyond` or `not_known`; null without a margin.
        gate: Option<&'static str> = judged.map(|(judged, _)| match judged {
            Margin::Within => "within",
            Margin::Beyond => "beyond",
            Margin::Unknown => "not_known",
        }),
        /// Reasons not to compare the two; empty for tables, where they are not known.
        not_comparable: Vec<IncomparableDocument> = each(against, IncomparableDocument::new),
        /// The steps of highest throughput; null if either run has none.
        best: Option<BestDocument> = comparison.best.as_ref().map(BestDocument::new),
        /// A row for every number of connections that either run measured. The old run is the baseline.
        rows: Vec<ComparisonRowDocument> = each(&comparison.rows, ComparisonRowDocument::new),
        /// The highest rates; null unless both runs searched for theirs within the same conditions.
        highest_rates: Option<HighestRatesDocument> = comparison.highest_rates.map(HighestRatesDocument::new),
        /// How latency differs at a load that both runs measured; null if there is none, and for tables.
        latency: Option<LatencyDifferencesDocument> = latency.map(LatencyDifferencesDocument::new),
    }

    /// The highest rates of two searches.
    pub struct HighestRatesDocument(rates: HighestRates) {
        /// The highest rate that the new run held, requests per second; null if none did.
        held_per_sec: Option<f64> = rates.candidate.held_per_sec,
        /// The lowest rate above it that did not hold; null if there was none.
        broken_per_sec: Option<f64> = rates.candidate.broken_per_sec,
        /// The highest rate that the old run held, requests per second; null if none did.
        against_held_per_sec: Option<f64> = rates.reference.held_per_sec,
        /// The lowest rate above it that did not hold; null if there was none.
        against_broken_per_sec: Option<f64> = rates.reference.broken_per_sec,
    }

    /// A reason not to compare two runs.
    pub struct IncomparableDocument(one: &Incomparable) {
        /// A setting in which the runs differ: `machine`, `cores`, `kernel`, `tool_version`, `driver`, `protocol`, `tls`,
        /// `requests`, `load`, `keep_alive`, `server`; or a fault of one run: `generator_limited`, `unfinished` (its
        /// ladder, if the best steps of the two differ in connections), `noisy` or `other_processes`.
        why: &'static str = match one {
            Incomparable::Differs(setting, ..) => setting.name(),
            Incomparable::GeneratorLimited(_) => "generator_limited",
            Incomparable::Unfinished(_) => "unfinished",
            Incomparable::Noisy(..) => "noisy",
            Incomparable::OtherProcesses(..) => "other_processes",
        },
        /// True if the figures should not be compared; false for `server` and `kernel`, in which two runs may well
        /// differ.
        grave: bool = one.is_grave(),
        /// The run that it concerns, `old` or `new`; null if it concerns both.
        side: Option<&'static str> = match one {
            Incomparable::Differs(..) => None,
            Incomparable::GeneratorLimited(side)
            | Incomparable::Unfinished(side)
            | Incomparable::Noisy(side, _)
            | Incomparable::OtherProcesses(side, _) => Some(side.name()),
        },
        /// The setting of the old run, without bodies and the values of queries and headers, so that it may read the same
        /// as `new`; null if the reason concerns one run.
        old: Option<String> = match one {
            Incomparable::Differs(_, old, _) => Some(shown_sentence(old)),
            _ => None,
        },
        /// The setting of the new run.
        new: Option<String> = match one {
            Incomparable::Differs(.., new) => Some(shown_sentence(new)),
            _ => None,
        },
        /// Half the interval of throughput over its value, or the share of the processors that other processes used; null
        /// for other reasons, or if it is not known.
        value: Option<f64> = match one {
            Incomparable::Noisy(_, half) => *half,
            Incomparable::OtherProcesses(_, share) => Some(*share),
            Incomparable::Differs(..) | Incomparable::GeneratorLimited(_) | Incomparable::Unfinished(_) => None,
        },
    }

    /// Runs compared with a baseline.
    pub struct ComparisonDocument(against: &str, lower_bound: bool, runs: Vec<ComparedDocument>) {
        /// The name of the baseline, the run that the others are compared with.
        against: String = against,
        /// True if the baseline's throughputs are lower bounds: the generator was the limit.
        lower_bound: bool = lower_bound,
        /// The other runs. Every ratio is that of the run over the baseline.
        runs: Vec<ComparedDocument> = runs,
    }

    /// One run compared with the baseline.
    pub struct ComparedDocument(
        name: &str,
        lower_bound: bool,
        comparison: &Comparison,
        latency: Option<&LatencyDifferences>,
        profiles: Option<(&ProfiledRun, &ProfiledRun)>,
    ) {
        /// The name of the run.
        name: String = name,
        /// True if its throughputs are lower bounds: the generator was the limit.
        lower_bound: bool = lower_bound,
        /// The steps of highest throughput; null if either run has none.
        best: Option<BestDocument> = comparison.best.as_ref().map(BestDocument::new),
        /// A row for every number of connections that either run measured.
        rows: Vec<ComparisonRowDocument> = each(&comparison.rows, ComparisonRowDocument::new),
        /// How latency differs at a load that both runs measured; null if there is none.
        latency: Option<LatencyDifferencesDocument> = latency.map(LatencyDifferencesDocument::new),
        /// CPU time per request, function by function; null unless both runs have a profile.
        cpu: Option<CpuDifferenceDocument> = profiles.map(|(a, b)| CpuDifferenceDocument::new(a, b)),
    }

    /// The best step of each run.
    pub struct BestDocument(best: &BestComparison) {
        /// Requests per second.
        throughput_per_sec: f64 = best.candidate.throughput.value,
        /// True if that is a lower bound: the generator was the limit, or the ladder ended before it was known what more
        /// connections serve, and the baseline's best step has another number of connections.
        lower_bound: bool = best.lower_bounds()[0],
        /// Connections of that step.
        connections: u32 = best.candidate.connections,
        /// Requests per second of the baseline.
        against_per_sec: f64 = best.reference.throughput.value,
        /// True if the baseline's throughput is a lower bound.
        against_lower_bound: bool = best.lower_bounds()[1],
        /// Connections of the baseline's step.
        against_connections: u32 = best.reference.connections,
        /// The throughput over that of the baseline.
        throughput_ratio: f64 = best.throughput_ratio.value,
        /// The 95 % interval of `throughput_ratio`.
        throughput_ratio_interval: Interval = best.throughput_ratio,
    }

    /// One number of connections. The figures of a run that did not measure it are null.
    pub struct ComparisonRowDocument(row: &ComparisonRow) {
        /// Connections.
        connections: u32 = row.connections,
        /// Requests per second.
        throughput_per_sec: Option<f64> = row.candidate.map(|a| a.throughput.value),
        /// True if that is a lower bound: the generator was the limit.
        lower_bound: bool = row.candidate.is_some_and(|a| a.lower_bound),
        /// Requests per second of the baseline.
        against_per_sec: Option<f64> = row.reference.map(|b| b.throughput.value),
        /// True if the baseline's throughput is a lower bound.
        against_lower_bound: bool = row.reference.is_some_and(|b| b.lower_bound),
        /// The throughput over that of the baseline.
        throughput_ratio: Option<f64> = value(row.throughput_ratio),
        /// The 95 % interval of `throughput_ratio`.
        throughput_ratio_interval: Interval = row.throughput_ratio,
        /// Mean response time.
        mean_ms: Option<f64> = row.candidate.map(|a| ms(a.mean_latency_ns)),
        /// Mean response time of the baseline.
        against_mean_ms: Option<f64> = row.reference.map(|b| ms(b.mean_latency_ns)),
        /// The mean response time over that of the baseline.
        mean_ratio: Option<f64> = row.latency_ratio,
        /// Successful responses over all requests that ended.
        success: Option<f64> = row.candidate.map(|a| a.success_ratio),
        /// The same ratio of the baseline.
        against_success: Option<f64> = row.reference.map(|b| b.success_ratio),
    }

    /// How the latency of two runs differs at one load.
    pub struct LatencyDifferencesDocument(found: &LatencyDifferences) {
        /// Connections of the load; null for an open loop.
        connections: Option<u32> = match found.load {
            SharedLoad::Connections(connections) => Some(connections),
            SharedLoad::Rate(_) => None,
        },
        /// The offered rate, requests per second; null for a closed loop.
        rate_per_sec: Option<f64> = match found.load {
            SharedLoad::Connections(_) => None,
            SharedLoad::Rate(rate) => Some(rate),
        },
        /// The percentiles that are known of both runs.
        percentiles: Vec<PercentileDifferenceDocument> = each(&found.percentiles, PercentileDifferenceDocument::new),
    }

    /// A percentile of latency of two runs.
    pub struct PercentileDifferenceDocument(one: &PercentileDifference) {
        /// The percentile, from 0 to 100.
        percentile: f64 = one.percentile,
        /// Its value in the run.
        ms: f64 = ms(one.candidate_ns),
        /// Its value in the baseline.
        against_ms: f64 = ms(one.reference_ns),
        /// `ms` minus `against_ms`.
        difference_ms: f64 = ms(one.difference_ns.value),
        /// The 95 % interval of `difference_ms`.
        difference_ms_interval: Interval = Interval::from(one.difference_ns).map(ms),
    }

    /// The CPU profile of a run.
    pub struct ProfileDocument(name: &str, profiled: &ProfiledRun, top: usize) {
        /// The name of the run.
        name: String = name,
        /// Where the profile came from.
        source: String = &profiled.source,
        /// How long the profile was taken, in seconds.
        seconds: f64 = profiled.span_sec,
        /// Requests per second during that time.
        throughput_per_sec: f64 = profiled.step.throughput.value,
        /// CPU time per request, in µs.
        us: f64 = profiled.per_request().total().value,
        /// The 95 % interval of `us`, from the number of samples.
        us_interval: Interval = profiled.per_request().total(),
        /// The functions with the most CPU time, including what they called.
        functions: Vec<FunctionDocument> = each(profiled.stacks.functions().iter().take(top), |function| {
            FunctionDocument::new(profiled, function)
        }),
    }

    /// One function.
    pub struct FunctionDocument(profiled: &ProfiledRun, function: &FunctionCost<'_>) {
        /// The name of the function.
        function: String = function.name,
        /// The share of the CPU time spent in the function and in what it called.
        cumulative: f64 = share(function.cumulative, profiled),
        /// The share of the CPU time spent in the function itself.
        flat: f64 = share(function.flat, profiled),
        /// CPU time per request in the function and in what it called, in µs.
        cumulative_us: f64 = profiled.per_request().micros(function.cumulative).value,
        /// The 95 % interval of `cumulative_us`, from the number of samples.
        cumulative_us_interval: Interval = profiled.per_request().micros(function.cumulative),
        /// CPU time per request in the function itself, in µs.
        flat_us: f64 = profiled.per_request().micros(function.flat).value,
    }

    /// The difference in CPU time per request between two runs.
    pub struct CpuDifferenceDocument(a: &ProfiledRun, b: &ProfiledRun) {
        /// CPU time per request, in µs.
        us: f64 = a.per_request().total().value,
        /// CPU time per request of the baseline.
        against_us: f64 = b.per_request().total().value,
        /// The functions that differ by more than the error of their samples, the largest difference first.
        functions: Vec<FunctionDifferenceDocument> = certain_differences(a, b),
    }

    /// The difference in one function, per request.
    pub struct FunctionDifferenceDocument(change: &Change<'_>) {
        /// The name of the function.
        function: String = change.name,
        /// CPU time in the function and in what it called, in µs.
        us: f64 = change.cumulative_a.value,
        /// The same time in the baseline.
        against_us: f64 = change.cumulative_b.value,
        /// `us` minus `against_us`.
        difference_us: f64 = change.cumulative.value,
        /// The 95 % interval of `difference_us`, from the number of samples.
        difference_us_interval: Interval = change.cumulative,
        /// The difference of the time in the function itself.
        flat_difference_us: f64 = change.flat.value,
        /// The 95 % interval of `flat_difference_us`, from the number of samples.
        flat_difference_us_interval: Interval = change.flat,
    }
}

impl From<Micros> for Interval {
    fn from(micros: Micros) -> Self {
        Some((micros.value - micros.half, micros.value + micros.half)).into()
    }
}

fn share(cost: Cost, profiled: &ProfiledRun) -> f64 {
    cost.cpu_ns as f64 / profiled.stacks.total().cpu_ns as f64
}

fn certain_differences(a: &ProfiledRun, b: &ProfiledRun) -> Vec<FunctionDifferenceDocument> {
    let (a, b) = (a.per_request(), b.per_request());
    let changes = difference(&a, &b);
    each(changes.iter().filter(|change| change.cumulative.is_certain()), FunctionDifferenceDocument::new)
}
