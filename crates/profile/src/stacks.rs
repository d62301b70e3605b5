//! The stacks of a profile, with their CPU time.

use std::collections::{BTreeMap, HashMap};
use std::ops::AddAssign;
use std::time::Duration;

/// The maximum of frames kept per stack, the innermost ones. Profilers keep fewer: Go 128, perf 127.
pub const MAX_FRAMES: usize = 512;

/// CPU time, and the number of samples that show it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// The number of samples.
    pub samples: u64,
    /// The CPU time of these samples, in nanoseconds.
    pub cpu_ns: u64,
}

impl AddAssign for Cost {
    /// The sums saturate, because a profile may contain any numbers.
    fn add_assign(&mut self, other: Self) {
        self.samples = self.samples.saturating_add(other.samples);
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
    }
}

/// One function of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionCost<'a> {
    pub name: &'a str,
    /// The cost while the function itself ran.
    pub flat: Cost,
    /// The cost while the function or a function that it called ran. Each sample counts once, however often the function is in its stack.
    pub cumulative: Cost,
}

/// A profile: each stack of functions that was sampled, with its cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stacks {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    /// Stacks from the outermost function to the innermost, as numbers of functions.
    stacks: BTreeMap<Vec<u32>, Cost>,
    /// The time that the profile covers; `None` if it does not say so.
    pub span: Option<Duration>,
}

impl Stacks {
    /// Returns the cost of all stacks together.
    pub fn total(&self) -> Cost {
        let mut total = Cost::default();
        self.stacks.values().for_each(|cost| total += *cost);
        total
    }

    /// Returns the functions, in descending order of cumulative time.
    pub fn functions(&self) -> Vec<FunctionCost<'_>> {
        let mut costs = vec![(Cost::default(), Cost::default()); self.names.len()];
        for (stack, cost) in &self.stacks {
            if let Some(innermost) = stack.last() {
                costs[*innermost as usize].0 += *cost;
            }
            let mut functions = stack.clone();
            functions.sort_unstable();
            functions.dedup();
            functions.iter().for_each(|function| costs[*function as usize].1 += *cost);
        }
        let mut functions: Vec<FunctionCost<'_>> = (self.names.iter())
            .zip(costs)
            .map(|(name, (flat, cumulative))| FunctionCost { name, flat, cumulative })
            .filter(|function| function.cumulative.samples > 0)
            .collect();
        functions.sort_by(|a, b| {
            let key = |function: &FunctionCost<'_>| (function.cumulative.cpu_ns, function.flat.cpu_ns);
            key(b).cmp(&key(a)).then_with(|| a.name.cmp(b.name))
        });
        functions
    }

    /// Iterates over the stacks, each from the outermost function to the innermost.
    pub fn iter(&self) -> impl Iterator<Item = (Vec<&str>, Cost)> {
        let name = |number: &u32| self.names[*number as usize].as_str();
        self.stacks.iter().map(move |(stack, cost)| (stack.iter().map(name).collect(), *cost))
    }

    /// Returns the number of a function, which is assigned on first use.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// Adds the cost of a stack, whose functions are given from the innermost to the outermost.
    pub(crate) fn add(&mut self, innermost_first: &[u32], cost: Cost) {
        let kept = &innermost_first[..innermost_first.len().min(MAX_FRAMES)];
        *self.stacks.entry(kept.iter().rev().copied().collect()).or_default() += cost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(all: &[(&[&str], u64)]) -> Stacks {
        let mut stacks = Stacks::default();
        for (outermost_first, samples) in all {
            let numbers: Vec<u32> = outermost_first.iter().rev().map(|name| stacks.number(name)).collect();
            stacks.add(&numbers, Cost { samples: *samples, cpu_ns: samples * 10 });
        }
        stacks
    }

    #[test]
    fn a_function_that_calls_itself_is_counted_once_a_sample() {
        let stacks = stacks(&[(&["main", "next", "next", "work"], 2), (&["main", "next"], 1)]);
        let functions = stacks.functions();
        let names: Vec<_> = functions.iter().map(|function| function.name).collect();
        assert_eq!(names, ["next", "main", "work"], "of two that hold all, the one that ran itself first");
        assert_eq!(functions[0].cumulative, Cost { samples: 3, cpu_ns: 30 });
        assert_eq!(functions[0].flat, Cost { samples: 1, cpu_ns: 10 });
        assert_eq!(stacks.total(), functions[1].cumulative);
    }

    #[test]
    fn of_an_endless_stack_the_innermost_frames_are_kept() {
        let mut stacks = Stacks::default();
        let (deep, leaf) = (stacks.number("deep"), stacks.number("leaf"));
        let mut frames = vec![leaf];
        frames.extend([deep].repeat(10 * MAX_FRAMES));
        stacks.add(&frames, Cost { samples: 1, cpu_ns: 1 });
        let (kept, _) = stacks.iter().next().unwrap();
        assert_eq!((kept.len(), kept[MAX_FRAMES - 1]), (MAX_FRAMES, "leaf"));
    }
}
