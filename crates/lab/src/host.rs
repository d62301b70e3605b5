//! A host of a lab, and processes on it.

use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use plimsoll_plan::Capacity;
use plimsoll_sys::{CgroupPaths, Cores, NetworkNamespace, Sandbox};
use plimsoll_units::best_effort;

use crate::group::HostGroups;
use crate::link::{self, INTERFACE};
use crate::privileges::Privileges;
use crate::service::{Service, search_path};
use crate::{HostPhase, LabError};

/// True if a process has children, or the kernel does not list them. Orphans of a service become children of the first process of
/// its host.
fn has_children(pid: u32) -> bool {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    children.map_or(true, |pids| !pids.trim().is_empty())
}

/// One host of a lab. Dropping it ends everything that runs on it.
#[derive(Debug)]
pub struct LabHost {
    pub name: String,
    /// The host's address in the lab.
    pub address: Ipv4Addr,
    /// The interface at the bridge's end of its link.
    pub(crate) port: String,
    pub(crate) hub: NetworkNamespace,
    /// The caps as granted.
    pub capacity: Capacity,
    /// The cap of cores once the host is ready; `None` unless it starts uncapped and can be capped later.
    pub(crate) cores_later: Option<f64>,
    pub(crate) phase: HostPhase,
    pub(crate) services: Vec<Service>,
    /// Declared before the groups, so that it ends first: groups must be empty to be removed.
    pub(crate) sandbox: Sandbox,
    pub(crate) groups: HostGroups,
    pub(crate) folder: PathBuf,
    pub(crate) programs: Vec<PathBuf>,
}

impl LabHost {
    /// A process that lives in the host's network and mounts as long as the host does, by its id outside the host.
    pub fn pid(&self) -> u32 {
        self.sandbox.pid()
    }

    /// The control groups that cap it.
    pub fn groups(&self) -> &CgroupPaths {
        &self.groups.paths
    }

    /// The command that opens a shell on the host.
    pub fn shell_command(&self, privileges: Privileges) -> String {
        let user = match privileges {
            Privileges::Root => "",
            Privileges::OwnNamespace { .. } => " --user --preserve-credentials",
        };
        format!("nsenter --target {}{user} --mount --uts --ipc --net --pid", self.pid())
    }

