//! Linear value axes: the places and texts of their ticks.

use plimsoll_units::grouped;

/// At most this many steps between ticks.
const MAX_TICK_STEPS: f64 = 6.0;
/// Factors of a power of ten that give round distances.
const ROUND: [f64; 4] = [1.0, 2.0, 2.5, 5.0];
/// Additional factors, for an axis whose number of ticks is given.
const ROUND_FINE: [f64; 8] = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 8.0];
/// Room left above the highest value, so that no point touches the frame.
const HEADROOM: f64 = 1.06;

/// A linear value axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    /// The quantity and its unit.
    pub(super) label: String,
    /// The value at the bottom of the frame, which is the lowest tick.
    pub(super) bottom: f64,
    /// The value at the top of the frame.
    pub(super) top: f64,
    /// Distance of the ticks.
    pub(super) step: f64,
    /// The highest tick.
    pub(super) last_tick: f64,
}

impl Axis {
    /// An axis from zero that shows `highest`, with round ticks: 1, 2, 2.5 or 5 times a power of ten apart.
    pub(super) fn from_zero(label: &str, highest: f64) -> Self {
        let reach = reach_of(highest);
        let step = round_step(reach / MAX_TICK_STEPS, &ROUND);
        let top = (reach / step).ceil() * step;
        Self { label: label.to_owned(), bottom: 0.0, top, step, last_tick: top }
    }

    /// An axis that shows the values from `lowest` to `highest` and not much else, where small differences count.
    pub(super) fn around(label: &str, lowest: f64, highest: f64) -> Self {
        if !(lowest > 0.0 && lowest < highest && highest.is_finite()) {
            return Self::from_zero(label, highest);
        }
        let room = (highest - lowest) * (HEADROOM - 1.0);
        let step = round_step((highest - lowest + 2.0 * room) / MAX_TICK_STEPS, &ROUND);
        let bottom = ((lowest - room) / step).floor().max(0.0) * step;
        let top = ((highest + room) / step).ceil() * step;
        Self { label: label.to_owned(), bottom, top, step, last_tick: top }
    }

    /// The height of a value, 0 at the bottom and 1 at the top.
    pub(super) fn height(&self, value: f64) -> f64 {
        (value - self.bottom) / (self.top - self.bottom)
    }

    /// An axis from zero that shows `highest`, with the number of ticks of `other`, so that both share one grid.
    pub(super) fn aligned_with(other: &Self, label: &str, highest: f64) -> Self {
        let steps = (other.last_tick / other.step).round();
        let step = round_step(reach_of(highest) / steps, &ROUND_FINE);
        Self { label: label.to_owned(), bottom: 0.0, top: step * steps, step, last_tick: step * steps }
    }

    /// An axis that shows zero and all of these values, which may lie on both sides of it.
    pub(super) fn around_zero(label: &str, values: impl Iterator<Item = f64>) -> Self {
        let finite = values.filter(|value| value.is_finite());
        let (low, high) =
            finite.fold((0.0, 0.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
        let (low, high) = if high > low { (low * HEADROOM, high * HEADROOM) } else { (-1.0, 1.0) };
        let step = round_step((high - low) / MAX_TICK_STEPS, &ROUND);
        let (bottom, top) = ((low / step).floor() * step, (high / step).ceil() * step);
        Self { label: label.to_owned(), bottom, top, step, last_tick: top }
    }

    /// The ticks with their texts, lowest first.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let place = |value: f64| (value / self.step).round() as i64;
        let places = place(self.bottom)..=place(self.last_tick);
        places.map(|n| n as f64 * self.step).map(|value| (value, self.tick_text(value))).collect()
    }

    fn tick_text(&self, value: f64) -> String {
        if value == 0.0 {
            return "0".to_owned();
        }
        if value < 0.0 {
            // The font of figures has no minus sign but the hyphen.
            return format!("-{}", self.tick_text(-value));
        }
        if self.step >= 1e6 {
            return format!("{}M", plain(value / 1e6, self.step / 1e6));
        }
        if self.step >= 1.0 && self.step.fract() == 0.0 {
            grouped(value.round() as u64)
        } else {
            plain(value, self.step)
        }
    }
}

/// Returns how far an axis extends to show `highest`; 1 if that is not a positive number.
fn reach_of(highest: f64) -> f64 {
    if highest.is_finite() && highest > 0.0 { highest * HEADROOM } else { 1.0 }
}

/// Returns the smallest round distance that is at least `least`.
fn round_step(least: f64, factors: &[f64]) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    // The small allowance keeps 2.0000000001 from becoming 2.5.
    let fits = |factor: &&f64| **factor * power >= least * (1.0 - 1e-9);
    factors.iter().find(fits).unwrap_or(&10.0) * power
}

