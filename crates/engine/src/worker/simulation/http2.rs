//! What a simulated server of HTTP/2 answers, and how it breaks. It checks what the client sends by RFC 9113.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use plimsoll_units::Instant;

use super::frames::{ClientFrames, Frame, flag, kind};
use super::peer::{End, Mark, Says, Served, Speech, Spoken};
use super::traffic::Request;
use plimsoll_testkit::Random;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Windows and frames until settings change them (RFC 9113, section 6.5.2).
const DEFAULT_WINDOW: i64 = 65_535;
const MAX_FRAME_BYTES: usize = 16_384;
const MAX_WINDOW: i64 = (1 << 31) - 1;

const MAX_CONCURRENT_STREAMS: u16 = 3;
const INITIAL_WINDOW_SIZE: u16 = 4;

const INTERNAL_ERROR: u32 = 2;
const REFUSED_STREAM: u32 = 7;

/// Something that the server wants to say, which depends on what has happened by then.
#[derive(Debug)]
pub(super) enum StreamSpeech {
    Settings {
        streams: Option<u32>,
        window: Option<u32>,
    },
    Head {
        id: u32,
        body_bytes: usize,
    },
    Body {
        id: u32,
        left: usize,
    },
    /// A response without a status.
    Headless {
        id: u32,
    },
    Reset {
        id: u32,
        code: u32,
    },
    /// Room for what the client sends; stream 0 is the connection.
    Grant {
        id: u32,
        bytes: u32,
    },
    GoAway,
    Ping,
}

/// Settings that the client has not acknowledged.
#[derive(Debug)]
struct Unacknowledged {
    streams: Option<u32>,
    /// By how much windows shrink when the client knows of it.
    shrinks: i64,
}

/// A stream that is not closed.
#[derive(Debug)]
struct Stream {
    request: Request,
    received: usize,
    /// The client has sent its part, and the server.
    sent: bool,
    answered: bool,
    /// The server has begun to act upon the request, and to answer it.
    acted: bool,
    begun: bool,
    /// What the server may send, and the client.
    window: i64,
    granted: i64,
    /// Bytes of a body that wait for the window.
    stalled: Option<usize>,
}

/// The server's end of a connection.
#[derive(Debug)]
pub(super) struct Http2 {
    greeted: bool,
    frames: ClientFrames,
    streams: BTreeMap<u32, Stream>,
    last: u32,
    reset: BTreeSet<u32>,
    /// The last stream that the server answers, if it goes away.
    goes_away: Option<u32>,
    /// The connection's windows, and those that new streams begin with.
    window: i64,
    granted: i64,
    first_window: i64,
    first_granted: i64,
    /// The window of new streams as the settings said last.
    announced: i64,
    /// The limit of streams that the client has acknowledged.
    limit: Option<u32>,
    unacknowledged: VecDeque<Unacknowledged>,
    pings: VecDeque<[u8; 8]>,
    /// Nothing is said before the settings.
    settings_at: Instant,
}

impl Default for Http2 {
    fn default() -> Self {
        Self {
            greeted: false,
            frames: ClientFrames::default(),
            streams: BTreeMap::new(),
            last: 0,
            reset: BTreeSet::new(),
            goes_away: None,
            window: DEFAULT_WINDOW,
            granted: DEFAULT_WINDOW,
            first_window: DEFAULT_WINDOW,
            first_granted: DEFAULT_WINDOW,
            announced: DEFAULT_WINDOW,
            limit: None,
            unacknowledged: VecDeque::new(),
            pings: VecDeque::new(),
            settings_at: Instant::default(),
        }
    }
}

impl Http2 {
    /// Takes what the client sent: what the server says to it.
    pub(super) fn take(&mut self, sent: &[u8], served: &mut Served<'_>) -> Vec<Says> {
        self.frames.extend(sent);
        let mut says = Vec::new();
        if !self.greeted {
            if !self.frames.take_prefix(PREFACE) {
                return says;
            }
            self.greeted = true;
            self.settings_at = served.now + served.random.time(served.weather.gap);
            self.say(settings(served.random), served.now, &mut says);
        }
        while let Some(frame) = self.frames.next() {
            assert!(frame.payload.len() <= MAX_FRAME_BYTES, "a frame of {} bytes", frame.payload.len());
            self.frame(&frame, served, &mut says);
        }
        says
    }

