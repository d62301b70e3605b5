//! Errors that are dropped without a word.
//!
//! `let _ =` on a result is a clippy error; these are the ways around it. Where a failure really changes nothing,
//! `plimsoll_units::best_effort` says why.
//!
//! Types are unknown here, so `drop` of what a call returns is a breach whatever that is: a value without errors needs no
//! `drop`, a guard has a name. `.map(drop)` of a result keeps its error, so it is a breach only where its value is dropped.

use std::error::Error;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::breach::Breach;
use super::modules::{attributes, is_test};
use super::sources::Source;

const RULE: &str = "no error is dropped in silence";
const ADVICE: &str = "handle it, or say by `best_effort` why it changes nothing";

/// Statements of a crate's sources that end in `.ok();` or `.map(drop);`, conditions on `is_err` or `is_ok` with nothing to
/// do, and `drop` of what a call returns.
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

/// True for `.map(drop)` and the like.
fn passes_drop(call: &syn::ExprMethodCall, method: &str) -> bool {
    call.method == method && matches!(call.args.first(), Some(syn::Expr::Path(path)) if is_drop(&path.path))
}

/// True for `drop`, `mem::drop` and `std::mem::drop`, but not for `ManuallyDrop::drop`.
fn is_drop(path: &syn::Path) -> bool {
    let mut names = path.segments.iter().rev().map(|segment| &segment.ident);
    names.next().is_some_and(|name| name == "drop") && names.next().is_none_or(|module| module == "mem")
}

impl<'ast> Visit<'ast> for Dropped<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast syn::Stmt) {
        if let syn::Stmt::Expr(expression, Some(_)) = statement
            && (calls(expression, &["ok", "err"])
                || matches!(expression, syn::Expr::MethodCall(call) if passes_drop(call, "map")))
        {
            self.push(expression);
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        let returned = |value: &syn::Expr| matches!(value, syn::Expr::Call(_) | syn::Expr::MethodCall(_));
        if matches!(&*call.func, syn::Expr::Path(path) if is_drop(&path.path))
            && call.args.iter().any(returned)
        {
            self.push(call);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if passes_drop(call, "for_each") {
            self.push(call);
        }
        visit::visit_expr_method_call(self, call);
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
    fn drop_of_what_a_call_returns_is_a_breach() {
        assert_eq!(count("fn f() { drop(g()); mem::drop(a.send(b)); h(|| drop(a.join())); }"), 3);
        assert_eq!(count("fn f() { a.map(g).for_each(drop); [g(), h()].map(drop); }"), 2);
    }

    #[test]
    fn drop_of_a_value_with_a_name_and_results_that_keep_their_error_pass() {
        assert_eq!(
            count("fn f() -> R { drop(guard); ManuallyDrop::drop(&mut a.b()); g()?; h().map(drop) }"),
            0
        );
    }

    #[test]
    fn options_that_are_used_and_conditions_that_do_something_pass() {
        assert_eq!(count("fn f() -> Option<u8> { let a = g().ok(); if a.is_err() { h(); } g().ok() }"), 0);
        assert_eq!(count("#[cfg(test)] mod tests { fn f() { g().ok(); } }"), 0);
    }
}
