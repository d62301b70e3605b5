//! A run from its plan to its sealed file: the order of the phases.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use plimsoll_engine::{EngineError, Traffic};
use plimsoll_host::SampleSource;
use plimsoll_plan::Plan;
use plimsoll_record::{Calibration, EventKind, FormatVersion, Manifest, RunCommand, StepEnd, Tags};
use plimsoll_sys::Destination;
use plimsoll_units::{Clock, RealClock, unix_ms};

use crate::beyond::BeyondCeilings;
use crate::budget::Budget;
use crate::calibration::of_driver;
use crate::context::RunContext;
use crate::error::ConductError;
use crate::hosts::{Hosts, TargetPlace, Watcher, watchers};
use crate::idle::idle_text;
use crate::made::Made;
use crate::peers::PeerGroup;
use crate::prepare::{Prepared, prepare};
use crate::profile::{Profiling, budget_of_load};
use crate::progress::Observer;
use crate::recorder::{Outcome, RunRecorder};
use crate::session::{CapController, Session};
use crate::traffic::Requests;
use crate::watch::Watch;

/// The options of a run, apart from its plan.
#[derive(Debug)]
pub struct RunOptions<'a> {
    pub command: RunCommand,
    /// The command line to record.
    pub command_line: Option<String>,
    /// True to send one request before the load and record its answer.
    pub ask_first: bool,
    /// The text of the plan's CSV file, if it has one.
    pub csv: Option<&'a [u8]>,
    /// The folder for the run file; `None` keeps no file.
    pub folder: Option<&'a Path>,
    pub interrupted: &'a AtomicBool,
    pub tool_version: &'a str,
    /// The user's tags for the run.
    pub tags: Tags,
    pub workload: Option<WorkloadOverride>,
    /// The measured calibrations of this machine's generator, one per driver. If this machine makes load, the calibration of
    /// the run's driver is recorded.
    pub calibrations: &'a [Calibration],
    pub feeds: Vec<SampleSource>,
    /// True to sample the plan's hosts, and a target on this machine.
    pub probing: bool,
    pub caps: Option<&'a mut dyn CapController>,
    /// True if hosts have no caps until the warm-up applies them.
    pub starts_uncapped: bool,
    /// True to test the verdict after the load: raise the limiting cap, and load again.
    pub prove: bool,
    pub peers: Option<PeerGroup>,
    /// The session that resumes the run if this process dies; it is stored next to the run file until the run has ended.
    pub session: Option<String>,
}

impl<'a> RunOptions<'a> {
    /// Options for a run that keeps no file, sends no request before its load and samples no host.
    pub fn new(command: RunCommand, tool_version: &'a str, interrupted: &'a AtomicBool) -> Self {
        Self {
            command,
            command_line: None,
            ask_first: false,
            csv: None,
            folder: None,
            interrupted,
            tool_version,
            tags: Tags::default(),
            workload: None,
            calibrations: &[],
            feeds: Vec::new(),
            probing: false,
            caps: None,
            starts_uncapped: false,
            prove: false,
            peers: None,
            session: None,
        }
    }
}

/// Traffic that the caller generates itself, with the settings to measure it.
#[derive(Debug, Clone)]
pub struct WorkloadOverride {
    pub traffic: Traffic,
    /// The longest interval of one frame; replaces the interval that follows from the plan's time.
    pub interval: Duration,
    /// True to keep the load up to its end although the target refuses every connection.
    pub outlasts_target: bool,
}

/// Makes a run.
///
/// # Errors
/// When the run could not begin, or a worker died in the first step. A run that failed later is an [`Outcome`]:
/// measured data is never discarded.
pub fn conduct<'a>(
    plan: Plan,
    mut options: RunOptions<'a>,
    observer: &'a mut dyn Observer,
) -> Result<Outcome, ConductError> {
    let (starts_uncapped, prove) = (options.starts_uncapped, options.prove);
    let (mut session, profiling) = begin(plan, &mut options, observer)?;
    session.rest();
    if let Err(error) = session.warm_up(starts_uncapped) {
        session.recorder.discard();
        return Err(error);
    }
    let loaded = session.make_steps(profiling.as_ref());
    let loaded = loaded.and_then(|()| if prove { session.prove() } else { Ok(()) });
    match loaded {
        // As after a failed warm-up, a first step that could not start leaves no file.
        Err(error) if session.recorder.run().frames.is_empty() => {
            session.recorder.discard();
            Err(error.into())
        }
        loaded => session.end(loaded),
    }
}

