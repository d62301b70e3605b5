//! The modules of a crate as its files declare them: what each defines, imports and names by path.
//!
//! Code under `#[cfg(test)]` is left out: it may import what it tests from wherever that is.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::sources::Source;

/// One module, in a file of its own or inline.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// Path of the file it is in, from the root of the repository.
    pub(crate) file: String,
    /// Index of the module that declares it; of the crate's root, its own.
    pub(crate) parent: usize,
    /// Modules that it declares, by name.
    pub(crate) children: BTreeMap<String, usize>,
    /// Names of functions, types, constants and macros that it defines.
    pub(crate) items: BTreeSet<String>,
    /// What it imports by `use`.
    pub(crate) imports: Vec<Import>,
    /// Paths of two segments or more in its code.
    pub(crate) paths: BTreeSet<Vec<String>>,
    /// First segments of all paths in its code.
    pub(crate) names: BTreeSet<String>,
}

/// One name that a `use` brings into a module.
#[derive(Debug)]
pub(crate) struct Import {
    /// The path as written; for a glob, that of what it opens.
    pub(crate) path: Vec<String>,
    /// The name it has then; `*` for a glob.
    pub(crate) name: String,
    /// Re-exported: `pub use`, `pub(crate) use`, `pub(super) use`.
    pub(crate) exported: bool,
}

/// The modules of the crate whose root is the file at `root`; the first is the root.
pub(crate) fn modules_of(root: &str, sources: &[Source]) -> Result<Vec<Module>, Box<dyn Error>> {
    let by_path = sources.iter().map(|source| (source.path.as_str(), source.text.as_str())).collect();
    let mut scan =
        Scan { sources: by_path, modules: Vec::new(), current: 0, folder: String::new(), error: None };
    let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
    scan.read_file(root, folder, 0)?;
    Ok(scan.modules)
}

struct Scan<'a> {
    sources: BTreeMap<&'a str, &'a str>,
    modules: Vec<Module>,
    /// The module that is being read.
    current: usize,
    /// Where files of its children are.
    folder: String,
    error: Option<Box<dyn Error>>,
}

impl Scan<'_> {
    fn read_file(&mut self, file: &str, folder: &str, parent: usize) -> Result<usize, Box<dyn Error>> {
        let text = self.sources.get(file).ok_or_else(|| format!("{file}: a module without its file"))?;
        let parsed = syn::parse_file(text).map_err(|error| format!("{file}: {error}"))?;
        let index = self.enter(file, folder, parent, |scan| scan.visit_file(&parsed));
        self.error.take().map_or(Ok(index), Err)
    }

    /// Adds a module and reads what is in it.
    fn enter(&mut self, file: &str, folder: &str, parent: usize, read: impl FnOnce(&mut Self)) -> usize {
        let index = self.modules.len();
        self.modules.push(Module { file: file.to_owned(), parent, ..Module::default() });
        let outside = (self.current, std::mem::replace(&mut self.folder, folder.to_owned()));
        self.current = index;
        read(self);
        (self.current, self.folder) = outside;
        index
    }

    fn module(&mut self) -> &mut Module {
        &mut self.modules[self.current]
    }

    fn child(&mut self, module: &syn::ItemMod) -> Result<usize, Box<dyn Error>> {
        let name = module.ident.to_string();
        let (below, parent) = (format!("{}/{name}", self.folder), self.current);
        if let Some((_, items)) = &module.content {
            let file = self.module().file.clone();
            return Ok(self.enter(&file, &below, parent, |scan| {
                items.iter().for_each(|item| scan.visit_item(item));
            }));
        }
        self.read_file(&format!("{below}.rs"), &below, parent)
    }

    fn add_path(&mut self, path: Vec<String>) {
        self.module().names.insert(path[0].clone());
        if path.len() > 1 {
            self.module().paths.insert(path);
        }
    }

    /// Paths in the tokens of a macro, whose grammar is its own.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(ident) if colons == 2 => path.push(ident.to_string()),
                other => {
                    self.finish(&mut path);
                    match other {
                        TokenTree::Ident(ident) => path.push(ident.to_string()),
                        TokenTree::Group(group) => self.add_tokens(group.stream()),
                        _ => {}
                    }
                }
            }
            colons = 0;
        }
        self.finish(&mut path);
    }

    fn finish(&mut self, path: &mut Vec<String>) {
        if !path.is_empty() {
            self.add_path(std::mem::take(path));
        }
    }
}

