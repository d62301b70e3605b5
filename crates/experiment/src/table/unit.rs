//! Units as they stand in cells and headers of tables.

/// What a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dimension {
    /// Of something each second.
    Rate,
    Time,
    /// A part of a whole, 1 being all of it.
    Share,
    Bytes,
    BitRate,
    /// Processors in use.
    Cores,
}

/// A unit by its factor to the base of its dimension: 1/s, s, 1, bytes, bit/s, cores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    pub(super) dimension: Dimension,
    pub(super) base: f64,
}

/// What is read off a monitor may be a little more than all of it.
pub(super) const ALL: f64 = 1.05;

/// A share that is written from 0 to 1.
pub(super) const RATIO: Unit = Unit { dimension: Dimension::Share, base: 1.0 };

/// What stands after a number: a multiple such as `k`, a unit, or both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Suffix {
    pub(super) multiple: f64,
    pub(super) unit: Option<Unit>,
}

const TIMES: [(&[&str], f64); 5] = [
    (&["ns"], 1e-9),
    (&["us", "µs", "μs", "usec", "microseconds"], 1e-6),
    (&["ms", "msec", "millis", "milliseconds"], 1e-3),
    (&["s", "sec", "secs", "seconds"], 1.0),
    (&["min", "minutes"], 60.0),
];

/// Bits and bytes by their prefixes; tables rarely distinguish `kB` from `KB`, and a figure of a load test is not exact
/// enough to.
const SIZES: [(&[&str], f64); 7] = [
    (&["b", "byte", "bytes"], 1.0),
    (&["kb"], 1e3),
    (&["mb"], 1e6),
    (&["gb"], 1e9),
    (&["kib"], 1024.0),
    (&["mib"], 1_048_576.0),
    (&["gib"], 1_073_741_824.0),
];

const BIT_RATES: [(&[&str], f64); 7] = [
    (&["bit/s", "bps"], 1.0),
    (&["kbit/s", "kbps", "kbit"], 1e3),
    (&["mbit/s", "mbps", "mbit"], 1e6),
    (&["gbit/s", "gbps", "gbit"], 1e9),
    (&["kb/s", "kb/sec"], 8e3),
    (&["mb/s", "mb/sec"], 8e6),
    (&["gb/s", "gb/sec"], 8e9),
];

/// Rates of something; what is counted matters only to people.
const RATES: [&str; 18] = [
    "/s",
    "/sec",
    "/second",
    "rps",
    "qps",
    "tps",
    "cps",
    "iops",
    "req/s",
    "req/sec",
    "reqs/s",
    "requests/s",
    "requests/sec",
    "requests per second",
    "msg/s",
    "msg/sec",
    "ops/s",
    "ops/sec",
];

const CORES: [&str; 5] = ["cores", "core", "cpus", "vcpu", "vcpus"];

fn factor(units: &[(&[&str], f64)], name: &str) -> Option<f64> {
    units.iter().find(|(names, _)| names.contains(&name)).map(|(_, factor)| *factor)
}

/// A unit by its name, whatever its case.
pub(super) fn named(name: &str) -> Option<Unit> {
    let name = name.trim().to_lowercase();
    let name = name.as_str();
    let of = |dimension| move |base| Unit { dimension, base };
    let is_share = name == "%" || name == "percent";
    let is_rate = RATES.contains(&name) || name == "messages/s";
    factor(&TIMES, name)
        .map(of(Dimension::Time))
        .or_else(|| factor(&BIT_RATES, name).map(of(Dimension::BitRate)))
        .or_else(|| factor(&SIZES, name).map(of(Dimension::Bytes)))
        .or_else(|| is_share.then_some(Unit { dimension: Dimension::Share, base: 0.01 }))
        .or_else(|| is_rate.then_some(Unit { dimension: Dimension::Rate, base: 1.0 }))
        .or_else(|| CORES.contains(&name).then_some(Unit { dimension: Dimension::Cores, base: 1.0 }))
}

/// What stands after a number; `None` if it is neither a multiple nor a unit.
pub(super) fn read(text: &str) -> Option<Suffix> {
    if let Some(unit) = named(text) {
        return Some(Suffix { multiple: 1.0, unit: Some(unit) });
    }
    let mut letters = text.chars();
    let multiple = match letters.next()? {
        'k' | 'K' => 1e3,
        'm' | 'M' => 1e6,
        'g' | 'G' | 'b' | 'B' => 1e9,
        _ => return None,
    };
    let rest = letters.as_str().trim();
    let unit = if rest.is_empty() { None } else { Some(named(rest)?) };
    Some(Suffix { multiple, unit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_known_by_its_name_and_a_multiple_by_its_letter() {
        assert_eq!(named("MB/sec"), Some(Unit { dimension: Dimension::BitRate, base: 8e6 }));
        assert_eq!(named("µs").unwrap().base, 1e-6);
        assert_eq!(named("players"), None);
        assert_eq!(read("M"), Some(Suffix { multiple: 1e6, unit: None }));
        assert_eq!(read("ms").unwrap().unit.unwrap().base, 1e-3);
        assert_eq!(read("k req/s").unwrap().unit.unwrap().dimension, Dimension::Rate);
        assert_eq!(read("players"), None);
    }
}
