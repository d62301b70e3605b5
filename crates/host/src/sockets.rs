//! How many TCP sockets there are and in which states, from `/proc/net/sockstat`.

use std::path::{Path, PathBuf};

use plimsoll_record::Reading;

use crate::source::{Counters, Missing, Source, of_host, strange, text};

/// The kernel's names in the line `TCP:` and ours.
const LEVELS: [(&str, &str); 3] = [("inuse", "in_use"), ("tw", "time_wait"), ("orphan", "orphans")];

/// TCP sockets of the network namespace, all of them levels: those of both families that are open, `in_use`; those that
/// are kept for a minute after their end, `time_wait`; and those that no process holds any more, `orphans`.
#[derive(Debug)]
pub(crate) struct Sockets {
    file: PathBuf,
    file6: PathBuf,
}

impl Sockets {
    pub(crate) fn new(net: &Path) -> Self {
        Self { file: net.join("sockstat"), file6: net.join("sockstat6") }
    }

    fn counters(&self) -> Result<Counters, Missing> {
        let text = text(&self.file)?;
        let of = |name: &str| {
            let level = level(&text, "TCP:", name);
            level.ok_or_else(|| strange(&self.file, &format!("`{name}` in the line `TCP:`")))
        };
        let told = |(name, ours): &(&str, &str)| Ok(((*ours).to_owned(), of(name)?));
        let mut counters = LEVELS.iter().map(told).collect::<Result<Counters, Missing>>()?;
        if let Some(in_use) = counters.get_mut("in_use") {
            *in_use += open6(&self.file6);
        }
        Ok(counters)
    }
}

/// The open sockets of IPv6. A kernel without it has no such file, and no such sockets.
pub(crate) fn open6(file: &Path) -> u64 {
    text(file).ok().and_then(|text| level(&text, "TCP6:", "inuse")).unwrap_or(0)
}

/// The number after a name in a line of names and numbers.
pub(crate) fn level(text: &str, line: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|text| text.strip_prefix(line))?;
    let mut words = line.split_ascii_whitespace();
    words.find(|word| *word == name)?;
    words.next()?.parse().ok()
}

impl Source for Sockets {
    fn name(&self) -> &'static str {
        "sockets"
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
    fn open_sockets_are_those_of_both_families() {
        let text = "sockets: used 27\nTCP: inuse 3 orphan 2 tw 17089 alloc 3 mem 202\nUDP: inuse 9 mem 0\n";
        let root = tree(&[("net/sockstat", text), ("net/sockstat6", "TCP6: inuse 4\n")]);
        let Reading::Ok(counters) = only(Sockets::new(&root.path().join("net"))) else { panic!("not read") };
        assert_eq!(["in_use", "time_wait", "orphans"].map(|name| counters[name]), [7, 17_089, 2]);
        let root = tree(&[("net/sockstat", "TCP: alloc 3\n")]);
        assert!(matches!(only(Sockets::new(&root.path().join("net"))), Reading::Failed(_)));
    }
}
