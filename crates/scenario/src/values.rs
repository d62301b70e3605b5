//! The values of a worker's requests: random numbers, the counter, the row of the CSV file.

use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::{Feeder, Order};

#[cfg(test)]
mod tests;

/// One worker's part of what is counted over all of them: of numbers from 0, worker i of n takes i, i + n, i + 2n …
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Index of the worker, below `workers`.
    pub worker: u32,
    /// How many workers there are; at least one.
    pub workers: u32,
}

/// Where counting begins, so that a later step does not use again what an earlier one used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Start {
    /// The first number of `${counter}`, over all workers.
    pub number: u64,
    /// The first row, over all workers; rows beyond the last wrap round.
    pub row: u64,
}

impl Start {
    /// The later of both, taken singly. The latest [`Values::unused`] of all workers is where the next step starts.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { number: self.number.max(other.number), row: self.row.max(other.row) }
    }
}

/// A CSV file and the order in which its rows are taken.
#[derive(Debug, Clone)]
pub struct RowSource {
    pub feeder: Arc<Feeder>,
    pub order: Order,
}

/// What the variables of templates stand for in one worker's current request.
///
/// The counter and the row are taken when a template first asks for them: a request that uses neither takes
/// neither, so no number is skipped and no row is lost to it. The same seed gives the same values again; steps
/// of one run need different seeds, or a `${uuid}` comes twice.
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
    /// The values of one worker.
    pub fn new(seed: u64, share: Share, start: Start, row_source: Option<RowSource>) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        // A jump is 2^128 numbers long: the workers' sequences cannot meet.
        (0..share.worker).for_each(|_| random.jump());
        let worker = u64::from(share.worker);
        let unused = Start { number: start.number + worker, row: start.row + worker };
        let stride = u64::from(share.workers.max(1));
        Self { random, stride, unused, row_source, unix_ms: 0, number: None, row: None }
    }

    /// Begins the next request, at an instant in milliseconds since 1970: from here on the counter and the row are new.
    pub fn next_request(&mut self, unix_ms: u64) {
        self.unix_ms = unix_ms;
        self.number = None;
        self.row = None;
    }

    /// The first number and row from which on this worker has taken none.
    pub fn unused(&self) -> Start {
        let after = |next: u64| (next + 1).saturating_sub(self.stride);
        Start { number: after(self.unused.number), row: after(self.unused.row) }
    }

    pub(crate) fn unix_ms(&self) -> u64 {
        self.unix_ms
    }

    /// The request's number.
    pub(crate) fn number(&mut self) -> u64 {
        *self.number.get_or_insert_with(|| {
            let number = self.unused.number;
            self.unused.number += self.stride;
            number
        })
    }

    /// One cell of the request's row.
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

    /// A number from `low` to `high`, both included.
    pub(crate) fn random_within(&mut self, low: i64, high: i64) -> i64 {
        match high.abs_diff(low).checked_add(1) {
            Some(count) => low.wrapping_add_unsigned(self.random_below(count)),
            None => self.random.next_u64().cast_signed(),
        }
    }

    /// A number below `count`, each as likely as any other: the high half of a product, with the few draws
    /// that would favour some numbers drawn again (Lemire 2019, "Fast random integer generation in an interval").
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
