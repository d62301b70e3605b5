//! Which rate a search tries next.

use crate::{Breach, TrialOutcome, TrialSummary};

/// A rate above one that held, where none is known to break yet.
const UP: f64 = 1.15;
/// A rate below one that broke, where none is known to hold yet; each further step down is twice as long.
const DOWN: f64 = 0.85;
const DOUBLINGS: usize = 5;
/// No rate below this part of the first is tried.
const LOWEST: f64 = 0.01;
/// Trials that a rate needs to count as held or broken in the end.
const CONFIRMED: usize = 2;
/// Trials after which a rate is left undecided.
const CLOSE_TRIALS: usize = 2;
/// Trials of one rate for which the generator was the limit: one may be other work of the machine.
const LIMITED: usize = 2;
const TRIALS_MAX: usize = 60;

/// A rate that was tried, in requests per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    pub rate_per_sec: f64,
    pub outcome: TrialOutcome,
}

impl Trial {
    /// `None` if the step had no rate.
    pub fn of(summary: &TrialSummary) -> Option<Self> {
        Some(Self { rate_per_sec: summary.step.rate_per_sec?, outcome: summary.outcome })
    }
}

/// What follows in a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// This rate, in requests per second.
    Try(f64),
    Done,
}

/// Where the maximum lies by the trials so far; later ones count before earlier ones that contradict them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bracket {
    /// The highest rate that held and the number of trials in which it did.
    pub held_per_sec: Option<f64>,
    held_trials: usize,
    /// The lowest rate that broke, and how.
    pub broken: Option<(f64, Breach)>,
    broken_trials: usize,
    /// The lowest rate that the generator did not reach, with none above it that was decided.
    pub limited_per_sec: Option<f64>,
    /// A later trial contradicted an earlier one.
    pub moved: bool,
}

impl Bracket {
    /// The bracket of these trials, in the order they were made.
    pub fn of(trials: &[Trial]) -> Self {
        let mut standing: Vec<Trial> = Vec::new();
        let mut moved = false;
        for trial in trials {
            let before = standing.len();
            standing.retain(|earlier| !contradicts(*trial, *earlier));
            moved |= standing.len() < before && is_decided(trial);
            standing.push(*trial);
        }
        let is_held = |trial: &&Trial| trial.outcome == TrialOutcome::Held;
        let held_per_sec = standing.iter().filter(is_held).map(|trial| trial.rate_per_sec).reduce(f64::max);
        let broken = standing.iter().filter_map(|trial| match trial.outcome {
            TrialOutcome::Broken(breach) => Some((trial.rate_per_sec, breach)),
            TrialOutcome::Held | TrialOutcome::Close | TrialOutcome::GeneratorLimited => None,
        });
        let broken = broken.min_by(|a, b| a.0.total_cmp(&b.0));
        let decided_at = |rate: f64| {
            standing.iter().filter(|trial| is_decided(trial) && trial.rate_per_sec == rate).count()
        };
        let above =
            |limited: &f64| trials.iter().all(|trial| trial.rate_per_sec <= *limited || !is_decided(trial));
        Self {
            held_per_sec,
            held_trials: held_per_sec.map_or(0, decided_at),
            broken,
            broken_trials: broken.map_or(0, |(rate, _)| decided_at(rate)),
            limited_per_sec: limited(trials).filter(above),
            moved,
        }
    }
}

/// Whether an earlier trial no longer stands: one that held at a rate that breaks now, or broke at one that holds now. A rate that
/// is too near to be decided the second time is not known to hold or to break either.
fn contradicts(trial: Trial, earlier: Trial) -> bool {
    match (trial.outcome, earlier.outcome) {
        (TrialOutcome::Broken(_), TrialOutcome::Held) => earlier.rate_per_sec >= trial.rate_per_sec,
        (TrialOutcome::Held, TrialOutcome::Broken(_)) => earlier.rate_per_sec <= trial.rate_per_sec,
        (TrialOutcome::Close, _) => earlier.rate_per_sec == trial.rate_per_sec && is_decided(&earlier),
        _ => false,
    }
}

