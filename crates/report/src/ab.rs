//! What a report of two compared services is made from.

use plimsoll_analyze::ab::{AbFindings, QuantileDifference};

/// Two services compared in rounds.
#[derive(Debug, Clone, Copy)]
pub struct AbReport<'a> {
    /// What A and B are called.
    pub labels: &'a [String; 2],
    /// The services were started for each load.
    pub restarts: bool,
    pub findings: &'a AbFindings,
    /// By rising percentiles.
    pub quantiles: &'a [QuantileDifference],
}
