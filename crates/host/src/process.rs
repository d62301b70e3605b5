//! What each watched process used and may use.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_record::Reading;
use plimsoll_units::{Clock, Instant, RealClock};

use crate::cgroup::Quota;
use crate::cgroup::place::Place;
use crate::lookout::{Lookout, SharedLookout};
use crate::process_stat::ticks_ms;
use crate::small_files::SmallFiles;
use crate::source::{Counters, Source};
use crate::threads::Use;

/// Limits change rarely; they are read again this often.
const LIMITS_EVERY: Duration = Duration::from_secs(5);

/// The names in `/proc/PID/io` and ours. The bytes are those that storage had to bring and take, the calls all of read(2)
/// and its like, whatever they read.
const IO: [(&str, &str); 4] = [
    ("syscr", "read_calls"),
    ("syscw", "write_calls"),
    ("read_bytes", "read_bytes"),
    ("write_bytes", "write_bytes"),
];

/// Of each watched process its CPU time, `cpu_us` and `run_wait_us` exactly over its threads, `user_ms` and `system_ms` as
/// the kernel tells them apart; its switches, faults and calls; and the levels `parent` (a process), `threads`,
/// `descriptors`, `descriptors_limit`, `resident_bytes`, and `quota_us` and `period_us` where a group limits it.
#[derive(Debug)]
pub(crate) struct Process {
    root: PathBuf,
    lookout: SharedLookout,
    limits: HashMap<u32, Limits>,
}

/// What a process may use.
#[derive(Debug, Clone, Copy)]
struct Limits {
    started_ticks: u64,
    read_at: Instant,
    descriptors: Option<u64>,
    quota: Option<Quota>,
}

impl Process {
    pub(crate) fn new(root: &Path, lookout: SharedLookout) -> Self {
        Self { root: root.to_owned(), lookout, limits: HashMap::new() }
    }

    fn refresh_limits(&mut self, lookout: &mut Lookout) {
        let now = RealClock.now();
        let members = lookout.members();
        self.limits.retain(|pid, limits| {
            let same = members.get(pid).is_some_and(|member| member.started_ticks == limits.started_ticks);
            same && now.since(limits.read_at) < LIMITS_EVERY
        });
        let new: Vec<(u32, u64)> =
            members.values().map(|member| (member.pid, member.started_ticks)).collect();
        for (pid, started_ticks) in new {
            let folder = lookout.proc.join(pid.to_string());
            self.limits.entry(pid).or_insert_with(|| Limits {
                started_ticks,
                read_at: now,
                descriptors: descriptors_limit(&folder, &mut lookout.files),
                quota: quota(&self.root, &folder, &mut lookout.files),
            });
        }
    }
}

fn descriptors_limit(folder: &Path, files: &mut SmallFiles) -> Option<u64> {
    let text = files.text(&folder.join("limits")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let soft = line.split_ascii_whitespace().next()?;
    if soft == "unlimited" { Some(u64::MAX) } else { soft.parse().ok() }
}

fn quota(root: &Path, folder: &Path, files: &mut SmallFiles) -> Option<Quota> {
    Place::of(root, files.text(&folder.join("cgroup")).ok()?)?.quota()
}

/// Since Linux 6.2 the folder's size is the number of its entries; before it is zero, and they are counted.
fn descriptors(folder: &Path) -> Option<u64> {
    let folder = folder.join("fd");
    match fs::metadata(&folder).ok()?.len() {
        0 => Some(fs::read_dir(&folder).ok()?.count() as u64),
        open => Some(open),
    }
}

/// The counters of a process; `None` if it has ended.
fn counters(folder: &Path, files: &mut SmallFiles, used: Option<Use>) -> Option<Counters> {
    let stat = files.stat(folder).ok()?;
    let levels = [
        ("parent", u64::from(stat.parent)),
        ("threads", stat.threads),
        ("resident_bytes", stat.resident_pages * rustix::param::page_size() as u64),
        ("major_faults", stat.major_faults),
        ("user_ms", ticks_ms(stat.user_ticks)),
        ("system_ms", ticks_ms(stat.system_ticks)),
    ];
    let mut counters: Counters = levels.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let mut put = |name: &str, value: u64| counters.insert(name.to_owned(), value);
    if let Some(used) = used {
        put("cpu_us", used.run_ns / 1000);
        put("run_wait_us", used.wait_ns / 1000);
        put("voluntary_switches", used.voluntary);
        put("involuntary_switches", used.involuntary);
    }
    // What only the process's own user may see is left out for others.
    if let Ok(text) = files.text(&folder.join("io")) {
        for (name, value) in text.lines().filter_map(|line| line.split_once(": ")) {
            let ours = IO.iter().find(|(known, _)| *known == name).map(|(_, ours)| *ours);
            if let (Some(ours), Ok(value)) = (ours, value.trim().parse()) {
                put(ours, value);
            }
        }
    }
    if let Some(open) = descriptors(folder) {
        put("descriptors", open);
    }
    Some(counters)
}

/// What there is to say of processes that are not looked into because there are too many.
fn crowded(lookout: &Lookout) -> Option<(String, Reading)> {
    let (members, crowd) = (lookout.members().len(), lookout.crowd().len());
    let why = format!(
        "{} processes belong to what is watched, and only {members} of them are looked into, those that ran most; \
         name those that matter by their numbers",
        members + crowd
    );
    (crowd > 0).then_some((String::new(), Reading::Failed(why)))
}

impl Source for Process {
    fn name(&self) -> &'static str {
        "process"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        let shared = self.lookout.clone();
        let mut lookout = shared.look();
        if lookout.members().is_empty() {
            return lookout.nobody();
        }
        self.refresh_limits(&mut lookout);
        let members: Vec<(u32, String)> =
            lookout.members().values().map(|member| (member.pid, member.subject())).collect();
        let mut readings = Vec::new();
        for (pid, subject) in members {
            let used = lookout.threads(pid).and_then(|threads| threads.used());
            let folder = lookout.proc.join(pid.to_string());
            let Some(mut counters) = counters(&folder, &mut lookout.files, used) else { continue };
            if let Some(limits) = self.limits.get(&pid) {
                let quota = limits.quota;
                let limits = [
                    ("descriptors_limit", limits.descriptors),
                    ("quota_us", quota.map(|quota| quota.quota_us)),
                    ("period_us", quota.map(|quota| quota.period_us)),
                ];
                counters
                    .extend(limits.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
            }
            readings.push((subject, Reading::Ok(counters.into())));
        }
        readings.extend(crowded(&lookout));
        readings
    }
}
