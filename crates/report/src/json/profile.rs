//! Where the CPU time of a request goes.

use plimsoll_profile::{Cost, FunctionCost, PerRequest};
use schemars::JsonSchema;
use serde::Serialize;

use super::comparison::left_open;
use super::finite;
use crate::ProfiledRun;

/// The CPU profile of a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProfileDocument {
    /// What the run is called.
    pub name: String,
    /// Where the profile came from.
    pub source: String,
    /// How long was looked.
    pub seconds: Option<f64>,
    /// Requests per second meanwhile.
    pub throughput_per_sec: Option<f64>,
    /// CPU time of a request.
    pub us: Option<f64>,
    /// What the number of samples leaves open of that, 95 %.
    pub us_interval: Option<[f64; 2]>,
    /// The functions with the most CPU time, what they called included.
    pub functions: Vec<FunctionDocument>,
}

/// One function.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FunctionDocument {
    /// Its name.
    pub function: String,
    /// The share of the CPU time in which it, or what it called, ran.
    pub cumulative: Option<f64>,
    /// The share in which it ran itself.
    pub flat: Option<f64>,
    /// CPU time of a request in it and in what it called.
    pub cumulative_us: Option<f64>,
    /// What the number of samples leaves open of that, 95 %.
    pub cumulative_us_interval: Option<[f64; 2]>,
    /// CPU time of a request in itself.
    pub flat_us: Option<f64>,
}

impl ProfileDocument {
    /// The profile of a run that is called so, with so many functions at most.
    pub fn of(name: &str, profiled: &ProfiledRun, top: usize) -> Self {
        let (per_request, total) = (profiled.per_request(), profiled.stacks.total());
        let functions = profiled.stacks.functions();
        Self {
            name: name.to_owned(),
            source: profiled.source.clone(),
            seconds: finite(profiled.span_sec),
            throughput_per_sec: finite(profiled.step.throughput.value),
            us: finite(per_request.total().value),
            us_interval: left_open(per_request.total()),
            functions: functions
                .iter()
                .take(top)
                .map(|function| FunctionDocument::of(function, total, &per_request))
                .collect(),
        }
    }
}

impl FunctionDocument {
    fn of(function: &FunctionCost<'_>, total: Cost, per_request: &PerRequest<'_>) -> Self {
        let share = |cost: Cost| finite(cost.cpu_ns as f64 / total.cpu_ns as f64);
        let cumulative = per_request.micros(function.cumulative);
        Self {
            function: function.name.to_owned(),
            cumulative: share(function.cumulative),
            flat: share(function.flat),
            cumulative_us: finite(cumulative.value),
            cumulative_us_interval: left_open(cumulative),
            flat_us: finite(per_request.micros(function.flat).value),
        }
    }
}
