//! Every case of the corpus is read whole, cut in two at every byte, and byte by byte, and must
//! come to the outcome that stands in its file.
//!
//! A case file says why it exists, what the request expects and the outcome, then an empty line
//! and the stream: line ends of the file mean nothing there, those of the stream are written
//! `\r\n`, other bytes `\t`, `\0`, `\\` or `\xNN`.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_http::{Expect, ParserMemory};

use super::invariance::{End, Outcome, read};

struct Case {
    path: PathBuf,
    expect: Expect,
    outcome: String,
    stream: Vec<u8>,
}

impl Case {
    fn load(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).expect("a readable case");
        let (top, stream) = text.split_once("\n\n").expect("an empty line after the top");
        let [why, expect, outcome] = top.lines().collect::<Vec<_>>()[..] else {
            panic!("{}: three lines above the stream", path.display());
        };
        assert!(why.starts_with("# "), "{}: says why", path.display());
        let expect = match expect {
            "expect: body" => Expect::Body,
            "expect: no body" => Expect::NoBody,
            other => panic!("{}: {other}", path.display()),
        };
        let outcome = outcome.strip_prefix("outcome: ").expect("an outcome");
        Self { expect, outcome: outcome.to_owned(), stream: unescape(stream), path }
    }

    fn check(&self) {
        let len = self.stream.len();
        let mut memory = ParserMemory::default();
        self.check_cut(&mut memory, "whole", []);
        for at in 1..len {
            self.check_cut(&mut memory, &format!("cut at byte {at}"), [at]);
        }
        self.check_cut(&mut memory, "byte by byte", vec![1; len]);
    }

    fn check_cut(&self, memory: &mut ParserMemory, how: &str, pieces: impl IntoIterator<Item = usize>) {
        let outcome = render(&read(&self.stream, self.expect, memory, pieces));
        assert_eq!(outcome, self.outcome, "{} {how}", self.path.display());
    }
}

/// The outcome as case files write it: `STATUS keep|close BODY_BYTES; … ; END`.
fn render(outcome: &Outcome) -> String {
    let mut parts = Vec::new();
    for response in &outcome.responses {
        let after = if response.keep_alive { "keep" } else { "close" };
        parts.push(format!("{} {after} {}", response.status, response.body_bytes));
    }
    parts.push(match &outcome.end {
        End::Before => "before".to_owned(),
        End::Within => "within".to_owned(),
        End::Complete => "complete".to_owned(),
        End::Rest(bytes) => format!("rest {bytes}"),
        End::Malformed(malformed) => format!("malformed {malformed:?}"),
    });
    parts.join("; ")
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().filter(|byte| *byte != b'\n');
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => unescape_one(&mut rest),
            plain => plain,
        });
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

fn load(folder: &str) -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let entries = fs::read_dir(root.join(folder)).expect("the corpus");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.into_iter().map(Case::load).collect()
}

#[test]
fn responses_that_follow_the_rules_are_read_as_the_rules_say() {
    let cases = load("good");
    assert!(cases.len() >= 40, "the corpus was found");
    cases.iter().for_each(Case::check);
}

#[test]
fn responses_that_break_the_rules_are_refused_or_cut_short() {
    let cases = load("bad");
    assert!(cases.len() >= 40, "the corpus was found");
    cases.iter().for_each(Case::check);
}
