//! A service that is started for a load and stopped after it.

use std::fs::{self, File};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, thread};

use plimsoll_conductor::destinations;
use plimsoll_lab::{NotReady, check_ready, check_ready_unix, output_tail};
use plimsoll_plan::{Plan, Ready};
use plimsoll_sys::Destination;
use plimsoll_units::{Clock, RealClock, best_effort, duration_text};

/// The time limit for a service to become ready.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// The time limit for a service to end when asked; it is then killed.
const ENDS_WITHIN: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);
const CONNECT_WITHIN: Duration = Duration::from_millis(500);

/// Errors with a service.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    #[error(
        "{url} is not on this machine, where its command would start it; give the URL that the command serves, such as \
         http://127.0.0.1:8080/"
    )]
    Elsewhere { url: String },
    #[error(
        "{place} takes connections before the service is started: end what listens there, or take another port"
    )]
    PortTaken { place: String },
    #[error("could not start `{command}` ({source})")]
    Start { command: String, source: io::Error },
    #[error("`{command}` ended before it was ready ({status}){}; a service stays in the foreground", said(.output))]
    Ended { command: String, status: ExitStatus, output: String },
    #[error("`{command}` ended during the load ({status}){}", said(.output))]
    Died { command: String, status: ExitStatus, output: String },
    #[error("`{command}` was not ready ({sign}) within {}: it {last}{}", duration_text(within.as_nanos() as f64), said(.output))]
    NotReady { command: String, sign: String, within: Duration, last: String, output: String },
    #[error(
        "`{command}` was ended and {place} still takes connections: a process that it started outlives it"
    )]
    Outlived { command: String, place: String },
    #[error("interrupted")]
    Interrupted,
}

fn said(output: &str) -> String {
    if output.is_empty() { "; it wrote nothing".to_owned() } else { format!("; it wrote:\n{output}") }
}

fn takes_connections(destination: &Destination) -> bool {
    match destination {
        Destination::Tcp(address) => TcpStream::connect_timeout(address, CONNECT_WITHIN).is_ok(),
        Destination::Unix(path) => UnixStream::connect(path).is_ok(),
    }
}

fn check(destination: &Destination, page: Option<&str>, host: &str) -> Result<(), NotReady> {
    match (destination, page) {
        (Destination::Unix(path), _) => check_ready_unix(path, page, host),
        (Destination::Tcp(address), None) => check_ready(&Ready::Tcp(address.port()), address.ip(), host),
        (Destination::Tcp(address), Some(path)) => {
            let sign = Ready::Page { port: address.port(), path: path.to_owned() };
            check_ready(&sign, address.ip(), host)
        }
    }
}

/// The endpoints of a service, and its readiness check. A name may have addresses of several families, and a service need not listen on
/// all of them.
#[derive(Debug, Clone)]
pub(super) struct ServicePlace {
    /// At least one.
    destinations: Vec<Destination>,
    host: String,
    page: Option<String>,
}

impl ServicePlace {
    /// The endpoints that a plan's connections go to, which must be on this machine. `page` is a path that is answered with success
    /// once the service is ready; without it, an accepted connection is enough.
    pub(super) fn new(plan: &Plan, page: Option<&str>) -> Result<Self, ServiceError> {
        let elsewhere = || ServiceError::Elsewhere { url: plan.target.url.clone() };
        let mut destinations = destinations(plan).map_err(|_| elsewhere())?;
        destinations
            .retain(|destination| destination.tcp().is_none_or(|tcp| plimsoll_sys::is_local(tcp.ip())));
        if destinations.is_empty() {
            return Err(elsewhere());
        }
        Ok(Self { destinations, host: plan.target.host.clone(), page: page.map(str::to_owned) })
    }

    /// The first endpoint that accepts connections.
    fn open(&self) -> Option<&Destination> {
        self.destinations.iter().find(|destination| takes_connections(destination))
    }

    /// Succeeds if the service is ready at any endpoint; otherwise returns the error of the endpoint that got furthest.
    fn check(&self) -> Result<(), NotReady> {
        let mut last = NotReady::Silent("did not connect".to_owned());
        for destination in &self.destinations {
            match check(destination, self.page.as_deref(), &self.host) {
                Ok(()) => return Ok(()),
                Err(failing @ NotReady::Failing(_)) => last = failing,
                Err(silent) if matches!(last, NotReady::Silent(_)) => last = silent,
                Err(_) => {}
            }
        }
        Err(last)
    }

    /// The readiness condition, in words.
    fn sign(&self) -> String {
        let destinations =
            self.destinations.iter().map(Destination::to_string).collect::<Vec<_>>().join(" or ");
        match &self.page {
            Some(path) => format!("success of {path} at {destinations}"),
            None => format!("a connection to {destinations}"),
        }
    }
}

/// A running service with all processes that it started. Dropping it stops them.
#[derive(Debug)]
pub(super) struct RunningService<'a> {
    command: String,
    child: Child,
    /// True once the process was waited for: its id may then belong to another process.
    is_over: bool,
    place: &'a ServicePlace,
    log: &'a Path,
    at_once: &'a AtomicBool,
}

