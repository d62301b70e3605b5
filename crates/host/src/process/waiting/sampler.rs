//! The thread that samples what other threads wait for, from `/proc/PID/task/TID/wchan`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;
use plimsoll_units::{Clock, Instant, RealClock, best_effort};

use super::class::{Class, METRICS};
use crate::cost::{Pace, thread_cpu};
use crate::process::stat::{SmallFiles, Stat};
use crate::process::table::Process;

/// Threads are sampled at this interval, or less often if that would take more than 1/1000 of the time.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);
const SAMPLE_PARTS: u32 = 1000;
/// Threads come and go; they are listed again at this interval.
const LIST_INTERVAL: Duration = Duration::from_secs(1);
/// Up to this many threads, each thread's file is kept open; the load may need the other descriptors.
const MAX_OPEN: usize = 64;

/// The states in which threads of one process were found, counted since it was first sampled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    started_ticks: u64,
    pub(super) samples: u64,
    pub(super) running: u64,
    pub(super) runnable: u64,
    pub(super) disk: u64,
    /// The number of waiting threads by [`Class`].
    pub(super) classes: [u64; METRICS.len()],
    /// Threads that waited in a function that could not be read.
    hidden: u64,
}

impl Found {
    fn add_class(&mut self, class: Class) {
        self.classes[class as usize] += 1;
    }

    /// Whether this user may not read what the threads wait for. A thread that begins to wait while it is sampled has no function
    /// either, so the majority decides.
    pub(super) fn is_closed(&self) -> bool {
        self.hidden > self.classes.iter().sum()
    }
}

/// Samples in its own thread until it is dropped.
#[derive(Debug)]
pub(super) struct WchanSampler {
    found: Arc<Mutex<BTreeMap<u32, Found>>>,
    /// The CPU time that the sampling thread has used, in microseconds.
    pub(super) cpu_us: Arc<AtomicU64>,
    /// Nothing is sent on this channel; dropping it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl WchanSampler {
    /// Starts to sample the processes that `members` holds at each time.
    pub(super) fn start(proc: PathBuf, members: Arc<Mutex<Vec<Process>>>) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let found = Arc::new(Mutex::new(BTreeMap::new()));
        let sum = Arc::clone(&found);
        let cpu_us = Arc::new(AtomicU64::new(0));
        let cost = Arc::clone(&cpu_us);
        let thread = std::thread::Builder::new().name("sampler".to_owned()).spawn(move || {
            let pace = Pace::new(SAMPLE_INTERVAL, SAMPLE_PARTS);
            let mut threads = ThreadSampler::new(proc);
            let mut pause = SAMPLE_INTERVAL;
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let (began, cpu) = (RealClock.now(), thread_cpu());
                let members = members.lock().clone();
                let sample = threads.sample(&members);
                add(&mut sum.lock(), sample);
                cost.store(thread_cpu().as_micros() as u64, Ordering::Relaxed);
                pause = pace.after(thread_cpu() - cpu).saturating_sub(RealClock.now().since(began));
            }
        })?;
        Ok(Self { found, cpu_us, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns the counts so far, by process.
    pub(super) fn found(&self) -> BTreeMap<u32, Found> {
        self.found.lock().clone()
    }
}

impl Drop for WchanSampler {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            best_effort(thread.join(), "its panic was printed when it happened, and ends nothing else");
        }
    }
}

/// Adds one sample to the sum, and removes processes that are no longer sampled.
fn add(sum: &mut BTreeMap<u32, Found>, sample: BTreeMap<u32, Found>) {
    sum.retain(|pid, before| sample.get(pid).is_some_and(|now| now.started_ticks == before.started_ticks));
    for (pid, now) in sample {
        let started_ticks = now.started_ticks;
        let all = sum.entry(pid).or_insert_with(|| Found { started_ticks, ..Found::default() });
        all.samples += now.samples;
        all.running += now.running;
        all.runnable += now.runnable;
        all.disk += now.disk;
        all.hidden += now.hidden;
        all.classes.iter_mut().zip(now.classes).for_each(|(all, now)| *all += now);
    }
}

/// Samples all threads of some processes once.
#[derive(Debug)]
pub(super) struct ThreadSampler {
    proc: PathBuf,
    files: SmallFiles,
    /// The threads of each process, and when they were listed.
    threads: BTreeMap<u32, (Instant, Vec<Task>)>,
    /// Cores on which this sample already found a running thread.
    taken: BTreeSet<u32>,
}

