//! The input of a report on two compared services.

use plimsoll_analyze::ab::{AbFindings, QuantileDifference};

/// Two services compared in rounds.
#[derive(Debug, Clone, Copy)]
pub struct AbReport<'a> {
    /// The names of A and B.
    pub labels: &'a [String; 2],
    /// True if the services were started for each load.
    pub restarts: bool,
    pub findings: &'a AbFindings,
    /// By rising percentiles.
    pub quantiles: &'a [QuantileDifference],
}
