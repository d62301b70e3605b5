//! The hosts that were sampled: the use of their resources, and the components on them.

use plimsoll_analyze::{
    ComponentFigure, ComponentLoad, FigureUnit, Findings, Resource, ResourceKind, Throttled, Unread,
    WatchedHost, watched_hosts,
};
use plimsoll_record::Run;
use plimsoll_units::{bytes_text, count_text, escape_control, grouped, share_text, significant};

use super::paragraph::{fact, wrapped};
use super::tiers;
use crate::amount::{bits, counted, if_known, list, load_of, plateau_position};

/// Resources that matter only when they are nearly full are not shown below this utilisation.
const PART_NOTED: f64 = 0.5;
/// A disk is not shown below this utilisation.
const DISK_NOTED: f64 = 0.05;
/// A direction of an interface is not shown below this rate, bits per second, unless its link is half full.
const BITS_NOTED: f64 = 1e6;
/// A core is listed if its utilisation exceeds that of the host by this.
const CORE_APART: f64 = 0.25;
/// Throttling is not shown below this share of the periods.
const THROTTLING_NOTED: f64 = 0.01;

/// Returns the tiers, and each host at the plateau; empty if no host was sampled.
pub(super) fn block(run: &Run, findings: &Findings) -> String {
    let Some(position) = plateau_position(findings) else { return String::new() };
    let hosts = watched_hosts(run, &findings.steps, position);
    let texts: String = hosts.iter().map(|host| host_text(findings, position, host)).collect();
    let tiers = tiers::drawing(&findings.topology);
    if texts.is_empty() {
        return tiers;
    }
    let load = load_of(&findings.steps[position]);
    let cost = hosts.iter().filter_map(|host| host.probe_cores).reduce(|a, b| a + b);
    let cost = if_known(cost, |cores| format!(" (sampling them took {} of a core here)", share_text(cores)));
    tiers + &wrapped("", "  ", &format!("Hosts at {load}{cost}:")) + &texts
}

fn host_text(findings: &Findings, position: usize, host: &WatchedHost) -> String {
    let used = Used::new(&findings.resources, &host.name, position);
    let mut parts: Vec<String> = [used.cpu(), used.core(), used.thread()].into_iter().flatten().collect();
    parts.extend(used.quotas());
    parts.extend(host.throttled.iter().filter_map(throttled));
    parts.extend(used.way("out", ResourceKind::BandwidthOut, ResourceKind::PacketsOut));
    parts.extend(used.way("in", ResourceKind::BandwidthIn, ResourceKind::PacketsIn));
    parts.extend(used.memory());
    parts.extend(used.full());
    let mut lines: Vec<String> = (!parts.is_empty()).then(|| parts.join("; ")).into_iter().collect();
    lines.extend(host.components.iter().map(component));
    lines.extend(host.unread.iter().map(unread));
    let names = std::iter::once(host.name.as_str()).chain(std::iter::repeat(""));
    names.zip(lines).map(|(name, line)| fact(name, &escape_control(&line))).collect()
}

/// The resources of one host at one step.
struct Used<'a> {
    rows: Vec<(&'a Resource, f64)>,
    position: usize,
}

impl<'a> Used<'a> {
    fn new(resources: &'a [Resource], host: &str, position: usize) -> Self {
        let ours = resources.iter().filter(|resource| resource.host == host);
        let rows = ours.filter_map(|resource| Some((resource, (*resource.used.get(position)?)?)));
        Self { rows: rows.collect(), position }
    }

    fn rows_of(&self, kind: ResourceKind) -> impl Iterator<Item = &(&'a Resource, f64)> {
        self.rows.iter().filter(move |(resource, _)| resource.kind == kind)
    }

