//! The parts of a plan file about hosts: those that exist, those that a lab makes, and the generator's.

use std::fmt;

use super::entry::Entry;
use super::error::Result;
use super::section::Section;
use crate::{Capacity, PlanHost, PlanHostError, Probe, typed};

/// The generator as a host of a lab, or several of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneratorSpec {
    /// How many hosts make the load together; from 1 to [`Self::MAX_COUNT`].
    pub count: u16,
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
    pub const MAX_COUNT: u16 = 16;

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
    /// It stands for the host's address in the lab.
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
    /// A page, whose path begins with a slash, is answered with success.
    Page { port: u16, path: String },
}

impl Ready {
    fn parse(text: &str) -> Option<Self> {
        let port = |text: &str| typed::port(text).ok();
        if let Some(number) = text.strip_prefix("tcp:") {
            return port(number).map(Self::Tcp);
        }
        if !text.starts_with('/') || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return None;
        }
        let (path, number) = text.rsplit_once(':').unwrap_or((text, "80"));
        Some(Self::Page { port: port(number)?, path: path.to_owned() })
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
#[derive(Default)]
pub(super) struct Hosts {
    /// All of them, as the plan knows them.
    pub(super) plan: Vec<PlanHost>,
    /// Those that a lab makes.
    pub(super) lab: Vec<LabHostSpec>,
}

impl Hosts {
    /// Leaves those in the plan that the file says take part. A lab makes the others all the same: they are idle.
    pub(super) fn take_part(&mut self, file: &Section<'_>) -> Result<()> {
        let Some(with) = file.get("with") else { return Ok(()) };
        let names: Vec<&str> = self.plan.iter().map(|host| host.name.as_str()).collect();
        let expected = format!("hosts of this file ({})", names.join(", "));
        let mut taking_part = Vec::new();
        for entry in with.one_or_more()? {
            let name = entry.string()?;
            if !names.contains(&name.as_str()) {
                return Err(entry.wrong(&expected));
            }
            taking_part.push(name);
        }
        self.plan.retain(|host| taking_part.contains(&host.name));
        Ok(())
    }
}

pub(super) fn hosts(file: &Section<'_>) -> Result<Hosts> {
    let keys =
        ["name", "tier", "cores", "link", "packets", "memory", "disk", "run", "ready", "start", "probe"];
    let mut hosts = Hosts::default();
    for section in file.sections("host", &keys)? {
        let host = plan_host(&section)?;
        if hosts.plan.iter().any(|known| known.name.eq_ignore_ascii_case(&host.name)) {
            return Err(section.needed("name")?.wrong("a name that no other host has"));
        }
        let elsewhere = host.probes.iter().any(|probe| !matches!(probe, Probe::None));
        if elsewhere && section.get("run").is_none() {
            refuse_start(&section)?;
        } else {
            hosts.lab.push(lab_host(&section, &host)?);
        }
        hosts.plan.push(host);
    }
    Ok(hosts)
}

/// What runs on a host that exists already is not ours to start, nor to wait for.
fn refuse_start(section: &Section<'_>) -> Result<()> {
    for (key, why) in [
        ("ready", "`ready` waits for what `run` starts; a host with only `probe` runs already"),
        ("start", "`start` says how what `run` starts is capped; a host with only `probe` runs already"),
    ] {
        if section.get(key).is_some() {
            return Err(section.missing("run", why));
        }
    }
    Ok(())
}

fn plan_host(section: &Section<'_>) -> Result<PlanHost> {
    let name = section.needed("name")?;
    let text = name.string()?;
    if !is_host_name(&text) {
        return Err(name
            .wrong("letters, digits and inner hyphens, at most 63, and not `generator`: it stands in URLs"));
    }
    Ok(PlanHost {
        tier: section.read("tier", Entry::string)?,
        capacity: capacity(section)?,
        probes: section.read("probe", probes)?.unwrap_or_default(),
        ..PlanHost::named(&text)
    })
}

/// A label of a host's name (RFC 1123, 2.1), here also with underscores and dots in it.
fn is_host_name(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = |c: char| c.is_ascii_alphanumeric();
    let plain = text.len() <= 63 && text.chars().all(inner) && text.starts_with(end) && text.ends_with(end);
    plain && !PlanHost::is_generator(text)
}

fn probes(entry: &Entry<'_>) -> Result<Vec<Probe>> {
    let read = |entry: &Entry<'_>| {
        let text = entry.string()?;
        // What was typed stands in the error itself, there without a password.
        text.parse().map_err(|error: PlanHostError| entry.wrong_as("no probe", &error.to_string()))
    };
    entry.one_or_more()?.iter().map(read).collect()
}

