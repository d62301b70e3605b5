//! From the probes of a plan to feeds.

use std::net::SocketAddr;
use std::path::Path;

use plimsoll_host::{Component, Feed, Host, LocalFeed, Ssh, StreamFeed, Watched};
use plimsoll_plan::{Plan, PlanHost, Probe};

/// The file tree of this machine.
const ROOT: &str = "/";

/// A feed, and what it is of.
#[derive(Debug)]
pub(crate) struct Watcher {
    pub(crate) feed: Box<dyn Feed>,
    /// It is one component that the user named.
    pub(crate) is_component: bool,
}

/// Where the target listens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// It is on this machine.
    pub(crate) local: bool,
    /// Its address; `None` for a unix socket.
    pub(crate) address: Option<SocketAddr>,
}

/// The feeds of all hosts that the plan looks at. A target on this machine is looked at too, whatever the plan says:
/// as the host that the plan looks at here, or that has its address, or else as [`PlanHost::LOCAL`].
pub(crate) fn watchers(plan: &Plan, target: Place) -> Vec<Watcher> {
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

/// One feed for what this machine tells of itself, and one for each other probe: what answers late delays none of the rest.
fn of_host(host: &PlanHost, target: Place) -> Vec<Watcher> {
    let port = target.address.map(|address| address.port());
    let here = host.probes.iter().any(Probe::is_here).then(|| Watcher {
        feed: Box::new(LocalFeed::new(&host.name, vec![local(host, port.filter(|_| target.local))])),
        is_component: false,
    });
    let elsewhere = |probe| elsewhere(host, probe, port.filter(|_| !target.local));
    here.into_iter().chain(host.probes.iter().filter_map(elsewhere)).collect()
}

/// This machine, with the processes that the host's probes name, and the target's if that listens here.
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

/// What does not tell of this machine as a whole.
fn elsewhere(host: &PlanHost, probe: &Probe, target_port: Option<u16>) -> Option<Watcher> {
    if let Probe::Ssh { user, host: name, port } = probe {
        // That machine may be the target's, whose process is then looked into.
        let asked = target_port.map_or_else(Vec::new, |port| vec!["--port".to_owned(), port.to_string()]);
        let ssh = Ssh::new(user.as_deref(), name, *port).asking(&asked);
        let feed = StreamFeed::ssh(&probe.to_string(), ssh).of_host(&host.name);
        return Some(Watcher { feed: Box::new(feed), is_component: false });
    }
    let mut asked = Host::elsewhere(&host.name);
    asked.add_component(Component::of(probe, Path::new(ROOT))?);
    let feed = LocalFeed::new(&probe.to_string(), vec![asked]);
    Some(Watcher { feed: Box::new(feed), is_component: true })
}
