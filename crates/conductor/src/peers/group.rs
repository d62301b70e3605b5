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

/// How often the interrupt flag is read while waiting.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How often frames of completed steps are confirmed while waiting.
const KEPT_EVERY: Duration = Duration::from_secs(1);

/// A message from the peer with this index; `None` once it has closed its channel. No message follows `None` or an error.
type Received = (usize, io::Result<Option<Message>>);

/// The other generators of a run. Dropping the group ends them.
#[derive(Debug)]
pub struct PeerGroup {
    pub(crate) peers: Peers,
    received: Receiver<Received>,
    /// The time between the command for a step and its start.
    pub(crate) head_start: Duration,
}

impl PeerGroup {
    /// Waits until `count` peers have arrived and are ready.
    ///
    /// # Errors
    /// When a peer cannot begin, has another version, or does not arrive in time.
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

    /// Takes over the peers of a dead coordinator. `under_way` are the shares that peers are making of the step with the given
    /// index, `former` the shares of all its steps. All peers are expected to be available at once.
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

    /// Asks the peers of a dead coordinator to make further steps.
    pub(crate) fn stand_by(&mut self) {
        // The number must differ from those of the run's other coordinators.
        self.peers.stand_by(unix_ms());
    }

    /// Waits until each peer stands by or is lost, and returns the events in between. Frames among them belong to completed steps.
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

    /// Sets the action when a peer is lost.
    pub fn set_on_loss(&mut self, on_loss: OnLoss) {
        self.peers.set_on_loss(on_loss);
    }

    /// Accepts the channels of peers that have arrived.
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

    /// The next event, waiting at most this long.
    pub(crate) fn next(&mut self, longest: Duration) -> Option<PeerEvent> {
        let (index, received) = match longest.is_zero() {
            true => self.received.try_recv().ok()?,
            false => self.received.recv_timeout(longest).ok()?,
        };
        self.peers.take_in(index, received, RealClock.now())
    }
}

/// Forwards the messages of one peer, until the peer or the group is gone.
fn pass_on(index: usize, mut messages: Box<dyn ReceiveFrom<Message>>, to: &Sender<Received>) {
    loop {
        let received = match messages.receive() {
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            received => received,
        };
        // An unreadable message ends the channel, because nothing after it could be trusted.
        let goes_on = matches!(received, Ok(Some(_)));
        if to.send((index, received)).is_err() || !goes_on {
            return;
        }
    }
}
