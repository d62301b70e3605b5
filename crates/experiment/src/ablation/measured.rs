//! The trials of an ablation, measured or read from a table.

use std::path::Path;

use csv::StringRecord;
use plimsoll_analyze::{Trial, Trials};

use super::columns::{Columns, PER_REQUEST, SWITCH};
use crate::ExperimentError;
use crate::csv_rows::{joined, read_rows};

/// The trials of each state of a service.
#[derive(Debug, Default)]
pub struct MeasuredStates {
    pub switches: Vec<String>,
    /// The states of the service, in their order.
    pub states: Vec<Trials>,
    /// The number of connections; `None` if it differs between trials.
    pub connections: Option<f64>,
}

impl MeasuredStates {
    pub(super) fn new(switches: Vec<String>) -> Self {
        Self { switches, ..Self::default() }
    }

    /// Adds names of per-request figures, which are unknown in the trials so far.
    pub(super) fn widen(&mut self, names: &[String]) {
        for state in &mut self.states {
            state.per_request.extend_from_slice(names);
            let count = state.per_request.len();
            state.trials.iter_mut().for_each(|trial| trial.per_request.resize(count, None));
        }
    }

    /// Adds a trial to its state, and adds the state if it is new.
    pub(super) fn add(&mut self, group: Option<String>, trial: Trial, per_request: &[String]) {
        match self.states.iter_mut().find(|state| state.group == group) {
            Some(state) => state.trials.push(trial),
            None => self.states.push(Trials {
                group,
                switches: self.switches.clone(),
                per_request: per_request.to_vec(),
                trials: vec![trial],
            }),
        }
    }
}

/// Reads a table of trials. Rows without a throughput were not measured and are left out. Without `maps`, the columns must have the
/// names that `ablate -f` writes.
///
/// # Errors
/// When the table cannot be read, a column is missing, or a cell is invalid.
pub fn read_trials(path: &Path, maps: &[String]) -> Result<MeasuredStates, ExperimentError> {
    let columns = |header: &StringRecord| -> Result<_, ExperimentError> {
        let named = |places: &[usize], prefix: &str| -> Vec<String> {
            let name = |place: &usize| header.get(*place).unwrap_or_default();
            places.iter().map(|place| name(place).trim_start_matches(prefix).to_owned()).collect()
        };
        let columns = Columns::new(header, maps)?;
        let (switches, per_request) =
            (named(&columns.switches, SWITCH), named(&columns.per_request, PER_REQUEST));
        Ok((columns, switches, per_request))
    };
    let row = |(columns, ..): &(Columns, Vec<String>, Vec<String>), record: &StringRecord, _| {
        let connections = || columns.connections.and_then(|column| record.get(column)?.parse::<f64>().ok());
        let trial = trial(columns, record)?;
        Ok(trial.map(|trial| (trial, joined(&columns.groups, record), connections())))
    };
    let ((_, switches, per_request), rows) = read_rows(path, "no row has a throughput", columns, row)?;
    let mut measured = MeasuredStates::new(switches);
    let connections: Vec<f64> = rows.iter().filter_map(|(.., connections)| *connections).collect();
    let first = connections.first().copied();
    measured.connections = first.filter(|first| connections.iter().all(|other| other == first));
    for (trial, group, _) in rows {
        measured.add(group, trial, &per_request);
    }
    Ok(measured)
}

fn trial(columns: &Columns, record: &StringRecord) -> Result<Option<Trial>, String> {
    let cell = |place: usize| record.get(place).unwrap_or_default();
    let throughput_per_sec = match number(cell(columns.throughput))? {
        Some(throughput_per_sec) if throughput_per_sec > 0.0 => throughput_per_sec,
        _ => return Ok(None),
    };
    let round = columns.round.map(|place| number(cell(place))).transpose()?.flatten();
    Ok(Some(Trial {
        settings: columns.switches.iter().map(|place| position(cell(*place))).collect::<Result<_, _>>()?,
        round: round.map(|round| round as u32),
        throughput_per_sec,
        at_most: columns.at_least.map(|place| position(cell(place))).transpose()?.unwrap_or(false),
        per_request: columns
            .per_request
            .iter()
            .map(|place| number(cell(*place)))
            .collect::<Result<_, _>>()?,
    }))
}

fn position(cell: &str) -> Result<bool, String> {
    match cell.to_ascii_lowercase().as_str() {
        "1" | "on" | "yes" | "true" => Ok(true),
        "0" | "off" | "no" | "false" | "" => Ok(false),
        _ => Err(format!("`{cell}` is no position of a switch; write 1 or 0")),
    }
}

fn number(cell: &str) -> Result<Option<f64>, String> {
    if cell.is_empty() {
        return Ok(None);
    }
    let number = cell.parse().ok().filter(|value: &f64| value.is_finite());
    number.ok_or_else(|| format!("`{cell}` is no number; leave it empty if it is unknown")).map(Some)
}
