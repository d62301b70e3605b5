//! Words that no committed file may hold. They are spelled in halves here, so that this file passes its own rule.

use super::breach::Breach;
use super::sources::Source;

/// Each forbidden word with the rule it breaks and what to do.
const FORBIDDEN: &[(&str, &str, &str)] = &[
    (concat!("FIX", "ME"), UNFINISHED, "fix it now"),
    (concat!("TO", "DO"), UNFINISHED, "do it now or leave it out"),
    (concat!("../", "shared"), "the repository speaks of itself alone", "state the fact here instead"),
    (concat!("/wo", "rk/"), "no paths of one machine", "use a path from the root of the repository"),
    (concat!("static.crates", ".io"), HOSTS, "name the crate instead"),
    (concat!("index.crates", ".io"), HOSTS, "name the crate instead"),
    (concat!("proxy.golang", ".org"), HOSTS, "name the module instead"),
    (concat!("registry.npmjs", ".org"), HOSTS, "name the package instead"),
    (concat!("files.pythonhosted", ".org"), HOSTS, "name the package instead"),
    (concat!("repo1.maven", ".org"), HOSTS, "name the artifact instead"),
    (concat!("deb.debian", ".org"), HOSTS, "name the package instead"),
];

const HOSTS: &str = "no hosts of package registries";
const UNFINISHED: &str = "no notes of unfinished work";

/// Each line that holds a forbidden word as a whole word.
pub(crate) fn forbidden_words(source: &Source) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        for (word, rule, advice) in FORBIDDEN.iter().filter(|(word, ..)| holds(line, word)) {
            // A flame graph carries the script of the library that draws it.
            if *rule == UNFINISHED && source.path.ends_with(".svg") {
                continue;
            }
            breaches.push(Breach {
                file: source.path.clone(),
                line: index + 1,
                rule,
                advice: format!("`{word}`: {advice}"),
            });
        }
    }
    breaches
}

/// Whether the line holds the word and not only a longer one around it. Paths have no such bounds.
fn holds(line: &str, word: &str) -> bool {
    let bounded = |neighbour: Option<char>| !neighbour.is_some_and(char::is_alphanumeric);
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        word.contains('/') || (bounded(before) && bounded(after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_forbidden_word_is_found_with_its_line() {
        for (word, ..) in FORBIDDEN {
            let breaches =
                forbidden_words(&Source::new("README.md", &format!("fine\nsee {word}x: {word} here")));
            assert_eq!((breaches.len(), breaches[0].line), (1, 2), "{word}");
        }
    }

    #[test]
    fn longer_words_around_a_forbidden_one_pass() {
        let longer = concat!("MASTO", "DON");
        assert!(forbidden_words(&Source::new("README.md", longer)).is_empty());
    }
}
