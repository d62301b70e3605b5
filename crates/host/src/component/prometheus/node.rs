//! node_exporter's page, converted to the sources of a host.

use std::collections::BTreeMap;

use plimsoll_record::metric::{
    conntrack, core, cpu, disk, interface, memory, pressure, scheduler, sockets, tcp,
};
use plimsoll_record::{CounterSet, Metric, Source, Subject, is_inner_interface};

use super::row::Index;
use crate::collector::{Missing, Read};
use crate::system::cpu::MODES;

/// The labels of the modes of CPU time. Guest time has rows of its own, but is also part of `user` and `nice`.
const MODE_LABELS: [&str; MODES.len()] =
    ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];

const MS_PER_SEC: f64 = 1e3;
const US_PER_SEC: f64 = 1e6;

/// A row's name, the metric that it becomes, and how many of our units one of its units is.
type Names = &'static [(&'static str, Metric, f64)];

/// The sources with one subject, the host.
const OF_HOST: &[(Source, Names)] = &[
    (
        Source::Scheduler,
        &[
            ("node_context_switches_total", scheduler::CONTEXT_SWITCHES, 1.0),
            ("node_procs_running", scheduler::RUNNING, 1.0),
            ("node_procs_blocked", scheduler::BLOCKED, 1.0),
        ],
    ),
    (
        Source::Pressure,
        &[
            ("node_pressure_cpu_waiting_seconds_total", pressure::CPU_SOME_US, US_PER_SEC),
            ("node_pressure_io_waiting_seconds_total", pressure::IO_SOME_US, US_PER_SEC),
            ("node_pressure_io_stalled_seconds_total", pressure::IO_FULL_US, US_PER_SEC),
            ("node_pressure_memory_waiting_seconds_total", pressure::MEMORY_SOME_US, US_PER_SEC),
            ("node_pressure_memory_stalled_seconds_total", pressure::MEMORY_FULL_US, US_PER_SEC),
        ],
    ),
    (
        Source::Tcp,
        &[
            ("node_netstat_Tcp_OutSegs", tcp::SEGMENTS_SENT, 1.0),
            ("node_netstat_Tcp_InSegs", tcp::SEGMENTS_RECEIVED, 1.0),
            ("node_netstat_Tcp_RetransSegs", tcp::SEGMENTS_RETRANSMITTED, 1.0),
            ("node_netstat_TcpExt_TCPSynRetrans", tcp::SYN_RETRANSMITTED, 1.0),
            ("node_netstat_TcpExt_TCPTimeouts", tcp::TIMEOUTS, 1.0),
            ("node_netstat_TcpExt_ListenOverflows", tcp::LISTEN_OVERFLOWS, 1.0),
            ("node_netstat_TcpExt_ListenDrops", tcp::LISTEN_DROPS, 1.0),
            ("node_netstat_Tcp_ActiveOpens", tcp::ACTIVE_OPENS, 1.0),
            ("node_netstat_Tcp_PassiveOpens", tcp::PASSIVE_OPENS, 1.0),
            ("node_netstat_Tcp_AttemptFails", tcp::ATTEMPT_FAILS, 1.0),
            ("node_netstat_Tcp_OutRsts", tcp::RESETS_SENT, 1.0),
            ("node_netstat_Tcp_CurrEstab", tcp::ESTABLISHED, 1.0),
        ],
    ),
    (
        Source::Conntrack,
        &[
            ("node_nf_conntrack_entries", conntrack::ENTRIES, 1.0),
            ("node_nf_conntrack_entries_limit", conntrack::LIMIT, 1.0),
        ],
    ),
    (
        Source::Memory,
        &[
            ("node_memory_MemTotal_bytes", memory::TOTAL_BYTES, 1.0),
            ("node_memory_MemAvailable_bytes", memory::AVAILABLE_BYTES, 1.0),
            ("node_vmstat_pswpin", memory::SWAPPED_IN_PAGES, 1.0),
            ("node_vmstat_pswpout", memory::SWAPPED_OUT_PAGES, 1.0),
            ("node_vmstat_pgmajfault", memory::MAJOR_FAULTS, 1.0),
        ],
    ),
    (
        Source::Sockets,
        &[
            ("node_sockstat_TCP_tw", sockets::TIME_WAIT, 1.0),
            ("node_sockstat_TCP_orphan", sockets::ORPHANS, 1.0),
        ],
    ),
];

const DISK: Names = &[
    ("node_disk_reads_completed_total", disk::READ_OPS, 1.0),
    ("node_disk_read_bytes_total", disk::READ_BYTES, 1.0),
    ("node_disk_writes_completed_total", disk::WRITE_OPS, 1.0),
    ("node_disk_written_bytes_total", disk::WRITE_BYTES, 1.0),
    ("node_disk_io_time_seconds_total", disk::BUSY_MS, MS_PER_SEC),
    ("node_disk_flush_requests_total", disk::FLUSH_OPS, 1.0),
    ("node_disk_flush_requests_time_seconds_total", disk::FLUSH_MS, MS_PER_SEC),
    ("node_disk_io_now", disk::IN_FLIGHT, 1.0),
];

