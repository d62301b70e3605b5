//! `plimsoll lab up`: hosts to look around on.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};
use plimsoll_lab::{Lab, LabHost, Standing};
use plimsoll_plan::Capacity;
use plimsoll_units::{bytes_text, count_text};

use super::case;
use super::file::LabFile;
use super::table::aligned;
use crate::args::UpArgs;
use crate::exit::Exit;
use crate::signals;
use crate::terminal::{remark, result};

/// How often it is seen whether the user wants it to end, and whether all services still run.
const POLL: Duration = Duration::from_millis(100);

pub(super) fn up(args: &UpArgs, standing: Standing) -> anyhow::Result<Exit> {
    let file = LabFile::named(&args.file)?;
    let interrupted = signals::interrupted().context("could not watch for Ctrl-C")?;
    let whole = args
        .variant
        .as_ref()
        .map_or_else(|| file.name().to_owned(), |name| format!("{}/{name}", file.name()));
    let cases = file.cases(false);
    let case = cases.iter().find(|case| case.name == whole);
    let case = case.ok_or_else(|| {
        anyhow!("{} has no variant `{}`", args.file, args.variant.clone().unwrap_or_default())
    })?;
    let mut lab = case::up(case, standing, &interrupted, args.quiet)?;
    result(&shown(&lab, &case.file.spec.url, standing))?;
    if !args.quiet {
        remark("Ctrl-C ends the lab and everything in it");
    }
    while !interrupted.load(Ordering::Relaxed) {
        lab.alive()?;
        thread::sleep(POLL);
    }
    Ok(Exit::Held)
}

fn shown(lab: &Lab, url: &str, standing: Standing) -> String {
    let hosts: Vec<&LabHost> = lab.hosts().iter().chain(lab.generators()).collect();
    let rows: Vec<[String; 3]> = hosts
        .iter()
        .map(|host| [host.name().to_owned(), host.address().to_string(), capacity(host.capacity())])
        .collect();
    let table = aligned(&rows, &[]);
    let ways = hosts.iter().map(|host| format!("    {}\n", host.way_in(standing)));
    let lines: String = table.lines().zip(ways).map(|(line, way)| format!("{line}\n{way}")).collect();
    format!(
        "{lines}target {url}, to be reached from the generator's host\nCPU is capped by {}\n",
        lab.capping()
    )
}

/// What a host has, as far as that is capped.
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
