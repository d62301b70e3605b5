//! `plimsoll probe`: what this host is doing, for a person or as a stream of samples.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use end::End;
use plimsoll_host::{
    Component, CpuTimes, Host, ProcessCpuUse, Watched, next_round, opening_line, sample_line,
    sampling_interval,
};
use plimsoll_plan::Probe;
use plimsoll_record::{Address, HostSample, Reading, Source, Subject};
use plimsoll_report::host_view::{self, ProcessUse, Window};
use plimsoll_units::{Clock, Instant, RealClock, parse_duration};

use crate::exit::Exit;
use crate::terminal::{Printable, remark, result};

/// The shortest interval between samples: many counters of a host are kept in hundredths of a second.
const MIN_EVERY: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  # What this host does, over one second
  plimsoll probe
  # And the server on that port, by process and thread
  plimsoll probe --port 8080
  # A process, and Redis about itself, over ten seconds
  plimsoll probe --pid 1234 --component redis://127.0.0.1:6379 --every 10s
  # For a program: a line of JSON for each sample, each second
  plimsoll probe --stream --port 8080")]
pub(crate) struct ProbeArgs {
    /// Sample the processes that listen on this port, and those they are connected to here; may be given several times
    #[arg(long = "port", value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    ports: Vec<u16>,
    /// Sample this process; may be given several times
    #[arg(long = "pid", value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pids: Vec<u32>,
    /// Sample the processes of this name; may be given several times
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
    /// Sample the processes that other machines are connected to, except those that started this probe
    #[arg(long)]
    serving: bool,
    /// Ask a component about itself; may be given several times
    ///
    /// nginx+http://host/stub_status, redis://[:password@]host:6379, memcached://host:11211,
    /// mariadb://user[:password]@host:3306, expvar+http://host:6060/debug/vars for a Go program, jvm:PID,
    /// k8s://NAMESPACE/KIND/NAME for the pods of a workload on Kubernetes (KIND: deployment, statefulset, daemonset or
    /// service), or the URL of a page in Prometheus' form.
    #[arg(long = "component", value_name = "PROBE", value_parser = component)]
    components: Vec<Probe>,
    /// Time from one sample to the next
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = every)]
    every: Duration,
    /// Write samples as lines of JSON until standard input is closed, or on Ctrl-C
    #[arg(long)]
    stream: bool,
}

fn component(text: &str) -> Result<Probe, String> {
    let probe: Probe = text.parse().map_err(|error: plimsoll_plan::PlanHostError| error.to_string())?;
    match Component::from_probe(&probe, Path::new("/")) {
        Some(_) => Ok(probe),
        None => Err(format!(
            "`{text}` is no component but a host; use --port, --pid or --name for processes of this one"
        )),
    }
}

fn every(text: &str) -> Result<Duration, String> {
    let every = parse_duration(text).map_err(|error| error.to_string())?;
    match every >= MIN_EVERY {
        true => Ok(every),
        false => Err(format!("samples are {} ms apart at least", MIN_EVERY.as_millis())),
    }
}

mod end;

const ROOT: &str = "/";

/// How long the search for the busiest processes takes.
const SEARCH: Duration = Duration::from_millis(300);

/// How many processes are sampled if none is named.
const BUSIEST: usize = 5;

pub(crate) fn probe(args: &ProbeArgs) -> anyhow::Result<Exit> {
    let end = End::watch(args.stream).context("could not watch for Ctrl-C")?;
    if args.stream { stream(args, &end) } else { show(args, &end) }
}

/// Writes samples until the reader is gone or asks for the end.
fn stream(args: &ProbeArgs, end: &End) -> anyhow::Result<Exit> {
    let mut host = host(args, &named(args));
    let began = RealClock.now();
    let mut due = began;
    let mut is_first = true;
    loop {
        let round_began = RealClock.now();
        let mut text = round(&mut host)?;
        // The opening line is made last: a reader takes the time since then for the time that the line took to arrive.
        if std::mem::take(&mut is_first) {
            text.insert_str(0, &opening_line()?);
        }
        // Taken before the write: a reader that stalls costs this host nothing, and must not delay the samples.
        let round_ended = RealClock.now();
        match write(&text) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Exit::Success),
            written => written.context("could not write samples to standard output")?,
        }
        let interval = sampling_interval(args.every, round_ended.since(began));
        due = next_round(due, interval, (round_began, round_ended)).max(RealClock.now());
        if end.comes_before(due) {
            return Ok(Exit::Success);
        }
    }
}

