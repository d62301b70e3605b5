//! Operations, bytes and busy time of each disk, from `/proc/diskstats`.

use std::path::Path;

use plimsoll_record::metric::disk;
use plimsoll_record::{CounterSet, Metric, Source, Subject};

use crate::collector::{Collector, Read, text};

/// The kernel counts in sectors of this size, whatever the disk's own sector size is (iostats in the kernel's documentation).
const SECTOR_BYTES: u64 = 512;
/// The columns that are read, counted from the first after the device's name, each with the factor to our unit. The last two exist
/// since Linux 5.5.
const COLUMNS: [(usize, Metric, u64); 8] = [
    (0, disk::READ_OPS, 1),
    (2, disk::READ_BYTES, SECTOR_BYTES),
    (4, disk::WRITE_OPS, 1),
    (6, disk::WRITE_BYTES, SECTOR_BYTES),
    (8, disk::IN_FLIGHT, 1),
    (9, disk::BUSY_MS, 1),
    (15, disk::FLUSH_OPS, 1),
    (16, disk::FLUSH_MS, 1),
];
/// Devices without storage of their own, or with storage in memory.
const VIRTUAL: [&str; 3] = ["loop", "ram", "zram"];

/// Returns a collector of operations, bytes and busy time of each whole disk.
pub(crate) fn collector(root: &Path) -> Collector {
    // The folder holds one entry for each whole disk, and none for partitions.
    let (file, disks) = (root.join("proc/diskstats"), root.join("sys/block"));
    Collector::subjects(Source::Disk, move || {
        let text = text(&file)?;
        let found = text.lines().filter_map(device).filter(|(name, _)| is_disk(name, &disks));
        Ok(found
            .map(|(name, counters)| Read::new(Source::Disk, Subject::Named(name), Ok(counters)))
            .collect())
    })
}

fn is_disk(name: &str, disks: &Path) -> bool {
    // Names such as cciss/c0d0 have an exclamation mark for the slash in this folder.
    let known = || !disks.exists() || disks.join(name.replace('/', "!")).exists();
    let kind = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    !VIRTUAL.contains(&kind) && known()
}

/// Parses a device's name and counters.
fn device(line: &str) -> Option<(&str, CounterSet)> {
    let mut words = line.split_ascii_whitespace().skip(2);
    let name = words.next()?;
    let values: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let value = |at: usize, unit: u64| values.get(at).map(|value| value * unit);
    Some((name, COLUMNS.iter().map(|(at, metric, unit)| (*metric, value(*at, *unit))).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collector::tests::{counters, subjects, tree};

    const TEXT: &str = "   7       0 loop0 9 0 0 0 0 0 0 0 0 0 0\n\
        254  0 vda 3333820 113041 121715450 5801538 362470 537826 244092440 1341819 2 279328 7209621 309736 25 162241224 62890 32160 3373\n\
        254  1 vda1 1 0 8 0 0 0 0 0 0 0 0\n\
        8 0 sda 1 0 8 0 0 0 0 0 0 5 0\n";

    #[test]
    fn whole_disks_are_read_in_bytes_and_partitions_and_loops_are_not() {
        let root = tree(&[("proc/diskstats", TEXT), ("sys/block/vda/size", ""), ("sys/block/sda/size", "")]);
        let reads = (collector(root.path()).read)();
        assert_eq!(subjects(&reads), ["vda", "sda"]);
        let metrics = [disk::READ_BYTES, disk::WRITE_OPS, disk::IN_FLIGHT, disk::BUSY_MS, disk::FLUSH_MS];
        let values = metrics.map(|metric| counters(&reads[0])[metric]);
        assert_eq!(values, [121_715_450 * 512, 362_470, 2, 279_328, 3_373]);
        let sda = counters(&reads[1]);
        assert_eq!((sda[disk::BUSY_MS], sda.get(disk::FLUSH_OPS)), (5, None), "missing is never zero");
    }
}
