//! The throughput of the first sentences, for a page that prints it large.

use plimsoll_analyze::overload::held_rate;
use plimsoll_analyze::{Findings, Overload, OverloadClass, SearchEnd};
use plimsoll_plan::Load;

use crate::amount::{chosen_step, unfinished};
use crate::text::claim;

/// How a throughput relates to what the target can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// The measured value.
    Exact,
    /// The load generator was the limit: "≥" stands before it.
    Generator,
    /// The run ended before it showed more: "at least" stands before it.
    Unfinished,
}

impl Bound {
    /// Returns its name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Generator => "generator_limited",
            Self::Unfinished => "unfinished",
        }
    }
}

/// The throughput that the first sentences state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HeadlineFigure {
    /// Requests per second; `None` where no request succeeded, or no rate is known.
    pub(crate) per_sec: Option<f64>,
    pub(crate) bound: Bound,
    /// What the target did with the requests: `held`, `answered` or `served`.
    pub(crate) what: &'static str,
}

impl HeadlineFigure {
    /// Returns the figure of a run. The sentences of the text state it with the same order of cases.
    pub(crate) fn new(findings: &Findings) -> Self {
        let overloaded = findings.overload.as_ref().map(|overload| overloaded(findings, overload));
        overloaded.unwrap_or_else(|| Self::of_steps(findings))
    }

    /// Returns the figure of a search or a ladder, without regard to an overload after it.
    pub(crate) fn of_steps(findings: &Findings) -> Self {
        searched(findings).unwrap_or_else(|| measured(findings))
    }
}

/// Returns the rate that was overloaded, if it holds.
fn overloaded(findings: &Findings, overload: &Overload) -> HeadlineFigure {
    let bound = match searched(findings) {
        Some(found) => found.bound,
        None if overload.class == OverloadClass::NotOverloaded => Bound::Unfinished,
        None => Bound::Exact,
    };
    HeadlineFigure { per_sec: held_rate(findings), bound, what: "held" }
}

fn searched(findings: &Findings) -> Option<HeadlineFigure> {
    let search = findings.search.as_ref()?;
    let held = search.held_per_sec?;
    let bound = match (search.broken_per_sec, search.end) {
        _ if findings.lower_bound => Bound::Generator,
        (Some(_), _) => Bound::Exact,
        (None, SearchEnd::GeneratorLimited) => Bound::Generator,
        (None, _) => Bound::Unfinished,
    };
    Some(HeadlineFigure { per_sec: Some(held), bound, what: "held" })
}

/// Returns the figure of a step.
fn measured(findings: &Findings) -> HeadlineFigure {
    let bound = match unfinished(findings) {
        _ if findings.lower_bound => Bound::Generator,
        Some(_) => Bound::Unfinished,
        None => Bound::Exact,
    };
    let step = chosen_step(findings).filter(|step| step.counts.ok > 0);
    let is_within = findings.slo.as_ref().is_none_or(|check| check.best_step.is_some());
    let is_level = matches!(findings.plan.load, Load::Single { .. });
    let what = match step {
        Some(step) if is_within && !is_level && findings.search.is_none() => {
            past(claim::verb(step, findings))
        }
        _ => "served",
    };
    HeadlineFigure { per_sec: step.map(|step| step.throughput.value), bound, what }
}

fn past(verb: &str) -> &'static str {
    if verb == "holds" { "held" } else { "answered" }
}
