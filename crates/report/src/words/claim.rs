//! The verdict in one paragraph: what was found and by which law; what else it may be; what comes next.

use plimsoll_analyze::{
    AtOnceLaw, BusiestProcess, Claim, Estimate, Limit, NextLimit, Place, PlaceCount, ResourceId,
    ResourceKind, ResourceUse, Suspect, Used, Verdict,
};
use plimsoll_units::{bytes_text, count_text, duration_text, share_text, significant};

use super::evidence::at;
use super::experiment;
use super::phrase::{
    cores, is_of_packets, joined, link_capacity, link_word, part_name, places, resource_name, resource_used,
    way, whole,
};
use super::table_claim::table_claim;
use crate::amount::if_known;

/// The paragraph; empty where the load alone says all that is known.
pub fn paragraph(verdict: &Verdict) -> String {
    let mut text = if_known(verdict.claim.as_ref(), |claim| claim_text(verdict, claim));
    for sentence in verdict.experiment.iter().map(experiment::sentences) {
        if text.is_empty() {
            text = format!("{} of {}.", verdict.limit.name(), verdict.place);
        }
        text.push(' ');
        text.push_str(&sentence);
    }
    text
}

fn claim_text(verdict: &Verdict, claim: &Claim) -> String {
    let sentence = match claim {
        Claim::GeneratorFull { used, rival } => return generator(used, rival.as_ref()),
        Claim::Unlawful(..)
        | Claim::Front { .. }
        | Claim::AllOfAlone { .. }
        | Claim::HeldPool { .. }
        | Claim::HeldQueue { .. }
        | Claim::TierFull { .. }
        | Claim::FollowsPool { .. }
        | Claim::RowFails { .. }
        | Claim::FewerGaveAsMuch { .. }
        | Claim::MoreLoadGaveMore { .. }
        | Claim::MoreLoadNotTried { .. }
        | Claim::StillGrows { .. }
        | Claim::FollowsCores { .. }
        | Claim::FollowsInstances { .. }
        | Claim::NotInTable { .. } => return table_claim(verdict, claim),
        Claim::Cpu { .. }
        | Claim::NetworkCore { .. }
        | Claim::AllowedCores { .. }
        | Claim::CpuTaken { .. }
        | Claim::CpuBelow { .. }
        | Claim::Confined { .. }
        | Claim::Thread { .. }
        | Claim::Computing { .. }
        | Claim::Quota { .. } => compute(verdict, claim),
        Claim::OneAtATime { .. }
        | Claim::TakingTurns { .. }
        | Claim::OneRequestAtATime(_)
        | Claim::Collecting { .. }
        | Claim::Paging { .. } => lock_or_memory(verdict, claim),
        Claim::Link { .. }
        | Claim::DiskCap { .. }
        | Claim::DiskWait { .. }
        | Claim::Pool { .. }
        | Claim::Dependency { .. } => resources(verdict, claim),
        Claim::Descriptors { .. }
        | Claim::TurnedAway { .. }
        | Claim::ConnectionsFull { .. }
        | Claim::AcceptQueue { .. }
        | Claim::Accepted { .. }
        | Claim::Closed { .. }
        | Claim::Refused { .. } => connections(verdict, claim),
    };
    let rest =
        if_known(verdict.busiest_other.as_ref(), |other| format!("; of the rest, {}", resource_used(other)));
    format!("{sentence}{rest}.{}{}", rivals(&verdict.also), next(verdict))
}

fn generator(used: &ResourceUse, rival: Option<&ResourceUse>) -> String {
    let (share, what) = (share_text(used.share), resource_name(&used.resource));
    match rival {
        None => format!("the load generator is the limit, not the target: {share} was used of {what}."),
        Some(rival) => format!(
            "the load generator and the target are both at their limit: {share} was used of {what}, and {} of {}; more of \
             only one of them would change nothing.",
            share_text(rival.share),
            resource_name(&rival.resource)
        ),
    }
}

