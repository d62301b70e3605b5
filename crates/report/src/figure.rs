//! Figures as SVG and PNG, drawn by the same code: the answer and the comparison of two runs in panels; the two figures of a
//! sweep; the costs of switches; a metric over many runs; throughput over machines, over response sizes and over held times; the
//! differences of two services by percentile and by round; use over the rate in production; the machines of each hour of a day.
//! Flame graphs are SVG only.
//!
//! Drawing a figure fails only in a damaged build; a flame graph also fails for a profile without CPU time.

mod ab;
mod answer;
mod axis;
mod bars;
mod canvas;
mod chart;
mod day;
mod flame;
mod ladder;
mod legend;
mod look;
mod overload;
mod plot;
mod production;
mod raster;
mod rows;
mod scale;
mod series;
mod trend;

pub use ab::{quantile_difference, round_ratios};
pub use answer::{answer, comparison};
pub use bars::{Bar, ledger};
pub use canvas::{Caption, Figure, FigureError};
pub use day::day;
pub use flame::flame;
pub use ladder::{success, throughput};
pub use overload::{overload, overload_over_time};
pub use production::production;
pub use rows::{held_times, response_sizes, tier_scaling};
pub use series::{Series, StepPoint};
pub use trend::trend;