fn lab_host(section: &Section<'_>, host: &PlanHost) -> Result<LabHostSpec> {
    let commands = |run: &Entry<'_>| run.one_or_more()?.iter().map(Entry::string).collect();
    let ready = |entry: &Entry<'_>| {
        let sign = Ready::parse(&entry.string()?);
        sign.ok_or_else(|| entry.wrong("\"tcp:80\" (a port), or \"/path:80\" (a page)"))
    };
    Ok(LabHostSpec {
        name: host.name.clone(),
        capacity: host.capacity,
        run: section.read("run", commands)?.unwrap_or_default(),
        ready: section.read("ready", ready)?,
        starts_free: section.read("start", starts_free)?.unwrap_or_default(),
    })
}

fn starts_free(entry: &Entry<'_>) -> Result<bool> {
    match entry.string()?.as_str() {
        "free" => Ok(true),
        "capped" => Ok(false),
        _ => Err(entry.wrong(
            "\"free\" (its cores are capped once all hosts are ready) or \"capped\" (from the start)",
        )),
    }
}

fn capacity(section: &Section<'_>) -> Result<Capacity> {
    const CORES: &str = "a number of cores above 0 such as 0.5 or 2";
    const MEMORY: &str = "an amount of memory such as \"256MB\" or \"1GiB\"";
    const DISK: &str = "the bytes a second that its disk reads and writes, such as \"4MB\" or \"512KiB\"";
    let (link_out_bits_per_sec, link_in_bits_per_sec) = section.read("link", link)?.unwrap_or_default();
    Ok(Capacity {
        cores: section.read("cores", |cores| cores.positive(CORES))?,
        link_out_bits_per_sec,
        link_in_bits_per_sec,
        packets_per_sec: section.read("packets", Entry::count)?,
        memory_bytes: section.read("memory", |memory| memory.bytes(MEMORY))?,
        disk_bytes_per_sec: section.read("disk", |disk| disk.bytes(DISK))?,
    })
}

/// One bandwidth for both ways, or one for each.
fn link(entry: &Entry<'_>) -> Result<(Option<u64>, Option<u64>)> {
    if !entry.value.is_table() {
        let both = entry.bandwidth()?;
        return Ok((Some(both), Some(both)));
    }
    let section = entry.section(&["out", "in"])?;
    Ok((section.read("out", Entry::bandwidth)?, section.read("in", Entry::bandwidth)?))
}

/// What the generator has in a lab.
pub(super) fn generator(file: &Section<'_>) -> Result<GeneratorSpec> {
    let keys = ["count", "cores", "link", "packets", "memory", "disk", "ports"];
    let Some(section) = file.section("generator", &keys)? else { return Ok(GeneratorSpec::default()) };
    let up_to = |entry: &Entry<'_>, most: u16, what: &str| {
        entry.count_up_to(most.into(), &format!("a number of {what}, from 1 to {most}"))
    };
    // Local ports begin at the first and end with all ports.
    let max_ports = u16::MAX - GeneratorSpec::FIRST_PORT;
    let ports = section.read("ports", |entry| up_to(entry, max_ports, "local ports"))?;
    let max_count = GeneratorSpec::MAX_COUNT;
    let count = section.read("count", |entry| up_to(entry, max_count, "hosts that make the load"))?;
    Ok(GeneratorSpec { count: count.unwrap_or(1), capacity: capacity(&section)?, ports })
}
