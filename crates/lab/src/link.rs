//! The link of a host: a pair of virtual interfaces, and the token buckets that cap it.
//!
//! `tbf` sends a packet once its bucket holds as many bytes as the packet has. A cap on packets uses the same bucket but rounds the
//! size of every packet up to one amount (`mpu`), larger than any packet, so that bytes count packets.

use std::fs;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use plimsoll_plan::{Capacity, GeneratorSpec};
use plimsoll_sys::NetworkNamespace;
use plimsoll_units::best_effort;

use crate::LabError;
use crate::naming::PREFIX;
use crate::service::SYSTEM_FOLDERS;

/// The name of a host's interface within the host.
pub(crate) const INTERFACE: &str = "eth0";

/// The name of the bridge.
const BRIDGE: &str = "bridge";

/// The longest frame: 1500 bytes of packet and the Ethernet header.
const FRAME_BYTES: u64 = 1514;

/// The size that every packet counts as under a cap on packets: more than the longest frame.
const PACKET_BYTES: u64 = 2048;

/// A bucket holds what its rate yields in 1/500 s. The burst is short, so that the cap holds over any time worth measuring,
/// and long enough for late timers.
const BURST_PER_SEC: u64 = 500;

/// A full queue drains in 1/20 s, as in a switch with some memory.
const QUEUE_PER_SEC: u64 = 20;

/// The smallest queue, in packets.
const MIN_QUEUE_PACKETS: u64 = 64;

/// The name of the bridge's end of a host's link.
pub(crate) fn port(index: usize) -> String {
    format!("host{index}")
}

/// True if the kernel supports IPv6, and interfaces of this network use it.
pub(crate) fn has_ipv6(network: &NetworkNamespace) -> Result<bool, LabError> {
    let path = "/proc/sys/net/ipv6/conf/default/disable_ipv6";
    let disabled = network.run(|| fs::read_to_string(path)).map_err(LabError::file("read", path))?;
    Ok(disabled.is_ok_and(|disabled| disabled.trim() == "0"))
}

/// The line that stops an interface from generating an IPv6 address; empty without IPv6, where the kernel refuses it.
fn no_own_address_line(interface: &str, ipv6: bool) -> String {
    if ipv6 { format!("link set {interface} addrgenmode none\n") } else { String::new() }
}

/// The lines that create the bridge.
pub(crate) fn bridge_lines(address: Ipv4Addr, ipv6: bool) -> String {
    format!(
        "link set lo up\nlink add {BRIDGE} type bridge stp_state 0 mcast_snooping 0\n\
         {}address add {address}/{PREFIX} dev {BRIDGE}\nlink set {BRIDGE} up\n",
        no_own_address_line(BRIDGE, ipv6)
    )
}

/// The lines that connect the bridge and the host in whose network process `pid` runs.
pub(crate) fn cable_lines(index: usize, pid: u32, ipv6: bool) -> String {
    let port = port(index);
    format!(
        "link add {port} type veth peer name {INTERFACE} netns {pid}\n{}link set {port} master {BRIDGE} up\n",
        no_own_address_line(&port, ipv6)
    )
}

/// The network of the IPv6 addresses of a lab's hosts, which are unique local addresses (RFC 4193).
const PREFIX6: &str = "fd70:6c69:6d73:6f6c";

/// The line that gives a host an IPv6 address too. Servers look up addresses of the families that their machine has, and some listen
/// on IPv6 only.
fn address6_line(address: Ipv4Addr) -> String {
    let [a, b, c, d] = address.octets();
    format!("address add {PREFIX6}::{a:x}{b:02x}:{c:x}{d:02x}/64 dev {INTERFACE} nodad\n")
}

/// The lines that set up the network within a host. If a link in the lab is capped, packets are sent singly, as on a cable: segments
/// that only the last interface splits (GSO) would count as one packet.
pub(crate) fn host_lines(address: Ipv4Addr, single_packets: bool, ipv6: bool) -> String {
    let single = if single_packets { " gso_max_segs 1" } else { "" };
    let address6 = if ipv6 { address6_line(address) } else { String::new() };
    format!(
        "link set lo up\n{}link set {INTERFACE}{single} up\naddress add {address}/{PREFIX} dev {INTERFACE}\n{address6}",
        no_own_address_line(INTERFACE, ipv6)
    )
}

/// The lines for `tc` that cap one direction of a link at this interface; empty without caps.
pub(crate) fn cap_lines(interface: &str, packets_per_sec: Option<u64>, bits_per_sec: Option<u64>) -> String {
    let first = packets_per_sec.map(|packets| packet_line(interface, packets)).unwrap_or_default();
    let parent = if first.is_empty() { "root handle 1:" } else { "parent 1:1 handle 2:" };
    let queue = |packets: u64| {
        let limit = (packets / QUEUE_PER_SEC).max(MIN_QUEUE_PACKETS);
        format!("qdisc replace dev {interface} {parent} pfifo limit {limit}\n")
    };
    let second = match bits_per_sec {
        Some(bits) => bandwidth_line(interface, parent, bits),
        None => packets_per_sec.map(queue).unwrap_or_default(),
    };
    first + &second
}

