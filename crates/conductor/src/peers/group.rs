//! The coordinator's side: the other generators of its run.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use plimsoll_record::GeneratorShare;
use plimsoll_units::{Clock, Instant, RealClock, unix_ms};

use super::channel::{Channel, ReceiveFrom, Rendezvous};
use super::error::{PeerError, READY_WITHIN};
use super::protocol::Message;
use super::shares::{OnLoss, PeerEvent, Peers};

/// How often the interrupt flag is read meanwhile.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How often frames of steps that are over are confirmed.
const KEPT_EVERY: Duration = Duration::from_secs(1);

/// What came from the peer of this index; `None` once it has closed its channel. Nothing comes after that or an error.
type Received = (usize, io::Result<Option<Message>>);

/// The other generators of a run. They end when it is dropped.
#[derive(Debug)]
pub struct PeerGroup {
    pub(crate) peers: Peers,
    received: Receiver<Received>,
    /// How long after the command a step begins.
    pub(crate) head_start: Duration,
}

impl PeerGroup {
    /// Waits until `count` peers have arrived and are ready.
    ///
    /// # Errors
    /// When one cannot begin, is another version, or does not come in time.
    pub fn meet(
        rendezvous: &mut dyn Rendezvous,
        count: usize,
        version: &str,
        interrupted: &AtomicBool,
    ) -> Result<Self, PeerError> {
        let (sender, received) = mpsc::channel();
        let mut group = Self {
            peers: Peers::new(rendezvous.coordinator_takes_part(), RealClock.now()),
            received,
            head_start: rendezvous.head_start(),
        };
        let deadline = RealClock.now() + READY_WITHIN;
        let mut ready = 0;
        while ready < count {
            group.let_in(rendezvous, count, &sender)?;
            match group.received.recv_timeout(POLL_INTERVAL) {
                Ok((index, first)) => group.peers.introduce(index, first, version).map(|()| ready += 1)?,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if interrupted.load(Ordering::Relaxed) {
                return Err(PeerError::Interrupted);
            }
            if RealClock.now() > deadline {
                let names = group.peers.silent();
                return Err(PeerError::Missing { came: ready, expected: count, names });
            }
        }
        Ok(group)
    }

    /// The peers of a coordinator that is gone: those with a share under way, of the step of this index, make it already; `former` are
    /// the shares of all its steps. They arrive at once.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub(crate) fn resume(
        rendezvous: &mut dyn Rendezvous,
        (step, under_way): (Option<u32>, &[GeneratorShare]),
        former: &[GeneratorShare],
        origin: Instant,
    ) -> Result<Self, PeerError> {
        let (sender, received) = mpsc::channel();
        let peers = Peers::new(false, origin);
        let mut group = Self { peers, received, head_start: rendezvous.head_start() };
        group.let_in(rendezvous, usize::MAX, &sender)?;
        group.peers.resume((step, under_way), former);
        Ok(group)
    }

    /// Asks the peers of a coordinator that is gone to make further steps.
    pub(crate) fn stand_by(&mut self) {
        // No other coordinator of the run asks with this number.
        self.peers.stand_by(unix_ms());
    }

    /// Waits until these stand by, or are lost; gives what came meanwhile. Frames are of steps that are over.
    pub(crate) fn await_standing_by(&mut self, interrupted: &AtomicBool) -> Vec<PeerEvent> {
        let deadline = RealClock.now() + READY_WITHIN;
        let (mut came, mut kept) = (Vec::new(), RealClock.now());
        while !self.peers.are_decided() && RealClock.now() < deadline {
            if interrupted.load(Ordering::Relaxed) {
                return came;
            }
            came.extend(self.next(POLL_INTERVAL));
            if RealClock.now().since(kept) >= KEPT_EVERY {
                kept = RealClock.now();
                self.peers.kept();
            }
        }
        came.extend(self.peers.give_up_undecided());
        came
    }

    /// Decides what becomes of the run if a peer is lost.
    pub fn set_on_loss(&mut self, on_loss: OnLoss) {
        self.peers.set_on_loss(on_loss);
    }

    /// Takes the channels of those that have arrived.
    fn let_in(
        &mut self,
        rendezvous: &mut dyn Rendezvous,
        count: usize,
        sender: &Sender<Received>,
    ) -> io::Result<()> {
        while self.peers.count() < count
            && let Some(Channel { name, sender: commands, receiver }) = rendezvous.arrived()?
        {
            let (index, sender) = (self.peers.count(), sender.clone());
            let thread = format!("peer-{index}");
            thread::Builder::new().name(thread).spawn(move || pass_on(index, receiver, &sender))?;
            self.peers.add(name, commands, RealClock.now());
        }
        Ok(())
    }

    /// What comes next, waited for at most this long.
    pub(crate) fn next(&mut self, longest: Duration) -> Option<PeerEvent> {
        let (index, received) = match longest.is_zero() {
            true => self.received.try_recv().ok()?,
            false => self.received.recv_timeout(longest).ok()?,
        };
        self.peers.take_in(index, received, RealClock.now())
    }
}

/// Passes on what one peer reports, until that or the group is gone.
fn pass_on(index: usize, mut messages: Box<dyn ReceiveFrom<Message>>, to: &Sender<Received>) {
    loop {
        let received = match messages.receive() {
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            received => received,
        };
        // What cannot be read is as good as an end: nothing after it could be trusted.
        let goes_on = matches!(received, Ok(Some(_)));
        if to.send((index, received)).is_err() || !goes_on {
            return;
        }
    }
}
