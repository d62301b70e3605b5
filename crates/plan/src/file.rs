//! A plan file: a plan in TOML, the hosts of its lab, variants, and the expected findings.
//!
//! The parser walks the TOML tree with its positions in the text and does not use derived types, for two reasons: an error
//! names the line, the key and a valid value; and a variant is laid over the tree before anything is read, so that a variant
//! may hold anything that a file may hold.

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

/// The contents of a plan file.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanFile {
    /// The plan, with the hosts of the file. A body that begins with `@` names a file, as on the command line; the same holds for
    /// the body of each request.
    pub spec: PlanSpec,
    /// A file with the requests of the plan, if the plan file has none itself.
    pub requests: Option<PathBuf>,
    /// The hosts that a lab makes; all other hosts exist already.
    pub lab_hosts: Vec<LabHostSpec>,
    pub generator: GeneratorSpec,
    pub variants: Vec<Variant>,
    /// The CPU profile to take at the plateau. In a lab its URL may name hosts as `${host:NAME}`.
    pub profile: Option<ProfileSpec>,
    /// The program whose settings replace `${protection}` in the commands of hosts. The settings follow from the file's previous
    /// run.
    pub protect: Option<Protector>,
    /// The expected verdict, if the file is a test.
    pub expect: Option<Expect>,
    /// False if a quick pass over the file's runs leaves this run out.
    pub quick: bool,
    pub row: Option<RowSpec>,
    pub switches: Vec<Switch>,
    pub combinations: Combinations,
    /// The runs that all other runs of the file are compared with; `None` in a variant.
    pub compare: Option<Compare>,
    /// The rate for which the file's runs together give the number of machines; `None` in a variant.
    pub machines: Option<MachineGoal>,
    /// The fleet that makes the load, if this process does not; `None` in a variant.
    pub fleet: Option<FleetSpec>,
    /// The question that the file answers, in one line, for lists of files; `None` in a variant.
    pub about: Option<String>,
}

/// A variant of a plan file.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    pub name: String,
    /// The whole file with the variant's values; it has no variants itself.
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

/// The number of keys, at the end of [`KEYS`], that a variant cannot have: they concern the file and all of its runs together.
const OF_ALL: usize = 5;

impl PlanFile {
    /// True if a lab makes its hosts, which is so if one of them runs a command.
    pub fn makes_hosts(&self) -> bool {
        self.lab_hosts.iter().any(|host| !host.run.is_empty())
    }

    /// Reads a plan file.
    ///
    /// # Errors
    /// When the text is not TOML, a key is unknown or missing, or a value does not fit its key. Freezing the plan checks whether
    /// it can be run.
    pub fn parse(text: &str) -> Result<Self> {
        Self::named(text, None)
    }

    /// Reads a plan file; `stem` is its name if the file does not set one.
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

    /// The file's own plan with the name `None`, then its variants with their names.
    pub fn all(&self) -> impl Iterator<Item = (Option<&str>, &Self)> {
        let variants = self.variants.iter().map(|variant| (Some(variant.name.as_str()), &variant.file));
        std::iter::once((None, self)).chain(variants)
    }

    /// The items of [`Self::all`] that a pass runs; a quick pass leaves out files with `quick = false`.
    pub fn of_pass(&self, quick: bool) -> impl Iterator<Item = (Option<&str>, &Self)> {
        self.all().filter(move |(_, file)| file.quick || !quick)
    }
}

/// The file with a variant laid over it. It keeps the file's name, so that the runs of one file are stored together.
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
    // `row` may name hosts that do not take part, because a variant with fewer hosts inherits it.
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
