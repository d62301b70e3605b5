//! Delivery of runs to a store.
//!
//! A waiting run has a note next to its file, written before the first attempt and removed after the store has confirmed the commit. If a
//! process dies in between, the note stays, and the next delivery finds the run in the store by its id.
//!
//! A run that cannot be delivered does not block the others: after a failure that the run itself may have caused, the next run is tried,
//! and runs that failed before come last.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_store::StoreError;
use plimsoll_units::best_effort;

use crate::HistoryError;
use crate::derive::entry_of;
use crate::folder::RunFolder;
use crate::notes::{NotesError, RunNotes};
use crate::team::{Fault, Put, SharedRun, StoreAddress, TeamStore, TeamStoreError};

/// After this many failures in a row that the store may have caused, a delivery ends: each may take the maximum time for a run.
const MAX_FAILURES_IN_A_ROW: u32 = 2;

/// The result of a delivery.
#[derive(Debug, Default)]
pub struct Delivery {
    /// The runs that the store has now.
    pub delivered: Vec<(PathBuf, Put)>,
    /// The number of runs that still wait.
    pub waiting: usize,
    /// Why they still wait.
    pub trouble: Vec<DeliveryError>,
    /// The runs that can never be delivered, and why. They no longer wait, but their files stay.
    pub dropped: Vec<(PathBuf, DeliveryError)>,
}

/// Why a run was not delivered.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    #[error(transparent)]
    Store(#[from] TeamStoreError),
    #[error(transparent)]
    Run(#[from] HistoryError),
    #[error(transparent)]
    Notes(#[from] NotesError),
    #[error("it did not end in order")]
    Unsealed,
}

impl DeliveryError {
    fn is_final(&self) -> bool {
        match self {
            Self::Unsealed => true,
            Self::Run(error) => error.is_final(),
            Self::Store(_) | Self::Notes(_) => false,
        }
    }

    fn fault(&self) -> Fault {
        if let Self::Store(error) = self { error.fault() } else { Fault::Run }
    }
}

/// Notes that a run waits for a store, so that any later delivery includes it.
///
/// # Errors
/// When its notes cannot be read or written.
pub fn queue(run: &Path, store: &StoreAddress) -> Result<(), NotesError> {
    RunNotes::change(run, |notes| {
        notes.waiting_for.insert(store.name().to_owned());
    })
}

/// Returns the run files of a folder that wait for this store. Files whose notes cannot be read are included, because they may wait; their
/// delivery reports the error.
///
/// # Errors
/// When the folder cannot be read.
pub fn waiting(folder: &RunFolder, store: &StoreAddress) -> Result<Vec<PathBuf>, StoreError> {
    let waits =
        |path: &PathBuf| RunNotes::read(path).map_or(true, |notes| notes.waiting_for.contains(store.name()));
    Ok(plimsoll_store::run_files(folder.path())?.into_iter().filter(waits).collect())
}

/// Delivers these runs, first those that have not failed before. Runs that the store does not have are queued first. Without
/// runs, it does not connect. It stops early if the store fails, or once `interrupted` is set.
pub fn deliver(mut runs: Vec<PathBuf>, store: &StoreAddress, interrupted: &AtomicBool) -> Delivery {
    let mut delivery = Delivery { waiting: runs.len(), ..Delivery::default() };
    if runs.is_empty() {
        return delivery;
    }
    runs.sort_by_cached_key(|path| (failures(path, store), path.clone()));
    let mut channel = match Channel::open(&runs, store) {
        Ok(channel) => channel,
        Err(error) => {
            delivery.trouble.push(error.into());
            let queued = runs.iter().map(|run| queue(run, store));
            delivery.trouble.extend(queued.filter_map(Result::err).map(DeliveryError::from));
            return delivery;
        }
    };
    let mut failed_in_a_row = 0;
    for path in runs {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        let fault = match channel.deliver(&path) {
            Ok(put) => {
                failed_in_a_row = 0;
                delivery.waiting -= 1;
                delivery.delivered.push((path, put));
                continue;
            }
            Err(error) if error.is_final() => {
                settle(&path, store);
                delivery.waiting -= 1;
                delivery.dropped.push((path, error));
                continue;
            }
            Err(error) => {
                let fault = error.fault();
                delivery.trouble.push(error);
                fault
            }
        };
        if fault == Fault::Store {
            break;
        }
        count_failure(&path, store);
        if fault == Fault::Unknown {
            failed_in_a_row += 1;
            if failed_in_a_row == MAX_FAILURES_IN_A_ROW {
                break;
            }
            if let Err(error) = channel.reopen() {
                delivery.trouble.push(error.into());
                break;
            }
        }
    }
    delivery
}

/// Returns how often delivering a run to a store has failed.
fn failures(run: &Path, store: &StoreAddress) -> u32 {
    RunNotes::read(run).ok().and_then(|notes| notes.failures.get(store.name()).copied()).unwrap_or(0)
}

fn count_failure(run: &Path, store: &StoreAddress) {
    let count = |notes: &mut RunNotes| *notes.failures.entry(store.name().to_owned()).or_default() += 1;
    best_effort(RunNotes::change(run, count), "the next delivery tries this run as early as this one did");
}

fn settle(run: &Path, store: &StoreAddress) {
    best_effort(
        RunNotes::change(run, |notes| notes.settle(store.name())),
        "the next delivery reports the same run again",
    );
}

/// Returns the id of a run in a store; `None` for a run that did not end normally.
fn id(run: &Path, notes: &RunNotes) -> Result<Option<String>, HistoryError> {
    Ok(plimsoll_store::run_id(run)?.map(|own| notes.copy_of.clone().unwrap_or(own)))
}

/// An open store, and which of the runs to deliver it already has.
struct Channel<'a> {
    address: &'a StoreAddress,
    store: TeamStore,
    known: BTreeSet<String>,
}

impl<'a> Channel<'a> {
    fn open(runs: &[PathBuf], address: &'a StoreAddress) -> Result<Self, TeamStoreError> {
        let store = TeamStore::connect(address)?;
        // A run that cannot be read gets its error later, at its own delivery.
        let id = |run: &PathBuf| id(run, &RunNotes::read(run).ok()?).ok()?;
        let ids: Vec<Option<String>> = runs.iter().map(id).collect();
        let known = store.known(&ids.iter().flatten().cloned().collect::<Vec<_>>())?;
        for (run, id) in runs.iter().zip(&ids) {
            if id.as_ref().is_some_and(|id| !known.contains(id)) {
                best_effort(queue(run, address), "its turn has the same error");
            }
        }
        Ok(Self { address, known, store })
    }

    fn reopen(&mut self) -> Result<(), TeamStoreError> {
        self.store = TeamStore::connect(self.address)?;
        Ok(())
    }

    fn deliver(&mut self, run: &Path) -> Result<Put, DeliveryError> {
        let notes = RunNotes::read(run)?;
        let id = id(run, &notes)?.ok_or(DeliveryError::Unsealed)?;
        let name = self.address.name();
        let changes = notes.unsent_to(name);
        let put = if self.known.contains(&id) {
            self.store.retag(&id, &changes)?;
            Put::of_known(&changes)
        } else {
            let mut entry = entry_of(run)?;
            notes.apply_to(&mut entry);
            self.store.put(&SharedRun::new(run, entry, changes.clone())?)?
        };
        RunNotes::change(run, |now| now.note_delivery(name, &changes))?;
        Ok(put)
    }
}
