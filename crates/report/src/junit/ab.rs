//! The suite of two services that were loaded in turn.

use std::io;

use plimsoll_analyze::Margin;
use plimsoll_analyze::ab::{AbFigure, LoadKind, SUCCESS_MARGIN};
use plimsoll_units::percent_text;

use super::{Case, Outcome, Suite};
use crate::ab::AbReport;
use crate::text::{Page, ab};

/// Returns the suite of a comparison. Each figure is a case: B is not worse than the margin allows. `trouble` says why
/// the rounds ended early.
///
/// # Errors
/// When it cannot be written; memory always can be written to.
pub fn junit_of_ab(name: &str, report: &AbReport<'_>, trouble: Option<&str>) -> io::Result<String> {
    let measurement = trouble.map_or(Outcome::Passed, |why| Outcome::Error(why.to_owned()));
    let measurement = Case { name: Case::MEASUREMENT.to_owned(), outcome: measurement };
    let figures = AbFigure::of(report.findings.kind).into_iter().map(|figure| of_figure(report, figure));
    let suite = Suite {
        name,
        cases: [measurement].into_iter().chain(success(report)).chain(figures).collect(),
        time: &format!("{:.3}", report.findings.elapsed_sec),
        run: None,
        answer: Some(ab::ab(report, &Page::plain())),
    };
    suite.document()
}

/// Returns the case that B does not fail more. A search tries rates at which requests fail, so it has no such case.
fn success(report: &AbReport<'_>) -> Option<Case> {
    let findings = report.findings;
    let name = format!("success of B is at most {} below that of A", percent_text(SUCCESS_MARGIN));
    let outcome = match findings.fails_more {
        true => Outcome::Failed(ab::gate(findings)),
        false => Outcome::Passed,
    };
    (findings.kind != LoadKind::Search).then_some(Case { name, outcome })
}

fn of_figure(report: &AbReport<'_>, figure: AbFigure) -> Case {
    let findings = report.findings;
    let margin = percent_text(findings.rule.margin);
    let name = format!("{} of B is at most {margin} worse than that of A", ab::ab_figure(figure));
    let known = findings.figures.iter().find(|known| known.figure == figure);
    let outcome = match known.map(|known| (findings.gate_of(known), ab::compared(known))) {
        Some((Margin::Within, _)) => Outcome::Passed,
        Some((Margin::Beyond, text)) => Outcome::Failed(text),
        Some((Margin::Unknown, text)) => Outcome::Skipped(text),
        None => Outcome::Skipped("not measured".to_owned()),
    };
    Case { name, outcome }
}
