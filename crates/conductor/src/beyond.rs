//! Detects a rate that the generators of a run cannot make.

use std::fmt;

use plimsoll_plan::{Level, Load, Plan};
use plimsoll_units::{count_text, grouped};

use crate::peers::Peers;

/// An open loop's rate exceeds what the workers of a fleet can make, by the calibrations of their machines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BeyondCeilings {
    /// The highest rate of the plan, requests per second.
    asked_per_sec: f64,
    /// The rate that the workers taking part can make together, in requests per second.
    ceiling_per_sec: u64,
    /// The number of workers that take part; `available` is the number of all workers.
    workers: u32,
    available: u32,
}

impl BeyondCeilings {
    /// `None` if the workers can make the rate, or if a ceiling is unknown. Ceilings are measured with one request under way on each
    /// connection, so they are not valid for a depth above 1.
    pub(crate) fn new(plan: &Plan, peers: &Peers) -> Option<Self> {
        let Load::Single { level, .. } = &plan.load else { return None };
        if peers.coordinator_takes_part() || level.depth() > 1 {
            return None;
        }
        let asked_per_sec = highest_rate(plan, level)?;
        let available = peers.workers();
        let workers = available.min(level.connections());
        let ceiling_per_sec = peers.ceiling_per_sec(workers)?;
        let beyond = Self { asked_per_sec, ceiling_per_sec, workers, available };
        (workers > 0 && asked_per_sec > ceiling_per_sec as f64).then_some(beyond)
    }
}

/// The highest rate that the plan gives: that of its load, or of overloads of a given rate.
fn highest_rate(plan: &Plan, level: &Level) -> Option<f64> {
    let own = level.profile()?.peak_per_sec();
    let overloads = plan.overload.iter().flat_map(|order| {
        let rate_per_sec = order.rate_per_sec.unwrap_or(0.0);
        order.factors.iter().map(move |factor| factor * rate_per_sec)
    });
    Some(overloads.fold(own, f64::max))
}

impl fmt::Display for BeyondCeilings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked_per_sec, ceiling_per_sec, workers, available } = *self;
        let (asked, ceiling) = (count_text(asked_per_sec), grouped(ceiling_per_sec));
        write!(
            f,
            "the plan asks for {asked} requests/s, and the agents can make {ceiling} by their calibrations: what is beyond \
             leaves late; use a rate up to {ceiling}, or more agents"
        )?;
        match available > workers {
            true => write!(f, ", or -c {available}: only {workers} of {available} workers have a connection"),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
