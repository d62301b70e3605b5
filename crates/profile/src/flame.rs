//! The stacks as a tree, which a flame graph draws.

use crate::{Cost, Stacks};

/// A function in the place where it was called from, and what it called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flame {
    /// The function's name; empty at the root.
    pub name: String,
    /// What was spent there, calls included.
    pub cost: Cost,
    /// What it called, in the order of their names.
    pub calls: Vec<Flame>,
}

impl Flame {
    /// The most calls one within another.
    pub fn depth(&self) -> usize {
        self.calls.iter().map(|call| call.depth() + 1).max().unwrap_or(0)
    }

    fn add(&mut self, stack: &[&str], cost: Cost) {
        let mut here = self;
        here.cost += cost;
        for name in stack {
            let place = here.calls.binary_search_by(|call| call.name.as_str().cmp(name));
            let at = place.unwrap_or_else(|at| {
                here.calls.insert(at, Self { name: (*name).to_owned(), ..Self::default() });
                at
            });
            here = &mut here.calls[at];
            here.cost += cost;
        }
    }
}

/// The tree of all stacks.
pub fn flame(stacks: &Stacks) -> Flame {
    let mut root = Flame::default();
    stacks.iter().for_each(|(stack, cost)| root.add(&stack, cost));
    root
}
