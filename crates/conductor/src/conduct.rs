//! The order of the phases.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use plimsoll_engine::{EngineError, Traffic, available_driver};
use plimsoll_host::SampleSource;
use plimsoll_plan::{DriverKind, Plan};
use plimsoll_record::{Calibration, Event, EventKind, FormatVersion, Manifest, Run};
use plimsoll_store::StoreError;
use plimsoll_sys::Peer;
use plimsoll_units::{Clock, Instant, RealClock};

use crate::budget::Budget;
use crate::climb::run_steps;
use crate::hosts::{Hosts, Place, Watcher, watchers};
use crate::load::Means;
use crate::mates::{Mates, MatesError};
use crate::observer::{Observer, Progress};
use crate::prepare::{PrepareError, Prepared, prepare};
use crate::profile::{ProfileError, Profiling, budget_of_load, hold};
use crate::prove::{Lever, prove};
use crate::step::StepContext;
use crate::tape::Tape;
use crate::traffic::{Requests, ScenarioError};
use crate::warm::{Caps, WarmUpError, warm_up};

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum ConductError {
    /// The run could not begin.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The plan's requests cannot be sent as they were typed.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The CPU profile that the plan asks for cannot be taken.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The target was not warmed up to the end.
    #[error(transparent)]
    WarmUp(#[from] WarmUpError),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The other generators of the run failed.
    #[error(transparent)]
    Mates(#[from] MatesError),
}

/// How a run is made, apart from its plan.
#[derive(Debug)]
pub struct RunOptions<'a> {
    /// The command it belongs to: `answer`, `sweep` or `run`.
    pub command: &'a str,
    /// Send one request before the load and record its answer.
    pub ask_first: bool,
    /// The text of the plan's CSV file, if it has one.
    pub csv: Option<&'a [u8]>,
    /// The folder for the run file; `None` keeps no file.
    pub folder: Option<&'a Path>,
    /// Set when the user wants the run to end.
    pub interrupted: &'a AtomicBool,
    /// The version of the tool, for the record.
    pub tool_version: &'a str,
    /// What the caller settles in place of the plan, if anything.
    pub supplied: Option<Supplied>,
    /// What this machine's generator can do at most, as far as it was measured; that of the run's driver is recorded.
    pub calibrations: &'a [Calibration],
    /// Samples of hosts that come from elsewhere.
    pub feeds: Vec<Box<dyn SampleSource>>,
    /// Whether the hosts are looked at that the plan says how, and a target on this machine.
    pub probing: bool,
    /// Who raises what limits when the load is over, so that the verdict is tried; `None` leaves it as it is.
    pub lever: Option<&'a mut dyn Lever>,
    /// Who holds hosts to their caps that are warmed up without them; `None` if there are no such hosts.
    pub caps: Option<&'a mut dyn Caps>,
    /// Other generators, which make the load together with this process.
    pub mates: Option<Mates>,
}

impl<'a> RunOptions<'a> {
    /// A run that keeps no file, asks nothing before its load and looks at no host, of a command of this version of the tool.
    pub fn new(command: &'a str, tool_version: &'a str, interrupted: &'a AtomicBool) -> Self {
        Self {
            command,
            ask_first: false,
            csv: None,
            folder: None,
            interrupted,
            tool_version,
            supplied: None,
            calibrations: &[],
            feeds: Vec::new(),
            probing: false,
            lever: None,
            caps: None,
            mates: None,
        }
    }
}

/// Requests that a caller makes itself, and what belongs to its way of measuring them.
#[derive(Debug, Clone)]
pub struct Supplied {
    /// The requests, in place of the plan's.
    pub traffic: Traffic,
    /// The longest interval of one frame, in place of the one that follows from the plan's time.
    pub interval: Duration,
    /// Whether the load is held to its end although the target refuses every connection.
    pub outlasts_target: bool,
}

impl ConductError {
    /// True if the user ended the run before anything was measured.
    pub fn interrupted(&self) -> bool {
        matches!(
            self,
            Self::Prepare(PrepareError::Interrupted) | Self::WarmUp(WarmUpError::Interrupted { .. })
        )
    }

    /// True if what was typed is wrong: the same command fails again wherever it is called.
    pub fn mistyped(&self) -> bool {
        matches!(self, Self::Scenario(_))
    }
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Everything recorded.
    pub run: Run,
    /// Where it is kept, if it is.
    pub file: Option<PathBuf>,
    /// Why it is not kept, or not completely, although it should be.
    pub trouble: Option<StoreError>,
}

/// Makes a run.
///
/// # Errors
/// When it could not begin, or a worker died. A run that began well and ended badly is an [`Outcome`]:
/// what was measured is never thrown away.
pub fn conduct(
    plan: Plan,
    mut options: RunOptions<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcome, ConductError> {
    let began = RealClock.now();
    let requests = match &options.supplied {
        Some(supplied) => Requests::Settled(supplied.traffic.clone()),
        None => Requests::of(&plan, options.csv)?,
    };
    let first = if options.ask_first { requests.first() } else { None };
    let prepared = prepare(plan, first.as_ref(), options.interrupted)?;
    let driver = available_driver(prepared.plan.generator.driver)?;
    let profiling = Profiling::of(&prepared)?;
    let budget = budget_of_load(&prepared.plan, profiling.as_ref());
    let mut tape = open_tape(&prepared, driver, &options);
    announce(&mut tape, &prepared, observer);
    let mut hosts = open_hosts(&prepared, &mut options, &mut tape);
    hosts.await_first(&mut tape, observer);
    let (lever, caps) = (options.lever.take(), options.caps.take());
    let mates = options.mates.take();
    let mut context = context((&prepared, &requests), (began, driver, budget), &options, (hosts, mates));
    if let Err(error) = warm_up(&mut context, caps, &mut tape, observer) {
        tape.discard();
        return Err(error);
    }
    let mut loaded = run_steps(&context, &mut tape, observer);
    if let (Ok(()), Some(profiling)) = (&loaded, &profiling) {
        loaded = hold(&mut context, profiling, &mut tape, observer);
    }
    if let (Ok(()), Some(lever)) = (&loaded, lever) {
        loaded = prove(&mut context, lever, &mut tape, observer);
    }
    if let Err(error) = loaded {
        // A first step that failed leaves nothing to show; a later one leaves those before it.
        if tape.run().frames.is_empty() {
            return Err(error.into());
        }
        let event = tape.event(EventKind::StepFailed, error.to_string());
        observer.observe(&Progress::Happened(&event));
    }
    let (run, file, trouble) = tape.seal();
    Ok(Outcome { run, file, trouble })
}

fn open_tape(prepared: &Prepared, driver: DriverKind, options: &RunOptions<'_>) -> Tape {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let started_unix_ms = u64::try_from(started.as_millis()).unwrap_or(u64::MAX);
    let mut machine = prepared.machine.clone();
    machine.calibration =
        options.calibrations.iter().find(|known| known.key.driver == driver.name()).cloned();
    let manifest = Manifest {
        format: FormatVersion::CURRENT,
        name: prepared.plan.name.clone(),
        command: options.command.to_owned(),
        plan: prepared.plan.to_json(),
        plan_hash: prepared.plan.hash(),
        tool_version: options.tool_version.to_owned(),
        machine,
        preflight: prepared.preflight.clone(),
        driver: driver.name().to_owned(),
        protocol: if prepared.plan.http2 { "HTTP/2" } else { "HTTP/1.1" }.to_owned(),
        tls: prepared.tls.clone(),
        started_unix_ms,
        sealed: false,
    };
    let file =
        options.folder.map(|folder| plimsoll_store::free_path(folder, &prepared.plan.name, started_unix_ms));
    Tape::begin(manifest, file.as_deref(), RealClock.now())
}

fn announce(tape: &mut Tape, prepared: &Prepared, observer: &mut dyn Observer) {
    let events: Vec<Event> = prepared.remarks().map(|(kind, text)| tape.event(kind, text)).collect();
    observer.observe(&Progress::Prepared { manifest: &tape.run().manifest, file: tape.file() });
    for event in &events {
        observer.observe(&Progress::Happened(event));
    }
    if let Some(error) = tape.trouble() {
        observer.observe(&Progress::NotKept(error));
    }
}

/// The feeds that were brought along, and those of the plan's probes and of a target on this machine.
fn open_hosts(prepared: &Prepared, options: &mut RunOptions<'_>, tape: &mut Tape) -> Hosts {
    let plain = |feed| Watcher { feed, is_component: false };
    let mut all: Vec<Watcher> = std::mem::take(&mut options.feeds).into_iter().map(plain).collect();
    if options.probing {
        let address = prepared.peers.first().and_then(Peer::tcp);
        all.extend(watchers(&prepared.plan, Place { local: prepared.preflight.local, address }));
    }
    Hosts::open(all, &prepared.plan, tape)
}

fn context<'a>(
    (prepared, requests): (&'a Prepared, &'a Requests),
    (began, driver, budget): (Instant, DriverKind, Option<Duration>),
    options: &'a RunOptions<'_>,
    (hosts, mates): (Hosts, Option<Mates>),
) -> StepContext<'a> {
    let supplied = options.supplied.as_ref();
    let means = Means::of(prepared, requests, driver, hosts.origin());
    StepContext {
        means: Means { interval: supplied.map_or(means.interval, |supplied| supplied.interval), ..means },
        mates: mates.map(RefCell::new),
        outlasts_target: supplied.is_some_and(|supplied| supplied.outlasts_target),
        budget: Budget::new(began, budget),
        interrupted: options.interrupted,
        hosts: RefCell::new(hosts),
    }
}
