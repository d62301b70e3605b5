//! Certificates of the servers of tests.

use std::fs;
use std::io;
use std::path::Path;

/// Writes `cert.pem` for `localhost` and 127.0.0.1, signed by itself, and `key.pem`.
pub(crate) fn write_certificate(folder: &Path) -> io::Result<()> {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
    fs::write(folder.join("cert.pem"), made.cert.pem())?;
    fs::write(folder.join("key.pem"), made.signing_key.serialize_pem())
}
