//! Chooses the rate that a search tries next.

use crate::{Breach, Drift, TrialOutcome};

/// The factor of a step up from a rate that held, while none is known to break.
const UP: f64 = 1.15;
/// While every rate has held, each step up from the third on doubles in logarithm, at most this often: after a ladder that ended early
/// the first rate is far below the maximum, but a step that is much too long overloads the target.
const UP_DOUBLINGS: usize = 2;
/// The factor of a step down from a rate that broke, while none is known to hold; each further step doubles in logarithm.
const DOWN: f64 = 0.85;
const DOUBLINGS: usize = 5;
/// No rate below this fraction of the first is tried.
const LOWEST: f64 = 0.01;
/// This many trials at an end of the interval, or within the interval, confirm that end.
const CONFIRMED: usize = 2;
/// After this many undecided trials at an end of the interval, that end moves outwards.
const UNDECIDED: usize = 2;
/// Two contradicting trials show that the maximum moves if their rates differ by at least this ratio, less 1; closer to the maximum
/// single trials are wrong by chance.
const DRIFT: f64 = 0.05;
/// Two rates that differ by less than this ratio are the same.
const ROUNDING: f64 = 1e-9;
/// The generator is the limit of a rate after this many limited trials; a single one may be due to other work of the machine.
const LIMITED: usize = 2;
/// After this many trials a search ends without a confirmed answer.
const TRIALS_MAX: usize = 60;

/// The aim of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aim {
    /// The ratio by which the ends of the interval may differ, less 1.
    pub tolerance: f64,
    /// A rate that the search shall decide on, in requests per second.
    pub asked_per_sec: Option<f64>,
}

/// A rate that was tried, in requests per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    pub rate_per_sec: f64,
    pub outcome: TrialOutcome,
    /// True if the load of a rate that broke ended right before this trial.
    pub after_overload: bool,
}

/// The next action of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// Try this rate, in requests per second.
    Try {
        rate_per_sec: f64,
        /// True to begin right after the load before it, to test the way down from an overload.
        at_once: bool,
    },
    Done,
    /// The limit of trials is reached without an answer: they contradict each other.
    GaveUp,
}

/// The interval in which the trials place the maximum. Where trials contradict each other, later ones count.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bracket {
    /// The highest rate that held, confirmed by another trial at it or slightly above where there is one.
    pub held_per_sec: Option<f64>,
    /// The lowest rate that broke, and how, confirmed by another trial at it or slightly below where there is one.
    pub broken: Option<(f64, Breach)>,
    /// The lowest rate that the generator did not reach, if no rate above it was decided.
    pub limited_per_sec: Option<f64>,
    /// A rate that broke right after an overload but held before and later, requests per second.
    pub hysteresis_per_sec: Option<f64>,
    /// A rate that held before, broke right after an overload, and was not tried since.
    doubtful_per_sec: Option<f64>,
    /// The trials that no later one contradicts.
    standing: Vec<Trial>,
}

/// The rates that held, highest first.
fn held(trials: &[Trial]) -> Vec<f64> {
    let held =
        trials.iter().filter(|trial| trial.outcome == TrialOutcome::Held).map(|trial| trial.rate_per_sec);
    let mut held: Vec<f64> = held.collect();
    held.sort_by(|a, b| b.total_cmp(a));
    held
}

/// The rates that broke, with the breaches, lowest first.
fn broken(trials: &[Trial]) -> Vec<(f64, Breach)> {
    let broken = trials.iter().filter_map(|trial| match trial.outcome {
        TrialOutcome::Broken(breach) => Some((trial.rate_per_sec, breach)),
        TrialOutcome::Held | TrialOutcome::Close | TrialOutcome::GeneratorLimited => None,
    });
    let mut broken: Vec<(f64, Breach)> = broken.collect();
    broken.sort_by(|a, b| a.0.total_cmp(&b.0));
    broken
}