impl<'a> RunningService<'a> {
    /// Starts a shell command with its output in the file `log`, and waits until it is ready or `interrupted` is set. Once `at_once` is
    /// set, the wait for its end is skipped. Terminal signals do not reach its process group.
    pub(super) fn start(
        command: &str,
        place: &'a ServicePlace,
        log: &'a Path,
        (interrupted, at_once): (&AtomicBool, &'a AtomicBool),
    ) -> Result<Self, ServiceError> {
        if let Some(destination) = place.open() {
            return Err(ServiceError::PortTaken { place: destination.to_string() });
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
                    sign: self.place.sign(),
                    within: READY_WITHIN,
                    last: last.text(),
                    output: output_tail(self.log),
                });
            }
            thread::sleep(POLL);
        }
    }

    /// The exit status; `None` while it runs.
    fn status(&mut self) -> Option<ExitStatus> {
        match plimsoll_sys::has_ended(&self.child) {
            Ok(true) => {
                // Processes that it started must not be left behind.
                best_effort(plimsoll_sys::kill_group(&self.child), "it fails only if the group has ended");
                self.is_over = true;
                self.child.wait().ok()
            }
            _ => None,
        }
    }

    /// Stops the service after a load and waits until its port is free; fails if it ended by itself, or if a process outlives it.
    pub(super) fn end(mut self) -> Result<(), ServiceError> {
        if let Some(status) = self.status() {
            let (command, output) = (self.command.clone(), output_tail(self.log));
            return Err(ServiceError::Died { command, status, output });
        }
        self.stop();
        let began = RealClock.now();
        while let Some(destination) = self.place.open() {
            if RealClock.now().since(began) >= ENDS_WITHIN {
                return Err(ServiceError::Outlived {
                    command: self.command.clone(),
                    place: destination.to_string(),
                });
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// Asks the service to end, kills the rest of its group after a time limit, and waits for it. The wait covers the whole group, so
    /// that a service that outlives its shell can finish, for example writing data.
    fn stop(&mut self) {
        const GONE: &str = "it fails only if the group has ended";
        let has_ended = |child: &Child| plimsoll_sys::has_ended(child).unwrap_or(true);
        let began = RealClock.now();
        if !has_ended(&self.child) {
            best_effort(plimsoll_sys::end_group(&self.child), GONE);
        }
        let is_awaited =
            || !self.at_once.load(Ordering::Relaxed) && RealClock.now().since(began) < ENDS_WITHIN;
        let is_left = |child: &Child| !has_ended(child) || has_live_members(child.id());
        while is_left(&self.child) && is_awaited() {
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

/// True while a process of this group runs; zombies do not count.
fn has_live_members(group: u32) -> bool {
    let Ok(entries) = fs::read_dir("/proc") else { return false };
    let stats = entries.flatten().filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    stats.into_iter().any(|stat| is_live_member(&stat, group))
}

/// Parses `/proc/PID/stat`: the name may hold spaces and parentheses; state, parent and group follow it.
fn is_live_member(stat: &str, group: u32) -> bool {
    let Some((_, fields)) = stat.rsplit_once(')') else { return false };
    let mut fields = fields.split_whitespace();
    let is_over = fields.next().is_none_or(|state| ["Z", "X", "x"].contains(&state));
    !is_over && fields.nth(1).and_then(|number| number.parse().ok()) == Some(group)
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;

    use plimsoll_plan::{LoadSpec, PlanSpec};

    use super::*;

    fn plan(url: &str, change: impl FnOnce(&mut PlanSpec)) -> Plan {
        let load = LoadSpec::Ladder { steps: None, step_limit: None, budget: None };
        let mut spec = PlanSpec::new(url, load);
        change(&mut spec);
        spec.freeze().unwrap()
    }

    #[test]
    fn a_service_is_ready_by_any_of_its_addresses() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let resolve = |addresses: &str| format!("api.test:{port}:{addresses}").parse().unwrap();
        let place = |addresses: &str| {
            let url = format!("http://api.test:{port}/");
            ServicePlace::new(&plan(&url, |spec| spec.network.resolve = vec![resolve(addresses)]), None)
        };
        // Nothing listens on the first.
        let place_of_both = place("127.0.0.2,127.0.0.1").unwrap();
        assert_eq!(place_of_both.check(), Ok(()));
        assert_eq!(place_of_both.open(), Some(&Destination::Tcp(listener.local_addr().unwrap())));
        assert!(place("127.0.0.2").unwrap().check().is_err());
        assert!(matches!(place("198.51.100.7"), Err(ServiceError::Elsewhere { .. })));
    }

    #[test]
    fn a_service_is_awaited_where_the_load_goes() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap().to_string().parse().unwrap();
        let place = ServicePlace::new(
            &plan("http://elsewhere.invalid/", |spec| spec.network.connect_to = Some(to)),
            None,
        );
        assert_eq!(place.unwrap().check(), Ok(()));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let of_socket = plan("http://api.test/", |spec| spec.network.unix = Some(path.clone()));
        let place = ServicePlace::new(&of_socket, None).unwrap();
        assert!(place.open().is_none() && place.check().is_err());
        let _listener = UnixListener::bind(&path).unwrap();
        assert!(place.open().is_some() && place.check().is_ok());
    }

    #[test]
    fn a_group_lives_on_after_its_leader() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = spawn("sleep 600 & exit", &folder.path().join("log")).unwrap();
        while !plimsoll_sys::has_ended(&child).unwrap() {
            thread::yield_now();
        }
        assert!(has_live_members(child.id()), "the shell has ended and what it started has not");
        plimsoll_sys::kill_group(&child).unwrap();
        while has_live_members(child.id()) {
            thread::yield_now();
        }
        child.wait().unwrap();
        assert!(is_live_member("7 (a) b (c) S 1 42 42 0 -1", 42));
        assert!(!is_live_member("7 (a) Z 1 42 42 0 -1", 42) && !is_live_member("7 (a) S 42 1 42 0 -1", 42));
    }
}
