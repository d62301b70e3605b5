//! The verifier of server certificates.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;

use crate::settings::{TlsError, TlsSettings, authorities};

mod accept_any;
mod trusted;

/// The verifier for these settings.
pub(crate) fn new(
    settings: &TlsSettings,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, TlsError> {
    if !settings.verify {
        return Ok(Arc::new(accept_any::AcceptAny::new(provider)));
    }
    let (store, given) = authorities(&settings.roots)?;
    let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider)).build();
    let chains = chains.map_err(|error| TlsError::NoSystemRoots { reason: format!(": {error}") })?;
    Ok(Arc::new(trusted::Trusted::new(chains, given)))
}