/// The second of these rates if it is within `tolerance` of the first and so confirms that end, else the first.
fn confirmed<T: Copy>(tolerance: f64, ends: &[T], rate: impl Fn(&T) -> f64) -> Option<T> {
    let first = ends.first()?;
    let near = |other: &&T| (rate(other) / rate(first)).ln().abs() <= tolerance.ln_1p() + ROUNDING;
    ends.get(CONFIRMED - 1).filter(near).or(Some(first)).copied()
}

impl Bracket {
    /// Computes the bracket of these trials, in the order in which they were made, for a search of this tolerance.
    pub fn of(tolerance: f64, trials: &[Trial]) -> Self {
        let mut standing: Vec<Trial> = Vec::new();
        let (mut hysteresis_per_sec, mut doubtful_per_sec) = (None, None);
        for trial in trials {
            if is_doubtful(trial, &standing) {
                doubtful_per_sec = Some(trial.rate_per_sec);
                continue;
            }
            if doubtful_per_sec == Some(trial.rate_per_sec) {
                doubtful_per_sec = None;
                hysteresis_per_sec = hysteresis_per_sec
                    .or((trial.outcome == TrialOutcome::Held).then_some(trial.rate_per_sec));
            }
            standing.retain(|earlier| !contradicts(*trial, *earlier));
            standing.push(*trial);
        }
        let above =
            |limited: &f64| trials.iter().all(|trial| trial.rate_per_sec <= *limited || !is_decided(trial));
        Self {
            held_per_sec: confirmed(tolerance, &held(&standing), |rate| *rate),
            broken: confirmed(tolerance, &broken(&standing), |(rate, _)| *rate),
            standing,
            limited_per_sec: limited(trials).filter(above),
            hysteresis_per_sec,
            doubtful_per_sec,
        }
    }

    fn highest_held(&self) -> Option<f64> {
        held(&self.standing).first().copied()
    }

    fn lowest_broken(&self) -> Option<f64> {
        broken(&self.standing).first().map(|(rate, _)| *rate)
    }

    /// Whether a rate holds, in requests per second: a rate at least as high held, or one at most as high broke. `None` if neither is
    /// known; both cannot be.
    pub fn holds(&self, rate_per_sec: f64) -> Option<bool> {
        match () {
            () if self.highest_held().is_some_and(|held| held >= rate_per_sec) => Some(true),
            () if self.lowest_broken().is_some_and(|broken| broken <= rate_per_sec) => Some(false),
            () => None,
        }
    }
}

/// The contradiction between the two trials whose rates differ most, if they differ by more than the ratio `tolerance` and than chance
/// explains. Trials right after an overload are ignored.
pub fn drift(tolerance: f64, trials: &[Trial]) -> Option<Drift> {
    let of = |outcome: fn(TrialOutcome) -> bool| {
        let is = move |(_, trial): &(usize, &Trial)| outcome(trial.outcome) && !trial.after_overload;
        trials.iter().enumerate().filter(is)
    };
    let pairs = of(|outcome| outcome == TrialOutcome::Held).flat_map(|(held_at, held)| {
        of(|outcome| matches!(outcome, TrialOutcome::Broken(_))).map(move |(broken_at, broken)| Drift {
            held_per_sec: held.rate_per_sec,
            broken_per_sec: broken.rate_per_sec,
            falls: broken_at > held_at,
        })
    });
    let ratio = |drift: &Drift| drift.held_per_sec / drift.broken_per_sec;
    pairs
        .filter(|drift| ratio(drift) > 1.0 + tolerance.max(DRIFT))
        .max_by(|a, b| ratio(a).total_cmp(&ratio(b)))
}

/// True if a rate that held before broke right after an overload, which may be the reason.
fn is_doubtful(trial: &Trial, standing: &[Trial]) -> bool {
    let held_before =
        |earlier: &Trial| earlier.outcome == TrialOutcome::Held && earlier.rate_per_sec >= trial.rate_per_sec;
    trial.after_overload
        && matches!(trial.outcome, TrialOutcome::Broken(_))
        && standing.iter().any(held_before)
}