/// Formats a tick with as many decimals as its distance to the next one needs.
fn plain(value: f64, step: f64) -> String {
    let decimals = (0..12).find(|digits| {
        let scaled = step * 10_f64.powi(*digits);
        (scaled - scaled.round()).abs() < 1e-6 * scaled
    });
    format!("{value:.*}", decimals.unwrap_or(12) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(highest: f64) -> Vec<String> {
        Axis::from_zero("", highest).ticks().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_and_hold_the_highest_value() {
        assert_eq!(texts(3190.0), ["0", "1,000", "2,000", "3,000", "4,000"]);
        assert_eq!(texts(0.042), ["0", "0.01", "0.02", "0.03", "0.04", "0.05"]);
        assert_eq!(texts(12.0), ["0", "2.5", "5.0", "7.5", "10.0", "12.5", "15.0"]);
        assert_eq!(texts(0.0), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(f64::NAN), texts(0.0));
    }

    #[test]
    fn an_axis_around_values_shows_them_large() {
        let axis = Axis::around("", 3010.0, 3230.0);
        let ticks: Vec<String> = axis.ticks().into_iter().map(|(_, text)| text).collect();
        assert_eq!(ticks, ["2,950", "3,000", "3,050", "3,100", "3,150", "3,200", "3,250"]);
        assert!(axis.height(3010.0) < 0.25 && axis.height(3230.0) > 0.85);
        for (low, high) in [(5.0, 5.0), (f64::NAN, 1.0), (0.0, 10.0)] {
            assert_eq!(Axis::around("", low, high).bottom, 0.0);
        }
    }

    #[test]
    fn an_axis_around_zero_has_it_as_a_tick_and_holds_both_sides() {
        let texts = |values: &[f64]| -> Vec<String> {
            Axis::around_zero("", values.iter().copied()).ticks().into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(texts(&[-3.0, 8.0]), ["-4", "-2", "0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(&[1200.0, f64::NAN]), ["0", "250", "500", "750", "1,000", "1,250", "1,500"]);
        assert_eq!(texts(&[]), ["-1.0", "-0.5", "0", "0.5", "1.0"]);
    }

    #[test]
    fn an_aligned_axis_has_its_ticks_at_the_heights_of_the_other() {
        let left = Axis::from_zero("", 3190.0);
        for highest in [0.0, 0.003, 1.0, 42.0, 1799.0] {
            let right = Axis::aligned_with(&left, "", highest);
            assert_eq!(right.ticks().len(), left.ticks().len());
            assert!(right.top >= highest && right.top <= highest.max(1.0) * 2.2, "{highest}: {}", right.top);
        }
    }

    #[test]
    fn no_tick_is_written_with_an_exponent_and_none_too_long_to_fit() {
        for power in -6..10 {
            for factor in [1.0, 1.7, 2.2, 4.9, 9.9] {
                for text in texts(factor * 10_f64.powi(power)) {
                    assert!(!text.contains('e') && text.len() <= 10, "{text}");
                }
            }
        }
    }
}
