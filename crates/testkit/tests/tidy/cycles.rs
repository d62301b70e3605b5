//! Import cycles between the files of a crate: the modules of a crate form a graph without cycles, as crates do.
//!
//! A file depends on another when its code names something that the other defines, wherever it is re-exported. A `mod`
//! declaration alone and a re-export alone are no dependency, so a parent may declare and re-export its children while
//! they use what it defines; it may not also call them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::error::Error;

use super::breach::Breach;
use super::modules::{Module, modules_of};
use super::sources::{Crate, Source};

/// The shortest cycle among the files of each crate.
pub(crate) fn import_cycles(crates: &[Crate], sources: &[Source]) -> Result<Vec<Breach>, Box<dyn Error>> {
    let mut breaches = Vec::new();
    for one in crates {
        let folder = one.manifest.trim_end_matches("Cargo.toml");
        for root in ["lib.rs", "main.rs"].map(|name| format!("{folder}src/{name}")) {
            if sources.iter().any(|source| source.path == root) {
                breaches.extend(shortest_cycle(&edges(&modules_of(&root, sources)?)));
            }
        }
    }
    Ok(breaches)
}

/// The names by which one file depends on another.
type Edges = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

fn edges(modules: &[Module]) -> Edges {
    let mut edges = Edges::new();
    for (index, module) in modules.iter().enumerate() {
        let uses = module.imports.iter().filter(|import| import.name != "*");
        let own = uses.filter(|import| !import.exported || module.names.contains(&import.name));
        let opened = module.imports.iter().filter(|import| import.name == "*" && !import.exported);
        let by_glob = opened.flat_map(|import| {
            let missing = module.names.iter().filter(|name| !module.items.contains(*name));
            missing.map(|name| [import.path.clone(), vec![name.clone()]].concat())
        });
        let paths = own.map(|import| import.path.clone()).chain(module.paths.iter().cloned()).chain(by_glob);
        for path in paths {
            if let Some(Found::Item(to)) = resolve(modules, index, &path, 0)
                && modules[to].file != module.file
            {
                let names = edges.entry(module.file.clone()).or_default();
                names.entry(modules[to].file.clone()).or_default().insert(path.join("::"));
            }
        }
    }
    edges
}

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Module(usize),
    /// An item that this module defines.
    Item(usize),
}

/// Imports of imports are followed so far; more are imports of themselves.
const MAX_DEPTH: u32 = 16;

/// Where a path leads from a module; `None` where it leads out of the crate.
fn resolve(modules: &[Module], from: usize, path: &[String], depth: u32) -> Option<Found> {
    let mut at = from;
    for (index, name) in path.iter().enumerate() {
        match name.as_str() {
            "crate" => at = 0,
            "self" if index == 0 => {}
            "super" => at = modules[at].parent,
            name => match member(modules, at, name, depth)? {
                Found::Module(module) => at = module,
                item => return Some(item),
            },
        }
    }
    Some(Found::Module(at))
}

/// What a name is within a module: its own, or imported.
fn member(modules: &[Module], at: usize, name: &str, depth: u32) -> Option<Found> {
    let module = &modules[at];
    if let Some(child) = module.children.get(name) {
        return Some(Found::Module(*child));
    }
    if module.items.contains(name) {
        return Some(Found::Item(at));
    }
    if depth >= MAX_DEPTH {
        return None;
    }
    let mut named = module.imports.iter().filter(|import| import.name == name);
    let found = named.find_map(|import| resolve(modules, at, &import.path, depth + 1));
    let opened = || module.imports.iter().filter(|import| import.name == "*");
    found.or_else(|| {
        opened().find_map(|import| match resolve(modules, at, &import.path, depth + 1)? {
            Found::Module(other) if other != at => member(modules, other, name, depth + 1),
            _ => None,
        })
    })
}

/// The shortest cycle of all, as a breach of its first file.
fn shortest_cycle(edges: &Edges) -> Option<Breach> {
    let cycles = edges.keys().filter_map(|file| cycle_through(edges, file));
    let cycle = cycles.min_by_key(Vec::len)?;
    let step = |pair: &[&String]| {
        let names: Vec<&str> = edges[pair[0]][pair[1]].iter().map(String::as_str).collect();
        format!("{} uses {} of {}", short(pair[0]), names.join(", "), short(pair[1]))
    };
    let around: Vec<&String> = cycle.iter().copied().chain([cycle[0]]).collect();
    let steps: Vec<String> = around.windows(2).map(step).collect();
    Some(Breach {
        file: cycle[0].clone(),
        line: 1,
        rule: "the files of a crate do not import each other in a circle",
        advice: format!("{}; move what they share to a file of its own", steps.join("; ")),
    })
}

