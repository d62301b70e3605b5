//! Runs on their way to a store.
//!
//! A run waits by a note next to its file, written before the first attempt and removed after the store has confirmed the
//! commit. A process that dies in between leaves the note, and the next delivery finds the run in the store by its id.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_store::StoreError;

use crate::HistoryError;
use crate::derive::entry_of;
use crate::folder::RunFolder;
use crate::notes::{NotesError, RunNotes};
use crate::team::{Put, SharedRun, StoreAddress, TeamStore, TeamStoreError};

/// What came of a delivery.
#[derive(Debug, Default)]
pub struct Delivery {
    /// Runs that the store has now.
    pub delivered: Vec<(PathBuf, Put)>,
    /// How many still wait.
    pub waiting: usize,
    /// Why they do.
    pub trouble: Vec<DeliveryError>,
}

/// Why a run was not delivered. It waits.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    #[error(transparent)]
    Store(#[from] TeamStoreError),
    #[error(transparent)]
    Run(#[from] HistoryError),
    #[error(transparent)]
    Notes(#[from] NotesError),
    #[error("{0} did not end in order, so it is not delivered")]
    Unsealed(PathBuf),
}

/// The run files of a folder that wait for this store.
///
/// # Errors
/// When the folder cannot be read.
pub fn waiting(folder: &RunFolder, store: &StoreAddress) -> Result<Vec<PathBuf>, StoreError> {
    let waits =
        |path: &PathBuf| RunNotes::read(path).is_ok_and(|notes| notes.waiting_for.contains(store.name()));
    Ok(plimsoll_store::run_files(folder.path())?.into_iter().filter(waits).collect())
}

/// Delivers these runs; without any, nothing is connected to. It ends early if the store fails, or once `interrupted` is set.
pub fn deliver(runs: Vec<PathBuf>, store: &StoreAddress, interrupted: &AtomicBool) -> Delivery {
    let mut delivery = Delivery { waiting: runs.len(), ..Delivery::default() };
    if runs.is_empty() {
        return delivery;
    }
    let mut open = match TeamStore::connect(store) {
        Ok(open) => open,
        Err(error) => {
            delivery.trouble.push(error.into());
            return delivery;
        }
    };
    for path in runs {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        match deliver_one(&path, store, &mut open) {
            Ok(put) => {
                delivery.waiting -= 1;
                delivery.delivered.push((path, put));
            }
            Err(error) => {
                let ends = matches!(&error, DeliveryError::Store(error) if error.is_of_store());
                delivery.trouble.push(error);
                if ends {
                    break;
                }
            }
        }
    }
    delivery
}

fn deliver_one(path: &Path, store: &StoreAddress, open: &mut TeamStore) -> Result<Put, DeliveryError> {
    let mut entry = entry_of(path)?;
    if !entry.is_sealed() {
        return Err(DeliveryError::Unsealed(path.to_owned()));
    }
    let notes = RunNotes::read(path)?;
    notes.apply_to(&mut entry);
    let put = open.put(&SharedRun::new(path, entry, notes.tags.clone())?)?;
    RunNotes::change(path, |now| {
        // Tags that were changed meanwhile wait for the next delivery.
        if now.tags == notes.tags {
            now.waiting_for.remove(store.name());
        }
    })?;
    Ok(put)
}
