//! TLS connections that trust the certificates of `--cacert`, verified in the same way as those of the load.
//!
//! The HTTP client's own connector accepts only authorities. Here the file may also contain a server's own certificate.

use std::fmt;
use std::io::{Read, Write};

use plimsoll_tls::{Client, Roots, ServerName, TlsError, TlsSettings};
use rustls::{ClientConnection, StreamOwned};
use ureq::Error;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport, TransportAdapter,
};

/// Wraps connections to `https://` in TLS.
#[derive(Debug)]
pub(crate) struct TlsConnector(Client);

impl TlsConnector {
    /// Creates a connector that trusts the certificates in this PEM text.
    ///
    /// # Errors
    /// When the text contains no certificate, or an invalid one.
    pub(crate) fn new(cacert_pem: Vec<u8>) -> Result<Self, TlsError> {
        let settings =
            TlsSettings { roots: Roots::Pem(cacert_pem), resumption: false, ..TlsSettings::default() };
        Client::new(&settings).map(Self)
    }
}

impl<In: Transport> Connector<In> for TlsConnector {
    type Out = Either<In, TlsTransport>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        let Some(transport) = chained else { return Ok(None) };
        if !details.needs_tls() {
            return Ok(Some(Either::A(transport)));
        }
        let other = |error: TlsError| Error::Other(Box::new(error));
        let name = ServerName::parse(details.uri.host().unwrap_or_default()).map_err(other)?;
        let mut session = self.0.blocking_session(&name).map_err(other)?;
        let mut socket =
            TransportAdapter::new(transport.boxed(), std::sync::Arc::clone(&details.current_time));
        socket.set_timeout(details.timeout);
        session.complete_io(&mut socket)?;
        let buffers =
            LazyBuffers::new(details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Either::B(TlsTransport { buffers, stream: StreamOwned { conn: session, sock: socket } })))
    }
}

/// An open connection.
pub(crate) struct TlsTransport {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl Transport for TlsTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.stream.get_mut().set_timeout(timeout);
        Ok(self.stream.write_all(&self.buffers.output()[..amount])?)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.stream.get_mut().set_timeout(timeout);
        let amount = self.stream.read(self.buffers.input_append_buf())?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.get_mut().get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}

impl fmt::Debug for TlsTransport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TlsTransport").finish_non_exhaustive()
    }
}