impl<'ast> Visit<'ast> for Scan<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_test(attributes(item)) {
            return;
        }
        if let Some(name) = defined_name(item) {
            self.module().items.insert(name);
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        match self.child(module) {
            Ok(index) => {
                self.module().children.insert(module.ident.to_string(), index);
            }
            Err(error) => self.error = Some(error),
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let exported = !matches!(item.vis, syn::Visibility::Inherited);
        let mut imports = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut |path, name| imports.push(Import { path, name, exported }));
        self.module().imports.extend(imports);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.add_path(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.add_tokens(call.tokens.clone());
    }

    /// Attributes name no items of ours.
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

/// Each name of a use tree, with its whole path.
fn flatten(tree: &syn::UseTree, before: &mut Vec<String>, found: &mut impl FnMut(Vec<String>, String)) {
    match tree {
        syn::UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, found);
            before.pop();
        }
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, found)),
        syn::UseTree::Glob(_) => found(before.clone(), "*".to_owned()),
        syn::UseTree::Name(name) => found(joined(before, &name.ident), imported_name(before, &name.ident)),
        syn::UseTree::Rename(renamed) => found(joined(before, &renamed.ident), renamed.rename.to_string()),
    }
}

/// `a::{self}` is `a`.
fn joined(before: &[String], last: &syn::Ident) -> Vec<String> {
    let mut path = before.to_vec();
    if last != "self" || path.is_empty() {
        path.push(last.to_string());
    }
    path
}

fn imported_name(before: &[String], last: &syn::Ident) -> String {
    joined(before, last).pop().unwrap_or_default()
}

/// What stands before an item in brackets.
pub(crate) fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an item is compiled for tests alone.
pub(crate) fn is_test(attributes: &[syn::Attribute]) -> bool {
    let names_test = |attribute: &syn::Attribute| {
        attribute.parse_args::<syn::Ident>().is_ok_and(|argument| argument == "test")
    };
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg") && names_test(attribute))
}

fn defined_name(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> Vec<Module> {
        let sources: Vec<Source> = files.iter().map(|(path, text)| Source::new(path, text)).collect();
        modules_of("crates/a/src/lib.rs", &sources).unwrap()
    }

    #[test]
    fn modules_are_found_in_files_and_inline() {
        let modules = read(&[
            ("crates/a/src/lib.rs", "mod one; mod two { mod three; }"),
            ("crates/a/src/one.rs", "mod four;"),
            ("crates/a/src/one/four.rs", ""),
            ("crates/a/src/two/three.rs", ""),
        ]);
        let files: Vec<&str> = modules.iter().map(|module| module.file.rsplit('/').next().unwrap()).collect();
        assert_eq!(files, ["lib.rs", "one.rs", "four.rs", "lib.rs", "three.rs"]);
        assert_eq!(modules[4].parent, 3);
    }

    #[test]
    fn imports_and_paths_are_listed_also_those_in_macros_and_not_those_of_tests() {
        let text = "use a::{b, c::{self, d as e}, f::*};
            fn g() { println!(\"{}\", h::i()); j::k(); }
            #[cfg(test)] mod tests { use l::m; }";
        let modules = read(&[("crates/a/src/lib.rs", text)]);
        let imports: Vec<(String, &str)> =
            modules[0].imports.iter().map(|import| (import.path.join("::"), import.name.as_str())).collect();
        let expected = [("a::b", "b"), ("a::c", "c"), ("a::c::d", "e"), ("a::f", "*")];
        assert_eq!(imports, expected.map(|(path, name)| (path.to_owned(), name)));
        let paths: Vec<String> = modules[0].paths.iter().map(|path| path.join("::")).collect();
        assert_eq!(paths, ["h::i", "j::k"]);
    }

    #[test]
    fn a_module_without_a_file_is_an_error() {
        assert!(modules_of("lib.rs", &[Source::new("lib.rs", "mod gone;")]).is_err());
    }
}
