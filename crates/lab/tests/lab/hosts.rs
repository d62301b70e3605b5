//! Hosts that find each other, and their commands.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use plimsoll_plan::{Capacity, Ready};

use super::stage::{Stage, host, idle};

/// What a shell command says on a host.
fn says(host: &plimsoll_lab::LabHost, text: &str) -> String {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", text]).stdout(Stdio::piped());
    let mut process = host.spawn(command, std::path::Path::new("/")).unwrap();
    let mut said = String::new();
    process.child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(process.child.wait().unwrap().success(), "{text}: {said}");
    said.trim().to_owned()
}

#[test]
fn hosts_know_each_other_by_name_and_see_only_themselves() {
    let Some(stage) = Stage::new() else { return };
    let lab = stage.up(vec![idle("web", Capacity::default()), idle("api", Capacity::default())]).unwrap();
    let [web, api] = lab.hosts.as_slice() else { panic!("two hosts") };
    assert_ne!(web.address, api.address);
    assert_eq!(says(web, "hostname"), "web");
    let looked_up = says(&lab.generators[0], "getent ahostsv4 api | head -n1");
    assert!(looked_up.starts_with(&api.address.to_string()), "{looked_up}");
    assert!(says(web, "ls /proc | grep -c '^[0-9]*$'").parse::<u32>().unwrap() < 10);
    assert_eq!(says(web, "cat /proc/net/dev | grep -c :"), "2", "loopback and one link");
    let own_network = fs::read_link("/proc/self/ns/net").unwrap();
    assert_ne!(fs::read_link(format!("/proc/{}/ns/net", web.pid())).unwrap(), own_network);
}

#[test]
fn shared_memory_and_files_of_run_are_each_hosts_own() {
    let Some(stage) = Stage::new() else { return };
    let lab = stage.up(vec![idle("web", Capacity::default()), idle("api", Capacity::default())]).unwrap();
    let [web, api] = lab.hosts.as_slice() else { panic!("two hosts") };
    // POSIX shared memory of a name is a file here, shm_overview(7).
    let name = format!("plimsoll-test-{}", std::process::id());
    for folder in ["/dev/shm", "/run"] {
        says(web, &format!("echo web > {folder}/{name}"));
        assert_eq!(says(api, &format!("ls {folder} | grep -c {name} || true")), "0", "{folder}");
        assert!(
            !std::path::Path::new(folder).join(&name).exists(),
            "nothing of a host is the machine's: {folder}"
        );
        assert_eq!(says(web, &format!("cat {folder}/{name}")), "web");
    }
    assert_eq!(says(web, "stat -c %a /dev/shm"), "1777", "any user of the host may make some");
}

#[test]
fn a_lab_file_that_its_hosts_would_not_see_is_refused() {
    let Some(stage) = Stage::new() else { return };
    let hidden = Stage { folder: tempfile::tempdir_in("/run").unwrap() };
    let error = hidden.up(vec![idle("web", Capacity::default())]).unwrap_err().to_string();
    assert!(error.contains("below /run") && error.contains("TMPDIR"), "{error}");
    stage.up(vec![idle("web", Capacity::default())]).unwrap();
}

#[test]
fn commands_get_their_variables_and_ready_waits_for_a_page() {
    let Some(stage) = Stage::new() else { return };
    // The page is there only after it was asked for in vain.
    let server = format!("echo ${{host:api}} > ${{tmp}}/address; {}", stage.pages());
    let writer = "until grep -q healthz ${tmp}/access; do sleep 0.02; done; echo here > ${tmp}/healthz";
    let ready = Some(Ready::Page { port: 9000, path: "/healthz".to_owned() });
    let api = plimsoll_plan::LabHostSpec { ready, ..host("api", &[&server, writer]) };
    let lab = stage.up(vec![api]).unwrap();
    let own = lab.folder().join("0-api");
    let address = lab.hosts[0].address.to_string();
    assert_eq!(fs::read_to_string(own.join("address")).unwrap().trim(), address);
    let asked = fs::read_to_string(own.join("access")).unwrap();
    let [first, last] = [asked.lines().next().unwrap(), asked.lines().last().unwrap()];
    assert!(first.contains(" 404 ") && last.contains(" 200 "), "{asked}");
}

