use std::collections::BTreeMap;

use tempfile::TempDir;

use super::*;

/// A file tree that looks like one of control groups, with a folder for each controller of version 1, or one of version 2.
struct Tree(TempDir);

impl Tree {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Makes a file, which in a real tree is there as soon as its group is.
    fn file(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Lines of mountinfo, about folders that are there then.
    fn mounts(&self, kinds: &[(&str, &str)]) -> String {
        let line = |(folder, after): &(&str, &str)| {
            fs::create_dir_all(self.0.path().join(folder)).unwrap();
            format!("30 23 0:27 / {} rw - {after}\n", self.0.path().join(folder).display())
        };
        kinds.iter().map(line).collect()
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.0.path().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}

fn groups(mounts: &str, own: &str) -> LabGroups {
    LabGroups {
        hierarchies: Hierarchies::find(mounts, own),
        folder: "plimsoll-lab-0".to_owned(),
        assigned: Cell::new(0),
    }
}

/// A folder on a disk, and that disk; `None` where there is none, as in a container whose files lie in layers.
fn on_disk() -> Option<(PathBuf, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let device = disk::device_of(&folder).ok()?;
    Some((folder, device))
}

fn all_caps() -> Capacity {
    Capacity {
        cores: Some(0.5),
        memory_bytes: Some(64_000_000),
        disk_bytes_per_sec: Some(4_000_000),
        ..Capacity::default()
    }
}

#[test]
fn a_share_is_dealt_out_in_short_periods_and_never_less_than_the_kernel_takes() {
    assert_eq!(quota_us(0.5), (5_000, 10_000));
    assert_eq!(quota_us(2.0), (20_000, 10_000));
    assert_eq!(quota_us(0.05), (1_000, 20_000));
    assert_eq!(quota_us(0.1), (1_000, 10_000));
}

#[test]
fn by_version_2_one_group_has_all_caps_of_a_host() {
    let Some((own, device)) = on_disk() else { return };
    let tree = Tree::new();
    let host = "cg/me/plimsoll-lab-0/web";
    for file in ["cgroup.procs", "io.max", "memory.swap.max"] {
        tree.file(&format!("{host}/{file}"), "");
    }
    let groups = groups(&tree.mounts(&[("cg", "cgroup2 cgroup2 rw")]), "0::/me\n");
    assert_eq!(groups.capping(), Capping::GroupsV2);
    groups.make().unwrap();
    let (mut made, granted) = groups.host("web", &own, &all_caps()).unwrap();
    assert_eq!(granted, all_caps());
    let expected = BTreeMap::from([
        ("cpu.max", "5000 10000".to_owned()),
        ("memory.max", "64000000".to_owned()),
        ("memory.swap.max", "0".to_owned()),
        ("io.max", format!("{device} rbps=4000000 wbps=4000000")),
    ]);
    for (file, text) in expected {
        assert_eq!(tree.text(&format!("{host}/{file}")), text, "{file}");
    }
    assert_eq!((made.membership_files().unwrap().len(), made.paths.folders().len()), (1, 1));
    made.cap(&Capacity { cores: Some(1.5), ..Capacity::default() }).unwrap();
    assert_eq!(tree.text(&format!("{host}/cpu.max")), "15000 10000");
    assert!(tree.text(&format!("{host}/io.max")).starts_with(&device), "what is not named stays");
    made.uncap_cores().unwrap();
    assert_eq!(tree.text(&format!("{host}/cpu.max")), "max");
}

#[test]
fn by_version_2_a_group_that_cannot_pass_on_the_cpu_leaves_that_to_the_one_above() {
    let tree = Tree::new();
    // A folder in the place of the file cannot be written, as the file of a group that holds processes cannot.
    fs::create_dir_all(tree.0.path().join("cg/me/cgroup.subtree_control")).unwrap();
    let mounts = tree.mounts(&[("cg", "cgroup2 cgroup2 rw")]);
    let groups = groups(&mounts, "0::/me\n");
    assert_eq!(groups.folders(), [tree.0.path().join("cg/plimsoll-lab-0")]);
    // Without a group above there is no such group at all.
    fs::remove_file(tree.0.path().join("cg/cgroup.subtree_control")).unwrap();
    fs::create_dir(tree.0.path().join("cg/cgroup.subtree_control")).unwrap();
    assert_eq!(self::groups(&mounts, "0::/me\n").capping(), Capping::Affinity);
}

#[test]
fn by_version_1_each_controller_has_its_group_and_takes_its_own_caps() {
    let Some((own, device)) = on_disk() else { return };
    let tree = Tree::new();
    let kinds = ["cpu", "memory", "blkio"].map(|kind| (kind, format!("cgroup cgroup rw,{kind}")));
    let kinds: Vec<(&str, &str)> = kinds.iter().map(|(kind, after)| (*kind, after.as_str())).collect();
    for file in ["blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device"] {
        tree.file(&format!("blkio/plimsoll-lab-0/web/{file}"), "");
    }
    tree.file("memory/plimsoll-lab-0/web/memory.memsw.limit_in_bytes", "");
    let groups = groups(&tree.mounts(&kinds), "3:cpu:/\n2:memory:/\n1:blkio:/\n0::/\n");
    assert_eq!(groups.capping(), Capping::GroupsV1);
    groups.make().unwrap();
    let (made, _) = groups.host("web", &own, &all_caps()).unwrap();
    assert_eq!(made.paths.folders().len(), 3);
    let written = |path: &str| tree.text(path);
    assert_eq!(written("cpu/plimsoll-lab-0/web/cpu.cfs_quota_us"), "5000");
    assert_eq!(written("memory/plimsoll-lab-0/web/memory.limit_in_bytes"), "64000000");
    for way in ["read", "write"] {
        let file = format!("blkio/plimsoll-lab-0/web/blkio.throttle.{way}_bps_device");
        assert_eq!(written(&file), format!("{device} 4000000"));
    }
    made.uncap_cores().unwrap();
    assert_eq!(written("cpu/plimsoll-lab-0/web/cpu.cfs_quota_us"), "-1");
}

#[test]
fn a_quota_that_version_1_refuses_names_the_quota_above() {
    let tree = Tree::new();
    tree.file("cpu/me/cpu.cfs_quota_us", "150000");
    tree.file("cpu/me/cpu.cfs_period_us", "100000");
    let groups = groups(&tree.mounts(&[("cpu", "cgroup cgroup rw,cpu")]), "1:cpu:/me\n");
    groups.make().unwrap();
    let (made, _) = groups.host("web", Path::new("/"), &Capacity::default()).unwrap();
    let folder = made.paths.cpu.clone().unwrap();
    let refused = |code: i32, cores: f64| {
        let reason = io::Error::from_raw_os_error(code);
        made.refused_quota(
            LabError::Cap { host: "web".to_owned(), path: folder.clone(), reason },
            &folder,
            cores,
        )
    };
    let error = refused(22, 2.0).to_string();
    assert!(
        error.contains("cpu/me") && error.contains("2 cores") && error.contains("quota of 1.5"),
        "{error}"
    );
    // Another reason, or a quota that fits: what the system says.
    assert!(matches!(refused(13, 2.0), LabError::Cap { .. }));
    assert!(matches!(refused(22, 1.0), LabError::Cap { .. }));
}

#[test]
fn a_cap_of_memory_or_disk_without_its_controller_is_an_error_that_says_what_it_takes() {
    let Some((own, _)) = on_disk() else { return };
    let tree = Tree::new();
    let groups = groups(&tree.mounts(&[("cpu", "cgroup cgroup rw,cpu")]), "1:cpu:/\n");
    groups.make().unwrap();
    let refused = |capacity| groups.host("web", &own, &capacity).unwrap_err().to_string();
    let disk = refused(Capacity { disk_bytes_per_sec: Some(1_000_000), ..Capacity::default() });
    assert!(
        disk.contains("disk of host `web`") && disk.contains("blkio") && disk.contains("leave it out"),
        "{disk}"
    );
    let memory = refused(Capacity { memory_bytes: Some(1_000_000), ..Capacity::default() });
    assert!(memory.contains("memory of host `web`"), "{memory}");
    let in_memory = groups.host(
        "web",
        Path::new("/proc/self"),
        &Capacity { disk_bytes_per_sec: Some(1), ..Capacity::default() },
    );
    assert!(in_memory.unwrap_err().to_string().contains("TMPDIR"), "no disk is found");
}
