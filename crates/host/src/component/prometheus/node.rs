//! node_exporter's page as the sources of a host.

use std::collections::BTreeMap;

use plimsoll_record::Reading;

use super::{Index, Told, known};
use crate::source::Counters;

/// The modes of CPU time. Guests' time is told apart there too, but is part of `user` and `nice`.
const MODES: [(&str, &str); 8] = [
    ("user", "user_ms"),
    ("nice", "nice_ms"),
    ("system", "system_ms"),
    ("idle", "idle_ms"),
    ("iowait", "iowait_ms"),
    ("irq", "irq_ms"),
    ("softirq", "softirq_ms"),
    ("steal", "steal_ms"),
];

const MS_PER_SEC: f64 = 1e3;
const US_PER_SEC: f64 = 1e6;

/// A row's name, the counter that it becomes, and how many of its units one of theirs is.
type Names = &'static [(&'static str, &'static str, f64)];

/// The sources of one subject, the host.
const OF_HOST: &[(&str, Names)] = &[
    (
        "scheduler",
        &[
            ("node_context_switches_total", "context_switches", 1.0),
            ("node_procs_running", "running", 1.0),
            ("node_procs_blocked", "blocked", 1.0),
        ],
    ),
    (
        "pressure",
        &[
            ("node_pressure_cpu_waiting_seconds_total", "cpu_some_us", US_PER_SEC),
            ("node_pressure_io_waiting_seconds_total", "io_some_us", US_PER_SEC),
            ("node_pressure_io_stalled_seconds_total", "io_full_us", US_PER_SEC),
            ("node_pressure_memory_waiting_seconds_total", "memory_some_us", US_PER_SEC),
            ("node_pressure_memory_stalled_seconds_total", "memory_full_us", US_PER_SEC),
        ],
    ),
    (
        "tcp",
        &[
            ("node_netstat_Tcp_OutSegs", "segments_sent", 1.0),
            ("node_netstat_Tcp_InSegs", "segments_received", 1.0),
            ("node_netstat_Tcp_RetransSegs", "segments_retransmitted", 1.0),
            ("node_netstat_TcpExt_TCPSynRetrans", "syn_retransmitted", 1.0),
            ("node_netstat_TcpExt_TCPTimeouts", "timeouts", 1.0),
            ("node_netstat_TcpExt_ListenOverflows", "listen_overflows", 1.0),
            ("node_netstat_TcpExt_ListenDrops", "listen_drops", 1.0),
            ("node_netstat_Tcp_ActiveOpens", "active_opens", 1.0),
            ("node_netstat_Tcp_PassiveOpens", "passive_opens", 1.0),
            ("node_netstat_Tcp_AttemptFails", "attempt_fails", 1.0),
            ("node_netstat_Tcp_OutRsts", "resets_sent", 1.0),
            ("node_netstat_Tcp_CurrEstab", "established", 1.0),
        ],
    ),
    (
        "conntrack",
        &[("node_nf_conntrack_entries", "entries", 1.0), ("node_nf_conntrack_entries_limit", "limit", 1.0)],
    ),
];

const DISK: Names = &[
    ("node_disk_reads_completed_total", "read_ops", 1.0),
    ("node_disk_read_bytes_total", "read_bytes", 1.0),
    ("node_disk_writes_completed_total", "write_ops", 1.0),
    ("node_disk_written_bytes_total", "write_bytes", 1.0),
    ("node_disk_io_time_seconds_total", "busy_ms", MS_PER_SEC),
    ("node_disk_flush_requests_total", "flush_ops", 1.0),
    ("node_disk_flush_requests_time_seconds_total", "flush_ms", MS_PER_SEC),
    ("node_disk_io_now", "in_flight", 1.0),
];

const INTERFACE: Names = &[
    ("node_network_receive_bytes_total", "received_bytes", 1.0),
    ("node_network_receive_packets_total", "received_packets", 1.0),
    ("node_network_receive_drop_total", "received_dropped", 1.0),
    ("node_network_transmit_bytes_total", "sent_bytes", 1.0),
    ("node_network_transmit_packets_total", "sent_packets", 1.0),
    ("node_network_transmit_drop_total", "sent_dropped", 1.0),
    // An interface that does not know its speed says -1, which is left out as every negative number is.
    ("node_network_speed_bytes", "speed_bits_per_sec", 8.0),
];