#[derive(Debug)]
struct Task {
    folder: PathBuf,
    /// Names the kernel function that the thread waits in; kept open if there are few threads.
    wchan: Option<File>,
}

impl ThreadSampler {
    pub(super) fn new(proc: PathBuf) -> Self {
        Self { proc, files: SmallFiles::new(), threads: BTreeMap::new(), taken: BTreeSet::new() }
    }

    pub(super) fn sample(&mut self, members: &[Process]) -> BTreeMap<u32, Found> {
        self.list(members, RealClock.now());
        // This thread itself runs on this core, so no other thread does.
        self.taken = u32::try_from(rustix::thread::sched_getcpu()).into_iter().collect();
        let mut found = BTreeMap::new();
        for member in members {
            let mut one = Found { started_ticks: member.started_ticks, samples: 1, ..Found::default() };
            let tasks = self.threads.remove(&member.pid);
            for task in tasks.iter().flat_map(|(_, tasks)| tasks) {
                self.thread(task, &mut one);
            }
            self.threads.extend(tasks.map(|tasks| (member.pid, tasks)));
            found.insert(member.pid, one);
        }
        found
    }

    /// Lists the threads of processes again whose list is older than [`LIST_INTERVAL`].
    fn list(&mut self, members: &[Process], now: Instant) {
        let fresh = |at: Instant| now.since(at) < LIST_INTERVAL;
        self.threads.retain(|pid, (at, _)| fresh(*at) && members.iter().any(|member| member.pid == *pid));
        for member in members {
            self.threads.entry(member.pid).or_insert_with(|| {
                let folder = fs::read_dir(self.proc.join(format!("{}/task", member.pid)));
                let folders = folder.into_iter().flatten().flatten().map(|task| task.path());
                (now, folders.map(|folder| Task { folder, wchan: None }).collect())
            });
        }
        self.open_few();
    }

    fn open_few(&mut self) {
        let mut tasks: Vec<&mut Task> = self.threads.values_mut().flat_map(|(_, tasks)| tasks).collect();
        if tasks.len() <= MAX_OPEN {
            let closed = tasks.iter_mut().filter(|task| task.wchan.is_none());
            closed.for_each(|task| task.wchan = File::open(task.folder.join("wchan")).ok());
        }
    }

    /// Samples one thread. The function it waits in is read first: that is cheaper than its state, and usually implies the state.
    fn thread(&mut self, task: &Task, found: &mut Found) {
        let class = self.class(task);
        if let Some(class) = class.filter(|class| class.can_be_interrupted()) {
            found.add_class(class);
            return;
        }
        // A thread that ended in the meantime is not counted.
        let Ok(Stat { state, core, .. }) = self.files.stat(&task.folder) else { return };
        match (state, class) {
            ('R', _) => self.ready(core, found),
            ('D', _) => found.disk += 1,
            ('S' | 'I' | 'T' | 't', Some(class)) => found.add_class(class),
            ('S' | 'I' | 'T' | 't', None) => found.hidden += 1,
            _ => {}
        }
    }

    /// Counts a thread in state `R`, which means running or runnable. Only one thread runs on a core at a time, so of several on
    /// one core, all but the first wait for it. The first counts as running, although another process may be running there.
    fn ready(&mut self, core: u32, found: &mut Found) {
        if self.taken.insert(core) {
            found.running += 1;
        } else {
            found.runnable += 1;
        }
    }

    /// Returns what a thread waits for; `None` if it does not wait, or this user may not read it.
    fn class(&mut self, task: &Task) -> Option<Class> {
        let text = match &task.wchan {
            Some(file) => self.files.text_of(file),
            None => self.files.text(&task.folder.join("wchan")),
        };
        let text = text.ok()?;
        // Compilers add suffixes to the names of functions that they transformed.
        let function = text.trim().split('.').next().unwrap_or_default();
        if function.is_empty() || function == "0" {
            return None;
        }
        Class::from_function(function).or_else(|| {
            let text = self.files.text(&task.folder.join("syscall")).ok();
            Some(Class::from_call(text.and_then(|text| text.split(' ').next()?.parse().ok())))
        })
    }
}
