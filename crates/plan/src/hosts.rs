//! The hosts that a run crosses: their names, their probes, and their known capacities.

use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::name::{LOCAL_HOST, is_host_name};

mod cap;
mod error;
mod probe;

pub use cap::Cap;
pub use error::PlanHostError;
pub use probe::Probe;

/// One host that a run crosses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanHost {
    /// Its name in samples and reports.
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
    fn wrong(&self) -> Option<(&'static str, String)> {
        let cores = self.cores.filter(|cores| !(cores.is_finite() && *cores > 0.0));
        let counts = [
            ("link out", self.link_out_bits_per_sec),
            ("link in", self.link_in_bits_per_sec),
            ("number of packets a second", self.packets_per_sec),
            ("memory", self.memory_bytes),
            ("disk's speed", self.disk_bytes_per_sec),
        ];
        let zero = || counts.into_iter().find(|(_, value)| *value == Some(0));
        let cores = cores.map(|cores| ("number of cores", cores.to_string()));
        cores.or_else(|| zero().map(|(what, _)| (what, "0".to_owned())))
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
        Self {
            name: name.to_owned(),
            tier: None,
            address: None,
            probes: Vec::new(),
            capacity: Capacity::default(),
        }
    }

    /// Hosts with their probes, from probes with the names of their hosts, both in the order they came.
    pub fn gathered(probes: impl IntoIterator<Item = NamedProbe>) -> Vec<Self> {
        let mut hosts: Vec<Self> = Vec::new();
        for NamedProbe { host: name, probe } in probes {
            let known = hosts.iter().position(|host| host.name == name);
            let index = known.unwrap_or_else(|| {
                hosts.push(Self::named(&name));
                hosts.len() - 1
            });
            hosts[index].probes.push(probe);
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

/// The hosts of a plan, if their names differ and each is valid.
pub(crate) fn checked(hosts: Vec<PlanHost>) -> Result<Vec<PlanHost>, PlanHostError> {
    hosts.iter().try_for_each(PlanHost::check)?;
    let again = |(index, host): &(usize, &PlanHost)| {
        hosts[..*index].iter().any(|other| other.name.eq_ignore_ascii_case(&host.name))
    };
    match hosts.iter().enumerate().find(again) {
        Some((_, host)) => Err(PlanHostError::Twice(host.name.clone())),
        None => Ok(hosts),
    }
}

/// A probe with the name of its host, typed as `NAME=PROBE`; without a name it is that of the address, or
/// [`PlanHost::LOCAL`] for this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedProbe {
    /// The host's name.
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
