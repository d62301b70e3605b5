//! CPU time of the machine and of each core, tasks and context switches, from `/proc/stat`; and the processor's name.

use std::fs;
use std::path::Path;

use plimsoll_record::metric::{core, cpu, scheduler};
use plimsoll_record::{CounterSet, Metric, Source, Subject};

use crate::collector::{Collector, Missing, Read, after, malformed, numbers};
use crate::round::{Round, SharedFile};

/// The columns of a line `cpu` (proc_stat(5)), for the machine and for a core. Columns of guest time are left out, since user time
/// includes them.
pub(crate) const MODES: [(Metric, Metric); 8] = [
    (cpu::USER_MS, core::USER_MS),
    (cpu::NICE_MS, core::NICE_MS),
    (cpu::SYSTEM_MS, core::SYSTEM_MS),
    (cpu::IDLE_MS, core::IDLE_MS),
    (cpu::IOWAIT_MS, core::IOWAIT_MS),
    (cpu::IRQ_MS, core::IRQ_MS),
    (cpu::SOFTIRQ_MS, core::SOFTIRQ_MS),
    (cpu::STEAL_MS, core::STEAL_MS),
];

/// The kernel's names of counters since boot, and of the numbers of tasks that run or wait now.
const SCHEDULER: &[(&str, Metric)] = &[
    ("ctxt ", scheduler::CONTEXT_SWITCHES),
    ("procs_running ", scheduler::RUNNING),
    ("procs_blocked ", scheduler::BLOCKED),
];

/// Returns the file with CPU times and scheduler counters.
pub(crate) fn stat_file(root: &Path, round: &Round) -> SharedFile {
    SharedFile::new(root.join("proc/stat"), round)
}

/// Returns the processor's name from `/proc/cpuinfo`; `None` if the kernel does not report it, as on most ARM machines.
pub fn cpu_model(root: &Path) -> Option<String> {
    let text = fs::read_to_string(root.join("proc/cpuinfo")).ok()?;
    Some(after(&text, "model name")?.split_once(':')?.1.trim().to_owned())
}

/// Returns a collector of the CPU time of all cores together.
pub(crate) fn machine(stat: &SharedFile) -> Collector {
    let stat = stat.clone();
    let machine = boot_number(&stat.file.with_file_name("sys/kernel/random/boot_id"));
    Collector::host(Source::Cpu, move || {
        let text = stat.text()?;
        let times = after(&text, "cpu ").and_then(times).ok_or_else(|| no_times(&stat))?;
        let mut counters = counters(times, MODES.map(|(metric, _)| metric), cpu::TOTAL_MS);
        let cores = online(&text).count() as u64;
        counters.put(cpu::CORES, (cores > 0).then_some(cores));
        counters.put(cpu::MACHINE, machine);
        Ok(counters)
    })
}

/// Returns the first 52 bits of the kernel's boot id (random(4)), which every file format stores exactly.
fn boot_number(file: &Path) -> Option<u64> {
    let id = fs::read_to_string(file).ok()?;
    let digits: String = id.chars().filter(char::is_ascii_hexdigit).take(13).collect();
    u64::from_str_radix(&digits, 16).ok()
}

/// Returns a collector of the CPU time of each core.
pub(crate) fn cores(stat: &SharedFile) -> Collector {
    let stat = stat.clone();
    Collector::subjects(Source::Core, move || {
        let read = |(core, line): (u32, &str)| {
            let times = times(line).ok_or_else(|| no_times(&stat));
            let counters =
                times.map(|times| counters(times, MODES.map(|(_, metric)| metric), core::TOTAL_MS));
            Read::new(Source::Core, Subject::Core(core), counters)
        };
        Ok(online(&stat.text()?).map(read).collect())
    })
}

