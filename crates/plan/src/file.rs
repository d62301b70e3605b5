//! A plan file: a plan in TOML, the hosts of a lab to make it in, variants of it, and what is expected to be found.
//!
//! Reading goes through the tree with its places in the text, not through derived types, for two reasons: an error says
//! in which line, which key and what would be right; and a variant is laid over the tree before anything is read, so that
//! whatever may stand in a file may stand in a variant.

mod conclusions;
mod entry;
mod error;
mod expect;
mod host;
mod load;
mod overlay;
mod request;
mod row;
mod section;
mod switch;
mod target;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use toml::de::DeTable;

use crate::{Network, PlanSpec, ProfileSpec, ScenarioSpec};
pub use conclusions::{Compare, MachineGoal};
pub use error::{PlanFileError, Problem};
pub use expect::{Expect, Expected};
pub use host::{GeneratorSpec, LabHostSpec, Ready, UnknownSign};
pub use row::RowSpec;
use section::Section;
pub use switch::{Combinations, Positions, Switch, Turn};

/// The longest time for one request of a plan file: that of the command line.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);

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
    /// The generator's host in a lab.
    pub generator: GeneratorSpec,
    /// The same with other values here and there.
    pub variants: Vec<Variant>,
    /// The CPU profile to be taken at the plateau. In a lab its URL may name hosts as `${host:NAME}`.
    pub profile: Option<ProfileSpec>,
    /// What the verdict should be, if the file is a test.
    pub expect: Option<Expect>,
    /// False if a quick pass over all runs of the file leaves this one out.
    pub quick: bool,
    /// What the run is in a table of all runs of the file.
    pub row: Option<RowSpec>,
    /// What is turned on and off to see what it costs.
    pub switches: Vec<Switch>,
    /// In which combinations of them it is measured.
    pub combinations: Combinations,
    /// The run that those of the file and its variants are set against; `None` for a variant's own part.
    pub compare: Option<Compare>,
    /// The rate that machines are to be counted for by all runs of the file; `None` for a variant's own part.
    pub machines: Option<MachineGoal>,
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
const KEYS: [&str; 18] = [
    "name",
    "with",
    "quick",
    "target",
    "request",
    "load",
    "profile",
    "slo",
    "generator",
    "host",
    "expect",
    "row",
    "combinations",
    "switch",
    "variant",
    "compare",
    "machines",
    "about",
];

/// Those of them that a variant has not: what is said of the file and of all its runs together, and variants of its own.
const OF_ALL: usize = 4;

impl PlanFile {
    /// Reads a plan file.
    ///
    /// # Errors
    /// When it is not TOML, a key is not known or missing, or a value is not what its key needs. Whether the plan can be
    /// run is seen when it is frozen.
    pub fn parse(text: &str) -> Result<Self, PlanFileError> {
        Self::named(text, None)
    }

    /// Reads a plan file that is called `stem` where it gives itself no name.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn named(text: &str, stem: Option<&str>) -> Result<Self, PlanFileError> {
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
        file.take_name(stem);
        let names: Vec<&str> = file.variants.iter().map(|variant| variant.name.as_str()).collect();
        file.compare = conclusions::compare(&section, file.spec.name.as_deref(), &names)?;
        file.machines = conclusions::machines(&section)?;
        file.about = section.get("about").map(|about| about.one_line()).transpose()?;
        Ok(file)
    }

    /// The file and its variants are called so if they have no name.
    fn take_name(&mut self, stem: Option<&str>) {
        let all = std::iter::once(&mut self.spec)
            .chain(self.variants.iter_mut().map(|variant| &mut variant.file.spec));
        for spec in all.filter(|spec| spec.name.is_none()) {
            spec.name = stem.map(ToOwned::to_owned);
        }
    }

    /// Those of [`Self::all`] that a pass makes; a quick one leaves out what says so.
    pub fn of_pass(&self, quick: bool) -> impl Iterator<Item = (Option<&str>, &Self)> {
        self.all().filter(move |(_, file)| file.quick || !quick)
    }

    /// The plans of the file with their names: its own, then those of its variants.
    pub fn all(&self) -> impl Iterator<Item = (Option<&str>, &Self)> {
        let variants = self.variants.iter().map(|variant| (Some(variant.name.as_str()), &variant.file));
        std::iter::once((None, self)).chain(variants)
    }
}

/// The file with a variant laid over it. Its name stays that of the file, so that runs of one file lie together.
fn read_variant<'a>(
    text: &'a str,
    root: &DeTable<'a>,
    variant: &Section<'_, 'a>,
) -> Result<PlanFile, PlanFileError> {
    let mut over = variant.table().clone();
    over.remove("name");
    let mut whole = root.clone();
    whole.remove("variant");
    overlay::lay_over(text, &mut whole, &over)?;
    read(text, &whole)
}

fn read(text: &str, root: &DeTable<'_>) -> Result<PlanFile, PlanFileError> {
    let section = Section::new(text, root, &KEYS)?;
    let mut hosts = host::hosts(&section)?;
    // A variant whose hosts do not all take part inherits the names of those that do not.
    let row = row::row(&section, &hosts.plan)?;
    hosts.take_part(&section)?;
    let target = target::target(&section)?;
    let spec = PlanSpec {
        name: section.get("name").map(|name| name.name()).transpose()?,
        url: target.url,
        method: target.method,
        headers: target.headers,
        body: target.body,
        scenario: ScenarioSpec { requests: target.several.own, ..ScenarioSpec::default() },
        network: Network { keep_alive: target.keeps_alive, ..Network::default() },
        transport: target.transport,
        load: load::load(&section)?,
        warm: load::warm(&section)?,
        workers: None,
        timeout: TIMEOUT,
        connections_max: None,
        depth: None,
        seed: 1,
        driver: None,
        slo: load::slo(&section)?,
        hosts: hosts.plan,
    };
    let switches = switch::switches(&section)?;
    Ok(PlanFile {
        spec,
        requests: target.several.file,
        lab_hosts: hosts.lab,
        generator: host::generator(&section)?,
        variants: Vec::new(),
        profile: load::profile(&section)?,
        expect: expect::expect(&section)?,
        quick: section.get("quick").map_or(Ok(true), |quick| quick.boolean())?,
        row,
        combinations: switch::combinations(&section, &switches)?,
        switches,
        compare: None,
        machines: None,
        about: None,
    })
}
