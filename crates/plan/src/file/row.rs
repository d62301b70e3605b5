//! The table `[row]`: what a run is in the table that all runs of its file make together.

use std::time::Duration;

use super::entry::Entry;
use super::error::{PlanFileError, instead};
use super::section::Section;
use crate::PlanHost;

const KEYS: [&str; 6] = ["case", "alone", "front", "held", "group", "cores"];

/// What a run is in a table of runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowSpec {
    /// The case that is measured; the runs of one case make one row. `None`: a case of its own.
    pub case: Option<String>,
    /// The host or the tier that this run measures alone. It is no row then, and gives that of its case what this one carries alone.
    pub alone: Option<String>,
    /// The host that passes requests on to those that are measured alone.
    pub front: Option<String>,
    /// How long each request is held by order of the test.
    pub held: Option<Duration>,
    /// Rows of the same requests; those of another group cost something else.
    pub group: Option<String>,
    /// Processors of the machines under test, if not those of the target's host.
    pub cores: Option<f64>,
}

/// The row of a file with these hosts, whether they take part or not.
pub(super) fn row(file: &Section<'_, '_>, hosts: &[PlanHost]) -> Result<Option<RowSpec>, PlanFileError> {
    let Some(section) = file.section("row", &KEYS)? else { return Ok(None) };
    let text = |key: &str| section.get(key).map(|entry| filled(&entry)).transpose();
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    let tiers = hosts.iter().filter_map(|host| host.tier.as_deref());
    let mut names_and_tiers: Vec<&str> = names.iter().copied().chain(tiers).collect();
    names_and_tiers.sort_unstable();
    names_and_tiers.dedup();
    let one_of = |key: &str, known: &[&str], what: &str| {
        section.get(key).map(|entry| named(&entry, known, what)).transpose()
    };
    Ok(Some(RowSpec {
        case: text("case")?,
        alone: one_of("alone", &names_and_tiers, "the name of a host of this file or of a tier")?,
        front: one_of("front", &names, "the name of a host of this file")?,
        held: section.get("held").map(|entry| held(&entry)).transpose()?,
        group: text("group")?,
        cores: section.get("cores").map(|entry| entry.positive("a number of cores above 0")).transpose()?,
    }))
}

/// A text that says something.
fn filled(entry: &Entry<'_, '_>) -> Result<String, PlanFileError> {
    let text = entry.string()?;
    if text.trim().is_empty() { Err(entry.wrong("a text that is not empty")) } else { Ok(text) }
}

fn named(entry: &Entry<'_, '_>, known: &[&str], what: &str) -> Result<String, PlanFileError> {
    let name = entry.string()?;
    if known.contains(&name.as_str()) {
        return Ok(name);
    }
    Err(entry.wrong(&format!("{what}; {}", instead(&name, known))))
}

/// A time that may be none at all, unlike that of a step.
fn held(entry: &Entry<'_, '_>) -> Result<Duration, PlanFileError> {
    if entry.is_zero() { Ok(Duration::ZERO) } else { entry.duration() }
}
