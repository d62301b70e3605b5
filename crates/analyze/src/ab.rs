//! Compares two services, A and B, that are loaded in rounds: how much B differs from A, and how certain that is.
//!
//! The unit is the round, not the request: requests of one load share the state of the machine and the service. A round loads
//! both sides one after the other, in random order, and gives one difference of each figure. This module computes the
//! differences from loads and names the results; [`plimsoll_stats::rounds`] judges them.

mod carry_over;
mod figure;
mod judge;
mod load;
mod quantiles;
mod verdict;

pub use carry_over::{Effect, EffectKind, RoundRatio};
pub use figure::{AbFigure, Better};
pub use judge::{AbFindings, AbRule, ComparedFigure, SUCCESS_MARGIN, SideSummary, compare_sides};
pub use load::{AbLoad, AbSide, LoadKind, SearchGap, Unusable};
pub use plimsoll_stats::rounds::MIN_ROUNDS;
pub use quantiles::{QuantileDifference, quantile_differences};
pub use verdict::{AbVerdict, MoreRounds};