fn rivals(also: &[Suspect]) -> String {
    let names: Vec<String> =
        also.iter().map(|one| format!("{} of {}", one.limit.name(), one.place)).collect();
    if_known((!names.is_empty()).then_some(names), |names| {
        format!(" The evidence does not distinguish it from {}.", joined(&names))
    })
}

fn next(verdict: &Verdict) -> String {
    let Some(next) = &verdict.next_limit else { return String::new() };
    let NextLimit { resource, at_per_sec, .. } = next;
    let what = resource_name(resource);
    let more = match verdict.limit {
        Limit::Thread => "With another thread at that work",
        Limit::Bandwidth | Limit::Packets => "With a wider link",
        Limit::Pool => "With a larger pool",
        Limit::Disk => "With a faster disk",
        Limit::Lock => "Without it",
        _ => "With more of it",
    };
    format!(" {more} throughput would reach about {}, where {what} stops it.", count_text(at_per_sec.value))
}

/// What a request costs of a processor: ` (81 µs a request)`; empty where it is not known.
fn cost(used: &Used) -> String {
    if_known(used.per_request, |cost| format!(" ({} a request)", duration_text(cost * 1e9)))
}

/// Sentences about processors, threads and quotas.
fn compute(verdict: &Verdict, claim: &Claim) -> String {
    let (host, name) = (verdict.host(), part_name(verdict));
    match claim {
        Claim::Cpu { cores: count, used, busiest, generator } => format!(
            "the CPU of {host} is the limit: {} of {} was used at {} requests/s{}{}{}",
            share_text(used.share),
            count.map_or_else(|| "it".to_owned(), |count| format!("its {}", cores(count))),
            count_text(used.per_sec),
            cost(used),
            if_known(busiest.as_ref(), busiest_text),
            generator_part(*generator)
        ),
        Claim::NetworkCore { used, packets } => format!(
            "one core of {host} is the limit: {name} was {} busy at {} requests/s, {} of its time on network packets",
            share_text(used.share),
            count_text(used.per_sec),
            share_text(*packets)
        ),
        Claim::AllowedCores { used } => format!(
            "the cores that the target may run on are the limit: {} of {name} of {host} was used at {} requests/s{}, while other \
             cores had time left",
            share_text(used.share),
            count_text(used.per_sec),
            cost(used)
        ),
        Claim::CpuTaken { used, by_others, generator } => format!(
            "the CPU of {host} is the limit, and other processes take it: {} was busy at {} requests/s, {} with {}{}",
            share_text(used.share),
            count_text(used.per_sec),
            share_text(*by_others),
            if name == host { "other processes" } else { name },
            generator_part(*generator)
        ),
        Claim::CpuBelow { kept } => format!(
            "the CPU of the machine below {host} is the limit: threads of the target were ready and had none for {} of the \
             time they needed it, though {host} had not used up its own",
            share_text(*kept)
        ),
        Claim::Confined { cores, kept } => format!(
            "the cores that the target may use on {host} are the limit: {cores} core{} of it were full, and its threads \
             were ready and had none for {} of the time they needed one, while others idled",
            if *cores == 1 { "" } else { "s" },
            share_text(*kept)
        ),
        Claim::Thread { used, waited, alike, idle } => thread((host, name), used, (*waited, *alike, *idle)),
        Claim::Computing { cores, ready, threads, at_once, per_sec } => format!(
            "{name} on {host} is the limit: its {threads} busy threads used {} cores and were ready for another {} at {} \
             requests/s, and that is all the time of the {} requests that are served at once",
            significant(*cores),
            significant(*ready),
            count_text(*per_sec),
            significant(*at_once)
        ),
        Claim::Quota { used, throttled } => format!(
            "the CPU quota of {} is the limit: it used {} of its {} cores at {} requests/s{}{}",
            if name == host { host.to_owned() } else { format!("{name} on {host}") },
            share_text(used.share),
            significant(used.capacity),
            count_text(used.per_sec),
            cost(used),
            if_known(*throttled, |part| format!(
                ", and was throttled in {} of its periods",
                share_text(part)
            ))
        ),
        _ => String::new(),
    }
}

