//! Sequential comparison of two things in rounds (a group sequential test): when to look at the differences, how much error each
//! look may spend, and how several figures are judged together.

use crate::SignedRanks;

/// The probability that any figure is found to differ at any look although both things are equal.
pub const ALPHA: f64 = 0.05;

/// The number of rounds before the first look, if so few rounds can show a difference.
const FIRST_LOOK: usize = 8;
/// With fewer rounds even the final look shows nothing: the smallest p-value of six rounds is 0.031, and the main figure may spend 0.025.
pub const MIN_ROUNDS: usize = 7;
/// No interim look later than this part of the budget: it would leave too little error to spend for the final one.
const LAST_LOOK: f64 = 0.85;
/// An interval is also narrow enough if its half width is at most this part of the difference.
const OF_DIFFERENCE: f64 = 0.1;

/// The difference of one figure in one round, such as ln(b/a).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The round at whose end the difference was known, from 0.
    pub round: usize,
    pub value: f64,
}

/// The measurements of all rounds.
#[derive(Debug, Clone, Copy)]
pub struct Rounds<'a> {
    /// The differences of each figure, by ascending round. The first figure is the main one: its precision ends the comparison.
    pub figures: &'a [Vec<Difference>],
    /// The part of the budget that had passed at the end of each round, from 0 to 1.
    pub elapsed: &'a [f64],
    /// The half width at which the interval of the main figure is narrow enough.
    pub precision: f64,
}

/// The result for one figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Centre {
    /// Hodges and Lehmann's estimate over all rounds, clamped to the interval.
    pub value: f64,
    /// The confidence interval of the centre. The intervals of all figures and looks hold together in 95 % of comparisons. `None` with
    /// too few rounds.
    pub interval: Option<(f64, f64)>,
    /// The number of differences used.
    pub count: usize,
    /// Intervals of two looks exclude each other, so the difference itself changed. The later interval is kept.
    pub moved: bool,
    /// The centre is not 0: at this look or an earlier one, the interval excluded 0, or Holm's test did. Holm's test covers all figures
    /// but the main one, and has more power.
    pub differs: bool,
}

/// The result of all rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The result for each figure; `None` for a figure without a difference.
    pub centres: Vec<Option<Centre>>,
    /// The numbers of rounds after which there was a look.
    pub looks: Vec<usize>,
    /// The interval of the main figure was narrow enough at the last look.
    pub enough: bool,
}

/// Returns the part of [`ALPHA`] that may be spent once this part of the budget has passed: α·f³.
///
/// With any such function the errors of all looks add up to at most α, if each look spends the growth since the previous one (Lan
/// and DeMets 1983; by time instead of information, 1989). The third power (Kim and DeMets 1987) reserves nearly all for the end,
/// like O'Brien and Fleming's boundary, and still lets a large difference end the comparison early.
fn spent(elapsed: f64) -> f64 {
    ALPHA * elapsed.clamp(0.0, 1.0).powi(3)
}

/// Whether there is an interim look after this many rounds: after 8, 12, 16, 24, 32, 48 … rounds.
fn is_scheduled(count: usize) -> bool {
    let odd = count >> count.trailing_zeros();
    count >= FIRST_LOOK && (odd == 1 || odd == 3)
}

/// Returns which of several hypotheses Holm (1979) rejects: compares the smallest p-value with α/m, the next with α/(m − 1) and so
/// on, until the first one above its level.
///
/// With probability 1 − `alpha`, no true hypothesis is rejected. Intervals at these levels would not hold together: each level but
/// the first assumes that the hypotheses rejected before are false, and says nothing about where their values lie.
fn holm(p_values: &[Option<f64>], alpha: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).filter(|index| p_values[*index].is_some()).collect();
    let p_value = |index: usize| p_values[index].unwrap_or(1.0);
    order.sort_by(|a, b| p_value(*a).total_cmp(&p_value(*b)));
    let (mut rejected, count) = (vec![false; p_values.len()], order.len());
    let within = |(place, index): &(usize, usize)| p_value(*index) <= alpha / (count - place) as f64;
    for (_, index) in order.into_iter().enumerate().take_while(within) {
        rejected[index] = true;
    }
    rejected
}

