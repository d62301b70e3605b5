//! Reads the case files. Their notation is in `crates/testkit/conformance/README.md`.
#![expect(clippy::expect_used, clippy::panic, reason = "a case that cannot be read has nothing to show")]

use std::fs;
use std::path::{Path, PathBuf};

use super::case::{Answer, Case, Group, Right, Step, Suite};
use crate::frame_notation::frame_bytes;

/// What an HTTP/2 server sends first, unless a case says otherwise: its settings, and that it took the client's.
const GREETING: &str = "settings 0\nsettings 0 ack";

/// The folder of the case files and of what is known about other clients.
pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")
}

/// All cases of a suite, by file, in the order of the files' names.
///
/// # Panics
/// When a file is not in the notation, or a name stands for two cases.
pub fn suite(suite: Suite) -> Vec<Group> {
    let entries = fs::read_dir(folder().join(suite.name())).expect("the folder of the cases");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let groups: Vec<_> = paths.iter().map(|path| group(suite, path)).collect();
    let mut names: Vec<_> = groups.iter().flat_map(|group| &group.cases).map(|case| &case.name).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        panic!("two cases are named {}", pair[0]);
    }
    groups
}

fn group(suite: Suite, path: &Path) -> Group {
    let text = fs::read_to_string(path).expect("a readable file of cases");
    let title = text.lines().next().and_then(|line| line.strip_prefix("# ")).expect("a title");
    let blocks = text.split("\n[").skip(1);
    Group { title: title.to_owned(), cases: blocks.map(|block| case(suite, block)).collect() }
}

/// The case whose block begins after the bracket before its name.
fn case(suite: Suite, block: &str) -> Case {
    let (name, rest) = block.split_once("] ").expect("a name in brackets");
    let (first, rest) = rest.split_once('\n').expect("lines after the first");
    let (rule, why) = first.split_once(": ").unwrap_or_else(|| panic!("{name}: SECTION: why"));
    let rule = match (rule.split_once('/'), suite) {
        (Some((rfc, section)), _) => format!("{rfc} {section}"),
        (None, Suite::Http1) => format!("9112 {rule}"),
        (None, Suite::Http2) => format!("9113 {rule}"),
    };
    let mut case = Case {
        name: name.to_owned(),
        rule,
        why: why.to_owned(),
        method: "GET".to_owned(),
        closes: false,
        resets: false,
        whole_only: false,
        right: Right::Invalid,
        plimsoll: String::new(),
        deviation: None,
        steps: Vec::new(),
    };
    let mut greets = suite == Suite::Http2;
    let (top, bottom): (Vec<_>, Vec<_>) = rest
        .lines()
        .filter(|line| !line.is_empty())
        .partition(|line| line.starts_with(|letter: char| letter.is_ascii_lowercase()));
    for line in top {
        let (key, value) = line.split_once(": ").unwrap_or_else(|| panic!("{name}: {line}"));
        match (key, value) {
            ("asks", method) => method.clone_into(&mut case.method),
            ("then", "closes") => case.closes = true,
            ("then", "resets") => (case.closes, case.resets) = (true, true),
            ("pieces", "whole") => case.whole_only = true,
            ("first", "nothing") => greets = false,
            ("right", value) => case.right = right(value).unwrap_or_else(|| panic!("{name}: {line}")),
            ("counted", value) => value.clone_into(&mut case.plimsoll),
            ("deviation", value) => case.deviation = Some(value.to_owned()),
            _ => panic!("{name}: {line}"),
        }
    }
    if case.plimsoll.is_empty()
        && let Some((_, value)) = rest.lines().filter_map(|line| line.split_once("right: ")).next()
    {
        value.strip_prefix("free ").unwrap_or(value).clone_into(&mut case.plimsoll);
    }
    case.steps = match suite {
        Suite::Http1 => vec![Step::Send(bottom.iter().flat_map(|line| http1_bytes(name, line)).collect())],
        Suite::Http2 => http2_steps(name, &bottom, greets),
    };
    case
}

