//! What to try next, a sentence each.

use std::collections::BTreeSet;

use plimsoll_analyze::{Advice, Verdict};
use plimsoll_units::{count_text, duration_text, grouped, share_text, significant};

use super::generator::{failure_advice, remedy};
use super::phrase::{each_of, joined, part_name, places, resource_name, way, whole};
use crate::amount::{connections, counted, if_known};

/// The advice of a verdict, each sentence once.
pub fn advice(verdict: &Verdict) -> Vec<String> {
    let mut sentences: Vec<String> = verdict.advice.iter().map(|advice| of_load(verdict, advice)).collect();
    let mut known = BTreeSet::new();
    sentences.retain(|sentence| known.insert(sentence.clone()));
    sentences
}

fn of_load(verdict: &Verdict, advice: &Advice) -> String {
    match advice {
        Advice::NothingRan => "the run ended before its first step: run it again".to_owned(),
        Advice::Sweep => "one level of load cannot show a limit: run plimsoll sweep with the same URL to see where throughput stops growing".to_owned(),
        Advice::HigherRate => "the target keeps up with this rate: raise -R to find the highest".to_owned(),
        Advice::TooShort => "the measurement is too short to find a limit: give the load more time (-d, --step), or more requests (-n)".to_owned(),
        Advice::LongerRun => "an answer takes longer than the load lasted: use a longer -d".to_owned(),
        Advice::LongerSteps => "an answer takes longer than a step: use a longer --step".to_owned(),
        Advice::LongerBudget => "an answer takes longer than a step: use a longer --budget".to_owned(),
        Advice::WatchAtConnections(connections) => format!(
            "watch the target's CPU, per core, and its network during plimsoll run with -c {connections}: \
             what is full there is the limit; if nothing is, look for a pool or lock, or at what the target calls"
        ),
        Advice::WatchAtRate(per_sec) => format!(
            "the target falls behind: watch its CPU, per core, and its network during plimsoll run with -R {per_sec}"
        ),
        // The time of a request without a queue is known to a few per cent at best, so whole requests are all that can be said.
        Advice::CompareAtOnce(predicted) => format!(
            "the target works on about {} at once and the rest wait (its best throughput × the latency of the lowest \
             step): compare that with its cores and the sizes of its pools",
            counted(predicted.round().max(1.0) as u64, "request")
        ),
        Advice::Climb(count) => format!(
            "throughput was still growing at {}: give the ladder more time or higher steps",
            connections(*count)
        ),
        Advice::BeginLower => "throughput was the same from the lowest load on, which does not distinguish a lock from a pool, a policy that delays requests or \
             a link: begin the ladder lower if it did not begin at 1 connection, and watch the generator's own link".to_owned(),
        Advice::SomethingElse => "look for what else holds requests back: what is named as an alternative or as the next limit, and hosts and \
             components that were not sampled".to_owned(),
        _ => of_failures(verdict, advice),
    }
}

fn of_failures(verdict: &Verdict, advice: &Advice) -> String {
    match advice {
        Advice::NothingEnded => "no request ended: let the run last longer than one answer takes".to_owned(),
        Advice::TargetLost(at_sec) => format!(
            "look at the target's log and at its process: it answered until {} after the run began, then it was gone",
            duration_text(at_sec * 1e9)
        ),
        Advice::Failure(advice) => failure_advice(*advice).to_owned(),
        Advice::Status(status) => of_status(*status),
        Advice::Check(check) => format!("look at one answer: does it meet {check}, or is the check wrong?"),
        Advice::Generator(reason) => remedy(reason).to_owned(),
        Advice::MoreForGenerator(resource) => format!(
            "give the generator more of it ({}), or use a second machine, and repeat the load",
            resource_name(resource)
        ),
        _ => of_hosts(verdict, advice),
    }
}

/// Advice for a status that is no success.
fn of_status(status: u16) -> String {
    match status {
        401 | 403 => {
            format!("status {status}: does the target want credentials? add them with -H 'Authorization: …'")
        }
        404 | 405 => format!("status {status}: check the path and the method"),
        429 | 503 => format!(
            "status {status}: the target refuses load; look for a rate limit or a full queue in front of it"
        ),
        500..=599 => format!("status {status}: look at the target's log"),
        _ => format!("status {status}: try the request alone and compare"),
    }
}

