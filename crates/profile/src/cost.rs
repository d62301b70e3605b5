//! What a function costs.

use std::ops::AddAssign;

/// CPU time, and the samples it was found by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Times that it was seen.
    pub samples: u64,
    /// CPU time that these stand for, in nanoseconds.
    pub cpu_ns: u64,
}

impl AddAssign for Cost {
    /// Sums hold at their bounds: a profile is not to be trusted.
    fn add_assign(&mut self, other: Self) {
        self.samples = self.samples.saturating_add(other.samples);
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
    }
}

/// One function of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionCost<'a> {
    /// Its name.
    pub name: &'a str,
    /// While it ran itself.
    pub flat: Cost,
    /// While it, or anything it called, ran; once for each sample, however often it is in the stack.
    pub cumulative: Cost,
}
