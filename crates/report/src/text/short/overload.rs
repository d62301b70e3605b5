//! The short answer of a run that overloaded its target.

use plimsoll_analyze::{Findings, Overload, OverloadClass};
use plimsoll_units::escape_control;

use crate::text::overload::{limits, meaning, short_table};
use crate::text::page::{Ink, Page};
use crate::text::paragraph::{cut, wrapped_to};
use crate::words;

/// Returns how the target behaves, the table, a ramp compared with a jump, and the limits that protect it.
pub(super) fn overload(findings: &Findings, overload: &Overload, page: &Page) -> String {
    let url = cut(&escape_control(&findings.plan.target.url), page.width);
    let verdict = wrapped_to(page.width, "", "", &words::overload_verdict(findings, overload));
    let ink = match overload.class {
        OverloadClass::Graceful => Ink::Good,
        OverloadClass::Collapses | OverloadClass::Metastable => Ink::Bad,
        OverloadClass::Degrades | OverloadClass::NotOverloaded | OverloadClass::Unknown => Ink::Doubt,
    };
    let head = format!("{url}\n{}", page.paint_lines(ink, &verdict));
    let said = |text: String| wrapped_to(page.width, "", "  ", &text);
    let notes = [words::ramp_text(overload), limits(findings, page)].into_iter().flatten().map(said);
    let table = match overload.steps.is_empty() && overload.reference.is_none() {
        true => String::new(),
        false => short_table(overload) + &said(meaning(findings, overload)) + "\n",
    };
    format!("{head}\n{table}{}", notes.collect::<String>())
}
