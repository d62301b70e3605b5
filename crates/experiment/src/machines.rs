//! The use of machines by tiers, observed in recorded runs or in a table.

use std::path::{Path, PathBuf};

use plimsoll_analyze::{
    Observed, Remark, TableReading, TableRow, explain_table, observe_runs, observe_table,
};

use crate::ExperimentError;
use crate::table::{Mapping, read_table};
use crate::tiers::{by_name, read_named_runs};

/// The rows of a table to include.
#[derive(Debug, Clone, Copy)]
pub struct TableRows<'a> {
    /// The names of groups; empty includes all.
    pub groups: &'a [String],
    /// The highest throughput, in requests per second.
    pub max_per_sec: Option<f64>,
}

impl TableRows<'_> {
    fn includes(self, row: &TableRow) -> bool {
        let in_group =
            self.groups.is_empty() || row.group.as_ref().is_some_and(|group| self.groups.contains(group));
        in_group && self.max_per_sec.is_none_or(|most| row.throughput_per_sec <= most)
    }
}

/// Observes the hosts of recorded runs.
///
/// # Errors
/// When a run cannot be read, no run carried its load, or no host was sampled.
pub fn observe_run_files(paths: &[PathBuf]) -> Result<Observed, ExperimentError> {
    let observed = observe_runs(&by_name(&read_named_runs(paths)?));
    if observed.tiers.is_empty() {
        return Err(nothing_observed(paths, &observed.remarks));
    }
    Ok(observed)
}

fn nothing_observed(paths: &[PathBuf], remarks: &[Remark]) -> ExperimentError {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let names = names.join(", ");
    let refused = remarks.iter().filter(|remark| matches!(remark, Remark::NothingCarried(_))).count();
    let unanswered = remarks.iter().filter(|remark| matches!(remark, Remark::NoAnswers(_))).count();
    match refused + unanswered == paths.len() {
        true if refused == 0 => ExperimentError::NothingAnswered(names),
        true => ExperimentError::NothingCarried(names),
        false => ExperimentError::NoHostSampled(names),
    }
}

/// Observes the tiers of a table; also returns how the table was read.
///
/// # Errors
/// When the table cannot be read, no row is included, or no column belongs to a tier.
pub fn observe_table_file(
    path: &Path,
    mapping: &Mapping,
    included: TableRows<'_>,
) -> Result<(Observed, TableReading), ExperimentError> {
    let (all, reading) = read_table(path, mapping)?;
    let rows: Vec<TableRow> = all.iter().filter(|row| included.includes(row)).cloned().collect();
    if rows.is_empty() {
        return Err(none_left(path, &all));
    }
    let observed = observe_table(&rows, &explain_table(&rows));
    if observed.tiers.is_empty() { Err(ExperimentError::NoTier) } else { Ok((observed, reading)) }
}

fn none_left(path: &Path, all: &[TableRow]) -> ExperimentError {
    let mut groups: Vec<&str> = all.iter().filter_map(|row| row.group.as_deref()).collect();
    groups.dedup();
    let known = if groups.is_empty() {
        "none (map a column with --map group=COLUMN)".to_owned()
    } else {
        groups.join(", ")
    };
    let why = format!("no row is left by --group and --rows-to; its groups are {known}");
    ExperimentError::NoRows { path: path.to_owned(), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_tell_nothing_of_a_request_differ_by_why() {
        let paths = ["a", "b"].map(PathBuf::from);
        let (silent, refused) = (Remark::NoAnswers("a".to_owned()), Remark::NothingCarried("b".to_owned()));
        let why = |remarks: &[Remark]| nothing_observed(&paths, remarks);
        assert!(matches!(why(&[silent.clone(), silent.clone()]), ExperimentError::NothingAnswered(_)));
        assert!(matches!(why(&[silent.clone(), refused]), ExperimentError::NothingCarried(_)));
        assert!(matches!(why(&[silent]), ExperimentError::NoHostSampled(_)), "the other was answered");
    }
}
