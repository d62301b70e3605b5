//! Memory and swap of the machine, from `/proc/meminfo` and `/proc/vmstat`.

use std::path::{Path, PathBuf};

use plimsoll_record::metric::memory;
use plimsoll_record::{CounterSet, Metric, Source};

use crate::collector::{Collector, Missing, Read, malformed, text};

/// The kernel's names in `/proc/vmstat`.
const EVENTS: [(&str, Metric); 3] = [
    ("pswpin", memory::SWAPPED_IN_PAGES),
    ("pswpout", memory::SWAPPED_OUT_PAGES),
    ("pgmajfault", memory::MAJOR_FAULTS),
];

/// Memory and swap in use, and pages swapped since boot.
#[derive(Debug)]
pub(crate) struct Memory {
    levels: PathBuf,
    events: PathBuf,
}

impl Memory {
    pub(crate) fn new(root: &Path) -> Self {
        Self { levels: root.join("proc/meminfo"), events: root.join("proc/vmstat") }
    }

    fn counters(&self) -> Result<CounterSet, Missing> {
        let levels = text(&self.levels)?;
        let bytes = |name| number(&levels, name).map(|kib| kib * 1024);
        let total =
            bytes("MemTotal:").ok_or_else(|| malformed(&self.levels, "number in the line `MemTotal`"))?;
        let swapped = || Some(bytes("SwapTotal:")?.saturating_sub(bytes("SwapFree:")?));
        let mut counters = CounterSet::from([
            (memory::TOTAL_BYTES, Some(total)),
            (memory::AVAILABLE_BYTES, bytes("MemAvailable:")),
            (memory::SWAP_USED_BYTES, swapped()),
        ]);
        match text(&self.events) {
            Ok(events) => {
                EVENTS.iter().for_each(|(name, metric)| counters.put(*metric, number(&events, name)));
            }
            Err(Missing::Absent) => {}
            Err(failed) => return Err(failed),
        }
        Ok(counters)
    }
}

/// The number after a name at the beginning of a line.
fn number(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().map(str::split_ascii_whitespace);
    lines.find_map(|mut words| (words.next()? == name).then(|| words.next()?.parse().ok()))?
}

impl Collector for Memory {
    fn read(&mut self) -> Vec<Read> {
        Read::host(Source::Memory, self.counters())
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{Counters, Reading};

    use super::*;
    use crate::collector::tests::{only, tree};

    #[test]
    fn kibibytes_become_bytes_and_what_an_old_kernel_does_not_report_is_left_out() {
        let meminfo =
            ("proc/meminfo", "MemTotal:  2048 kB\nMemFree: 1 kB\nSwapTotal: 10 kB\nSwapFree: 4 kB\n");
        let vmstat = ("proc/vmstat", "pgfault 9\npgmajfault 7\npswpin 0\npswpout 5\n");
        let expected = [
            (memory::TOTAL_BYTES, 2 << 20),
            (memory::SWAP_USED_BYTES, 6 << 10),
            (memory::MAJOR_FAULTS, 7),
            (memory::SWAPPED_IN_PAGES, 0),
            (memory::SWAPPED_OUT_PAGES, 5),
        ];
        let found = only(Memory::new(tree(&[meminfo, vmstat]).path()));
        assert_eq!(found, Reading::Ok(Counters::from(expected)));
        assert!(matches!(only(Memory::new(tree(&[("proc/meminfo", "x\n")]).path())), Reading::Failed(_)));
    }
}