fn is_decided(trial: &Trial) -> bool {
    matches!(trial.outcome, TrialOutcome::Held | TrialOutcome::Broken(_))
}

/// The lowest rate for which the generator was the limit several times.
fn limited(trials: &[Trial]) -> Option<f64> {
    let limited = |trial: &&Trial| trial.outcome == TrialOutcome::GeneratorLimited;
    let rates = trials.iter().filter(limited).map(|trial| trial.rate_per_sec);
    let often = |rate: &f64| {
        trials.iter().filter(limited).filter(|trial| trial.rate_per_sec == *rate).count() >= LIMITED
    };
    rates.filter(often).reduce(f64::min)
}

/// What to try after these trials, of which there is at least one. The search is done once the highest rate that held and the
/// lowest that broke differ by the ratio `tolerance` at most, each confirmed: the rate that holds after one that broke, which is
/// the way down from an overload.
pub fn next(tolerance: f64, trials: &[Trial]) -> Next {
    let (Some(first), Some(last)) = (trials.first(), trials.last()) else { return Next::Done };
    let bracket = Bracket::of(trials);
    if trials.len() >= TRIALS_MAX {
        return Next::Done;
    }
    if last.outcome == TrialOutcome::GeneratorLimited && limited(trials).is_none() {
        return Next::Try(last.rate_per_sec);
    }
    let top = bracket.broken.map(|(rate, _)| rate).or(bracket.limited_per_sec);
    match (bracket.held_per_sec, top) {
        (Some(held), Some(top)) => between(tolerance, trials, &bracket, (held, top)),
        (Some(held), None) => Next::Try(above(trials, held)),
        (None, Some(top)) => below(trials, top, LOWEST * first.rate_per_sec),
        (None, None) => Next::Try(last.rate_per_sec * DOWN),
    }
}

/// Above a rate that held, and above those that were too near to be decided.
fn above(trials: &[Trial], held: f64) -> f64 {
    let close =
        trials.iter().filter(|trial| trial.outcome == TrialOutcome::Close).map(|trial| trial.rate_per_sec);
    UP * close.fold(held, f64::max)
}

/// Below the lowest rate that was tried: a little at first, then further each time.
fn below(trials: &[Trial], top: f64, lowest: f64) -> Next {
    let lowest_tried = trials.iter().map(|trial| trial.rate_per_sec).fold(top, f64::min);
    let in_vain = trials.iter().rev().take_while(|trial| trial.outcome != TrialOutcome::Held).count();
    let rate = lowest_tried * DOWN.powi(1 << in_vain.clamp(1, DOUBLINGS).saturating_sub(1));
    if rate < lowest { Next::Done } else { Next::Try(rate) }
}

