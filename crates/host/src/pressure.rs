//! How much time tasks waited for a CPU, for disks and for memory, from `/proc/pressure`.

use std::path::{Path, PathBuf};

use plimsoll_record::Reading;

use crate::source::{Counters, Missing, Source, of_host, strange, text};

/// The files, the lines taken from each, and what their totals are called here. The machine's line `full` of `cpu` is
/// always zero.
const TOTALS: [(&str, &str, &str); 5] = [
    ("cpu", "some ", "cpu_some_us"),
    ("io", "some ", "io_some_us"),
    ("io", "full ", "io_full_us"),
    ("memory", "some ", "memory_some_us"),
    ("memory", "full ", "memory_full_us"),
];

/// Pressure: microseconds since boot in which at least one task (`some`), or every task that was not idle (`full`), waited
/// for a resource. Kernels without `CONFIG_PSI`, or with `psi=0`, do not have it.
#[derive(Debug)]
pub(crate) struct Pressure {
    folder: PathBuf,
    suffix: &'static str,
}

impl Pressure {
    /// That of the whole machine.
    pub(crate) fn new(root: &Path) -> Self {
        Self { folder: root.join("proc/pressure"), suffix: "" }
    }

    /// That of a control group of version 2; those of version 1 do not have it.
    pub(crate) fn of_group(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), suffix: ".pressure" }
    }

    fn counters(&self) -> Result<Counters, Missing> {
        let mut counters = Counters::new();
        for name in ["cpu", "io", "memory"] {
            match self.totals(name) {
                Ok(totals) => counters.extend(totals),
                // One of three may be missing; that of the CPU is what makes a kernel one that tells pressure.
                Err(Missing::Absent) if name != "cpu" => {}
                Err(missing) => return Err(missing),
            }
        }
        Ok(counters)
    }

    fn totals(&self, name: &str) -> Result<Counters, Missing> {
        let file = self.folder.join(format!("{name}{}", self.suffix));
        let text = text(&file)?;
        let of = |line: &str| {
            let line = text.lines().find_map(|text| text.strip_prefix(line))?;
            line.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?.parse().ok()
        };
        let wanted = TOTALS.iter().filter(|(file, ..)| *file == name);
        let total = |(_, line, ours): &(&str, &str, &str)| {
            let total =
                of(line).ok_or_else(|| strange(&file, &format!("line `{}` with a total", line.trim())));
            Ok(((*ours).to_owned(), total?))
        };
        wanted.map(total).collect()
    }
}

impl Source for Pressure {
    fn name(&self) -> &'static str {
        "pressure"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        of_host(self.counters())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::{only, tree};

    const CPU: &str = "some avg10=74.27 avg60=54.06 avg300=77.49 total=3649429568\n\
                       full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";

    #[test]
    fn the_totals_of_each_resource_are_its_pressure() {
        let io = CPU.replace("3649429568", "12");
        let root = tree(&[("proc/pressure/cpu", CPU), ("proc/pressure/io", &io)]);
        let expected = [("cpu_some_us", 3_649_429_568), ("io_full_us", 7), ("io_some_us", 12)];
        let expected = expected.map(|(name, value)| (name.to_owned(), value));
        assert_eq!(only(Pressure::new(root.path())), Reading::Ok(Counters::from(expected).into()));
    }

    #[test]
    fn a_file_without_the_total_is_a_failure() {
        let read = |content| only(Pressure::new(tree(&[("proc/pressure/cpu", content)]).path()));
        assert!(matches!(read("some avg10=0.00\n"), Reading::Failed(_)));
        assert!(matches!(read(""), Reading::Failed(_)));
    }
}