/// What the load generator used of the target's CPU, where it runs on the same machine.
fn generator_part(generator: Option<f64>) -> String {
    if_known(generator, |part| {
        format!(
            ", {} of it by the load generator, without which the target would serve more",
            share_text(part)
        )
    })
}

fn busiest_text(busiest: &BusiestProcess) -> String {
    let BusiestProcess { name, part, .. } = busiest;
    let cores = significant(busiest.cores);
    if *part > 0.5 {
        format!(", most of it by {name} ({cores} cores)")
    } else {
        let part = share_text(*part);
        format!(", {part} of that by {name} ({cores} cores), the busiest of the watched processes")
    }
}

fn thread(
    (host, name): (&str, &str),
    used: &Used,
    (waited, alike, idle): (Option<f64>, usize, Option<f64>),
) -> String {
    let whose = match alike {
        1 => "one thread of it".to_owned(),
        more => format!("the busiest of its {more} busy threads"),
    };
    let ready = if_known(waited, |part| {
        format!(" and was ready for one for another {} of the time", share_text(part))
    });
    let idle = if_known(idle, |part| format!(", while {} of the CPU of {host} was idle", share_text(part)));
    let server = if name == host { host.to_owned() } else { format!("{name} on {host}") };
    format!(
        "{server} is the limit: {whose} used {} of a core{ready} at {} requests/s{}{idle}",
        share_text(used.share),
        count_text(used.per_sec),
        cost(used),
    )
}

/// Sentences about locks and memory.
fn lock_or_memory(verdict: &Verdict, claim: &Claim) -> String {
    let (host, name) = (verdict.host(), part_name(verdict));
    match claim {
        Claim::OneAtATime { threads, cores, per_sec } => format!(
            "a lock in {name} on {host} is the limit: its {threads} busy threads used {} cores between them at {} \
             requests/s, as if one ran at a time",
            significant(*cores),
            count_text(*per_sec)
        ),
        Claim::TakingTurns { cores, per_sec } => format!(
            "a lock in {name} on {host} is the limit: its threads take turns, any of them, and used {} cores together at {} \
             requests/s",
            significant(*cores),
            count_text(*per_sec)
        ),
        Claim::OneRequestAtATime(law) => format!(
            "a lock in {} is the limit: {}, and those that wait were all read",
            verdict.place,
            law_text(law)
        ),
        Claim::Collecting { part, heap } => format!(
            "the memory of {name} on {host} is the limit: it spent {} of its work on garbage collection{}",
            share_text(*part),
            if_known(*heap, |heap| format!("; its heap was {} full at its fullest", share_text(heap)))
        ),
        Claim::Paging { pages } => format!(
            "the memory of {host} is the limit: {} pages a request were fetched again because there was no room for them",
            significant(*pages)
        ),
        _ => String::new(),
    }
}

/// `1,000 requests/s of 8.00 ms each are 8.00 at once`.
fn law_text(law: &AtOnceLaw) -> String {
    format!(
        "{} requests/s of {} each are {} at once",
        count_text(law.per_sec),
        duration_text(law.unqueued_sec * 1e9),
        significant(law.at_once)
    )
}

/// Sentences about links, disks, pools and dependencies.
fn resources(verdict: &Verdict, claim: &Claim) -> String {
    let host = verdict.host();
    match claim {
        Claim::Link { link, used } => link_text(link, used),
        Claim::DiskCap { disk, used } => disk_cap(disk, used),
        Claim::DiskWait { process, threads, device } => format!(
            "the disk of {host} is the limit: {} threads of {} waited for it at any moment{}",
            significant(*threads),
            process.as_deref().unwrap_or("its processes"),
            if_known(device.as_ref(), |(device, share)| {
                format!(", and {device} was busy {} of the time", share_text(*share))
            })
        ),
        Claim::Pool { owners, size, law, delayed_ack } => pool(owners, *size, law, *delayed_ack),
        Claim::Dependency { tier, connections, busiest } => {
            dependency((tier, &verdict.place), *connections, busiest.as_ref())
        }
        _ => String::new(),
    }
}

