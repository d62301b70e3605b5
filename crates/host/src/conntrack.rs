//! How full the kernel's table of tracked connections is, from `/proc/sys/net/netfilter`.

use std::path::{Path, PathBuf};

use plimsoll_record::Reading;

use crate::source::{Counters, Missing, Source, of_host, strange, text};

/// The levels `entries` and `limit`. A machine that filters nothing by connection has no such table.
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

    fn counters(&self) -> Result<Counters, Missing> {
        let number = |file: &Path| text(file)?.trim().parse::<u64>().map_err(|_| strange(file, "number"));
        let (entries, limit) = (number(&self.entries)?, number(&self.limit)?);
        Ok(Counters::from([("entries".to_owned(), entries), ("limit".to_owned(), limit)]))
    }
}

impl Source for Conntrack {
    fn name(&self) -> &'static str {
        "conntrack"
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
    fn a_table_is_told_with_its_limit_and_one_that_is_not_there_is_absent() {
        let folder = "proc/sys/net/netfilter";
        let root = tree(&[
            (&format!("{folder}/nf_conntrack_count"), "37\n"),
            (&format!("{folder}/nf_conntrack_max"), "65536\n"),
        ]);
        let Reading::Ok(counters) = only(Conntrack::new(root.path())) else { panic!("not read") };
        assert_eq!((counters["entries"], counters["limit"]), (37, 65_536));
        assert_eq!(only(Conntrack::new(tree(&[]).path())), Reading::Absent);
    }
}