#[test]
fn a_command_that_dies_early_is_reported_with_what_it_wrote() {
    let Some(stage) = Stage::new() else { return };
    let dying = host("web", &["sleep 1000", "echo ${tmp} > ${dir}/own; echo no such port >&2; exit 7"]);
    let dying = plimsoll_plan::LabHostSpec { ready: Some(Ready::Tcp(80)), ..dying };
    let error = stage.up(vec![dying]).unwrap_err().to_string();
    for part in ["host `web`", "exit 7", "exit status: 7", "no such port"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let own = fs::read_to_string(stage.folder.path().join("own")).unwrap();
    assert!(!std::path::Path::new(own.trim()).exists(), "nothing is left of a lab that failed");
}

#[test]
fn a_host_that_never_becomes_ready_is_reported_with_its_last_answer() {
    let Some(stage) = Stage::new() else { return };
    let silent = plimsoll_plan::LabHostSpec {
        ready: Some(Ready::Tcp(80)),
        ..host("web", &["echo begun; sleep 1000"])
    };
    let error = stage.up_within(vec![silent], Duration::from_millis(300)).unwrap_err().to_string();
    for part in ["host `web` was not ready after 300 ms", "tcp:80", "did not connect", "begun"] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn a_host_whose_services_have_ended_is_not_waited_for() {
    let Some(stage) = Stage::new() else { return };
    let ready = |run: &[&str]| plimsoll_plan::LabHostSpec { ready: Some(Ready::Tcp(80)), ..host("web", run) };
    let ended = ready(&["echo begun; true"]);
    let error = stage.up_within(vec![ended], Duration::from_secs(600)).unwrap_err().to_string();
    for part in ["`echo begun; true` on host `web` ended with success", "left no process", "begun"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let left = ready(&["sleep 1000 & echo left"]);
    let error = stage.up_within(vec![left], Duration::from_millis(300)).unwrap_err().to_string();
    assert!(error.contains("was not ready after"), "what it left may serve yet: {error}");
}

/// A lab of one host whose command serves pages until the host's file `stop` is there, and then ends so.
fn ending(stage: &Stage, end: &str, ready: Option<Ready>) -> plimsoll_lab::Lab {
    let server = stage.pages().trim_start_matches("exec ");
    let command =
        format!("{server} & until [ -e ${{tmp}}/stop ]; do sleep 0.02; done; kill $!; wait $!; {end}");
    stage.up(vec![plimsoll_plan::LabHostSpec { ready, ..host("web", &[&command]) }]).unwrap()
}

/// What is said once the server has ended.
fn after_the_end(mut lab: plimsoll_lab::Lab) -> String {
    lab.alive().unwrap();
    fs::write(lab.folder().join("0-web/stop"), "").unwrap();
    let begun = std::time::Instant::now();
    loop {
        match lab.alive() {
            Err(error) => return error.to_string(),
            Ok(()) => assert!(begun.elapsed() < Duration::from_secs(60), "the end is not seen"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_server_that_ends_while_the_lab_is_up_is_reported_whatever_its_status() {
    let Some(stage) = Stage::new() else { return };
    let ready = Some(Ready::Tcp(9000));
    let ended = after_the_end(ending(&stage, "exit 0", ready.clone()));
    assert!(ended.contains("on host `web` ended with success, and left no process"), "{ended}");
    let failed = after_the_end(ending(&stage, "exit 7", ready));
    assert!(failed.contains("on host `web` ended (exit status: 7)"), "{failed}");
    assert!(![&ended, &failed].iter().any(|text| text.contains("before it was ready")));
}

#[test]
fn a_command_of_a_host_that_serves_nothing_may_end() {
    let Some(stage) = Stage::new() else { return };
    let mut lab = stage.up(vec![host("job", &["echo done > ${tmp}/done"])]).unwrap();
    let done = lab.folder().join("0-job/done");
    super::stage::until("the command's end", || done.exists());
    // It may take a moment from the file to the end.
    for _ in 0..10 {
        lab.alive().unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_that_listens_on_all_addresses_of_ipv6_is_reached() {
    let Some(stage) = Stage::new() else { return };
    let server = "python3 -c 'import socket as s; a = s.getaddrinfo(None, 80, s.AF_INET6, s.SOCK_STREAM, 0, \
                  s.AI_PASSIVE | s.AI_ADDRCONFIG)[0][4]; l = s.create_server(a, family=s.AF_INET6, dualstack_ipv6=True)
while True: l.accept()'";
    let spec = plimsoll_plan::LabHostSpec { ready: Some(Ready::Tcp(80)), ..host("web", &[server]) };
    stage.up_within(vec![spec], Duration::from_secs(60)).unwrap();
}

#[test]
fn a_variable_that_names_no_host_is_refused() {
    let Some(stage) = Stage::new() else { return };
    let error = stage.up(vec![host("web", &["echo ${host:wep}"])]).unwrap_err().to_string();
    assert!(error.contains("did you mean `web`?"), "{error}");
}
