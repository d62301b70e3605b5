//! Go programs and JVMs.

use std::path::Path;

use plimsoll_host::Component;
use plimsoll_testkit::{GoProgram, Jvm};

use crate::Probed;

#[test]
fn a_go_program_tells_its_goroutines_collections_and_heap() {
    let program = GoProgram::start().unwrap();
    let address = program.address().to_string();
    let mut probed = Probed::new(Component::expvar(&program.url()));
    let told = probed.counters("go", &address);
    assert!((GoProgram::GOROUTINES..GoProgram::GOROUTINES + 20).contains(&told["goroutines"]), "{told:?}");
    assert!(told["gc_cycles"] >= GoProgram::COLLECTIONS && told["gc_pause_us"] > 0, "{told:?}");
    assert!((10_000..100_000_000).contains(&told["heap_bytes"]), "{told:?}");
    let again = probed.counters("go", &address);
    assert!(again["gc_cycles"] >= told["gc_cycles"] && again["allocations"] > told["allocations"]);
}

fn told_by(options: &[&str]) {
    let jvm = Jvm::start(options).unwrap();
    let mut probed = Probed::new(Component::jvm(Path::new("/"), jvm.pid()));
    let told = probed.counters("jvm", &format!("{} java", jvm.pid()));
    assert!(told["gc_count"] >= Jvm::COLLECTIONS && told["gc_time_ms"] > 0, "{told:?}");
    assert!(told["heap_used_bytes"] >= Jvm::KEPT_BYTES, "{told:?}");
    assert!(told["threads"] >= Jvm::THREADS && told["threads_started"] >= told["threads"], "{told:?}");
    // What a program may use leaves out half of the space for survivors.
    let (max, usable) = (told["heap_max_bytes"], jvm.heap_max_bytes());
    assert!(usable <= max && max <= usable + usable / 5, "{max} is not {usable}");
    assert!(told["heap_used_bytes"] <= max, "{told:?}");
}

#[test]
fn a_jvm_whose_generations_divide_the_heap_tells_its_collections_and_heap() {
    told_by(&["-Xmx64m", "-XX:+UseSerialGC"]);
}

#[test]
fn a_jvm_whose_generations_share_the_heap_tells_its_collections_and_heap() {
    told_by(&["-Xmx96m", "-XX:+UseG1GC"]);
}

#[test]
fn a_jvm_that_keeps_its_counters_to_itself_says_how_that_is_changed() {
    let jvm = Jvm::start(&["-Xmx64m", "-XX:+PerfDisableSharedMem"]).unwrap();
    let why = Probed::new(Component::jvm(Path::new("/"), jvm.pid())).failure();
    assert!(why.contains("PerfDisableSharedMem") && why.contains(&jvm.pid().to_string()), "{why}");
}
