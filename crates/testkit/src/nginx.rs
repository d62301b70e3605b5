//! The real nginx, with a configuration of its own.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Starts that are tried: the port may be taken by another process between being chosen and being used.
const STARTS_MAX: usize = 5;

/// How long nginx may take to accept, or to say what it counted.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often it is asked whether it accepts; it does not announce when it begins to.
const POLL: Duration = Duration::from_millis(2);

/// Why nginx does not run or answer.
#[derive(Debug, thiserror::Error)]
pub enum NginxError {
    /// The program is not there, or cannot be run.
    #[error("could not run nginx ({reason}); `make setup` installs it")]
    NotInstalled {
        /// What the system said.
        reason: io::Error,
    },
    /// Its folder could not be written.
    #[error("could not write the folder of nginx ({reason}); make room in the folder for temporary files")]
    Folder {
        /// What the system said.
        reason: io::Error,
    },
    /// It ended or did not accept in time.
    #[error("nginx did not begin to accept; it said: {log}")]
    NotAccepting {
        /// What it wrote to its log.
        log: String,
    },
    /// It does not say what it counted.
    #[error("nginx did not give its status ({reason}); see whether it still runs")]
    Status {
        /// What went wrong.
        reason: io::Error,
    },
}

/// A running nginx, one process with one worker; killed and waited for when dropped.
///
/// `/` answers `{"status":"ok"}`, `/brief` too, but ten times a connection, `/file` a file of [`Nginx::FILE_BYTES`],
/// `/large` one of [`Nginx::LARGE_BYTES`], `/name` the name that the client asked for within TLS, `/stub` its counters.
/// HTTP/2 without TLS has an address of its own.
pub struct Nginx {
    addresses: Addresses,
    child: Child,
    questions: AtomicU64,
    /// Removed after the child has ended, as fields are dropped after `drop`.
    folder: TempDir,
}

/// Where it listens, for what.
struct Addresses {
    plain: SocketAddr,
    http2: SocketAddr,
    tls: SocketAddr,
    brief: SocketAddr,
    demanding: SocketAddr,
    tls_http1: SocketAddr,
}

impl Nginx {
    /// The length of `/file`.
    pub const FILE_BYTES: usize = 100_000;

    /// The length of `/large`.
    pub const LARGE_BYTES: usize = 10_000_000;

    /// Starts nginx on a free port of 127.0.0.1 and waits until it accepts.
    ///
    /// # Errors
    /// When nginx is not installed, or does not come up.
    pub fn start() -> Result<Self, NginxError> {
        Self::start_with(None)
    }

    /// As [`Nginx::start`], with `/proxied/` passed on to the root of another server over connections that are kept.
    ///
    /// # Errors
    /// As [`Nginx::start`].
    pub fn before(upstream: SocketAddr) -> Result<Self, NginxError> {
        Self::start_with(Some(upstream))
    }

    fn start_with(upstream: Option<SocketAddr>) -> Result<Self, NginxError> {
        let mut outcome = Self::start_once(upstream);
        for _ in 1..STARTS_MAX {
            match outcome {
                Err(NginxError::NotAccepting { .. }) => outcome = Self::start_once(upstream),
                other => return other,
            }
        }
        outcome
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.addresses.plain
    }

    /// Where it listens for TLS, with HTTP/1.1 and HTTP/2, and a certificate for `localhost` and 127.0.0.1.
    pub fn tls_address(&self) -> SocketAddr {
        self.addresses.tls
    }

    /// Where it listens for HTTP/2 without TLS, and ends each connection after ten requests.
    pub fn brief_http2_address(&self) -> SocketAddr {
        self.addresses.brief
    }

    /// As [`Nginx::tls_address`], in TLS 1.3, but only clients with that certificate and [`Nginx::key`] are served; others get
    /// status 400.
    pub fn demanding_tls_address(&self) -> SocketAddr {
        self.addresses.demanding
    }

    /// Where it listens for TLS 1.3 and speaks HTTP/1.1 alone.
    pub fn tls_http1_address(&self) -> SocketAddr {
        self.addresses.tls_http1
    }

    /// The file of the certificate's private key.
    pub fn key(&self) -> PathBuf {
        self.folder.path().join("key.pem")
    }

    /// The file of that certificate, which is its own authority.
    pub fn certificate(&self) -> PathBuf {
        self.folder.path().join("cert.pem")
    }

    /// Where it listens for HTTP/2 without TLS, to clients that know beforehand.
    pub fn http2_address(&self) -> SocketAddr {
        self.addresses.http2
    }

