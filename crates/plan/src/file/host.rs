//! The parts of a plan file about hosts: those that exist, those that a lab makes, and the generator's.

use std::fmt;
use std::str::FromStr;

use toml::de::DeValue;

use super::entry::Entry;
use super::error::PlanFileError;
use super::section::Section;
use crate::{Capacity, PlanHost, Probe};

const KEYS: [&str; 11] =
    ["name", "tier", "cores", "link", "packets", "memory", "disk", "run", "ready", "start", "probe"];
/// Local ports begin at [`GeneratorSpec::FIRST_PORT`] and end with all ports.
const MAX_LOCAL_PORTS: u16 = u16::MAX - GeneratorSpec::FIRST_PORT;
const MEMORY: &str = "an amount of memory such as \"256MB\" or \"1GiB\"";
const DISK: &str = "the bytes a second that its disk reads and writes, such as \"4MB\" or \"512KiB\"";
const GENERATOR_KEYS: [&str; 7] = ["count", "cores", "link", "packets", "memory", "disk", "ports"];

/// The generator as a host of a lab, or several of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneratorSpec {
    /// How many hosts make the load together.
    pub count: u32,
    /// What each has; what is not given is the machine's.
    pub capacity: Capacity,
    /// The local ports that its connections may come from; `None` leaves the kernel's range.
    pub ports: Option<u16>,
}

impl Default for GeneratorSpec {
    /// One, with all that the machine has.
    fn default() -> Self {
        Self { count: 1, capacity: Capacity::default(), ports: None }
    }
}

impl GeneratorSpec {
    /// The most hosts that make a load together.
    pub const MAX_COUNT: u32 = 16;

    /// The names of the hosts: `generator`, `generator2` …
    pub fn names(&self) -> impl Iterator<Item = String> + use<> {
        let name = |number| match number {
            1 => PlanHost::GENERATOR.to_owned(),
            number => format!("{}{number}", PlanHost::GENERATOR),
        };
        (1..=self.count).map(name)
    }

    /// Where a given number of local ports begins: where the kernel's own range does.
    pub const FIRST_PORT: u16 = 32_768;
}

/// A host that a lab makes.
#[derive(Debug, Clone, PartialEq)]
pub struct LabHostSpec {
    /// Its name, which stands for its address in the lab.
    pub name: String,
    /// What it has; what is not given is the machine's.
    pub capacity: Capacity,
    /// What runs on it: a shell command each, started in this order, with their variables not yet filled in.
    pub run: Vec<String>,
    /// How it is known that they are ready; as soon as they run, if nothing is said.
    pub ready: Option<Ready>,
    /// True if its cores are capped only once all hosts of the lab are ready.
    pub starts_free: bool,
}

/// How it is known that what runs on a host is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ready {
    /// A port takes connections.
    Tcp(u16),
    /// A page is answered with success.
    Page {
        port: u16,
        /// The path, which begins with a slash.
        path: String,
    },
}

/// A text that says nothing of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a sign of a service; write \"tcp:80\" for a port that takes connections, or \"/path:80\" for a page"
)]
pub struct UnknownSign;

impl FromStr for Ready {
    type Err = UnknownSign;

    fn from_str(text: &str) -> Result<Self, UnknownSign> {
        let port = |text: &str| text.parse().ok().filter(|port: &u16| *port > 0).ok_or(UnknownSign);
        if let Some(number) = text.strip_prefix("tcp:") {
            return port(number).map(Self::Tcp);
        }
        let plain = text.starts_with('/') && !text.contains(|c: char| c.is_whitespace() || c.is_control());
        match text.rsplit_once(':') {
            _ if !plain => Err(UnknownSign),
            Some((path, number)) => Ok(Self::Page { port: port(number)?, path: path.to_owned() }),
            None => Ok(Self::Page { port: 80, path: text.to_owned() }),
        }
    }
}

