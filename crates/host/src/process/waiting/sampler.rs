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

/// Threads are sampled at this interval, or a longer one where that would take more than one part of the time in so many.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);
const SAMPLE_PARTS: u32 = 1000;
/// Threads come and go; they are listed again at this interval.
const LIST_INTERVAL: Duration = Duration::from_secs(1);
/// Up to so many threads have a file kept open each; the load may need further descriptors.
const MAX_OPEN: usize = 64;

/// Where the threads of one process were found since it was first sampled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    started_ticks: u64,
    pub(super) samples: u64,
    pub(super) running: u64,
    pub(super) runnable: u64,
    pub(super) disk: u64,
    /// By their classes.
    pub(super) classes: [u64; METRICS.len()],
    /// Threads that waited, and whose function was not readable.
    hidden: u64,
}

impl Found {
    fn add_class(&mut self, class: Class) {
        self.classes[class as usize] += 1;
    }

    /// Whether this user may not read what the threads wait for. A thread that began to wait while it was sampled has no
    /// function either, so that only a majority decides.
    pub(super) fn is_closed(&self) -> bool {
        self.hidden > self.classes.iter().sum()
    }
}

/// Samples in a thread of its own until it is dropped.
#[derive(Debug)]
pub(super) struct WchanSampler {
    found: Arc<Mutex<BTreeMap<u32, Found>>>,
    /// The CPU time that the thread has used, in microseconds.
    pub(super) cpu_us: Arc<AtomicU64>,
    /// Nothing is sent: dropping it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl WchanSampler {
    /// Begins to sample the processes that are in `members` at each time.
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

    /// What was found so far, by process.
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

/// Adds one sample to those before; processes that are no longer sampled are forgotten.
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

/// Samples all threads of some processes.
#[derive(Debug)]
pub(super) struct ThreadSampler {
    proc: PathBuf,
    files: SmallFiles,
    /// The threads of each process, and when these were listed.
    threads: BTreeMap<u32, (Instant, Vec<Task>)>,
    /// Cores on which a thread was already found to run in this sample.
    taken: BTreeSet<u32>,
}

/// A thread.
#[derive(Debug)]
struct Task {
    folder: PathBuf,
    /// Names the function that it waits in; kept open where threads are few.
    wchan: Option<File>,
}

impl ThreadSampler {
    pub(super) fn new(proc: PathBuf) -> Self {
        Self { proc, files: SmallFiles::new(), threads: BTreeMap::new(), taken: BTreeSet::new() }
    }

    pub(super) fn sample(&mut self, members: &[Process]) -> BTreeMap<u32, Found> {
        self.list(members, RealClock.now());
        // No other thread runs on the core of this one.
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

    /// Lists the threads of processes whose list is old.
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

    /// The function that a thread waits in is read first: that costs the kernel less than its state, and mostly implies it.
    fn thread(&mut self, task: &Task, found: &mut Found) {
        let class = self.class(task);
        if let Some(class) = class.filter(|class| class.can_be_interrupted()) {
            found.add_class(class);
            return;
        }
        // A thread that ended meanwhile is not counted.
        let Ok(Stat { state, core, .. }) = self.files.stat(&task.folder) else { return };
        match (state, class) {
            ('R', _) => self.ready(core, found),
            ('D', _) => found.disk += 1,
            ('S' | 'I' | 'T' | 't', Some(class)) => found.add_class(class),
            ('S' | 'I' | 'T' | 't', None) => found.hidden += 1,
            _ => {}
        }
    }

    /// Running and runnable threads are both in the state `R`. Only one thread runs on a core at a time, so that of several
    /// on one core all but the first wait for it. One is taken for running although another process may run there.
    fn ready(&mut self, core: u32, found: &mut Found) {
        if self.taken.insert(core) {
            found.running += 1;
        } else {
            found.runnable += 1;
        }
    }

    /// What a thread waits for; `None` if it does not wait, or this user may not read it.
    fn class(&mut self, task: &Task) -> Option<Class> {
        let text = match &task.wchan {
            Some(file) => self.files.text_of(file),
            None => self.files.text(&task.folder.join("wchan")),
        };
        let text = text.ok()?;
        // Compilers add suffixes to the names of functions that they changed.
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
