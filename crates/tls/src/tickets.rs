//! The store of tickets for resumption.
//!
//! rustls's own store keeps eight tickets for a server. A load test without keep-alive has hundreds of connections to one
//! server, and each uses up a ticket (RFC 8446, C.4), so this store keeps [`MAX_TICKETS`].

use std::collections::HashMap;
use std::fmt;

use parking_lot::Mutex;
use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;

/// Maximum number of tickets of one server; each takes some kilobytes.
const MAX_TICKETS: usize = 256;
/// Maximum number of servers; a plan names few.
const MAX_SERVERS: usize = 64;

#[derive(Default)]
struct Server {
    group: Option<NamedGroup>,
    tls12: Option<Tls12ClientSessionValue>,
    /// The newest ticket is used first, because it is valid longest.
    tls13: Vec<Tls13ClientSessionValue>,
}

#[derive(Default)]
pub(crate) struct Tickets(Mutex<HashMap<ServerName<'static>, Server>>);

impl Tickets {
    fn change(&self, name: ServerName<'static>, change: impl FnOnce(&mut Server)) {
        let mut servers = self.0.lock();
        if servers.len() < MAX_SERVERS || servers.contains_key(&name) {
            change(servers.entry(name).or_default());
        }
    }
}

impl fmt::Debug for Tickets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Tickets").finish_non_exhaustive()
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, name: ServerName<'static>, group: NamedGroup) {
        self.change(name, |server| server.group = Some(group));
    }

    fn kx_hint(&self, name: &ServerName<'_>) -> Option<NamedGroup> {
        self.0.lock().get(name)?.group
    }

    fn set_tls12_session(&self, name: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.change(name, |server| server.tls12 = Some(value));
    }

    fn tls12_session(&self, name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.0.lock().get(name)?.tls12.clone()
    }

    fn remove_tls12_session(&self, name: &ServerName<'static>) {
        if let Some(server) = self.0.lock().get_mut(name) {
            server.tls12 = None;
        }
    }

    fn insert_tls13_ticket(&self, name: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.change(name, |server| {
            if server.tls13.len() == MAX_TICKETS {
                server.tls13.swap_remove(0);
            }
            server.tls13.push(value);
        });
    }

    fn take_tls13_ticket(&self, name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.0.lock().get_mut(name)?.tls13.pop()
    }
}
