//! The input: the rate of requests and the use of resources at common instants.

/// A ratio that a monitoring system reports may exceed 1 up to this value.
const MAX_OF_ALL: f64 = 1.05;

/// The unit of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountUnit {
    Cores,
    BitsPerSec,
    Bytes,
    /// A fraction of the whole, from 0 to 1.
    Ratio,
    Count,
}

impl AmountUnit {
    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cores => "cores",
            Self::BitsPerSec => "bits_per_sec",
            Self::Bytes => "bytes",
            Self::Ratio => "ratio",
            Self::Count => "count",
        }
    }
}

/// The kind of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProductionKind {
    HostCpu,
    /// The busiest processor of a host. It is no limit, since the kernel moves work between processors; a thread may be one.
    BusiestCore,
    HostMemory,
    Disk,
    NetworkOut,
    NetworkIn,
    Conntrack,
    OpenFiles,
    ContainerCpu,
    /// The share of periods in which a container had used up its quota. It does not grow linearly with the rate.
    ContainerThrottled,
    ContainerMemory,
    ContainerNetworkOut,
    ContainerNetworkIn,
    ProcessCpu,
    Descriptors,
    /// A resource that the user names.
    Named,
}

impl ProductionKind {
    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HostCpu => "host_cpu",
            Self::BusiestCore => "busiest_core",
            Self::HostMemory => "host_memory",
            Self::Disk => "disk",
            Self::NetworkOut => "network_out",
            Self::NetworkIn => "network_in",
            Self::Conntrack => "conntrack",
            Self::OpenFiles => "open_files",
            Self::ContainerCpu => "container_cpu",
            Self::ContainerThrottled => "container_throttled",
            Self::ContainerMemory => "container_memory",
            Self::ContainerNetworkOut => "container_network_out",
            Self::ContainerNetworkIn => "container_network_in",
            Self::ProcessCpu => "process_cpu",
            Self::Descriptors => "descriptors",
            Self::Named => "named",
        }
    }

    /// True if the service stops growing where this is full.
    pub const fn limits(self) -> bool {
        !matches!(self, Self::BusiestCore | Self::ContainerThrottled)
    }
}

/// The use of one resource on one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceSeries {
    pub kind: ProductionKind,
    /// The interface, the container or the user's name; empty for a resource that a host has once.
    pub of: String,
    /// The host, the pod or the process; `None` where there is only one.
    pub instance: Option<String>,
    pub unit: AmountUnit,
    /// The size of the displayed unit in `unit`: 1e6 for a column of megabytes. A capacity without a unit is in the displayed unit.
    pub scale: f64,
    /// One value for each instant; `None` where it is unknown, which is never taken as 0.
    pub usage: Vec<Option<f64>>,
    /// The last known capacity, in `unit`.
    pub capacity: Option<f64>,
}

impl ResourceSeries {
    /// The name in commands: `host_cpu`, `network_out:eth0`, or the name that the user gave.
    pub fn name(&self) -> String {
        resource_name(self.kind, &self.of)
    }

    /// True if a name matches this series: its own, or its own with `@` and its instance. `*` matches any text.
    fn is_called(&self, name: &str) -> bool {
        let own = self.name();
        let on_instance = || self.instance.as_ref().map(|instance| format!("{own}@{instance}"));
        is_named(&own, name) || name.contains('@') && on_instance().is_some_and(|own| is_named(&own, name))
    }
}

/// The name of a resource in commands.
pub(super) fn resource_name(kind: ProductionKind, of: &str) -> String {
    match (kind, of) {
        (ProductionKind::Named, of) => of.to_owned(),
        (kind, "") => kind.name().to_owned(),
        (kind, of) => format!("{}:{of}", kind.name()),
    }
}

/// True if a text matches a pattern in which `*` matches any text, including none.
fn is_named(text: &str, name: &str) -> bool {
    let Some((start, rest)) = name.split_once('*') else { return text == name };
    let Some(text) = text.strip_prefix(start) else { return false };
    let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.any(|at| is_named(&text[at..], rest))
}

/// True if a name, in which `*` matches any text, may mean one of the user's `own` resources, or a resource of one of these kinds.
pub fn may_name(name: &str, own: &[&str], kinds: &[ProductionKind]) -> bool {
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    let of_kind = name.split_once(':').map_or(name, |(kind, _)| kind);
    own.iter().any(|own| is_named(own, name)) || kinds.iter().any(|kind| is_named(kind.name(), of_kind))
}

/// A capacity that the user states.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StatedCapacity {
    pub value: f64,
    /// The typed unit; `None` for the displayed unit.
    pub unit: Option<AmountUnit>,
}

/// The record of a monitoring system, at equidistant instants.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProductionSeries {
    /// The first instant, in seconds since 1970 (UTC).
    pub start_sec: f64,
    /// Seconds between two instants.
    pub step_sec: f64,
    /// Requests per second, one for each instant; `None` where unknown.
    pub rate_per_sec: Vec<Option<f64>>,
    pub resources: Vec<ResourceSeries>,
}