/// True if `trial` invalidates an earlier one, which held at a rate that breaks now, or broke at a rate that holds now. A rate that was
/// decided, and the second time is too close to decide, is no longer known to hold or to break.
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

/// The rates for which the generator was the limit at least [`LIMITED`] times.
fn limited_rates(trials: &[Trial]) -> Vec<f64> {
    let limited = |trial: &&Trial| trial.outcome == TrialOutcome::GeneratorLimited;
    let rates = trials.iter().filter(limited).map(|trial| trial.rate_per_sec);
    let often = |rate: &f64| {
        trials.iter().filter(limited).filter(|trial| trial.rate_per_sec == *rate).count() >= LIMITED
    };
    rates.filter(often).collect()
}

/// The lowest of [`limited_rates`].
fn limited(trials: &[Trial]) -> Option<f64> {
    limited_rates(trials).into_iter().reduce(f64::min)
}

/// Chooses the next action after these trials, of which there is at least one. The search is done once both ends of an interval are
/// confirmed, the lower one right after a rate that broke, to test the way down from an overload. Unless rates are too close to decide,
/// the ends differ by the ratio `tolerance`. The asked rate is tried as soon as it lies between the ends.
pub fn next(aim: Aim, trials: &[Trial]) -> Next {
    match following(aim, trials) {
        Next::Try { .. } if trials.len() >= TRIALS_MAX => Next::GaveUp,
        next => next,
    }
}

/// [`next`] without the limit on the number of trials.
fn following(aim: Aim, trials: &[Trial]) -> Next {
    let (Some(first), Some(last)) = (trials.first(), trials.last()) else { return Next::Done };
    let bracket = Bracket::of(aim.tolerance, trials);
    if last.outcome == TrialOutcome::GeneratorLimited && limited(trials).is_none() {
        return rested(last.rate_per_sec);
    }
    if let Some(rate_per_sec) = bracket.doubtful_per_sec {
        return rested(rate_per_sec);
    }
    match (bracket.highest_held(), bracket.lowest_broken().or(bracket.limited_per_sec)) {
        (Some(held), Some(top)) => match aim.asked_per_sec.filter(|asked| held < *asked && *asked < top) {
            Some(asked) if trials.iter().all(|trial| trial.rate_per_sec != asked) => rested(asked),
            _ => between(aim.tolerance, &bracket, (held, top)),
        },
        (Some(held), None) => rested(above(trials, held)),
        (None, Some(top)) => below(trials, top, LOWEST * first.rate_per_sec),
        (None, None) => {
            above_lowest(last.rate_per_sec * DOWN, last.rate_per_sec, LOWEST * first.rate_per_sec)
        }
    }
}

/// Tries a rate after a rest, if an overload came before it.
fn rested(rate_per_sec: f64) -> Next {
    Next::Try { rate_per_sec, at_once: false }
}

/// The next rate above a rate that held, and above those too close to decide; the steps grow.
fn above(trials: &[Trial], held: f64) -> f64 {
    let all_held = trials.iter().all(|trial| trial.outcome == TrialOutcome::Held);
    let doublings = if all_held { trials.len().saturating_sub(2).min(UP_DOUBLINGS) } else { 0 };
    let close =
        trials.iter().filter(|trial| trial.outcome == TrialOutcome::Close).map(|trial| trial.rate_per_sec);
    UP.powi(1 << doublings) * close.fold(held, f64::max)
}

/// The next rate below the lowest that was tried; the steps grow.
fn below(trials: &[Trial], top: f64, lowest: f64) -> Next {
    let mut rates = trials.iter().map(|trial| trial.rate_per_sec);
    let mut lowest_tried = rates.next().unwrap_or(top);
    let mut in_vain = 0;
    for rate in rates {
        in_vain = if rate < lowest_tried { in_vain + 1 } else { 0 };
        lowest_tried = lowest_tried.min(rate);
    }
    above_lowest(lowest_tried * DOWN.powi(1 << in_vain.min(DOUBLINGS - 1)), lowest_tried, lowest)
}

