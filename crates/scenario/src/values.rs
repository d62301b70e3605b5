//! The values of a worker's requests: random numbers, the counter, the row of the CSV file.

use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::{Feeder, Order};

#[cfg(test)]
mod tests;

/// One worker's share of the numbers and rows: of the numbers from 0, worker i of n takes i, i + n, i + 2n …
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Index of the worker, below `workers`.
    pub worker: u32,
    /// The number of workers, at least one.
    pub workers: u32,
}

/// The start of counting in a step, so that the step does not reuse what an earlier one used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Start {
    /// The first number of `${counter}`, over all workers.
    pub number: u64,
    /// The first row, over all workers; after the last row, counting continues with the first.
    pub row: u64,
}

impl Start {
    /// Returns the maximum of each field. The maximum of [`Values::unused`] over all workers is where the next step starts.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { number: self.number.max(other.number), row: self.row.max(other.row) }
    }
}

/// A CSV file, and the order in which its rows are used.
#[derive(Debug, Clone)]
pub struct RowSource {
    pub feeder: Arc<Feeder>,
    pub order: Order,
}

/// The values of the templates' variables in a worker's current request.
///
/// The counter and the row are taken when a template first uses them. A request that does not use them takes none, so no number and no
/// row is skipped. The same seed yields the same values again. The steps of one run need different seeds, or a `${uuid}` repeats.
#[derive(Debug)]
pub struct Values {
    random: Xoshiro256PlusPlus,
    stride: u64,
    unused: Start,
    row_source: Option<RowSource>,
    unix_ms: u64,
    number: Option<u64>,
    row: Option<usize>,
}

impl Values {
    /// Creates the values of one worker.
    pub fn new(seed: u64, share: Share, start: Start, row_source: Option<RowSource>) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        // A jump skips 2^128 numbers, so the sequences of the workers cannot overlap.
        (0..share.worker).for_each(|_| random.jump());
        let worker = u64::from(share.worker);
        let unused = Start { number: start.number + worker, row: start.row + worker };
        let stride = u64::from(share.workers.max(1));
        Self { random, stride, unused, row_source, unix_ms: 0, number: None, row: None }
    }

    /// Begins the next request, at a time in milliseconds since 1970. From here on the counter and the row are new.
    pub fn next_request(&mut self, unix_ms: u64) {
        self.unix_ms = unix_ms;
        self.number = None;
        self.row = None;
    }

    /// Returns the first number and row from which on this worker has used none.
    pub fn unused(&self) -> Start {
        let after = |next: u64| (next + 1).saturating_sub(self.stride);
        Start { number: after(self.unused.number), row: after(self.unused.row) }
    }

    pub(crate) fn unix_ms(&self) -> u64 {
        self.unix_ms
    }

    /// Returns the request's number.
    pub(crate) fn number(&mut self) -> u64 {
        *self.number.get_or_insert_with(|| {
            let number = self.unused.number;
            self.unused.number += self.stride;
            number
        })
    }

    /// Returns a cell of the request's row.
    pub(crate) fn cell(&mut self, column: usize) -> &[u8] {
        let row = self.take_row();
        self.row_source.as_ref().map_or(&[], |row_source| row_source.feeder.cell(row, column))
    }

    fn take_row(&mut self) -> usize {
        if let Some(row) = self.row {
            return row;
        }
        let rows = self.row_source.as_ref().map_or(1, |row_source| row_source.feeder.rows() as u64);
        let row = match self.row_source.as_ref().map_or(Order::Sequential, |row_source| row_source.order) {
            Order::Sequential => {
                let row = self.unused.row % rows;
                self.unused.row += self.stride;
                row
            }
            Order::Random => self.random_below(rows),
        } as usize;
        self.row = Some(row);
        row
    }

    pub(crate) fn random_bytes(&mut self) -> [u8; 16] {
        let mut bytes = [0; 16];
        self.random.fill_bytes(&mut bytes);
        bytes
    }

    /// Returns a random number from `low` to `high`, both included.
    pub(crate) fn random_within(&mut self, low: i64, high: i64) -> i64 {
        match high.abs_diff(low).checked_add(1) {
            Some(count) => low.wrapping_add_unsigned(self.random_below(count)),
            None => self.random.next_u64().cast_signed(),
        }
    }

    /// Returns a uniformly distributed number below `count`: the high half of a product, where the few values that would bias the result
    /// are drawn again (Lemire 2019, "Fast random integer generation in an interval").
    fn random_below(&mut self, count: u64) -> u64 {
        loop {
            let product = u128::from(self.random.next_u64()) * u128::from(count);
            let low = product as u64;
            if low >= count || low >= count.wrapping_neg() % count {
                return (product >> 64) as u64;
            }
        }
    }
}