/// The same sources that a host's own files make.
pub(super) fn sources(index: &Index<'_>) -> Told {
    let mut told = Vec::new();
    cpu(index, &mut told);
    for (source, names) in OF_HOST {
        let reading =
            reading(names.iter().map(|(theirs, ours, scale)| (*ours, index.sum(theirs, *scale, |_| true))));
        told.push((*source, String::new(), reading));
    }
    told.push(("memory", String::new(), present(memory(index))));
    told.push(("sockets", String::new(), present(sockets(index))));
    for (device, counters) in by_device(index, DISK) {
        told.push(("disk", device, Reading::Ok(counters.into())));
    }
    for (device, counters) in interfaces(index) {
        told.push(("interface", device, Reading::Ok(counters.into())));
    }
    told
}

fn reading<'a>(values: impl Iterator<Item = (&'a str, Option<u64>)>) -> Reading {
    present(values.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
}

/// A source of which the exporter tells nothing is one that its host does not have, or that it was told to leave out.
fn present(counters: Counters) -> Reading {
    if counters.is_empty() { Reading::Absent } else { Reading::Ok(counters.into()) }
}

fn cpu(index: &Index<'_>, told: &mut Told) {
    let mut cores: BTreeMap<&str, Counters> = BTreeMap::new();
    for row in index.all("node_cpu_seconds_total") {
        let mode = MODES.iter().find(|(mode, _)| row.label("mode") == Some(mode));
        let (Some((_, ours)), Some(core)) = (mode, row.label("cpu")) else { continue };
        cores.entry(core).or_default().insert((*ours).to_owned(), (row.value * MS_PER_SEC).round() as u64);
    }
    let mut all = Counters::from([("cores".to_owned(), cores.len() as u64)]);
    for times in cores.values_mut() {
        times.insert("total_ms".to_owned(), times.values().sum());
        for (mode, ms) in times {
            *all.entry(mode.clone()).or_default() += *ms;
        }
    }
    told.push(("cpu", String::new(), Reading::Ok(all.into())));
    told.extend(cores.into_iter().map(|(core, times)| ("core", core.to_owned(), Reading::Ok(times.into()))));
}

fn memory(index: &Index<'_>) -> Counters {
    let one = |name| index.sum(name, 1.0, |_| true);
    let swap = || one("node_memory_SwapTotal_bytes")?.checked_sub(one("node_memory_SwapFree_bytes")?);
    known([
        ("total_bytes", one("node_memory_MemTotal_bytes")),
        ("available_bytes", one("node_memory_MemAvailable_bytes")),
        ("swap_used_bytes", swap()),
        ("swapped_in_pages", one("node_vmstat_pswpin")),
        ("swapped_out_pages", one("node_vmstat_pswpout")),
        ("major_faults", one("node_vmstat_pgmajfault")),
    ])
}

/// Sockets of both families: time-wait and orphans are counted together by the kernel, those in use apart.
fn sockets(index: &Index<'_>) -> Counters {
    let one = |name| index.sum(name, 1.0, |_| true);
    let in_use = one("node_sockstat_TCP_inuse").map(|v4| v4 + one("node_sockstat_TCP6_inuse").unwrap_or(0));
    known([
        ("time_wait", one("node_sockstat_TCP_tw")),
        ("orphans", one("node_sockstat_TCP_orphan")),
        ("in_use", in_use),
    ])
}

fn by_device(index: &Index<'_>, names: Names) -> BTreeMap<String, Counters> {
    let mut devices: BTreeMap<String, Counters> = BTreeMap::new();
    for (theirs, ours, scale) in names {
        for row in index.all(theirs).filter(|row| row.value >= 0.0) {
            let Some(device) = row.label("device") else { continue };
            let counters = devices.entry(device.to_owned()).or_default();
            counters.insert((*ours).to_owned(), (row.value * scale).round() as u64);
        }
    }
    devices
}

/// The loopback carries nothing that has a limit, so it is told of only where there is nothing else. A veth says 10 Gbit/s
/// whatever it is capped to.
fn interfaces(index: &Index<'_>) -> BTreeMap<String, Counters> {
    let mut devices = by_device(index, INTERFACE);
    if devices.len() > 1 {
        devices.remove("lo");
    }
    for (_, counters) in devices.iter_mut().filter(|(device, _)| device.starts_with("veth")) {
        counters.remove("speed_bits_per_sec");
    }
    devices
}
