//! Errors that are dropped without a word.
//!
//! `let _ =` on a result is a clippy error; these are the ways around it. Where a failure really changes nothing,
//! `plimsoll_units::best_effort` says why.

use std::error::Error;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::breach::Breach;
use super::modules::{attributes, is_test};
use super::sources::Source;

const RULE: &str = "no error is dropped in silence";
const ADVICE: &str = "handle it, or say by `best_effort` why it changes nothing";

/// Statements of a crate's sources that end in `.ok();`, and conditions on `is_err` or `is_ok` with nothing to do.
pub(crate) fn dropped_results(source: &Source) -> Result<Vec<Breach>, Box<dyn Error>> {
    match source.product_of() {
        Some(_) => in_file(source),
        None => Ok(Vec::new()),
    }
}

fn in_file(source: &Source) -> Result<Vec<Breach>, Box<dyn Error>> {
    let file = syn::parse_file(&source.text).map_err(|error| format!("{}: {error}", source.path))?;
    let mut search = Dropped { path: &source.path, breaches: Vec::new() };
    search.visit_file(&file);
    Ok(search.breaches)
}

struct Dropped<'a> {
    path: &'a str,
    breaches: Vec<Breach>,
}

impl Dropped<'_> {
    fn push(&mut self, what: &impl Spanned) {
        let line = what.span().start().line;
        self.breaches.push(Breach {
            file: self.path.to_owned(),
            line,
            rule: RULE,
            advice: ADVICE.to_owned(),
        });
    }
}

fn calls(expression: &syn::Expr, methods: &[&str]) -> bool {
    matches!(expression, syn::Expr::MethodCall(call) if methods.iter().any(|method| call.method == method))
}

impl<'ast> Visit<'ast> for Dropped<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast syn::Stmt) {
        if let syn::Stmt::Expr(expression, Some(_)) = statement
            && calls(expression, &["ok", "err"])
        {
            self.push(expression);
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_if(&mut self, condition: &'ast syn::ExprIf) {
        let nothing = condition.then_branch.stmts.is_empty() && condition.else_branch.is_none();
        if nothing && calls(&condition.cond, &["is_err", "is_ok"]) {
            self.push(&condition.cond);
        }
        visit::visit_expr_if(self, condition);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        in_file(&Source::new("a.rs", text)).unwrap().len()
    }

    #[test]
    fn results_that_are_turned_into_nothing_are_breaches() {
        assert_eq!(count("fn f() { g().ok(); }"), 1);
        assert_eq!(count("fn f() { if g().is_err() { /* the reader is gone */ } }"), 1);
        assert_eq!(count("fn f() { h(|| { g().err(); }) }"), 1);
    }

    #[test]
    fn options_that_are_used_and_conditions_that_do_something_pass() {
        assert_eq!(count("fn f() -> Option<u8> { let a = g().ok(); if a.is_err() { h(); } g().ok() }"), 0);
        assert_eq!(count("#[cfg(test)] mod tests { fn f() { g().ok(); } }"), 0);
    }
}
