//! Disks, interfaces and TCP.

use plimsoll_record::metric::{conntrack, disk, interface, listener, sockets, tcp};
use plimsoll_record::{Metric, Source};
use plimsoll_units::{bytes_text, count_text, duration_text};

use super::row::{Row, level_text, percent};
use super::window::{SampledSubject, Window};
use crate::amount::{bits, if_known};

/// The share of time from which a disk counts as busy. A disk that serves many requests at once may still take more.
const DISK_BUSY: f64 = 0.9;
/// The utilisation from which a link counts as full: bursts fill it before its mean does.
const LINK_FULL: f64 = 0.8;
/// Retransmissions above this share cost noticeable time.
const RETRANSMITTED: f64 = 0.01;
/// A queue of connections filled to this share overflows with the next burst.
const QUEUE_FULL: f64 = 0.5;

pub(super) fn rows(window: &Window<'_>) -> Vec<Row> {
    let disks = window.all(Source::Disk).filter_map(|disk| disk_row(&disk));
    let interfaces = window.all(Source::Interface).filter_map(|interface| interface_row(&interface));
    let listeners = window.all(Source::Listener).map(|listener| listener_row(&listener));
    disks.chain(interfaces).chain(tcp(window)).chain(conntrack(window)).chain(listeners).collect()
}

/// Returns the row of a disk; `None` if it did nothing.
fn disk_row(disk: &SampledSubject<'_>) -> Option<Row> {
    let per_sec = |metric: Metric| disk.per_sec(metric).unwrap_or(0.0);
    let (reads, writes) = (per_sec(disk::READ_OPS), per_sec(disk::WRITE_OPS));
    if reads + writes + per_sec(disk::FLUSH_OPS) == 0.0 {
        return None;
    }
    let busy = per_sec(disk::BUSY_MS) / 1000.0;
    let flushes = if_known(disk.ratio(disk::FLUSH_MS, disk::FLUSH_OPS), |each_ms| {
        let flushes = count_text(per_sec(disk::FLUSH_OPS));
        format!(", {flushes} flushes/s of {}", duration_text(each_ms * 1e6))
    });
    let text = format!(
        "{} {} busy, {} reads/s {}/s, {} writes/s {}/s{flushes}",
        disk.subject,
        percent(busy),
        count_text(reads),
        bytes_text(per_sec(disk::READ_BYTES)),
        count_text(writes),
        bytes_text(per_sec(disk::WRITE_BYTES))
    );
    Some(Row::new("disk", text).notable(busy >= DISK_BUSY))
}

/// Returns the row of an interface; `None` without traffic.
fn interface_row(interface: &SampledSubject<'_>) -> Option<Row> {
    let per_sec = |metric: Metric| interface.per_sec(metric);
    let (inward, outward) =
        (per_sec(interface::RECEIVED_BYTES)? * 8.0, per_sec(interface::SENT_BYTES)? * 8.0);
    if inward + outward == 0.0 {
        return None;
    }
    let packets = |metric: Metric| if_known(per_sec(metric), |n| format!(" {} packets/s", count_text(n)));
    let speed = interface.level(interface::SPEED_BITS_PER_SEC).filter(|speed| *speed > 0.0);
    let of = if_known(speed, |speed| format!(", of {} each way", bits(speed)));
    let dropped =
        per_sec(interface::RECEIVED_DROPPED).unwrap_or(0.0) + per_sec(interface::SENT_DROPPED).unwrap_or(0.0);
    let drops = if dropped > 0.0 { format!(", {} dropped/s", count_text(dropped)) } else { String::new() };
    let text = format!(
        "{} in {}{}, out {}{}{of}{drops}",
        interface.subject,
        bits(inward),
        packets(interface::RECEIVED_PACKETS),
        bits(outward),
        packets(interface::SENT_PACKETS),
    );
    let full = speed.is_some_and(|speed| inward.max(outward) >= speed * LINK_FULL);
    Some(Row::new("interface", text).notable(full || dropped > 0.0))
}

fn tcp(window: &Window<'_>) -> Option<Row> {
    let tcp = window.host(Source::Tcp)?;
    let per_sec = |metric: Metric| tcp.per_sec(metric).unwrap_or(0.0);
    let mut parts = Vec::new();
    parts.extend(tcp.level(tcp::ESTABLISHED).map(|count| format!("{} connections", level_text(count))));
    parts.push(format!(
        "{} made/s, {} taken/s",
        count_text(per_sec(tcp::ACTIVE_OPENS)),
        count_text(per_sec(tcp::PASSIVE_OPENS))
    ));
    let again = per_sec(tcp::SEGMENTS_RETRANSMITTED) / per_sec(tcp::SEGMENTS_SENT).max(1.0);
    parts.push(format!("{} of segments retransmitted", percent(again)));
    let waiting = window.host(Source::Sockets).and_then(|sockets| sockets.level(sockets::TIME_WAIT));
    let waiting = waiting.filter(|waiting| *waiting > 0.0);
    parts.extend(waiting.map(|waiting| format!("{} in time-wait", level_text(waiting))));
    let turned_away = per_sec(tcp::LISTEN_DROPS).max(per_sec(tcp::LISTEN_OVERFLOWS));
    if turned_away > 0.0 {
        parts.push(format!("{} turned away by full accept queues/s", count_text(turned_away)));
    }
    Some(Row::new("tcp", parts.join(", ")).notable(turned_away > 0.0 || again >= RETRANSMITTED))
}

/// Returns the row of connection tracking; `None` without tracked connections.
fn conntrack(window: &Window<'_>) -> Option<Row> {
    let table = window.host(Source::Conntrack)?;
    let (entries, limit) =
        (table.level(conntrack::ENTRIES)?, table.level(conntrack::LIMIT).filter(|limit| *limit > 0.0)?);
    let text = format!("{} of {} entries", level_text(entries), level_text(limit));
    (entries > 0.0).then(|| Row::new("conntrack", text).notable(entries >= limit * LINK_FULL))
}

fn listener_row(listener: &SampledSubject<'_>) -> Row {
    let level = |metric: Metric| listener.level(metric).unwrap_or(0.0);
    let limit = listener.level(listener::QUEUE_LIMIT).filter(|limit| *limit > 0.0);
    let queue = level(listener::QUEUE);
    let of = if_known(limit, |limit| format!(" of {}", level_text(limit)));
    let text = format!(
        "{} {} connections, {}{of} in its accept queue, {} with unread bytes",
        listener.subject,
        level_text(level(listener::ESTABLISHED)),
        level_text(queue),
        level_text(level(listener::UNREAD))
    );
    Row::new("listener", text).notable(limit.is_some_and(|limit| queue >= limit * QUEUE_FULL))
}
