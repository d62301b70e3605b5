//! Makes rows from the runs of one plan file.
//!
//! A row has the figures of its run's host samples, and the run's own verdict. The rules for tables, which know only one load of each
//! row, are not applied.

use plimsoll_plan::RowSpec;

use super::explain::{TableFindings, concluded};
use super::row::{RowFinding, TableRow, TableTier};
use crate::capacity::tiers::{self, TierRow, TierUse};
use crate::groups::grouped;
use crate::load::knee::best_carrying_step;
use crate::{Findings, Limit, StepSummary, Verdict};

/// One run of a plan file, reduced to what a row needs.
#[derive(Debug, Clone, PartialEq)]
pub struct RowRun {
    pub spec: RowSpec,
    /// The figures at the step with the highest throughput of successful answers.
    pub measured: TierRow,
    /// Bytes received for each response at that step.
    pub response_bytes: Option<f64>,
    /// Bytes received per second at that step.
    pub bytes_per_sec: f64,
    /// The highest planned number of requests under way in any step.
    pub under_way_most: u32,
    /// The processors of the target's host, if it is capped.
    pub target_cores: Option<f64>,
    pub verdict: Verdict,
}

/// The rows of a file's runs, with conclusions.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRows {
    pub rows: Vec<TableRow>,
    pub runs: Vec<RowRun>,
    /// The verdicts of the runs, and the conclusions.
    pub found: TableFindings,
}

impl RowRun {
    /// Extracts from a run what a row needs; `None` if no step carried its load. `name` is that of the file's variant, or of the file.
    pub fn from_findings(name: &str, spec: &RowSpec, findings: &Findings) -> Option<Self> {
        let (_, step) = best_carrying_step(&findings.steps)?;
        Some(Self {
            spec: spec.clone(),
            measured: tiers::row(name, findings)?,
            response_bytes: Some(step.bytes_in_per_sec / step.throughput.value).filter(|bytes| *bytes > 0.0),
            bytes_per_sec: step.bytes_in_per_sec,
            under_way_most: findings.steps.iter().map(at_once).max().unwrap_or_default(),
            target_cores: target_cores(findings),
            verdict: findings.verdict.clone(),
        })
    }

    fn case(&self) -> &str {
        self.spec.case.as_deref().unwrap_or(&self.measured.name)
    }

    fn measures_alone(&self, row: &Self) -> bool {
        self.spec.alone.is_some() && self.case() == row.case()
    }

    /// True if more load might have given more, so that the throughput is a lower bound. A generator at its limit does not count if a host
    /// was at its own, which the verdict then names.
    fn is_bound(&self) -> bool {
        matches!(self.verdict.limit, Limit::Generator | Limit::None)
    }

    /// True if the limit does not depend on the number of requests served at once, or may not: then throughput is not that of a pool alone.
    fn is_full(&self) -> bool {
        let named =
            std::iter::once(self.verdict.limit).chain(self.verdict.also.iter().map(|other| other.limit));
        named.into_iter().any(Limit::is_whatever_the_pace)
    }
}

fn at_once(step: &StepSummary) -> u32 {
    step.connections * u32::from(step.depth)
}

/// The processors of the host that the target's URL names, by its name or its address.
fn target_cores(findings: &Findings) -> Option<f64> {
    let target = &findings.plan.target.host;
    let is_it = |address: std::net::IpAddr| address.to_string() == *target;
    let mut hosts = findings.plan.hosts.iter();
    let host =
        hosts.find(|host| host.name.eq_ignore_ascii_case(target) || host.address.is_some_and(is_it))?;
    host.capacity.cores
}

