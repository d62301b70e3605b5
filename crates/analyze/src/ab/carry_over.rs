//! Whether it matters what ran before.
//!
//! A round gives d = ln(B/A). Let each load of side s leave c_s behind for the next one, and the second of a round differ from
//! the first by p. Then d is the true difference plus ±p by the order, and plus c_A − c_B if the round's first side is not that
//! of the load before it: in A | A B both sides come after A, in B | A B each comes after the other. So the rounds that began with
//! the other side, against those that began with the same, show what is carried over; those in order A B against B A show the
//! order.

use plimsoll_stats::shift;

use crate::Estimate;

/// Each of both tests is wrong in this share of comparisons in which nothing matters.
const ALPHA: f64 = 0.01;

/// The main figure in one round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundRatio {
    /// From 1.
    pub round: u32,
    /// B over A.
    pub ratio: f64,
    /// A was loaded before B.
    pub a_first: bool,
    /// The side that was loaded first is not that of the load before; `None` if there was none.
    pub switched: Option<bool>,
}

/// What of the order of loads was tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectKind {
    /// A load differs by whether it is the first or the second of its round.
    Order,
    /// A load differs by which side was loaded before it.
    CarryOver,
}

/// Something other than the side that changes what is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    pub kind: EffectKind,
    /// How much ln(B/A) of the main figure differs by it, with the 99 % interval.
    pub size: Estimate,
}

impl Effect {
    /// True if it is there beyond chance.
    pub fn is_sure(&self) -> bool {
        self.size.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }

    /// By how much the ratio of the comparison may be off because of it: a balanced order takes out its mean, half of a
    /// carry-over stays.
    pub fn bias(&self) -> f64 {
        match self.kind {
            EffectKind::Order => 0.0,
            EffectKind::CarryOver => self.size.value.abs() / 2.0,
        }
    }
}

/// Both effects, as far as there are rounds enough to test them.
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
