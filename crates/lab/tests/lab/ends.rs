//! What is left of a lab when it has ended: nothing.

use std::fs;
use std::path::PathBuf;

use plimsoll_lab::Privileges;

use super::stage::{Stage, counted_in, host, processes, until};

fn is_there(pid: u32) -> bool {
    fs::metadata(format!("/proc/{pid}")).is_ok()
}

#[test]
fn everything_is_gone_once_a_lab_is_dropped_also_what_went_its_own_way() {
    let Some(stage) = Stage::new() else { return };
    // One leaves its session and its parent, one also the group it was put into.
    let away = "setsid sh -c 'sleep 1000 & echo $! > ${tmp}/away'";
    let deeper = "group=$(grep -E ':cpu[:,]|^0::' /proc/self/cgroup | head -n1 | cut -d: -f3); \
                  for top in /sys/fs/cgroup/cpu /sys/fs/cgroup; do \
                  if mkdir $top$group/own 2>/dev/null; then echo $$ > $top$group/own/cgroup.procs; break; fi; done; \
                  touch ${tmp}/deeper; exec sleep 1000";
    let lab = stage.up(vec![host("web", &[away, deeper]), host("api", &["exec sleep 1000"])]).unwrap();
    let own = lab.folder().join("0-web");
    until("both have begun", || own.join("deeper").exists() && own.join("away").exists());
    let folder = lab.folder().to_owned();
    let groups: Vec<PathBuf> = lab.hosts.iter().filter_map(counted_in).collect();
    let running: Vec<u32> = groups.iter().flat_map(|group| processes(group)).collect();
    assert!(groups.is_empty() || running.len() >= 3, "{running:?}");
    let first = lab.hosts[0].pid();
    let note = Privileges::Root.runtime_folder().join(format!("plimsoll-lab-{}", lab.number()));
    assert!(fs::read_to_string(&note).unwrap().contains(folder.to_str().unwrap()));
    drop(lab);
    assert!(!is_there(first) && !running.iter().any(|pid| is_there(*pid)), "{running:?}");
    assert!(
        !folder.exists() && !groups.iter().any(|group| group.exists() || group.parent().unwrap().exists())
    );
    let still = fs::read_to_string(&note).unwrap_or_default();
    assert!(!still.contains(folder.to_str().unwrap()), "the number is free, or another lab's");
}

#[test]
fn two_labs_at_once_have_names_and_addresses_of_their_own() {
    let Some(stage) = Stage::new() else { return };
    let one = || stage.up(vec![host("web", &["sleep 1000"])]).unwrap();
    let (first, second) = (one(), one());
    assert_ne!(first.number(), second.number());
    assert_ne!(first.hosts[0].address, second.hosts[0].address);
    assert_ne!(first.hosts[0].groups(), second.hosts[0].groups());
    let kept = second.hosts[0].pid();
    drop(first);
    assert!(is_there(kept), "the end of one lab is not that of another");
}
