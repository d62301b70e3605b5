//! The limit that a control group has on a disk, and the bytes that the group read and wrote there.
//!
//! Without a limit the bytes are not reported, since version 1 counts them only while there is a limit.

/// A number for reads and one for writes; `None` where it is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Ways {
    pub(super) read: Option<u64>,
    pub(super) written: Option<u64>,
}

/// Limits in bytes per second on one device, which is identified by its major and minor number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limit<'a> {
    device: &'a str,
    pub(super) limit: Ways,
}

/// Parses the lines `254:0 rbps=max wbps=4000000 …` of `io.max` or `io.stat` (cgroup-v2 in the kernel's documentation).
fn lines_v2<'a>(text: &'a str, [read, written]: [&str; 2]) -> Vec<(&'a str, Ways)> {
    let value = |words: &str, name: &str| {
        let mut pairs = words.split_whitespace().filter_map(|word| word.split_once('='));
        pairs.find(|(known, _)| *known == name)?.1.parse().ok()
    };
    let line = |line: &'a str| {
        let (device, words) = line.split_once(' ')?;
        Some((device, Ways { read: value(words, read), written: value(words, written) }))
    };
    text.lines().filter_map(line).collect()
}

/// Returns the limit in `io.max` if exactly one device has one; `None` with several, since there is no single answer.
pub(super) fn limit_v2(text: &str) -> Option<Limit<'_>> {
    let mut limits = lines_v2(text, ["rbps", "wbps"]);
    limits.retain(|(_, limit)| *limit != Ways::default());
    match limits.as_slice() {
        [(device, limit)] => Some(Limit { device, limit: *limit }),
        _ => None,
    }
}

/// Returns the bytes read from and written to the device of a limit, from `io.stat`.
pub(super) fn carried_v2(text: &str, limit: &Limit<'_>) -> Ways {
    let lines = lines_v2(text, ["rbytes", "wbytes"]);
    lines.into_iter().find(|(device, _)| *device == limit.device).map_or_else(Ways::default, |(_, ways)| ways)
}

/// Returns the limit from `blkio.throttle.read_bps_device` and `…write_bps_device`, with lines `254:0 4000000`.
pub(super) fn limit_v1<'a>(reads: &'a str, writes: &'a str) -> Option<Limit<'a>> {
    let pairs = |text: &'a str| text.lines().filter_map(|line| line.split_once(' '));
    let device = pairs(reads).chain(pairs(writes)).next()?.0;
    let other = |(known, _): (&str, &str)| known != device;
    if pairs(reads).chain(pairs(writes)).any(other) {
        return None;
    }
    let number = |text| pairs(text).next()?.1.trim().parse().ok();
    Some(Limit { device, limit: Ways { read: number(reads), written: number(writes) } })
}

/// Returns the bytes read from and written to the device of a limit, from `blkio.throttle.io_service_bytes`, with lines
/// `254:0 Read 4096`.
pub(super) fn carried_v1(text: &str, limit: &Limit<'_>) -> Ways {
    let of = |way: &str| {
        let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines.find_map(|words| match words.as_slice() {
            [device, known, bytes] if *device == limit.device && *known == way => bytes.parse().ok(),
            _ => None,
        })
    };
    Ways { read: of("Read"), written: of("Write") }
}
