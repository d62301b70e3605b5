//! Claims about locks, memory, links, disks, pools and dependencies, a clause each.

use plimsoll_analyze::{
    At, AtOnceLaw, Estimate, Part, Place, PlaceCount, ResourceId, ResourceKind, ResourceUse, Used, Verdict,
};
use plimsoll_units::{bytes_text, count_text, duration_text, share_text, significant};

use crate::amount::if_known;
use crate::words::evidence;
use crate::words::phrase::{link_capacity, link_word, part_name, placed, places, resource_used, way, whole};

pub(super) fn one_at_a_time(verdict: &Verdict, threads: usize, cores: f64, per_sec: f64) -> String {
    format!(
        "a lock in {} on {} is the limit: its {threads} busy threads used {} cores together at {} requests/s, as if one ran \
         at a time",
        part_name(verdict),
        verdict.host(),
        significant(cores),
        count_text(per_sec)
    )
}

pub(super) fn taking_turns(verdict: &Verdict, cores: f64, per_sec: f64) -> String {
    format!(
        "a lock in {} on {} is the limit: its threads take turns and used {} cores together at {} requests/s",
        part_name(verdict),
        verdict.host(),
        significant(cores),
        count_text(per_sec)
    )
}

pub(super) fn one_request_at_a_time(verdict: &Verdict, law: &AtOnceLaw) -> String {
    format!(
        "a lock in {} is the limit: {}, so one at a time. The others were read and wait inside",
        placed(&verdict.place),
        law_text(law)
    )
}

pub(super) fn some_take_turns(verdict: &Verdict, at: &At, median_sec: f64, times: f64) -> String {
    format!(
        "a lock that some requests take in {} is the limit: half of them took {} at {}, no longer than at the lowest load, \
         while the mean was {times:.1} times as long. Those that wait were read and wait inside",
        placed(&verdict.place),
        duration_text(median_sec * 1e9),
        evidence::at(at)
    )
}

pub(super) fn lock_between_processes(verdict: &Verdict, workers: usize, law: &AtOnceLaw) -> String {
    format!(
        "a lock between the {} processes of {} is the limit: {}. Those that wait have a process each, so they wait for \
         something that the processes share",
        workers,
        placed(&verdict.place),
        law_text(law)
    )
}

/// `1,000 requests/s × 8.00 ms = 8.00 at once`, by Little's law.
pub(super) fn law_text(law: &AtOnceLaw) -> String {
    format!(
        "{} requests/s × {} = {} at once",
        count_text(law.per_sec),
        duration_text(law.unqueued_sec * 1e9),
        significant(law.at_once)
    )
}

pub(super) fn collecting(verdict: &Verdict, part: f64, heap: Option<f64>) -> String {
    format!(
        "the memory of {} on {} is the limit: it spent {} of its work on garbage collection{}",
        part_name(verdict),
        verdict.host(),
        share_text(part),
        if_known(heap, |heap| format!("; its heap was {} full at its fullest", share_text(heap)))
    )
}

pub(super) fn paging(verdict: &Verdict, pages: f64) -> String {
    format!(
        "the memory of {} is the limit: {} pages a request were fetched again because there was no room for them",
        placed(&verdict.place),
        significant(pages)
    )
}

pub(super) fn link(link: &ResourceId, used: &Used) -> String {
    let each = if_known(used.per_request, |each| match link.is_of_packets() {
        true => format!(" ({} packets a request)", significant(each)),
        false => format!(" ({} a request)", bytes_text(each / 8.0)),
    });
    let interface = if link.part == Part::Whole { String::new() } else { format!(" of {}", link.part) };
    format!(
        "the {} {} {} is the limit: {} of the {}{interface} used at {} requests/s{each}",
        link_word(link),
        way(link),
        link.host,
        share_text(used.share),
        link_capacity(link, used.capacity),
        count_text(used.per_sec),
    )
}

pub(super) fn disk_cap(disk: &ResourceId, used: &Used) -> String {
    let may = match disk.kind {
        ResourceKind::DiskRead => "may be read from it",
        _ => "may be written to it",
    };
    let each = if_known(used.per_request, |each| format!(" ({} a request)", bytes_text(each)));
    format!(
        "the disk of {} is the limit: {} of the {}/s that {may} used at {} requests/s{each}",
        disk.host,
        share_text(used.share),
        bytes_text(used.capacity),
        count_text(used.per_sec),
    )
}

pub(super) fn disk_wait(
    verdict: &Verdict,
    process: Option<&str>,
    threads: f64,
    device: Option<&(Part, f64)>,
) -> String {
    format!(
        "the disk of {} is the limit: {} threads of {} waited for it at any moment{}",
        verdict.host(),
        significant(threads),
        process.unwrap_or("its processes"),
        if_known(device, |(device, share)| format!(
            ", and {device} was busy {} of the time",
            share_text(*share)
        ))
    )
}

pub(super) fn pool(
    owners: &[PlaceCount],
    size: Option<Estimate>,
    law: &AtOnceLaw,
    delayed_ack: Option<(f64, f64)>,
) -> String {
    let Some(size) = size else { return pool_of_unknown_size(owners, law) };
    let apiece = if owners.iter().map(|owner| owner.count).sum::<usize>() > 1 { " each" } else { "" };
    let sentence = format!(
        "a pool of about {} workers or connections in {}{apiece} is the limit: {}, and more load does not raise that",
        whole(size.value),
        places(owners),
        law_text(law)
    );
    match delayed_ack {
        None => sentence,
        Some((low, high)) => format!(
            "{sentence}. About 40 ms of that time are a delayed acknowledgement, which may need no worker, so there are {} to \
             {} of them",
            whole(low),
            whole(high)
        ),
    }
}

/// A pool of unknown size, because throughput was the same from the lowest load on.
fn pool_of_unknown_size(owners: &[PlaceCount], law: &AtOnceLaw) -> String {
    format!(
        "a pool of workers or connections in {} is the limit: throughput is {} requests/s from the lowest load on, and requests \
         may have waited for it even there. Its size is therefore not known; at most {} requests are served at once",
        places(owners),
        count_text(law.per_sec),
        whole(law.at_once)
    )
}

pub(super) fn dependency(
    verdict: &Verdict,
    tier: &Place,
    connections: f64,
    busiest: Option<&ResourceUse>,
) -> String {
    let free = if_known(busiest, |used| format!(". On the way, {} at most", resource_used(used)));
    format!(
        "what answers at {} is the limit, and it is not sampled: {} passes requests on to it over {} connections{free}",
        placed(&verdict.place),
        placed(tier),
        count_text(connections)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_without_a_size_says_only_how_many_it_serves_at_most() {
        let owners = [PlaceCount { place: Place::process("box", "java"), count: 1 }];
        let law = AtOnceLaw { per_sec: 800.0, unqueued_sec: 0.01, at_once: 8.0 };
        let said = pool(&owners, None, &law, None);
        assert!(said.contains("throughput is 800 requests/s from the lowest load on"), "{said}");
        assert!(
            said.ends_with("Its size is therefore not known; at most 8 requests are served at once"),
            "{said}"
        );
    }
}
