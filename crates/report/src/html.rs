//! A page as one file: the built page of `ui/`, with the document it shows.

use plimsoll_analyze::{AnalyzeError, Findings, timeline};
use plimsoll_record::Run;

use crate::json::{PageDocument, PageRunDocument};
use crate::privacy::Values;
use crate::text::origin;

/// The built page; `make ui` makes it from `ui/`.
const PAGE: &str = include_str!("../page/index.html");
/// The placeholder of the document.
const PLACE: &str = "<!--plimsoll:document-->";

/// A recorded run as a page shows it.
///
/// # Errors
/// When a histogram of the run cannot be read.
pub fn page_run(run: &Run, findings: &Findings, values: Values) -> Result<PageRunDocument, AnalyzeError> {
    Ok(PageRunDocument::new(run, findings, &timeline(run)?, values))
}

/// A run in progress, as a page shows it. It is not sealed yet, but unlike a killed run it goes on, and the text says so.
///
/// # Errors
/// When a histogram of the run cannot be read.
pub fn page_run_so_far(
    run: &Run,
    findings: &Findings,
    values: Values,
) -> Result<PageRunDocument, AnalyzeError> {
    let page = page_run(run, findings, values)?;
    let text = page.text.replace(origin::UNFINISHED, origin::UNDER_WAY);
    Ok(PageRunDocument { text, ..page })
}

/// Returns a self-contained page: it needs no network and no other file.
///
/// # Errors
/// When the document cannot be written as JSON. No document of this crate has a map key or a value for which that happens.
pub fn html(document: &PageDocument) -> Result<String, serde_json::Error> {
    // A browser ends the element at `</script`, whatever is around it, and reads `<!--` as the start of a comment.
    let json = serde_json::to_string(document)?.replace('<', "\\u003c");
    let together = document.together.iter().map(|together| &together.text);
    let texts: Vec<String> =
        together.chain(document.runs.iter().map(|run| &run.text)).map(|text| escaped(text)).collect();
    let element = format!(
        "<script type=\"application/json\" id=\"plimsoll\">{json}</script>\n<noscript><pre>{}</pre></noscript>",
        texts.join("\n\n")
    );
    Ok(PAGE.replacen(PLACE, &element, 1))
}

/// What a page shows that comes from a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServedPage {
    /// A run in progress.
    Live,
    /// A list of recorded runs, and each of them.
    Runs,
}

/// The text in front of the page's own policy.
const POLICY: &str = "http-equiv=\"Content-Security-Policy\" content=\"";

/// Returns a page without a document, which it requests from its server, and its content security policy. The policy
/// differs from that of a page on disk only by `connect-src 'self'`.
pub fn served_page(kind: ServedPage) -> (String, String) {
    let name = match kind {
        ServedPage::Live => "live",
        ServedPage::Runs => "runs",
    };
    let element = format!("<script type=\"application/json\" id=\"plimsoll-served\">\"{name}\"</script>");
    let page = PAGE.replacen(PLACE, &element, 1);
    let (before, own, after) = parts_around_policy(&page);
    let policy = format!("{own}; connect-src 'self'");
    (format!("{before}{policy}{after}"), policy)
}

/// Splits the page into the part before its policy, the policy, and the rest.
fn parts_around_policy(page: &str) -> (&str, &str, &str) {
    let begin = page.find(POLICY).map_or(0, |at| at + POLICY.len());
    let end = page[begin..].find('"').map_or(begin, |length| begin + length);
    (&page[..begin], &page[begin..end], &page[end..])
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
