//! Lines of at most 100 columns.

/// The widest line of a report.
pub(super) const WIDTH: usize = 100;
/// The column of a fact's text, after its name.
const FACT_INDENT: usize = 14;

/// Wraps the text in lines of at most [`WIDTH`] columns, the first after `first`, the others after `next`. A word longer
/// than a line (a URL) gets a line of its own. An amount and its unit stay on one line: [`glued`] joins them with a
/// no-break space, which is replaced here.
pub(super) fn wrapped(first: &str, next: &str, text: &str) -> String {
    wrapped_to(WIDTH, first, next, text)
}

/// Wraps the text in lines of at most `columns`.
pub(super) fn wrapped_to(columns: usize, first: &str, next: &str, text: &str) -> String {
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut bare = true;
    for word in glued(text).split(' ') {
        if !bare && width(&line) + 1 + width(word) > columns {
            lines.push(line);
            line = next.to_owned();
            bare = true;
        }
        if !bare {
            line.push(' ');
        }
        line.push_str(word);
        bare = false;
    }
    lines.push(line);
    lines.iter().map(|line| line.replace('\u{a0}', " ").trim_end().to_owned() + "\n").collect()
}

/// Returns the columns of a text; every character of a report is one column wide.
pub fn width(text: &str) -> usize {
    text.chars().count()
}

/// Cuts the text to a number of columns, with an ellipsis for the rest.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end_matches([' ', ',']))
}

/// Joins an amount to its unit and a relation to both its sides, so that no line ends between them.
fn glued(text: &str) -> String {
    const UNITS: [&str; 8] = ["%", "ns", "µs", "ms", "s", "B", "kB", "MB"];
    const RELATIONS: [&str; 3] = ["≥", "≤", "±"];
    let mut glued = String::with_capacity(text.len());
    let mut last = "";
    for word in text.split(' ') {
        let plain = word.trim_end_matches([',', '.', ';', ':', ')']);
        let unit = UNITS.contains(&plain) && last.ends_with(|c: char| c.is_ascii_digit());
        let relation = RELATIONS.contains(&last) || RELATIONS.contains(&word);
        if !glued.is_empty() {
            glued.push(if unit || relation { '\u{a0}' } else { ' ' });
        }
        glued.push_str(word);
        last = word;
    }
    glued
}

/// A name and a text, wrapped in the column after the name.
pub(super) fn fact(name: &str, text: &str) -> String {
    let first = format!("  {name:<width$}", width = FACT_INDENT - 2);
    wrapped(&first, &" ".repeat(FACT_INDENT), text)
}

/// Formats one item of a list.
pub(super) fn point(text: &str) -> String {
    wrapped("  - ", "    ", text)
}

/// Formats an advice at this indent.
pub(super) fn advice(indent: &str, text: &str) -> String {
    wrapped(&format!("{indent}→ "), &format!("{indent}  "), text)
}

/// The footnotes of a table.
pub(super) fn notes<'a>(notes: impl IntoIterator<Item = &'a str>) -> String {
    notes.into_iter().map(|note| wrapped("  ", "  ", note)).collect()
}

/// A block under its heading; empty without lines.
pub(super) fn headed(heading: &str, lines: String) -> String {
    if lines.is_empty() { lines } else { format!("{heading}\n{lines}") }
}

/// Joins the blocks that are not empty, with an empty line between them.
pub(super) fn blocks(blocks: impl IntoIterator<Item = String>) -> String {
    let there = blocks.into_iter().filter(|block| !block.is_empty());
    there.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_the_page_and_amounts_stay_with_their_units() {
        let text = "word ".repeat(18) + "and then 500 ms, ≥ 3,190 requests/s";
        let lines = wrapped("", "  ", text.trim());
        assert!(lines.lines().all(|line| width(line) <= WIDTH), "{lines}");
        assert!(lines.contains("500 ms"), "{lines}");
        assert!(lines.contains("≥ 3,190"), "{lines}");
        assert_eq!(lines.split_whitespace().collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn a_word_longer_than_a_line_stands_whole() {
        let url = format!("http://a/{}", "x".repeat(200));
        let lines = wrapped("", "", &format!("to {url} it"));
        assert_eq!(lines, format!("to\n{url}\nit\n"));
    }
}
