//! Two services compared in rounds, schema `plimsoll/ab/1`.

use plimsoll_analyze::Margin;
use plimsoll_analyze::ab::{
    AbFigure, AbVerdict, ComparedFigure, Effect, EffectKind, LoadKind, MoreRounds, QuantileDifference,
    RoundRatio, SideSummary,
};

use super::document::{Interval, document, each, ms};
use crate::ab::AbReport;

document! {
    /// Two services, A and B, loaded in turn. Every ratio is that of B over A.
    #[schemars(title = "Two services compared")]
    pub struct AbDocument(report: &AbReport<'_>) {
        /// Always `plimsoll/ab/1`.
        schema: &'static str = "plimsoll/ab/1",
        /// `closed` (connections), `open` (a rate) or `search` (for the highest rate).
        load: &'static str = match report.findings.kind {
            LoadKind::Closed => "closed",
            LoadKind::Open => "open",
            LoadKind::Search => "search",
        },
        /// Connections of every load; null where they differed.
        connections: Option<u32> = report.findings.connections,
        /// The offered rate of every load, requests per second; null without one.
        rate_per_sec: Option<f64> = report.findings.rate_per_sec,
        /// How much worse B may be.
        margin: f64 = report.findings.rule.margin,
        /// The half width at which the interval of the main ratio is narrow enough.
        precision: f64 = report.findings.rule.precision,
        /// The maximum total time of the rounds.
        budget_sec: f64 = report.findings.rule.budget_sec,
        /// True if the services were started for each load.
        restarts: bool = report.restarts,
        /// True if fewer requests of B succeed than of A, by more than 0.1 % of all requests with certainty.
        fails_more: bool = report.findings.fails_more,
        /// Whether B fails more, or is worse than the margin allows: `within`, `beyond` or `not_known`.
        gate: &'static str = match report.findings.gate {
            Margin::Within => "within",
            Margin::Beyond => "beyond",
            Margin::Unknown => "not_known",
        },
        /// Rounds in which both sides were measured.
        rounds: u32 = report.findings.rounds,
        /// The time from the start of the first load to the end of the last.
        elapsed_sec: f64 = report.findings.elapsed_sec,
        /// A, then B.
        sides: Vec<AbSideDocument> = report
            .findings
            .sides
            .iter()
            .zip(report.labels)
            .map(|(side, label)| AbSideDocument::new(side, label))
            .collect::<Vec<_>>(),
        /// The figures that are known, the main one first. Their intervals are simultaneous: all of them hold in 95 % of
        /// comparisons.
        figures: Vec<AbFigureDocument> = each(&report.findings.figures, AbFigureDocument::new),
        /// The main figure of each round.
        ratios: Vec<AbRoundDocument> = each(&report.findings.ratios, AbRoundDocument::new),
        /// Whether the order of loads matters, if there were enough rounds to test it.
        effects: Vec<AbEffectDocument> = each(&report.findings.effects, AbEffectDocument::new),
        /// How the distributions of latency differ.
        quantiles: Vec<AbQuantileDocument> = each(report.quantiles, AbQuantileDocument::new),
    }

    /// One side of the comparison.
    pub struct AbSideDocument(side: &SideSummary, label: &str) {
        /// `A` or `B`.
        side: &'static str = side.side.name(),
        /// Its URL, or the command that started it.
        label: String = label,
        /// The number of loads.
        loads: u32 = side.loads,
        /// Loads that failed or were cut short.
        unusable: u32 = side.unusable,
        /// Loads that the generator limited; for a search, its ladder. If most were, `throughput_per_sec` and
        /// `latency_ms` of this side may be better than measured.
        limited: u32 = side.limited,
        /// Searches that found a rate that holds and none that does not. If most did, `max_rate_per_sec` of this side is
        /// a lower bound.
        open_ended: u32 = side.open_ended,
        /// Searches whose highest rate that held and lowest that did not are further apart than twice the tolerance of the search.
        wide: u32 = side.wide,
        /// Searches that found that no rate holds.
        without_rate: u32 = side.without_rate,
        /// Searches that ended before it was known whether any rate holds: their rounds lack the main figure.
        undecided: u32 = side.undecided,
        /// Requests that succeeded over all that ended; null if none ended.
        success: Option<f64> = side.success.map(|success| success.value),
        /// Its 95 % interval.
        success_interval: Interval = side.success,
    }

    /// One figure of both sides.
    pub struct AbFigureDocument(known: &ComparedFigure) {
        /// `throughput_per_sec`, `max_rate_per_sec` (of a search: the geometric middle of the highest rate that held and the lowest that
        /// did not, or the former where none broke), `cpu_us` (of the service, for a request) or `latency_ms`.
        figure: &'static str = match known.figure {
            AbFigure::Throughput => "throughput_per_sec",
            AbFigure::MaxRate => "max_rate_per_sec",
            AbFigure::Cpu => "cpu_us",
            AbFigure::Latency(_) => "latency_ms",
        },
        /// The percentile of latency; null for any other figure.
        percentile: Option<f64> = match known.figure {
            AbFigure::Latency(p) => Some(100.0 * p),
            AbFigure::Throughput | AbFigure::MaxRate | AbFigure::Cpu => None,
        },
        /// Its median over the rounds of A.
        a: f64 = in_unit(known.figure, known.a),
        /// Its median over the rounds of B.
        b: f64 = in_unit(known.figure, known.b),
        /// B over A.
        ratio: f64 = known.ratio.value,
        /// The interval of `ratio`.
        ratio_interval: Interval = known.ratio,
        /// `better`, `worse`, `same` (the interval is narrow and includes 1) or `not_known` (the interval is too wide, or
        /// a side may be better than measured, so that it decides nothing).
        verdict: &'static str = match known.verdict {
            AbVerdict::Better => "better",
            AbVerdict::Worse => "worse",
            AbVerdict::Same { .. } => "same",
            AbVerdict::Open { .. } | AbVerdict::Bounded => "not_known",
        },
        /// The largest possible difference of figures that are the same; null otherwise.
        same_within: Option<f64> = match known.verdict {
            AbVerdict::Same { within } => Some(within),
            AbVerdict::Better | AbVerdict::Worse | AbVerdict::Open { .. } | AbVerdict::Bounded => None,
        },
        /// About how many more rounds would make the interval narrow enough; null if that is not known or not needed.
        rounds_more: Option<u32> = match known.verdict {
            AbVerdict::Open { more: MoreRounds::About(more) } => Some(more),
            _ => None,
        },
        /// The number of rounds, or groups of rounds, in which the figure is known.
        count: u64 = known.count as u64,
        /// True if later rounds contradict earlier ones.
        moved: bool = known.moved,
    }

    /// One round.
    pub struct AbRoundDocument(round: &RoundRatio) {
        /// The number of the round, from 1.
        round: u32 = round.round,
        /// The main figure of B over that of A.
        ratio: f64 = round.ratio,
        /// The side that was loaded first.
        first: &'static str = if round.a_first { "A" } else { "B" },
    }

    /// An effect on the measurement other than that of the side.
    pub struct AbEffectDocument(effect: &Effect) {
        /// `order` (first or second of a round) or `carry_over` (which side was loaded before).
        effect: &'static str = match effect.kind {
            EffectKind::Order => "order",
            EffectKind::CarryOver => "carry_over",
        },
        /// The effect on the logarithm of the main ratio.
        size: f64 = effect.size.value,
        /// The 99 % interval of `size`.
        size_interval: Interval = effect.size,
        /// True if the interval excludes 0.
        sure: bool = effect.is_sure(),
    }

    /// A percentile of latency of both sides.
    pub struct AbQuantileDocument(one: &QuantileDifference) {
        /// The percentile, from 0 to 100.
        percentile: f64 = one.percentile,
        /// Its median over the rounds of A.
        a_ms: f64 = ms(one.a_ns),
        /// Its median over the rounds of B.
        b_ms: f64 = ms(one.b_ns),
        /// B minus A.
        difference_ms: f64 = ms(one.difference_ns.value),
        /// The 95 % interval of `difference_ms`, for this percentile alone.
        difference_ms_interval: Interval = Interval::from(one.difference_ns).map(ms),
    }
}

fn in_unit(figure: AbFigure, value: f64) -> f64 {
    match figure {
        AbFigure::Throughput | AbFigure::MaxRate => value,
        AbFigure::Cpu => value * 1e6,
        AbFigure::Latency(_) => ms(value),
    }
}
