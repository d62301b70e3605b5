//! Judges what limits the target, from the load alone and from the hosts that were watched.
//!
//! The load shows whether the generator was the limit, whether the target was pushed to its limit, and whether it refuses
//! (`judge`, `load`, `growing`, `failures`, `generator`). If the target was pushed and hosts were watched, `facts` evaluates
//! the samples, `rules` turns the facts into candidates, and `decide` makes one verdict of the candidates, or leaves it at
//! "not known". Everything here is data: `report` turns it into text.

mod bounds;
mod candidate;
mod context;
mod decide;
mod facts;
mod failures;
mod generator;
mod growing;
mod judge;
mod load;
mod next;
mod rules;

pub(crate) use generator::may_be_the_targets;
pub(crate) use judge::{of_row, of_run};
