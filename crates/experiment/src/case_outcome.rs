//! The outcome of one plan of a lab file: its run, and whether the verdict is the expected one.

use std::path::{Path, PathBuf};

use plimsoll_analyze::overload::protection;
use plimsoll_analyze::{
    Estimate, Findings, Limit, OverloadClass, Protection, RampEffect, RowRun, RunStatus, Verdict,
};
use plimsoll_lab::LabError;
use plimsoll_plan::{Expect, Expected};

use crate::ExperimentError;
use crate::lab_file::Case;
use crate::recorded::RecordedRun;

/// The highest relative deviation of a pool's size from the expected one.
const SIZE_TOLERANCE: f64 = 0.1;

/// The outcome of one plan.
#[derive(Debug)]
pub struct CaseOutcome {
    pub name: String,
    /// The file's expectation, if it has one.
    pub expected: Option<Expect>,
    /// The run, or the reason for its failure.
    pub result: Result<JudgedRun, ExperimentError>,
}

/// A run with its diagnosis.
#[derive(Debug)]
pub struct JudgedRun {
    pub verdict: Verdict,
    /// The behaviour of the target under overload; `None` if it was not overloaded.
    pub overload: Option<OverloadClass>,
    /// The effect of a ramp to the highest overload; `None` if unknown.
    pub ramp: Option<RampEffect>,
    /// The limits that protect the target; `None` if no rate is known to hold, or the target kept up with every overload.
    pub limits: Option<Protection>,
    /// The step with the highest throughput; `None` for a run without steps.
    pub peak: Option<PeakStep>,
    /// The row in the file's table; `None` if it has none.
    pub row: Option<RowRun>,
    pub status: RunStatus,
    pub file: PathBuf,
}

/// The step with the highest throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeakStep {
    pub throughput_per_sec: f64,
    pub connections: u32,
    /// The 99th percentile of latency; `None` if nothing was answered.
    pub p99_ns: Option<f64>,
    /// True if the generator was the limit, so that the throughput is a lower bound.
    pub lower_bound: bool,
}

impl PeakStep {
    fn from_findings(findings: &Findings) -> Option<Self> {
        let (_, step) = findings.best_step()?;
        Some(Self {
            throughput_per_sec: step.throughput.value,
            connections: step.connections,
            p99_ns: step.latency.p99.ns,
            lower_bound: findings.lower_bound,
        })
    }
}

impl JudgedRun {
    pub(crate) fn new(case: &Case<'_>, recorded: &RecordedRun) -> Self {
        let RecordedRun { path, run, findings } = recorded;
        let row = case.file.row.as_ref();
        Self {
            verdict: findings.verdict.clone(),
            overload: findings.overload.as_ref().map(|overload| overload.class),
            ramp: findings.overload.as_ref().and_then(|overload| overload.ramp),
            limits: protection(findings),
            peak: PeakStep::from_findings(findings),
            row: row.and_then(|spec| RowRun::from_findings(case.own_name(), spec, findings)),
            status: RunStatus::new(run, findings, false),
            file: path.clone(),
        }
    }

    /// The result in the form of an expectation: `cpu@web`, `cpu` without a host, or `collapses` for an overload.
    pub fn found_text(&self) -> String {
        if let Some(class) = self.overload {
            return class.name().to_owned();
        }
        let (limit, host) = (self.verdict.limit.name(), self.verdict.host());
        if host.is_empty() { limit.to_owned() } else { format!("{limit}@{host}") }
    }

    /// The size of the resource that is used up, such as the workers of a pool.
    pub fn size(&self) -> Option<f64> {
        self.verdict.size.map(|size| size.value).filter(|size| size.is_finite())
    }
}

/// True if the verdict and the behaviour under overload meet a file's expectation. If several limits are expected, which are too
/// close to be distinguished, the verdict must name all of them, in any order.
fn meets(verdict: &Verdict, overload: Option<OverloadClass>, expected: &Expect) -> bool {
    let is = |limit: Limit, host: &str, expected: &Expected| {
        limit == expected.limit && expected.host.as_ref().is_none_or(|known| known == host)
    };
    let first = |one: &Expected| is(verdict.limit, verdict.host(), one);
    let named = |one: &Expected| {
        first(one) || verdict.also.iter().any(|suspect| is(suspect.limit, suspect.host(), one))
    };
    let limit = match expected.limits.as_slice() {
        [] => true,
        [only] => first(only),
        all => all.iter().any(first) && all.iter().all(named),
    };
    let size = expected.size.is_none_or(|expected| {
        let off = |size: Estimate| (size.value - expected as f64).abs();
        verdict.size.is_some_and(|size| off(size) <= expected as f64 * SIZE_TOLERANCE)
    });
    let class =
        expected.overload.is_empty() || overload.is_some_and(|class| expected.overload.contains(&class));
    limit && size && class
}

