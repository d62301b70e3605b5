//! Verdicts on the interval of a ratio.

use crate::Estimate;

use super::figure::Better;
use crate::Margin;

/// The verdict on one figure of B compared with A.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AbVerdict {
    /// B is better: the interval excludes 1, or the test over all figures does.
    Better,
    /// B is worse, with the same certainty.
    Worse,
    /// No difference was found and the interval is narrow enough: the ratio differs from 1 by no more than `within`.
    Same { within: f64 },
    /// The interval is too wide for a verdict.
    Open { more: MoreRounds },
    /// One or both sides are lower bounds, so that the interval allows no verdict.
    Bounded,
}

/// How many more rounds would make an interval narrow enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoreRounds {
    About(u32),
    /// There are too few rounds to estimate the variation.
    Unknown,
}

impl AbVerdict {
    /// Judges a ratio B/A. `differs` is true if the test found a difference; `rounds` includes rounds that were merged or lacked the
    /// figure. A side that is a lower bound may be better than was measured; more rounds do not help where both are.
    pub(super) fn new(
        ratio: Estimate,
        differs: bool,
        better: Better,
        bounds: [bool; 2],
        precision: f64,
        rounds: usize,
    ) -> Self {
        if bounds == [true; 2] {
            return Self::Bounded;
        }
        // The test finds a difference with fewer rounds than an interval needs.
        if differs {
            let is_better = (ratio.value > 1.0) == (better == Better::Higher);
            return match (is_better, bounds) {
                (true, [false, _]) => Self::Better,
                (false, [_, false]) => Self::Worse,
                _ => Self::Bounded,
            };
        }
        let Some((low, high)) = ratio.interval else { return Self::Open { more: MoreRounds::Unknown } };
        let half = (high / low).ln() / 2.0;
        if half <= precision {
            let within = (1.0 - low).max(high - 1.0);
            return if bounds == [false; 2] { Self::Same { within } } else { Self::Bounded };
        }
        // The width of an interval falls with the square root of the number of rounds.
        let more = rounds as f64 * ((half / precision).powi(2) - 1.0);
        Self::Open { more: MoreRounds::About(more.ceil().clamp(1.0, 1e6) as u32) }
    }
}