    fn say(&self, speech: StreamSpeech, at: Instant, says: &mut Vec<Says>) {
        says.push(Says { at: at.max(self.settings_at), speech: Speech::Stream(speech) });
    }

    fn say_bytes(&self, spoken: Spoken, at: Instant, says: &mut Vec<Says>) {
        says.push(Says { at: at.max(self.settings_at), speech: Speech::Bytes(spoken) });
    }

    fn frame(&mut self, frame: &Frame, served: &mut Served<'_>, says: &mut Vec<Says>) {
        match frame.kind {
            kind::DATA => self.take_body(frame, served, says),
            kind::HEADERS => self.headers(frame, served, says),
            kind::RST_STREAM => {
                assert!(frame.id <= self.last, "RST_STREAM on the idle stream {}", frame.id);
                self.streams.remove(&frame.id);
            }
            kind::SETTINGS if frame.has(flag::ACK) => self.acknowledged(),
            kind::SETTINGS => {
                self.change_windows(&frame.settings());
                let bytes = Frame::new(kind::SETTINGS, flag::ACK, 0, Vec::new()).bytes();
                self.say_bytes(Spoken { bytes, ..Spoken::default() }, served.now, says);
                self.go_on(served.now, says);
            }
            kind::PING if frame.has(flag::ACK) => {
                assert_eq!(
                    self.pings.pop_front().as_ref().map(<[u8; 8]>::as_slice),
                    Some(&frame.payload[..])
                );
            }
            kind::GOAWAY => {}
            kind::WINDOW_UPDATE => {
                self.widen(frame);
                self.go_on(served.now, says);
            }
            other => panic!("the client sent a frame of type {other}"),
        }
    }

    /// The client may send a stream's first frame only within the limits of both sides.
    fn headers(&mut self, frame: &Frame, served: &mut Served<'_>, says: &mut Vec<Says>) {
        assert!(
            frame.id % 2 == 1 && frame.id > self.last,
            "HEADERS on stream {} after {}",
            frame.id,
            self.last
        );
        assert!(frame.has(flag::END_HEADERS), "a header block in several frames");
        self.last = frame.id;
        let request = Request::from_block(&frame.payload);
        if self.goes_away.is_some() {
            return;
        }
        let open = self.streams.len();
        assert!(open < served.depth, "stream {} is the {}th", frame.id, open + 1);
        let limits = self.unacknowledged.iter().map(|settings| settings.streams).chain([self.limit]);
        let limit = limits.map(|limit| limit.unwrap_or(u32::MAX)).max().unwrap_or(u32::MAX);
        assert!(open < limit as usize, "stream {} is one more than {limit}", frame.id);
        let sent = frame.has(flag::END_STREAM);
        assert_eq!(sent, request.body_bytes == 0);
        let (window, granted) = (self.first_window, self.first_granted);
        let stream = Stream {
            request,
            received: 0,
            sent,
            answered: false,
            acted: false,
            begun: false,
            window,
            granted,
            stalled: None,
        };
        self.streams.insert(frame.id, stream);
        if !sent {
            let bytes = served.random.within(1..50_000) as u32;
            self.say(StreamSpeech::Grant { id: frame.id, bytes }, served.now, says);
        }
        if sent || served.random.permille(100) {
            self.answer(frame.id, served, says);
        }
    }

