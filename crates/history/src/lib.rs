//! Many recorded runs: the index of a folder, tags, filters, and the PostgreSQL of a team.
//!
//! Run files are the only original data. The index ([`RunFolder`]) is derived from them and can be deleted. Data that users add later is
//! in a file next to the run file ([`RunNotes`]). A team's store ([`TeamStore`]) gets copies: a run is first sealed in its file and noted
//! as waiting, then delivered when the store answers, and only then its note is removed. So an unavailable store loses nothing.

mod derive;
mod error;
mod filter;
mod folder;
mod notes;
mod outbox;
mod team;

pub use derive::entry_of;
pub use error::HistoryError;
pub use filter::{RunFilter, RunOrder, parse_instant};
pub use folder::{FolderRun, FolderRuns, IndexTrouble, RunFolder};
pub use notes::{NotesError, RunNotes};
pub use outbox::{Delivery, DeliveryError, deliver, queue, waiting};
pub use team::{Put, StoreAddress, StoredFile, StoredRuns, TeamStore, TeamStoreError};
