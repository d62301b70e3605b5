//! Doc comments: every public item of production code has one, and none only repeats the name below it.

use std::error::Error;

use syn::visit::{self, Visit};

use super::breach::Breach;
use super::modules::{attributes, is_test};
use super::sources::Source;

/// Words that add nothing to a name.
const FILLER: [&str; 7] = ["a", "an", "its", "of", "s", "the", "this"];

/// Derives that print doc comments to users, who do not see the name.
const PRINTED: [&str; 5] = ["Args", "JsonSchema", "Parser", "Subcommand", "ValueEnum"];

/// Public functions, types, traits, constants, statics and modules of production code without a doc comment, and files without
/// one at their beginning. Fields, variants and what a macro writes need none.
pub(crate) fn missing_docs(source: &Source) -> Result<Vec<Breach>, Box<dyn Error>> {
    let mut search = Missing { path: &source.path, breaches: Vec::new() };
    if source.product_of().is_some() {
        let file = parse(source)?;
        if doc_of(&file.attrs).is_empty() {
            search.push(1, "this file");
        }
        search.visit_file(&file);
    }
    Ok(search.breaches)
}

/// Fields, variants and functions whose doc comment holds only words of their name or, for fields and variants, of their type's
/// name: such a line says nothing.
pub(crate) fn repeated_names(source: &Source) -> Result<Vec<Breach>, Box<dyn Error>> {
    let mut search = Repeated { path: &source.path, owner: String::new(), breaches: Vec::new() };
    search.visit_file(&parse(source)?);
    Ok(search.breaches)
}

fn parse(source: &Source) -> Result<syn::File, Box<dyn Error>> {
    syn::parse_file(&source.text).map_err(|error| format!("{}: {error}", source.path).into())
}

/// The text of the doc comment among the attributes.
fn doc_of(attributes: &[syn::Attribute]) -> String {
    let lines = attributes.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let texts = lines.filter_map(|attribute| match &attribute.meta.require_name_value().ok()?.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join(" ")
}

struct Missing<'a> {
    path: &'a str,
    breaches: Vec<Breach>,
}

impl Missing<'_> {
    fn push(&mut self, line: usize, what: &str) {
        self.breaches.push(Breach {
            file: self.path.to_owned(),
            line,
            rule: "public items have a doc comment",
            advice: format!("say what {what} is for, with units and errors"),
        });
    }

    fn judge(&mut self, visibility: &syn::Visibility, attributes: &[syn::Attribute], name: &syn::Ident) {
        if matches!(visibility, syn::Visibility::Public(_)) && doc_of(attributes).is_empty() {
            self.push(name.span().start().line, &format!("`{name}`"));
        }
    }
}

impl<'ast> Visit<'ast> for Missing<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_test(attributes(item)) {
            return;
        }
        match item {
            syn::Item::Const(item) => self.judge(&item.vis, &item.attrs, &item.ident),
            syn::Item::Enum(item) => self.judge(&item.vis, &item.attrs, &item.ident),
            syn::Item::Fn(item) => self.judge(&item.vis, &item.attrs, &item.sig.ident),
            syn::Item::Mod(item) if item.content.is_some() => self.judge(&item.vis, &item.attrs, &item.ident),
            syn::Item::Static(item) => self.judge(&item.vis, &item.attrs, &item.ident),
            syn::Item::Struct(item) => self.judge(&item.vis, &item.attrs, &item.ident),
            syn::Item::Trait(item) => self.judge(&item.vis, &item.attrs, &item.ident),
            syn::Item::Type(item) => self.judge(&item.vis, &item.attrs, &item.ident),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        self.judge(&method.vis, &method.attrs, &method.sig.ident);
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.judge(&item.vis, &item.attrs, &item.ident);
    }
}

struct Repeated<'a> {
    path: &'a str,
    /// Name of the type whose fields or variants are read; empty elsewhere.
    owner: String,
    breaches: Vec<Breach>,
}

impl Repeated<'_> {
    fn judge(&mut self, attributes: &[syn::Attribute], name: &syn::Ident, owner: &str) {
        let doc = doc_of(attributes);
        if !doc.is_empty() && repeats(&doc, &format!("{name} {owner}")) {
            self.breaches.push(Breach {
                file: self.path.to_owned(),
                line: name.span().start().line,
                rule: "a doc comment does not repeat a name",
                advice: format!("`{}` on `{name}`: leave it out, or say what the name does not", doc.trim()),
            });
        }
    }
}

/// Whether each word of a doc comment is filler or one of the name's.
fn repeats(doc: &str, name: &str) -> bool {
    let mut known = words(name);
    if known.iter().any(|word| word == "count") {
        known.push("number".to_owned());
    }
    // Code is more precise than a name, and what is no letter cannot be compared.
    let comparable = doc.chars().all(|letter| letter.is_ascii() && letter != '`');
    comparable && words(doc).iter().all(|word| FILLER.contains(&word.as_str()) || known.contains(word))
}

