//! Time that tasks waited for a CPU, for disks and for memory, from `/proc/pressure`.

use std::path::{Path, PathBuf};

use plimsoll_record::metric::pressure;
use plimsoll_record::{CounterSet, Metric, Source};

use crate::collector::{Collector, Missing, Read, malformed, text};

/// The files, and the lines taken from each. The machine's line `full` of `cpu` is always zero.
const FILES: [(&str, &[(&str, Metric)]); 3] = [
    ("cpu", &[("some ", pressure::CPU_SOME_US)]),
    ("io", &[("some ", pressure::IO_SOME_US), ("full ", pressure::IO_FULL_US)]),
    ("memory", &[("some ", pressure::MEMORY_SOME_US), ("full ", pressure::MEMORY_FULL_US)]),
];

/// Pressure stall information. Kernels without `CONFIG_PSI`, or with `psi=0`, do not have it.
#[derive(Debug)]
pub(crate) struct Pressure {
    folder: PathBuf,
    suffix: &'static str,
}

impl Pressure {
    /// The pressure of the whole machine.
    pub(crate) fn new(root: &Path) -> Self {
        Self { folder: root.join("proc/pressure"), suffix: "" }
    }

    /// The pressure of a control group of version 2; groups of version 1 do not have it.
    pub(crate) fn of_group(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), suffix: ".pressure" }
    }

    fn counters(&self) -> Result<CounterSet, Missing> {
        let mut counters = CounterSet::default();
        for (name, lines) in FILES {
            match self.totals(name, lines, &mut counters) {
                Ok(()) => {}
                // `io` or `memory` may be missing; a kernel that reports pressure reports that of the CPU.
                Err(Missing::Absent) if name != "cpu" => {}
                Err(missing) => return Err(missing),
            }
        }
        Ok(counters)
    }

    fn totals(&self, name: &str, lines: &[(&str, Metric)], counters: &mut CounterSet) -> Result<(), Missing> {
        let file = self.folder.join(format!("{name}{}", self.suffix));
        let text = text(&file)?;
        for (line, metric) in lines {
            let total = total(&text, line)
                .ok_or_else(|| malformed(&file, &format!("line `{}` with a total", line.trim())))?;
            counters.put(*metric, total);
        }
        Ok(())
    }
}

fn total(text: &str, line: &str) -> Option<u64> {
    let line = text.lines().find_map(|text| text.strip_prefix(line))?;
    line.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?.parse().ok()
}

impl Collector for Pressure {
    fn read(&mut self) -> Vec<Read> {
        Read::host(Source::Pressure, self.counters())
    }
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
        assert_eq!(only(Pressure::new(root.path())), Reading::Ok(Counters::from(expected)));
    }

    #[test]
    fn a_file_without_the_total_is_a_failure() {
        let read = |content| only(Pressure::new(tree(&[("proc/pressure/cpu", content)]).path()));
        assert!(matches!(read("some avg10=0.00\n"), Reading::Failed(_)));
        assert!(matches!(read(""), Reading::Failed(_)));
    }
}
