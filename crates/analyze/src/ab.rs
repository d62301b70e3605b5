//! Two services, A and B, loaded in rounds: by how much B differs from A, and how surely.
//!
//! The unit is the round, not the request: requests of one load share what the machine and the service did meanwhile. A round
//! loads both sides, one after another in an order that was drawn, and gives one difference of each figure. `plimsoll-stats`
//! judges the differences ([`plimsoll_stats::rounds`]); here they are made from loads and named.

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
