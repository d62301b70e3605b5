//! What went through each network interface, from `/proc/net/dev`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use plimsoll_record::Reading;

use crate::source::{Counters, Source, of_host, text};

/// The columns after an interface's name.
const COLUMNS: [(usize, &str); 6] = [
    (0, "received_bytes"),
    (1, "received_packets"),
    (3, "received_dropped"),
    (8, "sent_bytes"),
    (9, "sent_packets"),
    (11, "sent_dropped"),
];

/// Bytes, packets and drops of each interface since it was made, and the level `speed_bits_per_sec` of one whose hardware
/// tells it. The loopback is told of only where there is nothing else.
#[derive(Debug)]
pub(crate) struct Interface {
    file: PathBuf,
    /// The folder of what the machine has as interfaces; none for another network namespace.
    devices: Option<PathBuf>,
    /// The speed of a link is asked for once: that can take a slow question to the hardware.
    speeds: HashMap<String, Option<u64>>,
}

impl Interface {
    /// The interfaces of the network namespace whose files are in the folder `net`.
    pub(crate) fn new(net: &Path, devices: Option<PathBuf>) -> Self {
        Self { file: net.join("dev"), devices, speeds: HashMap::new() }
    }

    fn speed(&mut self, name: &str) -> Option<u64> {
        if let Some(known) = self.speeds.get(name) {
            return *known;
        }
        let speed = self.devices.as_deref().and_then(|devices| speed(&devices.join(name)));
        self.speeds.insert(name.to_owned(), speed);
        speed
    }
}

/// In bits per second. The file holds megabits, and -1 where the link is down or virtual. Pairs of virtual interfaces and
/// tunnels make up a number: only what stands for hardware, or bonds it, is believed.
fn speed(device: &Path) -> Option<u64> {
    if !device.join("device").exists() && !device.join("bonding").exists() {
        return None;
    }
    let mbit: u64 = text(&device.join("speed")).ok()?.trim().parse().ok()?;
    Some(mbit * 1_000_000).filter(|speed| *speed > 0)
}

/// An interface's name and counters.
fn counters(line: &str) -> Option<(&str, Counters)> {
    let (name, values) = line.split_once(':')?;
    let values: Vec<u64> = values.split_ascii_whitespace().map_while(|value| value.parse().ok()).collect();
    let taken = COLUMNS.iter().map(|(at, ours)| Some(((*ours).to_owned(), *values.get(*at)?)));
    Some((name.trim(), taken.collect::<Option<Counters>>()?))
}

impl Source for Interface {
    fn name(&self) -> &'static str {
        "interface"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        let text = match text(&self.file) {
            Ok(text) => text,
            Err(missing) => return of_host(Err(missing)),
        };
        let mut found: Vec<(&str, Counters)> = text.lines().filter_map(counters).collect();
        if found.iter().any(|(name, _)| *name != "lo") {
            found.retain(|(name, _)| *name != "lo");
        }
        let told = |(name, mut counters): (&str, Counters)| {
            counters.extend(self.speed(name).map(|speed| ("speed_bits_per_sec".to_owned(), speed)));
            (name.to_owned(), Reading::Ok(counters.into()))
        };
        found.into_iter().map(told).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::tree;

    const HEAD: &str = "Inter-|   Receive                                                |  Transmit\n \
        face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls\n";
    const LO: &str = "    lo:  500      5    0    0    0     0          0         0      500       5    0    0    0     0\n";
    const ETH: &str = "  eth0: 1010     11    0    2    0     0          0         0     2020      21    0    3    0     0\n";
    const VETH: &str = " veth1:    1      1    0    0    0     0          0         0        1       1    0    0    0     0\n";

    fn read(lines: &str, more: &[(&str, &str)]) -> Vec<(String, Reading)> {
        let dev = format!("{HEAD}{lines}");
        let root = tree(&[&[("proc/net/dev", dev.as_str())], more].concat());
        Interface::new(&root.path().join("proc/net"), Some(root.path().join("sys/class/net"))).read()
    }

    #[test]
    fn the_loopback_is_told_of_only_where_it_is_all_there_is() {
        let names = |readings: Vec<(String, Reading)>| -> Vec<String> {
            readings.into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names(read(&format!("{LO}{ETH}"), &[])), ["eth0"]);
        assert_eq!(names(read(LO, &[])), ["lo"]);
    }

    #[test]
    fn a_speed_is_that_of_hardware_or_not_known() {
        let speeds = [
            ("sys/class/net/eth0/device/vendor", ""),
            ("sys/class/net/eth0/speed", "10000\n"),
            ("sys/class/net/veth1/speed", "10000\n"),
        ];
        let readings = read(&format!("{ETH}{VETH}"), &speeds);
        let Reading::Ok(eth) = &readings[0].1 else { panic!("not read") };
        let values =
            ["received_bytes", "received_dropped", "sent_packets", "sent_dropped"].map(|name| eth[name]);
        assert_eq!(values, [1_010, 2, 21, 3]);
        assert_eq!(eth["speed_bits_per_sec"], 10_000_000_000);
        let Reading::Ok(veth) = &readings[1].1 else { panic!("not read") };
        assert_eq!(veth.get("speed_bits_per_sec"), None);
        let down = [("sys/class/net/eth0/device/vendor", ""), ("sys/class/net/eth0/speed", "-1\n")];
        let Reading::Ok(eth) = &read(ETH, &down)[0].1 else { panic!("not read") };
        assert_eq!(eth.get("speed_bits_per_sec"), None);
    }
}
