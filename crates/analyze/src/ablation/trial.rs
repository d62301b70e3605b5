//! Runs with switches on and off, and their figures by combination and by switch.

use crate::Estimate;

/// One run with some switches on.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// For each switch, whether it was on.
    pub settings: Vec<bool>,
    /// The round of the run, if runs were made in rounds.
    pub round: Option<u32>,
    pub throughput_per_sec: f64,
    /// True if the load generator was the limit, so that a request takes less time than stated.
    pub at_most: bool,
    /// Other figures per request, in the order of their names; `None` where unknown.
    pub per_request: Vec<Option<f64>>,
}

/// All runs of one state of the code.
#[derive(Debug, Clone, PartialEq)]
pub struct Trials {
    /// The name of the state; `None` where there is only one.
    pub group: Option<String>,
    pub switches: Vec<String>,
    /// The names of the other figures, such as `cpu_us api`.
    pub per_request: Vec<String>,
    pub trials: Vec<Trial>,
}

/// One combination of switches over its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    pub settings: Vec<bool>,
    pub count: u32,
    /// Seconds per request: the geometric mean over its runs, without differences between rounds.
    pub time_sec: Estimate,
    /// Other figures, averaged over its runs.
    pub per_request: Vec<Option<f64>>,
}

/// The cost of a switch at one setting of the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// The indices of the other switches that are on.
    pub others_on: Vec<usize>,
    /// Seconds per request that the switch adds at that setting.
    pub cost_sec: Estimate,
}

/// The cost of a switch.
#[derive(Debug, Clone, PartialEq)]
pub struct SwitchCost {
    pub switch: usize,
    pub name: String,
    /// Seconds per request that it adds, averaged over all pairs of combinations that differ in it alone; negative where it saves time.
    pub cost_sec: Estimate,
    pub contexts: Vec<Context>,
    /// What it adds to the other figures, averaged in the same way.
    pub per_request: Vec<Option<f64>>,
}

/// Returns the settings with one switch set to `on`.
pub(super) fn with(settings: &[bool], switch: usize, on: bool) -> Vec<bool> {
    let mut other = settings.to_vec();
    if let Some(one) = other.get_mut(switch) {
        *one = on;
    }
    other
}
