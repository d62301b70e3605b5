//! Which combinations of switches are measured.

use super::trial::Cell;

/// Up to this many switches all combinations are measured, at most sixteen. More would take too long.
const MAX_FULL_DESIGN: usize = 4;

/// How combinations are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    /// All 2^k combinations: shows every cost at every setting of the other switches, and every interaction.
    Full,
    /// 2k + 2 combinations: all off; each switch alone on; all on; each switch alone off. Shows the cost of a switch alone and on top
    /// of all others, and so whether it interacts, but not with which.
    OneAtATime,
    /// Other combinations, given by the data.
    Given,
}

impl Design {
    /// The design for this many switches.
    pub fn for_switches(switches: usize) -> Self {
        if switches <= MAX_FULL_DESIGN { Self::Full } else { Self::OneAtATime }
    }

    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::OneAtATime => "one_at_a_time",
            Self::Given => "given",
        }
    }
}

/// The combinations of a design.
pub fn settings_of(design: Design, switches: usize) -> Vec<Vec<bool>> {
    match design {
        Design::Full => {
            let bits = |number: usize| (0..switches).map(|switch| number >> switch & 1 == 1).collect();
            (0..1_usize << switches).map(bits).collect()
        }
        Design::OneAtATime | Design::Given => {
            let but = |all: bool, one: usize| (0..switches).map(|switch| (switch == one) != all).collect();
            let uniform = [false, true].map(|all| vec![all; switches]);
            let singles = (0..switches).flat_map(|one| [but(false, one), but(true, one)]);
            let mut all: Vec<Vec<bool>> = uniform.into_iter().chain(singles).collect();
            // With one or two switches some of these are equal.
            all.sort();
            all.dedup();
            all
        }
    }
}

/// Recognises the design of these combinations.
pub(super) fn recognised(cells: &[Cell], switches: usize) -> Design {
    let is = |design: Design| {
        let settings = settings_of(design, switches);
        settings.len() == cells.len() && cells.iter().all(|cell| settings.contains(&cell.settings))
    };
    if switches <= MAX_FULL_DESIGN && is(Design::Full) {
        Design::Full
    } else if is(Design::OneAtATime) {
        Design::OneAtATime
    } else {
        Design::Given
    }
}
