//! The part of a plan file that makes it a test: what the verdict should be.

use super::entry::Entry;
use super::error::{PlanFileError, instead};
use super::section::Section;

const KEYS: [&str; 4] = ["limit", "where", "size", "either"];

/// What a verdict can name as the limit.
const LIMITS: [&str; 15] = [
    "cpu",
    "thread",
    "quota",
    "bandwidth",
    "packets",
    "disk",
    "memory",
    "connections",
    "pool",
    "lock",
    "dependency",
    "refused",
    "generator",
    "none",
    "unknown",
];

/// What a variant says to take back what its file expects.
const ANY: &str = "any";

/// One limit that a verdict should name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// What limits, such as `cpu`.
    pub limit: String,
    /// On which host; `None` if that does not matter.
    pub host: Option<String>,
}

/// What the verdict should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expect {
    /// The limit; if several are too close to be distinguished, the verdict must name all of them.
    pub limits: Vec<Expected>,
    /// The size of a pool.
    pub size: Option<u64>,
}

pub(super) fn expect(file: &Section<'_, '_>) -> Result<Option<Expect>, PlanFileError> {
    let Some(section) = file.section("expect", &KEYS)? else { return Ok(None) };
    section.at_most_one(&["limit", "either"])?;
    section.at_most_one(&["where", "either"])?;
    let size = section.get("size").map(|size| size.count()).transpose()?;
    if let Some(either) = section.get("either") {
        let limits = either.items()?.iter().map(tied).collect::<Result<Vec<_>, _>>()?;
        if limits.len() < 2 {
            return Err(either.wrong("a list of at least two, such as [\"cpu@web\", \"bandwidth@web\"]"));
        }
        return Ok(Some(Expect { limits, size }));
    }
    let entry = section
        .get("limit")
        .ok_or_else(|| section.missing("limit", "it says what the verdict should name"))?;
    let limit = entry.string()?;
    if limit == ANY {
        section.at_most_one(&["limit", "where"])?;
        section.at_most_one(&["limit", "size"])?;
        return Ok(None);
    }
    let limit = known(&entry, limit)?;
    let host = section.get("where").map(|host| host.string()).transpose()?;
    Ok(Some(Expect { limits: vec![Expected { limit, host }], size }))
}

fn known(entry: &Entry<'_, '_>, limit: String) -> Result<String, PlanFileError> {
    if LIMITS.contains(&limit.as_str()) {
        return Ok(limit);
    }
    Err(entry.wrong(&format!("a limit that a verdict can name; {}", instead(&limit, &LIMITS))))
}

/// `cpu@web`.
fn tied(entry: &Entry<'_, '_>) -> Result<Expected, PlanFileError> {
    let text = entry.string()?;
    let (limit, host) =
        text.split_once('@').ok_or_else(|| entry.wrong("a limit and a host such as \"cpu@web\""))?;
    Ok(Expected { limit: known(entry, limit.to_owned())?, host: Some(host.to_owned()) })
}
