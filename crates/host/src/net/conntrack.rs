//! The kernel's table of tracked connections, from `/proc/sys/net/netfilter`.

use std::path::{Path, PathBuf};

use plimsoll_record::metric::conntrack;
use plimsoll_record::{CounterSet, Source};

use crate::collector::{Collector, Missing, Read, malformed, text};

/// How full the table is. A machine that filters nothing by connection has no such table.
#[derive(Debug)]
pub(crate) struct Conntrack {
    entries: PathBuf,
    limit: PathBuf,
}

impl Conntrack {
    pub(crate) fn new(root: &Path) -> Self {
        let folder = root.join("proc/sys/net/netfilter");
        Self { entries: folder.join("nf_conntrack_count"), limit: folder.join("nf_conntrack_max") }
    }

    fn counters(&self) -> Result<CounterSet, Missing> {
        let number = |file: &Path| text(file)?.trim().parse::<u64>().map_err(|_| malformed(file, "number"));
        let (entries, limit) = (number(&self.entries)?, number(&self.limit)?);
        Ok(CounterSet::from([(conntrack::ENTRIES, entries), (conntrack::LIMIT, limit)]))
    }
}

impl Collector for Conntrack {
    fn read(&mut self) -> Vec<Read> {
        Read::host(Source::Conntrack, self.counters())
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{Counters, Reading};

    use super::*;
    use crate::collector::tests::{only, tree};

    #[test]
    fn a_table_is_read_with_its_limit_and_one_that_does_not_exist_is_absent() {
        let folder = "proc/sys/net/netfilter";
        let root = tree(&[
            (&format!("{folder}/nf_conntrack_count"), "37\n"),
            (&format!("{folder}/nf_conntrack_max"), "65536\n"),
        ]);
        let expected = Counters::from([(conntrack::ENTRIES, 37), (conntrack::LIMIT, 65_536)]);
        assert_eq!(only(Conntrack::new(root.path())), Reading::Ok(expected));
        assert_eq!(only(Conntrack::new(tree(&[]).path())), Reading::Absent);
    }
}
