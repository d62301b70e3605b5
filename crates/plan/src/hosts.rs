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
    /// The role of the host, if given; all hosts of one tier play the same role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// The host's address, if known, to which other hosts connect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// The probes; empty for a host that is only named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<Probe>,
    /// The host's capacity, as far as it is known beforehand.
    #[serde(default, skip_serializing_if = "Capacity::is_unknown")]
    pub capacity: Capacity,
}

/// The capacity of a host according to the plan; `None` where it is not known.
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
    /// Bytes per second that the disk can read, and bytes per second that it can write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_bytes_per_sec: Option<u64>,
}

impl Capacity {
    /// True if no part is known.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// The first part with an invalid value, and that value.
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

/// One kind of cap, a part of a host's [`Capacity`].
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
    /// All caps, in the order of their declaration.
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

    /// The name in run files and JSON.
    pub fn name(self) -> &'static str {
        self.name_and_unit().0
    }

    /// The cap with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cap| cap.name() == name)
    }

    /// The unit of amounts, which are whole numbers; for cores a thousandth of a processor.
    pub fn unit(self) -> &'static str {
        self.name_and_unit().1
    }

    /// The amount in `capacity`, in [`Self::unit`]; `None` if it is not capped.
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

    /// A capacity with only this amount set.
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
    /// The default name of this machine.
    pub const LOCAL: &str = LOCAL_HOST;
    /// The name of the machine that makes the load; no host of a plan may have it.
    pub const GENERATOR: &str = "generator";

    /// True for the names of machines that make the load: `generator`, `generator2` …
    pub fn is_generator(name: &str) -> bool {
        let lower = name.to_ascii_lowercase();
        lower.strip_prefix(Self::GENERATOR).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// A host with this name and nothing else set.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Groups named probes by host, in the order of the input.
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

/// Checks each host, and that their names differ.
pub(crate) fn check(hosts: &[PlanHost]) -> Result<(), PlanHostError> {
    hosts.iter().try_for_each(PlanHost::check)?;
    for (index, host) in hosts.iter().enumerate() {
        if hosts[..index].iter().any(|other| other.name.eq_ignore_ascii_case(&host.name)) {
            return Err(PlanHostError::Twice(host.name.clone()));
        }
    }
    Ok(())
}

/// A probe with the name of its host, typed as `NAME=PROBE`. Without a name, the host is named after the probe's address, or
/// [`PlanHost::LOCAL`] for this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedProbe {
    pub host: String,
    pub probe: Probe,
}

impl FromStr for NamedProbe {
    type Err = PlanHostError;

    fn from_str(text: &str) -> Result<Self, PlanHostError> {
        // A URL's query may hold an equals sign too, but only after characters that no name holds.
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
