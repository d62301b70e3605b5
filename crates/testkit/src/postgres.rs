//! The real PostgreSQL, with a database of its own.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_sys::ReservedPort;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::certificate::write_certificate;
use crate::server::{ServerError, command, run, spawn};

/// How long it may take to accept.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is asked whether it accepts.
const POLL: Duration = Duration::from_millis(20);

/// A running PostgreSQL; ended and waited for when dropped.
pub struct Postgres {
    child: Child,
    port: ReservedPort,
    folder: TempDir,
}

impl Postgres {
    /// The superuser.
    pub const USER: &str = "plimsoll";
    /// The password of [`Postgres::USER`].
    pub const PASSWORD: &str = "test-only";

    /// Makes a database cluster and starts PostgreSQL on a free port of 127.0.0.1, with these settings in addition
    /// (`&["ssl=on"]`). It does not run as root: there it runs as the user `postgres`, which its package makes.
    ///
    /// # Errors
    /// When it is not installed, or does not come up.
    pub fn start(settings: &[&str]) -> Result<Self, ServerError> {
        let folder = tempfile::Builder::new().prefix("plimsoll-postgres-").tempdir()?;
        let path = folder.path();
        fs::write(path.join("password"), Self::PASSWORD)?;
        fs::set_permissions(path.join("password"), fs::Permissions::from_mode(0o644))?;
        if let Some((user, group)) = unprivileged()? {
            chown(path, Some(user), Some(group))?;
        }
        let mut initdb = program("initdb")?;
        initdb.args(["--username", Self::USER, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"]);
        initdb.arg("--no-sync").arg("--pwfile").arg(path.join("password")).arg(path.join("data"));
        run(&mut initdb)?;
        write_own_certificate(path)?;
        let configuration: String = settings.iter().map(|setting| format!("{setting}\n")).collect();
        fs::write(path.join("settings"), configuration)?;
        fs::set_permissions(path.join("settings"), fs::Permissions::from_mode(0o644))?;
        let port = ReservedPort::take()?;
        let child = launch(path, &port)?;
        let mut server = Self { child, port, folder };
        if server.accepts() { Ok(server) } else { Err(server.not_accepting()) }
    }

    /// Its address with user, password and database.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{}:{}@127.0.0.1:{}/{database}", Self::USER, Self::PASSWORD, self.port.number())
    }

    /// Kills the server at once, as a power failure would; its data stay.
    pub fn kill(&mut self) {
        // Its children end when they notice that it is gone.
        self.child.kill().ok();
        self.child.wait().ok();
    }

    /// Starts it again on the same port with the same data.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn restart(&mut self) -> Result<(), ServerError> {
        let begun = Instant::now();
        loop {
            self.child = launch(self.folder.path(), &self.port)?;
            // It refuses to begin while processes of the one that was killed are still ending.
            if self.accepts() {
                return Ok(());
            }
            if begun.elapsed() >= PATIENCE {
                return Err(self.not_accepting());
            }
        }
    }

    /// What a statement gives in a database, a row a line; the first error ends it.
    ///
    /// # Errors
    /// When the statement fails.
    pub fn query(&self, database: &str, sql: &str) -> io::Result<String> {
        let output = self.psql(database).args(["-c", sql]).output()?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
    }

    /// The client program in a database, with its output in bare rows.
    pub fn psql(&self, database: &str) -> Command {
        let mut psql = command("psql");
        psql.args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", Self::USER]);
        psql.args(["-p", &self.port.number().to_string(), "-d", database]);
        psql.env("PGPASSWORD", Self::PASSWORD).stdin(Stdio::null());
        psql
    }

    /// The certificate that it has if its settings are `&["ssl=on"]`: its own authority, for 127.0.0.1.
    pub fn certificate(&self) -> PathBuf {
        self.folder.path().join("cert.pem")
    }

    fn accepts(&mut self) -> bool {
        accepts_in_time(&mut self.child, self.port.number())
    }

    fn not_accepting(&self) -> ServerError {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        ServerError::NotAccepting { program: "postgres".to_owned(), log: log.trim().to_owned() }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Ends it as its own tools do: it ends its children first.
fn end(child: &mut Child) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw)
        && matches!(child.try_wait(), Ok(None))
    {
        kill_process(pid, Signal::QUIT).ok();
    }
    child.wait().ok();
}

fn launch(path: &Path, port: &ReservedPort) -> Result<Child, ServerError> {
    let log = fs::OpenOptions::new().create(true).append(true).open(path.join("log"))?;
    let mut postgres = program("postgres")?;
    postgres.arg("-D").arg(path.join("data")).args(["-p", &port.number().to_string()]);
    postgres.args(["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]);
    postgres.arg("-c").arg(format!("unix_socket_directories={}", path.display()));
    for (setting, file) in [("ssl_cert_file", "cert.pem"), ("ssl_key_file", "key.pem")] {
        postgres.arg("-c").arg(format!("{setting}={}", path.join(file).display()));
    }
    for setting in fs::read_to_string(path.join("settings"))?.lines() {
        postgres.args(["-c", setting]);
    }
    postgres.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    spawn(&mut postgres)
}

fn accepts_in_time(child: &mut Child, port: u16) -> bool {
    let begun = Instant::now();
    while matches!(child.try_wait(), Ok(None)) && begun.elapsed() < PATIENCE {
        let mut ask = command("pg_isready");
        ask.args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()]);
        if ask.status().is_ok_and(|status| status.success()) {
            return matches!(child.try_wait(), Ok(None));
        }
        thread::sleep(POLL);
    }
    false
}

/// A certificate, and its key, which the server alone may read.
fn write_own_certificate(path: &Path) -> Result<(), ServerError> {
    write_certificate(path)?;
    fs::set_permissions(path.join("cert.pem"), fs::Permissions::from_mode(0o644))?;
    fs::set_permissions(path.join("key.pem"), fs::Permissions::from_mode(0o600))?;
    if let Some((user, group)) = unprivileged()? {
        chown(path.join("key.pem"), Some(user), Some(group))?;
    }
    Ok(())
}

/// A program of the newest PostgreSQL, to be run as [`unprivileged`].
fn program(name: &str) -> Result<Command, ServerError> {
    let mut found: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin").join(name)))
        .filter(|path| path.is_file())
        .collect();
    found.sort();
    let mut command = found.pop().map_or_else(|| command(name), Command::new);
    if let Some((user, group)) = unprivileged()? {
        command.uid(user).gid(group);
    }
    command.current_dir("/");
    Ok(command)
}

/// The user and the group that it runs as instead of root; `None` where the test is no root.
fn unprivileged() -> io::Result<Option<(u32, u32)>> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd")?;
    let ids = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    let found = ids("postgres").map(Some);
    found.ok_or_else(|| io::Error::other("there is no user postgres; `make setup` installs it"))
}
