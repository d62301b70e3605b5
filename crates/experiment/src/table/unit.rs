//! Units in cells and headers of tables.

/// The quantity that a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dimension {
    /// A number of events per second.
    Rate,
    Time,
    /// A part of a whole; 1 is all of it.
    Share,
    Bytes,
    BitRate,
    /// Processors in use.
    Cores,
}

/// A unit, as a factor to the base unit of its dimension: 1/s, s, 1, bytes, bit/s, cores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    pub(super) dimension: Dimension,
    pub(super) base: f64,
}

/// The highest share that still counts as all: readings of a monitor may be slightly above 100 %.
pub(super) const ALL: f64 = 1.05;

/// A share as a ratio, from 0 to 1.
pub(super) const RATIO: Unit = Unit { dimension: Dimension::Share, base: 1.0 };

/// The text after a number: a multiple such as `k`, a unit, or both.
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

/// Prefixes of bits and bytes, in any case; longer ones first.
const PREFIXES: [(&str, f64); 9] = [
    ("ki", 1024.0),
    ("mi", 1_048_576.0),
    ("gi", 1_073_741_824.0),
    ("ti", 1_099_511_627_776.0),
    ("k", 1e3),
    ("m", 1e6),
    ("g", 1e9),
    ("t", 1e12),
    ("", 1.0),
];

/// Suffixes that turn an amount into a rate per second; longer ones first.
const PER_SECOND: [&str; 4] = ["/second", "/sec", "/s", "ps"];

/// Units of rates; what they count does not matter here.
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

/// Splits a unit of data into its multiple and `b`, `bits` or the like.
fn of_data(text: &str) -> Option<(f64, &str)> {
    PREFIXES.iter().find_map(|(prefix, multiple)| {
        let (start, unit) = text.split_at_checked(prefix.len())?;
        let is_unit =
            ["b", "bit", "bits", "byte", "bytes"].iter().any(|known| unit.eq_ignore_ascii_case(known));
        (start.eq_ignore_ascii_case(prefix) && is_unit).then_some((*multiple, unit))
    })
}

/// Parses a bit rate; returns bits per second. Case matters here: dashboards write `Mb/s` for bits and `MB/s` for bytes. `Mbit` alone
/// is a rate too, and `MBPS` counts bits.
fn bit_rate(name: &str) -> Option<f64> {
    let (amount, end) = PER_SECOND
        .iter()
        .find_map(|end| {
            let (amount, last) = name.split_at_checked(name.len().checked_sub(end.len())?)?;
            last.eq_ignore_ascii_case(end).then_some((amount, last))
        })
        .unwrap_or((name, ""));
    let (multiple, unit) = of_data(amount)?;
    let is_bytes = unit == "B" && end != "PS" || unit.to_ascii_lowercase().starts_with("by");
    let is_rate = !end.is_empty() || multiple > 1.0 && unit.to_ascii_lowercase().starts_with("bit");
    is_rate.then_some(if is_bytes { 8.0 * multiple } else { multiple })
}

/// Parses an amount of data in bytes, in any case. Tables rarely distinguish `kB` from `KB` or `kb`, and load test figures are not
/// exact enough for that to matter.
fn bytes(name: &str) -> Option<f64> {
    let (multiple, unit) = of_data(name)?;
    (!unit.to_ascii_lowercase().starts_with("bit")).then_some(multiple)
}

/// The unit with this name; case is ignored, except for data rates.
pub(super) fn named(name: &str) -> Option<Unit> {
    let written = name.trim();
    let name = written.to_lowercase();
    let name = name.as_str();
    let of = |dimension| move |base| Unit { dimension, base };
    let is_share = name == "%" || name == "percent";
    let is_rate = RATES.contains(&name) || name == "messages/s";
    factor(&TIMES, name)
        .map(of(Dimension::Time))
        .or_else(|| bit_rate(written).map(of(Dimension::BitRate)))
        .or_else(|| bytes(name).map(of(Dimension::Bytes)))
        .or_else(|| is_share.then_some(Unit { dimension: Dimension::Share, base: 0.01 }))
        .or_else(|| is_rate.then_some(Unit { dimension: Dimension::Rate, base: 1.0 }))
        .or_else(|| CORES.contains(&name).then_some(Unit { dimension: Dimension::Cores, base: 1.0 }))
}

/// Parses the text after a number; `None` if it is neither a multiple nor a unit.
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

    #[test]
    fn rates_of_data_are_in_bits_or_bytes_by_their_case() {
        let bits = |names: &[&str], base: f64| {
            for name in names {
                assert_eq!(named(name), Some(Unit { dimension: Dimension::BitRate, base }), "{name}");
                assert_eq!(read(name).unwrap().multiple, 1.0, "{name}");
            }
        };
        bits(&["b/s", "bit/s", "bits/sec", "bps"], 1.0);
        bits(&["B/s", "bytes/s", "Byte/second", "Bps"], 8.0);
        bits(&["kb/s", "Kb/s", "kbit", "Kbps"], 1e3);
        bits(&["kB/s", "KB/sec"], 8e3);
        bits(&["Mb/s", "mb/s", "Mbit/s", "mbps", "MBPS"], 1e6);
        bits(&["MB/s", "MBps", "mB/s"], 8e6);
        bits(&["Mib/s"], 1_048_576.0);
        bits(&["MiB/s"], 8.0 * 1_048_576.0);
        bits(&["Gb/s", "Gbit"], 1e9);
        bits(&["TiB/s"], 8.0 * 1_099_511_627_776.0);
    }

    #[test]
    fn amounts_of_data_are_in_bytes() {
        let sizes = [
            ("B", 1.0),
            ("kb", 1e3),
            ("MB", 1e6),
            ("mib", 1_048_576.0),
            ("TB", 1e12),
            ("TiB", 1_099_511_627_776.0),
        ];
        for (name, base) in sizes {
            assert_eq!(named(name), Some(Unit { dimension: Dimension::Bytes, base }), "{name}");
        }
        for none in ["bit", "bits", "mob", "ps", "/s/s", "xB/s", "µb"] {
            assert_eq!(named(none), None, "{none}");
        }
    }
}
