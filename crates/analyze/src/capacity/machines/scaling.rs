//! How throughput followed the number of a tier's machines.

use super::doubt::Doubt;
use super::terms::Goal;
use plimsoll_stats::usl::{Point, Usl, UslFit, fit};

/// Machines are not planned by the law beyond so many times the most that were measured.
const MAX_EXTRAPOLATION: f64 = 2.0;

/// Growth by more than in proportion, beyond what measuring is off by.
const MAX_PROPORTIONAL: f64 = 1.1;

/// Throughput over the number of machines of one tier, where it was this tier that limited.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// Machines and requests per second, the fewest machines first.
    pub points: Vec<(f64, f64)>,
    /// The Universal Scalability Law over machines, where six counts or more were measured and it fits.
    pub usl: Option<Usl>,
}

impl Scaling {
    /// The scaling by these points; of several of one count the highest is taken. `None` for fewer than two counts.
    pub(super) fn fit(mut measured: Vec<(f64, f64)>) -> Option<Self> {
        measured.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        measured.dedup_by(|later, kept| later.0 == kept.0);
        if measured.len() < 2 {
            return None;
        }
        let point = |(machines, per_sec): &(f64, f64)| Point {
            size: *machines,
            throughput: *per_sec,
            interval: None,
        };
        let usl = match fit(&measured.iter().map(point).collect::<Vec<_>>()) {
            UslFit::Fitted(usl) => Some(usl),
            UslFit::TooFewPoints(_) | UslFit::Poor => None,
        };
        Some(Self { points: measured, usl })
    }

    /// Throughput a machine with the most of them over that with the fewest: 1 for growth in proportion.
    pub fn efficiency(&self) -> f64 {
        let each = |point: Option<&(f64, f64)>| point.map_or(1.0, |(machines, per_sec)| per_sec / machines);
        each(self.points.last()) / each(self.points.first())
    }

    /// The fewest and the most machines that were measured.
    pub fn span(&self) -> (f64, f64) {
        let machines = |point: Option<&(f64, f64)>| point.map_or(0.0, |point| point.0);
        (machines(self.points.first()), machines(self.points.last()))
    }

    /// The fewest machines that carry the target at the utilisation of the goal by the law, as far as it may be followed.
    pub(super) fn machines(&self, goal: Goal) -> Option<u64> {
        let usl = self.usl?;
        let most = (MAX_EXTRAPOLATION * self.span().1).floor() as u64;
        (1..=most).find(|machines| usl.throughput(*machines as f64) * goal.utilisation >= goal.target_per_sec)
    }

    /// What is to be said of a count of machines by what was measured.
    pub(super) fn doubt(&self, count: u64) -> Option<Doubt> {
        let (few, most) = self.span();
        if self.efficiency() > MAX_PROPORTIONAL {
            return Some(Doubt::MoreThanLinear { few, most });
        }
        let trusted = MAX_EXTRAPOLATION * most;
        (count as f64 > trusted).then_some(Doubt::BeyondMeasured { count, most, trusted })
    }
}
