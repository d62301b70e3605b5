//! TCP sockets by state, and the local ports that they hold, from `/proc/net/sockstat` and `sockstat6`.

use std::path::{Path, PathBuf};

use plimsoll_record::metric::{ports, sockets};
use plimsoll_record::{CounterSet, Source};

use crate::collector::{Collector, Missing, Read, malformed, text};

/// The files of a network namespace that count its sockets.
#[derive(Debug)]
struct SocketCounts {
    file: PathBuf,
    file6: PathBuf,
}

impl SocketCounts {
    /// The files in the folder `net`.
    fn new(net: &Path) -> Self {
        Self { file: net.join("sockstat"), file6: net.join("sockstat6") }
    }

    /// The sockets of these states; those that are open, `inuse`, of both families. The kernel counts the others of both
    /// families together.
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

    /// The open sockets of IPv6. A kernel without it has no such file, and no such sockets.
    fn open6(&self) -> u64 {
        text(&self.file6).ok().and_then(|text| number(&text, "TCP6:", "inuse")).unwrap_or(0)
    }
}

/// The number after a name in a line of names and numbers.
fn number(text: &str, line: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|text| text.strip_prefix(line))?;
    let mut words = line.split_ascii_whitespace();
    words.find(|word| *word == name)?;
    words.next()?.parse().ok()
}

/// TCP sockets of one network namespace.
#[derive(Debug)]
pub(crate) struct Sockets(SocketCounts);

impl Sockets {
    /// The network namespace whose files are in the folder `net`.
    pub(crate) fn new(net: &Path) -> Self {
        Self(SocketCounts::new(net))
    }

    fn counters(&self) -> Result<CounterSet, Missing> {
        let [open, time_wait, orphans] = self.0.read(["inuse", "tw", "orphan"])?;
        Ok(CounterSet::from([
            (sockets::IN_USE, open),
            (sockets::TIME_WAIT, time_wait),
            (sockets::ORPHANS, orphans),
        ]))
    }
}

impl Collector for Sockets {
    fn read(&mut self) -> Vec<Read> {
        Read::host(Source::Sockets, self.counters())
    }
}

/// Sockets that may hold a local port, and how many ports there are. The sockets are those of both ends where the target is
/// on this machine, and of every other process: an upper bound of the ports in use.
#[derive(Debug)]
pub(crate) struct Ports {
    sockets: SocketCounts,
    range: PathBuf,
}

impl Ports {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            sockets: SocketCounts::new(&root.join("proc/net")),
            range: root.join("proc/sys/net/ipv4/ip_local_port_range"),
        }
    }

    fn counters(&self) -> Result<CounterSet, Missing> {
        let [open, time_wait] = self.sockets.read(["inuse", "tw"])?;
        Ok(CounterSet::from([
            (ports::SOCKETS_OPEN, Some(open)),
            (ports::SOCKETS_TIME_WAIT, Some(time_wait)),
            (ports::PORTS_IN_RANGE, self.in_range()),
        ]))
    }

    fn in_range(&self) -> Option<u64> {
        let text = text(&self.range).ok()?;
        let mut ends = text.split_ascii_whitespace().map(str::parse::<u64>);
        let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
        Some((last + 1).saturating_sub(first))
    }
}

impl Collector for Ports {
    fn read(&mut self) -> Vec<Read> {
        Read::host(Source::Ports, self.counters())
    }
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
        let found = only(Sockets::new(&root.path().join("proc/net")));
        assert_eq!(found, Reading::Ok(Counters::from(expected)));
        let root = tree(&[("net/sockstat", "TCP: alloc 3\n")]);
        assert!(matches!(only(Sockets::new(&root.path().join("net"))), Reading::Failed(_)));
    }

    #[test]
    fn the_range_of_ports_includes_both_its_ends() {
        let range = ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
        let root = tree(&[SOCKETS, range, ("proc/net/sockstat6", "TCP6: inuse 4\n")]);
        let expected =
            [(ports::SOCKETS_OPEN, 7), (ports::SOCKETS_TIME_WAIT, 17_089), (ports::PORTS_IN_RANGE, 28_232)];
        assert_eq!(only(Ports::new(root.path())), Reading::Ok(Counters::from(expected)));
    }

    #[test]
    fn a_range_that_is_not_known_is_left_out() {
        let expected = [(ports::SOCKETS_OPEN, 3), (ports::SOCKETS_TIME_WAIT, 17_089)];
        let found = only(Ports::new(tree(&[SOCKETS]).path()));
        assert_eq!(found, Reading::Ok(Counters::from(expected)), "missing is never zero");
        let root = tree(&[("proc/net/sockstat", "TCP: alloc 3\n")]);
        assert!(matches!(only(Ports::new(root.path())), Reading::Failed(_)));
    }
}