/// The path of a file from its crate's `src`.
fn short(file: &str) -> &str {
    file.split_once("/src/").map_or(file, |(_, rest)| rest)
}

/// The shortest way from a file back to itself, by breadth first.
fn cycle_through<'a>(edges: &'a Edges, file: &'a String) -> Option<Vec<&'a String>> {
    let mut before: BTreeMap<&String, &String> = BTreeMap::new();
    let mut waiting = VecDeque::from([file]);
    while let Some(at) = waiting.pop_front() {
        for next in edges.get(at).into_iter().flat_map(BTreeMap::keys) {
            if next == file {
                let mut way = vec![at];
                while way[way.len() - 1] != file {
                    way.push(before[way[way.len() - 1]]);
                }
                way.reverse();
                return Some(way);
            }
            if !before.contains_key(next) {
                before.insert(next, at);
                waiting.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(files: &[(&str, &str)]) -> Option<String> {
        let path = |name: &str| format!("crates/a/src/{name}.rs");
        let sources: Vec<Source> = files.iter().map(|(name, text)| Source::new(&path(name), text)).collect();
        let modules = modules_of(&path("lib"), &sources).unwrap();
        shortest_cycle(&edges(&modules)).map(|breach| breach.advice)
    }

    #[test]
    fn two_files_that_import_each_other_are_a_cycle() {
        let advice = cycle(&[
            ("lib", "mod one; mod two;"),
            ("one", "use crate::two::B; pub(crate) struct A(B);"),
            ("two", "pub(crate) struct B; fn f() { super::one::A; }"),
        ]);
        let expected = "one.rs uses crate::two::B of two.rs; two.rs uses super::one::A of one.rs; \
            move what they share to a file of its own";
        assert_eq!(advice.as_deref(), Some(expected));
    }

    #[test]
    fn a_cycle_through_the_names_that_the_root_re_exports_is_found() {
        let files = [
            ("lib", "mod one; mod two; mod three; pub use one::*; pub use two::B; pub use three::C as D;"),
            ("one", "use crate::{B}; pub struct A(B);"),
            ("two", "use crate::D; pub struct B(D);"),
            ("three", "pub struct C(crate::A);"),
        ];
        assert!(cycle(&files).is_some());
        let without = [files[0], files[1], files[2], ("three", "pub struct C;")];
        assert_eq!(cycle(&without), None);
    }

    #[test]
    fn a_parent_that_declares_and_re_exports_its_children_is_no_cycle_and_one_that_calls_them_is() {
        let child = ("one", "use super::T; pub(crate) fn f(_: T) {}");
        assert_eq!(cycle(&[("lib", "mod one; pub use one::f; pub struct T;"), child]), None);
        assert!(cycle(&[("lib", "mod one; use one::f; pub struct T; fn g() { f(T) }"), child]).is_some());
        assert!(cycle(&[("lib", "mod one; pub use one::f; pub struct T; fn g() { f(T) }"), child]).is_some());
        assert!(cycle(&[("lib", "mod one; pub struct T; fn g() { one::f(T) }"), child]).is_some());
    }

    #[test]
    fn names_that_a_glob_brings_count_where_they_are_used() {
        let parent = ("lib", "mod one; pub struct T; fn g() { one::f() }");
        assert!(cycle(&[parent, ("one", "use super::*; pub(crate) fn f() { T; }")]).is_some());
        assert_eq!(cycle(&[parent, ("one", "use super::*; pub(crate) fn f() {}")]), None);
    }

    #[test]
    fn tests_may_use_what_uses_them() {
        let files = [
            ("lib", "mod one; pub struct T; fn g() { one::f() }"),
            ("one", "pub(crate) fn f() {} #[cfg(test)] mod tests { use super::super::T; }"),
        ];
        assert_eq!(cycle(&files), None);
    }
}
