//! The house rules that no compiler lint can hold, kept as tests over the repository itself.
//!
//! Each rule is a small function from text to breaches, with tests of its own that show it can fail. The tests in
//! this file run every rule over the files git would commit and over what `cargo metadata` says of the workspace.

mod tidy {
    pub(crate) mod breach;
    pub(crate) mod dependencies;
    pub(crate) mod documents;
    pub(crate) mod files;
    pub(crate) mod functions;
    pub(crate) mod names;
    pub(crate) mod sources;
    pub(crate) mod unsafety;
    pub(crate) mod words;
}

use std::error::Error;

use tidy::breach::{Breach, report};
use tidy::sources::{Source, read_architecture, read_crates, read_sources, root};
use tidy::{dependencies, documents, files, functions, names, unsafety, words};

type Outcome = Result<(), Box<dyn Error>>;

/// A rule over one file. An error means that the file could not be judged, which is never a pass.
type Rule = fn(&Source) -> Result<Vec<Breach>, Box<dyn Error>>;

/// Runs one rule over the Rust files of the repository.
fn over_rust_files(rule: Rule) -> Outcome {
    let mut breaches = Vec::new();
    for source in read_sources()?.iter().filter(|source| source.is_rust()) {
        breaches.extend(rule(source)?);
    }
    report(&breaches)
}

#[test]
fn every_crate_has_a_level_and_depends_only_on_lower_ones() -> Outcome {
    report(&dependencies::upward_edges(&read_crates()?))
}

#[test]
fn the_level_table_names_only_crates_that_exist() -> Outcome {
    report(&dependencies::stale_levels(&read_crates()?))
}

#[test]
fn the_testkit_is_only_a_dev_dependency() -> Outcome {
    report(&dependencies::testkit_in_products(&read_crates()?))
}

#[test]
fn only_the_binary_uses_anyhow() -> Outcome {
    report(&dependencies::anyhow_in_libraries(&read_crates()?))
}

#[test]
fn the_architecture_explains_every_crate_edge() -> Outcome {
    report(&dependencies::unexplained_edges(&read_crates()?, &read_architecture()?))
}

#[test]
fn unsafe_code_stays_in_the_sys_crate() -> Outcome {
    over_rust_files(unsafety::unsafe_outside_sys)
}

#[test]
fn functions_fit_on_a_screen() -> Outcome {
    over_rust_files(functions::long_functions)
}

#[test]
fn functions_and_modules_have_names_that_say_something() -> Outcome {
    over_rust_files(names::empty_item_names)
}

#[test]
fn files_are_short_and_named_after_one_concept() -> Outcome {
    over_rust_files(|source| {
        let mut breaches = files::long_file(source);
        breaches.extend(files::mod_file(source));
        breaches.extend(names::empty_file_name(source));
        Ok(breaches)
    })
}

#[test]
fn the_lock_file_is_part_of_the_repository() -> Outcome {
    report(&files::lock_file_missing(&read_sources()?))
}

#[test]
fn no_file_holds_a_forbidden_word() -> Outcome {
    let sources = read_sources()?;
    let breaches: Vec<Breach> = sources.iter().flat_map(words::forbidden_words).collect();
    report(&breaches)
}

#[test]
fn documents_are_filled_in_and_their_links_lead_somewhere() -> Outcome {
    let (root, sources) = (root()?, read_sources()?);
    let mut breaches: Vec<Breach> = sources.iter().flat_map(documents::placeholders).collect();
    breaches.extend(sources.iter().flat_map(|source| documents::dead_links(&root, source)));
    report(&breaches)
}