    fn take_body(&mut self, frame: &Frame, served: &mut Served<'_>, says: &mut Vec<Says>) {
        let bytes = frame.payload.len();
        self.granted -= bytes as i64;
        assert!(self.granted >= 0, "the connection's window is overrun");
        assert!(frame.payload.iter().all(|byte| *byte == b'r'), "the body of stream {}", frame.id);
        if bytes > 0 {
            let at = served.now + served.random.time(served.weather.gap);
            self.say(StreamSpeech::Grant { id: 0, bytes: bytes as u32 }, at, says);
        }
        let Some(stream) = self.streams.get_mut(&frame.id) else {
            let ignored =
                self.reset.contains(&frame.id) || self.goes_away.is_some_and(|last| frame.id > last);
            return assert!(ignored, "DATA on the closed stream {}", frame.id);
        };
        assert!(!stream.sent, "DATA after the end of stream {}", frame.id);
        stream.granted -= bytes as i64;
        assert!(stream.granted >= 0, "the window of stream {} is overrun", frame.id);
        stream.received += bytes;
        stream.sent = frame.has(flag::END_STREAM);
        let (whole, acted) = (stream.received == stream.request.body_bytes, stream.acted);
        assert_eq!(stream.sent, whole, "a body of {} bytes", stream.received);
        if !whole && bytes > 0 {
            let at = served.now + served.random.time(served.weather.gap);
            self.say(StreamSpeech::Grant { id: frame.id, bytes: bytes as u32 }, at, says);
        }
        if whole && !acted {
            self.answer(frame.id, served, says);
        }
        self.streams.retain(|_, stream| !(stream.sent && stream.answered));
    }

    fn acknowledged(&mut self) {
        let settings = self.unacknowledged.pop_front().expect("settings that are not acknowledged");
        self.limit = settings.streams.or(self.limit);
        self.first_granted -= settings.shrinks;
        for stream in self.streams.values_mut() {
            stream.granted -= settings.shrinks;
        }
    }

    fn change_windows(&mut self, settings: &[(u16, u32)]) {
        for (_, value) in settings.iter().filter(|(name, _)| *name == INITIAL_WINDOW_SIZE) {
            let wider = i64::from(*value) - self.first_window;
            self.first_window += wider;
            for stream in self.streams.values_mut() {
                stream.window += wider;
            }
        }
    }

    fn widen(&mut self, frame: &Frame) {
        let bytes = i64::from(frame.number());
        assert!(bytes > 0, "WINDOW_UPDATE of 0");
        if frame.id == 0 {
            self.window += bytes;
            assert!(self.window <= MAX_WINDOW, "the connection's window is too wide");
        } else if let Some(stream) = self.streams.get_mut(&frame.id) {
            stream.window += bytes;
            assert!(stream.window <= MAX_WINDOW, "the window of stream {} is too wide", frame.id);
        }
    }

    /// Bodies that waited for a window go on.
    fn go_on(&mut self, now: Instant, says: &mut Vec<Says>) {
        let waiting: Vec<_> =
            self.streams.iter_mut().filter_map(|(id, stream)| Some((*id, stream.stalled.take()?))).collect();
        for (id, left) in waiting {
            self.say(StreamSpeech::Body { id, left }, now, says);
        }
    }

    fn answer(&mut self, id: u32, served: &mut Served<'_>, says: &mut Vec<Says>) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.acted = true;
        served.arrived(stream.request);
        let (random, weather) = (&mut *served.random, served.weather);
        let at = served.now + random.time(weather.service);
        if random.permille(weather.never_answers) {
            return;
        }
        if random.permille(weather.malformed) {
            let spoken = Spoken { bytes: broken(id, random), mark: Mark::Broken, ..Spoken::default() };
            return self.say_bytes(spoken, at, says);
        }
        if random.permille(weather.cut) {
            let mut bytes = Frame::body_frame(id, 100, true, random).bytes();
            bytes.truncate(random.within(0..bytes.len() as u64) as usize);
            let end = if random.permille(500) { End::Reset } else { End::Orderly };
            return self.say_bytes(Spoken { bytes, end: Some(end), ..Spoken::default() }, at, says);
        }
        if random.permille(weather.breaks_streams) {
            return self.say(broken_stream(id, random), at, says);
        }
        let body_bytes = weather.body_bytes(random);
        let extra = match random.within(0..20) {
            _ if random.permille(weather.closes / 4) => Some(StreamSpeech::GoAway),
            0 => Some(StreamSpeech::Ping),
            1 => Some(settings(random)),
            _ => None,
        };
        let extra_at = served.now + random.time(weather.service);
        if let Some(speech) = extra {
            self.say(speech, extra_at, says);
        }
        self.say(StreamSpeech::Head { id, body_bytes }, at, says);
    }