    fn most_of(&self, kind: ResourceKind) -> Option<&(&'a Resource, f64)> {
        self.rows_of(kind).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn part(&self, resource: &Resource) -> Option<f64> {
        resource.utilisation(self.position)
    }

    fn cpu(&self) -> Option<String> {
        let (resource, used) = self.most_of(ResourceKind::Cpu)?;
        Some(match self.part(resource).zip(resource.capacity) {
            Some((part, cores)) => format!("CPU {} of {}", share_text(part), cores_text(cores)),
            None => format!("CPU {} in use", cores_text(*used)),
        })
    }

    /// Describes a core that is much busier than the host.
    fn core(&self) -> Option<String> {
        let (resource, used) = self.most_of(ResourceKind::Core)?;
        let (cpu, _) = self.most_of(ResourceKind::Cpu)?;
        let apart = *used > self.part(cpu)? + CORE_APART;
        apart.then(|| format!("{} {}", resource.part, share_text(*used)))
    }

    fn thread(&self) -> Option<String> {
        let (resource, used) = self.most_of(ResourceKind::Thread)?;
        Some(format!("hottest thread {} {} of a core", resource.part, share_text(*used)))
    }

    fn quotas(&self) -> impl Iterator<Item = String> {
        self.rows_of(ResourceKind::Quota).filter_map(|(resource, _)| {
            let (part, cores) = (self.part(resource)?, resource.capacity?);
            let noted = part >= PART_NOTED;
            let (group, part, cores) = (&resource.part, share_text(part), cores_text(cores));
            noted.then(|| format!("{group} {part} of its quota of {cores}"))
        })
    }

    /// Describes one direction of the busiest interface: bits, its capacity, and packets.
    fn way(&self, way: &str, bandwidth: ResourceKind, packets: ResourceKind) -> Option<String> {
        let (link, used) = self.most_of(bandwidth)?;
        let frames = self.rows_of(packets).find(|(row, _)| row.part == link.part);
        let full = |row: &Resource| self.part(row).is_some_and(|part| part >= PART_NOTED);
        if *used < BITS_NOTED && !full(link) && !frames.is_some_and(|(row, _)| full(row)) {
            return None;
        }
        let frames = if_known(frames, |(row, used)| {
            format!(" ({}{} packets/s)", count_text(*used), of_capacity(row, count_text))
        });
        Some(format!("{way} {}{}{frames}", bits(*used), of_capacity(link, bits)))
    }

    fn memory(&self) -> Option<String> {
        let (resource, used) = self.most_of(ResourceKind::Memory)?;
        Some(format!("memory {}{}", bytes_text(*used), of_capacity(resource, bytes_text)))
    }

    /// Describes resources that matter only when they are nearly full.
    fn full(&self) -> Vec<String> {
        let nearly =
            |noted: f64| move |row: &&(&Resource, f64)| self.part(row.0).is_some_and(|part| part >= noted);
        let disks = self.rows_of(ResourceKind::Disk).filter(nearly(DISK_NOTED));
        let disks =
            disks.map(|(disk, used)| format!("disk {} busy {} of the time", disk.part, share_text(*used)));
        let kinds = [
            (ResourceKind::Descriptors, "descriptors"),
            (ResourceKind::AcceptQueue, "connections not accepted yet"),
            (ResourceKind::Connections, "connections"),
        ];
        let held = kinds.into_iter().flat_map(|(kind, noun)| {
            let rows = self.rows_of(kind).filter(nearly(PART_NOTED));
            rows.map(move |(row, used)| {
                format!("{} {}{} {noun}", row.part, level_text(*used), of_capacity(row, level_text))
            })
        });
        let capped = [(ResourceKind::DiskRead, "read"), (ResourceKind::DiskWrite, "written")];
        let capped = capped.into_iter().flat_map(|(kind, done)| {
            let rows = self.rows_of(kind).filter(nearly(PART_NOTED));
            rows.map(move |(row, used)| {
                format!("disk {}/s{}/s {done}", bytes_text(*used), of_capacity(row, bytes_text))
            })
        });
        disks.chain(capped).chain(held).collect()
    }
}

/// ` of 200 Mbit/s`; empty if the capacity is not known.
fn of_capacity(resource: &Resource, text: fn(f64) -> String) -> String {
    if_known(resource.capacity, |capacity| format!(" of {}", text(capacity)))
}

/// Formats a number of things; a small mean keeps its decimals.
fn level_text(value: f64) -> String {
    if value.fract() == 0.0 || value >= 9.95 { grouped(value.round() as u64) } else { significant(value) }
}

fn cores_text(cores: f64) -> String {
    let amount = significant(cores);
    let amount =
        if amount.contains('.') { amount.trim_end_matches('0').trim_end_matches('.') } else { &amount };
    format!("{amount} {}", if amount == "1" { "core" } else { "cores" })
}

fn throttled(throttled: &Throttled) -> Option<String> {
    let group = if throttled.group.is_empty() { String::new() } else { format!("{} ", throttled.group) };
    let text = || format!("{group}throttled in {} of its periods", share_text(throttled.ratio));
    (throttled.ratio >= THROTTLING_NOTED).then(text)
}

fn component(component: &ComponentLoad) -> String {
    let figures = list(component.figures.iter().map(figure), ", ");
    format!("{} {}: {figures}", component.source, component.address)
}

fn figure(ComponentFigure { name, value, unit }: &ComponentFigure) -> String {
    match unit {
        FigureUnit::PerSec => format!("{} {name}/s", count_text(*value)),
        FigureUnit::Count => format!("{} {name}", level_text(*value)),
        FigureUnit::Bytes => format!("{} {name}", bytes_text(*value)),
        FigureUnit::Ratio => format!("{} {name}", share_text(*value)),
    }
}

/// Describes a source that could not be read: the reason, and how often if some reads succeeded.
fn unread(Unread { source, times, read, why }: &Unread) -> String {
    if *read == 0 {
        return format!("{source} could not be read: {why}");
    }
    let failed = counted(*times, "reading");
    format!("{source}: {failed} of {} failed, the first one because {why}", times + read)
}
