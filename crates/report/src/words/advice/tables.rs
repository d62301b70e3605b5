//! Advice about rows of tables.

use plimsoll_units::grouped;

use crate::words::phrase::each_of;

pub(super) const MEASURE_ROW_AGAIN: &str =
    "measure it again with a client that reports the mean of all requests and keeps its connections busy";

pub(super) const MORE_LOAD: &str = "repeat the row with more load";

pub(super) const ADD_FIGURES: &str = "add what the machines used: CPU, link, what a tier serves alone";

pub(super) const LOOK_INTO: &str =
    "look at what the table does not show: a database, a cache, a lock or a pool that requests wait for";

pub(super) fn look_at_front(front: &str) -> String {
    format!("look at the CPU of {front}, per worker, and at its link, and repeat the row")
}

pub(super) fn larger_tier_pool(tiers: &[String], workers: f64) -> String {
    let workers = grouped(workers.ceil() as u64);
    format!("raise the pool of {} from about {workers} and repeat the row", each_of(tiers))
}
