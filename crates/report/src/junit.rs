//! A run, or a comparison in rounds, as JUnit XML, as GitLab and Jenkins read it: a suite with a case for each condition.
//!
//! A broken condition is a failure; an unknown one is skipped. The case `measurement` is an error if the run itself
//! failed. The names of cases are the same in every run of a plan, so that a pipeline can follow them.

mod ab;

use std::io;

use plimsoll_analyze::{Findings, Held, Overload, RunStatus, Steadiness, StepSummary};
use plimsoll_record::{EventKind, Run};
use plimsoll_units::escape_control;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::amount::{if_known, list, load_of};
use crate::privacy::{Values, for_figures};
use crate::text::{self, Page, claim, origin, slo, steps};
use crate::words;

pub use self::ab::junit_of_ab;

/// The outcome of a case, and why.
enum Outcome {
    Passed,
    Failed(String),
    /// The run itself failed, so that nothing is known.
    Error(String),
    Skipped(String),
}

struct Case {
    name: String,
    outcome: Outcome,
}

/// Returns the suite of a run. With `strict`, a result that is no evidence is a failure.
///
/// # Errors
/// When it cannot be written; memory always can be written to.
pub fn junit(run: &Run, findings: &Findings, values: Values, strict: bool) -> io::Result<String> {
    let findings = &for_figures(findings, values);
    let suite = Suite {
        name: &findings.plan.name,
        cases: cases(run, findings, strict),
        time: &time(run),
        run: Some((run, findings)),
        answer: Some(text::short(run, findings, &Page::plain())),
    };
    suite.document()
}

/// Returns the suite of a run that did not begin, such as one whose target is unreachable: its measurement is an error.
///
/// # Errors
/// When it cannot be written; memory always can be written to.
pub fn junit_of_failure(name: &str, why: &str) -> io::Result<String> {
    let case = Case { name: Case::MEASUREMENT.to_owned(), outcome: Outcome::Error(why.to_owned()) };
    Suite { name, cases: vec![case], time: "0", run: None, answer: None }.document()
}

/// A suite before it is written.
struct Suite<'a> {
    name: &'a str,
    cases: Vec<Case>,
    /// Seconds.
    time: &'a str,
    /// What was measured; `None` if the run did not begin, or there are several.
    run: Option<(&'a Run, &'a Findings)>,
    /// What the terminal shows.
    answer: Option<String>,
}

impl Suite<'_> {
    fn document(&self) -> io::Result<String> {
        let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
        writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        let tests = self.cases.len().to_string();
        let failures = self.count(|outcome| matches!(outcome, Outcome::Failed(_)));
        let errors = self.count(|outcome| matches!(outcome, Outcome::Error(_)));
        let counts =
            [("tests", &*tests), ("failures", &*failures), ("errors", &*errors), ("time", self.time)];
        let suites =
            writer.create_element("testsuites").with_attribute(("name", "plimsoll")).with_attributes(counts);
        suites.write_inner_content(|writer| self.write(writer, counts))?;
        Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned() + "\n")
    }

    fn count(&self, of: fn(&Outcome) -> bool) -> String {
        self.cases.iter().filter(|case| of(&case.outcome)).count().to_string()
    }

    fn write(&self, writer: &mut Writer<Vec<u8>>, counts: [(&str, &str); 4]) -> io::Result<()> {
        let name = in_attribute(self.name);
        let skipped = self.count(|outcome| matches!(outcome, Outcome::Skipped(_)));
        let suite =
            writer.create_element("testsuite").with_attribute(("name", &*name)).with_attributes(counts);
        let mut suite = suite.with_attribute(("skipped", &*skipped));
        if let Some((run, _)) = self.run {
            let (began, host) = (began(run), in_attribute(&run.manifest.machine.hostname));
            suite = suite.with_attributes([("timestamp", &*began), ("hostname", &*host)]);
        }
        suite.write_inner_content(|writer| {
            if let Some((run, findings)) = self.run {
                write_properties(writer, run, findings)?;
            }
            self.cases.iter().try_for_each(|case| case.write(writer, &name, self.time))?;
            self.answer.as_deref().map_or(Ok(()), |answer| write_answer(writer, answer))
        })?;
        Ok(())
    }
}

fn write_answer(writer: &mut Writer<Vec<u8>>, answer: &str) -> io::Result<()> {
    writer.create_element("system-out").write_text_content(BytesText::new(&in_text(answer))).map(drop)
}