fn right(text: &str) -> Option<Right> {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    Some(match first {
        "invalid" => Right::Invalid,
        "free" if rest.is_empty() => Right::Free(None),
        "free" => Right::Free(Some(Answer::parse(rest)?)),
        "connection" => Right::ConnectionError(rest.to_owned()),
        "stream" => Right::StreamError(rest.to_owned()),
        _ => Right::Valid(Answer::parse(text)?),
    })
}

/// The bytes of one line: `| text` with a line end after it, `+ text` without, with a number before it repeated.
fn http1_bytes(name: &str, line: &str) -> Vec<u8> {
    let at = line.find(['|', '+']).unwrap_or_else(|| panic!("{name}: {line}"));
    let (count, text) = line.split_at(at);
    let count = if count.is_empty() { 1 } else { count.parse().expect("a count") };
    let ends = text.starts_with('|');
    let text = text[1..].strip_prefix(' ').unwrap_or(&text[1..]);
    let mut bytes = unescape(text);
    if ends {
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.repeat(count)
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'\\' { unescape_one(&mut rest) } else { byte });
    }
    bytes
}

fn unescape_one(rest: &mut impl Iterator<Item = u8>) -> u8 {
    let mut next = || rest.next().expect("a complete escape");
    let digit = |byte: u8| char::from(byte).to_digit(16).expect("a hex digit") as u8;
    match next() {
        b'r' => b'\r',
        b'n' => b'\n',
        b't' => b'\t',
        b'0' => 0,
        b'\\' => b'\\',
        b'x' => digit(next()) * 16 + digit(next()),
        other => panic!("unknown escape {:?}", char::from(other)),
    }
}

/// Frames between two waits are sent together.
fn http2_steps(name: &str, lines: &[&str], greets: bool) -> Vec<Step> {
    let mut sent = if greets { frame_bytes(GREETING) } else { Vec::new() };
    let mut steps = Vec::new();
    for line in lines {
        match line.split_at_checked(1) {
            Some(("|", frame)) => sent.extend(frame_bytes(frame.trim_start())),
            Some((">", frame)) => {
                steps.push(Step::Send(std::mem::take(&mut sent)));
                steps.push(Step::Await(frame.trim_start().to_owned()));
            }
            _ => panic!("{name}: {line}"),
        }
    }
    steps.push(Step::Send(sent));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_read_with_its_bytes() {
        let block = "odd] 9110/15: Reasons: many.\nright: free 200 3 close\ncounted: malformed_head\nasks: HEAD\n\
                     then: closes\n| HTTP/1.1 200 OK\n2| A:\\tb\n|\n+ x\\x41\\\\\n";
        let case = case(Suite::Http1, block);
        assert_eq!((&case.name[..], &case.rule[..], &case.why[..]), ("odd", "9110 15", "Reasons: many."));
        assert_eq!((&case.method[..], case.closes), ("HEAD", true));
        assert_eq!(case.right, Right::Free(Answer::parse("200 3 close")));
        assert_eq!(case.plimsoll, "malformed_head");
        let bytes = b"HTTP/1.1 200 OK\r\nA:\tb\r\nA:\tb\r\n\r\nxA\\".to_vec();
        assert_eq!(case.steps, [Step::Send(bytes)]);
    }

    #[test]
    fn frames_are_sent_after_a_greeting_and_up_to_each_wait() {
        let case =
            case(Suite::Http2, "ping] 6.7: Why.\nright: 200 0\n| ping 0 \"12345678\"\n> ping ack\n| 99 0\n");
        let first = [frame_bytes(GREETING), frame_bytes("ping 0 \"12345678\"")].concat();
        let rest = frame_bytes("99 0");
        assert_eq!(case.steps, [Step::Send(first), Step::Await("ping ack".to_owned()), Step::Send(rest)]);
        assert_eq!((case.rule, case.plimsoll), ("9113 6.7".to_owned(), "200 0".to_owned()));
    }

    #[test]
    fn the_suites_are_there() {
        let count = |of| suite(of).iter().map(|group| group.cases.len()).sum::<usize>();
        assert!(count(Suite::Http1) >= 150, "{}", count(Suite::Http1));
        assert!(count(Suite::Http2) >= 80, "{}", count(Suite::Http2));
    }
}