/// Tries this rate, but not below the lowest one allowed, which is tried once.
fn above_lowest(rate_per_sec: f64, lowest_tried: f64, lowest: f64) -> Next {
    if lowest_tried <= lowest * (1.0 + ROUNDING) { Next::Done } else { rested(rate_per_sec.max(lowest)) }
}

/// Halves the widest gap between the highest rate that held and the lowest that broke until it is narrow. Then tries the two ends of an
/// interval around its middle, or around the rates that were too close to decide.
fn between(tolerance: f64, bracket: &Bracket, (held, top): (f64, f64)) -> Next {
    let limited = limited_rates(&bracket.standing);
    // A rate that the generator does not reach cannot be decided either.
    let is_close =
        |trial: &&Trial| trial.outcome == TrialOutcome::Close || limited.contains(&trial.rate_per_sec);
    let close = bracket.standing.iter().filter(is_close).map(|trial| trial.rate_per_sec);
    let close: Vec<f64> = close.filter(|rate| held < *rate && *rate < top).collect();
    let mut rates: Vec<f64> = [held, top].iter().chain(&close).copied().collect();
    rates.sort_by(f64::total_cmp);
    let widest = rates.windows(2).max_by(|a, b| (a[1] / a[0]).total_cmp(&(b[1] / b[0])));
    if let Some(&[low, high]) = widest
        && high / low > 1.0 + tolerance
    {
        return rested((low * high).sqrt());
    }
    let step = (1.0 + tolerance).sqrt();
    let middle = (held * top).sqrt();
    let mut low = close.iter().copied().reduce(f64::min).unwrap_or(middle) / step;
    let mut high = close.iter().copied().reduce(f64::max).unwrap_or(middle) * step;
    while is_undecided(&bracket.standing, low) {
        low /= step;
    }
    while is_undecided(&bracket.standing, high) {
        high *= step;
    }
    confirmation(bracket, low, high)
}

/// True if this rate was tried [`UNDECIDED`] times without being decided.
fn is_undecided(standing: &[Trial], rate_per_sec: f64) -> bool {
    let is_here = |trial: &&Trial| (trial.rate_per_sec / rate_per_sec - 1.0).abs() < ROUNDING;
    let open = |trial: &&Trial| matches!(trial.outcome, TrialOutcome::Close | TrialOutcome::GeneratorLimited);
    standing.iter().filter(open).filter(is_here).count() >= UNDECIDED
}