fn write_properties(writer: &mut Writer<Vec<u8>>, run: &Run, findings: &Findings) -> io::Result<()> {
    let manifest = &run.manifest;
    let properties = [
        ("version", manifest.tool_version.clone()),
        ("command", manifest.command.name().to_owned()),
        ("target", findings.plan.target.url.clone()),
        ("plan_hash", manifest.plan_hash.clone()),
        ("throughput", text::served_in_short(findings)),
        ("limit", text::limit_in_short(findings)),
        ("judged_at", if_known(slo::conditions(findings), |(step, _)| load_of(step))),
    ];
    writer.create_element("properties").write_inner_content(|writer| {
        for (name, value) in &properties {
            let value = in_attribute(value);
            let property = writer.create_element("property");
            property.with_attributes([("name", *name), ("value", &*value)]).write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

impl Case {
    /// The case of the run as a whole.
    const MEASUREMENT: &str = "measurement";

    fn write(&self, writer: &mut Writer<Vec<u8>>, suite: &str, time: &str) -> io::Result<()> {
        let name = in_attribute(&self.name);
        // All conditions are judged from one measurement, which alone takes time.
        let time = if self.name == Self::MEASUREMENT { time } else { "0" };
        let case = writer.create_element("testcase");
        let case = case.with_attributes([("name", &*name), ("classname", suite), ("time", time)]);
        let (element, kind, why) = match &self.outcome {
            Outcome::Passed => return case.write_empty().map(drop),
            Outcome::Failed(why) => ("failure", "condition", why),
            Outcome::Error(why) => ("error", "run", why),
            Outcome::Skipped(why) => ("skipped", "", why),
        };
        let (message, content) = (in_attribute(why), in_text(why));
        case.write_inner_content(|writer| {
            let element = writer.create_element(element).with_attribute(("message", &*message));
            match kind {
                "" => element.write_empty(),
                kind => element.with_attribute(("type", kind)).write_text_content(BytesText::new(&content)),
            }?;
            Ok(())
        })?;
        Ok(())
    }
}

/// Returns the measurement, then each condition; for an overload, its only condition.
fn cases(run: &Run, findings: &Findings, strict: bool) -> Vec<Case> {
    let status = RunStatus::new(run, findings, strict);
    let measurement =
        Case { name: Case::MEASUREMENT.to_owned(), outcome: measurement(run, findings, status) };
    let conditions = match &findings.overload {
        Some(overload) => vec![under_overload(findings, overload)],
        None => conditions(findings),
    };
    [measurement].into_iter().chain(conditions).collect()
}

fn measurement(run: &Run, findings: &Findings, status: RunStatus) -> Outcome {
    if let Some(damage) = origin::damage(run) {
        return Outcome::Error(damage);
    }
    match status {
        RunStatus::Interrupted | RunStatus::Incomplete => Outcome::Error(why_incomplete(run, findings)),
        RunStatus::AllFailed => {
            let url = escape_control(&findings.plan.target.url);
            Outcome::Error(claim::nothing_held(findings, &url, ""))
        }
        RunStatus::NotEvidence => Outcome::Failed(why_no_evidence(findings)),
        _ if !run.manifest.sealed => Outcome::Error(origin::UNFINISHED.to_owned()),
        RunStatus::Met | RunStatus::Broken | RunStatus::Open => Outcome::Passed,
    }
}

/// Returns why the run ended early, and the steps that were not run.
fn why_incomplete(run: &Run, findings: &Findings) -> String {
    let ends = [EventKind::Interrupted, EventKind::TargetLost, EventKind::StepFailed];
    let events = run.events.iter().filter(|event| ends.contains(&event.kind));
    let events = events.map(|event| escape_control(&origin::in_words(event)));
    let not_run = steps::not_run(findings);
    list(events.chain(not_run.lines().map(|line| line.trim().to_owned())), "; ")
}

/// Returns why `--strict` refuses the result.
fn why_no_evidence(findings: &Findings) -> String {
    if findings.lower_bound {
        return claim::generator_limit(findings).trim().to_owned();
    }
    let is_unsteady = |step: &&StepSummary| !matches!(step.steadiness, Steadiness::Steady | Steadiness::Ramp);
    let unsteady = findings.steps.iter().filter(is_unsteady);
    list(unsteady.map(|step| format!("{}:{}", load_of(step), claim::settled(step, false))), " ")
}

/// Returns the conditions at the load at which they are judged, which decides the exit code.
fn conditions(findings: &Findings) -> Vec<Case> {
    let Some((_, conditions)) = slo::conditions(findings) else { return unjudged(findings) };
    let judged = |condition: slo::Condition| {
        let text = condition.text();
        let outcome = match condition.held {
            Held::Yes => Outcome::Passed,
            Held::No => Outcome::Failed(text),
            Held::Unknown => Outcome::Skipped(format!("{text}, {}", slo::doubt(findings))),
        };
        Case { name: condition.name, outcome }
    };
    conditions.into_iter().map(judged).collect()
}

/// The conditions of a run without a step.
fn unjudged(findings: &Findings) -> Vec<Case> {
    let slo = &findings.plan.slo;
    let names = words::limits(slo).chain(slo.throughput_per_sec.map(words::throughput_limit));
    names.map(|name| Case { name, outcome: Outcome::Skipped(slo::doubt(findings).to_owned()) }).collect()
}

/// Returns the condition of an overload: that the target holds up.
fn under_overload(findings: &Findings, overload: &Overload) -> Case {
    let text = words::overload_verdict(findings, overload);
    let outcome = match RunStatus::of_overload(overload.class) {
        RunStatus::Broken => Outcome::Failed(text),
        RunStatus::Met => Outcome::Passed,
        _ => Outcome::Skipped(text),
    };
    Case { name: "holds up under overload".to_owned(), outcome }
}

/// Returns the time from the start of the run to the last response, in seconds.
fn time(run: &Run) -> String {
    format!("{:.3}", run.drained_ns() as f64 / 1e9)
}

/// When the run began, in UTC.
fn began(run: &Run) -> String {
    let began = i64::try_from(run.manifest.started_unix_ms).unwrap_or(i64::MAX);
    let began = jiff::Timestamp::from_millisecond(began).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    began.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

/// Returns the text in one line, without characters that XML forbids.
fn in_attribute(text: &str) -> String {
    in_text(&escape_control(text))
}

/// Replaces the characters that XML 1.0 forbids even as references (section 2.2).
fn in_text(text: &str) -> String {
    let is_allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    text.chars().map(|c| if is_allowed(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}
