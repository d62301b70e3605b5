//! Go programs and JVMs.

use plimsoll_plan::Probe;
use plimsoll_record::Source;
use plimsoll_record::metric::{go, jvm};
use plimsoll_testkit::{GoProgram, Jvm};

use crate::Probed;

#[test]
fn a_go_program_reports_its_goroutines_collections_and_heap() {
    let program = GoProgram::start().unwrap();
    let address = program.address().to_string();
    let mut probed = Probed::new(&Probe::Expvar(program.url()));
    let found = probed.counters(Source::Go, &address);
    assert!(
        (GoProgram::GOROUTINES..GoProgram::GOROUTINES + 20).contains(&found[go::GOROUTINES]),
        "{found:?}"
    );
    assert!(found[go::GC_CYCLES] >= GoProgram::COLLECTIONS && found[go::GC_PAUSE_US] > 0, "{found:?}");
    assert!((10_000..100_000_000).contains(&found[go::HEAP_BYTES]), "{found:?}");
    let again = probed.counters(Source::Go, &address);
    assert!(again[go::GC_CYCLES] >= found[go::GC_CYCLES] && again[go::ALLOCATIONS] > found[go::ALLOCATIONS]);
}

fn check(options: &[&str]) {
    let jvm = Jvm::start(options).unwrap();
    let mut probed = Probed::new(&Probe::Jvm(jvm.pid()));
    let found = probed.counters(Source::Jvm, &format!("{} java", jvm.pid()));
    assert!(found[jvm::GC_COUNT] >= Jvm::COLLECTIONS && found[jvm::GC_TIME_MS] > 0, "{found:?}");
    assert!(found[jvm::HEAP_USED_BYTES] >= Jvm::KEPT_BYTES, "{found:?}");
    assert!(
        found[jvm::THREADS] >= Jvm::THREADS && found[jvm::THREADS_STARTED] >= found[jvm::THREADS],
        "{found:?}"
    );
    // What a program may use leaves out half of the space for survivors.
    let (max, usable) = (found[jvm::HEAP_MAX_BYTES], jvm.heap_max_bytes());
    assert!(usable <= max && max <= usable + usable / 5, "{max} is not {usable}");
    assert!(found[jvm::HEAP_USED_BYTES] <= max, "{found:?}");
}

#[test]
fn a_jvm_whose_generations_divide_the_heap_reports_its_collections_and_heap() {
    check(&["-Xmx64m", "-XX:+UseSerialGC"]);
}

#[test]
fn a_jvm_whose_generations_share_the_heap_reports_its_collections_and_heap() {
    check(&["-Xmx96m", "-XX:+UseG1GC"]);
}

#[test]
fn a_jvm_without_shared_counters_says_how_to_enable_them() {
    let jvm = Jvm::start(&["-Xmx64m", "-XX:+PerfDisableSharedMem"]).unwrap();
    let why = Probed::new(&Probe::Jvm(jvm.pid())).failure();
    assert!(why.contains("PerfDisableSharedMem") && why.contains(&jvm.pid().to_string()), "{why}");
}