fn of_hosts(verdict: &Verdict, advice: &Advice) -> String {
    let (host, name) = (verdict.host(), part_name(verdict));
    match advice {
        Advice::MoreCores { connections, another_worker } => {
            let with = if *another_worker { " and its busiest process another worker" } else { "" };
            format!(
                "give {host} half as many cores again{with}, or take a third of its CPU cost a request away, and {}: throughput \
                 should grow by half, or up to the next limit",
                repeat(*connections)
            )
        }
        Advice::SpreadPackets => format!(
            "spread the packets of {host} over its cores (receive queues of the interface, RPS) and repeat the load"
        ),
        Advice::MoveOthers => format!("move {name} away from {host}, or the target, and repeat the load"),
        Advice::FindOthers => {
            format!("look for what else runs on the machine of {host}, and repeat the load without it")
        }
        Advice::MoreOfItsCores => format!(
            "look at which cores the target on {host} may use (taskset, cpuset, CPUAffinity), give it more of them, and \
             repeat the load"
        ),
        Advice::AnotherWorker(connections) => format!(
            "give {name} on {host} another worker, thread or instance and {}: more cores alone will not help",
            repeat(*connections)
        ),
        Advice::MoreQuota { cores, connections } => format!(
            "raise the CPU quota of {name} by half, to {} cores, and {}",
            significant(*cores),
            repeat(*connections)
        ),
        Advice::FewerPackets(link) => format!(
            "send fewer and larger packets {} {} (keep-alive, fewer round trips), or raise its packet limit by half, and repeat \
             the load",
            way(link),
            link.host
        ),
        Advice::SmallerMessages => format!(
            "make responses or requests half as large (compression), or raise the link of {host} by half, and repeat the load"
        ),
        Advice::FewerDiskBytes => format!(
            "let requests need fewer bytes of the disk (batch, cache, smaller records), or raise the cap of {host} by half, \
             and repeat the load"
        ),
        Advice::BatchWrites => format!(
            "write several requests' data at once (batch, group commit), or try a faster disk or a memory file system on \
             {host}, and repeat the load"
        ),
        Advice::TwiceHeap { gain } => format!(
            "give {name} on {host} twice the heap and repeat the load: collecting should take half as much, and \
             throughput grow by {} or up to the next limit",
            share_text(*gain)
        ),
        Advice::MoreMemory => format!(
            "give {host} half as much memory again, or its processes less to hold, and repeat the load"
        ),
        Advice::ProfileWaits(connections) => format!(
            "take a profile of where {name} on {host} waits{} (off-CPU, mutex profile), shorten what is \
             done under the lock, and repeat the load; a second process would show it too",
            if_known(*connections, |connections| format!(" during -c {connections}"))
        ),
        _ => of_queues(verdict, advice),
    }
}

/// The load of a run is repeated by its connections, that of a row of a table as it was made.
fn repeat(connections: Option<u32>) -> String {
    match connections {
        Some(connections) => format!("repeat the load with -c {connections}"),
        None => "repeat the row".to_owned(),
    }
}

fn of_queues(verdict: &Verdict, advice: &Advice) -> String {
    let (place, host, name) = (&verdict.place, verdict.host(), part_name(verdict));
    match advice {
        // What holds throughput down without being busy, and is neither a pool nor a lock.
        Advice::HeldBack(per_sec) => format!(
            "if nothing there is set to that, look for a rate limit that delays requests, or a link that is shaped on the way: \
             either holds throughput at {} requests/s whatever the load",
            count_text(*per_sec)
        ),
        Advice::LargerPool { owners, size } => format!(
            "raise the pool in {} from about {} to {} (threads, workers, connections to what it uses) and repeat the load: \
             throughput should grow by half, or up to the next limit",
            places(owners),
            whole(*size),
            whole(1.5 * size)
        ),
        Advice::NoDelay(owners) => format!(
            "set TCP_NODELAY in {}, or let it send head and body of an answer at once, and repeat the load: each answer should \
             come 40 ms earlier",
            places(owners)
        ),
        Advice::WatchDependency(at_once) => format!(
            "watch {place} too (--probe), or measure it alone: it serves about {} requests at once now",
            significant(*at_once)
        ),
        Advice::MoreDescriptors => format!(
            "raise the descriptor limit of {name} on {host} (ulimit -n, LimitNOFILE) and repeat the load"
        ),
        Advice::RaiseSetting => format!("raise {} of {name} on {host} and repeat the load", setting(name)),
        Advice::MoreConnections => {
            format!("let {name} on {host} have half as many connections again and repeat the load")
        }
        Advice::LongerBacklog => format!(
            "raise the backlog of the listener on {host} (listen(), net.core.somaxconn) and let connections be kept alive, \
             and repeat the load"
        ),
        Advice::AcceptMore(count) => format!(
            "raise the connections that {place} may have from {} to {} (maxconn, max-connections) and repeat the load: \
             throughput should grow by half, or up to the next limit",
            count_text(count.round()),
            count_text((1.5 * count).round())
        ),
        Advice::AllowMore => format!(
            "raise the connections that {place} may have (worker_connections, maxconn, a limit for each client), and repeat the load"
        ),
        Advice::RaisePolicy => format!(
            "look for a rate limit, a limit of connections or a bounded queue in {place} (limit_req, limit_conn, maxconn); \
             raise it by half and repeat the load: what is served should grow by half"
        ),
        _ => of_tables(verdict, advice),
    }
}

/// The setting that bounds the connections of a component.
fn setting(component: &str) -> &'static str {
    match component {
        "nginx" => "worker_connections",
        "memcached" => "-c",
        "mariadb" => "max_connections",
        "redis" => "maxclients",
        _ => "the limit of connections",
    }
}

fn of_tables(verdict: &Verdict, advice: &Advice) -> String {
    let place = verdict.host();
    match advice {
        Advice::MeasureRowAgain => {
            "measure it again with a client that reports the mean of all requests and keeps its connections busy".to_owned()
        }
        Advice::LookAtFront => {
            format!("look at the CPU of {place}, per worker, and at its link, and repeat the row")
        }
        Advice::LookAtHosts(tiers) => format!("look at the hosts of {}", joined(tiers)),
        Advice::LargerTierPool { tiers, workers } => {
            let workers = grouped(workers.ceil() as u64);
            format!("raise the pool of {} from about {workers} and repeat the row", each_of(tiers))
        }
        Advice::MoreLoad => "repeat the row with more load".to_owned(),
        Advice::AddFigures => "add what the machines used: CPU, link, what a tier serves alone".to_owned(),
        _ => "look at what the table does not show: a database, a cache, a lock or a pool that requests wait for".to_owned(),
    }
}