    /// Starts a program on the host, in this folder. It is killed when the handle is dropped.
    pub fn spawn(&self, mut command: Command, folder: &Path) -> Result<LabProcess<'_>, LabError> {
        let program = command.get_program().to_string_lossy().into_owned();
        Ok(LabProcess { child: self.start(&mut command, &program, folder)?, _host: self })
    }

    /// Starts a shell command as a service of the host; its output goes to a log file.
    pub(crate) fn serve(&mut self, text: String, folder: &Path) -> Result<(), LabError> {
        // Not in the host's own folder, where every user may put files and links.
        let mut log = self.folder.clone().into_os_string();
        log.push(format!("-{}.log", self.services.len()));
        let log = PathBuf::from(log);
        let output = File::create(&log).map_err(LabError::file("make", &log))?;
        let errors = output.try_clone().map_err(LabError::file("open", &log))?;
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(&text).stdin(Stdio::null()).stdout(output).stderr(errors);
        let child = self.start(&mut command, &text, folder)?;
        self.services.push(Service { command: text, child, log });
        Ok(())
    }

    /// Starts a command in the host's namespaces and groups; errors call it `text`.
    fn start(&self, command: &mut Command, text: &str, folder: &Path) -> Result<Child, LabError> {
        let groups = self.groups.membership_files()?;
        command.env("PATH", search_path(&self.programs));
        let child = self.sandbox.spawn(command, folder, &groups, self.groups.cores);
        child.map_err(|reason| LabError::Start { host: self.name.clone(), command: text.to_owned(), reason })
    }

    /// Changes caps while processes run. Caps that `capacity` leaves out stay. If one cannot be set, caps set before it stay changed.
    pub fn change_caps(&mut self, capacity: &Capacity) -> Result<(), LabError> {
        let granted = self.groups.cap(capacity)?;
        let now = &mut self.capacity;
        now.cores = granted.cores.or(now.cores);
        now.memory_bytes = granted.memory_bytes.or(now.memory_bytes);
        now.disk_bytes_per_sec = granted.disk_bytes_per_sec.or(now.disk_bytes_per_sec);
        now.link_out_bits_per_sec = capacity.link_out_bits_per_sec.or(now.link_out_bits_per_sec);
        now.link_in_bits_per_sec = capacity.link_in_bits_per_sec.or(now.link_in_bits_per_sec);
        now.packets_per_sec = capacity.packets_per_sec.or(now.packets_per_sec);
        if link::is_capped(capacity) { self.cap_link() } else { Ok(()) }
    }

    /// True if the host's cores are uncapped until it is ready.
    pub fn starts_uncapped(&self) -> bool {
        self.cores_later.is_some()
    }

    /// Uncaps the cores of a host that starts uncapped, until [`Self::apply_caps`].
    pub fn uncap(&mut self) -> Result<(), LabError> {
        if self.starts_uncapped() {
            self.groups.uncap_cores()?;
            self.capacity.cores = Some(Cores::allowed().map_or(1, |cores| cores.numbers().len()) as f64);
        }
        Ok(())
    }

    /// Caps the cores of a host that starts uncapped.
    pub fn apply_caps(&mut self) -> Result<(), LabError> {
        if !self.starts_uncapped() {
            return Ok(());
        }
        self.change_caps(&Capacity { cores: self.cores_later, ..Capacity::default() })
    }

    /// Applies the link caps of `capacity`.
    pub(crate) fn cap_link(&self) -> Result<(), LabError> {
        let own = self.network()?;
        let Capacity { packets_per_sec: packets, link_out_bits_per_sec, link_in_bits_per_sec, .. } =
            self.capacity;
        let outward = link::cap_lines(INTERFACE, packets, link_out_bits_per_sec);
        link::batch("tc", &outward, &own, &self.name)?;
        link::batch("tc", &link::cap_lines(&self.port, packets, link_in_bits_per_sec), &self.hub, &self.name)
    }

    /// The host's network; fails if its first process has ended.
    pub fn network(&self) -> Result<NetworkNamespace, LabError> {
        self.sandbox.network().map_err(LabError::namespaces(&self.name))
    }

    /// Fails with the first service that failed. Once the host serves, also fails if all services have ended. Without a readiness
    /// check, commands may be meant to end.
    pub fn alive(&mut self) -> Result<(), LabError> {
        for service in &mut self.services {
            if let Some(status) = service.failure() {
                let (command, output) = (service.command.clone(), service.tail());
                let (host, phase) = (self.name.clone(), self.phase);
                return Err(LabError::Died { host, command, status, phase, output });
            }
        }
        if self.phase == HostPhase::Serving { self.is_served() } else { Ok(()) }
    }

    /// Fails if all services have ended and no process that they started is left, so that nothing serves.
    pub(crate) fn is_served(&mut self) -> Result<(), LabError> {
        let pid = self.pid();
        let ended = |service: &mut Service| matches!(service.child.try_wait(), Ok(Some(_)));
        if !self.services.iter_mut().all(ended) || has_children(pid) {
            return Ok(());
        }
        let Some(last) = self.services.last() else { return Ok(()) };
        let (command, output) = (last.command.clone(), last.tail());
        Err(LabError::Ended { host: self.name.clone(), command, phase: self.phase, output })
    }

    /// The last lines of output of the services.
    pub fn output(&self) -> String {
        let tails = self.services.iter().map(Service::tail).filter(|tail| !tail.is_empty());
        tails.collect::<Vec<_>>().join("\n")
    }
}

impl Drop for LabHost {
    fn drop(&mut self) {
        self.sandbox.kill();
        // A process that is not waited for would keep the sandbox from ending.
        self.services.iter_mut().for_each(Service::wait);
    }
}

/// A process on a host of a lab; killed and waited for when dropped.
#[derive(Debug)]
pub struct LabProcess<'a> {
    pub child: Child,
    /// Keeps the host alive for as long as the process.
    _host: &'a LabHost,
}

impl LabProcess<'_> {
    /// Sends the signal of Ctrl-C; fails if the process has ended.
    pub fn interrupt(&mut self) -> io::Result<()> {
        match self.child.try_wait()? {
            Some(_) => Err(io::Error::from(io::ErrorKind::NotFound)),
            None => plimsoll_sys::interrupt(&self.child),
        }
    }
}

impl Drop for LabProcess<'_> {
    fn drop(&mut self) {
        best_effort(self.child.kill(), "it fails only if the process has ended");
        best_effort(self.child.wait(), "it fails only if the process was waited for");
    }
}