/// Returns a collector of tasks and context switches.
pub(crate) fn scheduler(stat: &SharedFile) -> Collector {
    let stat = stat.clone();
    Collector::host(Source::Scheduler, move || {
        let counters: CounterSet = numbers(&stat.text()?, SCHEDULER).collect();
        if counters.is_empty() { Err(malformed(&stat.file, "line `ctxt`")) } else { Ok(counters) }
    })
}

fn no_times(stat: &SharedFile) -> Missing {
    malformed(&stat.file, "line `cpu` with eight numbers")
}

/// Returns the number of each core that is online, with the columns of its line.
fn online(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("cpu")?.split_once(' '));
    lines.filter_map(|(core, columns)| Some((core.parse().ok()?, columns)))
}

/// Returns the milliseconds spent in each mode.
fn times(columns: &str) -> Option<[u64; MODES.len()]> {
    let per_sec = rustix::param::clock_ticks_per_second().max(1);
    let ticks = columns.split_ascii_whitespace().map_while(|column| column.parse::<u64>().ok());
    let ms: Vec<u64> = ticks.map(|ticks| ticks * 1000 / per_sec).take(MODES.len()).collect();
    ms.try_into().ok()
}

fn counters(times: [u64; MODES.len()], modes: [Metric; MODES.len()], total: Metric) -> CounterSet {
    modes.into_iter().zip(times).chain([(total, times.iter().sum())]).collect()
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{Counters, Reading};

    use super::*;
    use crate::collector::tests::{counters as read_counters, only, subjects, tree};

    fn read(content: &str) -> Reading {
        only(machine(&stat_file(tree(&[("proc/stat", content)]).path(), &Round::default())))
    }

    #[test]
    fn ticks_become_milliseconds_and_guest_time_is_not_counted_twice() {
        let Reading::Ok(counters) = read("cpu  100 0 50 800 10 5 15 20 90 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n")
        else {
            panic!("not read");
        };
        assert_eq!(counters[cpu::STEAL_MS], 200);
        assert_eq!(counters[cpu::TOTAL_MS], 10_000);
        assert_eq!(counters[cpu::CORES], 1);
    }

    #[test]
    fn a_malformed_file_is_a_failure() {
        assert!(matches!(read("intr 5\n"), Reading::Failed(_)));
        assert!(matches!(read("cpu  1 2 x\n"), Reading::Failed(_)));
    }

    #[test]
    fn cores_keep_their_numbers_when_some_are_offline() {
        let stat = "cpu  9 9 9 9 9 9 9 9\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu3 10 0 0 90 0 0 0 0 0 0\nintr 1\n";
        let root = tree(&[("proc/stat", stat)]);
        let reads = (cores(&stat_file(root.path(), &Round::default())).read)();
        assert_eq!(subjects(&reads), ["0", "3"]);
        let third = read_counters(&reads[1]);
        assert_eq!((third[core::USER_MS], third[core::TOTAL_MS]), (100, 1_000));
    }

    #[test]
    fn the_processors_name_is_that_of_the_first_core() {
        let text = "processor\t: 0\nmodel name\t: Ship's Engine 9000\nmodel name\t: other\n";
        let root = tree(&[("proc/cpuinfo", text)]);
        assert_eq!(cpu_model(root.path()), Some("Ship's Engine 9000".to_owned()));
        assert_eq!(cpu_model(tree(&[("proc/cpuinfo", "processor: 0\n")]).path()), None);
    }

    #[test]
    fn switches_and_queues_are_read_and_a_file_without_them_is_a_failure() {
        let read = |content| {
            only(self::scheduler(&stat_file(tree(&[("proc/stat", content)]).path(), &Round::default())))
        };
        let expected =
            [(scheduler::CONTEXT_SWITCHES, 1_990_473), (scheduler::RUNNING, 3), (scheduler::BLOCKED, 1)];
        let found = read("cpu 1\nctxt 1990473\nprocs_running 3\nprocs_blocked 1\n");
        assert_eq!(found, Reading::Ok(Counters::from(expected)));
        assert!(matches!(read("cpu 1\n"), Reading::Failed(_)));
    }
}
