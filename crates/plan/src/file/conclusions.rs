//! The parts of a plan file about what its runs say together.

use super::entry::Entry;
use super::error::{PlanFileError, instead};
use super::section::Section;

const COMPARE_KEYS: [&str; 1] = ["against"];
const MACHINES_KEYS: [&str; 2] = ["target", "utilisation"];

/// The runs that all others of the file are set against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compare {
    /// The variants, at least one; `None` is the file's own plan.
    pub against: Vec<Option<String>>,
}

/// The rate that machines are to be counted for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineGoal {
    /// Requests per second.
    pub target_per_sec: f64,
    /// How full a machine may be, as a part of it.
    pub utilisation: f64,
}

impl MachineGoal {
    /// How full a machine may be where nothing is said.
    pub const UTILISATION_DEFAULT: f64 = 0.7;
}

/// What the runs are compared with: the names of variants, or that of the file; one or a list.
pub(super) fn compare(
    file: &Section<'_, '_>,
    own: Option<&str>,
    variants: &[&str],
) -> Result<Option<Compare>, PlanFileError> {
    let Some(section) = file.section("compare", &COMPARE_KEYS)? else { return Ok(None) };
    let entry = section.needed("against")?;
    if variants.is_empty() {
        return Err(entry.wrong("left out of a file without variants: there is nothing to compare"));
    }
    let entries = entry.one_or_more()?;
    if entries.is_empty() {
        return Err(entry.wrong("the name of a variant, or of the file for its own plan, or a list of them"));
    }
    let mut against = Vec::new();
    for entry in entries {
        let reference = reference(&entry, own, variants)?;
        if against.contains(&reference) {
            return Err(entry.wrong("a name that does not stand in the list before"));
        }
        against.push(reference);
    }
    Ok(Some(Compare { against }))
}

fn reference(
    entry: &Entry<'_, '_>,
    own: Option<&str>,
    variants: &[&str],
) -> Result<Option<String>, PlanFileError> {
    let name = entry.string()?;
    if variants.contains(&name.as_str()) {
        return Ok(Some(name));
    }
    if own == Some(name.as_str()) {
        return Ok(None);
    }
    let known: Vec<&str> = own.into_iter().chain(variants.iter().copied()).collect();
    let near = instead(&name, &known);
    Err(entry.wrong(&format!("the name of a variant, or of the file for its own plan; {near}")))
}

/// The rate that machines are to be counted for.
pub(super) fn machines(file: &Section<'_, '_>) -> Result<Option<MachineGoal>, PlanFileError> {
    let Some(section) = file.section("machines", &MACHINES_KEYS)? else { return Ok(None) };
    let utilisation = section.get("utilisation").map(|ratio| ratio.ratio()).transpose()?;
    Ok(Some(MachineGoal {
        target_per_sec: section.needed("target")?.rate_per_sec()?,
        utilisation: utilisation.unwrap_or(MachineGoal::UTILISATION_DEFAULT),
    }))
}
