//! `plimsoll lab up`: makes the hosts of a file and keeps them until Ctrl-C.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use plimsoll_experiment::{LabFile, raise_lab};
use plimsoll_lab::{Lab, LabHost, Privileges};
use plimsoll_plan::Capacity;
use plimsoll_units::{bytes_text, count_text};

use super::table::aligned;
use crate::exit::Exit;
use crate::signals;
use crate::terminal::{remark, result};

#[derive(Debug, clap::Args)]
pub(crate) struct UpArgs {
    /// A plan file with hosts to make, or its name below lab/
    file: String,
    /// The variant of the file whose hosts to make
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// No progress on standard error
    #[arg(short, long)]
    quiet: bool,
}

/// How often Ctrl-C and the services are polled.
const POLL: Duration = Duration::from_millis(100);

pub(super) fn up(args: &UpArgs, privileges: Privileges) -> anyhow::Result<Exit> {
    let file = LabFile::named(&args.file)?;
    let interrupted = signals::interrupted()?;
    let case = file.find_case(args.variant.as_deref())?;
    let mut lab = raise_lab(&case, privileges, &interrupted).map_err(|error| error.in_part(&case.name))?;
    for text in lab.remarks.iter().filter(|_| !args.quiet) {
        remark(&format!("plimsoll: {text}"));
    }
    result(&shown(&lab, &case.file.spec.url, privileges))?;
    if !args.quiet {
        remark("Ctrl-C ends the lab and everything in it");
    }
    while !interrupted.load(Ordering::Relaxed) {
        lab.alive()?;
        thread::sleep(POLL);
    }
    Ok(Exit::Success)
}

fn shown(lab: &Lab, url: &str, privileges: Privileges) -> String {
    let hosts: Vec<&LabHost> = lab.hosts.iter().chain(&lab.generators).collect();
    let rows: Vec<[String; 3]> = hosts
        .iter()
        .map(|host| [host.name.clone(), host.address.to_string(), capacity(&host.capacity)])
        .collect();
    let table = aligned(&rows, &[]);
    let ways = hosts.iter().map(|host| format!("    {}\n", host.shell_command(privileges)));
    let lines: String = table.lines().zip(ways).map(|(line, way)| format!("{line}\n{way}")).collect();
    format!(
        "{lines}target {url}, to be reached from the generator's host\nCPU is capped by {}\n",
        lab.capping()
    )
}

/// Formats the caps of a host.
fn capacity(capacity: &Capacity) -> String {
    let bits = |bits: u64| format!("{}bit/s", bytes_text(bits as f64).trim_end_matches('B'));
    let (out, inward) = (capacity.link_out_bits_per_sec, capacity.link_in_bits_per_sec);
    let both = out.filter(|_| out == inward);
    let parts = [
        capacity.cores.map(|cores| if cores == 1.0 { "1 core".to_owned() } else { format!("{cores} cores") }),
        both.map(|both| format!("link {}", bits(both))),
        out.filter(|_| both.is_none()).map(|out| format!("link out {}", bits(out))),
        inward.filter(|_| both.is_none()).map(|inward| format!("link in {}", bits(inward))),
        capacity.packets_per_sec.map(|packets| format!("{} packets/s", count_text(packets as f64))),
        capacity.memory_bytes.map(|bytes| format!("memory {}", bytes_text(bytes as f64))),
        capacity.disk_bytes_per_sec.map(|bytes| format!("disk {}/s", bytes_text(bytes as f64))),
    ];
    let caps = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if caps.is_empty() { "no caps".to_owned() } else { caps }
}
