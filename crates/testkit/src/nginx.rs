//! The real nginx, with a configuration of its own.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::certificate::write_certificate;
use crate::server::{Server, ServerError, command};

/// How long nginx may take to say what it counted.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running nginx, one process with one worker; killed and waited for when dropped.
///
/// `/` answers `{"status":"ok"}`, `/brief` too, but ten times a connection, `/file` a file of [`Nginx::FILE_BYTES`],
/// `/large` one of [`Nginx::LARGE_BYTES`], `/name` the name that the client asked for within TLS, `/stub` its counters.
/// HTTP/2 without TLS has an address of its own.
pub struct Nginx {
    server: Server,
    /// Requests to `/stub` that were made here.
    questions: AtomicU64,
}

impl Nginx {
    /// The length of `/file`.
    pub const FILE_BYTES: usize = 100_000;
    /// The length of `/large`.
    pub const LARGE_BYTES: usize = 10_000_000;

    /// Starts nginx on free ports of 127.0.0.1 and waits until it accepts.
    ///
    /// # Errors
    /// When nginx is not installed, or does not come up.
    pub fn start() -> Result<Self, ServerError> {
        Self::start_with(None)
    }

    /// As [`Nginx::start`], with `/proxied/` passed on to the root of another server over connections that are kept.
    ///
    /// # Errors
    /// As [`Nginx::start`].
    pub fn before(upstream: SocketAddr) -> Result<Self, ServerError> {
        Self::start_with(Some(upstream))
    }

    fn start_with(upstream: Option<SocketAddr>) -> Result<Self, ServerError> {
        let prepare = |folder: &Path, addresses: &[SocketAddr]| -> Result<_, ServerError> {
            fs::write(folder.join("nginx.conf"), configuration(folder, addresses, upstream))?;
            fs::write(folder.join("file"), vec![b'f'; Self::FILE_BYTES])?;
            // Without blocks on the disk: a file of this length costs nothing to make.
            File::create(folder.join("large"))?.set_len(Self::LARGE_BYTES as u64)?;
            write_certificate(folder)?;
            let mut nginx = command("nginx");
            nginx.arg("-p").arg(folder).arg("-c").arg(folder.join("nginx.conf"));
            Ok(nginx)
        };
        // Its own page, and not only a connection: a port that was free may have become another process's.
        let server = Server::start_on(6, prepare, read_requests)?;
        let questions = read_requests(server.address())?;
        Ok(Self { server, questions: AtomicU64::new(questions) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Where it listens for HTTP/2 without TLS, to clients that know beforehand.
    pub fn http2_address(&self) -> SocketAddr {
        self.server.addresses()[1]
    }

    /// Where it listens for TLS, with HTTP/1.1 and HTTP/2, and a certificate for `localhost` and 127.0.0.1.
    pub fn tls_address(&self) -> SocketAddr {
        self.server.addresses()[2]
    }

    /// Where it listens for HTTP/2 without TLS, and ends each connection after ten requests.
    pub fn brief_http2_address(&self) -> SocketAddr {
        self.server.addresses()[3]
    }

    /// As [`Nginx::tls_address`], in TLS 1.3, but only clients with that certificate and [`Nginx::key`] are served; others get
    /// status 400.
    pub fn demanding_tls_address(&self) -> SocketAddr {
        self.server.addresses()[4]
    }

    /// Where it listens for TLS 1.3 and speaks HTTP/1.1 alone.
    pub fn tls_http1_address(&self) -> SocketAddr {
        self.server.addresses()[5]
    }

    /// The file of the certificate's private key.
    pub fn key(&self) -> PathBuf {
        self.server.folder().join("key.pem")
    }

    /// The file of that certificate, which is its own authority.
    pub fn certificate(&self) -> PathBuf {
        self.server.folder().join("cert.pem")
    }

    /// The unix socket on which it listens too.
    pub fn socket(&self) -> PathBuf {
        self.server.folder().join("socket")
    }

    /// Requests served so far by its own count (stub_status). Those that ask for this count are taken off; requests of
    /// others to `/stub` are not.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn requests(&self) -> io::Result<u64> {
        let requests = read_requests(self.address())?;
        let questions = self.questions.fetch_add(1, Ordering::SeqCst) + 1;
        Ok(requests.saturating_sub(questions))
    }
}

/// Requests served so far, this one included: the third number of the line after `server accepts handled requests`.
fn read_requests(address: SocketAddr) -> io::Result<u64> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET /stub HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut page = String::new();
    stream.read_to_string(&mut page)?;
    let counters = page.split_once("server accepts handled requests").map(|(_, counters)| counters);
    let requests = counters.and_then(|counters| counters.split_ascii_whitespace().nth(2)?.parse().ok());
    requests
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("unexpected status page: {page}")))
}

/// Passes requests on, each connection for many of them.
const PASSED_ON: &str = r#"location /proxied/ {
            proxy_pass http://behind/;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
        }"#;

/// Without a master process there is one process, which cannot outlive its handle, and no change of user.
fn configuration(folder: &Path, addresses: &[SocketAddr], upstream: Option<SocketAddr>) -> String {
    let folder = folder.display();
    let behind = upstream.map(|upstream| format!("upstream behind {{ server {upstream}; keepalive 64; }}"));
    let behind = behind.unwrap_or_default();
    let passed_on = upstream.map_or("", |_| PASSED_ON);
    let [plain, http2, tls, brief, demanding, tls_http1] = [0, 1, 2, 3, 4, 5].map(|index| addresses[index]);
    format!(
        r#"daemon off;
master_process off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 8192; }}
http {{
    access_log off;
    default_type application/json;
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 600s;
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {behind}
    server {{
        listen {plain} backlog=4096;
        listen {http2} http2 backlog=4096;
        listen {tls} ssl http2 backlog=4096;
        ssl_certificate {folder}/cert.pem;
        ssl_certificate_key {folder}/key.pem;
        ssl_session_cache shared:s:1m;
        listen unix:{folder}/socket backlog=4096;
        location / {{ return 200 '{{"status":"ok"}}'; }}
        location = /file {{ alias {folder}/file; default_type application/octet-stream; }}
        location = /brief {{ keepalive_requests 10; return 200 '{{"status":"ok"}}'; }}
        location = /large {{ alias {folder}/large; default_type application/octet-stream; }}
        location = /name {{ return 200 '$ssl_server_name'; }}
        location = /stub {{ stub_status; }}
        {passed_on}
    }}
    server {{
        listen {tls_http1} ssl;
        ssl_protocols TLSv1.3;
        ssl_certificate {folder}/cert.pem;
        ssl_certificate_key {folder}/key.pem;
        location / {{ return 200 '{{"status":"ok"}}'; }}
    }}
    server {{
        listen {demanding} ssl http2;
        ssl_protocols TLSv1.3;
        ssl_certificate {folder}/cert.pem;
        ssl_certificate_key {folder}/key.pem;
        ssl_client_certificate {folder}/cert.pem;
        ssl_verify_client on;
        location / {{ return 200 '{{"status":"ok"}}'; }}
    }}
    server {{
        listen {brief} http2;
        keepalive_requests 10;
        location / {{ return 200 '{{"status":"ok"}}'; }}
    }}
}}
"#
    )
}
