//! The part of a plan file that makes it a test: the expected verdict.

use super::entry::Entry;
use super::error::{Result, instead};
use super::section::Section;
use crate::{Limit, OverloadClass, RampEffect};

/// One limit that a verdict is expected to name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    pub limit: Limit,
    /// `None` if any host is right.
    pub host: Option<String>,
}

/// The expected verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expect {
    /// Several limits are too close to be distinguished, and the verdict must name all of them. Empty if only the behaviour under
    /// overload is expected.
    pub limits: Vec<Expected>,
    /// The expected size of a pool.
    pub size: Option<u64>,
    /// The behaviour under overload must be one of these; empty if any is right.
    pub overload: Vec<OverloadClass>,
    /// The expected effect of a ramp to the highest overload, compared with a jump; `None` if any is right.
    pub ramp: Option<RampEffect>,
}

pub(super) fn expect(file: &Section<'_>) -> Result<Option<Expect>> {
    let Some(section) = file.section("expect", &["limit", "where", "size", "either", "overload", "ramp"])?
    else {
        return Ok(None);
    };
    section.at_most_one(&["limit", "either"])?;
    section.at_most_one(&["where", "either"])?;
    let size = section.read("size", Entry::count)?;
    let overload = match section.get("overload") {
        Some(classes) => classes.one_or_more()?.iter().map(class).collect::<Result<_>>()?,
        None => Vec::new(),
    };
    let ramp = section.read("ramp", effect)?;
    if let Some(either) = section.get("either") {
        let limits = either.items()?.iter().map(tied).collect::<Result<Vec<_>>>()?;
        if limits.len() < 2 {
            return Err(either.wrong("a list of at least two, such as [\"cpu@web\", \"bandwidth@web\"]"));
        }
        return Ok(Some(Expect { limits, size, overload, ramp }));
    }
    if section.get("limit").is_none() && !overload.is_empty() {
        section.at_most_one(&["overload", "where"])?;
        section.at_most_one(&["overload", "size"])?;
        return Ok(Some(Expect { limits: Vec::new(), size, overload, ramp }));
    }
    let Some(entry) = section.get("limit") else {
        return Err(section.missing("limit", "it says what the verdict should name"));
    };
    let limit = entry.string()?;
    if limit == "any" {
        // A variant removes the expectation of its file.
        section.at_most_one(&["limit", "where"])?;
        section.at_most_one(&["limit", "size"])?;
        return Ok(None);
    }
    let expected = Expected { limit: known(&entry, &limit)?, host: section.read("where", Entry::string)? };
    Ok(Some(Expect { limits: vec![expected], size, overload, ramp }))
}

fn known(entry: &Entry<'_>, name: &str) -> Result<Limit> {
    let unknown = || {
        let names = Limit::ALL.map(Limit::name);
        entry.wrong(&format!("a limit that a verdict can name; {}", instead(name, &names)))
    };
    Limit::from_name(name).ok_or_else(unknown)
}

fn class(entry: &Entry<'_>) -> Result<OverloadClass> {
    let name = entry.string()?;
    let names = OverloadClass::ALL.map(OverloadClass::name);
    OverloadClass::from_name(&name).ok_or_else(|| {
        entry.wrong(&format!("what becomes of a service under overload; {}", instead(&name, &names)))
    })
}

fn effect(entry: &Entry<'_>) -> Result<RampEffect> {
    let name = entry.string()?;
    let names = RampEffect::ALL.map(RampEffect::name);
    RampEffect::from_name(&name)
        .ok_or_else(|| entry.wrong(&format!("what a ramp changes; {}", instead(&name, &names))))
}

/// Reads a limit with its host, such as `cpu@web`.
fn tied(entry: &Entry<'_>) -> Result<Expected> {
    let text = entry.string()?;
    let (limit, host) =
        text.split_once('@').ok_or_else(|| entry.wrong("a limit and a host such as \"cpu@web\""))?;
    Ok(Expected { limit: known(entry, limit)?, host: Some(host.to_owned()) })
}
