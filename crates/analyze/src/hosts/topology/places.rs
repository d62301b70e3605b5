//! Which host an address belongs to.

use std::net::{IpAddr, SocketAddr};

use plimsoll_plan::{HostPort, Plan, PlanHost, Probe};
use plimsoll_record::Address;

use super::sockets::{Listener, Sockets};

/// The addresses of hosts, as far as they are known.
#[derive(Debug)]
pub(super) struct Places<'a> {
    pub(super) plan: &'a Plan,
    /// True if the target is on the machine that makes the load.
    pub(super) local: bool,
    pub(super) sockets: &'a Sockets<'a>,
}

/// True if a host of the plan has this address: the plan gives it, or a probe connects to it.
fn has(host: &PlanHost, ip: IpAddr) -> bool {
    let is = |text: &str| text.parse::<IpAddr>().is_ok_and(|address| address.to_canonical() == ip);
    let probed = |probe: &Probe| match probe {
        Probe::Ssh { host, .. }
        | Probe::Memcached(HostPort { host, .. })
        | Probe::Redis { address: HostPort { host, .. }, .. }
        | Probe::Mariadb { address: HostPort { host, .. }, .. } => is(host),
        Probe::None | Probe::Local { .. } | Probe::Pid(_) | Probe::Jvm(_) => false,
        Probe::Page(_) | Probe::Nginx(_) | Probe::Expvar(_) | Probe::Kubernetes(_) => false,
    };
    match host.address {
        Some(address) => address.to_canonical() == ip,
        None => host.probes.iter().any(probed),
    }
}

/// The name of this machine: the plan's name, if the plan samples it.
fn this_machine(plan: &Plan) -> &str {
    let here = |host: &&PlanHost| host.probes.iter().any(Probe::is_here);
    plan.hosts.iter().find(here).map_or(PlanHost::LOCAL, |host| host.name.as_str())
}

impl<'a> Places<'a> {
    /// The listener that takes connections to an address, as seen from a host, or from the generator.
    ///
    /// A host whose address the plan knows has that one and loopback. The addresses of other hosts are unknown, so that a
    /// listener on all addresses is taken for the one that is meant, if it is on the same host or on only one.
    pub(super) fn listener(&self, from: Option<&str>, address: Address<'a>) -> Option<Listener<'a>> {
        match address {
            Address::Tcp(address) => self.tcp_listener(from, address),
            Address::Unix(_) => self.sockets.unix_listener(from?, address),
        }
    }

    fn tcp_listener(&self, from: Option<&str>, address: SocketAddr) -> Option<Listener<'a>> {
        let on_port: Vec<Listener<'a>> = self.sockets.listeners(address.port()).collect();
        let found = |accepts: &dyn Fn(&str, IpAddr) -> bool| {
            on_port.iter().find(|one| one.ip().is_some_and(|ip| accepts(&one.host, ip))).cloned()
        };
        if let Some(host) = self.named(from, address.ip()) {
            return found(&|name, _| name == host);
        }
        let anywhere = |name: &str, ip: IpAddr| ip.is_unspecified() && !self.has_address(name);
        let same = found(&|name, ip| ip == address.ip() && !ip.is_loopback() && !self.has_address(name));
        let here = || found(&|name, ip| from == Some(name) && anywhere(name, ip));
        let called = || found(&|name, ip| from.is_none() && self.is_target(name) && anywhere(name, ip));
        let elsewhere = || {
            let open = on_port.iter().filter(|one| one.ip().is_some_and(|ip| anywhere(&one.host, ip)));
            let mut hosts: Vec<&str> = open.map(|one| one.host.as_str()).collect();
            hosts.dedup();
            let [only] = hosts[..] else { return None };
            found(&|name, ip| name == only && anywhere(name, ip))
        };
        same.or_else(here).or_else(called).or_else(elsewhere)
    }

    /// True if the host has the name of the target in its URL.
    fn is_target(&self, name: &str) -> bool {
        self.plan.target.host == name
    }

    /// The host that certainly has an address, as seen from a host, or from the generator.
    fn named(&self, from: Option<&str>, ip: IpAddr) -> Option<String> {
        let planned = self.planned(ip);
        let here = match from {
            Some(host) => ip.is_loopback().then_some(host),
            None => self.local.then(|| this_machine(self.plan)),
        };
        planned.or(here).map(ToOwned::to_owned)
    }

    /// The plan's name of the host that has an address.
    fn planned(&self, ip: IpAddr) -> Option<&str> {
        self.plan.hosts.iter().find(|host| has(host, ip)).map(|host| host.name.as_str())
    }

    /// The name of the host of an address where no listener is known.
    pub(super) fn host_name(&self, from: Option<&str>, address: Address<'_>) -> String {
        match address {
            Address::Tcp(address) => {
                self.named(from, address.ip()).unwrap_or_else(|| address.ip().to_string())
            }
            Address::Unix(_) => from.unwrap_or_default().to_owned(),
        }
    }

    /// The name of an address itself: the plan's name of its host, or else the address with its port.
    pub(super) fn name_of(&self, address: Address<'_>) -> String {
        match address {
            Address::Tcp(address) => {
                self.planned(address.ip()).map_or_else(|| address.to_string(), ToOwned::to_owned)
            }
            Address::Unix(_) => address.to_string(),
        }
    }

    fn has_address(&self, name: &str) -> bool {
        self.plan.hosts.iter().any(|host| host.name == name && host.address.is_some())
    }
}
