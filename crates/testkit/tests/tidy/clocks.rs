//! Who may ask what time it is: `units`, and no other crate.

use std::error::Error;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::breach::Breach;
use super::modules::{attributes, is_test};
use super::sources::Source;

/// The crate that asks the operating system.
const HOME: &str = "units";

/// Types of the standard library and of `jiff` that know the time.
const CLOCKS: [&str; 4] = ["Instant", "SystemTime", "Timestamp", "Zoned"];

/// Calls of `now` of a clock that is not ours, in the sources of crates.
pub(crate) fn foreign_clocks(source: &Source) -> Result<Vec<Breach>, Box<dyn Error>> {
    match source.product_of() {
        Some(owner) if owner != HOME => in_file(source),
        _ => Ok(Vec::new()),
    }
}

fn in_file(source: &Source) -> Result<Vec<Breach>, Box<dyn Error>> {
    let file = syn::parse_file(&source.text).map_err(|error| format!("{}: {error}", source.path))?;
    let mut search = Clocks { path: &source.path, breaches: Vec::new() };
    search.visit_file(&file);
    Ok(search.breaches)
}

struct Clocks<'a> {
    path: &'a str,
    breaches: Vec<Breach>,
}

impl<'ast> Visit<'ast> for Clocks<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if let [.., clock, now] = names.as_slice()
            && now == "now"
            && CLOCKS.contains(&clock.as_str())
        {
            self.breaches.push(Breach {
                file: self.path.to_owned(),
                line: path.span().start().line,
                rule: "only the units crate asks what time it is",
                advice: format!("`{clock}::now`: take the instant as an argument, or ask `plimsoll_units`"),
            });
        }
        visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        in_file(&Source::new("a.rs", text)).unwrap().len()
    }

    #[test]
    fn clocks_of_the_standard_library_are_breaches_and_those_of_tests_are_not() {
        assert_eq!(count("fn f() { std::time::Instant::now(); }"), 1);
        assert_eq!(count("fn f() { let a = SystemTime::now().elapsed(); }"), 1);
        assert_eq!(count("#[cfg(test)] mod tests { fn f() { Instant::now(); } }"), 0);
        assert_eq!(count("fn f(now: Instant) { RealClock.now(); Instant::from_nanos(1); }"), 0);
    }
}
