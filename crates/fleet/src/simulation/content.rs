//! The frames of a world. Each is computed from its keys, so that it can be checked without being stored.

use std::sync::LazyLock;

use bytes::Bytes;
use plimsoll_conductor::peers::Message;
use plimsoll_record::{Counts, EncodedHistogram, Frame, FrameHead, Phase, WorkerTime, latency_histogram};

use crate::wire::{pack, unpack};

/// A few histograms for frames.
static LATENCIES: LazyLock<[EncodedHistogram; 5]> = LazyLock::new(|| {
    std::array::from_fn(|index| {
        let mut histogram = latency_histogram();
        (0..index as u64 * 3).for_each(|value| histogram.record(1_000 + value * 77_777).unwrap());
        EncodedHistogram::encode(&histogram)
    })
});

/// The fields that identify a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Keys {
    pub(super) step: u32,
    pub(super) worker: u32,
    pub(super) interval: u32,
    pub(super) began_ns: u64,
    pub(super) ended_ns: u64,
}

impl Keys {
    pub(super) fn of(head: &FrameHead) -> Self {
        let FrameHead { step, worker, interval, began_ns, ended_ns, .. } = *head;
        Self { step, worker, interval, began_ns, ended_ns }
    }

    /// Returns the frame with these keys.
    pub(super) fn frame(self, with_latency: bool) -> Frame {
        let Self { step, worker, interval, began_ns, ended_ns } = self;
        let mixed = (u64::from(worker) << 32 | u64::from(interval)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let count = mixed % 1_000;
        let counts =
            Counts { intended: count, sent: count, completed: count, ok: count, ..Counts::default() };
        let latency =
            if with_latency { LATENCIES[(mixed % 5) as usize].clone() } else { EncodedHistogram::default() };
        let head = FrameHead {
            step,
            worker,
            request: 0,
            interval,
            phase: Phase::Measure,
            began_ns,
            ended_ns,
            counts,
            in_flight: mixed % 7,
            backlog: 0,
            connections: 1,
            time: WorkerTime::default(),
        };
        let none = EncodedHistogram::default;
        Frame {
            head,
            latency,
            unsuccessful: none(),
            service: None,
            send_lag: none(),
            connect: none(),
            handshake: none(),
            traces: Vec::new(),
        }
    }
}

/// How messages are encoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Codec {
    pub(super) packs: bool,
    pub(super) with_latency: bool,
}

/// Size of a frame that is encoded as its keys.
const KEYS_BYTES: usize = 28;

impl Codec {
    pub(super) fn encode(self, messages: &[Message]) -> Bytes {
        if self.packs {
            return pack(&messages).unwrap().into();
        }
        let mut bytes = Vec::with_capacity(messages.len() * (KEYS_BYTES + 1));
        for message in messages {
            match message {
                Message::Frame(frame) => {
                    let keys = Keys::of(&frame.head);
                    bytes.push(0);
                    for number in [keys.step, keys.worker, keys.interval] {
                        bytes.extend(number.to_le_bytes());
                    }
                    bytes.extend(keys.began_ns.to_le_bytes());
                    bytes.extend(keys.ended_ns.to_le_bytes());
                }
                other => {
                    let json = serde_json::to_vec(other).unwrap();
                    bytes.push(1);
                    bytes.extend((json.len() as u32).to_le_bytes());
                    bytes.extend(json);
                }
            }
        }
        bytes.into()
    }

    pub(super) fn decode(self, content: &Bytes) -> Vec<Message> {
        if self.packs {
            return unpack(content).unwrap();
        }
        let mut messages = Vec::new();
        let mut rest = content.as_ref();
        while let Some((kind, after)) = rest.split_first() {
            let (message, after) = if *kind == 0 { self.decode_frame(after) } else { decode_other(after) };
            messages.push(message);
            rest = after;
        }
        messages
    }

    fn decode_frame(self, bytes: &[u8]) -> (Message, &[u8]) {
        let (keys, rest) = bytes.split_at(KEYS_BYTES);
        let short = |at: usize| u32::from_le_bytes(keys[at..at + 4].try_into().unwrap());
        let long = |at: usize| u64::from_le_bytes(keys[at..at + 8].try_into().unwrap());
        let keys = Keys {
            step: short(0),
            worker: short(4),
            interval: short(8),
            began_ns: long(12),
            ended_ns: long(20),
        };
        (Message::Frame(Box::new(keys.frame(self.with_latency))), rest)
    }
}

fn decode_other(bytes: &[u8]) -> (Message, &[u8]) {
    let (length, rest) = bytes.split_at(4);
    let (json, rest) = rest.split_at(u32::from_le_bytes(length.try_into().unwrap()) as usize);
    (serde_json::from_slice(json).unwrap(), rest)
}
