//! How much time tasks of the machine waited for a CPU, from `/proc/pressure/cpu`.

use std::path::{Path, PathBuf};

use plimsoll_record::Reading;

use crate::source::{Counters, Missing, Source, reading, strange, text};

/// CPU pressure: `some_us`, microseconds since boot in which at least one task that could run had no CPU.
/// Kernels without `CONFIG_PSI`, or with `psi=0`, do not have it.
#[derive(Debug)]
pub(crate) struct Pressure {
    file: PathBuf,
}

impl Pressure {
    pub(crate) fn new(root: &Path) -> Self {
        Self { file: root.join("proc/pressure/cpu") }
    }

    fn counters(&self) -> Result<Counters, Missing> {
        let text = text(&self.file)?;
        let line = text.lines().find_map(|line| line.strip_prefix("some "));
        let total =
            line.and_then(|line| line.split_ascii_whitespace().find_map(|f| f.strip_prefix("total=")));
        let some_us = total.and_then(|total| total.parse().ok());
        let some_us = some_us.ok_or_else(|| strange(&self.file, "line `some` with a total"))?;
        Ok(Counters::from([("some_us".to_owned(), some_us)]))
    }
}

impl Source for Pressure {
    fn name(&self) -> &'static str {
        "pressure"
    }

    fn read(&self) -> Reading {
        reading(self.counters())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::tree;

    fn read(content: &str) -> Reading {
        Pressure::new(tree(&[("proc/pressure/cpu", content)]).path()).read()
    }

    #[test]
    fn the_total_of_some_is_the_pressure() {
        let text = "some avg10=74.27 avg60=54.06 avg300=77.49 total=3649429568\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(read(text), Reading::Ok(Counters::from([("some_us".to_owned(), 3_649_429_568)])));
    }

    #[test]
    fn a_file_without_the_total_is_a_failure() {
        assert!(matches!(read("some avg10=0.00\n"), Reading::Failed(_)));
        assert!(matches!(read(""), Reading::Failed(_)));
    }
}
