//! Rules about whole files: their length, `mod.rs`, the lock file.

use super::breach::Breach;
use super::sources::Source;

/// Past this a file holds more than one concept.
const MAX_LINES: usize = 600;

/// A Rust file that is too long.
pub(crate) fn long_file(source: &Source) -> Vec<Breach> {
    let lines = source.text.lines().count();
    if lines <= MAX_LINES {
        return Vec::new();
    }
    let advice =
        format!("{lines} lines; split it by concept into files of a folder named {}/", source.stem());
    vec![Breach {
        file: source.path.clone(),
        line: MAX_LINES + 1,
        rule: "a file has at most 600 lines",
        advice,
    }]
}

/// A module whose file does not carry its name.
pub(crate) fn mod_file(source: &Source) -> Vec<Breach> {
    let Some(folder) = source.path.strip_suffix("/mod.rs") else {
        return Vec::new();
    };
    let advice = format!("rename it to {folder}.rs and keep the folder for its parts");
    vec![Breach { file: source.path.clone(), line: 1, rule: "no mod.rs", advice }]
}

/// Builds are repeatable only when the lock file travels with the sources.
pub(crate) fn lock_file_missing(sources: &[Source]) -> Vec<Breach> {
    if sources.iter().any(|source| source.path == "Cargo.lock") {
        return Vec::new();
    }
    let advice = "it is missing or ignored; run a build, take it out of .gitignore and commit it".into();
    vec![Breach { file: "Cargo.lock".into(), line: 1, rule: "Cargo.lock is committed", advice }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_600_lines_passes_and_one_of_601_does_not() {
        assert!(long_file(&Source::new("a.rs", &"\n".repeat(600))).is_empty());
        let breaches = long_file(&Source::new("a.rs", &"\n".repeat(601)));
        assert_eq!((breaches.len(), breaches[0].line), (1, 601));
    }

    #[test]
    fn a_mod_file_is_a_breach_and_a_file_that_ends_like_one_is_not() {
        assert_eq!(mod_file(&Source::new("crates/engine/src/drive/mod.rs", "")).len(), 1);
        assert!(mod_file(&Source::new("crates/engine/src/drive_mod.rs", "")).is_empty());
    }

    #[test]
    fn a_repository_without_its_lock_file_is_a_breach() {
        let lock = |path| [Source::new(path, "")];
        assert!(lock_file_missing(&lock("Cargo.lock")).is_empty());
        assert_eq!(lock_file_missing(&lock("fuzz/Cargo.lock")).len(), 1);
    }
}
