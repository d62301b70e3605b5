//! Claims about processors, threads and quotas, a clause each.

use plimsoll_analyze::{BusiestProcess, Used, Verdict};
use plimsoll_units::{count_text, share_text, significant};

use crate::amount::if_known;
use crate::words::phrase::{cores, cpu_cost, part_name};

pub(super) fn cpu(
    verdict: &Verdict,
    count: Option<f64>,
    used: &Used,
    busiest: Option<&BusiestProcess>,
    generator: Option<f64>,
) -> String {
    format!(
        "the CPU of {} is the limit: {} of {} was used at {} requests/s{}{}{}",
        verdict.host(),
        share_text(used.share),
        count.map_or_else(|| "it".to_owned(), |count| format!("its {}", cores(count))),
        count_text(used.per_sec),
        cpu_cost(used),
        if_known(busiest, busiest_text),
        generator_part(generator)
    )
}

fn busiest_text(busiest: &BusiestProcess) -> String {
    let BusiestProcess { part, .. } = busiest;
    let cores = significant(busiest.cores);
    let name = match busiest.is_of_children {
        true => format!("short-lived processes of {}", busiest.name),
        false => busiest.name.clone(),
    };
    if *part > 0.5 {
        format!(", most of it by {name} ({cores} cores)")
    } else {
        let part = share_text(*part);
        format!(", {part} of that by {name} ({cores} cores), the busiest of the watched processes")
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

pub(super) fn network_core(verdict: &Verdict, used: &Used, packets: f64) -> String {
    format!(
        "one core of {} is the limit: {} was {} busy at {} requests/s, {} of its time on network packets",
        verdict.host(),
        part_name(verdict),
        share_text(used.share),
        count_text(used.per_sec),
        share_text(packets)
    )
}

pub(super) fn allowed_cores(verdict: &Verdict, used: &Used) -> String {
    format!(
        "the cores that the target may run on are the limit: {} of {} of {} was used at {} requests/s{}, while other \
         cores had time left",
        share_text(used.share),
        part_name(verdict),
        verdict.host(),
        count_text(used.per_sec),
        cpu_cost(used)
    )
}

pub(super) fn cpu_taken(verdict: &Verdict, used: &Used, by_others: f64, generator: Option<f64>) -> String {
    let (host, name) = (verdict.host(), part_name(verdict));
    format!(
        "the CPU of {host} is the limit, and other processes take it: {} was busy at {} requests/s, {} with {}{}",
        share_text(used.share),
        count_text(used.per_sec),
        share_text(by_others),
        if verdict.place.is_part() { &name } else { "other processes" },
        generator_part(generator)
    )
}

pub(super) fn cpu_below(verdict: &Verdict, kept: f64) -> String {
    let host = verdict.host();
    format!(
        "the CPU of the machine below {host} is the limit: threads of the target were ready and had none for {} of the \
         time they needed it, though {host} had not used up its own",
        share_text(kept)
    )
}

pub(super) fn confined(verdict: &Verdict, cores: usize, kept: f64) -> String {
    format!(
        "the cores that the target may use on {} are the limit: {cores} core{} of it were full, and its threads \
         were ready and had none for {} of the time they needed one, while others idled",
        verdict.host(),
        if cores == 1 { "" } else { "s" },
        share_text(kept)
    )
}

pub(super) fn thread(
    verdict: &Verdict,
    used: &Used,
    waited: Option<f64>,
    alike: usize,
    idle: Option<f64>,
) -> String {
    let (host, name) = (verdict.host(), part_name(verdict));
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
        cpu_cost(used),
    )
}

/// In cores: what the threads used, and what they were ready for and did not get.
pub(super) fn computing(
    verdict: &Verdict,
    [used, ready]: [f64; 2],
    threads: usize,
    at_once: f64,
    per_sec: f64,
) -> String {
    format!(
        "{} on {} is the limit: its {threads} busy threads used {} cores and were ready for another {} at {} \
         requests/s, and that is all the time of the {} requests that are served at once",
        part_name(verdict),
        verdict.host(),
        significant(used),
        significant(ready),
        count_text(per_sec),
        significant(at_once)
    )
}

pub(super) fn quota(verdict: &Verdict, used: &Used, throttled: Option<f64>) -> String {
    let (host, name) = (verdict.host(), part_name(verdict));
    let whose = if name == host { host.to_owned() } else { format!("{name} on {host}") };
    format!(
        "the CPU quota of {whose} is the limit: it used {} of its {} cores at {} requests/s{}{}",
        share_text(used.share),
        significant(used.capacity),
        count_text(used.per_sec),
        cpu_cost(used),
        if_known(throttled, |part| format!(", and was throttled in {} of its periods", share_text(part)))
    )
}
