//! TCP sockets by state, the local ports that they hold, and tracked connections, from files below `/proc`.

use std::path::{Path, PathBuf};

use plimsoll_record::metric::{conntrack, ports, sockets};
use plimsoll_record::{CounterSet, Source};

use crate::collector::{Collector, Missing, after, malformed, text};

/// The files of a network namespace that count its sockets.
struct SocketCounts {
    file: PathBuf,
    file6: PathBuf,
}

impl SocketCounts {
    /// Creates the counts of the network namespace whose files are in the folder `net`.
    fn new(net: &Path) -> Self {
        Self { file: net.join("sockstat"), file6: net.join("sockstat6") }
    }

    /// Reads the number of sockets in each of these states. The kernel counts open sockets (`inuse`) per address family, so those of
    /// IPv6 are added; its other counts include both families.
    fn read<const N: usize>(&self, states: [&str; N]) -> Result<[u64; N], Missing> {
        let text = text(&self.file)?;
        let mut counts = [0; N];
        for (state, count) in states.into_iter().zip(&mut counts) {
            *count = number(&text, "TCP:", state)
                .ok_or_else(|| malformed(&self.file, &format!("`{state}` in the line `TCP:`")))?;
            if state == "inuse" {
                *count += self.open6();
            }
        }
        Ok(counts)
    }

    /// Returns the number of open IPv6 sockets; 0 on a kernel without IPv6, which has no such file.
    fn open6(&self) -> u64 {
        text(&self.file6).ok().and_then(|text| number(&text, "TCP6:", "inuse")).unwrap_or(0)
    }
}

/// Returns the number after `name`, in the line that begins with `line`.
fn number(text: &str, line: &str, name: &str) -> Option<u64> {
    let mut words = after(text, line)?.split_ascii_whitespace();
    words.find(|word| *word == name)?;
    words.next()?.parse().ok()
}

/// Returns a collector of the TCP sockets of the network namespace whose files are in the folder `net`.
pub(crate) fn sockets(net: &Path) -> Collector {
    let counts = SocketCounts::new(net);
    Collector::host(Source::Sockets, move || {
        let states = [sockets::IN_USE, sockets::TIME_WAIT, sockets::ORPHANS];
        Ok(states.into_iter().zip(counts.read(["inuse", "tw", "orphan"])?).collect())
    })
}

/// Returns a collector of the sockets that may hold a local port, and of the number of ports. The count is an upper bound of the
/// ports in use: it includes sockets of other processes, and both ends of a connection whose target is on this machine.
pub(crate) fn ports(root: &Path) -> Collector {
    let counts = SocketCounts::new(&root.join("proc/net"));
    let range = root.join("proc/sys/net/ipv4/ip_local_port_range");
    Collector::host(Source::Ports, move || {
        let [open, time_wait] = counts.read(["inuse", "tw"])?;
        Ok(CounterSet::from([
            (ports::SOCKETS_OPEN, Some(open)),
            (ports::SOCKETS_TIME_WAIT, Some(time_wait)),
            (ports::PORTS_IN_RANGE, in_range(&range)),
        ]))
    })
}

fn in_range(range: &Path) -> Option<u64> {
    let text = text(range).ok()?;
    let mut ends = text.split_ascii_whitespace().map(str::parse::<u64>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    Some((last + 1).saturating_sub(first))
}

/// Returns a collector of the size and limit of the kernel's connection tracking table. A machine without stateful filtering has
/// no such table.
pub(crate) fn conntrack(root: &Path) -> Collector {
    let folder = root.join("proc/sys/net/netfilter");
    let (entries, limit) = (folder.join("nf_conntrack_count"), folder.join("nf_conntrack_max"));
    let number = |file: &Path| text(file)?.trim().parse::<u64>().map_err(|_| malformed(file, "number"));
    Collector::host(Source::Conntrack, move || {
        Ok(CounterSet::from([(conntrack::ENTRIES, number(&entries)?), (conntrack::LIMIT, number(&limit)?)]))
    })
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{Counters, Reading};

    use super::*;
    use crate::collector::tests::{only, tree};

    const SOCKETS: (&str, &str) = (
        "proc/net/sockstat",
        "sockets: used 27\nTCP: inuse 3 orphan 2 tw 17089 alloc 3 mem 202\nUDP: inuse 9 mem 0\n",
    );

    #[test]
    fn open_sockets_are_those_of_both_families() {
        let root = tree(&[SOCKETS, ("proc/net/sockstat6", "TCP6: inuse 4\n")]);
        let expected = [(sockets::IN_USE, 7), (sockets::TIME_WAIT, 17_089), (sockets::ORPHANS, 2)];
        let found = only(self::sockets(&root.path().join("proc/net")));
        assert_eq!(found, Reading::Ok(Counters::from(expected)));
        let root = tree(&[("net/sockstat", "TCP: alloc 3\n")]);
        assert!(matches!(only(self::sockets(&root.path().join("net"))), Reading::Failed(_)));
    }

    #[test]
    fn the_range_of_ports_includes_both_its_ends() {
        let range = ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
        let root = tree(&[SOCKETS, range, ("proc/net/sockstat6", "TCP6: inuse 4\n")]);
        let expected =
            [(ports::SOCKETS_OPEN, 7), (ports::SOCKETS_TIME_WAIT, 17_089), (ports::PORTS_IN_RANGE, 28_232)];
        assert_eq!(only(self::ports(root.path())), Reading::Ok(Counters::from(expected)));
    }

    #[test]
    fn a_range_that_is_not_known_is_left_out() {
        let expected = [(ports::SOCKETS_OPEN, 3), (ports::SOCKETS_TIME_WAIT, 17_089)];
        let found = only(self::ports(tree(&[SOCKETS]).path()));
        assert_eq!(found, Reading::Ok(Counters::from(expected)), "missing is never zero");
        let root = tree(&[("proc/net/sockstat", "TCP: alloc 3\n")]);
        assert!(matches!(only(self::ports(root.path())), Reading::Failed(_)));
    }

    #[test]
    fn a_table_is_read_with_its_limit_and_one_that_does_not_exist_is_absent() {
        let folder = "proc/sys/net/netfilter";
        let root = tree(&[
            (&format!("{folder}/nf_conntrack_count"), "37\n"),
            (&format!("{folder}/nf_conntrack_max"), "65536\n"),
        ]);
        let expected = Counters::from([(conntrack::ENTRIES, 37), (conntrack::LIMIT, 65_536)]);
        assert_eq!(only(self::conntrack(root.path())), Reading::Ok(expected));
        assert_eq!(only(self::conntrack(tree(&[]).path())), Reading::Absent);
    }
}
