//! The threads of the watched processes, from `/proc/PID/task`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Add;
use std::path::Path;
use std::{fs, io};

use super::stat::{SmallFiles, ticks_ms};
use super::table::id;

/// The number of threads whose context switches are read at each refresh, those that ran most. The file with the switches costs the kernel
/// about five times as much as the file with the times.
const SWITCHES_READ: usize = 64;
/// The CPU time of a whole process is read before that of its threads. It can be ahead of their sum by two ticks only if other threads ran.
const AHEAD_US: u64 = 20_000;

/// Resource use of a thread since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Use {
    /// Time on a CPU.
    pub(crate) run_ns: u64,
    /// Time ready to run, without a CPU.
    pub(crate) wait_ns: u64,
    /// Context switches: voluntary ones, and preemptions; `None` if they were not read.
    pub(crate) voluntary: Option<u64>,
    pub(crate) involuntary: Option<u64>,
}

impl Use {
    fn add(&mut self, other: &Self) {
        self.run_ns += other.run_ns;
        self.wait_ns += other.wait_ns;
        self.voluntary = sum(self.voluntary, other.voluntary);
        self.involuntary = sum(self.involuntary, other.involuntary);
    }
}

/// Adds the known values; `None` if both are unknown.
fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).reduce(Add::add)
}

#[derive(Debug, Default)]
pub(crate) struct Thread {
    pub(crate) name: String,
    pub(crate) used: Use,
    /// CPU time between the last two reads; 0 after the first.
    pub(crate) ran_ns: u64,
    slices: u64,
    seen: bool,
}

/// All threads of one process.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    /// The living threads, by id.
    pub(crate) all: BTreeMap<u32, Thread>,
    /// The use of threads that have ended. It includes CPU time that no read of a thread has seen: of threads that ended before
    /// the first read or lived between two reads, and of threads that ran after their last one.
    ended: Use,
}

impl Threads {
    /// Reads the threads of the process whose folder in `/proc` is `folder`.
    pub(crate) fn refresh(&mut self, folder: &Path, files: &mut SmallFiles) -> io::Result<()> {
        // Read before the threads, so that it lags by a tick, and by more if other threads share the tick.
        let whole = files.stat(folder).map(|stat| 1000 * ticks_ms(stat.user_ticks + stat.system_ticks));
        let mut changed = Vec::new();
        self.all.values_mut().for_each(|thread| thread.seen = false);
        for task in fs::read_dir(folder.join("task"))?.flatten() {
            let Some(tid) = id(&task.file_name()) else { continue };
            let Some((run_ns, wait_ns, slices)) = times(&task.path(), files) else { continue };
            let known = self.all.contains_key(&tid);
            let thread = self.all.entry(tid).or_default();
            thread.seen = true;
            thread.ran_ns = if known { run_ns.saturating_sub(thread.used.run_ns) } else { 0 };
            if !known || slices != thread.slices {
                changed.push((known, Reverse(thread.ran_ns), tid));
            }
            thread.slices = slices;
            (thread.used.run_ns, thread.used.wait_ns) = (run_ns, wait_ns);
        }
        self.retire_ended();
        self.add_unseen(whole.unwrap_or_default());
        changed.sort_unstable();
        let new = changed.iter().filter(|(known, ..)| !known).count();
        for (.., tid) in changed.iter().take(new + SWITCHES_READ) {
            self.read_switches(*tid, folder, files);
        }
        Ok(())
    }

    fn retire_ended(&mut self) {
        let ended = &mut self.ended;
        self.all.retain(|_, thread| {
            if !thread.seen {
                ended.add(&thread.used);
            }
            thread.seen
        });
    }

    fn read_switches(&mut self, tid: u32, folder: &Path, files: &mut SmallFiles) {
        let Some(thread) = self.all.get_mut(&tid) else { return };
        // A thread that ended in the meantime keeps its last known values.
        let Ok(text) = files.text(&folder.join(format!("task/{tid}/status"))) else { return };
        for (name, value) in text.lines().filter_map(|line| line.split_once(':')) {
            match name {
                "Name" => value.trim().clone_into(&mut thread.name),
                "voluntary_ctxt_switches" => thread.used.voluntary = value.trim().parse().ok(),
                "nonvoluntary_ctxt_switches" => thread.used.involuntary = value.trim().parse().ok(),
                _ => {}
            }
        }
    }

