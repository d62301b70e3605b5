//! Converts the probes of a plan to feeds.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use plimsoll_host::{Component, Host, SampleSource, Ssh, Watched};
use plimsoll_plan::{Plan, PlanHost, Probe};

use crate::profile::without_query;

const ROOT: &str = "/";

#[derive(Debug)]
pub(crate) struct Watcher {
    pub(crate) feed: SampleSource,
    pub(crate) is_component: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TargetPlace {
    pub(crate) local: bool,
    /// The target's address; `None` for a unix socket.
    pub(crate) address: Option<SocketAddr>,
}

/// The feeds of all hosts that the plan samples. A target on this machine is always sampled: as the plan's host that is sampled
/// here or has the target's address, or else as [`PlanHost::LOCAL`].
pub(crate) fn watchers(plan: &Plan, target: TargetPlace) -> Vec<Watcher> {
    let mut hosts = plan.hosts.clone();
    let is_here = |host: &PlanHost| host.probes.iter().any(Probe::is_here);
    if target.local && !hosts.iter().any(is_here) {
        let ip = target.address.map(|address| address.ip());
        let is_it = |host: &&mut PlanHost| host.address.is_some() && host.address == ip;
        let probe = Probe::Local { port: None };
        match hosts.iter_mut().find(is_it) {
            Some(host) => host.probes.push(probe),
            None => hosts.push(PlanHost { probes: vec![probe], ..PlanHost::named(PlanHost::LOCAL) }),
        }
    }
    hosts.iter().flat_map(|host| of_host(host, target)).collect()
}

/// One feed for this machine, and one for each other probe, so that a late answer does not delay the others.
fn of_host(host: &PlanHost, target: TargetPlace) -> Vec<Watcher> {
    let port = target.address.map(|address| address.port());
    let here = host.probes.iter().any(Probe::is_here).then(|| Watcher {
        feed: SampleSource::local(&host.name, vec![local(host, port.filter(|_| target.local))]),
        is_component: false,
    });
    let elsewhere = |probe| elsewhere(host, probe, target);
    here.into_iter().chain(host.probes.iter().filter_map(elsewhere)).collect()
}

/// This machine with the processes that the host's probes name, and the target's process if it listens here.
fn local(host: &PlanHost, target_port: Option<u16>) -> Host {
    let mut watched = Watched::default();
    watched.ports.extend(target_port);
    for probe in &host.probes {
        match probe {
            Probe::Local { port } => watched.ports.extend(*port),
            Probe::Pid(pid) | Probe::Jvm(pid) => watched.pids.push(*pid),
            _ => {}
        }
    }
    Host::local(&host.name, Path::new(ROOT), &watched)
}

/// Options for `plimsoll` on another machine. If the target listens there, they name its port. Otherwise, or as long as that is not
/// known, they ask for every process that serves other machines, because one of these belongs to the target.
fn asked_of(host: &PlanHost, name: &str, target: TargetPlace) -> Vec<String> {
    let address = target.address.filter(|_| !target.local);
    let is = |ip: IpAddr| host.address == Some(ip) || name.parse() == Ok(ip);
    let port = address.map(|address| vec!["--port".to_owned(), address.port().to_string()]);
    let serving = (!address.is_some_and(|address| is(address.ip()))).then(|| "--serving".to_owned());
    port.into_iter().flatten().chain(serving).collect()
}

/// The feed of a probe that does not sample this machine as a whole.
fn elsewhere(host: &PlanHost, probe: &Probe, target: TargetPlace) -> Option<Watcher> {
    if let Probe::Ssh { user, host: name, port } = probe {
        let asked = asked_of(host, name, target);
        let ssh = Ssh::new(user.as_deref(), name, *port).asking(&asked);
        let feed = SampleSource::ssh(&probe.to_string(), ssh).of_host(&host.name);
        return Some(Watcher { feed, is_component: false });
    }
    let mut asked = Host::elsewhere(&host.name);
    asked.add_component(Component::from_probe(probe, Path::new(ROOT))?);
    let feed = SampleSource::local(&without_query(&probe.to_string()), vec![asked]);
    Some(Watcher { feed, is_component: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_targets_machine_is_asked_for_its_port_and_others_for_what_serves() {
        let elsewhere = TargetPlace { local: false, address: "192.0.2.1:80".parse().ok() };
        let here = TargetPlace { local: true, address: "127.0.0.1:80".parse().ok() };
        let asked = |name: &str, address: Option<&str>, target| {
            let host = PlanHost { address: address.and_then(|ip| ip.parse().ok()), ..PlanHost::named("web") };
            asked_of(&host, name, target).join(" ")
        };
        assert_eq!(asked("192.0.2.1", None, elsewhere), "--port 80");
        assert_eq!(asked("web.example", Some("192.0.2.1"), elsewhere), "--port 80");
        assert_eq!(asked("web.example", None, elsewhere), "--port 80 --serving", "it may be that machine");
        assert_eq!(asked("192.0.2.2", None, here), "--serving");
    }
}