impl Session<'_> {
    /// Makes the plan's steps that the run does not have yet.
    pub(crate) fn make_steps(&mut self, profiling: Option<&Profiling>) -> Result<(), EngineError> {
        self.climb()?;
        self.search()?;
        self.overload()?;
        profiling.map_or(Ok(()), |profiling| self.profile(profiling))
    }

    /// Ends the run after its load.
    pub(crate) fn end(mut self, loaded: Result<(), EngineError>) -> Result<Outcome, ConductError> {
        if let Err(error) = loaded {
            // A resumed run without frames keeps its file to be resumed again. If a later step failed, earlier steps stay.
            if self.recorder.run().frames.is_empty() {
                return Err(error.into());
            }
            self.recorder.event(EventKind::StepFailed, error.to_string());
        }
        self.note_interrupt_between_steps();
        Ok(self.recorder.seal())
    }

    /// Records an interrupt between two steps, if the plan has steps left.
    fn note_interrupt_between_steps(&mut self) {
        let run = self.recorder.run();
        let is_noted = run.events.iter().any(|event| event.kind == EventKind::Interrupted);
        let made = Made::new(run, &self.context.plan);
        if self.interrupted() && !is_noted && self.last_end != Some(StepEnd::TargetLost) && made.is_left() {
            let text = "interrupted: what was left of the load was not made".to_owned();
            self.recorder.event(EventKind::Interrupted, text);
        }
    }
}

fn begin<'a>(
    plan: Plan,
    options: &mut RunOptions<'a>,
    observer: &'a mut dyn Observer,
) -> Result<(Session<'a>, Option<Profiling>), ConductError> {
    let began = RealClock.now();
    let workload = options.workload.take();
    let requests = match &workload {
        Some(workload) => Requests::Settled(workload.traffic.clone()),
        None => Requests::new(&plan, options.csv)?,
    };
    let mut prepared = prepare(plan, requests, options.ask_first, options.interrupted)?;
    let met = options.peers.as_ref().map(|group| fleet_limits(&prepared.context, group));
    prepared.remarks.extend(met.into_iter().flatten().map(|text| (EventKind::LimitMet, text)));
    let profiling = Profiling::prepare(&prepared)?;
    let budget = Budget::new(began, budget_of_load(&prepared.context.plan, profiling.as_ref()));
    let mut recorder = recorder(&prepared, options, observer);
    recorder.announce(std::mem::take(&mut prepared.remarks));
    let feeds = std::mem::take(&mut options.feeds);
    let mut hosts = open_hosts(&prepared, (feeds, options.probing), &mut recorder);
    hosts.await_first(&mut recorder);
    let mut context = prepared.context;
    context.origin = recorder.origin;
    context.interval = workload.as_ref().map_or(context.interval, |workload| workload.interval);
    let session = Session {
        context,
        recorder,
        hosts,
        peers: options.peers.take(),
        caps: options.caps.take(),
        budget,
        took: Duration::ZERO,
        last_end: None,
        watch: Watch::default(),
        interrupt: options.interrupted,
        outlasts_target: workload.is_some_and(|workload| workload.outlasts_target),
    };
    Ok((session, profiling))
}

/// The limits of the other generators that the run exceeds.
fn fleet_limits(context: &RunContext, group: &PeerGroup) -> Vec<String> {
    let beyond = BeyondCeilings::new(&context.plan, &group.peers);
    idle_text(context, group).into_iter().chain(beyond.map(|beyond| beyond.to_string())).collect()
}

fn recorder<'a>(
    prepared: &Prepared,
    options: &RunOptions<'_>,
    observer: &'a mut dyn Observer,
) -> RunRecorder<'a> {
    let (plan, driver) = (&prepared.context.plan, prepared.context.driver.name());
    let mut machine = prepared.machine.clone();
    let makes_load = options.peers.as_ref().is_none_or(|group| group.peers.coordinator_takes_part());
    machine.calibration =
        of_driver(options.calibrations, prepared.context.driver).filter(|_| makes_load).cloned();
    let manifest = Manifest {
        format: FormatVersion::CURRENT,
        name: plan.name.clone(),
        command: options.command,
        command_line: options.command_line.clone(),
        plan: plan.to_json(),
        plan_hash: plan.hash(),
        tool_version: options.tool_version.to_owned(),
        machine,
        preflight: prepared.preflight.clone(),
        driver: driver.to_owned(),
        protocol: if plan.http2 { "HTTP/2" } else { "HTTP/1.1" }.to_owned(),
        tls: prepared.tls.clone(),
        started_unix_ms: unix_ms(),
        tags: options.tags.clone(),
        sealed: false,
    };
    let path = |folder| plimsoll_store::free_path(folder, &plan.name, manifest.started_unix_ms);
    let file = options.folder.map(path);
    RunRecorder::begin(manifest, file.as_deref(), options.session.as_deref(), observer)
}

/// Opens the caller's feeds, the plan's probes, and the probes of a target on this machine.
pub(crate) fn open_hosts(
    prepared: &Prepared,
    (feeds, probing): (Vec<SampleSource>, bool),
    recorder: &mut RunRecorder<'_>,
) -> Hosts {
    let Prepared { context, preflight, .. } = prepared;
    let plain = |feed| Watcher { feed, is_component: false };
    let mut all: Vec<Watcher> = feeds.into_iter().map(plain).collect();
    if probing {
        let address = context.destinations.first().and_then(Destination::tcp);
        all.extend(watchers(&context.plan, TargetPlace { local: preflight.local, address }));
    }
    Hosts::open(all, &context.plan, recorder)
}
