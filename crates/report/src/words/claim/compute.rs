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
        "the CPU of {} is the limit: {}{} used at {} requests/s{}{}{}",
        verdict.host(),
        share_text(used.share),
        if_known(count, |count| format!(" of its {}", cores(count))),
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
        format!(". Most of it is {name} ({cores} cores)")
    } else {
        let part = share_text(*part);
        format!(". The busiest watched process, {name}, has {part} of that ({cores} cores)")
    }
}

/// Says what the load generator used of the target's CPU, if it runs on the same machine.
fn generator_part(generator: Option<f64>) -> String {
    if_known(generator, |part| {
        format!(
            ". The load generator has {} of it; without that the target would serve more",
            share_text(part)
        )
    })
}

pub(super) fn network_core(verdict: &Verdict, used: &Used, packets: f64) -> String {
    format!(
        "one core of {} is the limit: {} was {} busy at {} requests/s, {} of it with network packets",
        verdict.host(),
        part_name(verdict),
        share_text(used.share),
        count_text(used.per_sec),
        share_text(packets)
    )
}

pub(super) fn allowed_cores(verdict: &Verdict, used: &Used) -> String {
    format!(
        "{} of {} is the limit: the target may run nowhere else. {} was used at {} requests/s{}, while other cores had time \
         left",
        part_name(verdict),
        verdict.host(),
        share_text(used.share),
        count_text(used.per_sec),
        cpu_cost(used)
    )
}

pub(super) fn cpu_taken(verdict: &Verdict, used: &Used, by_others: f64, generator: Option<f64>) -> String {
    let (host, name) = (verdict.host(), part_name(verdict));
    format!(
        "the CPU of {host} is the limit, and other processes take it: {} busy at {} requests/s, {} with {}{}",
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
        "the CPU of the machine below {host} is the limit: {host} had CPU left by its quota, but its ready threads got none \
         for {} of the time",
        share_text(kept)
    )
}

pub(super) fn confined(verdict: &Verdict, cores: usize, kept: f64) -> String {
    format!(
        "the {cores} core{} that the target may use on {} are the limit: they were full, and ready threads got none for {} \
         of the time, while other cores idled",
        if cores == 1 { "" } else { "s" },
        verdict.host(),
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
    let ready =
        if_known(waited, |part| format!(" and waited for one for another {} of the time", share_text(part)));
    let idle = if_known(idle, |part| format!(". {} of the CPU of {host} was idle", share_text(part)));
    let server = if name == host { host.to_owned() } else { format!("{name} on {host}") };
    format!(
        "{server} is the limit: {whose} used {} of a core{ready} at {} requests/s{}{idle}",
        share_text(used.share),
        count_text(used.per_sec),
        cpu_cost(used),
    )
}

/// `used` and `ready` are in cores: what the threads used, and the time for which they were ready but had no CPU.
pub(super) fn computing(
    verdict: &Verdict,
    [used, ready]: [f64; 2],
    threads: usize,
    at_once: f64,
    per_sec: f64,
) -> String {
    format!(
        "{} on {} is the limit: its {threads} busy threads used {} cores and waited for another {} at {} requests/s. That \
         is all the time of the {} requests served at once",
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
        if_known(throttled, |part| format!(". It was throttled in {} of its periods", share_text(part)))
    )
}
