//! Chooses the next of several requests by their weights.
//!
//! The order is fixed, not random. Random ratios are right only on average: after a hundred draws a request of weight 1 in 10 may
//! have come five times or fifteen, which no report could distinguish from an effect of the server. Here each cycle contains every
//! request exactly as often as its weight says, evenly spread.

#[cfg(test)]
mod tests;

/// The maximum length of a cycle; with four bytes per slot, 4 MiB.
const MAX_CYCLE: u64 = 1 << 20;

/// Why weights do not form a mix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MixError {
    #[error("a mix needs at least one request")]
    Empty,
    #[error("the weight of request {index} is 0; leave the request out, or give it a weight of 1 or more")]
    Zero {
        /// The request, counted from 1.
        index: usize,
    },
    #[error(
        "the weights add up to {total}, divided by what they share, and may to {MAX_CYCLE}; use smaller ones, \
         such as 1 and 1000 for 3 and 2999"
    )]
    TooLong {
        /// The sum of the weights divided by their greatest common divisor.
        total: u64,
    },
}

/// The order of the requests in one whole cycle.
///
/// The k-th of a request's w slots is at (k + ½) / w of the cycle; ties are in the order of the requests. This is the order in which
/// the divisor method of Webster and Sainte-Laguë allocates seats. So after any number of requests, not only after whole cycles, the
/// ratios are as close to the weights as whole numbers allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mix {
    cycle: Box<[u32]>,
}

/// The position of one worker in the cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MixPosition(usize);

impl Mix {
    /// Builds the cycle for requests with these weights.
    ///
    /// # Errors
    /// When there are no weights, one is zero, or the cycle would be longer than 2^20 requests.
    pub fn new(weights: &[u32]) -> Result<Self, MixError> {
        if let Some(index) = weights.iter().position(|weight| *weight == 0) {
            return Err(MixError::Zero { index: index + 1 });
        }
        let shared = weights.iter().copied().reduce(greatest_divisor).ok_or(MixError::Empty)?;
        let total = weights.iter().map(|weight| u64::from(weight / shared)).sum();
        if total > MAX_CYCLE {
            return Err(MixError::TooLong { total });
        }
        let mut slots = Vec::with_capacity(total as usize);
        for (index, weight) in (0..).zip(weights.iter().map(|weight| weight / shared)) {
            slots.extend((0..weight).map(|k| Slot { index, k, weight }));
        }
        slots.sort_by(Slot::order);
        Ok(Self { cycle: slots.iter().map(|slot| slot.index).collect() })
    }

    /// Returns where a worker starts. The workers start evenly spread over the cycle, and each goes through all of it. So even a short
    /// run has the right ratios, and a slow worker does not change them.
    pub fn start(&self, worker: u32, workers: u32) -> MixPosition {
        let part = self.cycle.len() as u64 * u64::from(worker) / u64::from(workers.max(1));
        MixPosition(part as usize % self.cycle.len())
    }

    /// Returns the index of the next request. Takes constant time and does not allocate.
    pub fn next(&self, position: &mut MixPosition) -> usize {
        let index = self.cycle[position.0];
        position.0 = if position.0 + 1 == self.cycle.len() { 0 } else { position.0 + 1 };
        index as usize
    }

    /// Returns the number of requests in one cycle.
    pub fn cycle_len(&self) -> usize {
        self.cycle.len()
    }
}

/// The k-th slot of a request, at (2k + 1) / 2w of the cycle.
struct Slot {
    index: u32,
    k: u32,
    weight: u32,
}

impl Slot {
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let scaled = |one: &Self, by: &Self| (2 * u64::from(one.k) + 1) * u64::from(by.weight);
        scaled(self, other).cmp(&scaled(other, self)).then(self.index.cmp(&other.index))
    }
}

/// Returns the greatest common divisor, by Euclid's algorithm.
fn greatest_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}
