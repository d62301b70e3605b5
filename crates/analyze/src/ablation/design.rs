//! Which combinations of switches to measure.

use super::trial::Cell;

/// Up to so many switches all combinations are measured: sixteen. Beyond that they would take too long.
const MAX_FULL_DESIGN: usize = 4;

/// How combinations are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    /// All 2^k of them: every cost is known with every setting of the others, and so is every interaction.
    Full,
    /// Nothing on; each by itself; everything on; each taken out of that: 2k + 2. What a switch costs by itself and on top of
    /// all others is known, and so whether it interacts, but not with which.
    OneAtATime,
    /// Others, chosen elsewhere.
    Given,
}

impl Design {
    /// The design for so many switches.
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
            // Of one or two switches some of these are the same.
            all.sort();
            all.dedup();
            all
        }
    }
}

/// The design that these combinations are of.
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
