//! The parts of a plan file about hosts: existing ones, hosts that a lab makes, and the generator's.

use std::fmt;

use super::entry::Entry;
use super::error::Result;
use super::section::Section;
use crate::{Capacity, PlanHost, PlanHostError, Probe, typed};

/// The hosts of a lab that make the load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneratorSpec {
    /// The number of hosts that make the load together; from 1 to [`Self::MAX_COUNT`].
    pub count: u16,
    /// The capacity of each host; a part that is not given is the machine's.
    pub capacity: Capacity,
    /// The number of local ports that its connections may use; `None` leaves the kernel's range.
    pub ports: Option<u16>,
}

impl Default for GeneratorSpec {
    /// One host with the full capacity of the machine.
    fn default() -> Self {
        Self { count: 1, capacity: Capacity::default(), ports: None }
    }
}

impl GeneratorSpec {
    /// The most hosts that can make a load together.
    pub const MAX_COUNT: u16 = 16;

    /// The names of the hosts: `generator`, `generator2` …
    pub fn names(&self) -> impl Iterator<Item = String> + use<> {
        let name = |number| match number {
            1 => PlanHost::GENERATOR.to_owned(),
            number => format!("{}{number}", PlanHost::GENERATOR),
        };
        (1..=self.count).map(name)
    }

    /// The first local port if a number of ports is given: the start of the kernel's own range.
    pub const FIRST_PORT: u16 = 32_768;
}

/// A host to make in a lab.
#[derive(Debug, Clone, PartialEq)]
pub struct LabHostSpec {
    /// The name, which stands for the host's address in the lab.
    pub name: String,
    /// The capacity; a part that is not given is the machine's.
    pub capacity: Capacity,
    /// The shell commands to run on the host, started in this order; their variables are not yet filled in.
    pub run: Vec<String>,
    /// The readiness check; with `None` the host is ready as soon as its commands run.
    pub ready: Option<Ready>,
    /// True if the host's cores are capped only once all hosts of the lab are ready.
    pub starts_free: bool,
}

/// A readiness check of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ready {
    /// The port accepts connections.
    Tcp(u16),
    /// A GET of the page, whose path begins with a slash, is answered with success.
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
    /// All hosts, in the form of the plan.
    pub(super) plan: Vec<PlanHost>,
    /// The hosts that a lab makes.
    pub(super) lab: Vec<LabHostSpec>,
}

impl Hosts {
    /// Removes hosts that do not take part from the plan, if the file names those that do. A lab still makes the others: they are
    /// idle.
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

/// Refuses keys about starting commands, because an existing host already runs.
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

/// True for a host name label (RFC 1123, 2.1); inner underscores and dots are also allowed.
fn is_host_name(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = |c: char| c.is_ascii_alphanumeric();
    let plain = text.len() <= 63 && text.chars().all(inner) && text.starts_with(end) && text.ends_with(end);
    plain && !PlanHost::is_generator(text)
}

fn probes(entry: &Entry<'_>) -> Result<Vec<Probe>> {
    let read = |entry: &Entry<'_>| {
        let text = entry.string()?;
        // The error contains the typed text, but no password.
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

/// Reads one bandwidth for both directions, or one for each.
fn link(entry: &Entry<'_>) -> Result<(Option<u64>, Option<u64>)> {
    if !entry.value.is_table() {
        let both = entry.bandwidth()?;
        return Ok((Some(both), Some(both)));
    }
    let section = entry.section(&["out", "in"])?;
    Ok((section.read("out", Entry::bandwidth)?, section.read("in", Entry::bandwidth)?))
}

/// Reads the capacity of the generator in a lab.
pub(super) fn generator(file: &Section<'_>) -> Result<GeneratorSpec> {
    let keys = ["count", "cores", "link", "packets", "memory", "disk", "ports"];
    let Some(section) = file.section("generator", &keys)? else { return Ok(GeneratorSpec::default()) };
    let up_to = |entry: &Entry<'_>, most: u16, what: &str| {
        entry.count_up_to(most.into(), &format!("a number of {what}, from 1 to {most}"))
    };
    // Local ports range from the first one to 65535.
    let max_ports = u16::MAX - GeneratorSpec::FIRST_PORT;
    let ports = section.read("ports", |entry| up_to(entry, max_ports, "local ports"))?;
    let max_count = GeneratorSpec::MAX_COUNT;
    let count = section.read("count", |entry| up_to(entry, max_count, "hosts that make the load"))?;
    Ok(GeneratorSpec { count: count.unwrap_or(1), capacity: capacity(&section)?, ports })
}
