//! What tiers use of their machines, observed in recorded runs or in a table.

use std::path::{Path, PathBuf};

use plimsoll_analyze::{
    Observed, Remark, TableReading, TableRow, explain_table, observe_runs, observe_table,
};

use crate::ExperimentError;
use crate::table::{Mapping, read_table};
use crate::tiers::{by_name, read_named_runs};

/// Which rows of a table count.
#[derive(Debug, Clone, Copy)]
pub struct TableRows<'a> {
    /// Names of groups; empty takes all.
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

/// What the hosts of recorded runs use.
///
/// # Errors
/// When a run cannot be read, no run carried what it was sent, or no host was sampled.
pub fn observe_run_files(paths: &[PathBuf]) -> Result<Observed, ExperimentError> {
    let observed = observe_runs(&by_name(&read_named_runs(paths)?));
    if observed.tiers.is_empty() {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let is_of_no_use =
            |remark: &&Remark| matches!(remark, Remark::NoAnswers(_) | Remark::NothingCarried(_));
        let unused = observed.remarks.iter().filter(is_of_no_use).count();
        return Err(match unused == paths.len() {
            true => ExperimentError::NothingCarried(names.join(", ")),
            false => ExperimentError::NoHostSampled(names.join(", ")),
        });
    }
    Ok(observed)
}

/// What the tiers of a table use, with how it was read.
///
/// # Errors
/// When the table cannot be read, no row is included, or no column is of a tier.
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
