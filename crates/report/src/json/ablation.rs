//! The ledger of switches, schema `plimsoll/ablation/1`. Times are in µs a request.

use plimsoll_analyze::{Estimate, Ledger, Replay};
use schemars::JsonSchema;
use serde::Serialize;

use super::{bounds, finite};

const SCHEMA: &str = "plimsoll/ablation/1";

/// Ledgers as one document.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "What switches cost")]
pub struct AblationDocument {
    /// Always `plimsoll/ablation/1`.
    pub schema: &'static str,
    /// Connections of all runs; null where that is not known.
    pub connections: Option<f64>,
    /// A ledger for each state of the service.
    pub ledgers: Vec<LedgerDocument>,
    /// Combinations that were measured in two states, one after another.
    pub steps: Vec<ReplayDocument>,
}

/// The ledger of one state.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LedgerDocument {
    /// What the state is called; null where there is but one.
    pub state: Option<String>,
    /// `full`, `one_at_a_time` or `given`.
    pub design: &'static str,
    /// The switches, the dearest first.
    pub costs: Vec<CostDocument>,
    /// Switches whose cost nothing tells.
    pub untold: Vec<String>,
    /// Interactions whose interval excludes zero.
    pub interactions: Vec<InteractionDocument>,
    /// The order in which to mend, with what comes of it.
    pub order: Vec<FixDocument>,
    /// The combinations.
    pub cells: Vec<CellDocument>,
    /// Runs in which the load generator was the limit, so that their combinations take less than is told.
    pub runs_at_most: u32,
    /// By what part of its time one run differs from the next, one standard deviation; null without repeats.
    pub noise: Option<f64>,
}

/// What a switch costs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CostDocument {
    /// The switch.
    pub switch: String,
    /// What it adds to a request: the mean over all settings of the others that were measured.
    pub cost_us: Option<f64>,
    /// The 95 % interval of that; null without repeats.
    pub cost_us_interval: Option<[f64; 2]>,
    /// What it adds in each setting of the others.
    pub contexts: Vec<ContextDocument>,
    /// What it adds to other figures of a request.
    pub beside: Vec<FigureOfSwitch>,
}

/// What a switch costs in one setting of the others.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ContextDocument {
    /// The others that are on.
    pub beside: Vec<String>,
    /// What it adds there.
    pub cost_us: Option<f64>,
    /// The 95 % interval of that.
    pub cost_us_interval: Option<[f64; 2]>,
}

/// Another figure.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FigureOfSwitch {
    /// Its name.
    pub name: String,
    /// What the switch adds to it, for each request; null where it was not seen.
    pub value: Option<f64>,
}

/// Two switches that together cost something else than one by one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct InteractionDocument {
    /// One.
    pub switch: String,
    /// The other; null for all others together.
    pub with: Option<String>,
    /// What comes on top of the sum.
    pub extra_us: Option<f64>,
    /// The 95 % interval of that.
    pub extra_us_interval: Option<[f64; 2]>,
}

/// One switch off.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FixDocument {
    /// The switch.
    pub switch: String,
    /// What a request takes then.
    pub time_us: Option<f64>,
    /// Requests per second then.
    pub throughput_per_sec: Option<f64>,
    /// False where that combination was not measured but foretold.
    pub measured: bool,
    /// The switches that these runs do not tell from it, in its place.
    pub ties: Vec<String>,
}

/// One combination.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CellDocument {
    /// The switches that are on.
    pub on: Vec<String>,
    /// How many runs.
    pub runs: u32,
    /// What a request takes.
    pub time_us: Option<f64>,
    /// The 95 % interval of that; null without repeats.
    pub time_us_interval: Option<[f64; 2]>,
    /// Requests per second.
    pub throughput_per_sec: Option<f64>,
    /// Other figures of a request.
    pub beside: Vec<FigureOfSwitch>,
}

/// A combination in two states.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplayDocument {
    /// The earlier state.
    pub from: Option<String>,
    /// The later state.
    pub to: Option<String>,
    /// The switches that are on.
    pub on: Vec<String>,
    /// What a request took before.
    pub before_us: Option<f64>,
    /// What it takes after.
    pub after_us: Option<f64>,
}

fn us(sec: f64) -> Option<f64> {
    finite(sec * 1e6)
}