/// The middle of the widest gap between the two; a rate within that was too near to be decided, once more; or the confirmation.
fn between(tolerance: f64, trials: &[Trial], bracket: &Bracket, (held, top): (f64, f64)) -> Next {
    let close: Vec<f64> = trials
        .iter()
        .filter(|trial| trial.outcome == TrialOutcome::Close)
        .map(|trial| trial.rate_per_sec)
        .filter(|rate| held < *rate && *rate < top)
        .collect();
    let mut rates: Vec<f64> = [held, top].iter().chain(&close).copied().collect();
    rates.sort_by(f64::total_cmp);
    let widest = rates.windows(2).max_by(|a, b| (a[1] / a[0]).total_cmp(&(b[1] / b[0])));
    let once = |rate: &f64| close.iter().filter(|other| *other == rate).count() < CLOSE_TRIALS;
    let again = close.iter().copied().find(once).filter(|_| top / held > 1.0 + tolerance);
    match (widest, again) {
        (Some(&[low, high]), _) if high / low > 1.0 + tolerance => Next::Try((low * high).sqrt()),
        (_, Some(rate)) => Next::Try(rate),
        _ if bracket.held_trials < CONFIRMED => Next::Try(held),
        _ if bracket.broken.is_some() && bracket.broken_trials < CONFIRMED => Next::Try(top),
        _ => Next::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches a target that holds every rate up to `most`, and with luck of this seed a little more or less.
    fn search(
        most: f64,
        first: f64,
        outcome: impl Fn(usize, f64) -> Option<TrialOutcome>,
    ) -> (Bracket, Vec<Trial>) {
        let mut trials = Vec::new();
        let mut rate = first;
        loop {
            let by_rate =
                if rate <= most { TrialOutcome::Held } else { TrialOutcome::Broken(Breach::Latency) };
            let outcome = outcome(trials.len(), rate).unwrap_or(by_rate);
            trials.push(Trial { rate_per_sec: rate, outcome });
            match next(0.03, &trials) {
                Next::Try(next) => rate = next,
                Next::Done => return (Bracket::of(&trials), trials),
            }
        }
    }

    #[test]
    fn the_maximum_is_found_from_below_and_from_above_and_confirmed() {
        for first in [900.0, 300.0, 1500.0, 8000.0] {
            let (bracket, trials) = search(1000.0, first, |_, _| None);
            let (held, (broken, _)) = (bracket.held_per_sec.unwrap(), bracket.broken.unwrap());
            assert!(held <= 1000.0 && broken > 1000.0 && broken / held <= 1.03, "{held} {broken}");
            assert_eq!((bracket.held_trials, bracket.broken_trials, bracket.moved), (2, 2, false));
            assert!(trials.len() <= 20, "{first}: {} trials", trials.len());
        }
    }

    #[test]
    fn what_never_holds_ends_the_search() {
        let (bracket, trials) = search(0.0, 1000.0, |_, _| None);
        assert_eq!(bracket.held_per_sec, None);
        assert!(trials.len() <= 8, "{trials:?}");
        assert!(trials.iter().all(|trial| trial.rate_per_sec >= 10.0));
    }

    #[test]
    fn a_generator_that_is_the_limit_is_asked_twice_and_bounds_the_search() {
        let beyond = |_, rate| (rate > 5000.0).then_some(TrialOutcome::GeneratorLimited);
        let (bracket, _) = search(1e9, 4000.0, beyond);
        assert_eq!(bracket.broken, None);
        let (held, limited) = (bracket.held_per_sec.unwrap(), bracket.limited_per_sec.unwrap());
        assert!(held <= 5000.0 && limited > 5000.0 && limited / held <= 1.03);
        let once = |count, _| (count == 1).then_some(TrialOutcome::GeneratorLimited);
        let (bracket, _) = search(1000.0, 900.0, once);
        assert_eq!(bracket.limited_per_sec, None);
        assert!((1000.0..1031.0).contains(&bracket.broken.unwrap().0));
    }

    #[test]
    fn a_later_trial_counts_before_an_earlier_one() {
        // It held 900 when it was cold; later it holds 800.
        let slower = |count, rate| {
            let held = if count < 2 { 1000.0 } else { 800.0 };
            Some(if rate <= held { TrialOutcome::Held } else { TrialOutcome::Broken(Breach::Queue) })
        };
        let (bracket, _) = search(0.0, 900.0, slower);
        assert!(bracket.moved);
        assert!((776.0..=800.0).contains(&bracket.held_per_sec.unwrap()), "{bracket:?}");
    }

    #[test]
    fn rates_that_cannot_be_decided_lie_within_the_bracket() {
        let close = |_, rate: f64| (950.0..1050.0).contains(&rate).then_some(TrialOutcome::Close);
        let (bracket, trials) = search(1000.0, 900.0, close);
        let (held, (broken, _)) = (bracket.held_per_sec.unwrap(), bracket.broken.unwrap());
        assert!((920.0..950.0).contains(&held) && (1050.0..1085.0).contains(&broken), "{held} {broken}");
        assert!(trials.len() <= 20, "{} trials", trials.len());
    }
}
