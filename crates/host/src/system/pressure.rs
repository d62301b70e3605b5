//! Pressure stall information: time that tasks waited for a CPU, for disks and for memory, from `/proc/pressure`.

use std::path::{Path, PathBuf};

use plimsoll_record::metric::pressure;
use plimsoll_record::{CounterSet, Metric, Source};

use crate::collector::{Collector, Missing, after, malformed, text};

/// The files, and the lines read from each. The machine's `full` line of `cpu` is always zero.
const FILES: [(&str, &[(&str, Metric)]); 3] = [
    ("cpu", &[("some ", pressure::CPU_SOME_US)]),
    ("io", &[("some ", pressure::IO_SOME_US), ("full ", pressure::IO_FULL_US)]),
    ("memory", &[("some ", pressure::MEMORY_SOME_US), ("full ", pressure::MEMORY_FULL_US)]),
];

/// Returns a collector of the pressure of the whole machine. Kernels without `CONFIG_PSI`, or with `psi=0`, lack it.
pub(crate) fn machine(root: &Path) -> Collector {
    collector(FILES.map(|(name, lines)| (root.join("proc/pressure").join(name), lines)))
}

/// Returns a collector of the pressure of a version 2 control group; version 1 groups have none.
pub(crate) fn group(folder: &Path) -> Collector {
    collector(FILES.map(|(name, lines)| (folder.join(format!("{name}.pressure")), lines)))
}

fn collector(files: [(PathBuf, &'static [(&'static str, Metric)]); FILES.len()]) -> Collector {
    Collector::host(Source::Pressure, move || {
        let mut counters = CounterSet::default();
        for (file, lines) in &files {
            match text(file) {
                Ok(text) => totals(&text, file, lines, &mut counters)?,
                // `io` or `memory` may be missing; a kernel that reports pressure always reports that of the CPU.
                Err(Missing::Absent) if !counters.is_empty() => {}
                Err(missing) => return Err(missing),
            }
        }
        Ok(counters)
    })
}

fn totals(
    text: &str,
    file: &Path,
    lines: &[(&str, Metric)],
    counters: &mut CounterSet,
) -> Result<(), Missing> {
    for (line, metric) in lines {
        let mut fields = after(text, line).unwrap_or_default().split_ascii_whitespace();
        let total = fields.find_map(|field| field.strip_prefix("total="));
        let total: Option<u64> = total.and_then(|total| total.parse().ok());
        let expected = || malformed(file, &format!("line `{}` with a total", line.trim()));
        counters.put(*metric, total.ok_or_else(expected)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{Counters, Reading};

    use super::*;
    use crate::collector::tests::{only, tree};

    const CPU: &str = "some avg10=74.27 avg60=54.06 avg300=77.49 total=3649429568\n\
                       full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";

    #[test]
    fn the_totals_of_each_resource_are_its_pressure() {
        let io = CPU.replace("3649429568", "12");
        let root = tree(&[("proc/pressure/cpu", CPU), ("proc/pressure/io", &io)]);
        let expected =
            [(pressure::CPU_SOME_US, 3_649_429_568), (pressure::IO_FULL_US, 7), (pressure::IO_SOME_US, 12)];
        assert_eq!(only(machine(root.path())), Reading::Ok(Counters::from(expected)));
    }

    #[test]
    fn a_file_without_the_total_is_a_failure() {
        let read = |content| only(machine(tree(&[("proc/pressure/cpu", content)]).path()));
        assert!(matches!(read("some avg10=0.00\n"), Reading::Failed(_)));
        assert!(matches!(read(""), Reading::Failed(_)));
    }
}
