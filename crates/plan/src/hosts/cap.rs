//! One part of what a host has, by itself: what can be raised while everything else stays.

use serde::{Deserialize, Serialize};

use super::Capacity;

/// One cap of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    /// Processors.
    Cores,
    /// Bits per second that leave the host.
    LinkOut,
    /// Bits per second that reach the host.
    LinkIn,
    /// Packets per second, each way.
    Packets,
    Memory,
    /// Bytes per second that are read from disk, and as many that are written.
    Disk,
}

impl Cap {
    /// Every cap.
    pub const ALL: [Self; 6] =
        [Self::Cores, Self::LinkOut, Self::LinkIn, Self::Packets, Self::Memory, Self::Disk];

    /// The word for it in run files and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cores => "cores",
            Self::LinkOut => "link_out",
            Self::LinkIn => "link_in",
            Self::Packets => "packets",
            Self::Memory => "memory",
            Self::Disk => "disk",
        }
    }

    /// The cap of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cap| cap.name() == name)
    }

    /// The unit of its amounts, which are whole numbers: thousandths of a processor, bits per second, packets per second,
    /// bytes, bytes per second.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Cores => "cores_milli",
            Self::LinkOut | Self::LinkIn => "bits_per_sec",
            Self::Packets => "packets_per_sec",
            Self::Memory => "bytes",
            Self::Disk => "bytes_per_sec",
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cap_is_found_by_its_name_and_in_a_capacity_that_is_only_it() {
        for cap in Cap::ALL {
            assert_eq!(Cap::named(cap.name()), Some(cap));
            let has: Vec<Cap> =
                Cap::ALL.into_iter().filter(|other| other.of(&cap.alone(1500)) == Some(1500)).collect();
            assert_eq!(has, [cap]);
        }
        assert_eq!(Cap::named("threads"), None);
    }
}
