//! Verdicts from a table of measurements that the user made elsewhere: one row a load, with what was written down with it.
//!
//! A table holds no ladder and no intervals, so its verdicts are inferred. What it has instead is many arrangements
//! of the same tiers, which tell what each of them costs.

mod break_even;
mod conclusion;
mod conclusions;
mod explain;
mod front;
mod growth;
mod law;
mod lines;
mod row;
mod rules;
mod runs;
mod shares;

pub use break_even::{BreakEven, PooledTier, TriedRow};
pub use conclusion::{Ceiling, Conclusion, Multiplied, MultipliedRow, RowEnds, RowName, RowPoint, RowsPool};
pub use explain::{TableFindings, explain_table};
pub use lines::{HeldLines, LinePoint, SizeLine};
pub(crate) use row::Pair;
pub use row::{RowFinding, TableRow, TableTier};
pub use runs::{RowRun, RunRows, run_rows};
