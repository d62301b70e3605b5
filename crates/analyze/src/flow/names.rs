//! Which host an address belongs to.

use std::collections::BTreeMap;

use plimsoll_plan::Plan;

use super::{Listening, is_any, split};

/// The names of hosts by their addresses, as the plan gives them.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    names: BTreeMap<String, String>,
}

impl Addresses {
    /// Those of a plan.
    pub(super) fn of(plan: &Plan) -> Self {
        let pairs = plan.hosts.iter().filter_map(|host| Some((host.address?.to_string(), host.name.clone())));
        Self { names: pairs.collect() }
    }

    /// The name of an address' host, or the address itself.
    pub(super) fn name(&self, peer: &str) -> String {
        let host = split(peer).and_then(|(address, _)| self.names.get(address));
        host.cloned().unwrap_or_else(|| peer.to_owned())
    }

    /// Who listens on an address: on just this one; on all addresses of the host that has it; or, where the plan does
    /// not say whose it is, the only one who listens on all addresses with that port.
    pub(super) fn listener<'l, 'a>(&self, all: &'l [Listening<'a>], peer: &str) -> Option<&'l Listening<'a>> {
        let (address, port) = split(peer)?;
        let of_port = || all.iter().filter(move |one| one.port == port);
        let exact = of_port().find(|one| one.address == address);
        let owner = self.names.get(address);
        let owned = || owner.and_then(|owner| of_port().find(|one| one.host == owner));
        let only = || {
            let mut any = of_port().filter(|one| owner.is_none() && is_any(one.address));
            any.next().filter(|one| any.all(|other| (other.host, other.process) == (one.host, one.process)))
        };
        exact.or_else(owned).or_else(only)
    }
}
