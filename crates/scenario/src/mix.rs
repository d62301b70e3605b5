//! Which of several requests comes next, by their weights.
//!
//! The order is fixed, not drawn: drawn shares are only right on average, and after a hundred draws a request
//! of weight 1 in 10 may have come five times or fifteen, which no report could distinguish from an effect of
//! the server. Here each cycle holds every request exactly as often as its weight says, evenly spread.

#[cfg(test)]
mod tests;

/// The longest cycle that is built; at four bytes a slot, 4 MiB.
const MAX_CYCLE: u64 = 1 << 20;

/// Why weights make no mix.
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
        /// The sum of the weights over their greatest common divisor.
        total: u64,
    },
}

/// The order of the requests, laid out for one whole cycle.
///
/// The k-th of a request's w slots stands at (k + ½) / w of the cycle, ties by the order of the requests.
/// That is the order in which the divisor method of Webster and Sainte-Laguë deals out seats, so that after
/// any number of requests, not only whole cycles, the shares are as near to the weights as whole numbers go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mix {
    cycle: Box<[u32]>,
}

/// The position of one worker in the cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MixPosition(usize);

impl Mix {
    /// Lays out the cycle for requests of these weights.
    ///
    /// # Errors
    /// When there is no weight, one is zero, or the cycle would be longer than 2^20 requests.
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

    /// Where a worker begins: the workers start spread over the cycle, and each goes through all of it, so
    /// that a short run has the right shares too, and a slow worker does not change them.
    pub fn start(&self, worker: u32, workers: u32) -> MixPosition {
        let part = self.cycle.len() as u64 * u64::from(worker) / u64::from(workers.max(1));
        MixPosition(part as usize % self.cycle.len())
    }

    /// The index of the next request. It takes constant time and allocates nothing.
    pub fn next(&self, position: &mut MixPosition) -> usize {
        let index = self.cycle[position.0];
        position.0 = if position.0 + 1 == self.cycle.len() { 0 } else { position.0 + 1 };
        index as usize
    }

    /// Requests in one cycle.
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

/// The greatest number that divides both, by Euclid.
fn greatest_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}
