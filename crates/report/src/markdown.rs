//! Markdown: a summary of a run, or of a comparison, for the page of a pipeline.
//!
//! The sentences are those of the short answer. Names and messages come from users, servers and files: none of them is
//! formatted, becomes a link or ends a cell of a table.

use plimsoll_analyze::{Comparison, Findings, Held, Incomparable, Margin};
use plimsoll_plan::Load;
use plimsoll_record::{Run, RunCommand};
use plimsoll_units::escape_control;

use crate::ab::AbReport;
use crate::privacy::{Values, for_figures};
use crate::text::comparison::{headline, highest_rates, notes, objection, steps};
use crate::text::{self, Side, ab, origin, overload, search, short, slo, verdict};
use crate::words;

/// The maximum number of steps shown of a ladder; a sweep shows all.
const MAX_STEPS: usize = 12;
/// The maximum width of a request's name, in columns.
const MAX_NAME: usize = 80;

/// The summary of a run.
pub fn markdown(run: &Run, findings: &Findings, values: Values) -> String {
    let findings = &for_figures(findings, values);
    let heading = format!("## Plimsoll: {}", escaped(&findings.plan.name));
    let damage = origin::damage(run).map(|text| remark(&text));
    let answer = match &findings.overload {
        Some(overloaded) => after_overload(findings, overloaded),
        None => answer(run, findings),
    };
    let remarks: String = short::remark_texts(run, findings).map(|text| remark(&text)).collect();
    let details = [
        folded(search::TRIALS, &table(&search::trials(findings))),
        folded(
            &verdict::evidence_heading(&findings.verdict),
            &list(&verdict::evidence_rows(&findings.verdict)),
        ),
        folded(verdict::RULED_OUT, &list(&verdict::ruled_out(&findings.verdict))),
    ];
    let footer = format!("<sub>{}</sub>", escaped(&origin::machine(run)));
    let parts = [heading].into_iter().chain(damage).chain(answer).chain([remarks]).chain(details);
    blocks(parts.chain([footer]))
}

/// The summary of a run that did not begin, such as one whose target is unreachable.
pub fn markdown_of_failure(name: &str, why: &str) -> String {
    let (heading, why) =
        (format!("## Plimsoll: {}", escaped(name)), format!("❌ **No result:** {}", escaped(why)));
    blocks([heading, why])
}

/// What the target holds, its conditions, what limits it, what to do next, and the ladder.
fn answer(run: &Run, findings: &Findings) -> Vec<String> {
    let conditions = short::conditions(findings).iter().map(condition).collect();
    let (label, said) = short::verdict_parts(run, findings);
    let next = short::advised(findings).map(|text| format!("**Next:** {}", escaped(&text)));
    let mut parts = vec![
        format!("**{}**", around_url(findings, &short::headline(findings, &url(findings)))),
        conditions,
        format!("**{}** {}", escaped(&label), escaped(&said)),
        next.unwrap_or_default(),
    ];
    parts.extend(match findings.plan.load {
        Load::Single { .. } => level(findings),
        Load::Ladder { .. } => ladder(run, findings),
    });
    parts
}

/// A condition with its sign and its state in a word.
fn condition(condition: &slo::Condition) -> String {
    let state = match condition.held {
        Held::Yes => "✅ met",
        Held::No => "❌ broken",
        Held::Unknown => "❔ not known",
    };
    format!("- {state}: {}\n", escaped(&condition.short_text()))
}

fn ladder(run: &Run, findings: &Findings) -> Vec<String> {
    let max_rows = if run.manifest.command == RunCommand::Sweep { usize::MAX } else { MAX_STEPS };
    let unknown = short::has_unknown(findings, max_rows).then(|| escaped(short::NOT_KNOWN));
    let not_run = text::steps::not_run(findings).lines().map(remark).collect();
    vec![table(&short::ladder_cells(findings, max_rows)), unknown.unwrap_or_default(), not_run]
}

/// Returns the figures of a single level, its requests and its windows over time.
fn level(findings: &Findings) -> Vec<String> {
    let Some(step) = findings.steps.first() else { return Vec::new() };
    let facts = short::facts(step, findings.lower_bound);
    let facts = facts.iter().map(|(name, text)| format!("- {name}: {}\n", escaped(text))).collect();
    vec![
        facts,
        table(&short::request_cells(step, MAX_NAME)),
        short::rest(step.requests.len(), "request"),
        table(&short::window_cells(step)),
        short::rest(step.ramp_windows.len(), "window"),
    ]
}

/// Returns how the target behaves under overload, and what protects it.
fn after_overload(findings: &Findings, overloaded: &plimsoll_analyze::Overload) -> Vec<String> {
    let sentence = format!("{} {}", url(findings), words::overload_verdict(findings, overloaded));
    let notes = [words::ramp_text(overloaded), overload::protecting(findings)];
    let notes = notes.into_iter().flatten().map(|text| escaped(&text));
    let mut parts = vec![format!("**{}**", around_url(findings, &sentence))];
    if !overloaded.steps.is_empty() || overloaded.reference.is_some() {
        parts.push(table(&overload::short_cells(overloaded)));
        parts.push(escaped(&overload::meaning(findings, overloaded)));
    }
    parts.extend(notes);
    parts
}

