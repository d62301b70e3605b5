//! Run files: SQLite writer and reader.
//!
//! A run is one SQLite file, written during the run. Committed data stays readable whatever happens to the writing process, and the
//! reader returns exactly what was written. Only raw facts are stored; nothing here computes a rate or a percentile.
//! `docs/run-file.md` describes every table and column.

mod access;
mod checked;
mod digest;
mod error;
mod file_name;
#[cfg(test)]
mod fixture;
mod index;
mod invariants;
mod listing;
mod named_row;
mod reader;
mod schema;
mod sealed;
mod session;
mod verify;
mod writer;

pub use checked::{Checked, check};
pub use error::StoreError;
pub use file_name::{file_date, file_name, free_path};
pub use index::{FileStamp, IndexedRun, RunIndex};
pub use invariants::check_run;
pub use listing::{RunRow, RunSummary, list, run_files, summarize};
pub use reader::read;
pub use sealed::{copy_with_plan, run_id};
pub use session::{SessionFile, open_to_lock};
pub use writer::{RunWriter, UnderWay};
