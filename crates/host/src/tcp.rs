//! What TCP sent and had to send again, from `/proc/net/snmp` and `/proc/net/netstat`.

use std::path::{Path, PathBuf};

use plimsoll_record::Reading;

use crate::source::{Counters, Missing, Source, of_host, strange, text};

/// The counters taken, by file, by the line they stand in, and by the kernel's name for them.
const SNMP: &[(&str, &str)] = &[
    ("ActiveOpens", "active_opens"),
    ("PassiveOpens", "passive_opens"),
    ("AttemptFails", "attempt_fails"),
    ("CurrEstab", "established"),
    ("InSegs", "segments_received"),
    ("OutSegs", "segments_sent"),
    ("RetransSegs", "segments_retransmitted"),
    ("OutRsts", "resets_sent"),
];
const NETSTAT: &[(&str, &str)] = &[
    ("TCPSynRetrans", "syn_retransmitted"),
    ("TCPTimeouts", "timeouts"),
    ("ListenOverflows", "listen_overflows"),
    ("ListenDrops", "listen_drops"),
];

/// TCP of the whole network namespace, counted since it was made; only `established` is a level. `segments_retransmitted` contains
/// `syn_retransmitted`, and `segments_sent` contains neither (RFC 4022).
#[derive(Debug)]
pub(crate) struct Tcp {
    snmp: PathBuf,
    netstat: PathBuf,
}

impl Tcp {
    /// That of the network namespace whose files are in the folder `net`.
    pub(crate) fn new(net: &Path) -> Self {
        Self { snmp: net.join("snmp"), netstat: net.join("netstat") }
    }

    fn counters(&self) -> Result<Counters, Missing> {
        let mut counters = taken(&self.snmp, "Tcp:", SNMP)?;
        match taken(&self.netstat, "TcpExt:", NETSTAT) {
            Ok(more) => counters.extend(more),
            // An older kernel counts less, which makes the rest no less true.
            Err(Missing::Absent) => {}
            Err(failed) => return Err(failed),
        }
        Ok(counters)
    }
}

/// The named columns of a line of values, whose names stand in an equal line before it. A column that this kernel does
/// not have is left out, as long as there is any.
fn taken(file: &Path, line: &str, columns: &[(&str, &str)]) -> Result<Counters, Missing> {
    let text = text(file)?;
    let mut lines = text.lines().filter_map(|text| text.strip_prefix(line));
    let (names, values) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let all = || names.split_ascii_whitespace().zip(values.split_ascii_whitespace());
    let of = |name: &str| all().find(|(known, _)| *known == name)?.1.parse().ok();
    let counters: Counters =
        columns.iter().filter_map(|(name, ours)| Some(((*ours).to_owned(), of(name)?))).collect();
    if counters.is_empty() {
        return Err(strange(file, &format!("counters in a line `{line}`")));
    }
    Ok(counters)
}

impl Source for Tcp {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        of_host(self.counters())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::{only, tree};

    const SNMP_TEXT: &str = "Ip: Forwarding\nIp: 1\nTcp: RtoMin MaxConn OutSegs RetransSegs InErrs\n\
                             Tcp: 200 -1 412600919 42541 0\n";

    #[test]
    fn columns_are_found_by_their_names_and_those_that_are_missing_are_left_out() {
        let netstat = "TcpExt: SyncookiesSent TCPSynRetrans\nTcpExt: 237 4839\nMPTcpExt: A\nMPTcpExt: 1\n";
        let root = tree(&[("proc/net/snmp", SNMP_TEXT), ("proc/net/netstat", netstat)]);
        let Reading::Ok(counters) = only(Tcp::new(&root.path().join("proc/net"))) else { panic!("not read") };
        assert_eq!(counters["segments_sent"], 412_600_919);
        assert_eq!(counters["segments_retransmitted"], 42_541);
        assert_eq!(counters["syn_retransmitted"], 4_839);
        assert!(!counters.contains_key("timeouts"), "missing is never zero");
    }

    #[test]
    fn a_kernel_without_the_second_file_still_tells_of_the_first() {
        let root = tree(&[("proc/net/snmp", SNMP_TEXT)]);
        let Reading::Ok(counters) = only(Tcp::new(&root.path().join("proc/net"))) else { panic!("not read") };
        assert_eq!(counters.len(), 2);
    }

    #[test]
    fn a_file_without_tcp_is_a_failure() {
        let root = tree(&[("proc/net/snmp", "Ip: Forwarding\nIp: 1\n")]);
        assert!(matches!(only(Tcp::new(&root.path().join("proc/net"))), Reading::Failed(_)));
    }
}
