//! `plimsoll probe`: what this host is doing, for a person or as a stream of samples.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use plimsoll_host::{Component, CpuTimes, Host, Ran, Watched, opening_line, sample_line};
use plimsoll_record::{Address, HostSample, Source, Subject};
use plimsoll_report::host_view::{self, ProcessUse, Window};
use plimsoll_units::{Clock, Instant, RealClock};

use crate::args::ProbeArgs;
use crate::exit::Exit;
use crate::terminal::{remark, result};

use end::End;

mod end;

/// The file tree of this machine.
const ROOT: &str = "/";

/// How long the busiest processes are searched for.
const SEARCH: Duration = Duration::from_millis(300);

/// How many processes are sampled where none is named.
const BUSIEST: usize = 5;

/// Samples this host.
pub(crate) fn probe(args: &ProbeArgs) -> anyhow::Result<Exit> {
    let end = End::watch(args.stream).context("could not watch for Ctrl-C")?;
    if args.stream { stream(args, &end) } else { show(args, &end) }
}

/// Writes samples until the reader is gone or asks for the end.
fn stream(args: &ProbeArgs, end: &End) -> anyhow::Result<Exit> {
    let mut host = host(args, &named(args));
    let mut due = RealClock.now();
    let mut text = opening_line();
    loop {
        text.extend(samples(&mut host).iter().map(sample_line));
        match write(&text) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Exit::Success),
            written => written.context("could not write samples to standard output")?,
        }
        text.clear();
        // A host too busy to be sampled in time is sampled when it can be, and not twice at once afterwards.
        due = (due + args.every).max(RealClock.now());
        if end.comes_before(due) {
            return Ok(Exit::Success);
        }
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Two samples, and the changes between them.
fn show(args: &ProbeArgs, end: &End) -> anyhow::Result<Exit> {
    let mut watched = named(args);
    let named = !watched.is_empty();
    if !named {
        let Some(ran) = ran_within(end, SEARCH)? else { return Ok(Exit::Interrupted) };
        watched.pids = ran.iter().take(BUSIEST).map(|process| process.pid).collect();
    }
    let mut host = host(args, &watched);
    // A host reports the threads that ran since the read before: the first read only marks the beginning.
    samples(&mut host);
    if end.comes_before(RealClock.now() + SEARCH) {
        return Ok(Exit::Interrupted);
    }
    let before = samples(&mut host);
    let Some(ran) = ran_within(end, args.every)? else { return Ok(Exit::Interrupted) };
    let after = samples(&mut host);
    result(&host_view::render(&Window::new(&before, &after), &ran, named))?;
    absent_ports(args, &after);
    Ok(Exit::Success)
}

/// The processes that ran within a time, the busiest first, without this one; `None` if the user ends it.
fn ran_within(end: &End, time: Duration) -> anyhow::Result<Option<Vec<ProcessUse>>> {
    let read = || CpuTimes::read(Path::new(ROOT)).context("could not list the processes in /proc");
    let before = read()?;
    if end.comes_before(RealClock.now() + time) {
        return Ok(None);
    }
    let ran = read()?.since(&before).into_iter().filter(|process| process.pid != std::process::id());
    Ok(Some(ran.map(|Ran { pid, name, cpu_ms }| ProcessUse { pid, name, cpu_ms }).collect()))
}

/// Remarks on ports without a listener, which are most likely mistyped.
fn absent_ports(args: &ProbeArgs, samples: &[HostSample]) {
    let listeners = samples.iter().filter(|sample| sample.source == Source::Listener);
    let port = |sample: &HostSample| match sample.subject() {
        Subject::Address(Address::Tcp(address)) => Some(address.port()),
        _ => None,
    };
    let ports: BTreeSet<u16> = listeners.filter_map(port).collect();
    for port in args.ports.iter().filter(|port| !ports.contains(port)) {
        remark(&format!(
            "plimsoll: nothing listens on port {port} here, as far as this user may see; `ss -ltnp` lists what does"
        ));
    }
}

fn named(args: &ProbeArgs) -> Watched {
    Watched {
        ports: args.ports.clone(),
        pids: args.pids.clone(),
        names: args.names.clone(),
        serving: args.serving,
    }
}

fn host(args: &ProbeArgs, watched: &Watched) -> Host {
    let mut host = Host::local(&name(), Path::new(ROOT), watched);
    let components = args.components.iter().filter_map(|probe| Component::from_probe(probe, Path::new(ROOT)));
    components.for_each(|component| host.add_component(component));
    host
}

/// What this machine calls itself.
fn name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Times count from the clock's own origin, so that a reader on this machine can place them.
fn samples(host: &mut Host) -> Vec<HostSample> {
    host.samples(Instant::default())
}
