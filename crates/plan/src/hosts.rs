//! The hosts that a run crosses: their names, their probes, and their known capacities.

use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::PlanHostError;
use crate::name::{LOCAL_HOST, is_host_name};

mod probe;
mod workload;

pub use probe::Probe;
pub use workload::{Workload, WorkloadKind};

/// One host that a run crosses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanHost {
    pub name: String,
    /// The role that it plays, if it was given one; hosts of one tier play the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// Its address, if it is known: what other hosts connect to when they use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// Its probes; empty for a host that is only named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<Probe>,
    /// What it can do at most, as far as that is known beforehand.
    #[serde(default, skip_serializing_if = "Capacity::is_unknown")]
    pub capacity: Capacity,
}

/// What a host can do at most, as the plan says; what it does not say is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Capacity {
    /// Processors; half of one is 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<f64>,
    /// Bits per second that leave the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_out_bits_per_sec: Option<u64>,
    /// Bits per second that reach the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_in_bits_per_sec: Option<u64>,
    /// Packets per second, each way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets_per_sec: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Bytes per second that its disk reads, and as many that it writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_bytes_per_sec: Option<u64>,
}

impl Capacity {
    /// True if nothing of it is known.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// The first part that no host has, with its value.
    fn wrong(&self) -> Option<(&'static str, f64)> {
        let whole = |amount: Option<u64>| amount.map(|amount| amount as f64);
        let amounts = [
            ("number of cores", self.cores),
            ("link out", whole(self.link_out_bits_per_sec)),
            ("link in", whole(self.link_in_bits_per_sec)),
            ("number of packets a second", whole(self.packets_per_sec)),
            ("memory", whole(self.memory_bytes)),
            ("disk's speed", whole(self.disk_bytes_per_sec)),
        ];
        let is_wrong = |amount: &f64| !(amount.is_finite() && *amount > 0.0);
        amounts.into_iter().find_map(|(what, amount)| Some((what, amount.filter(is_wrong)?)))
    }
}

/// One cap of a host, a part of its [`Capacity`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    Cores,
    LinkOut,
    LinkIn,
    Packets,
    Memory,
    Disk,
}

impl Cap {
    /// Every cap.
    pub const ALL: [Self; 6] =
        [Self::Cores, Self::LinkOut, Self::LinkIn, Self::Packets, Self::Memory, Self::Disk];

    fn name_and_unit(self) -> (&'static str, &'static str) {
        match self {
            Self::Cores => ("cores", "cores_milli"),
            Self::LinkOut => ("link_out", "bits_per_sec"),
            Self::LinkIn => ("link_in", "bits_per_sec"),
            Self::Packets => ("packets", "packets_per_sec"),
            Self::Memory => ("memory", "bytes"),
            Self::Disk => ("disk", "bytes_per_sec"),
        }
    }

    /// The word for it in run files and JSON.
    pub fn name(self) -> &'static str {
        self.name_and_unit().0
    }

    /// The cap of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cap| cap.name() == name)
    }

    /// The unit of its amounts, which are whole numbers; that of cores is a thousandth of a processor.
    pub fn unit(self) -> &'static str {
        self.name_and_unit().1
    }

    /// How much of it a host has, in its unit; `None` where it is not capped.
    pub fn of(self, capacity: &Capacity) -> Option<u64> {
        match self {
            Self::Cores => capacity.cores.map(|cores| (cores * 1000.0).round() as u64),
            Self::LinkOut => capacity.link_out_bits_per_sec,
            Self::LinkIn => capacity.link_in_bits_per_sec,
            Self::Packets => capacity.packets_per_sec,
            Self::Memory => capacity.memory_bytes,
            Self::Disk => capacity.disk_bytes_per_sec,
        }
    }

    /// A capacity that says nothing but this amount.
    pub fn alone(self, amount: u64) -> Capacity {
        let nothing = Capacity::default();
        match self {
            Self::Cores => Capacity { cores: Some(amount as f64 / 1000.0), ..nothing },
            Self::LinkOut => Capacity { link_out_bits_per_sec: Some(amount), ..nothing },
            Self::LinkIn => Capacity { link_in_bits_per_sec: Some(amount), ..nothing },
            Self::Packets => Capacity { packets_per_sec: Some(amount), ..nothing },
            Self::Memory => Capacity { memory_bytes: Some(amount), ..nothing },
            Self::Disk => Capacity { disk_bytes_per_sec: Some(amount), ..nothing },
        }
    }
}

impl PlanHost {
    /// The name of this machine where nothing else was chosen.
    pub const LOCAL: &str = LOCAL_HOST;
    /// The name of the machine that makes the load, which no host of a plan has.
    pub const GENERATOR: &str = "generator";

    /// True for the names of machines that make the load: `generator`, `generator2` …
    pub fn is_generator(name: &str) -> bool {
        let lower = name.to_ascii_lowercase();
        lower.strip_prefix(Self::GENERATOR).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// A host of this name of which nothing else is known.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Hosts with their probes, from probes with the names of their hosts, both in the order they came.
    pub fn gathered(probes: impl IntoIterator<Item = NamedProbe>) -> Vec<Self> {
        let mut hosts: Vec<Self> = Vec::new();
        for NamedProbe { host: name, probe } in probes {
            match hosts.iter_mut().find(|host| host.name == name) {
                Some(host) => host.probes.push(probe),
                None => hosts.push(Self { probes: vec![probe], ..Self::named(&name) }),
            }
        }
        hosts
    }

    fn check(&self) -> Result<(), PlanHostError> {
        if !is_host_name(&self.name) || Self::is_generator(&self.name) {
            return Err(PlanHostError::Name(self.name.clone()));
        }
        if self.probes.len() > 1 && self.probes.contains(&Probe::None) {
            return Err(PlanHostError::NoneAndOthers(self.name.clone()));
        }
        match self.capacity.wrong() {
            Some((what, value)) => Err(PlanHostError::Capacity { host: self.name.clone(), what, value }),
            None => Ok(()),
        }
    }
}

/// Checks that the names of hosts differ, and each host by itself.
pub(crate) fn check(hosts: &[PlanHost]) -> Result<(), PlanHostError> {
    hosts.iter().try_for_each(PlanHost::check)?;
    for (index, host) in hosts.iter().enumerate() {
        if hosts[..index].iter().any(|other| other.name.eq_ignore_ascii_case(&host.name)) {
            return Err(PlanHostError::Twice(host.name.clone()));
        }
    }
    Ok(())
}

/// A probe with the name of its host, typed as `NAME=PROBE`; without a name it is that of the address, or
/// [`PlanHost::LOCAL`] for this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedProbe {
    pub host: String,
    pub probe: Probe,
}

impl FromStr for NamedProbe {
    type Err = PlanHostError;

    fn from_str(text: &str) -> Result<Self, PlanHostError> {
        // An equals sign may also stand in a URL's query, after what no name holds.
        match text.split_once('=').filter(|(before, _)| !before.contains([':', '/'])) {
            Some((name, probe)) => {
                let host = PlanHost::named(name.trim());
                host.check()?;
                Ok(Self { host: host.name, probe: probe.parse()? })
            }
            None => {
                let probe: Probe = text.parse()?;
                Ok(Self { host: probe.host_name(), probe })
            }
        }
    }
}

#[cfg(test)]
mod tests;
