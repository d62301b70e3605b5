//! Two ladders side by side.

use plimsoll_stats::{difference_upper, ratio};

use super::highest_rates::HighestRates;
use crate::{Estimate, Findings, StepSummary, is_unfinished};

/// A step with a success ratio below this is the best only if there is no other: failed answers are fast.
const MIN_SUCCESS: f64 = 0.95;

/// One step of a run, or one row of a plain table; figures that a table lacks are `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepOutcome {
    pub connections: u32,
    /// Completed requests per second.
    pub throughput: Estimate,
    /// True for a row of a plain table, whose throughput is exact. In a run, a throughput without an interval may vary by any amount.
    pub exact: bool,
    /// True if the generator was the limit, so that the target would have served more.
    pub lower_bound: bool,
    /// True if the ladder of this step ended before its plateau was known.
    pub unfinished: bool,
    /// Mean latency in nanoseconds.
    pub mean_latency_ns: f64,
    /// 99th percentile of latency in nanoseconds.
    pub p99_ns: Option<f64>,
    /// Successful responses over everything that ended.
    pub success_ratio: f64,
    /// 95 % interval of the success ratio, if it is known.
    pub success_interval: Option<(f64, f64)>,
}

/// Both runs at one concurrency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparisonRow {
    pub connections: u32,
    /// `None` if the candidate has no step at this concurrency.
    pub candidate: Option<StepOutcome>,
    pub reference: Option<StepOutcome>,
    /// Throughput of the candidate over that of the reference.
    pub throughput_ratio: Option<Estimate>,
    /// Mean latency of the candidate over that of the reference.
    pub latency_ratio: Option<f64>,
}

/// The best step of each run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestComparison {
    pub candidate: StepOutcome,
    pub reference: StepOutcome,
    /// Throughput of the candidate over that of the reference.
    pub throughput_ratio: Estimate,
}

/// Two ladders side by side: a candidate against a reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// One row for each concurrency of either run, lowest first.
    pub rows: Vec<ComparisonRow>,
    /// The best steps; `None` if a run has no step, or the reference has no throughput.
    pub best: Option<BestComparison>,
    /// The highest rates of two runs that searched for them within the same conditions.
    pub highest_rates: Option<HighestRates>,
}

/// Whether the candidate is worse than the reference by more than a margin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Margin {
    /// For two ladders: not shown to be worse. For the rounds of `plimsoll ab`: shown not to be worse.
    Within,
    Beyond,
    /// Not decidable: a lower bound of throughput may hide the answer, the interval of a throughput is unknown, or there are no
    /// throughputs to compare.
    Unknown,
}

impl Comparison {
    /// Judges the candidate by `margin`, a ratio such as 0.05. It is worse if any of these holds:
    /// its best throughput is below (1 − margin) of the reference's, with the whole interval of the ratio;
    /// its success ratio is lower by more than `margin`, with the whole interval of the difference, at the best steps or at any shared
    /// concurrency; its highest rate is lower by more than `margin`.
    pub fn judge(&self, margin: f64) -> Margin {
        let best = self.best.map(|best| (best.candidate, best.reference));
        let mut pairs = self.rows.iter().filter_map(|row| row.candidate.zip(row.reference)).chain(best);
        let fails_more = |(candidate, reference): (StepOutcome, StepOutcome)| {
            difference_upper(candidate.success(), reference.success()) < -margin
        };
        if pairs.any(fails_more) || self.highest_rates.is_some_and(|rates| rates.is_worse(margin)) {
            return Margin::Beyond;
        }
        self.best.map_or(Margin::Unknown, |best| best.judge(margin))
    }
}

impl StepOutcome {
    fn success(&self) -> Estimate {
        Estimate { value: self.success_ratio, interval: self.success_interval }
    }
}

impl BestComparison {
    /// Whether a longer ladder of the candidate, and of the reference, might have shown a better step. Always false if both best steps
    /// have the same number of connections.
    pub fn unfinished(&self) -> [bool; 2] {
        let differ = self.candidate.connections != self.reference.connections;
        [self.candidate, self.reference].map(|side| side.unfinished && differ)
    }

