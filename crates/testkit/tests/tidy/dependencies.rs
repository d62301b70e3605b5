//! Which crate may see which: a crate depends only on crates of lower levels, and each edge is explained.

use std::collections::BTreeMap;

use super::breach::Breach;
use super::sources::{Crate, Dependency};

/// The crate of tests, which has no level.
const TESTKIT: &str = "testkit";

/// The level of every crate, as the table of ARCHITECTURE.md has it. Two crates of one level do not know each other.
pub(crate) struct Levels(BTreeMap<String, u8>);

impl Levels {
    /// The levels in the rows of the table that begin with a crate's name and a number.
    pub(crate) fn read(architecture: &str) -> Self {
        let row = |line: &str| {
            let mut cells = line.split('|').skip(1).map(str::trim);
            let name = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
            Some((name.to_owned(), cells.next()?.parse().ok()?))
        };
        Self(architecture.lines().filter_map(row).collect())
    }

    fn get(&self, name: &str) -> Option<u8> {
        self.0.get(name).copied()
    }
}

fn breach(owner: &Crate, rule: &'static str, advice: String) -> Breach {
    Breach { file: owner.manifest.clone(), line: 1, rule, advice }
}

/// Every pair of a crate and a crate of ours that its product code, not only its tests, depends on.
fn edges(crates: &[Crate]) -> impl Iterator<Item = (&Crate, &Dependency)> {
    crates.iter().flat_map(|from| {
        let ours = from.dependencies.iter().filter(|to| to.ours && !to.dev);
        ours.map(move |to| (from, to))
    })
}

/// Crates without a level, and edges that do not go down.
pub(crate) fn upward_edges(crates: &[Crate], levels: &Levels) -> Vec<Breach> {
    let unlevelled =
        crates.iter().filter(|one| one.name != TESTKIT && levels.get(&one.name).is_none()).map(|one| {
            let advice =
                format!("crate `{}` has no level; add its row to the table of ARCHITECTURE.md", one.name);
            breach(one, "every crate has a level", advice)
        });
    unlevelled.chain(edges(crates).filter_map(|(from, to)| upward_edge(from, to, levels))).collect()
}

fn upward_edge(from: &Crate, to: &Dependency, levels: &Levels) -> Option<Breach> {
    let (above, below) = (levels.get(&from.name)?, levels.get(&to.name)?);
    if above > below {
        return None;
    }
    let advice = format!(
        "`{}` (level {above}) may not depend on `{}` (level {below}); move what is shared to a lower crate",
        from.name, to.name
    );
    Some(breach(from, "a crate depends only on lower levels", advice))
}

/// Rows of the table that outlived their crate.
pub(crate) fn stale_levels(crates: &[Crate], levels: &Levels) -> Vec<Breach> {
    let gone = levels.0.keys().filter(|name| crates.iter().all(|one| one.name != **name));
    gone.map(|name| Breach {
        file: "ARCHITECTURE.md".into(),
        line: 1,
        rule: "the table of crates is true",
        advice: format!("there is no crate `{name}`; take its row out"),
    })
    .collect()
}

/// Product code that would ship the test servers.
pub(crate) fn testkit_in_products(crates: &[Crate]) -> Vec<Breach> {
    let wrong = edges(crates).filter(|(_, to)| to.name == TESTKIT);
    wrong
        .map(|(from, _)| {
            let advice = format!("`{}` ships the testkit; move it to [dev-dependencies]", from.name);
            breach(from, "testkit is only a dev-dependency", advice)
        })
        .collect()
}

/// Libraries whose errors would lose their type.
pub(crate) fn anyhow_in_libraries(crates: &[Crate]) -> Vec<Breach> {
    let uses_anyhow = |one: &&Crate| one.dependencies.iter().any(|to| to.name == "anyhow");
    let libraries = crates.iter().filter(|one| one.name != "cli");
    libraries
        .filter(uses_anyhow)
        .map(|one| {
            let advice = format!("`{}` depends on anyhow; give it an error type with thiserror", one.name);
            breach(one, "only cli uses anyhow", advice)
        })
        .collect()
}

/// Edges that ARCHITECTURE.md has no line for.
pub(crate) fn unexplained_edges(crates: &[Crate], architecture: &str) -> Vec<Breach> {
    let edges = edges(crates).map(|(from, to)| (from, format!("{} → {}", from.name, to.name)));
    edges
        .filter(|(_, edge)| !mentions(architecture, edge))
        .map(|(from, edge)| {
            let advice = format!("add a line with `{edge}` and why it is there to ARCHITECTURE.md");
            breach(from, "ARCHITECTURE.md explains every crate edge", advice)
        })
        .collect()
}

