//! From loads to what is known of B against A.

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

/// How much less of B than of A may succeed, as a share of all requests.
pub const SUCCESS_MARGIN: f64 = 0.001;

/// A side of which no rate holds counts with this part of the rate of the other.
const NO_RATE: f64 = 1e-3;

/// What a comparison is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AbRule {
    /// How much worse than A B may be, such as 0.05.
    pub margin: f64,
    /// The half width of the interval of the main ratio at which it is narrow enough, such as 0.01.
    pub precision: f64,
    /// The longest time of all rounds, in seconds.
    pub budget_sec: f64,
    /// The most rounds, if they are counted.
    pub rounds_max: Option<u32>,
}

/// One figure of both sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparedFigure {
    pub figure: AbFigure,
    /// The medians over the rounds in which both are known; 0 for a highest rate if it is known that none holds.
    pub a: f64,
    pub b: f64,
    /// B over A, with the interval that holds for all figures together.
    pub ratio: Estimate,
    pub verdict: AbVerdict,
    /// Rounds, or groups of them, that it was known in.
    pub count: usize,
    /// The ratio itself changed during the comparison.
    pub moved: bool,
}

/// One side over all rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SideSummary {
    pub side: AbSide,
    pub loads: u32,
    /// Loads that say nothing of it: lost, silent, or with too many failures.
    pub unusable: u32,
    /// Loads that the generator limited; of a search, its ladder.
    pub limited: u32,
    /// Searches that found a rate that holds and none that breaks.
    pub open_ended: u32,
    /// Searches whose ends are further apart than twice their tolerance.
    pub wide: u32,
    /// Searches that found that no rate holds.
    pub without_rate: u32,
    /// Searches after which it is not known whether any rate holds: their rounds lack the main figure.
    pub undecided: u32,
    /// Requests that succeeded over all that ended, with the 95 % interval; `None` if none ended.
    pub success: Option<Estimate>,
}

impl SideSummary {
    /// True if most of its loads show less than the service may do by this figure. What the generator did to the ladder of a search
    /// does not make the rate at which the service broke a bound.
    pub fn is_lower_bound(&self, figure: AbFigure) -> bool {
        let bounded = match figure {
            AbFigure::Throughput | AbFigure::Latency(_) => self.limited,
            AbFigure::MaxRate => self.open_ended,
            AbFigure::Cpu => 0,
        };
        2 * bounded > self.loads
    }
}

/// What is known of B against A.
#[derive(Debug, Clone, PartialEq)]
pub struct AbFindings {
    pub rule: AbRule,
    pub kind: LoadKind,
    /// Connections, and the rate of an open loop, if all loads had the same.
    pub connections: Option<u32>,
    pub rate_per_sec: Option<f64>,
    /// A and B.
    pub sides: [SideSummary; 2],
    /// Rounds in which both sides were measured.
    pub rounds: u32,
    /// From the begin of the first load to the end of the last, in seconds.
    pub elapsed_sec: f64,
    /// The figures that are known, the main one first.
    pub figures: Vec<ComparedFigure>,
    /// The main figure, round by round.
    pub ratios: Vec<RoundRatio>,
    /// Whether the order of loads matters, as far as it was tested.
    pub effects: Vec<Effect>,
    /// Less of B succeeds than of A, by more than [`SUCCESS_MARGIN`] for sure.
    pub fails_more: bool,
    /// Whether B fails more, or is worse than the margin allows.
    pub gate: Margin,
    /// The rounds ended with a look, and the main interval is narrow enough.
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

/// Whether A and B may do better by this figure than was measured.
fn bounds(sides: &[SideSummary; 2], figure: AbFigure) -> [bool; 2] {
    sides.each_ref().map(|side| side.is_lower_bound(figure))
}

/// Compares the sides of loads in the order in which they were made.
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

/// When each load had ended, in seconds since the first began: the times of the loads and those between them. A clock that was set
/// back between two loads, or ahead by more than the budget, adds nothing.
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

/// The part of the budget, of time or of rounds, that had passed at the end of each round.
fn elapsed(rounds: &[(&AbLoad, &AbLoad)], loads: &[AbLoad], ends_sec: &[f64], rule: AbRule) -> Vec<f64> {
    let part = |(a, _): &(&AbLoad, &AbLoad)| {
        let last = loads.iter().zip(ends_sec).rfind(|(load, _)| load.round == a.round);
        let of_time = last.map_or(0.0, |(_, ended)| ended / rule.budget_sec.max(1e-3));
        let of_rounds = rule.rounds_max.map_or(0.0, |most| f64::from(a.round) / f64::from(most.max(1)));
        of_time.max(of_rounds)
    };
    rounds.iter().map(part).collect()
}

/// A figure in each round in which both sides have it.
struct Series {
    figure: AbFigure,
    /// The place of the round, and the values of A and B.
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

    /// Rounds in which both sides have a value above 0; of the highest rate, at least one.
    fn usable(&self) -> impl Iterator<Item = &(usize, f64, f64)> {
        let is_rate = self.figure == AbFigure::MaxRate;
        self.values.iter().filter(move |(_, a, b)| a.max(*b) > 0.0 && (is_rate || a.min(*b) > 0.0))
    }

    /// The rounds that it took until the last difference: a percentile may need several for one.
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

/// B over A, of which at most one is 0.
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

/// Success over all loads. Failures come together: where it differs between loads by more than chance, the requests count for as
/// many fewer, as in quasi-likelihood.
fn success(loads: &[&AbLoad]) -> Option<Estimate> {
    let sum = |of: fn(&AbLoad) -> u64| loads.iter().map(|load| of(load)).sum::<u64>();
    let (succeeded, ended) = (sum(|load| load.succeeded), sum(|load| load.ended));
    let ratio = succeeded as f64 / ended as f64;
    let dispersion = dispersion(loads.iter().map(|load| (load.succeeded, load.ended)));
    let scaled = |count: u64| (count as f64 / dispersion).round() as u64;
    let interval = wilson(scaled(succeeded), scaled(ended))?;
    Some(Estimate { value: ratio, interval: Some((interval.0.min(ratio), interval.1.max(ratio))) })
}

/// B is worse if it fails more, or one of its figures is worse by more than the margin for sure. It is not if the main figure is not
/// for sure: others, such as a high percentile, may stay open.
fn gate(findings: &AbFindings) -> Margin {
    let is_beyond = |known: &ComparedFigure| findings.gate_of(known) == Margin::Beyond;
    if findings.fails_more || findings.figures.iter().any(is_beyond) {
        return Margin::Beyond;
    }
    findings.main().map_or(Margin::Unknown, |main| findings.gate_of(main))
}

/// Whether less of B succeeds, by more than [`SUCCESS_MARGIN`] for sure. Of a search this says nothing: each tries rates at which
/// requests fail.
fn fails_more(kind: LoadKind, [a, b]: &[SideSummary; 2]) -> bool {
    let Some((a, b)) = a.success.zip(b.success) else { return false };
    kind != LoadKind::Search && difference_upper(b, a) < -SUCCESS_MARGIN
}

#[cfg(test)]
mod tests;
