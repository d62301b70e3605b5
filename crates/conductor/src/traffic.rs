//! Converts the requests of a plan to the requests that the engine sends.
//!
//! Templates, rows and checks are parsed here, before the first connection. A request whose parts are all constant
//! is sent as fixed bytes, even if it was written as a template.

use std::sync::Arc;

use plimsoll_engine::{FixedRequest, Traced, Traffic};
use plimsoll_http::Version;
use plimsoll_plan::{CsvFile, Plan, RowOrder};
use plimsoll_scenario::{Check, Feeder, Mix, Order, RowSource, TemplateScope};
use plimsoll_units::unix_time;

mod error;
mod judge;
mod scenario;
#[cfg(test)]
mod tests;
mod wire;

pub use error::ScenarioError;

use scenario::{SEEDS_APART, Scenario};
use wire::WireRequest;

/// The requests of a step, with a trace id for the plan's share of them. Runs with the same seed trace the same requests, with
/// different ids.
pub(crate) fn traced(plan: &Plan, step: u32, traffic: Traffic) -> Traffic {
    let Some(share) = plan.trace else { return traffic };
    let seed = plan.generator.seed.wrapping_add((u64::from(step) + 1).wrapping_mul(SEEDS_APART));
    let id_seed = seed ^ unix_time().as_nanos() as u64;
    Traffic::Generated(Arc::new(Traced { traffic, share, seed, id_seed, http2: plan.http2 }))
}

#[derive(Debug)]
pub(crate) enum Requests {
    /// The same for every step: one request, or requests that the caller generates.
    Settled(Traffic),
    /// Generated one by one; each step continues where the previous one ended.
    Varied(Arc<Scenario>),
}

impl Requests {
    /// The requests of a plan; `csv` is the text of its CSV file.
    pub(crate) fn new(plan: &Plan, csv: Option<&[u8]>) -> Result<Self, ScenarioError> {
        let row_source = plan.csv.as_ref().zip(csv).map(|(file, text)| row_source(file, text)).transpose()?;
        let checks =
            plan.checks.iter().map(|typed| Check::parse(typed)).collect::<Result<Vec<Check>, _>>()?;
        let env = |name: &str| std::env::var(name).ok();
        let scope =
            TemplateScope { feeder: row_source.as_ref().map(|row_source| &row_source.feeder), env: &env };
        let version = if plan.http2 { Version::Http2 } else { Version::Http1 };
        let mixed = plan.mixed();
        let wire = |request| WireRequest::new(&plan.target, version, request, &scope);
        let requests = mixed.iter().map(wire).collect::<Result<Vec<_>, _>>()?;
        if let ([request], []) = (requests.as_slice(), checks.as_slice())
            && let Some(fixed) = request.fixed()
        {
            return Ok(Self::Settled(Traffic::Fixed(fixed)));
        }
        let weights: Vec<u32> = mixed.iter().map(|request| request.weight).collect();
        let mix = Mix::new(&weights)?;
        Ok(Self::Varied(Arc::new(Scenario::new(requests, mix, checks, row_source, plan.generator.seed))))
    }

    /// A placeholder for a process that sends no requests.
    pub(crate) fn of_others() -> Self {
        Self::Settled(Traffic::Fixed(FixedRequest::new(Vec::new(), "GET")))
    }

    pub(crate) fn of_step(&self, step: u32) -> Traffic {
        match self {
            Self::Settled(traffic) => traffic.clone(),
            Self::Varied(scenario) => Traffic::Generated(scenario.step(step)),
        }
    }

    /// The request that is sent before the load; `None` if the caller generates its own.
    pub(crate) fn first(&self) -> Option<FixedRequest> {
        match self {
            Self::Settled(Traffic::Fixed(request)) => Some(request.clone()),
            Self::Settled(Traffic::Generated(_)) => None,
            Self::Varied(scenario) => Some(scenario.first()),
        }
    }
}

fn row_source(file: &CsvFile, text: &[u8]) -> Result<RowSource, ScenarioError> {
    let feeder = Feeder::from_csv(text)
        .map_err(|source| ScenarioError::Csv { path: file.path.clone(), source: Box::new(source) })?;
    let order = match file.order {
        RowOrder::Sequential => Order::Sequential,
        RowOrder::Random => Order::Random,
    };
    Ok(RowSource { feeder: Arc::new(feeder), order })
}
