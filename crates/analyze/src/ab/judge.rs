//! Computes the comparison of B with A from the loads.

use std::iter;

use plimsoll_record::CorruptHistogram;
use plimsoll_stats::rounds::{Centre, Difference, Rounds};
use plimsoll_stats::{difference_upper, dispersion, median, wilson};
use serde::{Deserialize, Serialize};

use super::carry_over::{Effect, RoundRatio, effects};
use super::figure::AbFigure;
use super::load::{AbLoad, AbSide, LoadKind, SearchGap, rounds};
use super::quantiles::pairs;
use super::verdict::{AbVerdict, margin};
use crate::{Estimate, Margin};

/// How much lower B's success ratio may be than A's.
pub const SUCCESS_MARGIN: f64 = 0.001;

/// A side without a holding rate is counted with this fraction of the other side's rate.
const NO_RATE: f64 = 1e-3;

/// The limits of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AbRule {
    /// How much worse than A B may be, a ratio such as 0.05.
    pub margin: f64,
    /// The half width of the main ratio's interval that is narrow enough, such as 0.01.
    pub precision: f64,
    /// The longest time of all rounds, in seconds.
    pub budget_sec: f64,
    /// The most rounds; `None` if only time is limited.
    pub rounds_max: Option<u32>,
}

/// One figure, compared between both sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparedFigure {
    pub figure: AbFigure,
    /// Median of A over the rounds in which both sides are known; a highest rate is 0 if no rate can hold.
    pub a: f64,
    pub b: f64,
    /// B over A, with an interval that is simultaneous over all figures.
    pub ratio: Estimate,
    pub verdict: AbVerdict,
    /// The rounds, or groups of merged rounds, in which it is known.
    pub count: usize,
    /// True if the ratio itself changed during the comparison.
    pub moved: bool,
}

/// One side over all rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SideSummary {
    pub side: AbSide,
    pub loads: u32,
    /// Loads that are not used: lost, silent, or with too many failures.
    pub unusable: u32,
    /// Loads that the generator limited; for a search, its ladder.
    pub limited: u32,
    /// Searches in which a rate held and none broke.
    pub open_ended: u32,
    /// Searches whose ends are further apart than twice their tolerance.
    pub wide: u32,
    /// Searches in which no rate can hold.
    pub without_rate: u32,
    /// Searches that do not show whether any rate holds: their rounds lack the main figure.
    pub undecided: u32,
    /// Success ratio of all requests that ended, with the 95 % interval; `None` if none ended.
    pub success: Option<Estimate>,
}

impl SideSummary {
    /// True if in most loads this figure is a lower bound. For the highest rate only open-ended searches count: a generator that limits
    /// the ladder does not affect the rate at which the service broke.
    pub fn is_lower_bound(&self, figure: AbFigure) -> bool {
        let bounded = match figure {
            AbFigure::Throughput | AbFigure::Latency(_) => self.limited,
            AbFigure::MaxRate => self.open_ended,
            AbFigure::Cpu => 0,
        };
        2 * bounded > self.loads
    }
}

/// The result of comparing B with A.
#[derive(Debug, Clone, PartialEq)]
pub struct AbFindings {
    pub rule: AbRule,
    pub kind: LoadKind,
    /// The connections, if all loads had the same number.
    pub connections: Option<u32>,
    pub rate_per_sec: Option<f64>,
    /// A and B.
    pub sides: [SideSummary; 2],
    /// Rounds in which both sides were measured.
    pub rounds: u32,
    /// Time from the begin of the first load to the end of the last, in seconds.
    pub elapsed_sec: f64,
    /// The figures that are known, the main one first.
    pub figures: Vec<ComparedFigure>,
    /// The main figure in each round.
    pub ratios: Vec<RoundRatio>,
    /// The effects of the order of loads that could be tested.
    pub effects: Vec<Effect>,
    /// True if B's success ratio is lower than A's by more than [`SUCCESS_MARGIN`], with the whole interval.
    pub fails_more: bool,
    /// `Beyond` if B fails more, or is worse than the margin allows.
    pub gate: Margin,
    /// True if the rounds ended with a planned interim analysis, and the main interval is narrow enough.
    pub enough: bool,
}

impl AbFindings {
    /// The main figure, if it is known.
    pub fn main(&self) -> Option<&ComparedFigure> {
        self.figures.first().filter(|known| Some(known.figure) == AbFigure::of(self.kind).first().copied())
    }

    /// Whether B is worse than the margin allows by this figure alone.
    pub fn gate_of(&self, known: &ComparedFigure) -> Margin {
        margin(known.ratio, known.figure.better(), self.rule.margin, bounds(&self.sides, known.figure))
    }
}

/// Whether this figure is a lower bound for A and for B.
fn bounds(sides: &[SideSummary; 2], figure: AbFigure) -> [bool; 2] {
    sides.each_ref().map(|side| side.is_lower_bound(figure))
}

