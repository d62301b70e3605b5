//! Numbers that follow from a seed.

use std::ops::Range;
use std::time::Duration;

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// The same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number of this range, which is not empty.
    pub fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.next() % (range.end - range.start)
    }

    /// True in so many of a thousand cases.
    pub fn permille(&mut self, of_thousand: u64) -> bool {
        self.within(0..1000) < of_thousand
    }

    /// A time of up to `most`; half of all times are shorter than an eighth of it.
    pub fn time(&mut self, most: Duration) -> Duration {
        let part = self.within(0..1001);
        most * (part * part / 1000 * part / 1000) as u32 / 1000
    }
}
