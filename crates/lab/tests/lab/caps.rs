//! What hosts have is what they were given. The bounds are wide, for the machine may have other things to do.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::thread;
use std::time::Instant;

use plimsoll_lab::{Capping, Lab, LabHost};
use plimsoll_plan::{Capacity, LabHostSpec, Ready};

use super::stage::{Stage, counted_in, host, idle};

/// Bytes per second that one connection carries between two hosts.
fn bytes_per_sec(from: &LabHost, to: &LabHost, bytes: usize) -> f64 {
    let address = SocketAddr::from((to.address, 5000));
    let listener = to.network().unwrap().run(|| TcpListener::bind(address).unwrap()).unwrap();
    let sender = from.network().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut stream = sender.run(|| TcpStream::connect(address).unwrap()).unwrap();
            stream.write_all(&vec![0; bytes]).unwrap();
        });
        let (mut stream, _) = listener.accept().unwrap();
        let mut first = [0; 1];
        stream.read_exact(&mut first).unwrap();
        let begun = Instant::now();
        assert_eq!(stream.read_to_end(&mut Vec::new()).unwrap(), bytes - 1);
        bytes as f64 / begun.elapsed().as_secs_f64()
    })
}

/// Packets that a host has sent over its link.
fn packets_sent(host: &LabHost) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/net/dev", host.pid())).unwrap();
    let line = text.lines().find_map(|line| line.trim().strip_prefix("eth0:")).unwrap();
    line.split_whitespace().nth(9).unwrap().parse().unwrap()
}

fn link(out: u64, inward: u64) -> Capacity {
    let some = |bits: u64| Some(bits).filter(|bits| *bits > 0);
    Capacity { link_out_bits_per_sec: some(out), link_in_bits_per_sec: some(inward), ..Capacity::default() }
}

/// Measures until the figure is within these bounds, five times at most: a machine that stalls within a transfer makes it
/// too slow, or too fast if only its reader stalls.
fn within(bounds: Range<f64>, measure: impl Fn() -> f64) {
    let is_within = |measured: &f64| bounds.contains(measured);
    let measured = (0..4).map(|_| measure()).find(is_within).unwrap_or_else(&measure);
    assert!(is_within(&measured), "{measured} is not within {bounds:?}");
}

fn near(cap: f64, measure: impl Fn() -> f64) {
    within(cap / 2.0..cap * 1.25, measure);
}

#[test]
fn a_link_is_capped_each_way_by_its_own_cap_and_can_be_widened() {
    let Some(stage) = Stage::new() else { return };
    let mut lab =
        stage.up(vec![idle("web", link(20_000_000, 10_000_000)), idle("api", Capacity::default())]).unwrap();
    let (web, api) = (&lab.hosts[0], &lab.hosts[1]);
    near(20e6, || bytes_per_sec(web, api, 3_000_000) * 8.0);
    near(10e6, || bytes_per_sec(api, web, 1_500_000) * 8.0);
    lab.host_mut("web").unwrap().change_caps(&link(80_000_000, 0)).unwrap();
    let (web, api) = (&lab.hosts[0], &lab.hosts[1]);
    within(30e6..100e6, || bytes_per_sec(web, api, 10_000_000) * 8.0);
    assert_eq!(web.capacity.link_in_bits_per_sec, Some(10_000_000));
}

#[test]
fn a_link_of_100_mbit_carries_what_its_headers_leave() {
    let Some(stage) = Stage::new() else { return };
    let lab = stage.up(vec![idle("web", link(100_000_000, 100_000_000))]).unwrap();
    within(60e6..97e6, || bytes_per_sec(&lab.hosts[0], &lab.generators[0], 20_000_000) * 8.0);
}

#[test]
fn packets_are_capped_and_counted_as_a_cable_has_them() {
    let Some(stage) = Stage::new() else { return };
    let capacity = Capacity { packets_per_sec: Some(1000), ..Capacity::default() };
    let lab = stage.up(vec![idle("web", capacity)]).unwrap();
    let web = &lab.hosts[0];
    let before = packets_sent(web);
    let bytes = 3_000_000;
    // A full packet carries 1448 bytes next to the headers and the time stamp.
    near(1000.0, || bytes_per_sec(web, &lab.generators[0], bytes) / 1448.0);
    let packets = packets_sent(web) - before;
    assert!(packets as usize >= bytes / 1448, "{packets} packets for {bytes} bytes");
    near(1000.0, || bytes_per_sec(&lab.generators[0], web, bytes) / 1448.0);
}

/// Cores' worth of time that a host used while a second passed.
fn cores_used(lab: &Lab) -> f64 {
    let folder = counted_in(&lab.hosts[0]).unwrap();
    let used_ns = || match fs::read_to_string(folder.join("cpuacct.usage")) {
        Ok(text) => text.trim().parse::<f64>().unwrap(),
        Err(_) => {
            let text = fs::read_to_string(folder.join("cpu.stat")).unwrap();
            let line = text.lines().find_map(|line| line.strip_prefix("usage_usec ")).unwrap();
            line.parse::<f64>().unwrap() * 1e3
        }
    };
    let (begun, before) = (Instant::now(), used_ns());
    thread::sleep(std::time::Duration::from_secs(1));
    (used_ns() - before) / 1e9 / begun.elapsed().as_secs_f64()
}