/// The words of a text or of an identifier in lower case, each without the `s` of a plural.
fn words(text: &str) -> Vec<String> {
    let mut spaced = String::new();
    for letter in text.chars() {
        if letter.is_uppercase() && !spaced.ends_with(char::is_uppercase) {
            spaced.push(' ');
        }
        spaced.push(letter);
    }
    let lower = spaced.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let singular = |word: &str| match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 => stem.to_owned(),
        _ => word.to_owned(),
    };
    words.map(singular).collect()
}

/// Whether a type's doc comments become texts of a command or of a schema.
fn is_printed(attributes: &[syn::Attribute]) -> bool {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let mut lists = derives.filter_map(|derive| derive.meta.require_list().ok());
    lists.any(|list| {
        list.tokens
            .to_string()
            .split(|letter: char| !letter.is_alphanumeric())
            .any(|name| PRINTED.contains(&name))
    })
}

impl<'ast> Visit<'ast> for Repeated<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if !is_printed(&item.attrs) {
            self.owner = item.ident.to_string();
            visit::visit_item_struct(self, item);
        }
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        if !is_printed(&item.attrs) {
            self.owner = item.ident.to_string();
            visit::visit_item_enum(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if let Some(name) = &field.ident {
            self.judge(&field.attrs, name, &self.owner.clone());
        }
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.judge(&variant.attrs, &variant.ident, &self.owner.clone());
        visit::visit_variant(self, variant);
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.judge(&function.attrs, &function.sig.ident, "");
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        self.judge(&method.attrs, &method.sig.ident, "");
        visit::visit_impl_item_fn(self, method);
    }

    fn visit_trait_item_fn(&mut self, method: &'ast syn::TraitItemFn) {
        self.judge(&method.attrs, &method.sig.ident, "");
        visit::visit_trait_item_fn(self, method);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(text: &str) -> usize {
        missing_docs(&Source::new("crates/engine/src/a.rs", text)).unwrap().len()
    }

    fn repeated(text: &str) -> usize {
        repeated_names(&Source::new("crates/engine/src/a.rs", text)).unwrap().len()
    }

    #[test]
    fn public_items_and_files_without_a_doc_comment_are_breaches() {
        assert_eq!(missing("pub fn f() {}"), 2);
        assert_eq!(missing("//! A file.\npub struct A; pub enum B { C } pub trait D { fn e(); }"), 3);
        assert_eq!(
            missing("//! A file.\npub const A: u8 = 1; pub static B: u8 = 1; pub type C = u8; pub mod d {}"),
            4
        );
        assert_eq!(missing("//! A file.\nimpl A { pub fn f() {} pub const B: u8 = 1; fn g() {} }"), 2);
    }

    #[test]
    fn what_is_not_public_or_not_production_code_needs_no_doc_comment() {
        assert_eq!(missing("//! A file.\n/// Why.\npub fn f() {} pub(crate) fn g() {} mod h; pub mod i;"), 0);
        assert_eq!(missing("//! A file.\n/// Why.\npub struct A { pub b: u8 } #[cfg(test)] pub mod c {}"), 0);
        assert!(missing_docs(&Source::new("crates/engine/tests/a.rs", "pub fn f() {}")).unwrap().is_empty());
    }

    #[test]
    fn a_doc_comment_that_holds_only_words_of_the_name_is_a_breach() {
        assert_eq!(
            repeated("struct A { /// Its name.\n name: u8, /// The host's name.\n host_name: u8 }"),
            2
        );
        assert_eq!(repeated("struct Run { /// The run's connections.\n connections: u8 }"), 1);
        assert_eq!(
            repeated("enum A { /// A send of a copy.\n SendCopy, B { /// The tier.\n tier: u8 } }"),
            2
        );
        assert_eq!(repeated("/// The first line.\nfn first_line() {} trait A { /// Line.\n fn line(); }"), 2);
        assert_eq!(repeated("struct A { /// Number of hosts.\n host_count: u8 }"), 1);
    }

    #[test]
    fn a_doc_comment_with_a_unit_a_range_or_a_reason_passes() {
        assert_eq!(repeated("struct A { /// Its name, empty if unknown.\n name: u8 }"), 0);
        assert_eq!(repeated("struct A { /// Latency in nanoseconds.\n latency: u8 }"), 0);
        assert_eq!(
            repeated("struct A { /// ρ\n rho: u8, /// `name`\n name: u8, /// Number of hosts.\n hosts: u8 }"),
            0
        );
        assert_eq!(repeated("struct Run; impl Run { /// The run's name.\n fn name() {} }"), 0);
    }

    #[test]
    fn doc_comments_that_users_see_may_repeat_a_name() {
        assert_eq!(repeated("#[derive(Debug, clap::Args)] struct A { /// The name.\n name: u8 }"), 0);
    }
}