    /// Whether the best throughput of the candidate, and that of the reference, is a lower bound.
    pub fn lower_bounds(&self) -> [bool; 2] {
        let [candidate, reference] = self.unfinished();
        [self.candidate.lower_bound || candidate, self.reference.lower_bound || reference]
    }

    /// A lower bound of the candidate's throughput makes the ratio too low; one of the reference's makes it too high.
    fn judge(&self, margin: f64) -> Margin {
        let ratio = self.throughput_ratio;
        let upper = match ratio.interval {
            Some((_, upper)) => upper.max(ratio.value),
            None if self.candidate.exact && self.reference.exact => ratio.value,
            None => return Margin::Unknown,
        };
        match (upper < 1.0 - margin, self.lower_bounds()) {
            (true, [false, _]) => Margin::Beyond,
            (false, [_, false]) => Margin::Within,
            (true, [true, _]) | (false, [_, true]) => Margin::Unknown,
        }
    }
}

/// Compares two ladders at each concurrency and by their best steps.
pub fn compare(candidate: &[StepOutcome], reference: &[StepOutcome]) -> Comparison {
    let mut levels: Vec<u32> = candidate.iter().chain(reference).map(|step| step.connections).collect();
    levels.sort_unstable();
    levels.dedup();
    let rows = levels.into_iter().map(|level| row(level, candidate, reference)).collect();
    Comparison { rows, best: best_of_both(candidate, reference), highest_rates: None }
}

fn row(connections: u32, a: &[StepOutcome], b: &[StepOutcome]) -> ComparisonRow {
    let find = |steps: &[StepOutcome]| steps.iter().find(|step| step.connections == connections).copied();
    let (a, b) = (find(a), find(b));
    let both = a.zip(b);
    ComparisonRow {
        connections,
        candidate: a,
        reference: b,
        throughput_ratio: both.and_then(|(a, b)| throughput_ratio(a, b)),
        latency_ratio: both
            .filter(|(_, b)| b.mean_latency_ns > 0.0)
            .map(|(a, b)| a.mean_latency_ns / b.mean_latency_ns),
    }
}

/// Throughput of `a` over that of `b`. An exact throughput adds nothing to the interval of a measured one.
fn throughput_ratio(a: StepOutcome, b: StepOutcome) -> Option<Estimate> {
    if a.exact && b.exact {
        return ratio(a.throughput, b.throughput);
    }
    let known = |step: StepOutcome| match step.throughput {
        Estimate { value, .. } if step.exact => Estimate { value, interval: Some((value, value)) },
        varying => varying,
    };
    ratio(known(a), known(b))
}

fn best_of_both(a: &[StepOutcome], b: &[StepOutcome]) -> Option<BestComparison> {
    let (candidate, reference) = (best(a)?, best(b)?);
    let throughput_ratio = throughput_ratio(candidate, reference)?;
    Some(BestComparison { candidate, reference, throughput_ratio })
}

fn best(steps: &[StepOutcome]) -> Option<StepOutcome> {
    let succeeds = |step: &StepOutcome| step.success_ratio >= MIN_SUCCESS;
    let candidates = steps.iter().filter(|step| succeeds(step) || !steps.iter().any(succeeds));
    candidates.max_by(|a, b| a.throughput.value.total_cmp(&b.throughput.value)).copied()
}

/// Returns the outcome of each step of a run, without steps in which no request ended.
pub fn step_outcomes(findings: &Findings) -> Vec<StepOutcome> {
    let unfinished = is_unfinished(findings);
    findings.steps.iter().filter_map(|step| outcome(step, unfinished)).collect()
}

fn outcome(step: &StepSummary, unfinished: bool) -> Option<StepOutcome> {
    Some(StepOutcome {
        connections: step.connections,
        throughput: step.throughput,
        exact: false,
        lower_bound: step.lower_bound,
        unfinished,
        mean_latency_ns: step.latency.mean_ns,
        p99_ns: step.latency.p99.ns,
        success_ratio: step.success_ratio?,
        success_interval: step.success_interval,
    })
}

