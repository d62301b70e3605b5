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
        ("io.max", "254:0 rbps=max wbps=4000000 riops=max wiops=max\n"),
        (
            "io.stat",
            "8:0 rbytes=1 wbytes=2 rios=1\n254:0 rbytes=30 wbytes=40 rios=1 wios=1 dbytes=0 dios=0\n",
        ),
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
        ("disk_read_bytes", 30),
        ("disk_written_bytes", 40),
        ("disk_write_limit_bytes_per_sec", 4_000_000),
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
        ("cg/memory/web/memory.stat", "workingset_refault_anon 1\nworkingset_refault_file 6\n"),
        ("cg/blkio/web/blkio.throttle.read_bps_device", "254:0 5000000\n"),
        ("cg/blkio/web/blkio.throttle.write_bps_device", "254:0 4000000\n"),
        (
            "cg/blkio/web/blkio.throttle.io_service_bytes",
            "8:0 Read 1\n254:0 Read 30\n254:0 Write 40\n254:0 Sync 70\nTotal 71\n",
        ),
        ("cg/memory/web/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"),
    ]);
    let of = |controller: &str| Some(format!("/cg/{controller}/web").into());
    let paths = CgroupPaths {
        cpu: of("cpu"),
        cpuacct: of("cpuacct"),
        memory: of("memory"),
        pids: of("pids"),
        blkio: of("blkio"),
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
        ("refaulted_pages", 7),
        ("disk_read_bytes", 30),
        ("disk_written_bytes", 40),
        ("disk_read_limit_bytes_per_sec", 5_000_000),
        ("disk_write_limit_bytes_per_sec", 4_000_000),
    ]);
    assert_eq!(only(Cgroup::lab(root.path(), &paths)), Reading::Ok(expected.into()));
}

#[test]
fn limits_of_several_disks_are_no_limit_of_one_and_without_any_nothing_is_counted() {
    let two = disk::limit_v2("254:0 rbps=1 wbps=max\n8:0 rbps=max wbps=2\n");
    assert_eq!((two, disk::limit_v1("254:0 1\n", "8:0 2\n")), (None, None));
    assert_eq!((disk::limit_v2("254:0 rbps=max wbps=max riops=9\n"), disk::limit_v1("", "")), (None, None));
    let one = disk::limit_v2("254:0 rbps=max wbps=max\n8:0 rbps=max wbps=2\n").unwrap();
    assert_eq!(one.most, disk::Ways { read: None, written: Some(2) });
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
fn what_caps_this_process_is_told_under_no_name_and_nothing_where_no_quota_holds() {
    let capped = tree(&[
        ("proc/self/cgroup", "0::/pod/inner\n"),
        ("sys/fs/cgroup/cgroup.procs", ""),
        ("sys/fs/cgroup/pod/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/pod/cpu.stat", "usage_usec 900\nnr_periods 10\nnr_throttled 4\nthrottled_usec 77\n"),
        ("sys/fs/cgroup/pod/inner/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/pod/inner/cpu.stat", "usage_usec 300\n"),
    ]);
    let expected = counted(&[
        ("usage_us", 900),
        ("periods", 10),
        ("throttled_periods", 4),
        ("throttled_us", 77),
        ("quota_us", 150_000),
        ("period_us", 100_000),
    ]);
    assert_eq!(only(Cgroup::capping(capped.path())), Reading::Ok(expected.into()));
    let free = tree(&[
        ("proc/self/cgroup", "0::/pod\n"),
        ("sys/fs/cgroup/cgroup.procs", ""),
        ("sys/fs/cgroup/pod/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/pod/cpu.stat", "usage_usec 300\n"),
    ]);
    assert_eq!(only(Cgroup::capping(free.path())), Reading::Absent);
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
