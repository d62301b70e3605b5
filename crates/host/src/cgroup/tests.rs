use super::place::Quota;
use super::*;
use crate::source::Counters;
use crate::source::tests::{only, tree};

fn counted(pairs: &[(&str, u64)]) -> Counters {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

#[test]
fn version_2_tells_all_from_one_folder_and_leaves_out_limits_that_are_not_set() {
    let at = "sys/fs/cgroup/web";
    let files = [
        ("cpu.stat", "usage_usec 900\nuser_usec 1\nnr_periods 10\nnr_throttled 4\nthrottled_usec 77\n"),
        ("cpu.max", "50000 100000\n"),
        ("memory.current", "4096\n"),
        ("memory.max", "max\n"),
        ("memory.events", "low 0\nhigh 0\nmax 3\noom 1\noom_kill 2\n"),
        ("pids.current", "5\n"),
    ];
    let files: Vec<(String, &str)> =
        files.iter().map(|(name, text)| (format!("{at}/{name}"), *text)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let root = tree(&files);
    let paths = CgroupPaths { unified: Some(format!("/{at}").into()), ..CgroupPaths::default() };
    let expected = counted(&[
        ("usage_us", 900),
        ("periods", 10),
        ("throttled_periods", 4),
        ("throttled_us", 77),
        ("quota_us", 50_000),
        ("period_us", 100_000),
        ("memory_bytes", 4_096),
        ("memory_failures", 3),
        ("oom_kills", 2),
        ("processes", 5),
    ]);
    assert_eq!(only(Cgroup::lab(root.path(), &paths)), Reading::Ok(expected.into()));
}

#[test]
fn version_1_tells_the_same_from_a_folder_for_each_controller() {
    let root = tree(&[
        ("cg/cpu/web/cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_time 77000\n"),
        ("cg/cpu/web/cpu.cfs_quota_us", "-1\n"),
        ("cg/cpu/web/cpu.cfs_period_us", "100000\n"),
        ("cg/cpuacct/web/cpuacct.usage", "900999\n"),
        ("cg/memory/web/memory.usage_in_bytes", "4096\n"),
        ("cg/memory/web/memory.limit_in_bytes", "9223372036854771712\n"),
        ("cg/memory/web/memory.failcnt", "3\n"),
        ("cg/memory/web/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"),
    ]);
    let of = |controller: &str| Some(format!("/cg/{controller}/web").into());
    let paths = CgroupPaths {
        cpu: of("cpu"),
        cpuacct: of("cpuacct"),
        memory: of("memory"),
        pids: of("pids"),
        ..CgroupPaths::default()
    };
    let expected = counted(&[
        ("usage_us", 900),
        ("periods", 10),
        ("throttled_periods", 4),
        ("throttled_us", 77),
        ("memory_bytes", 4_096),
        ("memory_failures", 3),
        ("oom_kills", 2),
    ]);
    assert_eq!(only(Cgroup::lab(root.path(), &paths)), Reading::Ok(expected.into()));
}

#[test]
fn a_group_that_is_gone_is_absent() {
    let paths = CgroupPaths { cpu: Some("/cg/cpu/web".into()), ..CgroupPaths::default() };
    assert_eq!(only(Cgroup::lab(tree(&[]).path(), &paths)), Reading::Absent);
}

#[test]
fn the_tightest_quota_above_a_process_is_its_own() {
    let root = tree(&[
        ("sys/fs/cgroup/cgroup.procs", ""),
        ("sys/fs/cgroup/pod/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/pod/box/cpu.max", "200000 100000\n"),
        ("sys/fs/cgroup/pod/box/inner/cpu.max", "max 100000\n"),
    ]);
    let place = Place::of(root.path(), "0::/pod/box/inner\n").unwrap();
    assert_eq!(place.quota(), Some(Quota { quota_us: 150_000, period_us: 100_000 }));
    let names: Vec<String> = place.groups().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["/pod/box/inner", "/pod/box", "/pod"]);
}

#[test]
fn controllers_of_version_1_that_share_a_hierarchy_or_do_not_are_both_found() {
    let root = tree(&[
        ("sys/fs/cgroup/cpu/web/cpu.cfs_quota_us", "20000\n"),
        ("sys/fs/cgroup/cpu/web/cpu.cfs_period_us", "10000\n"),
        ("sys/fs/cgroup/cpuacct/web/cpuacct.usage", "1\n"),
        ("sys/fs/cgroup/unified/cgroup.procs", ""),
    ]);
    for text in ["4:memory:/m\n3:cpuacct:/web\n1:cpu:/web\n0::/\n", "2:cpu,cpuacct:/web\n0::/other\n"] {
        let place = Place::of(root.path(), text).unwrap();
        assert_eq!(place.quota(), Some(Quota { quota_us: 20_000, period_us: 10_000 }), "{text}");
        assert_eq!(place.groups()[0].0, "/web");
    }
    let unseen = Place::of(root.path(), "2:cpu,cpuacct:/docker/4711\n").unwrap();
    assert_eq!((unseen.groups()[0].0.as_str(), unseen.quota()), ("/", None));
}
