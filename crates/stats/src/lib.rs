//! Statistics of performance measurements: pure functions of slices of numbers.
//!
//! All intervals are two-sided 95 % intervals. Functions that need more values than they are given return `None`. No function
//! panics or reads a clock or a file, and random numbers come only from a fixed seed.
//!
//! An example with throughput measured over intervals of a load, from the first request on:
//!
//! ```
//! use plimsoll_stats::{Truncation, batch_means, mann_kendall, mean, mser5};
//!
//! // Ten slow intervals of warm-up, then sixty at about 1000 requests per second.
//! let rates: Vec<f64> = (0..70).map(|i| if i < 10 { 400.0 } else { 1000.0 + f64::from(i % 5) }).collect();
//!
//! let Truncation::After(cut) = mser5(&rates) else { panic!("the warm-up has ended") };
//! assert_eq!(cut, 10);
//!
//! let steady = &rates[cut..];
//! assert_eq!(mean(steady), 1002.0);
//! assert!(batch_means::half_width(steady).is_some_and(|half| half < 1.0));
//! assert!(mann_kendall(&batch_means::means(steady, 20)).is_some_and(|trend| !trend.is_significant()));
//! ```

mod estimate;
mod mser;
mod proportion;
mod rank_sum;
mod series;
mod signed_rank;
mod trend;

pub mod batch_means;
pub mod change_points;
pub mod jackknife;
pub mod line;
pub mod quantile;
pub mod rounds;
pub mod sequential;
pub mod usl;

pub use estimate::{Estimate, Z_95, ratio, t_quantile};
pub use mser::{MIN_MSER_BATCHES, MSER_BATCH, Truncation, mser5};
pub use proportion::{difference_upper, dispersion, wilson};
pub use rank_sum::shift;
pub use series::{Weighted, autocorrelation, mean, median, variance};
pub use signed_rank::SignedRanks;
pub use trend::{Trend, mann_kendall};