/// Compares the two sides. `loads` are in the order in which they were made.
///
/// # Errors
/// When a histogram cannot be read.
pub fn compare_sides(loads: &[AbLoad], rule: AbRule) -> Result<AbFindings, CorruptHistogram> {
    let kind = loads.first().map_or(LoadKind::Closed, |load| load.kind);
    let rounds = rounds(loads);
    let ends_sec = ends_sec(loads, rule);
    let elapsed = elapsed(&rounds, loads, &ends_sec, rule);
    let figures = AbFigure::of(kind);
    let series = figures.iter().map(|figure| Series::new(*figure, &rounds)).collect::<Result<Vec<_>, _>>()?;
    let differences: Vec<Vec<Difference>> = series.iter().map(Series::differences).collect();
    let judged = Rounds { figures: &differences, elapsed: &elapsed, precision: rule.precision };
    let outcome = judged.outcome();
    let sides = AbSide::BOTH.map(|side| side_summary(side, loads));
    let known = |(series, centre): (&Series, Option<Centre>)| {
        series.known(centre, bounds(&sides, series.figure), rule)
    };
    let figures: Vec<ComparedFigure> = series.iter().zip(outcome.centres).filter_map(known).collect();
    let fails_more = fails_more(kind, &sides);
    let ratios = series.first().map_or_else(Vec::new, |main| main.ratios(&rounds, loads));
    let mut findings = AbFindings {
        rule,
        kind,
        connections: shared(loads, |load| load.connections),
        rate_per_sec: shared(loads, |load| load.rate_per_sec).flatten(),
        sides,
        rounds: rounds.len() as u32,
        elapsed_sec: ends_sec.last().copied().unwrap_or(0.0),
        figures,
        effects: effects(&ratios),
        ratios,
        fails_more,
        gate: Margin::Unknown,
        enough: outcome.enough && judged.is_look(),
    };
    findings.gate = gate(&findings);
    Ok(findings)
}

fn shared<T: PartialEq>(loads: &[AbLoad], value: impl Fn(&AbLoad) -> T) -> Option<T> {
    let first = value(loads.first()?);
    loads.iter().all(|load| value(load) == first).then_some(first)
}

/// The end of each load, in seconds since the first began: the sum of the loads and of the pauses between them. A pause counts 0 if the
/// clock was set back in it, or ahead by more than the budget.
fn ends_sec(loads: &[AbLoad], rule: AbRule) -> Vec<f64> {
    let budget_ms = (1e3 * rule.budget_sec) as u64;
    let between = |pair: &[AbLoad]| {
        let gap = pair[1].began_unix_ms.saturating_sub(pair[0].ended_unix_ms);
        if gap > budget_ms { 0 } else { gap }
    };
    let ended = |passed: &mut u64, (gap, load): (u64, &AbLoad)| {
        *passed += gap + load.ended_unix_ms.saturating_sub(load.began_unix_ms);
        Some(*passed as f64 / 1e3)
    };
    iter::once(0).chain(loads.windows(2).map(between)).zip(loads).scan(0, ended).collect()
}

/// The fraction of the budget, of time or of rounds, that had passed at the end of each round.
fn elapsed(rounds: &[(&AbLoad, &AbLoad)], loads: &[AbLoad], ends_sec: &[f64], rule: AbRule) -> Vec<f64> {
    let part = |(a, _): &(&AbLoad, &AbLoad)| {
        let last = loads.iter().zip(ends_sec).rfind(|(load, _)| load.round == a.round);
        let of_time = last.map_or(0.0, |(_, ended)| ended / rule.budget_sec.max(1e-3));
        let of_rounds = rule.rounds_max.map_or(0.0, |most| f64::from(a.round) / f64::from(most.max(1)));
        of_time.max(of_rounds)
    };
    rounds.iter().map(part).collect()
}

/// The values of a figure in each round in which both sides have it.
struct Series {
    figure: AbFigure,
    /// The index of the round, and the values of A and B.
    values: Vec<(usize, f64, f64)>,
}

impl Series {
    fn new(figure: AbFigure, rounds: &[(&AbLoad, &AbLoad)]) -> Result<Self, CorruptHistogram> {
        let values = match figure {
            AbFigure::Latency(p) => {
                pairs(rounds, p)?.into_iter().map(|pair| (pair.round, pair.a_ns, pair.b_ns)).collect()
            }
            _ => {
                let both = |(round, (a, b)): (usize, &(&AbLoad, &AbLoad))| {
                    Some((round, figure.value(a)?, figure.value(b)?))
                };
                rounds.iter().enumerate().filter_map(both).collect()
            }
        };
        Ok(Self { figure, values })
    }

    /// Rounds in which both sides have a value above 0; for the highest rate, at least one side.
    fn usable(&self) -> impl Iterator<Item = &(usize, f64, f64)> {
        let is_rate = self.figure == AbFigure::MaxRate;
        self.values.iter().filter(move |(_, a, b)| a.max(*b) > 0.0 && (is_rate || a.min(*b) > 0.0))
    }