    /// The unix socket on which it listens too.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Requests served so far by its own count (stub_status). The questions asked here count there too, and are
    /// taken off; requests of others to `/stub` are not.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn requests(&self) -> Result<u64, NginxError> {
        let page = self.status_page().map_err(|reason| NginxError::Status { reason })?;
        let questions = self.questions.fetch_add(1, Ordering::SeqCst) + 1;
        let reason = || io::Error::new(io::ErrorKind::InvalidData, format!("unexpected status page: {page}"));
        let requests = parse_requests(&page).ok_or_else(|| NginxError::Status { reason: reason() })?;
        Ok(requests.saturating_sub(questions))
    }

    fn start_once(upstream: Option<SocketAddr>) -> Result<Self, NginxError> {
        let (addresses, folder) = prepare(upstream).map_err(|reason| NginxError::Folder { reason })?;
        let child = run(folder.path())?;
        // From here on the child is owned, and ended with its handle whatever follows.
        let mut nginx = Self { addresses, child, questions: AtomicU64::new(0), folder };
        if nginx.accepts_in_time() {
            return Ok(nginx);
        }
        let log = fs::read_to_string(log_path(nginx.folder.path())).unwrap_or_default();
        Err(NginxError::NotAccepting { log: log.trim().to_owned() })
    }

    fn accepts_in_time(&mut self) -> bool {
        let begun = Instant::now();
        // A child that has ended will not accept; another process at its port must not be taken for it.
        while matches!(self.child.try_wait(), Ok(None)) && begun.elapsed() < PATIENCE {
            // Its own page, and not only a connection: a port that was free may have become another process's.
            if self.requests().is_ok() {
                return matches!(self.child.try_wait(), Ok(None));
            }
            thread::sleep(POLL);
        }
        false
    }

    fn status_page(&self) -> io::Result<String> {
        let mut stream = TcpStream::connect(self.addresses.plain)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(b"GET /stub HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut page = String::new();
        stream.read_to_string(&mut page)?;
        Ok(page)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Both fail only if the child has ended and was waited for already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn prepare(upstream: Option<SocketAddr>) -> io::Result<(Addresses, TempDir)> {
    let free = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let ports = [free()?, free()?, free()?, free()?, free()?, free()?];
    let addresses = Addresses {
        plain: ports[0].local_addr()?,
        http2: ports[1].local_addr()?,
        tls: ports[2].local_addr()?,
        brief: ports[3].local_addr()?,
        demanding: ports[4].local_addr()?,
        tls_http1: ports[5].local_addr()?,
    };
    let folder = tempfile::Builder::new().prefix("plimsoll-nginx-").tempdir()?;
    fs::write(folder.path().join("nginx.conf"), configuration(folder.path(), &addresses, upstream))?;
    fs::write(folder.path().join("file"), vec![b'f'; Nginx::FILE_BYTES])?;
    // Without blocks on the disk: a file of this length costs nothing to make.
    File::create(folder.path().join("large"))?.set_len(Nginx::LARGE_BYTES as u64)?;
    write_certificate(folder.path())?;
    Ok((addresses, folder))
}

/// A certificate for `localhost` and 127.0.0.1, signed by itself.
fn write_certificate(folder: &Path) -> io::Result<()> {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
    fs::write(folder.join("cert.pem"), made.cert.pem())?;
    fs::write(folder.join("key.pem"), made.signing_key.serialize_pem())
}

fn log_path(folder: &Path) -> std::path::PathBuf {
    folder.join("stderr.log")
}

fn run(folder: &Path) -> Result<Child, NginxError> {
    let log = File::create(log_path(folder)).map_err(|reason| NginxError::Folder { reason })?;
    let mut command = Command::new("nginx");
    command.arg("-p").arg(folder).arg("-c").arg(folder.join("nginx.conf"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    // Debian keeps it where the PATH of an ordinary user does not look.
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin:/usr/local/sbin"));
    command.spawn().map_err(|reason| NginxError::NotInstalled { reason })
}

/// Passes requests on, each connection for many of them.
const PASSED_ON: &str = r#"location /proxied/ {
            proxy_pass http://behind/;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
        }"#;

/// Without a master process there is one process, which cannot outlive its handle, and no change of user.
fn configuration(folder: &Path, addresses: &Addresses, upstream: Option<SocketAddr>) -> String {
    let folder = folder.display();
    let behind = upstream.map(|upstream| format!("upstream behind {{ server {upstream}; keepalive 64; }}"));
    let behind = behind.unwrap_or_default();
    let passed_on = upstream.map_or("", |_| PASSED_ON);
    let Addresses { plain, http2, tls, brief, demanding, tls_http1 } = addresses;
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

/// The third number of the line after `server accepts handled requests`.
fn parse_requests(page: &str) -> Option<u64> {
    let (_, counters) = page.split_once("server accepts handled requests")?;
    counters.split_ascii_whitespace().nth(2)?.parse().ok()
}
