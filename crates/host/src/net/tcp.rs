//! TCP connections opened, segments and retransmissions, from `/proc/net/snmp` and `/proc/net/netstat`.

use std::path::Path;

use plimsoll_record::metric::tcp;
use plimsoll_record::{CounterSet, Metric, Source};

use crate::collector::{Collector, Missing, malformed, text};

/// The counters read from each file, by the kernel's names.
const SNMP: &[(&str, Metric)] = &[
    ("ActiveOpens", tcp::ACTIVE_OPENS),
    ("PassiveOpens", tcp::PASSIVE_OPENS),
    ("AttemptFails", tcp::ATTEMPT_FAILS),
    ("CurrEstab", tcp::ESTABLISHED),
    ("InSegs", tcp::SEGMENTS_RECEIVED),
    ("OutSegs", tcp::SEGMENTS_SENT),
    ("RetransSegs", tcp::SEGMENTS_RETRANSMITTED),
    ("OutRsts", tcp::RESETS_SENT),
];
const NETSTAT: &[(&str, Metric)] = &[
    ("TCPSynRetrans", tcp::SYN_RETRANSMITTED),
    ("TCPTimeouts", tcp::TIMEOUTS),
    ("ListenOverflows", tcp::LISTEN_OVERFLOWS),
    ("ListenDrops", tcp::LISTEN_DROPS),
];

/// Returns a collector of TCP counters of the network namespace whose files are in the folder `net`. They count from its creation.
pub(crate) fn collector(net: &Path) -> Collector {
    let (snmp, netstat) = (net.join("snmp"), net.join("netstat"));
    Collector::host(Source::Tcp, move || {
        let mut counters = CounterSet::default();
        take(&mut counters, &snmp, "Tcp:", SNMP)?;
        match take(&mut counters, &netstat, "TcpExt:", NETSTAT) {
            // An older kernel has fewer counters; the others are kept.
            Ok(()) | Err(Missing::Absent) => Ok(counters),
            Err(failed) => Err(failed),
        }
    })
}

/// Adds the named columns of a line of values to `counters`. The line before it, with the same prefix, holds the column names.
/// Columns that this kernel lacks are left out, but at least one must be there.
fn take(
    counters: &mut CounterSet,
    file: &Path,
    line: &str,
    columns: &[(&str, Metric)],
) -> Result<(), Missing> {
    let text = text(file)?;
    let mut lines = text.lines().filter_map(|text| text.strip_prefix(line));
    let (names, values) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let all = || names.split_ascii_whitespace().zip(values.split_ascii_whitespace());
    let value = |name: &str| -> Option<u64> { all().find(|(known, _)| *known == name)?.1.parse().ok() };
    let found: Vec<(Metric, u64)> =
        columns.iter().filter_map(|(name, metric)| Some((*metric, value(name)?))).collect();
    if found.is_empty() {
        return Err(malformed(file, &format!("counters in a line `{line}`")));
    }
    counters.extend(found);
    Ok(())
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{Counters, Reading};

    use super::*;
    use crate::collector::tests::{only, tree};

    const SNMP_TEXT: &str = "Ip: Forwarding\nIp: 1\nTcp: RtoMin MaxConn OutSegs RetransSegs InErrs\n\
                             Tcp: 200 -1 412600919 42541 0\n";
    const FROM_SNMP: [(Metric, u64); 2] =
        [(tcp::SEGMENTS_SENT, 412_600_919), (tcp::SEGMENTS_RETRANSMITTED, 42_541)];

    fn read(files: &[(&str, &str)]) -> Reading {
        only(collector(&tree(files).path().join("proc/net")))
    }

    #[test]
    fn columns_are_found_by_their_names_and_those_that_are_missing_are_left_out() {
        let netstat = "TcpExt: SyncookiesSent TCPSynRetrans\nTcpExt: 237 4839\nMPTcpExt: A\nMPTcpExt: 1\n";
        let mut expected = CounterSet::from(FROM_SNMP);
        expected.put(tcp::SYN_RETRANSMITTED, 4_839);
        let found = read(&[("proc/net/snmp", SNMP_TEXT), ("proc/net/netstat", netstat)]);
        assert_eq!(found, Reading::Ok(expected.into()));
    }

    #[test]
    fn a_kernel_without_the_second_file_still_has_the_first() {
        assert_eq!(read(&[("proc/net/snmp", SNMP_TEXT)]), Reading::Ok(Counters::from(FROM_SNMP)));
    }

    #[test]
    fn a_file_without_tcp_is_a_failure() {
        assert!(matches!(read(&[("proc/net/snmp", "Ip: Forwarding\nIp: 1\n")]), Reading::Failed(_)));
    }
}
