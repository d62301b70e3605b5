//! The page of results, docs/conformance.md.

use std::fmt::Write as _;

use super::case::{Answer, Case, Group, Right, Suite};
use super::observed::{Observed, Verdict, judge};
use super::peers::Peers;

const HEAD: &str = include_str!("../../conformance/page-head.txt");

/// The clients of a suite by their columns; the first is Plimsoll.
const fn clients(suite: Suite) -> &'static [&'static str] {
    match suite {
        Suite::Http1 => &["Plimsoll", "curl", "wrk", "h2load"],
        Suite::Http2 => &["Plimsoll", "curl", "h2load"],
    }
}

/// The page about both suites.
pub fn page(http1: &[Group], http2: &[Group], peers: &Peers) -> String {
    let suites = [(Suite::Http1, "HTTP/1.1", http1), (Suite::Http2, "HTTP/2", http2)];
    let mut text = HEAD.to_owned();
    text += "\n## Scores\n\n";
    let versions: Vec<_> =
        peers.versions.iter().map(|(client, version)| format!("{client} {version}")).collect();
    let (versions, date) = (versions.join(", "), &peers.date);
    text += &format!("Other clients: {versions}, of {date}.\n");
    for (suite, name, groups) in suites {
        text += &scores(suite, name, groups, peers);
    }
    text += "\n## Deviations of Plimsoll\n\n";
    text += &deviations(&suites);
    text += "\n";
    text += &strictness(&suites);
    for (suite, name, groups) in suites {
        for group in groups {
            text += &format!("\n## {name}: {}\n\n", lower_first(&group.title));
            text += &table(suite, group, peers);
        }
    }
    text
}

/// Titles begin with a capital letter, also those that begin with the name of a field.
fn lower_first(title: &str) -> String {
    let (first, rest) = title.split_at(1);
    if title.contains('-') { title.to_owned() } else { first.to_lowercase() + rest }
}

fn cases(groups: &[Group]) -> impl Iterator<Item = &Case> {
    groups.iter().flat_map(|group| &group.cases)
}

fn observed(suite: Suite, case: &Case, client: &str, peers: &Peers) -> Option<Observed> {
    if client == "Plimsoll" {
        return Some(Observed::parse(&case.plimsoll));
    }
    peers.observed(suite, case, client)
}

/// How many cases each client got right.
fn scores(suite: Suite, name: &str, groups: &[Group], peers: &Peers) -> String {
    let total = cases(groups).count();
    let free = cases(groups).filter(|case| matches!(case.right, Right::Free(_))).count();
    let mut text = format!("\n{name}: {total} cases, of which the RFC decides {}.\n\n", total - free);
    let codes = suite == Suite::Http2;
    text += if codes {
        "| client | right | refused, other code or none | wrong | left open |\n"
    } else {
        "| client | right | wrong | left open |\n"
    };
    text += if codes { "| --- | --- | --- | --- | --- |\n" } else { "| --- | --- | --- | --- |\n" };
    for client in clients(suite) {
        let verdicts: Vec<_> = cases(groups)
            .filter_map(|case| Some(judge(case, &observed(suite, case, client, peers)?)))
            .collect();
        let count = |of| verdicts.iter().filter(|verdict| **verdict == of).count();
        let (right, wrong, free) = (count(Verdict::Right), count(Verdict::Wrong), count(Verdict::Free));
        let other = if codes { format!(" {} |", count(Verdict::OtherCode)) } else { String::new() };
        let names =
            if *client == "Plimsoll" { ["Plimsoll, epoll", "Plimsoll, io_uring"] } else { [*client, ""] };
        for client in names.iter().filter(|name| !name.is_empty()) {
            writeln!(text, "| {client} | {right} |{other} {wrong} | {free} |").unwrap_or_default();
        }
    }
    text
}

