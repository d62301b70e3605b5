//! Every case of the corpus is read whole, cut in two at many places, and byte by byte, and must
//! come to the outcome that stands in its file.
//!
//! A case file says why it exists, which requests are open (and, as `window=N`, with which
//! window), the outcome and what is sent, then an empty line and the server's frames.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_http::h2::{Event, Memory};
use plimsoll_testkit::frame_bytes;

use super::frames;
use super::invariance::{Kind, Observed, Opening, Outcome, read};

/// Longer streams are cut in two at this many places only.
const CUTS: usize = 300;

pub(crate) struct Case {
    path: PathBuf,
    opening: Opening,
    outcome: String,
    sent: String,
    stream: Vec<u8>,
}

impl Case {
    fn load(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).expect("a readable case");
        let (top, stream) = text.split_once("\n\n").expect("an empty line after the top");
        let [why, requests, outcome, sent] = top.lines().collect::<Vec<_>>()[..] else {
            panic!("{}: four lines above the frames", path.display());
        };
        assert!(why.starts_with("# "), "{}: says why", path.display());
        Self {
            opening: opening(requests.strip_prefix("requests: ").expect("requests")),
            outcome: outcome.strip_prefix("outcome: ").expect("an outcome").to_owned(),
            sent: sent.strip_prefix("sent: ").expect("what is sent").to_owned(),
            stream: frame_bytes(stream),
            path,
        }
    }

    fn check(&self) {
        let len = self.stream.len();
        let mut memory = Memory::default();
        self.check_cut(&mut memory, "whole", []);
        for at in (1..len).step_by(len.div_ceil(CUTS).max(1)) {
            self.check_cut(&mut memory, &format!("cut at byte {at}"), [at]);
        }
        self.check_cut(&mut memory, "byte by byte", vec![1; len]);
    }

    fn check_cut(&self, memory: &mut Memory, how: &str, pieces: impl IntoIterator<Item = usize>) {
        let outcome = read(&self.opening, &self.stream, memory, pieces);
        let path = self.path.display();
        assert_eq!(render(&outcome), self.outcome, "{path} {how}");
        assert_eq!(frames::describe(&outcome.sent), self.sent, "{path} {how}");
    }
}

fn opening(words: &str) -> Opening {
    let mut opening = Opening { kinds: Vec::new(), window_bytes: 65_535 };
    for word in words.split(' ') {
        match word {
            "get" => opening.kinds.push(Kind::Get),
            "head" => opening.kinds.push(Kind::Head),
            "observed" => opening.kinds.push(Kind::Observed),
            "upload" => opening.kinds.push(Kind::Upload),
            "cancelled" => opening.kinds.push(Kind::Cancelled),
            other => {
                let window = other.strip_prefix("window=").expect("a kind of request or a window");
                opening.window_bytes = window.parse().expect("bytes");
            }
        }
    }
    opening
}

/// The outcome as case files write it: each event after its tag, then `broken` and why.
fn render(outcome: &Outcome) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut parts: Vec<_> = outcome
        .seen
        .iter()
        .map(|seen| match seen {
            Observed::Field(tag, name, value) => format!("{tag} field {}={}", text(name), text(value)),
            Observed::Body(tag, body) => format!("{tag} body {}", text(body)),
            Observed::Ended(_, event) => render_end(event),
        })
        .collect();
    if let Some(broken) = outcome.broken {
        let name = format!("{broken:?}");
        parts.push(format!("broken {}", name.split('(').next().unwrap()));
    }
    parts.join("; ")
}

fn render_end(event: &Event<'_>) -> String {
    match event {
        Event::Answered { tag, response } => {
            let after = if response.keep_alive { "keep" } else { "close" };
            format!("{tag} {} {after} {}", response.status, response.body_bytes)
        }
        Event::Malformed { tag, malformed } => format!("{tag} malformed {malformed:?}"),
        Event::Reset { tag, code } => format!("{tag} reset {}", code.name()),
        Event::Refused { tag } => format!("{tag} refused"),
        Event::Cut { tag, begun } => format!("{tag} cut {}", if *begun { "begun" } else { "before" }),
        Event::Field { .. } | Event::Body { .. } => panic!("no end"),
    }
}

fn load(folder: &str) -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/h2");
    let entries = fs::read_dir(root.join(folder)).expect("the corpus");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.into_iter().map(Case::load).collect()
}

#[test]
fn frames_that_follow_the_rules_are_read_as_the_rules_say() {
    let cases = load("good");
    assert!(cases.len() >= 25, "the corpus was found");
    cases.iter().for_each(Case::check);
}

#[test]
fn frames_that_break_the_rules_end_the_stream_or_the_connection_by_name() {
    let cases = load("bad");
    assert!(cases.len() >= 50, "the corpus was found");
    cases.iter().for_each(Case::check);
}
