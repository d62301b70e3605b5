//! Verdicts from a table of measurements made elsewhere: one row for each load, with the figures recorded for it.
//!
//! A table has no ladder and no intervals, so that its verdicts are inferred. But it may have many arrangements of the same tiers,
//! which show what each tier costs.

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