#[cfg(test)]
mod tests {
    use plimsoll_stats::wilson;

    use super::*;
    use crate::RateBracket;

    /// A level of a run, or without a half width a row of a table.
    fn step(connections: u32, throughput: f64, half: Option<f64>) -> StepOutcome {
        let interval = half.map(|half| (throughput - half, throughput + half));
        StepOutcome {
            connections,
            throughput: Estimate { value: throughput, interval },
            exact: half.is_none(),
            lower_bound: false,
            unfinished: false,
            mean_latency_ns: 2e6,
            p99_ns: None,
            success_ratio: 1.0,
            success_interval: None,
        }
    }

    #[test]
    fn every_concurrency_of_either_run_has_a_row() {
        let comparison =
            compare(&[step(1, 10.0, None), step(2, 20.0, None)], &[step(2, 40.0, None), step(4, 50.0, None)]);
        let rows: Vec<_> = comparison
            .rows
            .iter()
            .map(|row| (row.connections, row.candidate.is_some(), row.reference.is_some()))
            .collect();
        assert_eq!(rows, [(1, true, false), (2, true, true), (4, false, true)]);
        assert_eq!(comparison.rows[1].throughput_ratio, Some(Estimate::exact(0.5)));
        assert_eq!(comparison.rows[1].latency_ratio, Some(1.0));
        assert_eq!(comparison.best.unwrap().throughput_ratio.value, 0.4);
    }

    #[test]
    fn a_margin_is_broken_only_when_the_whole_interval_is_beyond_it() {
        let judge = |half| compare(&[step(1, 90.0, half)], &[step(1, 100.0, half)]).judge(0.05);
        assert_eq!(judge(None), Margin::Beyond);
        assert_eq!(judge(Some(1.0)), Margin::Beyond);
        assert_eq!(judge(Some(10.0)), Margin::Within);
        assert_eq!(compare(&[step(1, 96.0, None)], &[step(1, 100.0, None)]).judge(0.05), Margin::Within);
        assert_eq!(compare(&[step(1, 200.0, None)], &[step(1, 100.0, None)]).judge(0.05), Margin::Within);
    }

    #[test]
    fn a_run_without_an_interval_decides_nothing() {
        let judge = |a, b| compare(&[a], &[b]).judge(0.05);
        let short = |per_sec| StepOutcome { exact: false, ..step(1, per_sec, None) };
        assert_eq!(judge(short(50.0), short(100.0)), Margin::Unknown);
        assert_eq!(judge(short(200.0), short(100.0)), Margin::Unknown);
        assert_eq!(judge(short(50.0), step(1, 100.0, Some(1.0))), Margin::Unknown);
        assert_eq!(
            judge(short(50.0), step(1, 100.0, None)),
            Margin::Unknown,
            "the table is exact, not the run"
        );
    }

    #[test]
    fn a_run_next_to_a_table_decides_by_the_interval_of_the_run() {
        let judge = |half| {
            let comparison = compare(&[step(1, 90.0, Some(half))], &[step(1, 100.0, None)]);
            (comparison.best.unwrap().throughput_ratio.interval.unwrap(), comparison.judge(0.05))
        };
        let ((low, high), judged) = judge(1.0);
        assert!((low - 0.89).abs() < 1e-9 && (high - 0.91).abs() < 1e-9, "{low} to {high}");
        assert_eq!(judged, Margin::Beyond);
        assert_eq!(judge(10.0).1, Margin::Within);
    }

