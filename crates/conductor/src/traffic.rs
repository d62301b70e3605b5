//! From the requests of a plan to what the engine sends.
//!
//! Templates, rows and checks are read here, before anything is connected. What turns out to be the same each
//! time is sent as fixed bytes, whatever it was written with.

use std::sync::Arc;

use plimsoll_engine::{FixedRequest, Traffic};
use plimsoll_plan::{CsvFile, Plan, RowOrder};
use plimsoll_scenario::{Check, Feed, Feeder, Known, Mix, Order};

mod block;
mod error;
mod judge;
mod scenario;
#[cfg(test)]
mod tests;
mod wire;

pub use error::{Part, ScenarioError};

use scenario::Scenario;
use wire::{Rows, WireRequest};

/// The requests of a run.
#[derive(Debug)]
pub(crate) enum Requests {
    /// The same for every step: one request, or requests that the caller makes.
    Settled(Traffic),
    /// Made one by one; each step goes on where the one before it ended.
    Varied(Arc<Scenario>),
}

impl Requests {
    /// Reads what the plan says of them; `csv` is the text of its CSV file.
    ///
    /// # Errors
    /// When a template, a check, a row or a weight cannot be used.
    pub(crate) fn of(plan: &Plan, csv: Option<&[u8]>) -> Result<Self, ScenarioError> {
        let feed = plan.csv.as_ref().zip(csv).map(|(file, text)| feed(file, text)).transpose()?;
        let checks =
            plan.checks.iter().map(|typed| Check::parse(typed)).collect::<Result<Vec<Check>, _>>()?;
        let feeder = feed.as_ref().map(|feed| feed.feeder.as_ref());
        let columns = feeder.map_or(&[][..], Feeder::columns);
        let env = |name: &str| std::env::var(name).ok();
        let rows = Rows { known: Known { columns, env: &env }, feeder };
        let mixed = plan.mixed();
        let wire = |request| WireRequest::new((&plan.target, plan.http2), request, &rows);
        let requests = mixed.iter().map(wire).collect::<Result<Vec<_>, _>>()?;
        if let ([request], []) = (requests.as_slice(), checks.as_slice())
            && let Some(fixed) = request.fixed()
        {
            return Ok(Self::Settled(Traffic::Fixed(fixed)));
        }
        let weights: Vec<u32> = mixed.iter().map(|request| request.weight).collect();
        let mix = Mix::new(&weights)?;
        Ok(Self::Varied(Arc::new(Scenario::new(requests, mix, checks, feed, plan.generator.seed))))
    }

    /// What the engine is to send in the step of this index.
    pub(crate) fn of_step(&self, step: u32) -> Traffic {
        match self {
            Self::Settled(traffic) => traffic.clone(),
            Self::Varied(scenario) => Traffic::Generated(scenario.step(step)),
        }
    }

    /// The one request that is sent before the load; none of a caller that makes its own.
    pub(crate) fn first(&self) -> Option<FixedRequest> {
        match self {
            Self::Settled(Traffic::Fixed(request)) => Some(request.clone()),
            Self::Settled(Traffic::Generated(_)) => None,
            Self::Varied(scenario) => Some(scenario.first()),
        }
    }
}

fn feed(file: &CsvFile, text: &[u8]) -> Result<Feed, ScenarioError> {
    let feeder = Feeder::from_csv(text)
        .map_err(|source| ScenarioError::Csv { path: file.path.clone(), source: Box::new(source) })?;
    let order = match file.order {
        RowOrder::Sequential => Order::Sequential,
        RowOrder::Random => Order::Random,
    };
    Ok(Feed { feeder: Arc::new(feeder), order })
}