impl Rounds<'_> {
    /// Evaluates the rounds at each look that is due and at their end.
    ///
    /// A look spends the growth of the error since the previous look: half of it on the main figure, the rest in equal parts on the
    /// others. By Bonferroni's inequality all intervals of all looks hold together in 95 % of comparisons, whatever the dependence. So
    /// they may be intersected: a later look never widens an interval.
    pub fn outcome(&self) -> Outcome {
        let mut outcome =
            Outcome { centres: vec![None; self.figures.len()], looks: Vec::new(), enough: false };
        let mut before = 0.0;
        for count in MIN_ROUNDS..=self.elapsed.len() {
            let now = spent(self.elapsed[count - 1]);
            if count < self.elapsed.len() && !self.looks_after(count, now - before) {
                continue;
            }
            self.look(count, now - before, &mut outcome);
            before = now;
        }
        outcome
    }

    /// Whether a look is due after the last round, so that the comparison may end there.
    pub fn is_look(&self) -> bool {
        let (last, before) = (self.elapsed.len(), self.elapsed.len().saturating_sub(1));
        let earlier = Self { elapsed: &self.elapsed[..before], ..*self };
        let spent_before = earlier.last_scheduled().map_or(0.0, |count| spent(self.elapsed[count - 1]));
        last >= MIN_ROUNDS && self.looks_after(last, spent(self.elapsed[last - 1]) - spent_before)
    }

    fn last_scheduled(&self) -> Option<usize> {
        let mut last: Option<usize> = None;
        for count in MIN_ROUNDS..=self.elapsed.len() {
            let before = last.map_or(0.0, |count| spent(self.elapsed[count - 1]));
            if self.looks_after(count, spent(self.elapsed[count - 1]) - before) {
                last = Some(count);
            }
        }
        last
    }

    /// Whether there is an interim look after `count` rounds. A look that cannot find anything would waste its error.
    fn looks_after(&self, count: usize, alpha: f64) -> bool {
        is_scheduled(count)
            && self.elapsed[count - 1] <= LAST_LOOK
            && SignedRanks::smallest_p_value(count) <= alpha / 2.0
    }

    fn look(&self, count: usize, alpha: f64, outcome: &mut Outcome) {
        let ranks: Vec<Option<SignedRanks>> =
            self.figures.iter().map(|figure| SignedRanks::new(&until(figure, count))).collect();
        let p_values: Vec<Option<f64>> =
            ranks.iter().skip(1).map(|ranks| ranks.as_ref().map(SignedRanks::p_value)).collect();
        let others = p_values.iter().flatten().count().max(1);
        let mut rejected = vec![false];
        rejected.extend(holm(&p_values, alpha / 2.0));
        for (index, ranks) in ranks.iter().enumerate() {
            let Some(ranks) = ranks else { continue };
            let counted = until(&self.figures[index], count).len();
            let level = if index == 0 { alpha / 2.0 } else { alpha / 2.0 / others as f64 };
            let centre = narrowed(outcome.centres[index], ranks, level);
            outcome.centres[index] = Some(centre.of(counted, rejected[index]));
        }
        outcome.looks.push(count);
        outcome.enough = outcome.centres.first().copied().flatten().is_some_and(|main| self.is_enough(main));
    }

    fn is_enough(&self, main: Centre) -> bool {
        let half = main.interval.map(|(low, high)| (high - low) / 2.0);
        half.is_some_and(|half| half <= self.precision.max(OF_DIFFERENCE * main.value.abs()))
    }
}

fn until(figure: &[Difference], count: usize) -> Vec<f64> {
    figure.iter().take_while(|one| one.round < count).map(|one| one.value).collect()
}

/// Returns the result for a figure after another look at this level.
fn narrowed(before: Option<Centre>, ranks: &SignedRanks, level: f64) -> Centre {
    let now = ranks.interval(level);
    let known = before.and_then(|before| before.interval);
    let both = match (known, now) {
        (Some(known), Some(now)) => Some((known.0.max(now.0), known.1.min(now.1))),
        (known, now) => known.or(now),
    };
    let contradicts = both.is_some_and(|(low, high)| low > high);
    let interval = if contradicts { now } else { both };
    let centre = ranks.centre();
    let value = interval.map_or(centre, |(low, high)| centre.clamp(low, high));
    let moved = contradicts || before.is_some_and(|before| before.moved);
    // The errors of all looks add up to at most α, so a later look does not revoke what an earlier one found. Only a centre that
    // moved or changed its sign does.
    let stays = |before: Centre| before.differs && !contradicts && before.value * value > 0.0;
    Centre { value, interval, count: 0, moved, differs: before.is_some_and(stays) }
}

