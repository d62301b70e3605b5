//! CPU time per request, and the differences of two profiles, function by function.

use std::collections::BTreeMap;

use plimsoll_stats::Z_95;

use crate::{Cost, Stacks};

/// CPU time per request, in microseconds, with half the width of its 95 % interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Micros {
    pub value: f64,
    /// Half the width of the interval, which reflects the number of samples.
    pub half: f64,
}

impl Micros {
    /// Returns the difference of two independent values.
    pub fn minus(self, other: Self) -> Self {
        Self { value: self.value - other.value, half: self.half.hypot(other.half) }
    }

    /// Whether the value is significant: zero is outside of its interval.
    pub fn is_certain(self) -> bool {
        self.value.abs() > self.half
    }
}

/// A profile of a load, with the number of its requests.
#[derive(Debug, Clone, Copy)]
pub struct PerRequest<'a> {
    pub stacks: &'a Stacks,
    /// Requests that were served during the profile; more than 0.
    pub requests: f64,
}

impl PerRequest<'_> {
    /// Converts a cost to a cost per request.
    ///
    /// Samples are taken at fixed amounts of CPU time, whatever runs at that moment. So their number n in a function varies as counts do
    /// (Poisson), by √n. A count of 0 is treated like 1.
    pub fn micros(&self, cost: Cost) -> Micros {
        let total = self.stacks.total();
        let sample_ns = total.cpu_ns as f64 / total.samples.max(1) as f64;
        let micros = |ns: f64| ns / 1e3 / self.requests.max(f64::MIN_POSITIVE);
        let deviation_ns = (cost.samples.max(1) as f64).sqrt() * sample_ns;
        Micros { value: micros(cost.cpu_ns as f64), half: Z_95 * micros(deviation_ns) }
    }

    /// Returns the total CPU time per request.
    pub fn total(&self) -> Micros {
        self.micros(self.stacks.total())
    }
}

/// The cost of a function per request in two profiles, A and B.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change<'a> {
    pub name: &'a str,
    /// The time in which the function or a function that it called ran, in A.
    pub cumulative_a: Micros,
    /// The same time in B.
    pub cumulative_b: Micros,
    /// The difference A − B of the cumulative times.
    pub cumulative: Micros,
    /// The difference A − B of the times in which the function itself ran.
    pub flat: Micros,
}

/// Returns the change of every function in either profile, largest difference first. Insignificant differences come after all others.
pub fn difference<'a>(a: &PerRequest<'a>, b: &PerRequest<'a>) -> Vec<Change<'a>> {
    let mut functions: BTreeMap<&str, [(Cost, Cost); 2]> = BTreeMap::new();
    for (side, profile) in [a, b].into_iter().enumerate() {
        for function in profile.stacks.functions() {
            functions.entry(function.name).or_default()[side] = (function.flat, function.cumulative);
        }
    }
    let mut changes: Vec<Change<'a>> = functions
        .into_iter()
        .map(|(name, [(flat_a, sum_a), (flat_b, sum_b)])| {
            let (cumulative_a, cumulative_b) = (a.micros(sum_a), b.micros(sum_b));
            let flat = a.micros(flat_a).minus(b.micros(flat_b));
            Change { name, cumulative_a, cumulative_b, cumulative: cumulative_a.minus(cumulative_b), flat }
        })
        .collect();
    let rank = |change: &Change<'_>| (change.cumulative.is_certain(), change.cumulative.value.abs());
    changes.sort_by(|x, y| {
        let (x, y) = (rank(x), rank(y));
        y.0.cmp(&x.0).then(y.1.total_cmp(&x.1))
    });
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(all: &[(&[&str], u64)]) -> Stacks {
        let mut stacks = Stacks::default();
        for (outermost_first, samples) in all {
            let numbers: Vec<u32> = outermost_first.iter().rev().map(|name| stacks.number(name)).collect();
            stacks.add(&numbers, Cost { samples: *samples, cpu_ns: samples * 10_000_000 });
        }
        stacks
    }

    #[test]
    fn what_only_one_of_them_does_is_named_with_its_cost_per_request() {
        let with = stacks(&[(&["serve", "dump"], 600), (&["serve"], 400)]);
        let without = stacks(&[(&["serve"], 855), (&["sweep"], 10)]);
        let changes = difference(
            &PerRequest { stacks: &with, requests: 10_000.0 },
            &PerRequest { stacks: &without, requests: 22_500.0 },
        );
        let names: Vec<_> = changes.iter().map(|change| change.name).collect();
        assert_eq!(names, ["serve", "dump", "sweep"]);
        let near = |seen: f64, expected: f64| (seen - expected).abs() < 1e-9;
        assert!(
            near(changes[1].cumulative.value, 600.0),
            "600 samples of 10 ms in 10,000 requests are 600 µs"
        );
        assert!(near(changes[0].flat.value, 20.0) && !changes[0].flat.is_certain(), "{:?}", changes[0]);
        assert!(near(changes[0].cumulative.value, 620.0) && changes[0].cumulative.is_certain());
    }

    #[test]
    fn a_few_samples_are_no_difference() {
        let (a, b) = (stacks(&[(&["gc"], 6), (&["x"], 500)]), stacks(&[(&["gc"], 3), (&["x"], 503)]));
        let side = |stacks| PerRequest { stacks, requests: 100.0 };
        let changes = difference(&side(&a), &side(&b));
        assert!(changes.iter().all(|change| !change.cumulative.is_certain()), "{changes:?}");
    }
}
