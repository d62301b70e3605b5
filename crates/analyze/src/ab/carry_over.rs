//! Tests whether a load depends on the load before it.
//!
//! A round gives d = ln(B/A). Let each load of side s leave c_s behind for the next one, and the second of a round differ from
//! the first by p. Then d is the true difference, plus ±p by the order, plus c_A − c_B if the round's first side differs from
//! the side loaded before it: in A | A B both sides come after A, in B | A B each comes after the other. So comparing rounds
//! that switched sides with rounds that did not shows the carry-over, and comparing rounds A B with rounds B A shows the order.

use plimsoll_stats::shift;

use crate::Estimate;

/// The error of each of the two tests: the share of comparisons without the effect in which it is found.
const ALPHA: f64 = 0.01;

/// The main figure in one round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundRatio {
    /// From 1.
    pub round: u32,
    /// B over A.
    pub ratio: f64,
    /// True if A was loaded before B.
    pub a_first: bool,
    /// True if the first side differs from the side loaded before the round; `None` for the first round.
    pub switched: Option<bool>,
}

/// The effects of the order of loads that are tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectKind {
    /// A load depends on whether it is the first or the second of its round.
    Order,
    /// A load depends on which side was loaded before it.
    CarryOver,
}

/// An influence on the figures other than the side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    pub kind: EffectKind,
    /// The change of ln(B/A) of the main figure, with the 99 % interval.
    pub size: Estimate,
}

impl Effect {
    /// True if the interval excludes 0.
    pub fn is_sure(&self) -> bool {
        self.size.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }

    /// The possible error of the compared ratio because of this effect: a balanced order cancels its mean, and half of a carry-over
    /// remains.
    pub fn bias(&self) -> f64 {
        match self.kind {
            EffectKind::Order => 0.0,
            EffectKind::CarryOver => self.size.value.abs() / 2.0,
        }
    }
}

/// Tests both effects; an effect with too few rounds for a test is left out.
pub(super) fn effects(ratios: &[RoundRatio]) -> Vec<Effect> {
    let logs = |keep: &dyn Fn(&RoundRatio) -> bool| -> Vec<f64> {
        ratios.iter().filter(|one| keep(one)).map(|one| one.ratio.ln()).collect()
    };
    let effect = |kind, size: Option<Estimate>| size.map(|size| Effect { kind, size });
    let order = shift(&logs(&|one| one.a_first), &logs(&|one| !one.a_first), ALPHA);
    let carried =
        shift(&logs(&|one| one.switched == Some(true)), &logs(&|one| one.switched == Some(false)), ALPHA);
    effect(EffectKind::Order, order).into_iter().chain(effect(EffectKind::CarryOver, carried)).collect()
}
