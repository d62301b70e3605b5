//! A CPU profile as the boxes of a flame graph.

use std::collections::BTreeMap;

use plimsoll_profile::Cost;

use super::document::{Interval, document, each};
use crate::ProfiledRun;

/// Boxes with less than this share of the CPU time are left out: they are narrower than a pixel.
const SHARE_MIN: f64 = 0.0005;

document! {
    /// A CPU profile as the boxes of a flame graph: each box is a function called by the function of the box around it.
    /// The lists `function`, `depth`, `us` and `us_half` have one entry for each box; a box comes before the boxes in it.
    pub struct FlameDocument(profiled: &ProfiledRun, boxes: &Boxes<'_>) {
        /// Where the profile came from.
        source: String = &profiled.source,
        /// How long it was taken, in seconds.
        seconds: f64 = profiled.span_sec,
        /// CPU time per request, in µs.
        total_us: f64 = profiled.per_request().total().value,
        /// The 95 % interval of `total_us`, from the number of samples.
        total_us_interval: Interval = profiled.per_request().total(),
        /// The names of functions.
        names: Vec<String> = each(&boxes.names, |name| (*name).to_owned()),
        /// The function of each box, as an index of `names`.
        function: Vec<usize> = each(&boxes.boxes, |one| one.function),
        /// The number of boxes around each box.
        depth: Vec<usize> = each(&boxes.boxes, |one| one.depth),
        /// CPU time per request in each box and the boxes in it, in µs.
        us: Vec<f64> = each(&boxes.boxes, |one| profiled.per_request().micros(one.cost).value),
        /// Half the width of the 95 % interval of `us`.
        us_half: Vec<f64> = each(&boxes.boxes, |one| profiled.per_request().micros(one.cost).half),
    }
}

impl FlameDocument {
    /// The boxes of a profile.
    pub fn of(profiled: &ProfiledRun) -> Self {
        Self::new(profiled, &Boxes::new(profiled))
    }
}

/// One box of a flame graph.
#[derive(Debug, Clone, Copy)]
struct FlameBox {
    function: usize,
    depth: usize,
    cost: Cost,
}

/// The boxes of a profile that are wide enough to be visible, each before the boxes in it.
#[derive(Debug)]
pub struct Boxes<'a> {
    names: Vec<&'a str>,
    boxes: Vec<FlameBox>,
}

impl<'a> Boxes<'a> {
    fn new(profiled: &'a ProfiledRun) -> Self {
        let mut boxes: Vec<(&str, FlameBox)> = Vec::new();
        // The boxes of the previous stack, from the outermost to the innermost.
        let mut open: Vec<usize> = Vec::new();
        // Sorted by name, so that the graphs of two runs have the same order.
        let mut stacks: Vec<(Vec<&str>, Cost)> = profiled.stacks.iter().collect();
        stacks.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (stack, cost) in stacks {
            let shared = stack.iter().zip(&open).take_while(|(name, at)| **name == boxes[**at].0).count();
            open.truncate(shared);
            for (depth, name) in stack.iter().enumerate().skip(shared) {
                open.push(boxes.len());
                boxes.push((name, FlameBox { function: 0, depth, cost: Cost::default() }));
            }
            open.iter().for_each(|at| boxes[*at].1.cost += cost);
        }
        let least = SHARE_MIN * profiled.stacks.total().cpu_ns as f64;
        boxes.retain(|(_, one)| one.cost.cpu_ns as f64 >= least);
        Self::numbered(boxes)
    }

    fn numbered(boxes: Vec<(&'a str, FlameBox)>) -> Self {
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut names = Vec::new();
        let boxes = boxes.into_iter().map(|(name, one)| {
            let function = *numbers.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() - 1
            });
            FlameBox { function, ..one }
        });
        let boxes = boxes.collect();
        Self { names, boxes }
    }
}
