//! Figures as SVG and PNG, drawn by the same code: throughput and mean response time over concurrency, the success ratio, the
//! costs of switches, throughput over machines, over response sizes and over held times. Flame graphs are SVG only.
//!
//! A figure that cannot be drawn is the fault of a damaged build, and a flame graph also that of a profile without CPU time.

mod axis;
mod bars;
mod canvas;
mod chart;
mod flame;
mod ladder;
mod legend;
mod look;
mod plot;
mod raster;
mod rows;
mod series;

pub use bars::{Bar, ledger};
pub use canvas::{Caption, Figure, FigureError};
pub use flame::flame;
pub use ladder::{success, throughput};
pub use rows::{held_times, response_sizes, tier_scaling};
pub use series::{Series, StepPoint};