const INTERFACE: Names = &[
    ("node_network_receive_bytes_total", interface::RECEIVED_BYTES, 1.0),
    ("node_network_receive_packets_total", interface::RECEIVED_PACKETS, 1.0),
    ("node_network_receive_drop_total", interface::RECEIVED_DROPPED, 1.0),
    ("node_network_transmit_bytes_total", interface::SENT_BYTES, 1.0),
    ("node_network_transmit_packets_total", interface::SENT_PACKETS, 1.0),
    ("node_network_transmit_drop_total", interface::SENT_DROPPED, 1.0),
    // An interface of unknown speed has -1, which is left out like every negative number.
    ("node_network_speed_bytes", interface::SPEED_BITS_PER_SEC, 8.0),
];

/// Returns the same sources that a host's own files yield. A source without any row either does not exist on the host, or the
/// exporter was configured to leave it out.
pub(super) fn reads(index: &Index<'_>) -> Vec<Read> {
    let mut reads = cpu_times(index);
    for (source, names) in OF_HOST {
        let counters = names.iter().map(|(theirs, metric, scale)| (*metric, index.sum(theirs, *scale)));
        let mut counters: CounterSet = counters.collect();
        match source {
            Source::Memory => counters.put(memory::SWAP_USED_BYTES, swap_used(index)),
            Source::Sockets => counters.put(sockets::IN_USE, sockets_in_use(index)),
            _ => {}
        }
        let counters = if counters.is_empty() { Err(Missing::Absent) } else { Ok(counters) };
        reads.push(Read::new(*source, Subject::Host, counters));
    }
    let device = |source| {
        move |(device, counters): (&str, CounterSet)| Read::new(source, Subject::Named(device), Ok(counters))
    };
    reads.extend(by_device(index, DISK).into_iter().map(device(Source::Disk)));
    reads.extend(interfaces(index).into_iter().map(device(Source::Interface)));
    reads
}

fn cpu_times(index: &Index<'_>) -> Vec<Read> {
    let mut all = CounterSet::default();
    let mut cores: BTreeMap<&str, CounterSet> = BTreeMap::new();
    for row in index.all("node_cpu_seconds_total") {
        let mode = MODE_LABELS.iter().position(|label| row.label("mode") == Some(label));
        let (Some(mode), Some(core)) = (mode, row.label("cpu")) else { continue };
        let ms = (row.value * MS_PER_SEC).round() as u64;
        let (of_all, of_core) = MODES[mode];
        let times = cores.entry(core).or_default();
        [(of_core, ms), (core::TOTAL_MS, ms)].into_iter().for_each(|(metric, ms)| times.add(metric, ms));
        [(of_all, ms), (cpu::TOTAL_MS, ms)].into_iter().for_each(|(metric, ms)| all.add(metric, ms));
    }
    all.put(cpu::CORES, cores.len() as u64);
    let of_core = |(core, times): (&str, CounterSet)| {
        Read::new(Source::Core, Subject::parse(Source::Core, core), Ok(times))
    };
    let all = Read::new(Source::Cpu, Subject::Host, Ok(all));
    std::iter::once(all).chain(cores.into_iter().map(of_core)).collect()
}

fn swap_used(index: &Index<'_>) -> Option<u64> {
    let total = index.sum("node_memory_SwapTotal_bytes", 1.0)?;
    total.checked_sub(index.sum("node_memory_SwapFree_bytes", 1.0)?)
}

/// Returns the sockets of IPv4 and IPv6 together: only the sockets in use are counted per family.
fn sockets_in_use(index: &Index<'_>) -> Option<u64> {
    let v4 = index.sum("node_sockstat_TCP_inuse", 1.0)?;
    Some(v4.saturating_add(index.sum("node_sockstat_TCP6_inuse", 1.0).unwrap_or(0)))
}

fn by_device<'a>(index: &Index<'a>, names: Names) -> BTreeMap<&'a str, CounterSet> {
    let mut devices: BTreeMap<&str, CounterSet> = BTreeMap::new();
    for (theirs, metric, scale) in names {
        for row in index.all(theirs).filter(|row| row.value >= 0.0) {
            let Some(device) = row.label("device") else { continue };
            devices.entry(device).or_default().put(*metric, (row.value * scale).round() as u64);
        }
    }
    devices
}

/// Returns the interfaces by name. The loopback has no limit and is reported only if there is no other interface. Speeds of virtual
/// interfaces are left out: drivers make them up, such as 10 Gbit/s for a veth and 10 Mbit/s for a tunnel.
fn interfaces<'a>(index: &Index<'a>) -> BTreeMap<&'a str, CounterSet> {
    let mut devices = by_device(index, INTERFACE);
    if devices.len() > 1 {
        devices.remove("lo");
    }
    for (_, counters) in devices.iter_mut().filter(|(device, _)| is_inner_interface(device)) {
        counters.remove(interface::SPEED_BITS_PER_SEC);
    }
    devices
}