fn us_bounds(estimate: Estimate) -> Option<[f64; 2]> {
    bounds(estimate.interval.map(|(low, high)| (low * 1e6, high * 1e6)))
}

fn figures(names: &[String], values: &[Option<f64>]) -> Vec<FigureOfSwitch> {
    let pairs = names.iter().zip(values);
    pairs.map(|(name, value)| FigureOfSwitch { name: name.clone(), value: value.and_then(finite) }).collect()
}

impl AblationDocument {
    /// Ledgers, and what came of the steps between them. `switches` are in the order of the settings.
    pub fn of(switches: &[String], ledgers: &[Ledger], replays: &[Replay], connections: Option<f64>) -> Self {
        Self {
            schema: SCHEMA,
            connections: connections.and_then(finite),
            ledgers: ledgers.iter().map(|ledger| LedgerDocument::of(ledger, switches)).collect(),
            steps: replays.iter().map(ReplayDocument::of).collect(),
        }
    }
}

impl ReplayDocument {
    fn of(replay: &Replay) -> Self {
        Self {
            from: replay.from.clone(),
            to: replay.to.clone(),
            on: replay.on.clone(),
            before_us: us(replay.time_sec.0),
            after_us: us(replay.time_sec.1),
        }
    }
}

impl LedgerDocument {
    fn of(ledger: &Ledger, switches: &[String]) -> Self {
        let named =
            |places: &[usize]| places.iter().filter_map(|place| switches.get(*place).cloned()).collect();
        let costs = ledger.costs.iter().map(|cost| CostDocument {
            switch: cost.name.clone(),
            cost_us: us(cost.cost_sec.value),
            cost_us_interval: us_bounds(cost.cost_sec),
            contexts: cost
                .contexts
                .iter()
                .map(|context| ContextDocument {
                    beside: named(&context.others_on),
                    cost_us: us(context.cost_sec.value),
                    cost_us_interval: us_bounds(context.cost_sec),
                })
                .collect(),
            beside: figures(&ledger.beside, &cost.beside),
        });
        Self {
            state: ledger.group.clone(),
            design: ledger.design.name(),
            costs: costs.collect(),
            untold: ledger.untold.clone(),
            interactions: ledger.interactions.iter().map(interaction).collect(),
            order: ledger.order.iter().map(fix).collect(),
            cells: ledger.cells.iter().map(|cell| CellDocument::of(cell, ledger, switches)).collect(),
            runs_at_most: ledger.at_most,
            noise: ledger.noise.and_then(|(cv, _)| finite(cv)),
        }
    }
}

fn interaction(one: &plimsoll_analyze::Interaction) -> InteractionDocument {
    InteractionDocument {
        switch: one.switch.clone(),
        with: one.with.clone(),
        extra_us: us(one.extra_sec.value),
        extra_us_interval: us_bounds(one.extra_sec),
    }
}

fn fix(step: &plimsoll_analyze::FixStep) -> FixDocument {
    FixDocument {
        switch: step.name.clone(),
        time_us: us(step.time_sec),
        throughput_per_sec: finite(1.0 / step.time_sec),
        measured: step.measured,
        ties: step.ties.clone(),
    }
}

impl CellDocument {
    fn of(cell: &plimsoll_analyze::Cell, ledger: &Ledger, switches: &[String]) -> Self {
        let on = switches.iter().zip(&cell.settings).filter(|(_, on)| **on);
        Self {
            on: on.map(|(name, _)| name.clone()).collect(),
            runs: cell.count,
            time_us: us(cell.time_sec.value),
            time_us_interval: us_bounds(cell.time_sec),
            throughput_per_sec: finite(1.0 / cell.time_sec.value),
            beside: figures(&ledger.beside, &cell.beside),
        }
    }
}

/// Ledgers, and what came of the steps between them, as text. `switches` are in the order of the settings.
///
/// # Errors
/// When it cannot be written as JSON, which no ledger should meet.
pub fn ablation(
    switches: &[String],
    ledgers: &[Ledger],
    replays: &[Replay],
    connections: Option<f64>,
) -> Result<String, serde_json::Error> {
    let document = AblationDocument::of(switches, ledgers, replays, connections);
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// The JSON schema of the document, as published.
pub fn ablation_schema() -> serde_json::Value {
    schemars::schema_for!(AblationDocument).to_value()
}
