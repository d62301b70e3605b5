//! TLS as typed: whom to trust, who the client is, what sessions do.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How connections to an `https` target are encrypted. The plan names files and holds no secret of theirs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TlsSpec {
    /// A PEM file of the certificates to trust in place of the system's authorities.
    pub cacert: Option<PathBuf>,
    /// A PEM file with the client's certificate, for servers that demand one.
    pub cert: Option<PathBuf>,
    /// A PEM file with the certificate's private key; the certificate's own file if none is given.
    pub key: Option<PathBuf>,
    /// Any certificate of the server is taken.
    pub insecure: bool,
    /// Whether connections resume the sessions of earlier ones.
    pub resumption: bool,
}

impl Default for TlsSpec {
    fn default() -> Self {
        Self { cacert: None, cert: None, key: None, insecure: false, resumption: true }
    }
}

impl TlsSpec {
    /// The files named, each with its option.
    fn files(&self) -> [(&'static str, Option<&PathBuf>); 3] {
        [("--cacert", self.cacert.as_ref()), ("--cert", self.cert.as_ref()), ("--key", self.key.as_ref())]
    }

    /// The first option that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let file = self.files().into_iter().find_map(|(option, path)| path.map(|_| option));
        let switches = [("--insecure", self.insecure), ("--no-resumption", !self.resumption)];
        file.or_else(|| switches.into_iter().find_map(|(option, given)| given.then_some(option)))
    }

    /// The first file whose name cannot be stored with the run, by its option.
    pub(crate) fn unstorable(&self) -> Option<&'static str> {
        let unstorable = |path: &PathBuf| path.to_str().is_none();
        self.files()
            .into_iter()
            .find_map(|(option, path)| path.filter(|path| unstorable(path)).map(|_| option))
    }
}
