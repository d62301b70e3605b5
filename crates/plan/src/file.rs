//! A plan file: a plan in TOML, the hosts of a lab to make it in, variants of it, and what is expected to be found.
//!
//! Reading goes through the tree with its places in the text, not through derived types, for two reasons: an error says
//! in which line, which key and what would be right; and a variant is laid over the tree before anything is read, so that
//! whatever may stand in a file may stand in a variant.

mod conclusions;
mod entry;
mod error;
mod expect;
mod fleet;
mod host;
mod load;
mod overlay;
mod overload;
mod section;
mod switch;
mod target;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use toml::de::DeTable;

use crate::{OverloadSpec, PlanSpec, ProfileSpec, Protector};
use entry::Entry;
use error::Result;
use section::Section;

pub use conclusions::{Compare, MachineGoal, RowSpec};
pub use error::{PlanFileError, Problem};
pub use expect::{Expect, Expected};
pub use fleet::FleetSpec;
pub use host::{GeneratorSpec, LabHostSpec, Ready};
pub use switch::{Combinations, Positions, Switch, Turn};

/// What a plan file says.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanFile {
    /// The plan, with the hosts of the file. A body that begins with `@` names a file, as on the command line; so may that
    /// of each of its requests.
    pub spec: PlanSpec,
    /// A file of requests that the plan is to have, if it has none of its own.
    pub requests: Option<PathBuf>,
    /// The hosts that a lab makes; all others exist already.
    pub lab_hosts: Vec<LabHostSpec>,
    pub generator: GeneratorSpec,
    pub variants: Vec<Variant>,
    /// The CPU profile to be taken at the plateau. In a lab its URL may name hosts as `${host:NAME}`.
    pub profile: Option<ProfileSpec>,
    /// The program whose settings, from the run of the file before this one, take the place of `${protection}` in the commands
    /// of hosts.
    pub protect: Option<Protector>,
    /// What the verdict should be, if the file is a test.
    pub expect: Option<Expect>,
    /// False if a quick pass over all runs of the file leaves this one out.
    pub quick: bool,
    pub row: Option<RowSpec>,
    pub switches: Vec<Switch>,
    pub combinations: Combinations,
    /// The run that those of the file and its variants are set against; `None` for a variant's own part.
    pub compare: Option<Compare>,
    /// The rate that machines are to be counted for by all runs of the file; `None` for a variant's own part.
    pub machines: Option<MachineGoal>,
    /// The fleet that makes the load, if this process does not; `None` for a variant's own part.
    pub fleet: Option<FleetSpec>,
    /// What the file asks, in one line, for lists of files; `None` for a variant's own part.
    pub about: Option<String>,
}

/// A variant of a plan file.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    pub name: String,
    /// The whole file with the variant's values, without variants of its own.
    pub file: PlanFile,
}

/// The keys of a file.
const KEYS: [&str; 20] = [
    "name",
    "with",
    "quick",
    "target",
    "request",
    "load",
    "profile",
    "slo",
    "overload",
    "generator",
    "host",
    "expect",
    "row",
    "combinations",
    "switch",
    "variant",
    "compare",
    "machines",
    "fleet",
    "about",
];

/// Those of them that a variant has not: what is said of the file and of all its runs together, and variants of its own.
const OF_ALL: usize = 5;

impl PlanFile {
    /// True if its hosts are made in a lab: one of them runs something.
    pub fn makes_hosts(&self) -> bool {
        self.lab_hosts.iter().any(|host| !host.run.is_empty())
    }

    /// Reads a plan file.
    ///
    /// # Errors
    /// When it is not TOML, a key is not known or missing, or a value is not what its key needs. Whether the plan can be
    /// run is seen when it is frozen.
    pub fn parse(text: &str) -> Result<Self> {
        Self::named(text, None)
    }

