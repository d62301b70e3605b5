//! The ledger of switches, schema `plimsoll/ablation/1`. Times are in µs per request.

use plimsoll_analyze::{Cell, Context, FixStep, Interaction, Ledger, Replay, SwitchCost};

use super::document::{Interval, document, each, us};
use crate::words;

document! {
    /// Ledgers, and what the steps between them changed. `switches` are in the order of the settings.
    #[schemars(title = "What switches cost")]
    pub struct AblationDocument(
        switches: &[String],
        ledgers: &[Ledger],
        replays: &[Replay],
        connections: Option<f64>,
    ) {
        /// Always `plimsoll/ablation/1`.
        schema: &'static str = "plimsoll/ablation/1",
        /// Connections of all runs; null where that is not known.
        connections: Option<f64> = connections,
        /// A ledger for each state of the service.
        ledgers: Vec<LedgerDocument> = each(ledgers, |ledger| LedgerDocument::new(ledger, switches)),
        /// Combinations that were measured in two consecutive states.
        steps: Vec<ReplayDocument> = each(replays, ReplayDocument::new),
    }

    /// The ledger of one state.
    pub struct LedgerDocument(ledger: &Ledger, switches: &[String]) {
        /// The name of the state; null where there is only one.
        state: Option<String> = ledger.group.clone(),
        /// `full`, `one_at_a_time` or `given`.
        design: &'static str = ledger.design.name(),
        /// The switches, the most expensive first.
        costs: Vec<CostDocument> = each(&ledger.costs, |cost| CostDocument::new(ledger, cost, switches)),
        /// Switches whose cost cannot be found: no two combinations differ in one of them alone.
        unknown: Vec<String> = ledger.untold.clone(),
        /// Interactions whose interval excludes zero.
        interactions: Vec<InteractionDocument> = each(&ledger.interactions, InteractionDocument::new),
        /// The order in which to fix them, with the result of each step.
        order: Vec<FixDocument> = each(&ledger.order, FixDocument::new),
        /// The combinations.
        cells: Vec<CellDocument> = each(&ledger.cells, |cell| CellDocument::new(ledger, cell, switches)),
        /// Runs in which the load generator was the limit: their combinations take less time than stated.
        runs_at_most: u32 = ledger.at_most,
        /// The variation from one run to the next: one standard deviation as a ratio of the time. Null without repeats.
        noise: Option<f64> = ledger.noise.map(|(ratio, _)| ratio),
        /// Why `noise` is not known, and what follows from that, in words; null where it is known.
        no_noise: Option<String> = ledger.no_noise.map(words::no_noise),
    }

    /// What a switch costs.
    pub struct CostDocument(ledger: &Ledger, cost: &SwitchCost, switches: &[String]) {
        /// The switch.
        switch: String = &cost.name,
        /// The time it adds to a request: the mean over all measured settings of the others.
        cost_us: f64 = us(cost.cost_sec.value),
        /// The 95 % interval of `cost_us`; null without repeats.
        cost_us_interval: Interval = Interval::from(cost.cost_sec).map(us),
        /// The time it adds in each setting of the other switches.
        contexts: Vec<ContextDocument> =
            each(&cost.contexts, |context| ContextDocument::new(context, switches)),
        /// What it adds to other figures of a request.
        figures: Vec<SwitchFigureDocument> = figures(&ledger.per_request, &cost.per_request),
    }

    /// What a switch costs in one setting of the other switches.
    pub struct ContextDocument(context: &Context, switches: &[String]) {
        /// The other switches that are on.
        others_on: Vec<String> = named(&context.others_on, switches),
        /// The time it adds in that setting.
        cost_us: f64 = us(context.cost_sec.value),
        /// The 95 % interval of `cost_us`.
        cost_us_interval: Interval = Interval::from(context.cost_sec).map(us),
    }

    /// Another figure of a request, such as its CPU time on one host.
    pub struct SwitchFigureDocument(name: &str, value: Option<f64>) {
        /// Its name.
        name: String = name,
        /// Its value, or what the switch adds to it; null where it was not measured.
        value: Option<f64> = value,
    }

    /// Two switches whose cost together differs from the sum of their costs.
    pub struct InteractionDocument(interaction: &Interaction) {
        /// The first switch.
        switch: String = &interaction.switch,
        /// The second switch; null for all others together.
        with: Option<String> = interaction.with.clone(),
        /// The difference from the sum of their costs.
        extra_us: f64 = us(interaction.extra_sec.value),
        /// The 95 % interval of `extra_us`.
        extra_us_interval: Interval = Interval::from(interaction.extra_sec).map(us),
    }

    /// One switch turned off.
    pub struct FixDocument(fix: &FixStep) {
        /// The switch.
        switch: String = &fix.name,
        /// The time of a request after that.
        time_us: f64 = us(fix.time_sec),
        /// Requests per second after that.
        throughput_per_sec: f64 = 1.0 / fix.time_sec,
        /// False where that combination was predicted, not measured.
        measured: bool = fix.measured,
        /// The switches that could be fixed instead: these runs do not distinguish them.
        ties: Vec<String> = fix.ties.clone(),
    }

    /// One combination of switches.
    pub struct CellDocument(ledger: &Ledger, cell: &Cell, switches: &[String]) {
        /// The switches that are on.
        on: Vec<String> = switches_on(cell, switches),
        /// The number of runs.
        runs: u32 = cell.count,
        /// The time of a request.
        time_us: f64 = us(cell.time_sec.value),
        /// The 95 % interval of `time_us`; null without repeats.
        time_us_interval: Interval = Interval::from(cell.time_sec).map(us),
        /// Requests per second.
        throughput_per_sec: f64 = 1.0 / cell.time_sec.value,
        /// Other figures of a request.
        figures: Vec<SwitchFigureDocument> = figures(&ledger.per_request, &cell.per_request),
    }

    /// A combination of switches in two states.
    pub struct ReplayDocument(replay: &Replay) {
        /// The earlier state.
        from: Option<String> = replay.from.clone(),
        /// The later state.
        to: Option<String> = replay.to.clone(),
        /// The switches that are on.
        on: Vec<String> = replay.on.clone(),
        /// The time of a request before.
        before_us: f64 = us(replay.time_sec.0),
        /// The time of a request after.
        after_us: f64 = us(replay.time_sec.1),
    }
}

fn figures(names: &[String], values: &[Option<f64>]) -> Vec<SwitchFigureDocument> {
    names.iter().zip(values).map(|(name, value)| SwitchFigureDocument::new(name, *value)).collect()
}

fn named(places: &[usize], switches: &[String]) -> Vec<String> {
    places.iter().filter_map(|place| switches.get(*place).cloned()).collect()
}

fn switches_on(cell: &Cell, switches: &[String]) -> Vec<String> {
    switches.iter().zip(&cell.settings).filter(|(_, on)| **on).map(|(name, _)| name.clone()).collect()
}
