//! What the tests need to make labs.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use plimsoll_lab::{Lab, LabError, LabHost, LabOptions, LabSpec, Privileges};
use plimsoll_plan::{Capacity, GeneratorSpec, LabHostSpec};
use plimsoll_sys::missing_capability;
use tempfile::TempDir;

/// A folder for lab files.
pub(crate) struct Stage {
    pub(crate) folder: TempDir,
}

/// A host that runs these commands.
pub(crate) fn host(name: &str, run: &[&str]) -> LabHostSpec {
    let run = run.iter().map(|command| (*command).to_owned()).collect();
    LabHostSpec { name: name.to_owned(), capacity: Capacity::default(), run, ready: None, starts_free: false }
}

/// A host with this capacity, on which nothing runs.
pub(crate) fn idle(name: &str, capacity: Capacity) -> LabHostSpec {
    LabHostSpec { capacity, ..host(name, &[]) }
}

impl Stage {
    /// The command of a server on port 9000 whose pages are the files of its host's own folder.
    pub(crate) fn pages(&self) -> &'static str {
        let conf = "daemon off; master_process off; user root; pid pid; error_log stderr; events {}\n\
                    http { access_log access; client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c;\n\
                    uwsgi_temp_path d; scgi_temp_path e; server { listen 9000; root .; } }\n";
        std::fs::write(self.folder.path().join("nginx.conf"), conf).unwrap();
        "exec nginx -p ${tmp} -c ${dir}/nginx.conf"
    }

    /// `None` where labs are not permitted; that is said.
    pub(crate) fn new() -> Option<Self> {
        if let Some(capability) = missing_capability() {
            eprintln!("not shown: this test makes a lab, and {capability} is missing here");
            return None;
        }
        Some(Self { folder: tempfile::tempdir().unwrap() })
    }

    pub(crate) fn up(&self, hosts: Vec<LabHostSpec>) -> Result<Lab, LabError> {
        self.up_within(hosts, Duration::from_secs(60))
    }

    pub(crate) fn up_within(&self, hosts: Vec<LabHostSpec>, within: Duration) -> Result<Lab, LabError> {
        let spec = LabSpec { hosts, generator: GeneratorSpec::default() };
        let options = LabOptions {
            folder: self.folder.path(),
            services: None,
            programs: Vec::new(),
            runtime: Privileges::Root.runtime_folder(),
            ready_within: within,
            interrupted: &AtomicBool::new(false),
        };
        Lab::up(&spec, &options)
    }
}

/// The control group that counts what a host uses of processors, if there is one.
pub(crate) fn counted_in(host: &LabHost) -> Option<PathBuf> {
    let groups = host.groups();
    groups.unified.clone().or_else(|| groups.cpuacct.clone())
}

/// The numbers of the processes in a control group.
pub(crate) fn processes(group: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(group.join("cgroup.procs")).unwrap();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

/// Polls until something holds, for a minute at most.
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited a minute: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
