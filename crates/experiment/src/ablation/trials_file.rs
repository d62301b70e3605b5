//! The table of an ablation's trials. It is extended after each trial, so that a crash loses none.

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
    /// The names of per-request figures, in the order in which trials first had them.
    pub(super) per_request: Vec<String>,
}

impl TrialsFile {
    pub(super) fn new(folder: &Path, stem: &str, switches: &[String], grouped: bool) -> Self {
        let path = folder.join(format!("{stem}.ablation.csv"));
        Self { path, switches: switches.to_vec(), grouped, per_request: Vec::new() }
    }

    /// Adds columns of per-request figures; they are empty in earlier trials.
    pub(super) fn widen(&mut self, names: &[String]) -> Result<(), ExperimentError> {
        if names.is_empty() {
            return Ok(());
        }
        self.per_request.extend_from_slice(names);
        if !self.path.exists() {
            return Ok(());
        }
        self.rewrite(names.len())
            .map_err(|error| ExperimentError::file("write", &self.path)(std::io::Error::other(error)))
    }

    /// Rewrites the table with its current header and `more` empty cells before the last of each row. The new file replaces the old
    /// one once it is complete.
    fn rewrite(&self, more: usize) -> Result<(), csv::Error> {
        let wider = self.path.with_extension("csv.new");
        let mut writer = csv::Writer::from_path(&wider)?;
        writer.write_record(self.header())?;
        for record in csv::Reader::from_path(&self.path)?.records() {
            let mut cells: Vec<String> = record?.iter().map(ToOwned::to_owned).collect();
            let last = cells.len().saturating_sub(1);
            cells.splice(last..last, vec![String::new(); more]);
            writer.write_record(cells)?;
        }
        writer.flush()?;
        drop(writer);
        Ok(fs::rename(&wider, &self.path)?)
    }

    /// Adds a trial of a state; it is written to the file when this returns.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ablation::measured::{MeasuredStates, read_trials};

    #[test]
    fn a_figure_that_a_later_trial_has_first_is_empty_in_those_before_it() {
        let folder = std::env::temp_dir().join(format!("plimsoll-trials-{}", std::process::id()));
        let switches = vec!["log".to_owned()];
        let mut table = TrialsFile::new(&folder, "shop", &switches, false);
        let mut measured = MeasuredStates::new(switches);
        let figures = [vec![("CPU µs api".to_owned(), 5.0)], vec![("packets api".to_owned(), 2.0)]];
        for (round, per_request) in (0..).zip(figures) {
            let new: Vec<String> = per_request.iter().map(|(name, _)| name.clone()).collect();
            table.widen(&new).unwrap();
            measured.widen(&new);
            let result = TrialResult {
                throughput_per_sec: 100.0,
                connections: 4,
                mean_ms: 40.0,
                per_request,
                at_most: false,
            };
            let per_request = result.in_order(&table.per_request);
            let (settings, round) = (vec![true], Some(round));
            let trial = Trial { settings, round, throughput_per_sec: 100.0, at_most: false, per_request };
            table.add(None, &trial, &result, Path::new("one.plimsoll")).unwrap();
            measured.add(None, trial, &table.per_request);
        }
        let per_request = |measured: &MeasuredStates| -> Vec<Vec<Option<f64>>> {
            measured.states[0].trials.iter().map(|trial| trial.per_request.clone()).collect()
        };
        let expected = [vec![Some(5.0), None], vec![None, Some(2.0)]];
        assert_eq!(per_request(&measured), expected);
        assert_eq!(per_request(&read_trials(&table.path, &[]).unwrap()), expected);
        fs::remove_dir_all(&folder).unwrap();
    }
}
