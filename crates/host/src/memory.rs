//! Memory and swap of the machine, from `/proc/meminfo` and `/proc/vmstat`.

use std::path::{Path, PathBuf};

use plimsoll_record::Reading;

use crate::source::{Counters, Missing, Source, of_host, strange, text};

/// The kernel's names in `/proc/vmstat` and ours.
const EVENTS: [(&str, &str); 3] =
    [("pswpin", "swapped_in_pages"), ("pswpout", "swapped_out_pages"), ("pgmajfault", "major_faults")];

/// The levels `total_bytes`, `available_bytes` (what could be had without swapping) and `swap_used_bytes`; since boot
/// the pages swapped in and out, and the faults that had to wait for a disk.
#[derive(Debug)]
pub(crate) struct Memory {
    levels: PathBuf,
    events: PathBuf,
}

impl Memory {
    pub(crate) fn new(root: &Path) -> Self {
        Self { levels: root.join("proc/meminfo"), events: root.join("proc/vmstat") }
    }

    fn counters(&self) -> Result<Counters, Missing> {
        let levels = text(&self.levels)?;
        let bytes = |name| number(&levels, name).map(|kib| kib * 1024);
        let total =
            bytes("MemTotal:").ok_or_else(|| strange(&self.levels, "number in the line `MemTotal`"))?;
        let mut counters = Counters::from([("total_bytes".to_owned(), total)]);
        let swapped = || Some(bytes("SwapTotal:")?.saturating_sub(bytes("SwapFree:")?));
        for (name, value) in [("available_bytes", bytes("MemAvailable:")), ("swap_used_bytes", swapped())] {
            counters.extend(value.map(|value| (name.to_owned(), value)));
        }
        match text(&self.events) {
            Ok(events) => counters.extend(
                EVENTS.iter().filter_map(|(name, ours)| Some(((*ours).to_owned(), number(&events, name)?))),
            ),
            Err(Missing::Absent) => {}
            Err(failed) => return Err(failed),
        }
        Ok(counters)
    }
}

/// The number after a name at a line's beginning.
fn number(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().map(str::split_ascii_whitespace);
    lines.find_map(|mut words| (words.next()? == name).then(|| words.next()?.parse().ok()))?
}

impl Source for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        of_host(self.counters())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::{only, tree};

    #[test]
    fn kibibytes_become_bytes_and_what_an_old_kernel_does_not_tell_is_left_out() {
        let meminfo =
            ("proc/meminfo", "MemTotal:  2048 kB\nMemFree: 1 kB\nSwapTotal: 10 kB\nSwapFree: 4 kB\n");
        let vmstat = ("proc/vmstat", "pgfault 9\npgmajfault 7\npswpin 0\npswpout 5\n");
        let Reading::Ok(counters) = only(Memory::new(tree(&[meminfo, vmstat]).path())) else {
            panic!("not read");
        };
        let expected = [
            ("total_bytes", 2 << 20),
            ("swap_used_bytes", 6 << 10),
            ("major_faults", 7),
            ("swapped_in_pages", 0),
            ("swapped_out_pages", 5),
        ];
        assert_eq!(counters, expected.map(|(name, value)| (name.to_owned(), value)).into());
        assert!(matches!(only(Memory::new(tree(&[("proc/meminfo", "x\n")]).path())), Reading::Failed(_)));
    }
}