fn link_text(link: &ResourceId, used: &Used) -> String {
    let each = if_known(used.per_request, |each| match is_of_packets(link) {
        true => format!(" ({} packets a request)", significant(each)),
        false => format!(" ({} a request)", bytes_text(each / 8.0)),
    });
    let interface = if link.detail.is_empty() { String::new() } else { format!(" of {}", link.detail) };
    format!(
        "the {} {} {} is the limit: {} of the {}{interface} was used at {} requests/s{each}",
        link_word(link),
        way(link),
        link.host,
        share_text(used.share),
        link_capacity(link, used.capacity),
        count_text(used.per_sec),
    )
}

fn disk_cap(disk: &ResourceId, used: &Used) -> String {
    let may = match disk.kind {
        ResourceKind::DiskRead => "may be read from it",
        _ => "may be written to it",
    };
    let each = if_known(used.per_request, |each| format!(" ({} a request)", bytes_text(each)));
    format!(
        "the disk of {} is the limit: {} of the {}/s that {may} were used at {} requests/s{each}",
        disk.host,
        share_text(used.share),
        bytes_text(used.capacity),
        count_text(used.per_sec),
    )
}

fn pool(owners: &[PlaceCount], size: Estimate, law: &AtOnceLaw, delayed_ack: Option<(f64, f64)>) -> String {
    let apiece = if owners.iter().map(|owner| owner.count).sum::<usize>() > 1 { " each" } else { "" };
    let sentence = format!(
        "a pool of about {} workers or connections in {}{apiece} is the limit: {}, and more at a time do not raise it",
        whole(size.value),
        places(owners),
        law_text(law)
    );
    match delayed_ack {
        None => sentence,
        Some((low, high)) => format!(
            "{sentence}; of that time about 40 ms are a delayed acknowledgement, for which no worker need be held, so that \
             they are between {} and {}",
            whole(low),
            whole(high)
        ),
    }
}

fn dependency((tier, outside): (&Place, &Place), connections: f64, busiest: Option<&ResourceUse>) -> String {
    let free = if_known(busiest, |used| format!(", while {}", resource_used(used)));
    format!(
        "what answers at {outside} is the limit, and it is not sampled: {tier} passes its requests on to it ({} connections \
         under load){free}",
        count_text(connections)
    )
}

/// Sentences about connections and refusals.
fn connections(verdict: &Verdict, claim: &Claim) -> String {
    let (place, host, name) = (&verdict.place, verdict.host(), part_name(verdict));
    match claim {
        Claim::Descriptors { open, limit, at: step } => format!(
            "the descriptors of {name} on {host} are the limit: {} of the {} it may have were open at {}",
            count_text(*open),
            count_text(*limit),
            at(step)
        ),
        Claim::TurnedAway { per_sec, at: step } => format!(
            "the connections that {name} on {host} allows are the limit: it turned away {} a second at {}",
            significant(*per_sec),
            at(step)
        ),
        Claim::ConnectionsFull { open, most } => format!(
            "the connections that {name} on {host} allows are the limit: {} of {} were open",
            count_text(*open),
            count_text(*most)
        ),
        Claim::AcceptQueue { per_sec, at: step } => format!(
            "the accept queue of {place} is the limit: {} connections a second found it full at {}",
            significant(*per_sec),
            at(step)
        ),
        Claim::Accepted { connections, threads } => format!(
            "the connections that {place} accepts are the limit: it serves {} at a time with {} threads, and accepts no more",
            count_text(connections.round()),
            count_text(*threads)
        ),
        Claim::Closed { part, per_sec, at: step, from } => format!(
            "the connections that {place} allows are the limit: {} of the requests at {} found theirs closed, and about {} \
             requests/s were served all the same, at any load beyond {}",
            share_text(*part),
            at(step),
            count_text(*per_sec),
            at(from)
        ),
        Claim::Refused { per_sec, part, at: step } => format!(
            "{place} refuses what is more than about {} requests/s: {} of the answers at {} were of status 429 or 503, and \
             what was served did not grow with the load",
            count_text(*per_sec),
            share_text(*part),
            at(step)
        ),
        _ => String::new(),
    }
}
