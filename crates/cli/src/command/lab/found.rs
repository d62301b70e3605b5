//! What a run of a lab found, against what was expected.

use std::path::PathBuf;

use anyhow::Context;
use plimsoll_analyze::{Findings, RowRun, StepSummary};
use plimsoll_plan::{Expect, Expected};
use plimsoll_record::Run;
use plimsoll_report::json::{self, CaseDocument, ExpectedDocument, FoundDocument, NamedLimitDocument};
use serde_json::Value;

use super::file::Case;
use crate::command::judge;
use crate::exit::Exit;

/// How far from the expected size of a pool the found one may be, as a part of it.
const SIZE_TOLERANCE: f64 = 0.1;

/// A limit and the host that it is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) limit: String,
    pub(super) host: String,
}

/// What a verdict says, by the names that its JSON has: these are what lab files are written in.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) named: Named,
    pub(super) confidence: String,
    /// What the verdict does not tell apart from it.
    pub(super) also: Vec<Named>,
    pub(super) size: Option<f64>,
    pub(super) text: String,
}

/// A case and what came of it.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) name: String,
    pub(super) expected: Option<Expect>,
    pub(super) found: Found,
    pub(super) best: Option<Best>,
    /// What it is in the table of its file, if the file makes one.
    pub(super) row: Option<RowRun>,
    /// The exit code of the run by itself.
    pub(super) exit: Exit,
    pub(super) file: PathBuf,
}

/// The step with the highest throughput.
#[derive(Debug, Clone, Copy)]
pub(super) struct Best {
    pub(super) per_sec: f64,
    pub(super) connections: u32,
    pub(super) p99_ns: Option<f64>,
    /// The generator was the limit.
    pub(super) at_least: bool,
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

impl Named {
    /// A place is a host's name, or has what of the host it is behind a colon.
    fn of(value: &Value) -> Self {
        let place = text(value, "where");
        let host = place.split(':').next().unwrap_or_default().trim().to_owned();
        Self { limit: text(value, "limit"), host }
    }

    fn document(&self) -> NamedLimitDocument {
        NamedLimitDocument { limit: self.limit.clone(), host: Some(self.host.clone()) }
    }

    fn is(&self, expected: &Expected) -> bool {
        self.limit == expected.limit && expected.host.as_ref().is_none_or(|host| *host == self.host)
    }
}

impl Found {
    fn of(verdict: &Value) -> Self {
        let list = |key: &str| verdict.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let advice = || list("advice").iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
        let said = Some(text(verdict, "text")).filter(|text| !text.is_empty());
        Self {
            named: Named::of(verdict),
            confidence: text(verdict, "confidence"),
            also: list("also").iter().map(Named::of).collect(),
            size: verdict.get("size").and_then(Value::as_f64),
            text: said.unwrap_or_else(advice),
        }
    }

    /// What is named, as an expectation could be typed.
    pub(super) fn words(&self) -> String {
        let Named { limit, host } = &self.named;
        if host.is_empty() { limit.clone() } else { format!("{limit}@{host}") }
    }

    /// Whether it is what was expected. Of several that are too close to be told apart all must be named, in any order.
    fn is(&self, expected: &Expect) -> bool {
        let named = |one: &Expected| self.named.is(one) || self.also.iter().any(|other| other.is(one));
        let limit = match expected.limits.as_slice() {
            [only] => self.named.is(only),
            all => all.iter().any(|one| self.named.is(one)) && all.iter().all(named),
        };
        let size = expected.size.is_none_or(|expected| {
            self.size.is_some_and(|size| (size - expected as f64).abs() <= expected as f64 * SIZE_TOLERANCE)
        });
        limit && size
    }
}

impl Best {
    fn of(findings: &Findings) -> Option<Self> {
        let higher = |a: &&StepSummary, b: &&StepSummary| a.throughput.value.total_cmp(&b.throughput.value);
        let step = findings.steps.iter().max_by(higher)?;
        Some(Self {
            per_sec: step.throughput.value,
            connections: step.connections,
            p99_ns: step.latency.p99.ns,
            at_least: findings.lower_bound,
        })
    }
}

impl Judged {
    /// The judgement of a run.
    pub(super) fn of(case: &Case<'_>, file: PathBuf, run: &Run, findings: &Findings) -> anyhow::Result<Self> {
        let verdict = serde_json::to_value(json::VerdictDocument::of(&findings.verdict))
            .context("could not write the verdict as JSON")?;
        Ok(Self {
            name: case.name.clone(),
            expected: case.file.expect.clone(),
            found: Found::of(&verdict),
            best: Best::of(findings),
            row: case.file.row.as_ref().and_then(|spec| RowRun::of(case.own_name(), spec, findings)),
            exit: judge::exit(run, findings, false),
            file,
        })
    }

    /// Whether it is what was expected; `None` if nothing was.
    pub(super) fn right(&self) -> Option<bool> {
        self.expected.as_ref().map(|expected| self.found.is(expected))
    }

    /// How a command ends that ran this alone: an expectation takes the place of the plan's conditions.
    pub(super) fn exit(&self) -> Exit {
        match (self.exit, self.right()) {
            (Exit::Interrupted, _) => Exit::Interrupted,
            (_, Some(true)) => Exit::Held,
            (_, Some(false)) => Exit::Broken,
            (exit, None) => exit,
        }
    }

    pub(super) fn document(&self) -> CaseDocument {
        let found = &self.found;
        CaseDocument {
            name: self.name.clone(),
            expected: self.expected.as_ref().map(expected_document),
            found: Some(FoundDocument { named: found.named.document(), size: found.size }),
            also: found.also.iter().map(Named::document).collect(),
            confidence: Some(found.confidence.clone()),
            right: self.right(),
            text: found.text.clone(),
            throughput_per_sec: self.best.map(|best| best.per_sec),
            connections: self.best.map(|best| best.connections),
            p99_ms: self.best.and_then(|best| best.p99_ns).map(|ns| ns / 1e6),
            file: Some(self.file.to_string_lossy().into_owned()),
        }
    }
}

/// An expectation: the first of its limits, and all of them if there are several.
pub(super) fn expected_document(expected: &Expect) -> ExpectedDocument {
    let one = |expected: &Expected| NamedLimitDocument {
        limit: expected.limit.clone(),
        host: expected.host.clone(),
    };
    let all: Vec<NamedLimitDocument> = expected.limits.iter().map(one).collect();
    let first =
        all.first().cloned().unwrap_or_else(|| NamedLimitDocument { limit: String::new(), host: None });
    ExpectedDocument {
        named: first,
        size: expected.size,
        either: if all.len() > 1 { all } else { Vec::new() },
    }
}

#[cfg(test)]
mod tests;
