//! CPU time per request.

use crate::{Cost, Stacks};

/// The standard deviations that hold 95 % of a normal distribution.
const Z_95: f64 = 1.96;

/// CPU time per request, in microseconds, with half the width of its 95 % interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Micros {
    /// The best single value.
    pub value: f64,
    /// Half the width of the interval: what the number of samples leaves open.
    pub half: f64,
}

impl Micros {
    /// The difference of two that are independent.
    pub fn minus(self, other: Self) -> Self {
        Self { value: self.value - other.value, half: self.half.hypot(other.half) }
    }

    /// False if zero is within the interval.
    pub fn is_certain(self) -> bool {
        self.value.abs() > self.half
    }
}

/// A profile of a load whose requests were counted.
#[derive(Debug, Clone, Copy)]
pub struct PerRequest<'a> {
    /// The profile.
    pub stacks: &'a Stacks,
    /// Requests that were served while it was taken; more than 0.
    pub requests: f64,
}

impl PerRequest<'_> {
    /// A cost per request.
    ///
    /// Samples come at fixed amounts of CPU time, whatever runs then, so that their number n in one function varies as
    /// counts do (Poisson): by √n. None at all may as well be one.
    pub fn micros(&self, cost: Cost) -> Micros {
        let total = self.stacks.total();
        let sample_ns = total.cpu_ns as f64 / total.samples.max(1) as f64;
        let micros = |ns: f64| ns / 1e3 / self.requests.max(f64::MIN_POSITIVE);
        let deviation_ns = (cost.samples.max(1) as f64).sqrt() * sample_ns;
        Micros { value: micros(cost.cpu_ns as f64), half: Z_95 * micros(deviation_ns) }
    }

    /// All CPU time per request.
    pub fn total(&self) -> Micros {
        self.micros(self.stacks.total())
    }
}
