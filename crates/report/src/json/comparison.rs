//! Runs compared with one of them, as by `plimsoll diff`; CPU time per request, of one run and of one run against another.

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
        /// The name of the old run, which the other is compared with.
        old: String = names[0],
        /// The name of the new one.
        new: String = names[1],
        /// How much worse the new one may be; null if no margin was given.
        margin: Option<f64> = judged.map(|(_, margin)| margin),
        /// Whether it is, by best throughput, success and highest rates: `within`, `beyond` or `not_known`; null without a margin.
        gate: Option<&'static str> = judged.map(|(judged, _)| match judged {
            Margin::Within => "within",
            Margin::Beyond => "beyond",
            Margin::Unknown => "not_known",
        }),
        /// What speaks against comparing the two; empty for tables, of which that is not known.
        not_comparable: Vec<IncomparableDocument> = each(against, IncomparableDocument::new),
        /// The steps of highest throughput; null if one of the two has none.
        best: Option<BestDocument> = comparison.best.as_ref().map(BestDocument::new),
        /// Every number of connections of either run, with the old one as the other.
        rows: Vec<ComparisonRowDocument> = each(&comparison.rows, ComparisonRowDocument::new),
        /// The highest rates; null unless both runs searched for theirs within the same conditions.
        highest_rates: Option<HighestRatesDocument> = comparison.highest_rates.map(HighestRatesDocument::new),
        /// How latency differs at a load that both had; null without one, and for tables.
        latency: Option<LatencyDifferencesDocument> = latency.map(LatencyDifferencesDocument::new),
    }

    /// The highest rates of two searches.
    pub struct HighestRatesDocument(rates: HighestRates) {
        /// The highest rate that the new run held, requests per second; null if none did.
        held_per_sec: Option<f64> = rates.candidate.held_per_sec,
        /// The lowest rate above it that did not hold; null if none did not.
        broken_per_sec: Option<f64> = rates.candidate.broken_per_sec,
        /// Those of the old run.
        against_held_per_sec: Option<f64> = rates.reference.held_per_sec,
        /// The same.
        against_broken_per_sec: Option<f64> = rates.reference.broken_per_sec,
    }

    /// Something that speaks against a comparison.
    pub struct IncomparableDocument(one: &Incomparable) {
        /// A setting in which they differ: `machine`, `cores`, `kernel`, `tool_version`, `driver`, `protocol`, `tls`, `requests`,
        /// `load`, `keep_alive`, `server`; or of one of them `generator_limited`, `unfinished` (its ladder, whose best is at other
        /// connections than that of the other), `noisy` or `other_processes`.
        why: &'static str = match one {
            Incomparable::Differs(setting, ..) => setting.name(),
            Incomparable::GeneratorLimited(_) => "generator_limited",
            Incomparable::Unfinished(_) => "unfinished",
            Incomparable::Noisy(..) => "noisy",
            Incomparable::OtherProcesses(..) => "other_processes",
        },
        /// True if the figures should not be compared; false for `server` and `kernel`, which two runs may well differ in.
        grave: bool = one.is_grave(),
        /// `old` or `new`, where it concerns one of them; else null.
        side: Option<&'static str> = match one {
            Incomparable::Differs(..) => None,
            Incomparable::GeneratorLimited(side)
            | Incomparable::Unfinished(side)
            | Incomparable::Noisy(side, _)
            | Incomparable::OtherProcesses(side, _) => Some(side.name()),
        },
        /// The setting of the old run, without values of queries and headers, and bodies: it may look as the new one; null where it
        /// concerns one run.
        old: Option<String> = match one {
            Incomparable::Differs(_, old, _) => Some(shown_sentence(old)),
            _ => None,
        },
        /// The setting of the new one.
        new: Option<String> = match one {
            Incomparable::Differs(.., new) => Some(shown_sentence(new)),
            _ => None,
        },
        /// Half of the interval of throughput over its value, or the part of the processors that others used; null where it is no
        /// such thing or not known.
        value: Option<f64> = match one {
            Incomparable::Noisy(_, half) => *half,
            Incomparable::OtherProcesses(_, share) => Some(*share),
            Incomparable::Differs(..) | Incomparable::GeneratorLimited(_) | Incomparable::Unfinished(_) => None,
        },
    }

    /// Runs compared with one of them.
    pub struct ComparisonDocument(against: &str, lower_bound: bool, runs: Vec<ComparedDocument>) {
        /// The run that the others are compared with.
        against: String = against,
        /// True if its throughputs are lower bounds: the generator was the limit.
        lower_bound: bool = lower_bound,
        /// The others. Every ratio is theirs over that of the one.
        runs: Vec<ComparedDocument> = runs,
    }

    /// One run against another.
    pub struct ComparedDocument(
        name: &str,
        lower_bound: bool,
        comparison: &Comparison,
        latency: Option<&LatencyDifferences>,
        profiles: Option<(&ProfiledRun, &ProfiledRun)>,
    ) {
        /// Its name.
        name: String = name,
        /// True if its throughputs are lower bounds: the generator was the limit.
        lower_bound: bool = lower_bound,
        /// The steps of highest throughput; null if one of the two has none.
        best: Option<BestDocument> = comparison.best.as_ref().map(BestDocument::new),
        /// Every number of connections of either run.
        rows: Vec<ComparisonRowDocument> = each(&comparison.rows, ComparisonRowDocument::new),
        /// How latency differs at a load that both had; null without one.
        latency: Option<LatencyDifferencesDocument> = latency.map(LatencyDifferencesDocument::new),
        /// CPU time of a request, function by function; null unless both have a profile.
        cpu: Option<CpuDifferenceDocument> = profiles.map(|(a, b)| CpuDifferenceDocument::new(a, b)),
    }

    /// The best step of each.
    pub struct BestDocument(best: &BestComparison) {
        /// Requests per second.
        throughput_per_sec: f64 = best.candidate.throughput.value,
        /// True if that is a lower bound: the generator was the limit, or the ladder ended before it was known what more connections
        /// serve, and the best of the other is at another number of them.
        lower_bound: bool = best.lower_bounds()[0],
        /// Connections of that step.
        connections: u32 = best.candidate.connections,
        /// Requests per second of the other.
        against_per_sec: f64 = best.reference.throughput.value,
        /// True if that is a lower bound.
        against_lower_bound: bool = best.lower_bounds()[1],
        /// Connections of that step.
        against_connections: u32 = best.reference.connections,
        /// One over the other.
        throughput_ratio: f64 = best.throughput_ratio.value,
        /// The 95 % interval of that.
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
        /// Requests per second of the other.
        against_per_sec: Option<f64> = row.reference.map(|b| b.throughput.value),
        /// True if that is a lower bound.
        against_lower_bound: bool = row.reference.is_some_and(|b| b.lower_bound),
        /// One over the other.
        throughput_ratio: Option<f64> = value(row.throughput_ratio),
        /// The 95 % interval of that.
        throughput_ratio_interval: Interval = row.throughput_ratio,
        /// Mean response time.
        mean_ms: Option<f64> = row.candidate.map(|a| ms(a.mean_latency_ns)),
        /// Mean response time of the other.
        against_mean_ms: Option<f64> = row.reference.map(|b| ms(b.mean_latency_ns)),
        /// One over the other.
        mean_ratio: Option<f64> = row.latency_ratio,
        /// Successful responses over all requests that ended.
        success: Option<f64> = row.candidate.map(|a| a.success_ratio),
        /// That of the other.
        against_success: Option<f64> = row.reference.map(|b| b.success_ratio),
    }

    /// How the latency of two runs differs at one load.
    pub struct LatencyDifferencesDocument(found: &LatencyDifferences) {
        /// Connections of the load; null of an open loop.
        connections: Option<u32> = match found.load {
            SharedLoad::Connections(connections) => Some(connections),
            SharedLoad::Rate(_) => None,
        },
        /// The offered rate, requests per second; null of a closed loop.
        rate_per_sec: Option<f64> = match found.load {
            SharedLoad::Connections(_) => None,
            SharedLoad::Rate(rate) => Some(rate),
        },
        /// The percentiles that both runs know.
        percentiles: Vec<PercentileDifferenceDocument> = each(&found.percentiles, PercentileDifferenceDocument::new),
    }

    /// A percentile of latency of two runs.
    pub struct PercentileDifferenceDocument(one: &PercentileDifference) {
        /// In per cent of the requests.
        percentile: f64 = one.percentile,
        /// Of the run.
        ms: f64 = ms(one.candidate_ns),
        /// Of the other.
        against_ms: f64 = ms(one.reference_ns),
        /// One minus the other.
        difference_ms: f64 = ms(one.difference_ns.value),
        /// The 95 % interval of that.
        difference_ms_interval: Interval = Interval::from(one.difference_ns).map(ms),
    }

    /// The CPU profile of a run.
    pub struct ProfileDocument(name: &str, profiled: &ProfiledRun, top: usize) {
        /// The name of the run.
        name: String = name,
        /// Where the profile came from.
        source: String = &profiled.source,
        /// How long the profile was taken.
        seconds: f64 = profiled.span_sec,
        /// Requests per second during that time.
        throughput_per_sec: f64 = profiled.step.throughput.value,
        /// CPU time of a request.
        us: f64 = profiled.per_request().total().value,
        /// Its 95 % interval, from the number of samples.
        us_interval: Interval = profiled.per_request().total(),
        /// The functions with the most CPU time, including what they called.
        functions: Vec<FunctionDocument> = each(profiled.stacks.functions().iter().take(top), |function| {
            FunctionDocument::new(profiled, function)
        }),
    }

    /// One function.
    pub struct FunctionDocument(profiled: &ProfiledRun, function: &FunctionCost<'_>) {
        /// Its name.
        function: String = function.name,
        /// The share of the CPU time in which it, or what it called, ran.
        cumulative: f64 = share(function.cumulative, profiled),
        /// The share in which it ran itself.
        flat: f64 = share(function.flat, profiled),
        /// CPU time of a request in it and in what it called.
        cumulative_us: f64 = profiled.per_request().micros(function.cumulative).value,
        /// Its 95 % interval, from the number of samples.
        cumulative_us_interval: Interval = profiled.per_request().micros(function.cumulative),
        /// CPU time of a request in the function itself.
        flat_us: f64 = profiled.per_request().micros(function.flat).value,
    }

    /// The difference in CPU time per request between two runs.
    pub struct CpuDifferenceDocument(a: &ProfiledRun, b: &ProfiledRun) {
        /// CPU time of a request.
        us: f64 = a.per_request().total().value,
        /// That of the other.
        against_us: f64 = b.per_request().total().value,
        /// The functions that differ by more than the error of their samples, the largest difference first.
        functions: Vec<FunctionDifferenceDocument> = certain_differences(a, b),
    }

    /// One function, per request.
    pub struct FunctionDifferenceDocument(change: &Change<'_>) {
        /// Its name.
        function: String = change.name,
        /// CPU time in it and in what it called.
        us: f64 = change.cumulative_a.value,
        /// That of the other.
        against_us: f64 = change.cumulative_b.value,
        /// One minus the other.
        difference_us: f64 = change.cumulative.value,
        /// Its 95 % interval, from the number of samples.
        difference_us_interval: Interval = change.cumulative,
        /// The difference in the function itself.
        flat_difference_us: f64 = change.flat.value,
        /// Its 95 % interval, from the number of samples.
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