    /// Reads a plan file that is called `stem` where it gives itself no name.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn named(text: &str, stem: Option<&str>) -> Result<Self> {
        let root = DeTable::parse(text).map_err(|error| PlanFileError::syntax(text, &error))?.into_inner();
        let mut file = read(text, &root)?;
        let section = Section::new(text, &root, &KEYS)?;
        for variant in section.sections("variant", &KEYS[..KEYS.len() - OF_ALL])? {
            let name = variant.needed("name")?.name()?;
            if file.variants.iter().any(|known| known.name == name) {
                return Err(variant.needed("name")?.wrong("a name that no other variant has"));
            }
            file.variants.push(Variant { name, file: read_variant(text, &root, &variant)? });
        }
        let specs = file.variants.iter_mut().map(|variant| &mut variant.file.spec).chain([&mut file.spec]);
        for spec in specs.filter(|spec| spec.name.is_none()) {
            spec.name = stem.map(ToOwned::to_owned);
        }
        let names: Vec<&str> = file.variants.iter().map(|variant| variant.name.as_str()).collect();
        file.compare = conclusions::compare(&section, file.spec.name.as_deref(), &names)?;
        file.machines = conclusions::machines(&section)?;
        file.fleet = fleet::fleet(&section)?;
        file.about = section.read("about", Entry::one_line)?;
        Ok(file)
    }

    /// The plans of the file with their names: its own, then those of its variants.
    pub fn all(&self) -> impl Iterator<Item = (Option<&str>, &Self)> {
        let variants = self.variants.iter().map(|variant| (Some(variant.name.as_str()), &variant.file));
        std::iter::once((None, self)).chain(variants)
    }

    /// Those of [`Self::all`] that a pass makes; a quick one leaves out what says so.
    pub fn of_pass(&self, quick: bool) -> impl Iterator<Item = (Option<&str>, &Self)> {
        self.all().filter(move |(_, file)| file.quick || !quick)
    }
}

/// The file with a variant laid over it. Its name stays that of the file, so that runs of one file lie together.
fn read_variant<'s>(text: &'s str, root: &DeTable<'s>, variant: &Section<'s>) -> Result<PlanFile> {
    let mut over = variant.table.clone();
    over.remove("name");
    let mut whole = root.clone();
    whole.remove("variant");
    overlay::lay_over(text, &mut whole, &over)?;
    read(text, &whole)
}

fn read(text: &str, root: &DeTable<'_>) -> Result<PlanFile> {
    let section = Section::new(text, root, &KEYS)?;
    let mut hosts = host::hosts(&section)?;
    // A variant whose hosts do not all take part inherits the names of those that do not.
    let row = conclusions::row(&section, &hosts.plan)?;
    hosts.take_part(&section)?;
    let mut spec = PlanSpec::new("", load::doubling(None, load::BUDGET));
    spec.group = row.as_ref().and_then(|row| row.group.clone());
    let requests = target::target(&section, &mut spec)?;
    spec.name = section.read("name", Entry::name)?;
    let (overload, protect) = overload::overload(&section)?;
    let budget = if overload.is_some() { OverloadSpec::SEARCH_BUDGET } else { load::BUDGET };
    (spec.load, spec.warm) = load::load(&section, budget)?;
    spec.search = load::search(&section, &spec.load)?;
    let slo = load::slo(&section)?;
    match spec.search {
        Some(_) => spec.search_within(slo),
        None => spec.judge_by(slo),
    }
    if let Some(overload) = overload {
        spec.overload_with(overload);
    }
    spec.hosts = hosts.plan;
    let switches = switch::switches(&section)?;
    Ok(PlanFile {
        spec,
        requests,
        lab_hosts: hosts.lab,
        generator: host::generator(&section)?,
        variants: Vec::new(),
        profile: load::profile(&section)?,
        protect,
        expect: expect::expect(&section)?,
        quick: section.read("quick", Entry::boolean)?.unwrap_or(true),
        row,
        combinations: switch::combinations(&section, &switches)?,
        switches,
        compare: None,
        machines: None,
        fleet: None,
        about: None,
    })
}
