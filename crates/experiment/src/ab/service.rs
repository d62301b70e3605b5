//! A service that is started for a load and ended after it.

use std::fs::File;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use plimsoll_lab::{NotReady, check_ready, output_tail};
use plimsoll_plan::{Ready, Target};
use plimsoll_units::{Clock, RealClock, best_effort, duration_text};

/// How long a service may take to become ready.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// How long it may take to end once it is asked to; then it is killed.
const ENDS_WITHIN: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);
const CONNECT_WITHIN: Duration = Duration::from_millis(500);

/// Why there is no service to load.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    #[error(
        "{url} is not on this machine, where its command would start it; give the URL that the command serves, such as \
         http://127.0.0.1:8080/"
    )]
    Elsewhere { url: String },
    #[error(
        "{address} takes connections before the service is started: end what listens there, or take another port"
    )]
    PortTaken { address: SocketAddr },
    #[error("could not start `{command}` ({source})")]
    Start { command: String, source: io::Error },
    #[error("`{command}` ended before it was ready ({status}){}; a service stays in the foreground", said(.output))]
    Ended { command: String, status: ExitStatus, output: String },
    #[error("`{command}` ended during the load ({status}){}", said(.output))]
    Died { command: String, status: ExitStatus, output: String },
    #[error("`{command}` was not ready ({sign}) within {}: it {last}{}", duration_text(within.as_nanos() as f64), said(.output))]
    NotReady { command: String, sign: Ready, within: Duration, last: String, output: String },
    #[error(
        "`{command}` was ended and {address} still takes connections: a process that it started outlives it"
    )]
    Outlived { command: String, address: SocketAddr },
    #[error("interrupted")]
    Interrupted,
}

fn said(output: &str) -> String {
    if output.is_empty() { "; it wrote nothing".to_owned() } else { format!("; it wrote:\n{output}") }
}

/// Where a service is expected, and how it shows that it is ready.
#[derive(Debug, Clone)]
pub(super) struct ServicePlace {
    address: SocketAddr,
    host: String,
    sign: Ready,
}

impl ServicePlace {
    /// The place of a target, which must be on this machine; `page` is a path that is answered with success once the service is
    /// ready, in place of a connection.
    pub(super) fn new(target: &Target, page: Option<&str>) -> Result<Self, ServiceError> {
        let resolved = (target.host.as_str(), target.port).to_socket_addrs();
        let elsewhere = || ServiceError::Elsewhere { url: target.url.clone() };
        let mut own =
            resolved.map_err(|_| elsewhere())?.filter(|address| plimsoll_sys::is_local(address.ip()));
        let address = own.next().ok_or_else(elsewhere)?;
        let sign = match page {
            Some(path) => Ready::Page { port: address.port(), path: path.to_owned() },
            None => Ready::Tcp(address.port()),
        };
        Ok(Self { address, host: target.host.clone(), sign })
    }

    fn takes_connections(&self) -> bool {
        TcpStream::connect_timeout(&self.address, CONNECT_WITHIN).is_ok()
    }

    fn check(&self) -> Result<(), NotReady> {
        let ip: IpAddr = self.address.ip();
        check_ready(&self.sign, ip, &self.host)
    }
}

/// A service that runs, with all that it started. It is ended when dropped.
#[derive(Debug)]
pub(super) struct RunningService<'a> {
    command: String,
    child: Child,
    /// It was waited for: its number may be that of another process.
    is_over: bool,
    place: &'a ServicePlace,
    log: &'a Path,
    at_once: &'a AtomicBool,
}

impl<'a> RunningService<'a> {
    /// Starts a shell command, whose output goes to the file `log`, and waits until it is ready, or until the user has `interrupted`. Once
    /// `at_once` is set as well, its end is not waited for either: signals of the terminal do not reach its group.
    pub(super) fn start(
        command: &str,
        place: &'a ServicePlace,
        log: &'a Path,
        (interrupted, at_once): (&AtomicBool, &'a AtomicBool),
    ) -> Result<Self, ServiceError> {
        if place.takes_connections() {
            return Err(ServiceError::PortTaken { address: place.address });
        }
        let failed = |source| ServiceError::Start { command: command.to_owned(), source };
        let child = spawn(command, log).map_err(failed)?;
        let mut service = Self { command: command.to_owned(), child, is_over: false, place, log, at_once };
        service.await_ready(interrupted)?;
        Ok(service)
    }

    fn await_ready(&mut self, interrupted: &AtomicBool) -> Result<(), ServiceError> {
        let began = RealClock.now();
        loop {
            let Err(last) = self.place.check() else { return Ok(()) };
            if let Some(status) = self.status() {
                let (command, output) = (self.command.clone(), output_tail(self.log));
                return Err(ServiceError::Ended { command, status, output });
            }
            if interrupted.load(Ordering::Relaxed) {
                return Err(ServiceError::Interrupted);
            }
            if RealClock.now().since(began) >= READY_WITHIN {
                return Err(ServiceError::NotReady {
                    command: self.command.clone(),
                    sign: self.place.sign.clone(),
                    within: READY_WITHIN,
                    last: last.text(),
                    output: output_tail(self.log),
                });
            }
            thread::sleep(POLL);
        }
    }

    /// How it ended; `None` while it runs.
    fn status(&mut self) -> Option<ExitStatus> {
        match plimsoll_sys::has_ended(&self.child) {
            Ok(true) => {
                // What it started must not be left behind.
                best_effort(plimsoll_sys::kill_group(&self.child), "it fails only if the group has ended");
                self.is_over = true;
                self.child.wait().ok()
            }
            _ => None,
        }
    }

    /// Ends it after a load and waits until its port is free; fails if it had ended by itself, or something outlives it.
    pub(super) fn end(mut self) -> Result<(), ServiceError> {
        if let Some(status) = self.status() {
            let (command, output) = (self.command.clone(), output_tail(self.log));
            return Err(ServiceError::Died { command, status, output });
        }
        self.stop();
        let began = RealClock.now();
        while self.place.takes_connections() {
            if RealClock.now().since(began) >= ENDS_WITHIN {
                let (command, address) = (self.command.clone(), self.place.address);
                return Err(ServiceError::Outlived { command, address });
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// Asks it to end, kills what is left of its group after a while, and waits for it.
    fn stop(&mut self) {
        const GONE: &str = "it fails only if the group has ended";
        let has_ended = |child: &Child| plimsoll_sys::has_ended(child).unwrap_or(true);
        let began = RealClock.now();
        if !has_ended(&self.child) {
            best_effort(plimsoll_sys::end_group(&self.child), GONE);
        }
        let is_awaited =
            || !self.at_once.load(Ordering::Relaxed) && RealClock.now().since(began) < ENDS_WITHIN;
        while !has_ended(&self.child) && is_awaited() {
            thread::sleep(POLL);
        }
        best_effort(plimsoll_sys::kill_group(&self.child), GONE);
        self.is_over = true;
        best_effort(self.child.wait(), "it fails only if the process was waited for");
    }
}

impl Drop for RunningService<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.stop();
        }
    }
}

fn spawn(command: &str, log: &Path) -> io::Result<Child> {
    let output = File::create(log)?;
    let errors = output.try_clone()?;
    Command::new("/bin/sh")
        .args(["-c", command])
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .spawn()
}
