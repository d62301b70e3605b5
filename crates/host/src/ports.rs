//! Sockets that hold local ports, and how many ports there are.

use std::path::{Path, PathBuf};

use plimsoll_record::Reading;

use crate::sockets::{level, open6};
use crate::source::{Counters, Missing, Source, of_host, strange, text};

/// TCP sockets over IPv4 and IPv6 of the network namespace, `sockets_open` (of `sockets_in_use`) and
/// `sockets_time_wait`, from `/proc/net/sockstat` and `sockstat6`; and `ports_in_range`, the local ports from one source
/// address to one target address, from `ip_local_port_range`. All are levels. The sockets are those of both ends
/// where the target is here too, and of every other process: an upper bound of the ports in use.
#[derive(Debug)]
pub(crate) struct Ports {
    sockets: PathBuf,
    sockets6: PathBuf,
    range: PathBuf,
}

impl Ports {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            sockets: root.join("proc/net/sockstat"),
            sockets6: root.join("proc/net/sockstat6"),
            range: root.join("proc/sys/net/ipv4/ip_local_port_range"),
        }
    }

    fn counters(&self) -> Result<Counters, Missing> {
        let sockets = text(&self.sockets)?;
        let level = |line: &str, name: &str| {
            let of = || level(&sockets, line, name);
            of().ok_or_else(|| strange(&self.sockets, &format!("`{name}` in the line `{line}`")))
        };
        let mut counters = Counters::from([
            ("sockets_open".to_owned(), level("TCP:", "inuse")? + open6(&self.sockets6)),
            ("sockets_time_wait".to_owned(), level("TCP:", "tw")?),
        ]);
        counters.extend(self.in_range().map(|ports| ("ports_in_range".to_owned(), ports)));
        Ok(counters)
    }

    fn in_range(&self) -> Option<u64> {
        let text = text(&self.range).ok()?;
        let mut ends = text.split_ascii_whitespace().map(str::parse::<u64>);
        let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
        Some((last + 1).saturating_sub(first))
    }
}

impl Source for Ports {
    fn name(&self) -> &'static str {
        "ports"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        of_host(self.counters())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::{only, tree};

    const SOCKETS: (&str, &str) = (
        "proc/net/sockstat",
        "sockets: used 27\nTCP: inuse 3 orphan 0 tw 17089 alloc 3 mem 202\nUDP: inuse 9 mem 0\n",
    );

    #[test]
    fn sockets_of_both_families_are_counted_and_the_range_holds_both_its_ends() {
        let range = ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
        let root = tree(&[SOCKETS, range, ("proc/net/sockstat6", "TCP6: inuse 4\n")]);
        let Reading::Ok(counters) = only(Ports::new(root.path())) else { panic!("not read") };
        let values = ["sockets_open", "sockets_time_wait", "ports_in_range"].map(|name| counters[name]);
        assert_eq!(values, [7, 17_089, 28_232]);
    }

    #[test]
    fn a_range_that_is_not_known_is_left_out() {
        let Reading::Ok(counters) = only(Ports::new(tree(&[SOCKETS]).path())) else { panic!("not read") };
        assert!(!counters.contains_key("ports_in_range"), "missing is never zero");
        let root = tree(&[("proc/net/sockstat", "TCP: alloc 3\n")]);
        assert!(matches!(only(Ports::new(root.path())), Reading::Failed(_)));
    }
}
