//! The part of a plan file about overloads.

use super::entry::Entry;
use super::error::{Result, instead};
use super::section::Section;
use crate::{OverloadSpec, Protector};

/// Reads the overloads, and the program whose protective settings follow from an earlier run of the file.
pub(super) fn overload(file: &Section<'_>) -> Result<(Option<OverloadSpec>, Option<Protector>)> {
    let keys = ["rate", "base", "factors", "hold", "watch", "protect"];
    let Some(section) = file.section("overload", &keys)? else { return Ok((None, None)) };
    let factors = match section.get("factors") {
        Some(list) => list.one_or_more()?.iter().map(factor).collect::<Result<_>>()?,
        None => Vec::new(),
    };
    let spec = OverloadSpec {
        rate_per_sec: section.read("rate", Entry::rate_per_sec)?,
        base: section.read("base", Entry::ratio)?,
        factors,
        hold: section.read("hold", Entry::duration)?,
        watch: section.read("watch", Entry::duration)?,
    };
    Ok((Some(spec), section.read("protect", protector)?))
}

fn factor(entry: &Entry<'_>) -> Result<f64> {
    entry.positive("a multiple of the rate such as 1.5")
}

fn protector(entry: &Entry<'_>) -> Result<Protector> {
    let name = entry.string()?;
    let expected = || {
        format!("a program that protects a service; {}", instead(&name, &Protector::ALL.map(Protector::name)))
    };
    Protector::from_name(&name).ok_or_else(|| entry.wrong(&expected()))
}
