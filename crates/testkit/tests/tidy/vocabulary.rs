//! Words that the project has retired: a reader should know every word from a textbook or from other tools.
//!
//! Words are looked for in prose, in strings and as parts of identifiers alike: `nobody_asks` and `NobodyAsks` hold three
//! words each.

use super::breach::Breach;
use super::sources::Source;

/// What no text of ours says, in lower case, and what to write instead.
const RETIRED: &[(&str, &str)] = &[
    ("anybody", "any process, any user"),
    ("beside", "next to, alongside, compared with"),
    ("foretell", "predict"),
    ("foretells", "predicts"),
    ("foretold", "predicted"),
    ("give up the rest", "fail what is unfinished"),
    ("gone home", "returned, put back"),
    ("looked at", "sampled, observed, read"),
    ("make way", "remove, replace"),
    ("maker", "factory, manufacturer"),
    ("mates", "peers"),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("mending", "fixing"),
    ("mends", "fixes"),
    ("mishap", "error"),
    ("nobody", "no process, no user, nothing"),
    ("not to be had", "unavailable"),
    ("somebody", "the caller, the user, a process"),
    ("told", "reported, said, shown"),
    ("wanted", "expected, required, limit"),
    ("weigh", "apply, judge"),
    ("whoever", "the caller, the user"),
];

/// Marks that frame a word elsewhere; ours are plain quotes or code font.
const QUOTES: [char; 2] = ['\u{ab}', '\u{bb}'];

/// The files that are written by us, and not data or generated text.
const WRITTEN: [&str; 6] = [".rs", ".md", ".toml", ".sh", ".py", "Makefile"];

/// This file, which has to name the words.
const HERE: &str = "crates/testkit/tests/tidy/vocabulary.rs";

/// Each line that holds a retired word.
pub(crate) fn retired_words(source: &Source) -> Vec<Breach> {
    if is_written(&source.path) { in_text(source) } else { Vec::new() }
}

fn is_written(path: &str) -> bool {
    path != HERE && WRITTEN.iter().any(|ending| path.ends_with(ending))
}

fn in_text(source: &Source) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        let words = words_of(line);
        let found = RETIRED.iter().filter(|(word, _)| words.contains(&format!(" {word} ")));
        let mut advice: Vec<String> = found.map(|(word, instead)| format!("`{word}`: {instead}")).collect();
        if line.contains(QUOTES) {
            advice.push("angle quotes: plain quotes or code font".to_owned());
        }
        breaches.extend(advice.into_iter().map(|advice| Breach {
            file: source.path.clone(),
            line: index + 1,
            rule: "retired words stay retired",
            advice,
        }));
    }
    breaches
}

/// The words of a line in lower case with a space around each; identifiers are taken apart.
fn words_of(line: &str) -> String {
    let mut words = String::from(" ");
    let mut before = ' ';
    for letter in line.chars() {
        let begins = letter.is_uppercase() && before.is_lowercase();
        if (begins || !letter.is_alphanumeric()) && !words.ends_with(' ') {
            words.push(' ');
        }
        if letter.is_alphanumeric() {
            words.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.push(' ');
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        in_text(&Source::new("a.rs", text)).len()
    }

    #[test]
    fn words_are_found_in_prose_and_in_identifiers_of_every_style() {
        for text in
            ["It told us.", "fn is_told()", "struct ToldOf;", "const LEAST_TOLD: u8 = 0;", "a host looked at"]
        {
            assert_eq!(count(text), 1, "{text}");
        }
        assert_eq!(count("\u{ab}so\u{bb}, said Nobody"), 2);
    }

    #[test]
    fn longer_words_and_parts_of_a_phrase_pass() {
        assert_eq!(count("besides, recommended; it looked well; unwanted; estimates"), 0);
    }

    #[test]
    fn data_and_generated_text_are_not_read() {
        assert!(is_written("crates/analyze/src/lib.rs") && is_written("README.md"));
        assert!(!is_written("crates/stats/a.json") && !is_written(HERE));
    }
}
