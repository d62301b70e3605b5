//! The target and its addresses as scripts see them, and the two functions that resolve and try them.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use mlua::{FromLua, Lua, MetaMethod, UserData, UserDataMethods, Value};

use super::error::Unresolved;

/// How long one address may take to accept the connection that tries it.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The target of a run as the script's table `wrk` describes it.
#[derive(Clone, Debug, Default)]
pub struct ScriptTarget {
    /// `http` or `https`.
    pub scheme: String,
    /// The host without the brackets of an IPv6 address.
    pub host: String,
    /// The port, only if the URL names one: it is in the Host header only then.
    pub port: Option<u16>,
    /// Everything from the path to the end of the URL.
    pub path: String,
    /// Header fields given on the command line.
    pub headers: Vec<(String, String)>,
    /// Addresses of the host; empty to ask the resolver.
    pub addresses: Vec<SocketAddr>,
}

impl ScriptTarget {
    /// The port as text, or the scheme that implies it.
    pub(crate) fn service(&self) -> String {
        self.port.map_or_else(|| self.scheme.clone(), |port| port.to_string())
    }
}

/// An address in the hands of a script: opaque, but it can be printed.
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
        let kind = value.type_name();
        let address = value.as_userdata().and_then(|object| object.borrow::<Self>().ok());
        address.map(|address| *address).ok_or_else(|| {
            mlua::Error::runtime(format!("an address was expected, not a {kind}: use wrk.lookup"))
        })
    }
}

/// Opens a connection to `at` and closes it again.
pub(crate) fn connect(at: SocketAddr) -> io::Result<()> {
    TcpStream::connect_timeout(&at, CONNECT_TIMEOUT).map(drop)
}

/// The addresses of a host at a service, which is a port number or the name of a scheme.
///
/// The target's own host at its own service has the addresses that the target was given, if it was given any.
pub(crate) fn lookup(target: &ScriptTarget, host: &str, service: &str) -> Result<Vec<Address>, Unresolved> {
    if host == target.host && service == target.service() && !target.addresses.is_empty() {
        return Ok(target.addresses.iter().copied().map(Address).collect());
    }
    let unresolved = |cause: String| Unresolved { host: host.to_owned(), service: service.to_owned(), cause };
    let port = port(service).ok_or_else(|| unresolved("is no port number, http or https".to_owned()))?;
    let found = (host, port).to_socket_addrs().map_err(|error| unresolved(error.to_string()))?;
    Ok(found.map(Address).collect())
}

fn port(service: &str) -> Option<u16> {
    match service {
        "http" => Some(80),
        "https" => Some(443),
        number => number.parse().ok(),
    }
}