/// The rate that confirms an end of the interval: an end is confirmed once [`CONFIRMED`] trials at it, or within the interval, had that
/// outcome.
fn confirmation(bracket: &Bracket, low: f64, high: f64) -> Next {
    let standing = &bracket.standing;
    // The rates are products of roots, so that they are compared with a tolerance.
    let held = held(standing).iter().filter(|rate| **rate >= low * (1.0 - ROUNDING)).count();
    let broken = broken(standing).iter().filter(|(rate, _)| *rate <= high * (1.0 + ROUNDING)).count();
    let is_overloaded = standing.last().is_some_and(|last| matches!(last.outcome, TrialOutcome::Broken(_)));
    let confirms_low = held < CONFIRMED;
    let confirms_high = bracket.limited_per_sec.is_none() && broken < CONFIRMED;
    match () {
        () if confirms_low && (is_overloaded || !confirms_high) => {
            Next::Try { rate_per_sec: low, at_once: true }
        }
        () if confirms_high => rested(high),
        () => Next::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AIM: Aim = Aim { tolerance: 0.03, asked_per_sec: None };

    /// Searches a target that holds every rate up to `most`, and with luck of this seed a little more or less.
    fn search(
        most: f64,
        first: f64,
        mut outcome: impl FnMut(usize, f64, bool) -> Option<TrialOutcome>,
    ) -> (Bracket, Vec<Trial>) {
        let mut trials = Vec::new();
        let (mut rate, mut after_overload) = (first, false);
        let is_broken =
            |last: Option<&Trial>| last.is_some_and(|last| matches!(last.outcome, TrialOutcome::Broken(_)));
        loop {
            let by_rate = if rate <= most { TrialOutcome::Held } else { TrialOutcome::Broken(Breach::Queue) };
            let outcome = outcome(trials.len(), rate, after_overload).unwrap_or(by_rate);
            trials.push(Trial { rate_per_sec: rate, outcome, after_overload });
            match next(AIM, &trials) {
                Next::Try { rate_per_sec, at_once } => {
                    (rate, after_overload) = (rate_per_sec, at_once && is_broken(trials.last()));
                }
                Next::Done | Next::GaveUp => return (Bracket::of(AIM.tolerance, &trials), trials),
            }
        }
    }

    #[test]
    fn the_maximum_is_found_from_below_and_from_above_and_confirmed() {
        for first in [900.0, 300.0, 30.0, 1500.0, 8000.0] {
            let (bracket, trials) = search(1000.0, first, |_, _, _| None);
            let (held, (broken, _)) = (bracket.held_per_sec.unwrap(), bracket.broken.unwrap());
            assert!(held <= 1000.0 && broken > 1000.0 && broken / held <= 1.03, "{held} {broken}");
            let count = |is: &dyn Fn(&&Trial) -> bool| trials.iter().filter(is).count();
            let held_twice =
                count(&|trial| trial.outcome == TrialOutcome::Held && trial.rate_per_sec >= held);
            let broke_twice =
                count(&|trial| trial.outcome != TrialOutcome::Held && trial.rate_per_sec <= broken);
            assert!(held_twice >= 2 && broke_twice >= 2, "{trials:?}");
            assert_eq!((drift(0.03, &trials), bracket.hysteresis_per_sec), (None, None));
            let descended = trials.iter().any(|trial| trial.after_overload && trial.rate_per_sec >= held);
            assert!(descended, "the rate that holds was tried on the way down: {trials:?}");
            assert!(trials.len() <= 20, "{first}: {} trials", trials.len());
        }
    }

    #[test]
    fn what_never_holds_ends_the_search() {
        let (bracket, trials) = search(0.0, 1000.0, |_, _, _| None);
        assert_eq!(bracket.held_per_sec, None);
        assert!(trials.len() <= 8, "{trials:?}");
        assert_eq!(trials.iter().map(|trial| trial.rate_per_sec).reduce(f64::min), Some(10.0));
        let (_, trials) = search(0.0, 1000.0, |_, _, _| Some(TrialOutcome::Close));
        assert!(
            trials.iter().all(|trial| trial.rate_per_sec >= 10.0),
            "nor does what is never decided: {trials:?}"
        );
    }

    #[test]
    fn a_generator_that_is_the_limit_is_asked_twice_and_bounds_the_search() {
        let beyond = |_, rate, _| (rate > 5000.0).then_some(TrialOutcome::GeneratorLimited);
        let (bracket, _) = search(1e9, 4000.0, beyond);
        assert_eq!(bracket.broken, None);
        let (held, limited) = (bracket.held_per_sec.unwrap(), bracket.limited_per_sec.unwrap());
        assert!(held <= 5000.0 && limited > 5000.0 && limited / held <= 1.03);
        let once = |count, _, _| (count == 1).then_some(TrialOutcome::GeneratorLimited);
        let (bracket, _) = search(1000.0, 900.0, once);
        assert_eq!(bracket.limited_per_sec, None);
        assert!((1000.0..1031.0).contains(&bracket.broken.unwrap().0));
    }

    #[test]
    fn a_rate_in_the_bracket_that_the_generator_does_not_reach_is_not_tried_for_ever() {
        let limited =
            |_, rate: f64, _| (980.0..1000.0).contains(&rate).then_some(TrialOutcome::GeneratorLimited);
        let (bracket, trials) = search(980.0, 900.0, limited);
        let (held, (broken, _)) = (bracket.held_per_sec.unwrap(), bracket.broken.unwrap());
        assert!(held <= 980.0 && broken >= 1000.0 && trials.len() <= 25, "{held} {broken}: {trials:?}");
        // Nor is an end of the interval: later it does not reach what broke before either.
        let later = |count, rate: f64, _| {
            (count > 3 && (980.0..1060.0).contains(&rate)).then_some(TrialOutcome::GeneratorLimited)
        };
        let (_, trials) = search(1000.0, 900.0, later);
        assert!(trials.len() <= 40, "{trials:?}");
    }

    #[test]
    fn a_later_trial_counts_before_an_earlier_one() {
        // It held 900 when it was cold; later it holds 800.
        let slower = |count, rate, _| {
            let held = if count < 2 { 1000.0 } else { 800.0 };
            Some(if rate <= held { TrialOutcome::Held } else { TrialOutcome::Broken(Breach::Queue) })
        };
        let (bracket, trials) = search(0.0, 900.0, slower);
        let drift = drift(0.03, &trials).unwrap();
        assert!(drift.falls && drift.held_per_sec == 900.0 && drift.broken_per_sec < 850.0, "{drift:?}");
        assert!((776.0..=800.0).contains(&bracket.held_per_sec.unwrap()), "{bracket:?}");
    }

    #[test]
    fn rates_that_cannot_be_decided_lie_within_the_bracket() {
        let close = |_, rate: f64, _| (950.0..1050.0).contains(&rate).then_some(TrialOutcome::Close);
        let (bracket, trials) = search(1000.0, 900.0, close);
        let (held, (broken, _)) = (bracket.held_per_sec.unwrap(), bracket.broken.unwrap());
        assert!((920.0..950.0).contains(&held) && (1050.0..1085.0).contains(&broken), "{held} {broken}");
        assert!(trials.len() <= 20, "{} trials", trials.len());
    }

    #[test]
    fn a_target_that_needs_rest_after_an_overload_is_no_target_that_got_slower() {
        let tired = |_, rate: f64, after_overload: bool| {
            let holds = rate <= if after_overload { 900.0 } else { 1000.0 };
            Some(if holds { TrialOutcome::Held } else { TrialOutcome::Broken(Breach::Queue) })
        };
        let (bracket, trials) = search(0.0, 980.0, tired);
        assert!(bracket.hysteresis_per_sec.is_some_and(|rate| rate <= 1000.0), "{trials:?}");
        assert!(bracket.held_per_sec.unwrap() > 950.0, "{bracket:?}");
        assert_eq!(drift(0.03, &trials), None, "{trials:?}");
    }

    #[test]
    fn an_end_that_cannot_be_decided_is_left_for_one_farther_out() {
        // Decided in the bracket, and never at the rates that would confirm its lower end.
        let close = |count, rate: f64, _| {
            (count > 6 && (960.0..995.0).contains(&rate)).then_some(TrialOutcome::Close)
        };
        let (bracket, trials) = search(1000.0, 900.0, close);
        assert!((940.0..=1000.0).contains(&bracket.held_per_sec.unwrap()), "{bracket:?}");
        assert!(trials.len() <= 20, "{} trials: {trials:?}", trials.len());
    }

    #[test]
    fn a_rate_that_is_asked_for_is_tried_itself() {
        let trial = |rate_per_sec, outcome| Trial { rate_per_sec, outcome, after_overload: false };
        let mut trials =
            vec![trial(900.0, TrialOutcome::Held), trial(1100.0, TrialOutcome::Broken(Breach::Queue))];
        let aim = |asked| Aim { asked_per_sec: Some(asked), ..AIM };
        let rate = |next| match next {
            Next::Try { rate_per_sec, .. } => rate_per_sec,
            Next::Done | Next::GaveUp => f64::NAN,
        };
        assert_eq!(rate(next(aim(1070.0), &trials)), 1070.0);
        assert_eq!(next(aim(1200.0), &trials), next(AIM, &trials), "beyond the bracket it is known");
        trials.push(trial(1070.0, TrialOutcome::Close));
        assert_ne!(rate(next(aim(1070.0), &trials)), 1070.0, "once");
    }
}
