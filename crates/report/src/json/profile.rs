//! CPU time per request: of one run, and of one run against another.

use plimsoll_profile::{Change, Cost, FunctionCost, Micros, difference};

use super::document::{Interval, document, each};
use crate::ProfiledRun;

document! {
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
}

document! {
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
}

document! {
    /// The difference in CPU time per request between two runs.
    pub struct CpuDifferenceDocument(a: &ProfiledRun, b: &ProfiledRun) {
        /// CPU time of a request.
        us: f64 = a.per_request().total().value,
        /// That of the other.
        against_us: f64 = b.per_request().total().value,
        /// The functions that differ by more than the error of their samples, the largest difference first.
        functions: Vec<FunctionDifferenceDocument> = certain_differences(a, b),
    }
}

document! {
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
