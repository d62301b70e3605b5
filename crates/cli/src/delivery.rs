//! Delivers runs to the store of a team, and reports it. The result of a command does not depend on it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::UNIX_EPOCH;

use plimsoll_history::{Delivery, Put, RunFolder, RunNotes, StoreAddress, deliver, queue, waiting};
use plimsoll_record::{TagChanges, Tags};

use crate::args::HistoryArgs;
use crate::terminal::{remark, report_error, with_causes};

/// Identifies the build of this program, so that an index knows which build computed its figures.
pub(crate) fn build() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let metadata = env::current_exe().and_then(fs::metadata);
    let stamp = metadata
        .and_then(|file| Ok((file.len(), file.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default())));
    match stamp {
        Ok((bytes, modified)) => format!("{version} {bytes} {}", modified.as_nanos()),
        Err(_) => version.to_owned(),
    }
}

/// Delivers a new run, and those that waited before.
pub(crate) fn hand_over(file: &Path, store: &StoreAddress, quiet: bool, interrupted: &AtomicBool) {
    match queue(file, store) {
        Ok(()) => deliver_waiting(&RunFolder::containing(file, &build()), store, quiet, interrupted),
        Err(error) => {
            remark(&format!("plimsoll: the run is kept here and not delivered: {}", with_causes(&error)));
        }
    }
}

fn deliver_waiting(folder: &RunFolder, store: &StoreAddress, quiet: bool, interrupted: &AtomicBool) {
    match waiting(folder, store) {
        Ok(runs) => say(&deliver(runs, store, interrupted), store, quiet),
        Err(error) => report_error(&error),
    }
}

/// Gives each run of an experiment its tags as soon as it is recorded, and queues it for the store.
///
/// A lab's generator, which writes the run file, does not know the tags; they are stored next to the file, like those that are added later.
#[derive(Debug, Default)]
pub(crate) struct NewRuns {
    tags: Tags,
    store: Option<StoreAddress>,
    files: Mutex<Vec<PathBuf>>,
}

impl NewRuns {
    pub(crate) fn new(args: &HistoryArgs) -> anyhow::Result<Self> {
        Ok(Self { store: args.store.address()?, tags: args.tags.tags(), files: Mutex::default() })
    }

    /// The runs so far, in the order in which they were recorded.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.files.lock().map(|files| files.clone()).unwrap_or_default()
    }

    pub(crate) fn add(&self, file: &Path) {
        if let Ok(mut files) = self.files.lock() {
            files.push(file.to_owned());
        }
        let noted = RunNotes::change(file, |notes| {
            notes.tags = TagChanges { set: self.tags.clone(), ..TagChanges::default() };
            notes.waiting_for.extend(self.store.as_ref().map(|store| store.name().to_owned()));
        });
        if let Err(error) = noted {
            report_error(&error);
        }
    }

    /// Delivers the runs that wait in this folder.
    pub(crate) fn deliver(&self, folder: &Path, quiet: bool, interrupted: &AtomicBool) {
        if let Some(store) = &self.store {
            deliver_waiting(&RunFolder::new(folder, &build()), store, quiet, interrupted);
        }
    }
}

/// Reports a delivery: a line for delivered runs, one for those that still wait, and one for each that can never be delivered.
pub(crate) fn say(delivery: &Delivery, store: &StoreAddress, quiet: bool) {
    if !delivery.delivered.is_empty() && !quiet {
        remark(&delivered_line(&delivery.delivered, store));
    }
    for (file, error) in &delivery.dropped {
        remark(&format!(
            "plimsoll: {} stays here and is not delivered: {}",
            file.display(),
            with_causes(error)
        ));
    }
    let held = || format!("{} kept here, to be delivered later", runs(delivery.waiting));
    match delivery.trouble.as_slice() {
        [] if delivery.waiting > 0 => remark(&format!("plimsoll: {}", held())),
        [] => {}
        [error] => remark(&format!("plimsoll: {}: {}", held(), with_causes(error))),
        [error, rest @ ..] => {
            remark(&format!("plimsoll: {}: {}; and {} more", held(), with_causes(error), rest.len()));
        }
    }
}

fn delivered_line(delivered: &[(PathBuf, Put)], store: &StoreAddress) -> String {
    let count = |kind| delivered.iter().filter(|(_, put)| *put == kind).count();
    let (only_figures, known) = (count(Put::OnlyFigures), count(Put::Known));
    let sent = delivered.len() - known;
    if sent == 0 {
        return format!("{} had {} already", store.name(), runs(known));
    }
    let without = match only_figures {
        0 => String::new(),
        count => format!(", {count} without the file"),
    };
    let there = match known {
        0 => String::new(),
        1 => "; 1 was there already".to_owned(),
        count => format!("; {count} were there already"),
    };
    format!("delivered {} to {}{without}{there}", runs(sent), store.name())
}

fn runs(count: usize) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}
