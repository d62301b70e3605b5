//! The parts of a plan file about all of its runs together: comparison, machines and the table row.

use std::collections::BTreeSet;
use std::time::Duration;

use super::entry::Entry;
use super::error::Result;
use super::section::Section;
use crate::PlanHost;

/// The runs that all other runs of the file are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compare {
    /// The names of variants, at least one; `None` is the file's own plan.
    pub against: Vec<Option<String>>,
}

/// The rate for which machines are to be counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineGoal {
    pub target_per_sec: f64,
    /// The highest allowed utilisation of a machine, above 0 and at most 1.
    pub utilisation: f64,
}

/// The place of a run in a table of runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowSpec {
    /// The case that is measured; the runs of one case make one row. `None` makes the run a case of its own.
    pub case: Option<String>,
    /// The host or tier that this run measures alone. Such a run makes no row; it supplies the rate that the host or tier carries
    /// alone to the row of its case.
    pub alone: Option<String>,
    /// The host that passes requests on to the hosts that are measured alone.
    pub front: Option<String>,
    /// How long the test makes the target hold each request.
    pub held: Option<Duration>,
    /// The group of rows with the same requests; the requests of another group have other costs.
    pub group: Option<String>,
    /// Processors of the machines under test, if they differ from those of the target's host.
    pub cores: Option<f64>,
}

/// Reads the runs to compare with: one name or a list of names of variants, or the file's name for its own plan.
pub(super) fn compare(file: &Section<'_>, own: Option<&str>, variants: &[&str]) -> Result<Option<Compare>> {
    let Some(section) = file.section("compare", &["against"])? else { return Ok(None) };
    let entry = section.needed("against")?;
    if variants.is_empty() {
        return Err(entry.wrong("left out of a file without variants: there is nothing to compare"));
    }
    let known: Vec<&str> = own.into_iter().chain(variants.iter().copied()).collect();
    let mut against = Vec::new();
    for entry in entry.one_or_more()? {
        let name = entry.one_of(&known, "the name of a variant, or of the file for its own plan")?;
        let reference = Some(name).filter(|name| variants.contains(&name.as_str()));
        if against.contains(&reference) {
            return Err(entry.wrong("a name that does not stand in the list before"));
        }
        against.push(reference);
    }
    match against.is_empty() {
        true => Err(entry.wrong("the name of a variant, or of the file for its own plan, or a list of them")),
        false => Ok(Some(Compare { against })),
    }
}

/// Reads the rate for which machines are to be counted; their utilisation is 0.7 unless the file gives one.
pub(super) fn machines(file: &Section<'_>) -> Result<Option<MachineGoal>> {
    let Some(section) = file.section("machines", &["target", "utilisation"])? else { return Ok(None) };
    let utilisation = section.read("utilisation", utilisation)?.unwrap_or(0.7);
    Ok(Some(MachineGoal { target_per_sec: section.needed("target")?.rate_per_sec()?, utilisation }))
}

fn utilisation(entry: &Entry<'_>) -> Result<f64> {
    let ratio = entry.ratio()?;
    if ratio > 0.0 { Ok(ratio) } else { Err(entry.wrong("a ratio above 0 such as 0.7 or \"70%\"")) }
}

/// Reads the row of a file with these hosts, including hosts that do not take part.
pub(super) fn row(file: &Section<'_>, hosts: &[PlanHost]) -> Result<Option<RowSpec>> {
    let keys = ["case", "alone", "front", "held", "group", "cores"];
    let Some(section) = file.section("row", &keys)? else { return Ok(None) };
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    let tiers = hosts.iter().filter_map(|host| host.tier.as_deref());
    let names_and_tiers: BTreeSet<&str> = names.iter().copied().chain(tiers).collect();
    let names_and_tiers = Vec::from_iter(names_and_tiers);
    let alone =
        |entry: &Entry<'_>| entry.one_of(&names_and_tiers, "the name of a host of this file or of a tier");
    Ok(Some(RowSpec {
        case: section.read("case", filled)?,
        alone: section.read("alone", alone)?,
        front: section.read("front", |entry| entry.one_of(&names, "the name of a host of this file"))?,
        held: section.read("held", held)?,
        group: section.read("group", filled)?,
        cores: section.read("cores", |entry| entry.positive("a number of cores above 0"))?,
    }))
}

/// Reads a text that is not blank.
fn filled(entry: &Entry<'_>) -> Result<String> {
    let text = entry.string()?;
    if text.trim().is_empty() { Err(entry.wrong("a text that is not empty")) } else { Ok(text) }
}

/// Reads a duration that may be zero, unlike a step's.
fn held(entry: &Entry<'_>) -> Result<Duration> {
    if entry.is_zero() { Ok(Duration::ZERO) } else { entry.duration() }
}
