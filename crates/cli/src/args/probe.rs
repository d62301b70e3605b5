//! Flags of `plimsoll probe`.

use std::path::Path;
use std::time::Duration;

use plimsoll_host::Component;
use plimsoll_plan::Probe;
use plimsoll_units::parse_duration;

/// A host's counters are not read more often than this: many of them are kept in hundredths of a second.
const MIN_EVERY: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  plimsoll probe                      what this host is doing, over one second
  plimsoll probe --port 8080          and the server on that port, by process and thread
  plimsoll probe --pid 1234 --component redis://127.0.0.1:6379 --every 10s
  plimsoll probe --stream --port 8080     for a program: a line of JSON for each sample, each second")]
pub(crate) struct ProbeArgs {
    /// Sample the processes that listen on this port, and those they are connected to here; may be given several times
    #[arg(long = "port", value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) ports: Vec<u16>,
    /// Sample this process; may be given several times
    #[arg(long = "pid", value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pids: Vec<u32>,
    /// Sample the processes of this name; may be given several times
    #[arg(long = "name", value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Sample the processes that other machines are connected to, except those that started this probe
    #[arg(long)]
    pub(crate) serving: bool,
    /// Ask a component about itself; may be given several times
    ///
    /// nginx+http://host/stub_status, redis://[:password@]host:6379, memcached://host:11211,
    /// mariadb://user[:password]@host:3306, expvar+http://host:6060/debug/vars for a Go program, jvm:PID, or the URL
    /// of a page in Prometheus' form.
    #[arg(long = "component", value_name = "PROBE", value_parser = component)]
    pub(crate) components: Vec<Probe>,
    /// Time from one sample to the next
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = every)]
    pub(crate) every: Duration,
    /// Write samples as lines of JSON until standard input is closed, or on Ctrl-C
    #[arg(long)]
    pub(crate) stream: bool,
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
