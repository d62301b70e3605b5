//! What each disk did, from `/proc/diskstats`.

use std::path::{Path, PathBuf};

use plimsoll_record::Reading;

use crate::source::{Counters, Source, of_host, text};

/// The kernel counts in sectors of this length, whatever the disk's own are (iostats in its documentation).
const SECTOR_BYTES: u64 = 512;
/// The columns taken, counted from the first after the device's name, with what one of their units is here. The last two
/// are told since Linux 5.5.
const COLUMNS: [(usize, &str, u64); 8] = [
    (0, "read_ops", 1),
    (2, "read_bytes", SECTOR_BYTES),
    (4, "write_ops", 1),
    (6, "write_bytes", SECTOR_BYTES),
    (8, "in_flight", 1),
    (9, "busy_ms", 1),
    (15, "flush_ops", 1),
    (16, "flush_ms", 1),
];
/// Devices that keep nothing themselves or keep it in memory.
const NO_DISKS: [&str; 3] = ["loop", "ram", "zram"];

/// Operations, bytes and busy time of each whole disk since boot; `in_flight` is a level.
#[derive(Debug)]
pub(crate) struct Disk {
    file: PathBuf,
    /// Holds one entry for each whole disk, and none for partitions.
    disks: PathBuf,
}

impl Disk {
    pub(crate) fn new(root: &Path) -> Self {
        Self { file: root.join("proc/diskstats"), disks: root.join("sys/block") }
    }

    fn is_disk(&self, name: &str) -> bool {
        // Names such as cciss/c0d0 stand there with an exclamation mark.
        let known = || !self.disks.exists() || self.disks.join(name.replace('/', "!")).exists();
        let kind = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        !NO_DISKS.contains(&kind) && known()
    }
}

/// A device's name and counters.
fn device(line: &str) -> Option<(&str, Counters)> {
    let mut words = line.split_ascii_whitespace().skip(2);
    let name = words.next()?;
    let values: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let taken =
        COLUMNS.iter().filter_map(|(at, ours, unit)| Some(((*ours).to_owned(), values.get(*at)? * unit)));
    Some((name, taken.collect()))
}

impl Source for Disk {
    fn name(&self) -> &'static str {
        "disk"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        let text = match text(&self.file) {
            Ok(text) => text,
            Err(missing) => return of_host(Err(missing)),
        };
        let disks = text.lines().filter_map(device).filter(|(name, _)| self.is_disk(name));
        disks.map(|(name, counters)| (name.to_owned(), Reading::Ok(counters.into()))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::tree;

    const TEXT: &str = "   7       0 loop0 9 0 0 0 0 0 0 0 0 0 0\n\
        254  0 vda 3333820 113041 121715450 5801538 362470 537826 244092440 1341819 2 279328 7209621 309736 25 162241224 62890 32160 3373\n\
        254  1 vda1 1 0 8 0 0 0 0 0 0 0 0\n\
        8 0 sda 1 0 8 0 0 0 0 0 0 5 0\n";

    #[test]
    fn whole_disks_are_told_of_in_bytes_and_partitions_and_loops_are_not() {
        let root = tree(&[("proc/diskstats", TEXT), ("sys/block/vda/size", ""), ("sys/block/sda/size", "")]);
        let readings = Disk::new(root.path()).read();
        let names: Vec<&str> = readings.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["vda", "sda"]);
        let Reading::Ok(counters) = &readings[0].1 else { panic!("not read") };
        let values =
            ["read_bytes", "write_ops", "in_flight", "busy_ms", "flush_ms"].map(|name| counters[name]);
        assert_eq!(values, [121_715_450 * 512, 362_470, 2, 279_328, 3_373]);
        let Reading::Ok(counters) = &readings[1].1 else { panic!("not read") };
        assert_eq!((counters["busy_ms"], counters.get("flush_ops")), (5, None), "missing is never zero");
    }
}