    /// Adds CPU time that only the process's own count shows. Threads are counted in nanoseconds and the process in ticks, so the process's
    /// count matters only if it is clearly ahead.
    fn add_unseen(&mut self, whole_us: u64) {
        let Some(Use { run_ns, .. }) = self.used() else { return };
        let ahead_us = whole_us.saturating_sub(run_ns / 1000);
        if ahead_us > AHEAD_US {
            self.ended.run_ns += 1000 * ahead_us;
        }
    }

    /// Returns the sum over all threads, including those that ended while they were watched; `None` if the kernel does not count.
    pub(crate) fn used(&self) -> Option<Use> {
        let mut used = self.ended;
        self.all.values().for_each(|thread| used.add(&thread.used));
        (!self.all.is_empty()).then_some(used)
    }
}

/// Reads CPU time and wait time in nanoseconds, and the number of time slices (`schedstat` in the kernel's documentation).
fn times(task: &Path, files: &mut SmallFiles) -> Option<(u64, u64, u64)> {
    let text = files.text(&task.join("schedstat")).ok()?;
    let mut numbers = text.split_ascii_whitespace().map_while(|number| number.parse().ok());
    Some((numbers.next()?, numbers.next()?, numbers.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_of_threads_that_were_never_seen_is_in_that_of_the_process() {
        let mut threads = Threads::default();
        assert_eq!(threads.used(), None, "the kernel does not count by threads");
        let mut cpu_us = |ran_us: u64, whole_us| {
            let used = Use { run_ns: ran_us * 1000, ..Use::default() };
            threads.all.insert(1, Thread { used, ..Thread::default() });
            threads.add_unseen(whole_us);
            threads.used().map(|used| used.run_ns / 1000)
        };
        assert_eq!(cpu_us(5_123, 10_000), Some(5_123), "within two ticks");
        assert_eq!(cpu_us(5_123, 95_123), Some(95_123), "others have used 90 ms");
        assert_eq!(cpu_us(6_456, 95_123), Some(96_456), "by the finer clock again");
    }

    fn thread(folder: &Path, tid: u32, schedstat: &str, voluntary: &str) {
        let folder = folder.join(format!("task/{tid}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("schedstat"), schedstat).unwrap();
        let status =
            format!("Name:\tx{tid}\nvoluntary_ctxt_switches:\t{voluntary}\nnonvoluntary_ctxt_switches:\t1\n");
        fs::write(folder.join("status"), status).unwrap();
    }

    #[test]
    fn what_a_thread_used_stays_when_it_ends() {
        let root = tempfile::tempdir().unwrap();
        let mut files = SmallFiles::new();
        thread(root.path(), 7, "1000 10 3", "5");
        thread(root.path(), 8, "500 20 2", "6");
        let mut threads = Threads::default();
        threads.refresh(root.path(), &mut files).unwrap();
        assert_eq!(threads.all[&7].ran_ns, 0, "read once");
        let both = Use { run_ns: 1_500, wait_ns: 30, voluntary: Some(11), involuntary: Some(2) };
        assert_eq!(threads.used(), Some(both));
        fs::remove_dir_all(root.path().join("task/8")).unwrap();
        thread(root.path(), 7, "1900 10 4", "9");
        threads.refresh(root.path(), &mut files).unwrap();
        assert_eq!((threads.all[&7].ran_ns, threads.all[&7].name.as_str()), (900, "x7"));
        assert_eq!(threads.used(), Some(Use { run_ns: 2_400, voluntary: Some(15), ..both }));
    }

    #[test]
    fn a_switch_counter_that_is_no_number_is_unknown_and_not_zero() {
        let root = tempfile::tempdir().unwrap();
        let mut files = SmallFiles::new();
        thread(root.path(), 7, "1000 10 3", "many");
        let mut threads = Threads::default();
        threads.refresh(root.path(), &mut files).unwrap();
        let used = threads.used().unwrap();
        assert_eq!((used.voluntary, used.involuntary), (None, Some(1)));
        thread(root.path(), 8, "500 20 2", "6");
        threads.refresh(root.path(), &mut files).unwrap();
        assert_eq!(threads.used().unwrap().voluntary, Some(6), "the sum of what is known");
    }

    #[test]
    fn a_kernel_that_does_not_count_is_not_one_where_nothing_ran() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("task/7")).unwrap();
        let mut threads = Threads::default();
        threads.refresh(root.path(), &mut SmallFiles::new()).unwrap();
        assert_eq!(threads.used(), None);
    }
}
