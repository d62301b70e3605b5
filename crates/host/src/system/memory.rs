//! Memory and swap of the machine, from `/proc/meminfo` and `/proc/vmstat`.

use std::path::Path;

use plimsoll_record::metric::memory;
use plimsoll_record::{CounterSet, Metric, Source};

use crate::collector::{Collector, Missing, malformed, number, numbers, text};

/// The kernel's names in `/proc/vmstat`.
const EVENTS: &[(&str, Metric)] = &[
    ("pswpin ", memory::SWAPPED_IN_PAGES),
    ("pswpout ", memory::SWAPPED_OUT_PAGES),
    ("pgmajfault ", memory::MAJOR_FAULTS),
];

/// Returns a collector of memory and swap in use, and of pages swapped since boot.
pub(crate) fn collector(root: &Path) -> Collector {
    let (levels, events) = (root.join("proc/meminfo"), root.join("proc/vmstat"));
    Collector::host(Source::Memory, move || {
        let text_of_levels = text(&levels)?;
        let bytes = |key| number(&text_of_levels, key).map(|kib| kib * 1024);
        let total = bytes("MemTotal:").ok_or_else(|| malformed(&levels, "number in the line `MemTotal`"))?;
        let swapped = || Some(bytes("SwapTotal:")?.saturating_sub(bytes("SwapFree:")?));
        let mut counters = CounterSet::from([
            (memory::TOTAL_BYTES, Some(total)),
            (memory::AVAILABLE_BYTES, bytes("MemAvailable:")),
            (memory::SWAP_USED_BYTES, swapped()),
        ]);
        match text(&events) {
            Ok(events) => counters.extend(numbers(&events, EVENTS)),
            Err(Missing::Absent) => {}
            Err(failed) => return Err(failed),
        }
        Ok(counters)
    })
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
        let found = only(collector(tree(&[meminfo, vmstat]).path()));
        assert_eq!(found, Reading::Ok(Counters::from(expected)));
        assert!(matches!(only(collector(tree(&[("proc/meminfo", "x\n")]).path())), Reading::Failed(_)));
    }
}