#[test]
fn processors_are_capped_over_all_processes_of_a_host_and_the_cap_can_be_raised() {
    let Some(stage) = Stage::new() else { return };
    let mut busy = host("web", &["while :; do :; done", "while :; do :; done"]);
    busy.capacity.cores = Some(0.2);
    let mut lab = stage.up(vec![busy]).unwrap();
    if lab.capping() == Capping::Affinity {
        assert_eq!(lab.hosts[0].capacity.cores, Some(1.0), "affinity gives whole cores and says so");
        assert_eq!(lab.remarks.len(), 1);
        return;
    }
    // On a busy machine a host may get less than its cap for a while, and never more.
    let reaches = |lab: &Lab, least: f64, most: f64| {
        super::stage::until("the host to use its processors", || {
            let used = cores_used(lab);
            assert!(used < most, "{used}");
            used > least
        });
    };
    reaches(&lab, 0.05, 0.25);
    let more = Capacity { cores: Some(0.6), ..Capacity::default() };
    lab.host_mut("web").unwrap().change_caps(&more).unwrap();
    reaches(&lab, 0.25, 0.7);
    assert_eq!(lab.hosts[0].capacity.cores, Some(0.6));
}

/// Bytes a second that a service of the lab wrote and waited for, by its own clock.
fn written_per_sec(lab: &Lab, name: &str, bytes: f64) -> f64 {
    let file = lab.folder().join("0-web").join(name);
    let taken = || fs::read_to_string(&file).ok().filter(|text| text.ends_with('\n'));
    super::stage::until("the end of the writing", || taken().is_some());
    let text = taken().unwrap();
    let times: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    bytes / (times[1] - times[0])
}

#[test]
fn what_is_written_to_disk_is_capped_and_the_cap_can_be_raised() {
    let Some(stage) = Stage::new() else { return };
    let timed = |writes: u32, name: &str| {
        format!(
            "begun=$(date +%s.%N); i=0; while [ $i -lt {writes} ]; do \
             dd if=/dev/zero of=${{tmp}}/file bs=50000 count=1 conv=notrunc,fsync 2>/dev/null; i=$((i+1)); done; \
             echo $begun $(date +%s.%N) > ${{tmp}}/{name}"
        )
    };
    let (first, second) = (timed(40, "first"), timed(120, "second"));
    let run = format!("{first}; while [ ! -e ${{tmp}}/go ]; do sleep 0.01; done; {second}");
    let mut writer = host("web", &[run.as_str()]);
    writer.capacity.disk_bytes_per_sec = Some(1_000_000);
    let mut lab = match stage.up(vec![writer]) {
        Ok(lab) => lab,
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains("disk of host `web` cannot be capped here"), "{text}");
            eprintln!("not shown: {text}");
            return;
        }
    };
    // Each write takes a little of the file system's own next to its bytes.
    let capped = written_per_sec(&lab, "first", 2e6);
    assert!(capped < 1.25e6, "{capped}");
    let more = Capacity { disk_bytes_per_sec: Some(4_000_000), ..Capacity::default() };
    lab.host_mut("web").unwrap().change_caps(&more).unwrap();
    fs::write(lab.folder().join("0-web/go"), "").unwrap();
    let raised = written_per_sec(&lab, "second", 6e6);
    assert!(raised > 1.5 * capped && raised < 5e6, "{raised} after {capped}");
}

#[test]
fn memory_beyond_the_cap_is_unavailable() {
    let Some(stage) = Stage::new() else { return };
    let mut greedy = host(
        "web",
        &["head -c 200000000 /dev/zero | tail -c 200000000 > /dev/null; echo ended $? > ${tmp}/end"],
    );
    greedy.capacity.memory_bytes = Some(50_000_000);
    let lab = stage.up(vec![greedy]).unwrap();
    let end = lab.folder().join("0-web/end");
    super::stage::until("the command's end", || {
        fs::read_to_string(&end).is_ok_and(|text| text.contains('\n'))
    });
    assert_ne!(fs::read_to_string(end).unwrap(), "ended 0\n", "200 MB were held within 50 MB");
}

/// What a control group may use in cores, as its files of either version say; `None` for all there is.
fn quota(text: &str) -> Option<f64> {
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers.as_slice() {
        [quota, period] if *quota > 0.0 => Some(quota / period),
        _ => None,
    }
}

#[test]
fn a_host_that_starts_free_is_capped_once_it_is_ready() {
    let Some(stage) = Stage::new() else { return };
    let look = "p=$(grep -E ':cpu,|:cpu:|,cpu:|::' /proc/self/cgroup | head -1 | cut -d: -f3); echo $p > ${dir}/group; cd /sys/fs/cgroup; \
                cat cpu$p/cpu.cfs_quota_us cpu$p/cpu.cfs_period_us .$p/cpu.max > ${dir}/quota 2>/dev/null; \
                touch ${tmp}/healthz; exec sleep 1000";
    let capacity = Capacity { cores: Some(0.25), ..Capacity::default() };
    let ready = Some(Ready::Page { port: 9000, path: "/healthz".to_owned() });
    let jvm = LabHostSpec { capacity, ready, starts_free: true, ..host("jvm", &[stage.pages(), look]) };
    let lab = stage.up(vec![jvm]).unwrap();
    if lab.capping() == Capping::Affinity {
        return;
    }
    let seen = fs::read_to_string(stage.folder.path().join("quota")).unwrap();
    assert!(seen.split_whitespace().any(|word| word.parse::<f64>().is_ok()), "no quota was read: {seen:?}");
    assert_eq!(quota(&seen), None, "{seen}");
    let group = fs::read_to_string(stage.folder.path().join("group")).unwrap();
    let group = group.trim();
    let read = |name: &str| fs::read_to_string(format!("/sys/fs/cgroup/{name}")).unwrap_or_default();
    let files = ["cpu.cfs_quota_us", "cpu.cfs_period_us"].map(|name| read(&format!("cpu{group}/{name}")));
    let now = files.concat() + &read(&format!("{}/cpu.max", group.trim_start_matches('/')));
    assert_eq!(quota(&now), Some(0.25), "{now}");
    assert_eq!(lab.hosts[0].capacity.cores, Some(0.25));
}