fn packet_line(interface: &str, packets_per_sec: u64) -> String {
    let bits = packets_per_sec.saturating_mul(PACKET_BYTES * 8);
    let burst = (packets_per_sec / BURST_PER_SEC).max(2) * PACKET_BYTES;
    // The child qdisc holds the queue; this limit is never reached.
    let limit = burst + MIN_QUEUE_PACKETS * PACKET_BYTES;
    format!(
        "qdisc replace dev {interface} root handle 1: tbf rate {bits}bit burst {burst} mpu {PACKET_BYTES} limit {limit}\n"
    )
}

fn bandwidth_line(interface: &str, parent: &str, bits_per_sec: u64) -> String {
    let bytes_per_sec = bits_per_sec / 8;
    let burst = (bytes_per_sec / BURST_PER_SEC).max(2 * FRAME_BYTES);
    let limit = (bytes_per_sec / QUEUE_PER_SEC).max(MIN_QUEUE_PACKETS * FRAME_BYTES) + burst;
    format!("qdisc replace dev {interface} {parent} tbf rate {bits_per_sec}bit burst {burst} limit {limit}\n")
}

/// True if a capacity caps the link.
pub(crate) fn is_capped(capacity: &Capacity) -> bool {
    let parts = [capacity.link_out_bits_per_sec, capacity.link_in_bits_per_sec, capacity.packets_per_sec];
    parts.iter().any(Option::is_some)
}

/// Limits a network to the first `ports` of the kernel's local ports.
pub(crate) fn limit_ports(network: &NetworkNamespace, ports: u16) -> Result<(), LabError> {
    let path = Path::new("/proc/sys/net/ipv4/ip_local_port_range");
    let (first, last) = (GeneratorSpec::FIRST_PORT, GeneratorSpec::FIRST_PORT + (ports - 1));
    let written = network.run(|| fs::write(path, format!("{first} {last}")));
    written.and_then(|written| written).map_err(LabError::file("limit local ports by", path))
}

/// Runs commands of `ip` or `tc` (iproute2) in a network, one per line; stops at the first that fails.
pub(crate) fn batch(
    program: &'static str,
    lines: &str,
    network: &NetworkNamespace,
    place: &str,
) -> Result<(), LabError> {
    if lines.is_empty() {
        return Ok(());
    }
    let run = || -> std::io::Result<std::process::Output> {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(program);
        command.args(["-batch", "-"]).env("PATH", format!("{path}:{SYSTEM_FOLDERS}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C must not reach it: it ends the lab between two such programs, not within one.
        command.process_group(0);
        let mut child = command.spawn()?;
        if let Some(mut input) = child.stdin.take() {
            best_effort(
                input.write_all(lines.as_bytes()),
                "a program that ended early says why in its output",
            );
        }
        child.wait_with_output()
    };
    let output = network.run(run).and_then(|outcome| outcome);
    let output = output.map_err(|reason| LabError::NoTool { program, reason })?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(LabError::Tool { program, place: place.to_owned(), output: text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_without_caps_has_no_bucket_and_one_with_both_has_two() {
        assert_eq!(cap_lines("eth0", None, None), "");
        let out = cap_lines("eth0", Some(2000), Some(200_000_000));
        assert_eq!(out.matches(" tbf ").count(), 2);
        assert!(out.contains("parent 1:1 handle 2: tbf rate 200000000bit"), "{out}");
        let inward = cap_lines("host0", Some(2000), None);
        assert!(
            inward.contains("mpu") && inward.contains("pfifo") && !inward.contains("200000000bit"),
            "{inward}"
        );
    }

    #[test]
    fn without_ipv6_no_line_is_about_it() {
        let address = Ipv4Addr::new(198, 18, 0, 2);
        let lines = |ipv6: bool| {
            [bridge_lines(address, ipv6), cable_lines(0, 7, ipv6), host_lines(address, true, ipv6)].concat()
        };
        let about = ["addrgenmode", PREFIX6, "nodad"];
        assert!(about.iter().all(|word| lines(true).contains(word) && !lines(false).contains(word)));
        assert_eq!(lines(false).lines().count(), lines(true).lines().count() - 4, "{}", lines(false));
    }

    #[test]
    fn the_slowest_link_still_lets_the_longest_frame_through() {
        let line = bandwidth_line("eth0", "root", 64_000);
        assert!(line.contains("burst 3028"), "{line}");
    }
}
