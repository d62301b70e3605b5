//! How the simulated server and network behave.

use std::time::Duration;

use plimsoll_testkit::Random;

/// The server's and the network's character. All of it follows from the seed; a thousandth is the unit of what happens at
/// times. A quarter of all worlds are calm: no request needs to fail there.
#[derive(Debug, Clone)]
pub(super) struct Weather {
    pub(super) connect: Duration,
    pub(super) service: Duration,
    pub(super) gap: Duration,
    pub(super) refused: u64,
    pub(super) never_connects: u64,
    pub(super) never_answers: u64,
    pub(super) cut: u64,
    pub(super) malformed: u64,
    /// Of a million waits, those after which the machine was suspended.
    pub(super) suspends: u64,
    pub(super) closes: u64,
    pub(super) leaves_idle: u64,
    /// Streams that HTTP/2 resets, refuses or answers wrongly.
    pub(super) breaks_streams: u64,
    /// Bytes that a socket takes before it is full.
    pub(super) socket_bytes: u64,
    /// Of a thousand bodies, those that are long.
    long_bodies: u64,
}

impl Weather {
    pub(super) fn new(random: &mut Random) -> Self {
        let calm = random.permille(250);
        let mut sometimes =
            |most: u64| if !calm && random.permille(500) { random.within(0..most) } else { 0 };
        let (refused, never_connects, never_answers) = (sometimes(100), sometimes(20), sometimes(10));
        let (cut, malformed, closes, leaves_idle) =
            (sometimes(30), sometimes(30), sometimes(200), sometimes(30));
        let breaks_streams = sometimes(50);
        let ms = |random: &mut Random, most| Duration::from_millis(random.within(0..most));
        Self {
            connect: ms(random, 50),
            service: ms(random, 400),
            gap: ms(random, 20),
            refused,
            never_connects,
            never_answers,
            cut,
            malformed,
            suspends: if random.permille(100) { random.within(0..1000) } else { 0 },
            closes,
            leaves_idle,
            breaks_streams,
            socket_bytes: if random.permille(300) {
                random.within(1..200)
            } else {
                random.within(200..20_000)
            },
            long_bodies: if random.permille(300) { 20 } else { 0 },
        }
    }

    /// The length of a body.
    pub(super) fn body_bytes(&self, random: &mut Random) -> usize {
        let most = if random.permille(self.long_bodies) { 200_000 } else { 300 };
        random.within(0..most) as usize
    }
}
