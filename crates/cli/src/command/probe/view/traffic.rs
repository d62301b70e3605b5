//! Disks, interfaces and TCP.

use plimsoll_units::{bytes_text, count_text, duration_text};

use super::row::{Row, bits, level_text, percent};
use super::window::{Seen, Window};

/// From here on a disk is called busy, though one that takes many requests at once may still take more.
const DISK_BUSY: f64 = 0.9;
/// From here on a link is called full: bursts fill it before its mean does.
const LINK_FULL: f64 = 0.8;
/// Losses above this cost time that is felt.
const SENT_AGAIN: f64 = 0.01;
/// A queue of connections that is this full overflows with the next burst.
const QUEUE_FULL: f64 = 0.5;

pub(super) fn rows(window: &Window<'_>) -> Vec<Row> {
    let disks = window.all("disk").filter_map(|disk| disk_row(&disk));
    let interfaces = window.all("interface").filter_map(|interface| interface_row(&interface));
    let listeners = window.all("listener").map(|listener| listener_row(&listener));
    disks.chain(interfaces).chain(tcp(window)).chain(conntrack(window)).chain(listeners).collect()
}

/// A disk that did nothing is not told of.
fn disk_row(disk: &Seen<'_>) -> Option<Row> {
    let per_sec = |name: &str| disk.per_sec(name).unwrap_or(0.0);
    let (reads, writes) = (per_sec("read_ops"), per_sec("write_ops"));
    if reads + writes + per_sec("flush_ops") == 0.0 {
        return None;
    }
    let busy = per_sec("busy_ms") / 1000.0;
    let mut text = format!(
        "{} {} busy, {} reads/s {}/s, {} writes/s {}/s",
        disk.subject,
        percent(busy),
        count_text(reads),
        bytes_text(per_sec("read_bytes")),
        count_text(writes),
        bytes_text(per_sec("write_bytes"))
    );
    if let Some(each_ms) = disk.ratio("flush_ms", "flush_ops") {
        let flushes = count_text(per_sec("flush_ops"));
        text = format!("{text}, {flushes} flushes/s of {}", duration_text(each_ms * 1e6));
    }
    Some(Row::new("disk", text).notable(busy >= DISK_BUSY))
}

/// An interface that nothing went over is not told of.
fn interface_row(interface: &Seen<'_>) -> Option<Row> {
    let per_sec = |name: &str| interface.per_sec(name);
    let (inward, outward) = (per_sec("received_bytes")? * 8.0, per_sec("sent_bytes")? * 8.0);
    if inward + outward == 0.0 {
        return None;
    }
    let packets =
        |name: &str| per_sec(name).map_or_else(String::new, |n| format!(" {} packets/s", count_text(n)));
    let speed = interface.level("speed_bits_per_sec").filter(|speed| *speed > 0.0);
    let of = speed.map_or_else(String::new, |speed| format!(", of {} each way", bits(speed)));
    let dropped = per_sec("received_dropped").unwrap_or(0.0) + per_sec("sent_dropped").unwrap_or(0.0);
    let drops = if dropped > 0.0 { format!(", {} dropped/s", count_text(dropped)) } else { String::new() };
    let text = format!(
        "{} in {}{}, out {}{}{of}{drops}",
        interface.subject,
        bits(inward),
        packets("received_packets"),
        bits(outward),
        packets("sent_packets"),
    );
    let full = speed.is_some_and(|speed| inward.max(outward) >= speed * LINK_FULL);
    Some(Row::new("interface", text).notable(full || dropped > 0.0))
}

fn tcp(window: &Window<'_>) -> Option<Row> {
    let tcp = window.host("tcp")?;
    let per_sec = |name: &str| tcp.per_sec(name).unwrap_or(0.0);
    let mut parts = Vec::new();
    parts.extend(tcp.level("established").map(|count| format!("{} connections", level_text(count))));
    parts.push(format!(
        "{} made/s, {} taken/s",
        count_text(per_sec("active_opens")),
        count_text(per_sec("passive_opens"))
    ));
    let again = per_sec("segments_retransmitted") / per_sec("segments_sent").max(1.0);
    parts.push(format!("{} of segments sent again", percent(again)));
    let waiting = window.host("sockets").and_then(|sockets| sockets.level("time_wait")).unwrap_or(0.0);
    if waiting > 0.0 {
        parts.push(format!("{} in time-wait", level_text(waiting)));
    }
    let turned_away = per_sec("listen_drops").max(per_sec("listen_overflows"));
    if turned_away > 0.0 {
        parts.push(format!("{} turned away by full accept queues/s", count_text(turned_away)));
    }
    Some(Row::new("tcp", parts.join(", ")).notable(turned_away > 0.0 || again >= SENT_AGAIN))
}

/// A host without connection tracking, or with next to none in it, has nothing to say.
fn conntrack(window: &Window<'_>) -> Option<Row> {
    let table = window.host("conntrack")?;
    let (entries, limit) = (table.level("entries")?, table.level("limit").filter(|limit| *limit > 0.0)?);
    let text = format!("{} of {} entries", level_text(entries), level_text(limit));
    (entries > 0.0).then(|| Row::new("conntrack", text).notable(entries >= limit * LINK_FULL))
}

fn listener_row(listener: &Seen<'_>) -> Row {
    let level = |name: &str| listener.level(name).unwrap_or(0.0);
    let limit = listener.level("queue_limit").filter(|limit| *limit > 0.0);
    let queue = level("queue");
    let of = limit.map_or_else(String::new, |limit| format!(" of {}", level_text(limit)));
    let text = format!(
        "{} {} connections, {}{of} in its accept queue, {} with unread bytes",
        listener.subject,
        level_text(level("established")),
        level_text(queue),
        level_text(level("unread"))
    );
    Row::new("listener", text).notable(limit.is_some_and(|limit| queue >= limit * QUEUE_FULL))
}
