//! The request of a run without a script, and the target as a script sees it.

use crate::options::Options;
use crate::script::ScriptTarget;

/// The request that wrk sends without a script: a GET with a Host and the headers of the command line.
pub(super) fn plain(options: &Options) -> Vec<u8> {
    let url = &options.url;
    let mut text = format!("GET {} HTTP/1.1\r\n", url.path);
    if !options.headers.iter().any(|(name, _)| name == "Host") {
        let host = if url.host.contains(':') { format!("[{}]", url.host) } else { url.host.clone() };
        let port = url.port.as_ref().map(|port| format!(":{port}")).unwrap_or_default();
        text += &format!("Host: {host}{port}\r\n");
    }
    for (name, value) in &options.headers {
        text += &format!("{name}: {value}\r\n");
    }
    (text + "\r\n").into_bytes()
}

/// What a script finds in the table `wrk`.
pub(super) fn script_target(options: &Options) -> ScriptTarget {
    let url = &options.url;
    ScriptTarget {
        scheme: url.scheme.clone(),
        host: url.host.clone(),
        // The options hold a port only if it is one.
        port: url.port.as_ref().and_then(|port| port.parse().ok()),
        path: url.path.clone(),
        headers: options.headers.clone(),
        addresses: Vec::new(),
    }
}
