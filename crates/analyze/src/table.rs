//! Verdicts from a table of measurements that the user made elsewhere: one row a load, with what was written down with it.
//!
//! A table holds no ladder and no intervals, so its verdicts are inferred. What it has instead is many arrangements
//! of the same tiers, which tell what each of them costs.

mod break_even;
mod conclusion;
mod explain;
mod front;
mod growth;
mod ladder;
mod lines;
mod reading;
mod row;
mod runs;

pub use break_even::{BreakEven, PooledTier, TriedRow};
pub use conclusion::{Ceiling, Conclusion, Multiplied, MultipliedRow, RowEnds, RowName, RowPoint, RowsPool};
pub use explain::{TableFindings, explain_table};
pub(crate) use front::{UNNAMED, alone, together_per_sec};
pub use ladder::{LadderOf, LadderPoint, LadderShape, RowLadder};
pub(crate) use ladder::{PROPORTIONAL, fewer_gave_as_much, followed, load_effect, stands};
pub use lines::{HeldLines, LinePoint, SizeLine};
pub use reading::{ColumnDoubt, GuessedColumn, LeftOut, TableReading, UnreadCells};
pub(crate) use row::apart;
pub use row::{RowFinding, TableRow, TableTier};
pub use runs::{RowRun, RunRows, run_rows};
