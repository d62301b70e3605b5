//! The broker's stream: stores what is published, delivers it until it is acknowledged, and sometimes loses it.

use std::collections::{BTreeMap, HashMap, VecDeque};

use plimsoll_testkit::Random;

use super::weather::StreamWeather;
use crate::outbox::Parcel;

/// Identifies a copy, as its message-id header does for the broker: the agent, the first message, the resend.
type CopyId = (usize, u64, u32);

/// A message that the stream holds.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) agent: usize,
    pub(super) parcel: Parcel,
}

/// The broker's answer to the publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Stored,
    Refused,
    None,
}

#[derive(Debug, Default)]
pub(super) struct Stream {
    messages: BTreeMap<u64, Stored>,
    next: u64,
    /// Every message before this one was delivered at least once.
    cursor: u64,
    /// When new messages are next delivered.
    next_delivery: u64,
    /// When each delivered message is redelivered.
    waiting: VecDeque<(u64, u64)>,
    /// Number of messages that are delivered and not acknowledged.
    pending: usize,
    copies: HashMap<CopyId, u64>,
    copies_by_age: VecDeque<(u64, CopyId)>,
    /// Copies that were dropped, refused, lost after their acknowledgement, and redelivered.
    pub(super) dropped: u64,
    pub(super) refused: u64,
    pub(super) lost: u64,
    pub(super) redelivered: u64,
}

impl Stream {
    /// A copy arrives.
    pub(super) fn publish(
        &mut self,
        stored: Stored,
        weather: &StreamWeather,
        random: &mut Random,
        now: u64,
    ) -> Answer {
        while let Some((at, id)) = self.copies_by_age.front().copied()
            && at + weather.duplicate_window < now
        {
            self.copies_by_age.pop_front();
            self.copies.remove(&id);
        }
        let id = (stored.agent, stored.parcel.first, stored.parcel.resent);
        let unanswered = random.permille(weather.unanswered);
        if unanswered && random.permille(500) {
            return Answer::None;
        }
        let is_full = self.messages.len() >= weather.capacity;
        if !weather.has_leader(now) || is_full && !self.copies.contains_key(&id) {
            self.refused += 1;
            return Answer::Refused;
        }
        if self.copies.insert(id, now).is_some() {
            self.dropped += 1;
        } else {
            self.copies_by_age.push_back((now, id));
            self.messages.insert(self.next, stored);
            self.next += 1;
        }
        if unanswered { Answer::None } else { Answer::Stored }
    }

    /// A new leader is elected that has lost the last messages, although they were acknowledged.
    pub(super) fn elect(&mut self, weather: &StreamWeather) {
        for _ in 0..weather.forgets {
            let Some((sequence, _)) = self.messages.pop_last() else { return };
            self.lost += 1;
            self.pending -= usize::from(sequence < self.cursor);
        }
    }

    /// Returns the messages that are delivered now.
    pub(super) fn deliver(&mut self, weather: &StreamWeather, now: u64) -> Vec<(u64, Stored)> {
        let mut delivered = Vec::new();
        if !weather.has_leader(now) {
            return delivered;
        }
        while let Some((at, sequence)) = self.waiting.front().copied()
            && at <= now
        {
            self.waiting.pop_front();
            if let Some(stored) = self.messages.get(&sequence) {
                self.redelivered += 1;
                self.waiting.push_back((now + weather.ack_wait, sequence));
                delivered.push((sequence, stored.clone()));
            }
        }
        if now < self.next_delivery {
            return delivered;
        }
        self.next_delivery = now + weather.lag;
        let room = weather.ack_pending_max.saturating_sub(self.pending);
        let new: Vec<_> =
            self.messages.range(self.cursor..).take(room).map(|(at, one)| (*at, one.clone())).collect();
        for (sequence, _) in &new {
            self.cursor = sequence + 1;
            self.pending += 1;
            self.waiting.push_back((now + weather.ack_wait, *sequence));
        }
        delivered.extend(new);
        delivered
    }

    /// Removes a message that the conductor has acknowledged.
    pub(super) fn acknowledge(&mut self, sequence: u64) {
        if self.messages.remove(&sequence).is_some() {
            self.pending -= usize::from(sequence < self.cursor);
        }
    }

    /// Starts again from the first message, for another conductor.
    pub(super) fn read_anew(&mut self) {
        (self.cursor, self.pending) = (0, 0);
        self.waiting.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Describes what the stream holds.
    pub(super) fn standing(&self) -> String {
        let parcels =
            self.messages.values().map(|stored| (stored.agent, stored.parcel.first, stored.parcel.resent));
        format!("{} pending of {:?}", self.pending, parcels.take(20).collect::<Vec<_>>())
    }
}