    #[test]
    fn failures_break_a_margin_only_with_the_whole_interval_of_their_difference() {
        let of = |succeeded: u64, ended: u64| StepOutcome {
            success_ratio: succeeded as f64 / ended as f64,
            success_interval: wilson(succeeded, ended),
            ..step(1, 100.0, Some(1.0))
        };
        let judge = |a, b| compare(&[a], &[b]).judge(0.05);
        assert_eq!(judge(of(9, 10), of(10, 10)), Margin::Within, "one of ten shows no 5 %");
        assert_eq!(judge(of(900, 1000), of(1000, 1000)), Margin::Beyond);
        assert_eq!(judge(of(1000, 1000), of(900, 1000)), Margin::Within);
    }

    #[test]
    fn without_a_best_step_of_both_only_failures_are_known() {
        let judge = |a: &[StepOutcome], b: &[StepOutcome]| compare(a, b).judge(0.05);
        assert_eq!(judge(&[], &[step(1, 100.0, None)]), Margin::Unknown);
        assert_eq!(judge(&[step(1, 100.0, None)], &[step(1, 0.0, None)]), Margin::Unknown);
        let failing = StepOutcome { success_ratio: 0.5, ..step(1, 100.0, None) };
        assert_eq!(judge(&[failing], &[step(1, 0.0, None)]), Margin::Beyond);
    }

    #[test]
    fn a_lower_bound_decides_only_what_it_can() {
        let judge = |a: f64, a_bound, b_bound| {
            let side = |per_sec, lower_bound| StepOutcome { lower_bound, ..step(1, per_sec, None) };
            compare(&[side(a, a_bound)], &[side(100.0, b_bound)]).judge(0.05)
        };
        assert_eq!(judge(90.0, true, false), Margin::Unknown, "A may be as fast");
        assert_eq!(judge(99.0, true, false), Margin::Within, "A is no slower than that");
        assert_eq!(judge(90.0, false, true), Margin::Beyond, "B is no slower than that");
        assert_eq!(judge(99.0, false, true), Margin::Unknown, "B may be faster");
    }

    #[test]
    fn a_highest_rate_breaks_a_margin_only_with_the_whole_of_both_brackets() {
        let judge = |held_per_sec, broken_per_sec| {
            let candidate = RateBracket { held_per_sec, broken_per_sec };
            let reference = RateBracket { held_per_sec: Some(1000.0), broken_per_sec: Some(1050.0) };
            let same = compare(&[step(1, 100.0, None)], &[step(1, 100.0, None)]);
            Comparison { highest_rates: Some(HighestRates { candidate, reference }), ..same }.judge(0.05)
        };
        assert_eq!(judge(Some(500.0), Some(525.0)), Margin::Beyond, "with the same best QPS");
        assert_eq!(judge(Some(900.0), Some(960.0)), Margin::Within);
        assert_eq!(judge(Some(500.0), None), Margin::Within, "it may hold more");
        assert_eq!(judge(None, Some(500.0)), Margin::Beyond, "no rate holds");
    }

    #[test]
    fn the_best_of_an_unfinished_ladder_decides_at_its_own_connections_alone() {
        let judge = |a: StepOutcome, b: StepOutcome| compare(&[a], &[b]).judge(0.05);
        let unfinished =
            |connections, per_sec| StepOutcome { unfinished: true, ..step(connections, per_sec, None) };
        assert_eq!(judge(unfinished(4, 30.0), step(64, 120.0, None)), Margin::Unknown, "cut at 4");
        assert_eq!(judge(step(64, 120.0, None), unfinished(4, 30.0)), Margin::Unknown);
        assert_eq!(judge(unfinished(128, 130.0), step(64, 120.0, None)), Margin::Within);
        assert_eq!(judge(unfinished(2, 30.0), unfinished(2, 120.0)), Margin::Beyond, "the same connections");
    }

    #[test]
    fn more_failures_break_the_margin_too_and_are_no_best_step() {
        let failing = StepOutcome { success_ratio: 0.8, ..step(2, 500.0, None) };
        let comparison =
            compare(&[step(1, 100.0, None), failing], &[step(1, 100.0, None), step(2, 150.0, None)]);
        assert_eq!(comparison.best.unwrap().candidate.connections, 1);
        assert_eq!(comparison.judge(0.1), Margin::Beyond);
    }
}
