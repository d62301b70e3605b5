//! A page as one file: the built page of `ui/`, with the document it shows.

use crate::json::PageDocument;

/// The built page; `make ui` makes it from `ui/`.
const PAGE: &str = include_str!("../page/index.html");
/// Where the document stands in it.
const PLACE: &str = "<!--plimsoll:document-->";

/// The page of a document, which needs nothing else: no network and no other file.
///
/// # Errors
/// When the document cannot be written as JSON. No document of this crate has a map key or a value for which that happens.
pub fn html(document: &PageDocument) -> Result<String, serde_json::Error> {
    // A browser ends the element at `</script`, whatever is around it, and reads `<!--` as the begin of a comment.
    let json = serde_json::to_string(document)?.replace('<', "\\u003c");
    let texts: Vec<String> = document.runs.iter().map(|run| escaped(&run.text)).collect();
    let element = format!(
        "<script type=\"application/json\" id=\"plimsoll\">{json}</script>\n<noscript><pre>{}</pre></noscript>",
        texts.join("\n\n")
    );
    Ok(PAGE.replacen(PLACE, &element, 1))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