/// Returns the lines of one round of samples.
fn round(host: &mut Host) -> io::Result<String> {
    samples(host).iter().map(sample_line).collect()
}

fn write(text: &str) -> io::Result<()> {
    let mut out = Printable { stream: io::stdout().lock(), styles: false };
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Takes two samples, and prints the changes between them.
fn show(args: &ProbeArgs, end: &End) -> anyhow::Result<Exit> {
    let mut watched = named(args);
    let named = !watched.is_empty();
    if !named {
        let Some(ran) = ran_within(end, SEARCH)? else { return Ok(Exit::Interrupted) };
        watched.pids = ran.iter().take(BUSIEST).map(|process| process.pid).collect();
    }
    let mut host = host(args, &watched);
    // A host reports the threads that ran since the previous read: the first read only marks the beginning.
    samples(&mut host);
    if end.comes_before(RealClock.now() + SEARCH) {
        return Ok(Exit::Interrupted);
    }
    let before = samples(&mut host);
    let Some(ran) = ran_within(end, args.every)? else { return Ok(Exit::Interrupted) };
    let after = samples(&mut host);
    result(&host_view::render(&Window::new(&before, &after), &ran, named))?;
    remark_on_absent(&args.ports, &after);
    Ok(Exit::Success)
}

/// Returns the processes that ran within a time, the busiest first, without this one; `None` if the user interrupts.
fn ran_within(end: &End, time: Duration) -> anyhow::Result<Option<Vec<ProcessUse>>> {
    let read = || CpuTimes::read(Path::new(ROOT)).context("could not list the processes in /proc");
    let before = read()?;
    if end.comes_before(RealClock.now() + time) {
        return Ok(None);
    }
    let ran = read()?.since(&before).into_iter().filter(|process| process.pid != std::process::id());
    Ok(Some(ran.map(|ProcessCpuUse { pid, name, cpu_ms }| ProcessUse { pid, name, cpu_ms }).collect()))
}

/// Remarks on ports without a listener, which are most likely mistyped.
fn remark_on_absent(ports: &[u16], samples: &[HostSample]) {
    for port in absent_ports(ports, samples) {
        remark(&format!(
            "plimsoll: nothing listens on port {port} here, as far as this user may see; `ss -ltnp` lists what does"
        ));
    }
}

/// Returns the ports without a listener; none if the listeners could not be read.
fn absent_ports(ports: &[u16], samples: &[HostSample]) -> Vec<u16> {
    let listeners = || samples.iter().filter(|sample| sample.source == Source::Listener);
    if listeners().any(|sample| !matches!(sample.reading, Reading::Ok(_))) {
        return Vec::new();
    }
    let port = |sample: &HostSample| match sample.subject() {
        Subject::Address(Address::Tcp(address)) => Some(address.port()),
        _ => None,
    };
    let found: BTreeSet<u16> = listeners().filter_map(port).collect();
    ports.iter().copied().filter(|port| !found.contains(port)).collect()
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

/// Returns the host name of this machine.
fn name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Samples a host. Times count from the clock's own origin, so that a reader on this machine can place them.
fn samples(host: &mut Host) -> Vec<HostSample> {
    host.samples(Instant::default())
}

#[cfg(test)]
mod tests {
    use plimsoll_record::Counters;

    use super::*;

    fn listener(subject: &str, reading: Reading) -> HostSample {
        HostSample {
            host: "web".into(),
            source: Source::Listener.into(),
            subject: subject.into(),
            began_ns: 0,
            ended_ns: 1,
            reading,
        }
    }

    #[test]
    fn a_port_is_absent_only_if_the_listeners_were_read() {
        let listens = listener("127.0.0.1:80", Reading::Ok(Counters::default()));
        assert_eq!(absent_ports(&[80, 81], &[listens]), [81]);
        assert_eq!(absent_ports(&[80], &[]), [80]);
        for unread in [Reading::Failed("refused".to_owned()), Reading::Absent] {
            assert_eq!(absent_ports(&[80], &[listener("", unread)]), [0; 0]);
        }
    }
}
