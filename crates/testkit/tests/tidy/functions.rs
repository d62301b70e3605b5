//! The length of functions, tests included. Code inside a macro's call is not parsed and so not judged.

use std::error::Error;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::breach::Breach;
use super::sources::Source;

/// What a reader holds in view at once. The aim is ten.
const MAX_LINES: usize = 70;

/// Functions and methods longer than [`MAX_LINES`], counted from `fn` to the closing brace.
pub(crate) fn long_functions(source: &Source) -> Result<Vec<Breach>, Box<dyn Error>> {
    let file = syn::parse_file(&source.text).map_err(|error| format!("{}: {error}", source.path))?;
    let mut search = LongFunctions { path: &source.path, breaches: Vec::new() };
    search.visit_file(&file);
    Ok(search.breaches)
}

struct LongFunctions<'a> {
    path: &'a str,
    breaches: Vec<Breach>,
}

impl LongFunctions<'_> {
    fn measure(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let first = signature.fn_token.span().start().line;
        let last = block.brace_token.span.close().end().line;
        let lines = last + 1 - first;
        if lines > MAX_LINES {
            let advice = format!("`{}` has {lines}; name its parts and make them functions", signature.ident);
            let rule = "a function has at most 70 lines";
            self.breaches.push(Breach { file: self.path.to_owned(), line: first, rule, advice });
        }
    }
}

impl<'ast> Visit<'ast> for LongFunctions<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        self.measure(&method.sig, &method.block);
        visit::visit_impl_item_fn(self, method);
    }

    fn visit_trait_item_fn(&mut self, method: &'ast syn::TraitItemFn) {
        if let Some(block) = &method.default {
            self.measure(&method.sig, block);
        }
        visit::visit_trait_item_fn(self, method);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function of as many lines as asked, with lines around it that do not count.
    fn function_of(lines: usize) -> String {
        format!("/// Why.\n#[inline]\nfn long() {{\n{}}}", "    step();\n".repeat(lines - 2))
    }

    fn breaches_in(text: &str) -> Vec<Breach> {
        long_functions(&Source::new("a.rs", text)).unwrap()
    }

    #[test]
    fn a_function_of_70_lines_passes_and_one_of_71_does_not() {
        assert!(breaches_in(&function_of(70)).is_empty());
        let breaches = breaches_in(&function_of(71));
        assert_eq!((breaches.len(), breaches[0].line), (1, 3));
        assert!(breaches[0].advice.contains("`long` has 71"));
    }

    #[test]
    fn methods_defaults_of_traits_and_tests_count_too() {
        let long = function_of(71);
        assert_eq!(breaches_in(&format!("impl Ship {{ {long} }}")).len(), 1);
        assert_eq!(breaches_in(&format!("trait Float {{ {long} }}")).len(), 1);
        assert_eq!(breaches_in(&format!("#[cfg(test)] mod tests {{ #[test] {long} }}")).len(), 1);
    }

    #[test]
    fn a_file_that_is_not_rust_is_an_error_and_not_a_pass() {
        assert!(long_functions(&Source::new("a.rs", "fn {")).is_err());
    }
}
