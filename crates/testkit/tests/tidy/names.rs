//! Names that say nothing: of files, modules and functions.

use std::error::Error;

use syn::visit::{self, Visit};

use super::breach::Breach;
use super::sources::Source;

/// Names under which anything could be found.
const EMPTY_NAMES: &[&str] =
    &["util", "utils", "common", "helper", "helpers", "misc", "manager", "impl", "data", "info"];

/// Beginnings of function names that leave open what happens.
const EMPTY_VERBS: &[&str] = &["handle_", "process_", "do_"];

const RULE: &str = "a name says what is there";

/// Whether a file or module of this name could hold anything.
fn names_nothing(name: &str) -> bool {
    EMPTY_NAMES.contains(&name) || name.split('_').any(|part| EMPTY_NAMES[..8].contains(&part))
}

/// Whether a function of this name could do anything.
fn promises_nothing(name: &str) -> bool {
    names_nothing(name) || EMPTY_VERBS.iter().any(|verb| name.starts_with(verb))
}

/// A file named after no concept.
pub(crate) fn empty_file_name(source: &Source) -> Vec<Breach> {
    if !names_nothing(source.stem()) {
        return Vec::new();
    }
    let advice = format!("`{}` could hold anything; name the file after its one concept", source.stem());
    vec![Breach { file: source.path.clone(), line: 1, rule: RULE, advice }]
}

/// Modules and functions, methods included, named after nothing.
pub(crate) fn empty_item_names(source: &Source) -> Result<Vec<Breach>, Box<dyn Error>> {
    let file = syn::parse_file(&source.text).map_err(|error| format!("{}: {error}", source.path))?;
    let mut search = EmptyNames { path: &source.path, names_are_given: false, breaches: Vec::new() };
    search.visit_file(&file);
    Ok(search.breaches)
}

struct EmptyNames<'a> {
    path: &'a str,
    /// Within the implementation of a trait, where the trait gives the names.
    names_are_given: bool,
    breaches: Vec<Breach>,
}

impl EmptyNames<'_> {
    fn push(&mut self, name: &syn::Ident, advice: &str) {
        self.breaches.push(Breach {
            file: self.path.to_owned(),
            line: name.span().start().line,
            rule: RULE,
            advice: format!("`{name}` {advice}"),
        });
    }
}

impl<'ast> Visit<'ast> for EmptyNames<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if names_nothing(&module.ident.to_string()) {
            self.push(&module.ident, "could hold anything; name the module after its one concept");
        }
        visit::visit_item_mod(self, module);
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        let outside = std::mem::replace(&mut self.names_are_given, block.trait_.is_some());
        visit::visit_item_impl(self, block);
        self.names_are_given = outside;
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if !self.names_are_given && promises_nothing(&signature.ident.to_string()) {
            self.push(&signature.ident, "could do anything; say what it does in the words of the domain");
        }
        visit::visit_signature(self, signature);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_in(text: &str) -> usize {
        empty_item_names(&Source::new("a.rs", text)).unwrap().len()
    }

    #[test]
    fn files_named_after_nothing_are_breaches() {
        for stem in ["util", "common", "io_helpers", "info"] {
            let path = format!("crates/engine/src/{stem}.rs");
            assert_eq!(empty_file_name(&Source::new(&path, "")).len(), 1, "{stem}");
        }
        for stem in ["schedule", "uncommon", "data_rate", "port_info"] {
            let path = format!("crates/engine/src/{stem}.rs");
            assert!(empty_file_name(&Source::new(&path, "")).is_empty(), "{stem}");
        }
    }

    #[test]
    fn names_that_a_trait_gives_pass_and_those_after_it_are_judged_again() {
        assert_eq!(count_in("impl Visit for Names { fn visit_impl() {} } fn do_it() {}"), 1);
    }

    #[test]
    fn functions_methods_and_modules_named_after_nothing_are_breaches() {
        assert_eq!(count_in("fn handle_event() {}"), 1);
        assert_eq!(count_in("impl Worker { fn process_frame(&self) {} }"), 1);
        assert_eq!(count_in("trait Float { fn do_it(); }"), 1);
        assert_eq!(count_in("mod helpers { }"), 1);
        assert_eq!(count_in("mod frames { fn merge() {} fn domain() {} fn handles() {} }"), 0);
    }
}