/// The comparison of two runs; `margin` says whether the new one is within its margin, and is empty without one.
pub fn markdown_of_comparison(
    comparison: &Comparison,
    candidate: Side<'_>,
    reference: Side<'_>,
    against: &[Incomparable],
    margin: &str,
) -> String {
    let heading = format!("## Plimsoll: {} and {}", escaped(reference.name), escaped(candidate.name));
    let sentence = format!("**{}**", escaped(&headline(comparison, candidate, reference)));
    let against = against.iter().map(|one| remark(&objection(one))).collect();
    let rows = table(&steps(comparison, [reference.label, candidate.label]));
    let notes = list(&notes(candidate, reference));
    let rates = highest_rates(comparison).map(|text| escaped(&text)).unwrap_or_default();
    blocks([heading, sentence, rates, escaped(margin.trim()), against, rows, notes])
}

/// Returns the comparison of two services that were loaded in turn; `trouble` says why the rounds ended early.
pub fn markdown_of_ab(report: &AbReport<'_>, trouble: Option<&str>) -> String {
    let findings = report.findings;
    let label = |label: &String| code(&escape_control(label));
    let [a, b] = report.labels.each_ref().map(label);
    let sign = match findings.gate {
        Margin::Within => "✅",
        Margin::Beyond => "❌",
        Margin::Unknown => "❔",
    };
    let heads = ab::HEADS.map(str::to_owned).to_vec();
    let rows = ab::rows(findings).into_iter().map(Vec::from);
    blocks([
        "## Plimsoll: B compared with A".to_owned(),
        format!("- A: {a}\n- B: {b}"),
        format!("**{}**", escaped(&ab::headline(findings))),
        format!("{sign} {}", escaped(&ab::gate(findings))),
        trouble.map(remark).unwrap_or_default(),
        table(&[heads].into_iter().chain(rows).collect::<Vec<_>>()),
        list(&ab::notes(report)),
    ])
}

fn url(findings: &Findings) -> String {
    escape_control(&findings.plan.target.url)
}

/// Escapes a sentence, with the URL of the target as code, so that it becomes no link.
fn around_url(findings: &Findings, sentence: &str) -> String {
    let url = url(findings);
    let parts: Vec<String> = sentence.split(&url).map(escaped).collect();
    parts.join(&code(&url))
}

/// Returns the text as code, between more backticks than it has in a row.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let gap = if longest > 0 { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}

fn remark(text: &str) -> String {
    format!("- ⚠️ {}\n", escaped(text))
}

fn list(rows: &[String]) -> String {
    rows.iter().map(|row| format!("- {}\n", escaped(row))).collect()
}

/// Returns a section that opens with a click; empty without content.
fn folded(title: &str, content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    format!("<details><summary>{}</summary>\n\n{}\n\n</details>", escaped(title), content.trim_end())
}

/// A table: the first line has the names of the columns, the last column holds text, the others numbers.
fn table(lines: &[Vec<String>]) -> String {
    let Some((names, rows)) = lines.split_first().filter(|(_, rows)| !rows.is_empty()) else {
        return String::new();
    };
    let row = |cells: &Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell.trim())).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let last = names.len().saturating_sub(1);
    let aligned = "| ---: ".repeat(last) + "| :--- |\n";
    row(names) + &aligned + &rows.iter().map(row).collect::<String>()
}

/// Joins the parts that are not empty, with an empty line between them.
fn blocks(parts: impl IntoIterator<Item = String>) -> String {
    let parts: Vec<String> =
        parts.into_iter().map(|part| part.trim_end().to_owned()).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n") + "\n"
}

/// Text in one line that Markdown and HTML print as it is.
fn escaped(text: &str) -> String {
    let text = escape_control(text);
    let mut safe = String::with_capacity(text.len());
    let number = text.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0);
    let is_numbered = number.is_some_and(|end| [". ", ") "].iter().any(|mark| text[end..].starts_with(mark)));
    for (at, c) in text.char_indices() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // Otherwise a scheme or `www.` begins a link.
            ':' if text[at..].starts_with("://") => safe.push_str("&#58;"),
            '.' if ends_in_www(&text[..at]) => safe.push_str("&#46;"),
            // Otherwise an e-mail address becomes a link, and `@` with a name mentions a user.
            '@' => safe.push_str("&#64;"),
            // At the start of a line, these begin a list item or a heading.
            '-' | '+' | '=' if at == 0 => safe.extend(['\\', c]),
            '.' | ')' if is_numbered && Some(at) == number => safe.extend(['\\', c]),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '$' | '!' => safe.extend(['\\', c]),
            _ => safe.push(c),
        }
    }
    safe
}

fn ends_in_www(text: &str) -> bool {
    let end = text.len().saturating_sub(3);
    text.get(end..).is_some_and(|end| end.eq_ignore_ascii_case("www"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_printed_as_it_is() {
        assert_eq!(escaped("p99 10.2 ms (limit 500 ms)"), "p99 10.2 ms (limit 500 ms)");
        assert_eq!(
            escaped("<b>a|b</b> & `c` *d* _e_"),
            "&lt;b&gt;a\\|b&lt;/b&gt; &amp; \\`c\\` \\*d\\* \\_e\\_"
        );
        assert_eq!(escaped("![x](http://a) www.b"), "\\!\\[x\\](http&#58;//a) www&#46;b");
        assert_eq!(escaped("ann@web.test @team"), "ann&#64;web.test &#64;team");
        assert_eq!((escaped("1. one"), escaped("1.2 ms")), ("1\\. one".to_owned(), "1.2 ms".to_owned()));
        assert_eq!(escaped("- one - two"), "\\- one - two");
        assert_eq!(escaped("a\nb"), "a\\\\nb");
    }

    #[test]
    fn code_ends_where_its_text_does() {
        assert_eq!(code("http://a/"), "`http://a/`");
        assert_eq!(code("a``b"), "``` a``b ```");
    }
}
