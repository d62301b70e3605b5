//! Addresses as scripts see them, and the two functions that resolve and try them.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use mlua::{FromLua, Lua, MetaMethod, UserData, UserDataMethods, Value};

use super::error::Unresolved;

/// How long an address may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// An address as a script gets it: opaque, but printable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address(pub(crate) SocketAddr);

impl UserData for Address {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        // IPv6 addresses stay without brackets, as scripts written for wrk expect.
        methods.add_meta_method(MetaMethod::ToString, |_, Self(at), ()| {
            Ok(format!("{}:{}", at.ip(), at.port()))
        });
    }
}

impl FromLua for Address {
    fn from_lua(value: Value, _: &Lua) -> mlua::Result<Self> {
        let address = value.as_userdata().and_then(|object| object.borrow::<Self>().ok());
        address.map(|address| *address).ok_or_else(|| {
            let kind = value.type_name();
            mlua::Error::runtime(format!("an address was expected, not a {kind}: use wrk.lookup"))
        })
    }
}

/// Opens a connection to `at` and closes it again.
pub(crate) fn connect(at: SocketAddr) -> io::Result<()> {
    TcpStream::connect_timeout(&at, CONNECT_TIMEOUT).map(drop)
}

/// Returns the first address of a host that accepts a connection at this service; `None` if none does.
pub(crate) fn first_reachable(host: &str, service: &str) -> Option<SocketAddr> {
    let found = lookup(host, service).ok()?;
    found.into_iter().map(|Address(at)| at).find(|at| connect(*at).is_ok())
}

/// Returns the addresses of a host at a service, which is a port number or the name of a scheme.
pub(crate) fn lookup(host: &str, service: &str) -> Result<Vec<Address>, Unresolved> {
    let unresolved = |cause: String| Unresolved { host: host.to_owned(), service: service.to_owned(), cause };
    let port = match service {
        "http" => 80,
        "https" => 443,
        number => number.parse().map_err(|_| unresolved("is no port number, http or https".to_owned()))?,
    };
    let found = (host, port).to_socket_addrs().map_err(|error| unresolved(error.to_string()))?;
    Ok(found.map(Address).collect())
}
