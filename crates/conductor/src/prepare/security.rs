//! The TLS settings of a plan: reads its files and creates clients from them.

use std::io;
use std::path::{Path, PathBuf};

use plimsoll_engine::TlsConfig;
use plimsoll_plan::{Plan, TlsSpec};
use plimsoll_tls::{Client, Identity, Roots, ServerName, TlsError, TlsSettings};

/// Why connections cannot be encrypted as the plan asks.
#[derive(Debug, thiserror::Error)]
pub enum SecurityError {
    #[error(
        "could not read `{path}`, given with {option} ({source}); name a PEM file that this user can read"
    )]
    File { option: &'static str, path: PathBuf, source: io::Error },
    #[error(
        "`{path}`, given with --cert, holds no private key; name the file that does with --key, or put the key \
         into the same file"
    )]
    NoKey { path: PathBuf },
    #[error("{source}{files}")]
    Settings {
        source: TlsError,
        /// The files that were read, in parentheses after a space; may be empty.
        files: String,
    },
}

/// The TLS configurations of a run.
#[derive(Debug)]
pub(crate) struct Security {
    pub(crate) order: TlsConfig,
    /// For the connection before the load. It never resumes a session, and the load cannot resume its session, which would make the
    /// load's first handshakes cheaper.
    pub(crate) first: TlsConfig,
}

impl Security {
    /// Reads the plan's files and creates its clients; `None` for a plan without TLS.
    pub(crate) fn load(plan: &Plan) -> Result<Option<Self>, SecurityError> {
        let Some(spec) = &plan.tls else { return Ok(None) };
        let protocol: &[u8] = if plan.http2 { b"h2" } else { b"http/1.1" };
        let settings = TlsSettings {
            roots: match &spec.cacert {
                None => Roots::System,
                Some(path) => Roots::Pem(read("--cacert", path)?),
            },
            identity: identity(spec)?,
            verify: !spec.insecure,
            resumption: spec.resumption,
            alpn: vec![protocol.to_vec()],
        };
        let failed = |source| failed(spec, source);
        let name = ServerName::parse(&plan.target.host).map_err(failed)?;
        let client = Client::new(&settings).map_err(failed)?;
        let first = Client::new(&TlsSettings { resumption: false, ..settings }).map_err(failed)?;
        let first = TlsConfig { client: first, name: name.clone() };
        Ok(Some(Self { order: TlsConfig { client, name }, first }))
    }
}

/// Adds the names of the files to an error.
fn failed(spec: &TlsSpec, source: TlsError) -> SecurityError {
    match (&spec.cert, source) {
        (Some(path), TlsError::NoKey) if spec.key.is_none() => SecurityError::NoKey { path: path.clone() },
        (_, source) => SecurityError::Settings { source, files: files(spec) },
    }
}

/// The client's certificate with its key, which may be in the same file.
fn identity(spec: &TlsSpec) -> Result<Option<Identity>, SecurityError> {
    let Some(cert) = &spec.cert else { return Ok(None) };
    let chain_pem = read("--cert", cert)?;
    let key_pem = match &spec.key {
        None => chain_pem.clone(),
        Some(key) => read("--key", key)?,
    };
    Ok(Some(Identity { chain_pem, key_pem }))
}

/// The longest file of certificates, in bytes.
const MAX_PEM_BYTES: u64 = 16 << 20;

fn read(option: &'static str, path: &Path) -> Result<Vec<u8>, SecurityError> {
    let read = plimsoll_sys::read_regular(path, MAX_PEM_BYTES);
    read.map_err(|source| SecurityError::File { option, path: path.to_owned(), source })
}

/// Lists the files of a plan with their options, for an error about one of them.
fn files(spec: &TlsSpec) -> String {
    let given = [("--cacert", &spec.cacert), ("--cert", &spec.cert), ("--key", &spec.key)];
    let named: Vec<String> = given
        .into_iter()
        .filter_map(|(option, path)| Some(format!("{option} {}", path.as_ref()?.display())))
        .collect();
    if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) }
}