    /// Says something now, as far as it is still to be said.
    pub(super) fn speak(&mut self, speech: StreamSpeech, served: &mut Served<'_>) -> (Spoken, Vec<Says>) {
        let mut says = Vec::new();
        let mut spoken = match speech {
            StreamSpeech::Settings { streams, window } => self.speak_settings(streams, window),
            StreamSpeech::Head { id, body_bytes } => self.speak_head(id, body_bytes, served, &mut says),
            StreamSpeech::Body { id, left } => self.speak_body(id, left, served, &mut says),
            StreamSpeech::Headless { id } => self.speak_headless(id),
            StreamSpeech::Reset { id, code } => self.speak_reset(id, code, served),
            StreamSpeech::Grant { id, bytes } => self.speak_grant(id, bytes),
            StreamSpeech::GoAway => self.speak_go_away(served),
            StreamSpeech::Ping => {
                let payload = served.random.within(0..u64::MAX).to_be_bytes();
                self.pings.push_back(payload);
                Frame::new(kind::PING, 0, 0, payload.to_vec()).spoken()
            }
        };
        if self.goes_away.is_some() && self.streams.is_empty() {
            spoken.end = Some(End::Orderly);
            spoken.closes_tls = true;
        }
        (spoken, says)
    }

    fn speak_settings(&mut self, streams: Option<u32>, window: Option<u32>) -> Spoken {
        let wider = window.map_or(0, |window| i64::from(window) - self.announced);
        self.announced += wider;
        let shrinks = (-wider).max(0);
        self.first_granted += wider.max(0);
        for stream in self.streams.values_mut() {
            stream.granted += wider.max(0);
        }
        self.unacknowledged.push_back(Unacknowledged { streams, shrinks });
        let values = [(MAX_CONCURRENT_STREAMS, streams), (INITIAL_WINDOW_SIZE, window)];
        let payload = values
            .iter()
            .filter_map(|(name, value)| Some([&name.to_be_bytes()[..], &(*value)?.to_be_bytes()].concat()))
            .flatten();
        Frame::new(kind::SETTINGS, 0, 0, payload.collect()).spoken()
    }

    fn speak_head(
        &mut self,
        id: u32,
        body_bytes: usize,
        served: &mut Served<'_>,
        says: &mut Vec<Says>,
    ) -> Spoken {
        let Some(stream) = self.streams.get_mut(&id) else { return Spoken::default() };
        stream.begun = true;
        let mut bytes = Vec::new();
        if served.random.permille(100) {
            // `:status: 103` as a literal with the indexed name.
            bytes.extend(Frame::headers(id, b"\x08\x03103", false, served.random));
        }
        let block: &[u8] = if served.random.permille(500) { b"\x88" } else { b"\x88\x00\x01a\x01b" };
        bytes.extend(Frame::headers(id, block, body_bytes == 0, served.random));
        if body_bytes == 0 {
            return self.finish(id, bytes);
        }
        let at = served.now + served.random.time(served.weather.gap);
        self.say(StreamSpeech::Body { id, left: body_bytes }, at, says);
        Spoken { bytes, ..Spoken::default() }
    }

    fn speak_body(&mut self, id: u32, left: usize, served: &mut Served<'_>, says: &mut Vec<Says>) -> Spoken {
        let Some(stream) = self.streams.get_mut(&id) else { return Spoken::default() };
        let room = stream.window.min(self.window).max(0) as usize;
        let most = if served.random.permille(500) {
            MAX_FRAME_BYTES
        } else {
            served.random.within(1..1000) as usize
        };
        let count = left.min(room).min(most);
        if count == 0 {
            stream.stalled = Some(left);
            return Spoken::default();
        }
        let with_trailers = count == left && served.random.permille(200);
        let frame = Frame::body_frame_within(
            id,
            count,
            room.min(MAX_FRAME_BYTES),
            count == left && !with_trailers,
            served.random,
        );
        stream.window -= frame.payload.len() as i64;
        self.window -= frame.payload.len() as i64;
        let mut bytes = frame.bytes();
        if with_trailers {
            bytes.extend(Frame::headers(id, b"\x00\x01a\x01b", true, served.random));
        }
        if count == left {
            return self.finish(id, bytes);
        }
        let at = served.now + served.random.time(served.weather.gap) / 10;
        self.say(StreamSpeech::Body { id, left: left - count }, at, says);
        Spoken { bytes, ..Spoken::default() }
    }

