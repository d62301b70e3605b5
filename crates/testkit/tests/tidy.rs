//! The house rules that no compiler lint can hold, kept as tests over the repository itself.
//!
//! Each rule is a small function from text to breaches, with tests of its own that show it can fail. The tests in
//! this file run every rule over the files git would commit and over what `cargo metadata` says of the workspace.

mod tidy {
    pub(crate) mod breach;
    pub(crate) mod clocks;
    pub(crate) mod cycles;
    pub(crate) mod dependencies;
    pub(crate) mod doc_comments;
    pub(crate) mod documents;
    pub(crate) mod files;
    pub(crate) mod functions;
    pub(crate) mod modules;
    pub(crate) mod names;
    pub(crate) mod results;
    pub(crate) mod sources;
    pub(crate) mod unsafety;
    pub(crate) mod vocabulary;
    pub(crate) mod words;
}

use std::error::Error;

use tidy::breach::{Breach, report};
use tidy::dependencies::Levels;
use tidy::sources::{Source, read_architecture, read_crates, read_sources, root};
use tidy::{
    clocks, cycles, dependencies, doc_comments, documents, files, functions, names, results, unsafety,
    vocabulary, words,
};

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
    report(&dependencies::upward_edges(&read_crates()?, &Levels::read(&read_architecture()?)))
}

#[test]
fn the_level_table_names_only_crates_that_exist() -> Outcome {
    report(&dependencies::stale_levels(&read_crates()?, &Levels::read(&read_architecture()?)))
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
    let (crates, architecture) = (read_crates()?, read_architecture()?);
    report(&dependencies::unexplained_edges(&crates, &architecture))?;
    report(&dependencies::stale_edges(&crates, &architecture))
}

#[test]
fn unsafe_code_stays_in_the_sys_crate() -> Outcome {
    over_rust_files(unsafety::unsafe_outside_sys)
}

#[test]
fn files_of_a_crate_do_not_import_each_other_in_a_circle() -> Outcome {
    report(&cycles::import_cycles(&read_crates()?, &read_sources()?)?)
}

#[test]
fn no_error_is_dropped_in_silence() -> Outcome {
    over_rust_files(results::dropped_results)
}

#[test]
fn only_the_units_crate_asks_what_time_it_is() -> Outcome {
    over_rust_files(clocks::foreign_clocks)
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
fn retired_words_stay_retired() -> Outcome {
    let sources = read_sources()?;
    let breaches: Vec<Breach> = sources.iter().flat_map(vocabulary::retired_words).collect();
    report(&breaches)
}

#[test]
fn documents_are_filled_in_and_their_links_lead_somewhere() -> Outcome {
    let (root, sources) = (root()?, read_sources()?);
    let mut breaches: Vec<Breach> = sources.iter().flat_map(documents::placeholders).collect();
    breaches.extend(sources.iter().flat_map(|source| documents::dead_links(&root, source)));
    report(&breaches)
}

#[test]
fn public_items_have_a_doc_comment() -> Outcome {
    over_rust_files(doc_comments::missing_docs)
}

#[test]
fn doc_comments_do_not_repeat_names() -> Outcome {
    over_rust_files(doc_comments::repeated_names)
}

#[test]
fn every_crate_has_a_readme() -> Outcome {
    report(&documents::missing_readmes(&read_crates()?, &read_sources()?))
}
