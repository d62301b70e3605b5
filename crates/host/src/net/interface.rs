//! Traffic of each network interface, from `/proc/net/dev`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use plimsoll_record::metric::interface;
use plimsoll_record::{CounterSet, Metric, Source, Subject};

use crate::collector::{Collector, Read, text};

/// The columns that are read, counted from the first after an interface's name.
const COLUMNS: [(usize, Metric); 6] = [
    (0, interface::RECEIVED_BYTES),
    (1, interface::RECEIVED_PACKETS),
    (3, interface::RECEIVED_DROPPED),
    (8, interface::SENT_BYTES),
    (9, interface::SENT_PACKETS),
    (11, interface::SENT_DROPPED),
];

/// Returns a collector of the bytes, packets and drops of each interface in the network namespace whose files are in the folder
/// `net`, and of the speed of interfaces whose hardware reports it. `devices` is the folder of the machine's interfaces; `None`
/// for another namespace. The loopback is read only if there is no other interface.
pub(crate) fn collector(net: &Path, devices: Option<PathBuf>) -> Collector {
    let file = net.join("dev");
    // The speed of a link is read only once: the hardware may answer slowly.
    let mut speeds: HashMap<String, Option<u64>> = HashMap::new();
    Collector::subjects(Source::Interface, move || {
        let text = text(&file)?;
        let mut found: Vec<(&str, CounterSet)> = text.lines().filter_map(counters).collect();
        if found.iter().any(|(name, _)| *name != "lo") {
            found.retain(|(name, _)| *name != "lo");
        }
        let read = |(name, mut counters): (&str, CounterSet)| {
            if !speeds.contains_key(name) {
                let speed = devices.as_deref().and_then(|devices| speed(&devices.join(name)));
                speeds.insert(name.to_owned(), speed);
            }
            counters.put(interface::SPEED_BITS_PER_SEC, speeds.get(name).copied().flatten());
            Read::new(Source::Interface, Subject::Named(name), Ok(counters))
        };
        Ok(found.into_iter().map(read).collect())
    })
}

/// Returns the speed in bits per second. The file holds megabits, and -1 for links that are down or virtual. Pairs of virtual
/// interfaces and tunnels make up a number, so only hardware, or a bond of hardware, is trusted.
fn speed(device: &Path) -> Option<u64> {
    if !device.join("device").exists() && !device.join("bonding").exists() {
        return None;
    }
    let mbit: u64 = text(&device.join("speed")).ok()?.trim().parse().ok()?;
    Some(mbit * 1_000_000).filter(|speed| *speed > 0)
}

/// Parses an interface's name and counters.
fn counters(line: &str) -> Option<(&str, CounterSet)> {
    let (name, values) = line.split_once(':')?;
    let values: Vec<u64> = values.split_ascii_whitespace().map_while(|value| value.parse().ok()).collect();
    let taken = COLUMNS.iter().map(|(at, metric)| Some((*metric, *values.get(*at)?)));
    Some((name.trim(), taken.collect::<Option<CounterSet>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collector::tests::{counters, subjects, tree};

    const HEAD: &str = "Inter-|   Receive                                                |  Transmit\n \
        face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls\n";
    const LO: &str = "    lo:  500      5    0    0    0     0          0         0      500       5    0    0    0     0\n";
    const ETH: &str = "  eth0: 1010     11    0    2    0     0          0         0     2020      21    0    3    0     0\n";
    const VETH: &str = " veth1:    1      1    0    0    0     0          0         0        1       1    0    0    0     0\n";

    fn read(lines: &str, more: &[(&str, &str)]) -> Vec<Read> {
        let dev = format!("{HEAD}{lines}");
        let root = tree(&[&[("proc/net/dev", dev.as_str())], more].concat());
        (collector(&root.path().join("proc/net"), Some(root.path().join("sys/class/net"))).read)()
    }

    #[test]
    fn the_loopback_is_read_only_where_there_is_no_other() {
        assert_eq!(subjects(&read(&format!("{LO}{ETH}"), &[])), ["eth0"]);
        assert_eq!(subjects(&read(LO, &[])), ["lo"]);
    }

    #[test]
    fn a_speed_is_that_of_hardware_or_not_known() {
        let speeds = [
            ("sys/class/net/eth0/device/vendor", ""),
            ("sys/class/net/eth0/speed", "10000\n"),
            ("sys/class/net/veth1/speed", "10000\n"),
        ];
        let reads = read(&format!("{ETH}{VETH}"), &speeds);
        let metrics = [
            interface::RECEIVED_BYTES,
            interface::RECEIVED_DROPPED,
            interface::SENT_PACKETS,
            interface::SENT_DROPPED,
            interface::SPEED_BITS_PER_SEC,
        ];
        assert_eq!(metrics.map(|metric| counters(&reads[0])[metric]), [1_010, 2, 21, 3, 10_000_000_000]);
        assert_eq!(counters(&reads[1]).get(interface::SPEED_BITS_PER_SEC), None);
        let down = [("sys/class/net/eth0/device/vendor", ""), ("sys/class/net/eth0/speed", "-1\n")];
        assert_eq!(counters(&read(ETH, &down)[0]).get(interface::SPEED_BITS_PER_SEC), None);
    }
}