/// Judges whether B is worse than A by more than `margin`, with the whole interval of the ratio B/A.
///
/// A side that is a lower bound may be better than was measured: the ratio of a rate is too low where that side is B, and too high
/// where it is A.
pub(super) fn margin(ratio: Estimate, better: Better, margin: f64, bounds: [bool; 2]) -> Margin {
    let Some((low, high)) = ratio.interval else { return Margin::Unknown };
    let (is_beyond, is_within) = match better {
        Better::Higher => (high < 1.0 - margin, low >= 1.0 - margin),
        Better::Lower => (low > 1.0 + margin, high <= 1.0 + margin),
    };
    let [a_is_bound, b_is_bound] = bounds;
    match () {
        () if is_beyond && !b_is_bound => Margin::Beyond,
        () if is_within && !a_is_bound => Margin::Within,
        () => Margin::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(low: f64, high: f64) -> Estimate {
        Estimate { value: low.midpoint(high), interval: Some((low, high)) }
    }

    #[test]
    fn a_verdict_follows_the_interval_and_the_way_the_figure_is_better() {
        let verdict = |low: f64, high: f64, better| {
            AbVerdict::new(ratio(low, high), low > 1.0 || high < 1.0, better, [false; 2], 0.01, 20)
        };
        assert_eq!(verdict(1.02, 1.05, Better::Higher), AbVerdict::Better);
        assert_eq!(verdict(1.02, 1.05, Better::Lower), AbVerdict::Worse);
        assert_eq!(verdict(0.9, 0.95, Better::Lower), AbVerdict::Better);
        let AbVerdict::Same { within } = verdict(0.992, 1.006, Better::Higher) else {
            panic!("it is narrow")
        };
        assert!((within - 0.008).abs() < 1e-9);
        // Twice as wide as asked for takes four times as many rounds.
        let wide = AbVerdict::new(ratio(1.0 / 1.0202, 1.0202), false, Better::Higher, [false; 2], 0.01, 20);
        assert!(matches!(wide, AbVerdict::Open { more: MoreRounds::About(58..=62) }), "{wide:?}");
        let unknown = AbVerdict::new(Estimate::exact(1.0), false, Better::Higher, [false; 2], 0.01, 5);
        assert_eq!(unknown, AbVerdict::Open { more: MoreRounds::Unknown });
        // The test of all figures together found what the interval does not.
        let tested = AbVerdict::new(ratio(0.999, 1.021), true, Better::Lower, [false; 2], 0.01, 20);
        assert_eq!(tested, AbVerdict::Worse);
        let few = AbVerdict::new(Estimate::exact(2.96), true, Better::Lower, [false; 2], 0.01, 8);
        assert_eq!(
            few,
            AbVerdict::Worse,
            "eight rounds have no interval at the level of one of five figures"
        );
    }

    #[test]
    fn a_margin_is_decided_by_a_whole_interval() {
        let judged = |low, high, better| margin(ratio(low, high), better, 0.05, [false; 2]);
        assert_eq!(judged(0.90, 0.94, Better::Higher), Margin::Beyond);
        assert_eq!(judged(0.94, 0.96, Better::Higher), Margin::Unknown);
        assert_eq!(judged(0.96, 1.50, Better::Higher), Margin::Within);
        assert_eq!(judged(1.06, 1.10, Better::Lower), Margin::Beyond);
        assert_eq!(judged(0.50, 1.04, Better::Lower), Margin::Within);
        assert_eq!(margin(Estimate::exact(1.0), Better::Lower, 0.05, [false; 2]), Margin::Unknown);
    }

    #[test]
    fn a_verdict_says_nothing_that_a_side_which_may_do_better_could_undo() {
        let verdict = |low: f64, high: f64, better, bounds| {
            AbVerdict::new(ratio(low, high), low > 1.0 || high < 1.0, better, bounds, 0.01, 20)
        };
        let (a, b, both) = ([true, false], [false, true], [true; 2]);
        assert_eq!(verdict(0.90, 0.93, Better::Higher, b), AbVerdict::Bounded, "B may be as fast");
        assert_eq!(verdict(0.90, 0.93, Better::Higher, a), AbVerdict::Worse, "A is faster still");
        assert_eq!(verdict(1.07, 1.10, Better::Higher, b), AbVerdict::Better);
        assert_eq!(verdict(1.07, 1.10, Better::Higher, a), AbVerdict::Bounded);
        assert_eq!(verdict(1.07, 1.10, Better::Lower, b), AbVerdict::Bounded, "its latency may be less");
        assert_eq!(verdict(1.07, 1.10, Better::Lower, a), AbVerdict::Worse);
        for bounds in [a, b, both] {
            assert_eq!(verdict(0.998, 1.002, Better::Higher, bounds), AbVerdict::Bounded, "{bounds:?}");
        }
        assert_eq!(verdict(0.8, 1.2, Better::Higher, both), AbVerdict::Bounded, "more rounds do not help");
        assert!(matches!(verdict(0.8, 1.2, Better::Higher, b), AbVerdict::Open { .. }), "they may show more");
    }

    #[test]
    fn a_side_that_the_generator_held_back_decides_only_what_it_can() {
        let judged = |low, high, bounds| margin(ratio(low, high), Better::Higher, 0.05, bounds);
        assert_eq!(judged(0.8, 0.9, [false, true]), Margin::Unknown, "B may be as fast");
        assert_eq!(judged(0.8, 0.9, [true, false]), Margin::Beyond, "A is faster still");
        assert_eq!(judged(0.99, 1.01, [true, false]), Margin::Unknown, "A may be faster");
        assert_eq!(judged(0.99, 1.01, [false, true]), Margin::Within);
    }
}