impl Centre {
    /// Sets the number of differences, and whether the centre differs from 0 by its interval or a test.
    fn of(self, count: usize, is_rejected: bool) -> Self {
        let is_excluded = self.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
        let differs = self.differs || is_excluded || (is_rejected && self.value != 0.0);
        Self { count, differs, ..self }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_testkit::Noise;

    use super::*;

    /// Differences of `figures` figures over so many rounds, the first with this centre, each with a standard deviation of 2 %.
    fn simulated(figures: usize, rounds: usize, centre: f64, seed: u64) -> Vec<Vec<Difference>> {
        let mut noise = Noise::new(seed);
        let mut figure = |centre: f64| -> Vec<Difference> {
            (0..rounds).map(|round| Difference { round, value: centre + 0.02 * noise.normal() }).collect()
        };
        (0..figures).map(|index| figure(if index == 0 { centre } else { 0.0 })).collect()
    }

    fn even(rounds: usize) -> Vec<f64> {
        (1..=rounds).map(|round| round as f64 / rounds as f64).collect()
    }

    fn excludes_zero(centre: &Option<Centre>) -> bool {
        centre.and_then(|centre| centre.interval).is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }

    #[test]
    fn equal_things_are_rarely_found_to_differ_in_any_figure_at_any_look() {
        // What one look finds stays found, unless the centre changes its side: the last outcome shows nearly all alarms.
        let alarm = |seed: u64| {
            let (figures, elapsed) = (simulated(5, 60, 0.0, seed), even(60));
            let outcome = Rounds { figures: &figures, elapsed: &elapsed, precision: 0.0 }.outcome();
            outcome.centres.iter().flatten().any(|centre| centre.differs)
        };
        let alarms = (0..200).filter(|seed| alarm(*seed)).count();
        assert!(alarms <= 12, "{alarms} of 200");
    }

    #[test]
    fn a_difference_is_found_in_the_figure_that_has_it() {
        let (figures, elapsed) = (simulated(3, 40, 0.03, 1), even(40));
        let outcome = Rounds { figures: &figures, elapsed: &elapsed, precision: 0.01 }.outcome();
        assert!(excludes_zero(&outcome.centres[0]) && !excludes_zero(&outcome.centres[1]), "{outcome:?}");
        assert_eq!(outcome.looks.last(), Some(&40));
        let main = outcome.centres[0].unwrap();
        assert!((main.value - 0.03).abs() < 0.01 && main.count == 40, "{main:?}");
    }

    #[test]
    fn a_large_difference_is_enough_long_before_the_budget_ends() {
        let (figures, elapsed) = (simulated(1, 100, 0.5, 3), even(100));
        let first = (1..=100).find(|count| {
            let rounds = Rounds { figures: &figures, elapsed: &elapsed[..*count], precision: 0.01 };
            rounds.is_look() && rounds.outcome().enough
        });
        assert!(first.is_some_and(|count| count <= 24), "{first:?}");
    }

    #[test]
    fn what_ends_with_a_look_says_the_same_when_it_is_read_again() {
        let (figures, elapsed) = (simulated(4, 50, 0.01, 9), even(50));
        for count in MIN_ROUNDS..=50 {
            let rounds = Rounds { figures: &figures, elapsed: &elapsed[..count], precision: 0.01 };
            let looks = rounds.outcome().looks;
            assert_eq!(looks.last(), Some(&count), "the last round is always looked into");
            let whole = Rounds { figures: &figures, elapsed: &elapsed, precision: 0.01 }.outcome().looks;
            assert!(looks[..looks.len() - 1].iter().all(|look| whole.contains(look)), "{looks:?} {whole:?}");
            assert_eq!(rounds.is_look(), count < 50 && whole.contains(&count), "{count}");
        }
    }

    #[test]
    fn looks_never_make_an_interval_wider_and_a_moved_centre_is_reported() {
        let elapsed = even(64);
        let mut figure = simulated(1, 64, 0.0, 5).remove(0);
        let width = |centre: &Option<Centre>| centre.unwrap().interval.map(|(low, high)| high - low);
        let mut widest = f64::INFINITY;
        for count in [32, 48, 64] {
            let figures = [figure.clone()];
            let outcome = Rounds { figures: &figures, elapsed: &elapsed[..count], precision: 0.0 }.outcome();
            let now = width(&outcome.centres[0]).unwrap();
            assert!(now <= widest && !outcome.centres[0].unwrap().moved);
            widest = now;
        }
        figure.iter_mut().filter(|one| one.round >= 16).for_each(|one| one.value += 1.0);
        let figures = [figure];
        let outcome = Rounds { figures: &figures, elapsed: &elapsed, precision: 0.0 }.outcome();
        assert!(outcome.centres[0].unwrap().moved, "{outcome:?}");
    }

    #[test]
    fn p_values_are_judged_in_the_order_of_their_size() {
        let rejected = holm(&[Some(0.04), Some(0.001), None, Some(0.012)], 0.03);
        assert_eq!(rejected, [false, true, false, true]);
        assert_eq!(
            holm(&[Some(0.02), Some(0.001)], 0.03),
            [true, true],
            "0.02 is within the level of the last"
        );
        assert_eq!(holm(&[Some(0.02), Some(0.5)], 0.03), [false, false], "the first that fails ends it");
        assert!(holm(&[], 0.05).is_empty());
    }

    #[test]
    fn all_intervals_hold_together_also_where_several_figures_differ() {
        // Four of five figures differ far more than they vary, so that Holm judges the last at the level of all.
        let centres = [0.0, 0.2, 0.3, 0.4, 0.5];
        let is_missed = |seed: u64| {
            let mut noise = Noise::new(seed);
            let mut figure = |centre: &f64| -> Vec<Difference> {
                let value = |noise: &mut Noise| centre + 0.02 * noise.normal();
                (0..12).map(|round| Difference { round, value: value(&mut noise) }).collect()
            };
            let figures: Vec<Vec<Difference>> = centres.iter().map(&mut figure).collect();
            let outcome = Rounds { figures: &figures, elapsed: &even(12), precision: 0.0 }.outcome();
            let known = outcome.centres.iter().zip(centres);
            known
                .filter_map(|(known, centre)| Some((known.as_ref()?.interval?, centre)))
                .any(|((low, high), centre)| centre < low || centre > high)
        };
        let missed = (0..2_000).filter(|seed| is_missed(*seed)).count();
        assert!(missed <= 115, "{missed} of 2000");
    }

    #[test]
    fn the_test_of_a_difference_finds_more_than_the_interval_that_holds_together_with_others() {
        let found = |seed: u64| {
            let mut figures = simulated(6, 24, 0.0, seed);
            let shifts = [0.1, 0.1, 0.1, 0.1, 0.016];
            for (figure, shift) in figures[1..].iter_mut().zip(shifts) {
                figure.iter_mut().for_each(|one| one.value += shift);
            }
            let outcome = Rounds { figures: &figures, elapsed: &even(24), precision: 0.0 }.outcome();
            let last = outcome.centres[5];
            (last.is_some_and(|centre| centre.differs), excludes_zero(&last))
        };
        let all: Vec<(bool, bool)> = (0..200).map(found).collect();
        let count = |is: fn(&(bool, bool)) -> bool| all.iter().filter(|one| is(one)).count();
        assert!(count(|(differs, _)| *differs) > count(|(_, excludes)| *excludes) + 10, "{all:?}");
        assert_eq!(count(|(differs, excludes)| *excludes && !differs), 0);
    }

    #[test]
    fn what_the_test_found_at_one_look_stays_found_unless_it_changes_its_side() {
        // Four figures differ for sure. The fifth does so little that Holm's test alone finds it, after 12 of 24 rounds.
        let found = |later: fn(usize) -> f64| {
            let fifth = |round: usize| match round {
                0 => -0.001,
                1..12 => 0.01 + 0.001 * round as f64,
                _ => later(round),
            };
            let sure = |round: usize| 0.5 + 0.001 * round as f64;
            let figure = |value: &dyn Fn(usize) -> f64| -> Vec<Difference> {
                (0..24).map(|round| Difference { round, value: value(round) }).collect()
            };
            let (mut figures, elapsed) = (vec![figure(&sure); 5], even(24));
            figures.push(figure(&fifth));
            [12, 24].map(|count| {
                let rounds = Rounds { figures: &figures, elapsed: &elapsed[..count], precision: 0.0 };
                rounds.outcome().centres[5].unwrap()
            })
        };
        let [first, last] = found(|round| if round % 2 == 0 { -0.1 } else { 0.1 + 0.001 * round as f64 });
        assert!(first.differs && !excludes_zero(&Some(first)), "{first:?}");
        assert!(last.differs && !excludes_zero(&Some(last)), "{last:?}");
        let [first, last] = found(|round| -0.5 - 0.001 * round as f64);
        assert!(first.differs && !last.differs && last.value < 0.0, "{first:?} {last:?}");
    }

    #[test]
    fn too_few_rounds_and_figures_without_differences_are_not_known() {
        let figures = [simulated(1, 5, 0.0, 1).remove(0), Vec::new()];
        let few = Rounds { figures: &figures, elapsed: &even(5), precision: 0.01 }.outcome();
        assert_eq!((few.centres, few.looks, few.enough), (vec![None, None], vec![], false));
        let figures = [simulated(1, 20, 0.0, 1).remove(0), Vec::new()];
        let outcome = Rounds { figures: &figures, elapsed: &even(20), precision: 0.01 }.outcome();
        assert!(outcome.centres[0].is_some() && outcome.centres[1].is_none());
    }
}
