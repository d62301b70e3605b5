use plimsoll_record::metric::cgroup;
use plimsoll_record::{Counters, Reading};

use super::*;
use crate::collector::tests::{only, tree};

#[test]
fn version_2_has_all_in_one_folder_and_limits_that_are_not_set_are_left_out() {
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
    let expected = Counters::from([
        (cgroup::USAGE_US, 900),
        (cgroup::PERIODS, 10),
        (cgroup::THROTTLED_PERIODS, 4),
        (cgroup::THROTTLED_US, 77),
        (cgroup::QUOTA_US, 50_000),
        (cgroup::PERIOD_US, 100_000),
        (cgroup::MEMORY_BYTES, 4_096),
        (cgroup::MEMORY_FAILURES, 3),
        (cgroup::OOM_KILLS, 2),
        (cgroup::PROCESSES, 5),
        (cgroup::DISK_READ_BYTES, 30),
        (cgroup::DISK_WRITTEN_BYTES, 40),
        (cgroup::DISK_WRITE_LIMIT_BYTES_PER_SEC, 4_000_000),
    ]);
    assert_eq!(only(lab(root.path(), &paths)), Reading::Ok(expected));
}

#[test]
fn version_1_has_the_same_in_a_folder_for_each_controller() {
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
    let expected = Counters::from([
        (cgroup::USAGE_US, 900),
        (cgroup::PERIODS, 10),
        (cgroup::THROTTLED_PERIODS, 4),
        (cgroup::THROTTLED_US, 77),
        (cgroup::MEMORY_BYTES, 4_096),
        (cgroup::MEMORY_FAILURES, 3),
        (cgroup::OOM_KILLS, 2),
        (cgroup::REFAULTED_PAGES, 7),
        (cgroup::DISK_READ_BYTES, 30),
        (cgroup::DISK_WRITTEN_BYTES, 40),
        (cgroup::DISK_READ_LIMIT_BYTES_PER_SEC, 5_000_000),
        (cgroup::DISK_WRITE_LIMIT_BYTES_PER_SEC, 4_000_000),
    ]);
    assert_eq!(only(lab(root.path(), &paths)), Reading::Ok(expected));
}

#[test]
fn limits_of_several_disks_are_no_limit_of_one_and_without_any_nothing_is_counted() {
    let two = disk::limit_v2("254:0 rbps=1 wbps=max\n8:0 rbps=max wbps=2\n");
    assert_eq!((two, disk::limit_v1("254:0 1\n", "8:0 2\n")), (None, None));
    assert_eq!((disk::limit_v2("254:0 rbps=max wbps=max riops=9\n"), disk::limit_v1("", "")), (None, None));
    let one = disk::limit_v2("254:0 rbps=max wbps=max\n8:0 rbps=max wbps=2\n").unwrap();
    assert_eq!(one.limit, disk::Ways { read: None, written: Some(2) });
}

#[test]
fn a_group_that_is_gone_is_absent() {
    let paths = CgroupPaths { cpu: Some("/cg/cpu/web".into()), ..CgroupPaths::default() };
    assert_eq!(only(lab(tree(&[]).path(), &paths)), Reading::Absent);
}

#[test]
fn the_tightest_quota_above_a_process_is_its_own() {
    let root = tree(&[
        ("sys/fs/cgroup/cgroup.procs", ""),
        ("sys/fs/cgroup/pod/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/pod/box/cpu.max", "200000 100000\n"),
        ("sys/fs/cgroup/pod/box/inner/cpu.max", "max 100000\n"),
    ]);
    let groups = Membership::parse(root.path(), "0::/pod/box/inner\n").unwrap();
    assert_eq!(groups.quota(), Some(Quota { quota_us: 150_000, period_us: 100_000 }));
    let names: Vec<String> = groups.groups().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["/pod/box/inner", "/pod/box", "/pod"]);
}

#[test]
fn the_group_that_caps_this_process_has_no_name_and_without_a_quota_the_source_is_absent() {
    let capped = tree(&[
        ("proc/self/cgroup", "0::/pod/inner\n"),
        ("sys/fs/cgroup/cgroup.procs", ""),
        ("sys/fs/cgroup/pod/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/pod/cpu.stat", "usage_usec 900\nnr_periods 10\nnr_throttled 4\nthrottled_usec 77\n"),
        ("sys/fs/cgroup/pod/inner/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/pod/inner/cpu.stat", "usage_usec 300\n"),
    ]);
    let expected = Counters::from([
        (cgroup::USAGE_US, 900),
        (cgroup::PERIODS, 10),
        (cgroup::THROTTLED_PERIODS, 4),
        (cgroup::THROTTLED_US, 77),
        (cgroup::QUOTA_US, 150_000),
        (cgroup::PERIOD_US, 100_000),
    ]);
    assert_eq!(only(capping(capped.path())), Reading::Ok(expected));
    let free = tree(&[
        ("proc/self/cgroup", "0::/pod\n"),
        ("sys/fs/cgroup/cgroup.procs", ""),
        ("sys/fs/cgroup/pod/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/pod/cpu.stat", "usage_usec 300\n"),
    ]);
    assert_eq!(only(capping(free.path())), Reading::Absent);
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
        let groups = Membership::parse(root.path(), text).unwrap();
        assert_eq!(groups.quota(), Some(Quota { quota_us: 20_000, period_us: 10_000 }), "{text}");
        assert_eq!(groups.groups()[0].0, "/web");
    }
    let hidden = Membership::parse(root.path(), "2:cpu,cpuacct:/docker/4711\n").unwrap();
    assert_eq!((hidden.groups()[0].0.as_str(), hidden.quota()), ("/", None));
}

#[test]
fn a_group_outside_of_the_namespace_is_not_that_of_this_process() {
    let v2 = tree(&[
        ("sys/fs/cgroup/cgroup.procs", ""),
        ("sys/fs/cgroup/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/box/cpu.max", "50000 100000\n"),
    ]);
    for outside in ["0::/../../system.slice/nginx.service\n", "0::/..\n", "0::/../box\n"] {
        assert_eq!(Membership::parse(v2.path(), outside), None, "{outside}");
    }
    let inside = Membership::parse(v2.path(), "0::/box..1\n").unwrap();
    assert_eq!(inside.quota(), Some(Quota { quota_us: 150_000, period_us: 100_000 }));
    let v1 = tree(&[
        ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "20000\n"),
        ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "10000\n"),
    ]);
    assert_eq!(Membership::parse(v1.path(), "2:cpu,cpuacct:/../nginx.service\n"), None);
}
