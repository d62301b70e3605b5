//! The thread that looks where other threads stand.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_units::{Clock, Instant, RealClock};

use super::class::Class;
use crate::lookout::Member;
use crate::own_time::thread_cpu_us;
use crate::pace::Pace;
use crate::process_stat::Stat;
use crate::small_files::SmallFiles;

/// Looks follow each other at this distance, or a larger one where they would take more than this part of the time.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const LOOK_PARTS: u32 = 500;
/// Threads come and go; they are listed anew this often.
const LIST_EVERY: Duration = Duration::from_secs(1);
/// Up to so many threads have a file kept open each. More would be missed where the load needs the descriptors.
const OPEN_MAX: usize = 64;

/// What was seen of one process since it was first looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Seen {
    started_ticks: u64,
    pub(super) looks: u64,
    pub(super) running: u64,
    pub(super) runnable: u64,
    pub(super) disk: u64,
    pub(super) classes: BTreeMap<Class, u64>,
    /// Threads that waited, and would not say where.
    unseen: u64,
}

impl Seen {
    fn new(started_ticks: u64) -> Self {
        let classes = Class::ALL.map(|class| (class, 0)).into();
        Self { started_ticks, classes, ..Self::default() }
    }

    /// Whether it is not told where the threads wait. A thread that began to wait just when it was looked at does not
    /// say where either, so that only most of them mean something.
    pub(super) fn is_closed(&self) -> bool {
        self.unseen > self.classes.values().sum()
    }
}

/// Looks until it is dropped.
#[derive(Debug)]
pub(super) struct Looker {
    seen: Arc<Mutex<BTreeMap<u32, Seen>>>,
    /// What the thread has cost.
    cpu_us: Arc<AtomicU64>,
    /// Nothing is sent: that it is gone tells the thread to end.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Looker {
    /// Begins to look at the processes that are in `members` at each time.
    pub(super) fn start(proc: PathBuf, members: Arc<Mutex<Vec<Member>>>) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let seen = Arc::new(Mutex::new(BTreeMap::new()));
        let told = Arc::clone(&seen);
        let cpu_us = Arc::new(AtomicU64::new(0));
        let cost = Arc::clone(&cpu_us);
        let thread = std::thread::Builder::new().name("looker".to_owned()).spawn(move || {
            let pace = Pace::new(LOOK_EVERY, LOOK_PARTS);
            let mut look = Look::new(proc);
            let mut pause = LOOK_EVERY;
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let began = RealClock.now();
                let members = members.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let looked = look.at(&members);
                add(&mut told.lock().unwrap_or_else(PoisonError::into_inner), looked);
                cost.store(thread_cpu_us(), Ordering::Relaxed);
                let took = RealClock.now().since(began);
                pause = pace.after(took).saturating_sub(took);
            }
        })?;
        Ok(Self { seen, cpu_us, stop: Some(stop), thread: Some(thread) })
    }

    /// The CPU time that the thread has used, in microseconds.
    pub(super) fn cpu_us(&self) -> u64 {
        self.cpu_us.load(Ordering::Relaxed)
    }

    /// What was seen so far, by process.
    pub(super) fn seen(&self) -> BTreeMap<u32, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Looker {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It has nothing to give back, and a fault in it is no reason to end anything here.
            drop(thread.join());
        }
    }
}

/// Adds one look to those before; what is no longer looked at is forgotten.
fn add(seen: &mut BTreeMap<u32, Seen>, look: BTreeMap<u32, Seen>) {
    seen.retain(|pid, before| look.get(pid).is_some_and(|now| now.started_ticks == before.started_ticks));
    for (pid, now) in look {
        let all = seen.entry(pid).or_insert_with(|| Seen::new(now.started_ticks));
        all.looks += now.looks;
        all.running += now.running;
        all.runnable += now.runnable;
        all.disk += now.disk;
        all.unseen += now.unseen;
        for (class, count) in now.classes {
            *all.classes.entry(class).or_default() += count;
        }
    }
}

/// Looks at all threads of some processes.
#[derive(Debug)]
pub(super) struct Look {
    proc: PathBuf,
    files: SmallFiles,
    /// The threads of each process, and when these were listed.
    threads: BTreeMap<u32, (Instant, Vec<Task>)>,
    /// Cores on which a thread was already found to run in this look.
    taken: BTreeSet<u32>,
}

/// A thread.
#[derive(Debug)]
struct Task {
    folder: PathBuf,
    /// What tells where it waits, kept open where threads are few.
    wchan: Option<File>,
}

impl Look {
    pub(super) fn new(proc: PathBuf) -> Self {
        Self { proc, files: SmallFiles::new(), threads: BTreeMap::new(), taken: BTreeSet::new() }
    }

    pub(super) fn at(&mut self, members: &[Member]) -> BTreeMap<u32, Seen> {
        self.list(members, RealClock.now());
        // The core that this thread runs on is not free for any other.
        self.taken = u32::try_from(rustix::thread::sched_getcpu()).into_iter().collect();
        let mut seen = BTreeMap::new();
        for member in members {
            let mut one = Seen { looks: 1, ..Seen::new(member.started_ticks) };
            let tasks = self.threads.remove(&member.pid);
            for task in tasks.iter().flat_map(|(_, tasks)| tasks) {
                self.thread(task, &mut one);
            }
            self.threads.extend(tasks.map(|tasks| (member.pid, tasks)));
            seen.insert(member.pid, one);
        }
        seen
    }

    /// Lists the threads of processes whose list is old.
    fn list(&mut self, members: &[Member], now: Instant) {
        let fresh = |at: Instant| now.since(at) < LIST_EVERY;
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
        if tasks.len() <= OPEN_MAX {
            let closed = tasks.iter_mut().filter(|task| task.wchan.is_none());
            closed.for_each(|task| task.wchan = File::open(task.folder.join("wchan")).ok());
        }
    }

    /// Where a thread waits is asked first: that costs the kernel less than its state, and mostly tells it too.
    fn thread(&mut self, task: &Task, seen: &mut Seen) {
        let class = self.class(task);
        if let Some(class) = class.filter(|class| class.can_be_interrupted()) {
            *seen.classes.entry(class).or_default() += 1;
            return;
        }
        // A thread that ended meanwhile stands nowhere.
        let Ok(Stat { state, core, .. }) = self.files.stat(&task.folder) else { return };
        match (state, class) {
            ('R', _) => self.ready(core, seen),
            ('D', _) => seen.disk += 1,
            ('S' | 'I' | 'T' | 't', Some(class)) => *seen.classes.entry(class).or_default() += 1,
            ('S' | 'I' | 'T' | 't', None) => seen.unseen += 1,
            _ => {}
        }
    }

    /// The kernel calls both `R`. Only one thread runs on a core at a time, so that of several on one core all but the
    /// first wait for it. That another process runs there may make one `running` that is not.
    fn ready(&mut self, core: u32, seen: &mut Seen) {
        if self.taken.insert(core) {
            seen.running += 1;
        } else {
            seen.runnable += 1;
        }
    }

    /// What a thread waits for; `None` if it does not wait, or this user may not know.
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
        let known = Class::of(function);
        known.or_else(|| {
            let text = self.files.text(&task.folder.join("syscall")).ok();
            Some(Class::of_call(text.and_then(|text| text.split(' ').next()?.parse().ok())))
        })
    }
}
