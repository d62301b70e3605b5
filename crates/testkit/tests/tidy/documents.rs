//! Rules about documents: nothing is left to be filled in, every relative link leads somewhere, every crate has a README.

use std::path::Path;

use super::breach::Breach;
use super::sources::{Crate, Source};

/// What marks a place in a template, spelled in halves so that this file could be a document itself.
const PLACEHOLDER: &str = concat!("{", "{");

/// Each line of a document that still holds a placeholder.
pub(crate) fn placeholders(source: &Source) -> Vec<Breach> {
    let breach = |(index, _)| Breach {
        file: source.path.clone(),
        line: index + 1,
        rule: "documents hold no placeholders",
        advice: format!("`{PLACEHOLDER}`: put in what belongs there"),
    };
    document_lines(source).filter(|(_, line)| line.contains(PLACEHOLDER)).map(breach).collect()
}

/// Each relative link of a document to a file that is not below `root`.
pub(crate) fn dead_links(root: &Path, source: &Source) -> Vec<Breach> {
    let folder = root.join(&source.path);
    let folder = folder.parent().unwrap_or(root);
    let mut breaches = Vec::new();
    for (index, line) in document_lines(source) {
        for link in relative_links(line).filter(|link| !folder.join(link).exists()) {
            breaches.push(Breach {
                file: source.path.clone(),
                line: index + 1,
                rule: "relative links lead to a file",
                advice: format!("`{link}` is not there, seen from the document's folder; fix the link"),
            });
        }
    }
    breaches
}

/// Crates without a README that says where to start reading.
pub(crate) fn missing_readmes(crates: &[Crate], sources: &[Source]) -> Vec<Breach> {
    let readme = |one: &Crate| one.manifest.replace("Cargo.toml", "README.md");
    let is_there = |one: &Crate| sources.iter().any(|source| source.path == readme(one));
    let missing = crates.iter().filter(|one| !is_there(one));
    missing
        .map(|one| Breach {
            file: readme(one),
            line: 1,
            rule: "every crate has a README",
            advice: "say in a few lines what it is for, and in a table what to read to change what".into(),
        })
        .collect()
}

fn document_lines(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let lines = source.path.ends_with(".md").then(|| source.text.lines().enumerate());
    lines.into_iter().flatten()
}

/// The targets of `[text](target)` that are paths, without the part after `#`.
fn relative_links(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target));
    let paths = targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:"));
    paths.filter_map(|target| target.split('#').next()).filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_a_breach_in_a_document_alone() {
        let text = format!("fine\n{PLACEHOLDER}ANSWER}}}}");
        let breaches = placeholders(&Source::new("README.md", &text));
        assert_eq!((breaches.len(), breaches[0].line), (1, 2));
        assert!(placeholders(&Source::new("a.rs", &text)).is_empty());
    }

    #[test]
    fn a_relative_link_must_lead_to_a_file_as_seen_from_its_document() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let dead = |text: &str| dead_links(root, &Source::new("tests/x.md", text)).len();
        assert_eq!(dead("[a](tidy.rs) [b](../Cargo.toml#dependencies) [c](#here) [d](https://a.test/b)"), 0);
        assert_eq!(dead("[a](Cargo.toml) and [b](tidy.rs) and [c](absent.md#x)"), 2);
        assert_eq!(dead("`f](x` is no link"), 0);
    }

    #[test]
    fn a_crate_without_a_readme_is_a_breach() {
        let one = Crate {
            name: "buoy".into(),
            manifest: "crates/buoy/Cargo.toml".into(),
            dependencies: Vec::new(),
        };
        let readme = Source::new("crates/buoy/README.md", "# buoy");
        assert_eq!(missing_readmes(std::slice::from_ref(&one), &[]).len(), 1);
        assert!(missing_readmes(&[one], &[readme]).is_empty());
    }
}
