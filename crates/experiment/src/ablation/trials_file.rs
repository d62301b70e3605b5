//! The trials of an ablation as a table that grows with each of them, so that a crash loses none.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use plimsoll_analyze::Trial;

use super::columns::{AT_LEAST, GROUP, PER_REQUEST, SWITCH};
use super::trial::TrialResult;
use crate::ExperimentError;

/// The table of an ablation.
#[derive(Debug)]
pub(super) struct TrialsFile {
    pub(super) path: PathBuf,
    switches: Vec<String>,
    grouped: bool,
    /// The names of what a request takes, as the first trial has them.
    pub(super) per_request: Vec<String>,
}

impl TrialsFile {
    pub(super) fn new(folder: &Path, stem: &str, switches: &[String], grouped: bool) -> Self {
        let path = folder.join(format!("{stem}.ablation.csv"));
        Self { path, switches: switches.to_vec(), grouped, per_request: Vec::new() }
    }

    /// Adds a trial of a state; it is on the disk when this returns.
    pub(super) fn add(
        &mut self,
        group: Option<&str>,
        trial: &Trial,
        result: &TrialResult,
        file: &Path,
    ) -> Result<(), ExperimentError> {
        let group = self.grouped.then(|| group.unwrap_or_default().to_owned());
        let cells: Vec<String> = group.into_iter().chain(cells(trial, result, file)).collect();
        self.append(&cells)
            .map_err(|error| ExperimentError::file("write", &self.path)(std::io::Error::other(error)))
    }

    fn append(&self, cells: &[String]) -> Result<(), csv::Error> {
        let begins = !self.path.exists();
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let opened = OpenOptions::new().create(true).append(true).open(&self.path)?;
        let mut writer = csv::Writer::from_writer(opened);
        if begins {
            writer.write_record(self.header())?;
        }
        writer.write_record(cells)?;
        Ok(writer.flush()?)
    }

    fn header(&self) -> Vec<String> {
        let fixed = ["connections", "qps", AT_LEAST, "rt_ms"].map(ToOwned::to_owned);
        let group = self.grouped.then(|| GROUP.to_owned());
        group
            .into_iter()
            .chain(["round".to_owned()])
            .chain(self.switches.iter().map(|name| format!("{SWITCH}{name}")))
            .chain(fixed)
            .chain(self.per_request.iter().map(|name| format!("{PER_REQUEST}{name}")))
            .chain(["file".to_owned()])
            .collect()
    }
}

fn cells(trial: &Trial, result: &TrialResult, file: &Path) -> Vec<String> {
    let fixed = [
        result.connections.to_string(),
        result.throughput_per_sec.to_string(),
        u8::from(result.at_most).to_string(),
        result.mean_ms.to_string(),
    ];
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    std::iter::once(trial.round.map_or_else(String::new, |round| (round + 1).to_string()))
        .chain(trial.settings.iter().map(|on| u8::from(*on).to_string()))
        .chain(fixed)
        .chain(
            trial.per_request.iter().map(|value| value.map_or_else(String::new, |value| value.to_string())),
        )
        .chain([name])
        .collect()
}