impl fmt::Display for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(port) => write!(f, "tcp:{port}"),
            Self::Page { port, path } => write!(f, "{path}:{port}"),
        }
    }
}

/// The hosts of a file.
pub(super) struct Hosts {
    /// All of them, as the plan knows them.
    pub(super) plan: Vec<PlanHost>,
    /// Those that a lab makes.
    pub(super) lab: Vec<LabHostSpec>,
}

impl Hosts {
    /// Leaves those in the plan that the file says take part. A lab makes the others all the same: they are idle.
    pub(super) fn take_part(&mut self, file: &Section<'_, '_>) -> Result<(), PlanFileError> {
        let Some(with) = file.get("with") else { return Ok(()) };
        let names: Vec<&str> = self.plan.iter().map(|host| host.name.as_str()).collect();
        let one = |entry: &Entry<'_, '_>| {
            let name = entry.string()?;
            let known = names.contains(&name.as_str());
            known
                .then_some(name)
                .ok_or_else(|| entry.wrong(&format!("hosts of this file ({})", names.join(", "))))
        };
        let expected: Vec<String> = with.one_or_more()?.iter().map(one).collect::<Result<_, _>>()?;
        self.plan.retain(|host| expected.contains(&host.name));
        Ok(())
    }
}

pub(super) fn hosts(file: &Section<'_, '_>) -> Result<Hosts, PlanFileError> {
    let mut hosts = Hosts { plan: Vec::new(), lab: Vec::new() };
    for section in file.sections("host", &KEYS)? {
        let host = plan_host(&section)?;
        if hosts.plan.iter().any(|known| known.name.eq_ignore_ascii_case(&host.name)) {
            return Err(section.needed("name")?.wrong("a name that no other host has"));
        }
        let elsewhere = host.probes.iter().any(|probe| !matches!(probe, Probe::None));
        match (section.get("run"), elsewhere) {
            (None, true) => refuse_start(&section)?,
            (run, _) => hosts.lab.push(lab_host(&section, &host, run)?),
        }
        hosts.plan.push(host);
    }
    Ok(hosts)
}

/// What runs on a host that exists already is not ours to start, nor to wait for.
fn refuse_start(section: &Section<'_, '_>) -> Result<(), PlanFileError> {
    let of_start = [
        ("ready", "`ready` waits for what `run` starts; a host with only `probe` runs already"),
        ("start", "`start` says how what `run` starts is capped; a host with only `probe` runs already"),
    ];
    match of_start.into_iter().find(|(key, _)| section.get(key).is_some()) {
        None => Ok(()),
        Some((_, why)) => Err(section.missing("run", why)),
    }
}

fn plan_host(section: &Section<'_, '_>) -> Result<PlanHost, PlanFileError> {
    let name = section.needed("name")?;
    let text = name.string()?;
    if !is_host_name(&text) {
        return Err(name
            .wrong("letters, digits and inner hyphens, at most 63, and not `generator`: it stands in URLs"));
    }
    let mut host = PlanHost::named(&text);
    host.tier = section.get("tier").map(|tier| tier.string()).transpose()?;
    host.capacity = capacity(section)?;
    host.probes = section.get("probe").map(|probe| probes(&probe)).transpose()?.unwrap_or_default();
    Ok(host)
}

/// A label of a host's name (RFC 1123, 2.1), here also with underscores and dots in it.
fn is_host_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    let plain = bytes.len() <= 63 && bytes.iter().all(|byte| inner(*byte));
    plain && ends(bytes.first()) && ends(bytes.last()) && !PlanHost::is_generator(text)
}

fn probes(entry: &Entry<'_, '_>) -> Result<Vec<Probe>, PlanFileError> {
    let read = |entry: &Entry<'_, '_>| {
        let text = entry.string()?;
        // What was typed stands in the error itself, there without a password.
        text.parse().map_err(|error: crate::PlanHostError| entry.wrong_as("no probe", &error.to_string()))
    };
    entry.one_or_more()?.iter().map(read).collect()
}