impl CaseOutcome {
    pub(crate) fn new(case: &Case<'_>, result: Result<JudgedRun, ExperimentError>) -> Self {
        Self { name: case.name.clone(), expected: case.file.expect.clone(), result }
    }

    /// The outcome of a run, and of a service that ended during it. Such a run is no evidence, unless the target collapsed as the
    /// file expects.
    pub(crate) fn of_run(case: &Case<'_>, recorded: &RecordedRun, ended: Option<LabError>) -> Self {
        let outcome = Self::new(case, Ok(JudgedRun::new(case, recorded)));
        let Some(source) = ended.filter(|_| !outcome.expects_collapse()) else { return outcome };
        let (path, source) = (recorded.path.clone(), source.into());
        Self::new(case, Err(ExperimentError::ServiceEnded { path, source }))
    }

    /// The run, if it was made and is evidence.
    pub fn judged(&self) -> Option<&JudgedRun> {
        self.result.as_ref().ok()
    }

    /// The run file, even if the run is no evidence; `None` if there is none.
    pub fn file(&self) -> Option<&Path> {
        match &self.result {
            Ok(judged) => Some(&judged.file),
            Err(ExperimentError::ServiceEnded { path, .. }) => Some(path),
            Err(_) => None,
        }
    }

    /// True if the target collapsed under overload as the file expects: such a target may be lost.
    fn expects_collapse(&self) -> bool {
        let is_collapse =
            |class: &OverloadClass| matches!(class, OverloadClass::Collapses | OverloadClass::Metastable);
        let expected = self.expected.iter().flat_map(|expected| &expected.overload);
        let found = self.judged().and_then(|judged| judged.overload);
        expected.copied().filter(is_collapse).any(|class| Some(class) == found)
    }

    /// True if the result is as the file expects; `None` if it expects nothing. False if the run failed.
    pub fn as_expected(&self) -> Option<bool> {
        let Ok(judged) = &self.result else { return Some(false) };
        self.expected.as_ref().map(|expected| {
            meets(&judged.verdict, judged.overload, expected)
                && expected.ramp.is_none_or(|effect| judged.ramp == Some(effect))
        })
    }