    /// The response is whole with these bytes.
    fn finish(&mut self, id: u32, bytes: Vec<u8>) -> Spoken {
        let Some(stream) = self.streams.get_mut(&id) else { return Spoken::default() };
        stream.answered = true;
        let number = stream.request.number;
        if stream.sent {
            self.streams.remove(&id);
        }
        Spoken { bytes, mark: Mark::Whole(number), ..Spoken::default() }
    }

    fn speak_headless(&mut self, id: u32) -> Spoken {
        if self.streams.remove(&id).is_none() {
            return Spoken::default();
        }
        self.reset.insert(id);
        Frame::new(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, id, b"\x00\x01a\x01b".to_vec())
            .spoken()
    }

    fn speak_reset(&mut self, id: u32, code: u32, served: &Served<'_>) -> Spoken {
        let Some(stream) = self.streams.remove(&id) else { return Spoken::default() };
        if code == REFUSED_STREAM {
            served.account.refused(stream.request);
        }
        self.reset.insert(id);
        Frame::new(kind::RST_STREAM, 0, id, code.to_be_bytes().to_vec()).spoken()
    }

    fn speak_grant(&mut self, id: u32, bytes: u32) -> Spoken {
        if id == 0 {
            self.granted += i64::from(bytes);
        } else if let Some(stream) = self.streams.get_mut(&id) {
            stream.granted += i64::from(bytes);
        } else {
            return Spoken::default();
        }
        Frame::new(kind::WINDOW_UPDATE, 0, id, bytes.to_be_bytes().to_vec()).spoken()
    }

    /// Streams after the last that is answered at all were not acted upon.
    fn speak_go_away(&mut self, served: &mut Served<'_>) -> Spoken {
        if self.goes_away.is_some() {
            return Spoken::default();
        }
        let begun = self.streams.iter().filter(|(_, stream)| stream.begun).map(|(id, _)| *id).max();
        let last = if served.random.permille(500) { self.last } else { begun.unwrap_or(self.last) };
        self.goes_away = Some(last);
        for (_, stream) in self.streams.split_off(&(last + 1)) {
            served.account.refused(stream.request);
        }
        Frame::new(kind::GOAWAY, 0, 0, [last.to_be_bytes(), 0_u32.to_be_bytes()].concat()).spoken()
    }
}

fn settings(random: &mut Random) -> StreamSpeech {
    let streams = random.permille(500).then(|| random.within(1..12) as u32);
    let window = random.permille(500).then(|| random.within(0..100_000) as u32);
    StreamSpeech::Settings { streams, window }
}

fn broken_stream(id: u32, random: &mut Random) -> StreamSpeech {
    match random.within(0..4) {
        0 => StreamSpeech::Headless { id },
        1 => StreamSpeech::Reset { id, code: INTERNAL_ERROR },
        _ => StreamSpeech::Reset { id, code: REFUSED_STREAM },
    }
}

/// What breaks the connection: a client cannot go on after any of these.
fn broken(id: u32, random: &mut Random) -> Vec<u8> {
    match random.within(0..6) {
        0 => Frame::new(kind::DATA, 0, 0, Vec::new()).bytes(),
        1 => Frame::new(kind::SETTINGS, 0, 0, vec![0; 5]).bytes(),
        2 => Frame::new(kind::HEADERS, flag::END_HEADERS, id, vec![0xff; 6]).bytes(),
        3 => Frame::new(kind::WINDOW_UPDATE, 0, 0, vec![0; 4]).bytes(),
        4 => Frame::new(kind::PUSH_PROMISE, flag::END_HEADERS, id, vec![0, 0, 0, 2, 0x88]).bytes(),
        _ => b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
    }
}
