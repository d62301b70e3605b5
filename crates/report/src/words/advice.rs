//! What to try next, a sentence each.

mod hosts;
mod load;
mod queues;
mod tables;

use std::collections::BTreeSet;

use plimsoll_analyze::{Advice, Part, Place, Verdict};
use plimsoll_record::Source;

use super::generator::{failure_advice, remedy};
use super::phrase::{joined, part_name, placed};

/// The advice of a verdict, each sentence once.
pub fn advice(verdict: &Verdict) -> Vec<String> {
    let mut sentences: Vec<String> = verdict.advice.iter().map(|advice| sentence(verdict, advice)).collect();
    let mut known = BTreeSet::new();
    sentences.retain(|sentence| known.insert(sentence.clone()));
    sentences
}

/// The match has no wildcard arm, so that the compiler demands the sentence of a new advice.
fn sentence(verdict: &Verdict, advice: &Advice) -> String {
    let (host, name) = (verdict.host(), part_name(verdict));
    match advice {
        Advice::NothingRan => load::NOTHING_RAN.to_owned(),
        Advice::NothingEnded => load::NOTHING_ENDED.to_owned(),
        Advice::Sweep => load::SWEEP.to_owned(),
        Advice::HigherRate => load::HIGHER_RATE.to_owned(),
        Advice::TooShort => load::TOO_SHORT.to_owned(),
        Advice::LongerRun => load::LONGER_RUN.to_owned(),
        Advice::LongerSteps => load::LONGER_STEPS.to_owned(),
        Advice::LongerBudget => load::LONGER_BUDGET.to_owned(),
        Advice::TargetLost(at_sec) => load::target_lost(*at_sec),
        Advice::Failure(advice) => failure_advice(*advice).to_owned(),
        Advice::Status(status) => load::status(*status),
        Advice::Check(check) => format!("look at one answer: does it meet {check}, or is the check wrong?"),
        Advice::Generator(reason) => remedy(reason).to_owned(),
        Advice::MoreForGenerator(resource) => load::more_for_generator(resource),
        Advice::WatchAtConnections(connections) => load::watch_at_connections(*connections),
        Advice::WatchAtRate(per_sec) => load::watch_at_rate(*per_sec),
        Advice::CompareAtOnce(predicted) => load::compare_at_once(*predicted),
        Advice::Climb(connections) => load::climb(*connections),
        Advice::BeginLower => load::BEGIN_LOWER.to_owned(),
        Advice::SomethingElse => load::SOMETHING_ELSE.to_owned(),
        Advice::MoreCores { connections, another_worker } => {
            hosts::more_cores(host, *connections, *another_worker)
        }
        Advice::SpreadPackets => hosts::spread_packets(host),
        Advice::MoveOthers => format!("run {name} and the target on different machines, and repeat the load"),
        Advice::FindOthers => hosts::find_others(host),
        Advice::MoreOfItsCores { more_workers } => hosts::more_of_its_cores(host, *more_workers),
        Advice::AnotherWorker(connections) => hosts::another_worker(host, &name, *connections),
        Advice::MoreQuota { cores, connections } => hosts::more_quota(&name, *cores, *connections),
        Advice::FewerPackets(link) => hosts::fewer_packets(link),
        Advice::SmallerMessages => hosts::smaller_messages(host),
        Advice::FewerDiskBytes => hosts::fewer_disk_bytes(host),
        Advice::BatchWrites => hosts::batch_writes(host),
        Advice::TwiceHeap { gain } => hosts::twice_heap(host, &name, *gain),
        Advice::MoreMemory => hosts::more_memory(&placed(&verdict.place)),
        Advice::ProfileWaits(connections) => hosts::profile_waits(host, &name, *connections),
        Advice::HeldBack(per_sec) => queues::held_back(*per_sec),
        Advice::LargerPool { owners, size } => queues::larger_pool(owners, *size),
        Advice::NoDelay(owners) => queues::no_delay(owners),
        Advice::WatchDependency(at_once) => queues::watch_dependency(&verdict.place, *at_once),
        Advice::MoreDescriptors => queues::more_descriptors(host, &name),
        Advice::RaiseSetting => {
            format!("raise {} of {name} on {host} and repeat the load", setting(&verdict.place))
        }
        Advice::MoreConnections => queues::more_connections(host, &name),
        Advice::TrackMore => queues::track_more(host),
        Advice::LongerBacklog => queues::longer_backlog(host),
        Advice::AcceptMore(connections) => queues::accept_more(&verdict.place, *connections),
        Advice::AllowMore => queues::allow_more(&verdict.place),
        Advice::RaisePolicy => queues::raise_policy(&verdict.place),
        Advice::MeasureRowAgain => tables::MEASURE_ROW_AGAIN.to_owned(),
        Advice::LookAtFront => tables::look_at_front(host),
        Advice::LookAtHosts(tiers) => format!("look at the hosts of {}", joined(tiers)),
        Advice::LargerTierPool { tiers, workers } => tables::larger_tier_pool(tiers, *workers),
        Advice::MoreLoad => tables::MORE_LOAD.to_owned(),
        Advice::AddFigures => tables::ADD_FIGURES.to_owned(),
        Advice::LookInto => tables::LOOK_INTO.to_owned(),
    }
}

/// Returns the setting that limits the connections of a component.
fn setting(place: &Place) -> &'static str {
    let component = match place.of_host() {
        Some(Part::Component { component, .. }) => Some(component),
        _ => None,
    };
    match component {
        Some(Source::Nginx) => "worker_connections",
        Some(Source::Memcached) => "-c",
        Some(Source::Mariadb) => "max_connections",
        Some(Source::Redis) => "maxclients",
        _ => "the limit of connections",
    }
}