impl ProductionSeries {
    /// The time of an instant given by its index, in seconds since 1970 (UTC).
    pub(super) fn instant_sec(&self, place: usize) -> f64 {
        self.start_sec + self.step_sec * place as f64
    }

    /// True if a resource matches this name, in which `*` matches any text.
    pub fn has(&self, name: &str) -> bool {
        self.resources.iter().any(|resource| resource.is_called(name))
    }

    /// Removes the resources that match these names, in which `*` matches any text; `NAME@INSTANCE` is one instance.
    pub fn leave_out(&mut self, names: &[String]) {
        self.resources.retain(|resource| !names.iter().any(|name| resource.is_called(name)));
    }

    /// The highest use of a resource of this name, if the stated capacity is a ratio and that use exceeds it: the series may be in per
    /// cent.
    pub fn beyond_share(&self, name: &str, stated: StatedCapacity) -> Option<f64> {
        if stated.unit != Some(AmountUnit::Ratio) {
            return None;
        }
        let is_meant = |one: &&ResourceSeries| one.unit == AmountUnit::Count && one.name() == name;
        let uses = self.resources.iter().filter(is_meant).flat_map(|one| one.usage.iter().flatten());
        uses.copied().reduce(f64::max).filter(|highest| *highest > MAX_OF_ALL * stated.value.max(1.0))
    }

    /// Sets the capacity of each instance of a resource; false if no resource has the name, or only in another unit. A series without a
    /// unit gets that of the capacity.
    pub fn set_capacity(&mut self, name: &str, stated: StatedCapacity) -> bool {
        let fits = |resource: &ResourceSeries| match stated.unit {
            Some(unit) => [unit, AmountUnit::Count].contains(&resource.unit),
            None => true,
        };
        let named = self.resources.iter_mut().filter(|resource| resource.name() == name && fits(resource));
        let mut count = 0;
        for resource in named {
            let scale = if stated.unit.is_some() { 1.0 } else { resource.scale };
            resource.capacity = Some(stated.value * scale);
            resource.unit = stated.unit.unwrap_or(resource.unit);
            count += 1;
        }
        count > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_in_a_name_stands_for_any_text() {
        assert!(is_named("container_memory:shop/cache", "container_memory:*"));
        assert!(is_named("container_memory:shop/cache", "*:shop/c*e"));
        assert!(is_named("host_cpu", "host_cpu") && is_named("host_cpu", "*host_cpu*"));
        assert!(
            !is_named("host_cpu", "cpu") && !is_named("host_cpu", "host") && !is_named("host_cpu", "cpu*")
        );
        assert!(is_named("Füllung %", "F*%") && !is_named("Füllung %", "F*l"));
    }

    fn disks() -> ProductionSeries {
        let disk = |instance: &str| ResourceSeries {
            kind: ProductionKind::Disk,
            of: "sda".to_owned(),
            instance: Some(instance.to_owned()),
            unit: AmountUnit::Ratio,
            scale: 1.0,
            usage: Vec::new(),
            capacity: Some(1.0),
        };
        ProductionSeries { resources: vec![disk("web1:9100"), disk("web2:9100")], ..Default::default() }
    }

    #[test]
    fn a_name_with_an_instance_leaves_out_that_one() {
        let left = |name: &str| {
            let mut series = disks();
            series.leave_out(&[name.to_owned()]);
            series.resources.into_iter().filter_map(|disk| disk.instance).collect::<Vec<_>>()
        };
        assert_eq!(left("disk:sda@web1:9100"), ["web2:9100"]);
        assert!(left("disk:*@*:9100").is_empty() && left("disk:sda").is_empty());
        assert_eq!(left("*9100").len(), 2);
    }

    #[test]
    fn values_above_1_are_no_shares_unless_the_capacity_is() {
        let mut series = disks();
        let disk = &mut series.resources[0];
        (disk.unit, disk.usage) = (AmountUnit::Count, vec![Some(0.2), None, Some(3.1)]);
        let beyond = |value, unit| series.beyond_share("disk:sda", StatedCapacity { value, unit });
        assert_eq!(beyond(0.9, Some(AmountUnit::Ratio)), Some(3.1));
        assert_eq!((beyond(4.0, Some(AmountUnit::Ratio)), beyond(0.9, None)), (None, None));
    }

    #[test]
    fn a_name_may_mean_what_was_not_read() {
        let kinds = [ProductionKind::ContainerMemory, ProductionKind::HostCpu];
        let may_mean = |name: &str| may_name(name, &["pool"], &kinds);
        for right in ["pool", "po*", "pool@a", "container_memory:*", "*:shop/*", "host_cpu@web1:9100"] {
            assert!(may_mean(right), "{right}");
        }
        for wrong in ["disk:sdb", "container:a", "container_cpu:a", "pools"] {
            assert!(!may_mean(wrong), "{wrong}");
        }
    }
}
