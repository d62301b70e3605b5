//! Cuts a text to the sentences that fit a number of lines.

use crate::text::page::Page;
use crate::text::paragraph::wrapped_to;

/// Returns the first sentences of a text that fit `lines` lines, at least one.
pub(super) fn sentences_in(page: &Page, lines: usize, text: &str, next: &str) -> String {
    let mut shown = String::new();
    for sentence in sentences(text) {
        let longer = if shown.is_empty() { sentence.to_owned() } else { format!("{shown} {sentence}") };
        if !shown.is_empty() && wrapped_to(page.width, "", next, &longer).lines().count() > lines {
            break;
        }
        shown = longer;
    }
    wrapped_to(page.width, "", next, &shown)
}

/// Splits a text into sentences: each begins with a capital letter after a full stop.
fn sentences(text: &str) -> Vec<&str> {
    let ends = text.match_indices(". ").map(|(at, _)| at + 1);
    let is_end = |at: &usize| text[*at..].trim_start().starts_with(char::is_uppercase);
    let mut from = 0;
    let mut sentences = Vec::new();
    for end in ends.filter(is_end) {
        sentences.push(text[from..end].trim());
        from = end;
    }
    sentences.push(text[from..].trim());
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_after_whole_sentences() {
        let page = Page { width: 20, colours: false, run_name: None };
        let text = "One takes 3.5 ms, e.g. here. Two follows. Three is not shown.";
        assert_eq!(sentences(text), ["One takes 3.5 ms, e.g. here.", "Two follows.", "Three is not shown."]);
        assert_eq!(sentences_in(&page, 3, text, ""), "One takes 3.5 ms,\ne.g. here. Two\nfollows.\n");
        // The first sentence stands, however long it is.
        assert_eq!(sentences_in(&page, 1, text, ""), "One takes 3.5 ms,\ne.g. here.\n");
    }
}
