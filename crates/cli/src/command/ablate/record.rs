//! The runs of an ablation as a table that grows with each of them, so that nothing of it can be lost.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_analyze::{Findings, ResourceKind, StepSummary};
use plimsoll_analyze::{Trial, io_calls_per_sec};
use plimsoll_plan::PlanHost;
use plimsoll_record::Run;

use super::table::{AT_LEAST, BESIDE, GROUP, SWITCH};

/// Less success than this, and a run's throughput is that of something else.
const SUCCESS_LEAST: f64 = 0.95;

/// What one run came to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    pub(super) throughput_per_sec: f64,
    pub(super) connections: u32,
    pub(super) mean_ms: f64,
    /// CPU in µs, IO calls and packets a request, by what they are called.
    pub(super) beside: Vec<(String, f64)>,
    /// The generator was the limit.
    pub(super) at_most: bool,
}

impl Outcome {
    /// The outcome of a run; `Err` with the reason where it says nothing of the combination.
    pub(super) fn of(run: &Run, findings: &Findings) -> Result<Self, String> {
        let Some((position, step)) = findings.steps.iter().enumerate().next_back() else {
            return Err("it has no step".to_owned());
        };
        if step.throughput.value <= 0.0 {
            return Err("nothing was answered".to_owned());
        }
        if step.success_ratio.is_some_and(|ratio| ratio < SUCCESS_LEAST) {
            return Err(format!("only {:.1} % succeeded", 100.0 * step.success_ratio.unwrap_or(0.0)));
        }
        Ok(Self {
            throughput_per_sec: step.throughput.value,
            connections: step.connections,
            mean_ms: step.latency.mean_ns / 1e6,
            beside: beside(run, findings, (position, step)),
            at_most: findings.lower_bound,
        })
    }

    /// The other figures in the order of these names.
    pub(super) fn in_order(&self, names: &[String]) -> Vec<Option<f64>> {
        let value =
            |name: &String| self.beside.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        names.iter().map(value).collect()
    }
}

/// What a request takes of each host: CPU in µs, IO calls, and packets both ways.
fn beside(run: &Run, findings: &Findings, (position, step): (usize, &StepSummary)) -> Vec<(String, f64)> {
    let each = |amount: f64| amount / step.throughput.value;
    let hosts = findings
        .resources
        .iter()
        .filter(|resource| resource.host != PlanHost::GENERATOR && resource.detail != "lo");
    let mut figures: Vec<(String, f64)> = Vec::new();
    for resource in hosts {
        let Some(used) = resource.used.get(position).copied().flatten() else { continue };
        let figure = match resource.kind {
            ResourceKind::Cpu => Some(("CPU µs", 1e6 * used)),
            ResourceKind::PacketsIn | ResourceKind::PacketsOut => Some(("packets", used)),
            _ => None,
        };
        let Some((name, amount)) = figure else { continue };
        let name = format!("{name} {}", resource.host);
        match figures.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += each(amount),
            None => figures.push((name, each(amount))),
        }
    }
    let calls = io_calls_per_sec(run, &findings.steps, position);
    figures.extend(calls.into_iter().map(|(host, calls)| (format!("IO calls {host}"), each(calls))));
    // All of one kind stand together.
    figures.sort_by(|a, b| a.0.cmp(&b.0));
    figures
}

/// The table.
#[derive(Debug)]
pub(super) struct Table {
    path: PathBuf,
    switches: Vec<String>,
    /// Whether the runs are of several states.
    grouped: bool,
    /// The other figures, as the first run has them.
    pub(super) beside: Vec<String>,
}

impl Table {
    pub(super) fn new(folder: &Path, stem: &str, switches: &[String], grouped: bool) -> Self {
        let path = folder.join(format!("{stem}.ablation.csv"));
        Self { path, switches: switches.to_vec(), grouped, beside: Vec::new() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a run of a state, which is then on the disk.
    pub(super) fn add(
        &mut self,
        group: Option<&str>,
        trial: &Trial,
        outcome: &Outcome,
        file: &Path,
    ) -> anyhow::Result<()> {
        let context = || format!("could not write {}", self.path.display());
        let begins = !self.path.exists();
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).with_context(context)?;
        }
        let opened = OpenOptions::new().create(true).append(true).open(&self.path).with_context(context)?;
        let mut writer = csv::Writer::from_writer(opened);
        if begins {
            writer.write_record(self.header()).with_context(context)?;
        }
        let group = self.grouped.then(|| group.unwrap_or_default().to_owned());
        let cells = group.into_iter().chain(cells(trial, outcome, file));
        writer.write_record(cells).with_context(context)?;
        writer.flush().with_context(context)
    }

    fn header(&self) -> Vec<String> {
        let fixed = ["connections", "qps", AT_LEAST, "rt_ms"].map(ToOwned::to_owned);
        let group = self.grouped.then(|| GROUP.to_owned());
        group
            .into_iter()
            .chain(["round".to_owned()])
            .chain(self.switches.iter().map(|name| format!("{SWITCH}{name}")))
            .chain(fixed)
            .chain(self.beside.iter().map(|name| format!("{BESIDE}{name}")))
            .chain(["file".to_owned()])
            .collect()
    }
}

fn cells(trial: &Trial, outcome: &Outcome, file: &Path) -> Vec<String> {
    let fixed = [
        outcome.connections.to_string(),
        outcome.throughput_per_sec.to_string(),
        u8::from(outcome.at_most).to_string(),
        outcome.mean_ms.to_string(),
    ];
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    std::iter::once(trial.round.map_or_else(String::new, |round| (round + 1).to_string()))
        .chain(trial.settings.iter().map(|on| u8::from(*on).to_string()))
        .chain(fixed)
        .chain(trial.beside.iter().map(|value| value.map_or_else(String::new, |value| value.to_string())))
        .chain([name])
        .collect()
}