/// Makes the rows of the runs of one file. A run that measures a host alone has no row of its own; the row of its case gets the
/// throughput as what that host carries alone.
pub fn run_rows(runs: &[RowRun]) -> RunRows {
    let own: Vec<RowRun> = runs.iter().filter(|run| run.spec.alone.is_none()).cloned().collect();
    let label = |run: &RowRun| {
        let of_case = own.iter().filter(|other| other.case() == run.case()).count();
        if of_case == 1 { run.case() } else { &run.measured.name }.to_owned()
    };
    let rows: Vec<TableRow> = own.iter().map(|run| row(label(run), run, runs)).collect();
    let findings = own.iter().zip(&rows).map(|(run, row)| RowFinding {
        label: row.label.clone(),
        verdict: run.verdict.clone(),
        breach: None,
    });
    let found = TableFindings { uncompared: uncompared(&own, runs), ..concluded(&rows, findings.collect()) };
    RunRows { rows, runs: own, found }
}

fn row(label: String, run: &RowRun, runs: &[RowRun]) -> TableRow {
    let (spec, measured) = (&run.spec, &run.measured);
    let mut tiers: Vec<TableTier> = measured.tiers.iter().map(tier).collect();
    for (name, other) in alone(run, runs) {
        let index = tiers.iter().position(|tier| tier.name == name).unwrap_or_else(|| {
            let unseen = TableTier { name: name.to_owned(), instances: Some(1.0), ..TableTier::default() };
            tiers.push(unseen);
            tiers.len() - 1
        });
        tiers[index].alone_per_sec = Some(other.measured.throughput.value);
        tiers[index].alone_connections = Some(f64::from(other.under_way_most));
        tiers[index].alone_full = other.is_full();
    }
    TableRow {
        label,
        group: spec.group.clone(),
        throughput_per_sec: measured.throughput.value,
        connections: Some(f64::from(measured.connections)),
        offered_per_sec: None,
        failed_ratio: None,
        refused_ratio: None,
        think_sec: None,
        response_sec: Some(measured.mean_latency_ns / 1e9),
        held_sec: spec.held.map(|held| held.as_secs_f64()),
        load_machines: None,
        response_bytes: run.response_bytes,
        cores: spec.cores.or(run.target_cores),
        front: spec.front.clone(),
        tiers,
    }
}

fn tier(used: &TierUse) -> TableTier {
    TableTier {
        name: used.tier.clone(),
        instances: Some(f64::from(used.machines)),
        cpu_ratio: used.cpu_ratio,
        in_bits_per_sec: used.in_bits_per_sec,
        out_bits_per_sec: used.out_bits_per_sec,
        link_bits_per_sec: used.link_bits_per_sec,
        ..TableTier::default()
    }
}

/// The runs that measure the hosts of a row's case alone, the fastest of each. None is used if the figure of one is a lower bound: the sum
/// is then a lower bound too, and shows neither whether the row reaches it nor where another line crosses it.
fn alone<'a>(row: &RowRun, runs: &'a [RowRun]) -> Vec<(&'a str, &'a RowRun)> {
    let of_case: Vec<&RowRun> = runs.iter().filter(|run| run.measures_alone(row)).collect();
    if of_case.iter().any(|run| run.is_bound()) {
        return Vec::new();
    }
    let per_sec = |run: &RowRun| run.measured.throughput.value;
    let of_hosts = grouped(of_case, |a, b| a.spec.alone == b.spec.alone).into_iter();
    let fastest =
        of_hosts.filter_map(|runs| runs.into_iter().rev().max_by(|a, b| per_sec(a).total_cmp(&per_sec(b))));
    fastest.map(|run| (run.spec.alone.as_deref().unwrap_or_default(), run)).collect()
}

/// The rows that cannot be compared with what their hosts carry alone: in a run of these the generator was the limit, or throughput still
/// grew.
fn uncompared(rows: &[RowRun], runs: &[RowRun]) -> Vec<String> {
    let is_one = |row: &&RowRun| runs.iter().any(|run| run.measures_alone(row) && run.is_bound());
    rows.iter().filter(is_one).map(|row| row.case().to_owned()).collect()
}
