//! Advice about processors, links, disks, memory and locks of a host.

use plimsoll_analyze::ResourceId;
use plimsoll_units::{share_text, significant};

use crate::amount::if_known;
use crate::words::phrase::way;

/// Says how to repeat a load: that of a run by its connections, that of a table's row as it was made.
fn repeat(connections: Option<u32>) -> String {
    match connections {
        Some(connections) => format!("repeat the load at {}", crate::amount::connections(connections)),
        None => "repeat the row".to_owned(),
    }
}

pub(super) fn more_cores(host: &str, connections: Option<u32>, another_worker: bool) -> String {
    let with = if another_worker { " and its busiest process another worker" } else { "" };
    format!(
        "give {host} half as many cores again{with}, or a request a third less to compute, and {}. Throughput should grow by \
         half, or up to the next limit",
        repeat(connections)
    )
}

pub(super) fn spread_packets(host: &str) -> String {
    format!(
        "spread the packets of {host} over its cores (receive queues of the interface, RPS) and repeat the load"
    )
}

pub(super) fn find_others(host: &str) -> String {
    format!("look for what else runs on the machine of {host}, and repeat the load without it")
}

pub(super) fn more_of_its_cores(host: &str, more_workers: bool) -> String {
    let with = if more_workers { ", and a worker for each of them," } else { "" };
    format!(
        "give the target on {host} more of its cores (taskset, cpuset, CPUAffinity){with} and repeat the load"
    )
}

pub(super) fn another_worker(host: &str, name: &str, connections: Option<u32>) -> String {
    format!(
        "give {name} on {host} another worker, thread or instance, and {}. More cores alone do not help",
        repeat(connections)
    )
}

pub(super) fn more_quota(name: &str, cores: f64, connections: Option<u32>) -> String {
    format!(
        "raise the CPU quota of {name} by half, to {} cores, and {}",
        significant(cores),
        repeat(connections)
    )
}

pub(super) fn fewer_packets(link: &ResourceId) -> String {
    format!(
        "send fewer and larger packets {} {} (keep-alive, fewer round trips), or raise its limit by half, and repeat the load",
        way(link),
        link.host
    )
}

pub(super) fn smaller_messages(host: &str) -> String {
    format!("send half as many bytes (compression), or widen the link of {host} by half, and repeat the load")
}

pub(super) fn fewer_disk_bytes(host: &str) -> String {
    format!(
        "use fewer bytes of the disk (batch, cache, smaller records), or raise the cap of {host} by half, and repeat the load"
    )
}

pub(super) fn batch_writes(host: &str) -> String {
    format!(
        "write several requests' data at once (batch, group commit), or give {host} a faster disk, and repeat the load"
    )
}

pub(super) fn twice_heap(host: &str, name: &str, gain: f64) -> String {
    format!(
        "give {name} on {host} twice the heap and repeat the load. Collecting should take half as much, and throughput grow \
         by {} or up to the next limit",
        share_text(gain)
    )
}

pub(super) fn more_memory(whose: &str) -> String {
    format!("give {whose} half as much memory again, or its processes less to hold, and repeat the load")
}

pub(super) fn profile_waits(host: &str, name: &str, connections: Option<u32>) -> String {
    format!(
        "profile where {name} on {host} waits{} (off-CPU, mutex profile), shorten what is done under the lock, and repeat the \
         load. A second process would show it too",
        if_known(connections, |connections| format!(" during -c {connections}"))
    )
}