fn lab_host(
    section: &Section<'_, '_>,
    host: &PlanHost,
    run: Option<Entry<'_, '_>>,
) -> Result<LabHostSpec, PlanFileError> {
    let commands = |run: Entry<'_, '_>| run.one_or_more()?.iter().map(Entry::string).collect();
    let ready = |entry: Entry<'_, '_>| {
        entry.string()?.parse().map_err(|_| entry.wrong("\"tcp:80\" (a port), or \"/path:80\" (a page)"))
    };
    Ok(LabHostSpec {
        name: host.name.clone(),
        capacity: host.capacity,
        run: run.map(commands).transpose()?.unwrap_or_default(),
        ready: section.get("ready").map(ready).transpose()?,
        starts_free: section.get("start").map_or(Ok(false), |start| starts_free(&start))?,
    })
}

fn starts_free(entry: &Entry<'_, '_>) -> Result<bool, PlanFileError> {
    match entry.string()?.as_str() {
        "free" => Ok(true),
        "capped" => Ok(false),
        _ => Err(entry.wrong(
            "\"free\" (its cores are capped once all hosts are ready) or \"capped\" (from the start)",
        )),
    }
}

fn capacity(section: &Section<'_, '_>) -> Result<Capacity, PlanFileError> {
    let cores = section.get("cores");
    let (link_out_bits_per_sec, link_in_bits_per_sec) = section.get("link").map_or(Ok((None, None)), link)?;
    Ok(Capacity {
        cores: cores.map(|cores| cores.positive("a number of cores above 0 such as 0.5 or 2")).transpose()?,
        link_out_bits_per_sec,
        link_in_bits_per_sec,
        packets_per_sec: section.get("packets").map(|packets| packets.count()).transpose()?,
        memory_bytes: section.get("memory").map(|memory| memory.bytes(MEMORY)).transpose()?,
        disk_bytes_per_sec: section.get("disk").map(|disk| disk.bytes(DISK)).transpose()?,
    })
}

/// One bandwidth for both ways, or one for each.
fn link(entry: Entry<'_, '_>) -> Result<(Option<u64>, Option<u64>), PlanFileError> {
    if !matches!(entry.value, DeValue::Table(_)) {
        let both = entry.bandwidth()?;
        return Ok((Some(both), Some(both)));
    }
    let section = entry.section(&["out", "in"])?;
    let way = |key: &str| section.get(key).map(|way| way.bandwidth()).transpose();
    Ok((way("out")?, way("in")?))
}

/// What the generator has in a lab.
pub(super) fn generator(file: &Section<'_, '_>) -> Result<GeneratorSpec, PlanFileError> {
    let Some(section) = file.section("generator", &GENERATOR_KEYS)? else {
        return Ok(GeneratorSpec::default());
    };
    let ports = section.get("ports").map(|ports| local_ports(&ports)).transpose()?;
    let count = section.get("count").map(|count| generators(&count)).transpose()?.unwrap_or(1);
    Ok(GeneratorSpec { count, capacity: capacity(&section)?, ports })
}

fn generators(entry: &Entry<'_, '_>) -> Result<u32, PlanFileError> {
    let most = GeneratorSpec::MAX_COUNT;
    let count = u32::try_from(entry.count()?).ok().filter(|count| (1..=most).contains(count));
    count.ok_or_else(|| entry.wrong(&format!("a number of hosts that make the load, from 1 to {most}")))
}

fn local_ports(entry: &Entry<'_, '_>) -> Result<u16, PlanFileError> {
    let count = u16::try_from(entry.count()?).ok();
    count
        .filter(|count| (1..=MAX_LOCAL_PORTS).contains(count))
        .ok_or_else(|| entry.wrong(&format!("a number of local ports, from 1 to {MAX_LOCAL_PORTS}")))
}
