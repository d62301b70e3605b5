//! Local ports that are chosen here and not by the kernel.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use plimsoll_plan::Shard;

/// A port of one of several sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Index of the source.
    pub(super) source: u32,
    pub(super) port: u16,
}

/// The ports of one worker to one destination that are free as far as it knows: those that were free for longest
/// come first, since the kernel remembers a closed connection for a minute.
#[derive(Debug)]
pub(super) struct Ports {
    free: VecDeque<Place>,
}

impl Ports {
    /// Every `of`-th port of the range at each source; no two workers have one in common.
    pub(super) fn new(sources: u64, range: &RangeInclusive<u16>, shard: Shard) -> Self {
        let sources = u32::try_from(sources).unwrap_or(u32::MAX);
        let own = range.clone().skip(shard.index as usize).step_by(shard.of.max(1) as usize);
        let free = own.flat_map(|port| (0..sources).map(move |source| Place { source, port })).collect();
        Self { free }
    }

    /// Takes back the place of a closed connection, if there was one, and gives another. `None` if all are held.
    pub(super) fn exchange(&mut self, closed: Option<Place>) -> Option<Place> {
        self.free.extend(closed);
        self.free.pop_front()
    }

    /// Goes on further away after so many tries: ports that are taken lie side by side, those of another run for
    /// example, so each leap is twice as long as the one before.
    pub(super) fn leap(&mut self, tries: u32) {
        if !self.free.is_empty() {
            let far = 1_usize.checked_shl(tries).unwrap_or(usize::MAX) - 1;
            let count = self.free.len();
            self.free.rotate_left(far % count);
        }
    }
}