fn deviations(suites: &[(Suite, &str, &[Group])]) -> String {
    let mut text = String::new();
    for (_, name, groups) in suites {
        for case in cases(groups) {
            if let Some(reason) = &case.deviation {
                let words = case.rule.replace(' ', ", section ");
                writeln!(text, "- {name}, `{}` (RFC {words}): {reason}", case.name).unwrap_or_default();
            }
        }
    }
    text
}

/// Which of what the RFC leaves open is refused.
fn strictness(suites: &[(Suite, &str, &[Group])]) -> String {
    let mut text = String::from("Where the RFC leaves it open, Plimsoll refuses:\n\n");
    for (_, name, groups) in suites {
        let refused = cases(groups).filter(|case| {
            matches!(case.right, Right::Free(_)) && Observed::parse(&case.plimsoll).answer.is_none()
        });
        let names: Vec<_> = refused.map(|case| format!("`{}`", case.name)).collect();
        writeln!(text, "- {name}: {}.", names.join(", ")).unwrap_or_default();
    }
    text
}

fn table(suite: Suite, group: &Group, peers: &Peers) -> String {
    let clients = clients(suite);
    let mut text = format!("| case | RFC | what the server sends | right | {} |\n", clients.join(" | "));
    text += &format!("| --- | --- | --- | --- |{}\n", " --- |".repeat(clients.len()));
    for case in &group.cases {
        let cells: Vec<_> = clients.iter().map(|client| cell(suite, case, client, peers)).collect();
        let (name, rule, why) = (&case.name, &case.rule, case.why.replace('|', "\\|"));
        let right = right(case);
        writeln!(text, "| `{name}` | {rule} | {why} | {right} | {} |", cells.join(" | ")).unwrap_or_default();
    }
    text
}

fn right(case: &Case) -> String {
    match &case.right {
        Right::Valid(answer) => response(answer),
        Right::Invalid => "no response".to_owned(),
        Right::Free(None) => "open".to_owned(),
        Right::Free(Some(answer)) => format!("open; if taken: {}", response(answer)),
        Right::ConnectionError(code) => format!("GOAWAY {code}"),
        Right::StreamError(code) => format!("RST_STREAM {code}"),
    }
}

fn response(answer: &Answer) -> String {
    let status = answer.status.unwrap_or_default();
    let body = answer.body_bytes.unwrap_or_default();
    let after = match answer.keep_alive {
        None => "",
        Some(true) => ", keep",
        Some(false) => ", close",
    };
    format!("{status}, {body} B{after}")
}

/// What a client made of a case: a mark, and what a reader asks of it.
fn cell(suite: Suite, case: &Case, client: &str, peers: &Peers) -> String {
    let Some(observed) = observed(suite, case, client, peers) else { return "not run".to_owned() };
    let name = case.plimsoll.split("; ").next().unwrap_or_default();
    let word = match observed.answer {
        Some(_) => "taken".to_owned(),
        None if client == "Plimsoll" => format!("`{name}`").replace("`sent again`", "sent again"),
        None => "refused".to_owned(),
    };
    match judge(case, &observed) {
        Verdict::Right if client == "Plimsoll" && observed.answer.is_none() => format!("✔ {word}"),
        Verdict::Right => "✔".to_owned(),
        Verdict::Free => word,
        Verdict::OtherCode => format!("other: {}", code(&observed)),
        Verdict::Wrong => format!("✘ {}", fault(case, &observed)),
    }
}

fn code(observed: &Observed) -> String {
    observed.sent.first().map_or_else(|| "no code".to_owned(), |sent| sent.replace("rst_stream", "reset"))
}

/// What is wrong about an observation that is.
fn fault(case: &Case, observed: &Observed) -> &'static str {
    let (Right::Valid(right) | Right::Free(Some(right)), Some(answer)) = (&case.right, &observed.answer)
    else {
        return if observed.answer.is_some() { "taken" } else { "refused" };
    };
    if observed.twice {
        "counted twice"
    } else if !answer.agrees_with(right) {
        "taken for another response"
    } else {
        "connection used again"
    }
}