    /// The status of the run; `None` if the run failed. An expectation replaces the plan's conditions. An early end takes precedence
    /// over a met expectation.
    pub fn status(&self) -> Option<RunStatus> {
        Some(match (self.judged()?.status, self.as_expected()) {
            (RunStatus::Interrupted, _) => RunStatus::Interrupted,
            (RunStatus::Incomplete, Some(true)) if !self.expects_collapse() => RunStatus::Incomplete,
            (_, Some(true)) => RunStatus::Met,
            (_, Some(false)) => RunStatus::Broken,
            (status, None) => status,
        })
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_analyze::{Confidence, Part, Place, Suspect};

    use super::*;

    fn verdict(limit: Limit, place: Place) -> Verdict {
        Verdict::new(limit, place, Confidence::Measured)
    }

    fn expect(limits: &[(Limit, Option<&str>)], size: Option<u64>) -> Expect {
        let one = |(limit, host): &(Limit, Option<&str>)| Expected {
            limit: *limit,
            host: host.map(ToOwned::to_owned),
        };
        Expect { limits: limits.iter().map(one).collect(), size, overload: Vec::new(), ramp: None }
    }

    #[test]
    fn a_place_within_a_host_is_on_that_host() {
        let found = verdict(Limit::Thread, Place::process("web", "nginx"));
        assert!(meets(&found, None, &expect(&[(Limit::Thread, Some("web"))], None)));
        assert!(
            meets(&found, None, &expect(&[(Limit::Thread, None)], None)),
            "the file leaves the host open"
        );
        assert!(!meets(&found, None, &expect(&[(Limit::Thread, Some("api"))], None)));
        assert!(!meets(&found, None, &expect(&[(Limit::Cpu, Some("web"))], None)));
    }

    #[test]
    fn two_ports_of_one_address_are_two_hosts() {
        let found = verdict(Limit::Pool, Place::Target("10.0.0.5:3306".to_owned()));
        assert!(meets(&found, None, &expect(&[(Limit::Pool, Some("10.0.0.5:3306"))], None)));
        assert!(!meets(&found, None, &expect(&[(Limit::Pool, Some("10.0.0.5:6379"))], None)));
        assert!(!meets(&found, None, &expect(&[(Limit::Pool, Some("10.0.0.5"))], None)));
    }

    #[test]
    fn of_a_tie_all_must_be_named_whichever_comes_first() {
        let tie = expect(&[(Limit::Cpu, Some("web")), (Limit::Bandwidth, Some("web"))], None);
        let with_also = |also: &[(Limit, &str)]| {
            let suspect = |(limit, place): &(Limit, &str)| Suspect {
                limit: *limit,
                place: Place::host(*place),
                at_per_sec: None,
            };
            let also = also.iter().map(suspect).collect();
            Verdict {
                also,
                ..verdict(Limit::Bandwidth, Place::part("web", Part::Interface("eth0".to_owned())))
            }
        };
        assert!(meets(&with_also(&[(Limit::Cpu, "web")]), None, &tie));
        assert!(!meets(&with_also(&[]), None, &tie));
        assert!(!meets(&with_also(&[(Limit::Cpu, "api")]), None, &tie));
        let only = expect(&[(Limit::Cpu, Some("web"))], None);
        assert!(!meets(&with_also(&[(Limit::Cpu, "web")]), None, &only), "a second suspect is not the limit");
    }

    #[test]
    fn the_size_of_a_pool_may_be_a_tenth_off() {
        let of_size = |size: Option<f64>| {
            let size = size.map(|value| Estimate { value, interval: None });
            Verdict { size, ..verdict(Limit::Pool, Place::host("api")) }
        };
        let pool = expect(&[(Limit::Pool, Some("api"))], Some(32));
        assert!(meets(&of_size(Some(31.0)), None, &pool) && meets(&of_size(Some(35.0)), None, &pool));
        assert!(!meets(&of_size(Some(36.0)), None, &pool) && !meets(&of_size(None), None, &pool));
    }

    #[test]
    fn a_run_that_ended_early_is_not_all_right_unless_it_is_the_collapse_that_is_expected() {
        let status = |found: Option<OverloadClass>, expected: Expect| {
            let judged = JudgedRun {
                verdict: verdict(Limit::Cpu, Place::host("web")),
                overload: found,
                ramp: Some(RampEffect::None),
                limits: None,
                peak: None,
                row: None,
                status: RunStatus::Incomplete,
                file: PathBuf::new(),
            };
            let name = "lab/one".to_owned();
            CaseOutcome { name, expected: Some(expected), result: Ok(judged) }.status()
        };
        let of = |class: OverloadClass| {
            status(Some(class), Expect { limits: Vec::new(), size: None, overload: vec![class], ramp: None })
        };
        let ramp = |effect| {
            let class = OverloadClass::Collapses;
            status(Some(class), Expect { overload: vec![class], ramp: Some(effect), ..expect(&[], None) })
        };
        assert_eq!(ramp(RampEffect::None), Some(RunStatus::Met));
        assert_eq!(ramp(RampEffect::KeepsUp), Some(RunStatus::Broken));
        assert_eq!(of(OverloadClass::Graceful), Some(RunStatus::Incomplete));
        assert_eq!(of(OverloadClass::Collapses), Some(RunStatus::Met));
        assert_eq!(of(OverloadClass::Metastable), Some(RunStatus::Met));
        let cpu = || expect(&[(Limit::Cpu, None)], None);
        assert_eq!(status(None, cpu()), Some(RunStatus::Incomplete));
        assert_eq!(status(Some(OverloadClass::Collapses), cpu()), Some(RunStatus::Incomplete));
    }

    #[test]
    fn what_becomes_of_an_overload_may_be_one_of_several() {
        let found = verdict(Limit::Unknown, Place::Nowhere);
        let classes = |overload: &[OverloadClass]| Expect {
            limits: Vec::new(),
            size: None,
            overload: overload.to_vec(),
            ramp: None,
        };
        let either = classes(&[OverloadClass::Collapses, OverloadClass::Metastable]);
        assert!(meets(&found, Some(OverloadClass::Metastable), &either));
        assert!(!meets(&found, Some(OverloadClass::Graceful), &either));
        assert!(!meets(&found, None, &either), "a run without an overload shows none");
        assert!(meets(&found, None, &classes(&[])));
    }
}
