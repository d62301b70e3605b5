//! Runs with switches on and off, and what they come to by combination and by switch.

use crate::Estimate;

/// One run with some switches on.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Which switches were on, in their order.
    pub settings: Vec<bool>,
    /// The round it was made in, if runs were made in rounds.
    pub round: Option<u32>,
    pub throughput_per_sec: f64,
    /// True if the load generator was the limit, so that a request takes less than this says.
    pub at_most: bool,
    /// Other figures of the same request, in the order of their names; `None` where they were not seen.
    pub per_request: Vec<Option<f64>>,
}

/// All runs of one state of the code.
#[derive(Debug, Clone, PartialEq)]
pub struct Trials {
    /// What it is called; `None` where there is but one.
    pub group: Option<String>,
    pub switches: Vec<String>,
    /// What else is known of each run: `cpu_us api`.
    pub per_request: Vec<String>,
    pub trials: Vec<Trial>,
}

/// One combination of switches over its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    pub settings: Vec<bool>,
    pub count: u32,
    /// Seconds per request: the geometric mean over its runs, without what differs from round to round.
    pub time_sec: Estimate,
    /// Other figures, the mean over its runs.
    pub per_request: Vec<Option<f64>>,
}

/// What a switch costs where certain others are on.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// The others that are on, by their places.
    pub others_on: Vec<usize>,
    /// What the switch adds there, seconds per request.
    pub cost_sec: Estimate,
}

/// What a switch costs.
#[derive(Debug, Clone, PartialEq)]
pub struct SwitchCost {
    pub switch: usize,
    pub name: String,
    /// Seconds that it adds to a request, the mean over all pairs of combinations that differ in it alone; negative where it
    /// saves time.
    pub cost_sec: Estimate,
    pub contexts: Vec<Context>,
    /// What it adds to the other figures, the same mean.
    pub per_request: Vec<Option<f64>>,
}

/// The settings with one switch set.
pub(super) fn with(settings: &[bool], switch: usize, on: bool) -> Vec<bool> {
    let mut other = settings.to_vec();
    if let Some(one) = other.get_mut(switch) {
        *one = on;
    }
    other
}