    /// The number of rounds up to the last difference: a percentile may need several rounds for one.
    fn taken(&self) -> usize {
        self.usable().last().map_or(0, |(round, ..)| round + 1)
    }

    fn differences(&self) -> Vec<Difference> {
        self.usable().map(|(round, a, b)| Difference { round: *round, value: ratio(*a, *b).ln() }).collect()
    }

    fn known(&self, centre: Option<Centre>, bounds: [bool; 2], rule: AbRule) -> Option<ComparedFigure> {
        let a = median(self.usable().map(|(_, a, _)| *a).collect())?;
        let b = median(self.usable().map(|(.., b)| *b).collect())?;
        let few = || Estimate::exact(ratio(a, b));
        let ratio = centre.map_or_else(few, |centre| Estimate {
            value: centre.value.exp(),
            interval: centre.interval.map(|(low, high)| (low.exp(), high.exp())),
        });
        let count = self.usable().count();
        let differs = centre.is_some_and(|centre| centre.differs);
        let better = self.figure.better();
        let verdict = AbVerdict::new(ratio, differs, better, bounds, rule.precision, self.taken());
        let moved = centre.is_some_and(|centre| centre.moved);
        Some(ComparedFigure { figure: self.figure, a, b, ratio, verdict, count, moved })
    }

    fn ratios(&self, rounds: &[(&AbLoad, &AbLoad)], loads: &[AbLoad]) -> Vec<RoundRatio> {
        let of_round = |(round, a, b): &(usize, f64, f64)| {
            let round = rounds[*round].0.round;
            let first = loads.iter().position(|load| load.round == round)?;
            let side = loads[first].side;
            Some(RoundRatio {
                round,
                ratio: ratio(*a, *b),
                a_first: side == AbSide::A,
                switched: first.checked_sub(1).map(|before| loads[before].side != side),
            })
        };
        self.usable().filter_map(of_round).collect()
    }
}

/// B over A. At most one of them is 0.
fn ratio(a: f64, b: f64) -> f64 {
    if b <= 0.0 {
        NO_RATE
    } else if a <= 0.0 {
        1.0 / NO_RATE
    } else {
        b / a
    }
}

fn side_summary(side: AbSide, loads: &[AbLoad]) -> SideSummary {
    let own: Vec<&AbLoad> = loads.iter().filter(|load| load.side == side).collect();
    let count = |is: fn(&AbLoad) -> bool| own.iter().filter(|load| is(load)).count() as u32;
    SideSummary {
        side,
        loads: own.len() as u32,
        unusable: count(|load| load.unusable.is_some()),
        limited: count(|load| load.lower_bound),
        open_ended: count(|load| load.gap == Some(SearchGap::Open)),
        wide: count(|load| load.gap == Some(SearchGap::Wide)),
        without_rate: count(|load| load.unusable.is_none() && load.max_rate_per_sec == Some(0.0)),
        undecided: count(|load| {
            load.kind == LoadKind::Search && load.unusable.is_none() && load.max_rate_per_sec.is_none()
        }),
        success: success(&own),
    }
}

/// The success ratio over all loads. Failures cluster: where the ratio varies between loads by more than chance, the number of requests
/// is divided by the dispersion, as in quasi-likelihood.
fn success(loads: &[&AbLoad]) -> Option<Estimate> {
    let sum = |of: fn(&AbLoad) -> u64| loads.iter().map(|load| of(load)).sum::<u64>();
    let (succeeded, ended) = (sum(|load| load.succeeded), sum(|load| load.ended));
    let ratio = succeeded as f64 / ended as f64;
    let dispersion = dispersion(loads.iter().map(|load| (load.succeeded, load.ended)));
    let scaled = |count: u64| (count as f64 / dispersion).round() as u64;
    let interval = wilson(scaled(succeeded), scaled(ended))?;
    Some(Estimate { value: ratio, interval: Some((interval.0.min(ratio), interval.1.max(ratio))) })
}

/// B is worse if it fails more, or if any figure is worse by more than the margin with its whole interval. Otherwise the main figure
/// decides: others, such as a high percentile, may stay undecided.
fn gate(findings: &AbFindings) -> Margin {
    let is_beyond = |known: &ComparedFigure| findings.gate_of(known) == Margin::Beyond;
    if findings.fails_more || findings.figures.iter().any(is_beyond) {
        return Margin::Beyond;
    }
    findings.main().map_or(Margin::Unknown, |main| findings.gate_of(main))
}

/// True if B's success ratio is lower by more than [`SUCCESS_MARGIN`] with the whole interval. Never for a search, which also tries
/// rates at which requests fail.
fn fails_more(kind: LoadKind, [a, b]: &[SideSummary; 2]) -> bool {
    let Some((a, b)) = a.success.zip(b.success) else { return false };
    kind != LoadKind::Search && difference_upper(b, a) < -SUCCESS_MARGIN
}

#[cfg(test)]
mod tests;
