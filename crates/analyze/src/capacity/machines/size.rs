//! The size of a machine: the properties that a user pays for.

use std::fmt;

use plimsoll_units::{bytes_text, parse_bandwidth};

use crate::{Resource, ResourceKind};

/// Sizes that differ by less than this ratio are equal: kernels round the speed of a link.
const SAME: f64 = 1e-3;

/// The size of one machine.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MachineSize {
    pub cores: Option<f64>,
    /// Capacity of its link for received bits per second; `None` where no limit is known.
    pub in_bits_per_sec: Option<f64>,
    /// Capacity of its link for sent bits per second; `None` where no limit is known.
    pub out_bits_per_sec: Option<f64>,
}

/// Selects the machine sizes for which a price is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SizeSelector {
    Cores(f64),
    /// A link of this many bits per second, in or out.
    Link(f64),
}

fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= SAME * one.max(other)
}

/// True if two sizes are the same, or neither is known.
pub(crate) fn is_one_size(one: Option<MachineSize>, other: Option<MachineSize>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.is_same_as(&other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

impl MachineSize {
    /// The size that these hosts share, without hosts of unknown size; `None` where no size is known, or they differ.
    pub(crate) fn of_hosts(resources: &[Resource], hosts: &[&str]) -> Option<Self> {
        let of_host = |host: &&str| {
            let most = |kind: ResourceKind| {
                let own = resources.iter().filter(|own| own.host == **host && own.kind == kind);
                own.filter(|own| !own.is_loopback()).filter_map(|own| own.capacity).reduce(f64::max)
            };
            Self {
                cores: most(ResourceKind::Cpu),
                in_bits_per_sec: most(ResourceKind::BandwidthIn),
                out_bits_per_sec: most(ResourceKind::BandwidthOut),
            }
        };
        let known: Vec<Self> = hosts.iter().map(of_host).filter(|size| !size.is_unknown()).collect();
        let first = known.first()?;
        known.iter().all(|size| size.is_same_as(first)).then_some(*first)
    }

    /// True if both sizes are equal within measurement error; unknown equals only unknown.
    pub fn is_same_as(&self, other: &Self) -> bool {
        let same = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => is_same(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        same(self.cores, other.cores)
            && same(self.in_bits_per_sec, other.in_bits_per_sec)
            && same(self.out_bits_per_sec, other.out_bits_per_sec)
    }

    /// True if it has less of something than the other, and more of nothing.
    pub(super) fn is_smaller_than(&self, other: &Self) -> bool {
        let pairs = [
            (self.cores, other.cores),
            (self.in_bits_per_sec, other.in_bits_per_sec),
            (self.out_bits_per_sec, other.out_bits_per_sec),
        ];
        let mut known = pairs.into_iter().filter_map(|(own, other)| Some((own?, other?)));
        let has_no_more = known.clone().all(|(own, other)| own <= other || is_same(own, other));
        has_no_more && known.any(|(own, other)| own < other && !is_same(own, other))
    }

    /// True if neither cores nor link are known.
    pub(super) fn is_unknown(&self) -> bool {
        self.is_same_as(&Self::default())
    }
}

impl fmt::Display for MachineSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = |per_sec: f64| format!("{}bit/s", bytes_text(per_sec).trim_end_matches('B'));
        let cores = self.cores.map(|cores| format!("{cores} core{}", if cores == 1.0 { "" } else { "s" }));
        let links = match (self.in_bits_per_sec, self.out_bits_per_sec) {
            (Some(into), Some(out)) if is_same(into, out) => vec![format!("link {}", bits(out))],
            (into, out) => {
                let way = |per_sec: Option<f64>, way: &str| {
                    per_sec.map(|per_sec| format!("link {way} {}", bits(per_sec)))
                };
                way(into, "in").into_iter().chain(way(out, "out")).collect()
            }
        };
        f.write_str(&cores.into_iter().chain(links).collect::<Vec<_>>().join(", "))
    }
}

impl SizeSelector {
    /// True if this selects machines of `size`.
    pub fn includes(self, size: &MachineSize) -> bool {
        let is = |amount: f64, own: Option<f64>| own.is_some_and(|own| is_same(own, amount));
        match self {
            Self::Cores(cores) => is(cores, size.cores),
            Self::Link(bits) => is(bits, size.in_bits_per_sec) || is(bits, size.out_bits_per_sec),
        }
    }

    /// Parses `0.5` as cores and `20Mbit` as a link; `None` for anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let cores = || text.parse().ok().filter(|cores: &f64| cores.is_finite() && *cores > 0.0);
        let link = parse_bandwidth(text).ok().map(|bits| Self::Link(bits as f64));
        link.or_else(|| cores().map(Self::Cores))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_selected_by_its_cores_or_by_its_link() {
        let size = MachineSize { cores: Some(0.5), out_bits_per_sec: Some(20e6), ..MachineSize::default() };
        let selects = |text: &str| SizeSelector::parse(text).unwrap().includes(&size);
        assert!(selects("0.5") && selects("20Mbit"));
        assert!(!selects("1") && !selects("40Mbit"));
        assert_eq!([SizeSelector::parse("large"), SizeSelector::parse("-1")], [None, None]);
        assert!(!size.is_same_as(&MachineSize { cores: Some(1.0), ..size }));
        assert_eq!(size.to_string(), "0.5 cores, link out 20.0 Mbit/s");
    }

    #[test]
    fn a_smaller_machine_has_less_of_something_and_more_of_nothing() {
        let size = MachineSize { cores: Some(0.5), out_bits_per_sec: Some(20e6), ..MachineSize::default() };
        let fewer_cores = MachineSize { cores: Some(0.25), ..size };
        assert!(fewer_cores.is_smaller_than(&size) && !size.is_smaller_than(&fewer_cores));
        assert!(!size.is_smaller_than(&size));
        let other = MachineSize { out_bits_per_sec: Some(40e6), ..fewer_cores };
        assert!(!other.is_smaller_than(&size) && !size.is_smaller_than(&other));
        let unknown = MachineSize { out_bits_per_sec: None, ..size };
        assert!(!unknown.is_smaller_than(&size), "what is not known is no less");
    }
}