/// Lines of ARCHITECTURE.md about edges that are not there.
pub(crate) fn stale_edges(crates: &[Crate], architecture: &str) -> Vec<Breach> {
    let known: Vec<String> = edges(crates).map(|(from, to)| format!("{} → {}", from.name, to.name)).collect();
    let mut breaches = Vec::new();
    for (index, line) in architecture.lines().enumerate() {
        let quoted = line.split('`').skip(1).step_by(2).filter(|text| text.contains(" → "));
        breaches.extend(quoted.filter(|edge| !known.iter().any(|one| one == edge)).map(|edge| Breach {
            file: "ARCHITECTURE.md".into(),
            line: index + 1,
            rule: "ARCHITECTURE.md explains only edges that exist",
            advice: format!("no crate depends so: `{edge}`; take the line out"),
        }));
    }
    breaches
}

/// Whether the text holds the edge as whole words: `a → sys` does not explain `a → system`.
fn mentions(text: &str, edge: &str) -> bool {
    let part_of_a_name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    text.match_indices(edge).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + edge.len()..].chars().next();
        !before.is_some_and(part_of_a_name) && !after.is_some_and(part_of_a_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels() -> Levels {
        Levels::read(
            "| crate | level | what it is |\n| --- | --- | --- |\n| `units` | 0 | units |\n| `http` | 0 | codec |\n\
             | `sys` | 0 | sockets |\n| `record` | 1 | types |\n| `engine` | 2 | workers |\n| `store` | 2 | files |\n\
             | `testkit` | dev | tests |\n",
        )
    }

    fn upward(crates: &[Crate]) -> Vec<Breach> {
        upward_edges(crates, &levels())
    }

    fn ours(name: &str) -> Dependency {
        Dependency { name: name.into(), ours: true, dev: false }
    }

    fn dev(name: &str) -> Dependency {
        Dependency { dev: true, ..ours(name) }
    }

    fn with(name: &str, dependencies: Vec<Dependency>) -> Vec<Crate> {
        vec![Crate { name: name.into(), manifest: format!("crates/{name}/Cargo.toml"), dependencies }]
    }

    #[test]
    fn an_edge_upwards_or_sideways_is_a_breach_and_one_downwards_is_not() {
        assert_eq!(upward(&with("record", vec![ours("engine")])).len(), 1);
        assert_eq!(upward(&with("engine", vec![ours("store")])).len(), 1);
        assert_eq!(upward(&with("http", vec![ours("units")])).len(), 1);
        assert!(upward(&with("engine", vec![ours("record"), ours("sys")])).is_empty());
    }

    #[test]
    fn tests_may_look_upwards() {
        assert!(upward(&with("http", vec![dev("engine")])).is_empty());
    }

    #[test]
    fn a_crate_without_a_level_is_a_breach() {
        let breaches = upward(&with("surprise", vec![]));
        assert_eq!(breaches[0].file, "crates/surprise/Cargo.toml");
        assert!(breaches[0].advice.contains("`surprise` has no level"));
    }

    #[test]
    fn a_level_without_a_crate_is_a_breach() {
        assert_eq!(stale_levels(&with("units", vec![]), &levels()).len(), 5);
    }

    #[test]
    fn the_testkit_in_a_product_is_a_breach_and_in_its_tests_is_not() {
        assert_eq!(testkit_in_products(&with("engine", vec![ours("testkit")])).len(), 1);
        assert!(testkit_in_products(&with("engine", vec![dev("testkit")])).is_empty());
    }

    #[test]
    fn anyhow_in_a_library_is_a_breach_and_in_the_binary_is_not() {
        let anyhow = || Dependency { ours: false, ..ours("anyhow") };
        assert_eq!(anyhow_in_libraries(&with("store", vec![anyhow()])).len(), 1);
        assert!(anyhow_in_libraries(&with("cli", vec![anyhow()])).is_empty());
    }

    #[test]
    fn a_line_about_an_edge_that_is_gone_is_a_breach() {
        let crates = with("engine", vec![ours("sys")]);
        let breaches =
            stale_edges(&crates, "- `engine → sys`: sockets\n- `engine → sys`, `engine → units`: both");
        assert_eq!((breaches.len(), breaches[0].line), (1, 2));
    }

    #[test]
    fn an_edge_is_explained_only_by_its_whole_name() {
        let crates = with("engine", vec![ours("sys")]);
        assert!(unexplained_edges(&crates, "- `engine → sys`: sockets").is_empty());
        assert_eq!(unexplained_edges(&crates, "- `engine → system`: sockets").len(), 1);
        assert_eq!(unexplained_edges(&crates, "- `the-engine → sys`: sockets").len(), 1);
        assert_eq!(unexplained_edges(&crates, "").len(), 1);
    }
}
