//! The other generators of a run, as the one that leads it sees them.
//!
//! Each is a process of this machine with the same plan. The leader decides alone when a step begins and ends; its mates make
//! the shares of their workers and hand their frames over, which go on the tape beside its own.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use plimsoll_record::Frame;
use plimsoll_units::{Clock, RealClock};

use wire::{Lines, StepShare, Wish, Word, say};

pub use assist::assist;
pub(crate) use wire::StepWish;

mod assist;
#[cfg(test)]
mod tests;
mod wire;

/// So long the others have to connect to the target and say that they are ready.
const READY_WITHIN: Duration = Duration::from_secs(30);

/// How often the user's wish to end is looked for meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Generators that begin further apart than this do not make one load.
const APART_MAX: Duration = Duration::from_millis(10);

/// Why the generators of a run do not come together.
#[derive(Debug, thiserror::Error)]
pub enum MatesError {
    /// The socket on which they meet cannot be used.
    #[error("the generators of the run could not speak with each other ({0})")]
    Socket(#[from] io::Error),
    /// One of them could not begin.
    #[error("generator {number} could not begin: {why}")]
    Failed {
        /// Its number, from 2: the leader is the first.
        number: usize,
        /// What it said.
        why: String,
    },
    /// One of them is another version.
    #[error("generator {number} is plimsoll {theirs}, and this one {ours}; start the same on all")]
    Version {
        /// Its number.
        number: usize,
        /// Its version.
        theirs: String,
        /// Ours.
        ours: String,
    },
    /// Not all of them came.
    #[error("{came} of {wanted} other generators were ready within {} s", READY_WITHIN.as_secs())]
    Missing {
        /// How many were ready.
        came: usize,
        /// How many there were to be.
        wanted: usize,
    },
    /// The user wants the end.
    #[error("interrupted while the generators came together")]
    Interrupted,
}

/// One of the others.
#[derive(Debug)]
struct Mate {
    stream: UnixStream,
    workers: u32,
    /// It makes a share of the step that is on.
    at_work: bool,
}

/// What comes from the mate of an index; `None` when it is gone.
type Heard = (usize, Option<Word>);

/// What became of the mates' part of a step since it was last asked.
#[derive(Debug)]
pub(crate) enum News {
    /// A frame.
    Frame(Box<Frame>),
    /// Something to be told.
    Trouble(String),
    /// One began later than the others, in words.
    Late(String),
    /// Nothing.
    Quiet,
}

/// The other generators of a run. They end when it is dropped.
#[derive(Debug)]
pub struct Mates {
    mates: Vec<Mate>,
    heard: Receiver<Heard>,
}

impl Mates {
    /// Waits until `count` others have come and are ready.
    ///
    /// # Errors
    /// When one cannot begin, is another version, or does not come in time.
    pub fn meet(
        listener: &UnixListener,
        count: usize,
        version: &str,
        interrupted: &AtomicBool,
    ) -> Result<Self, MatesError> {
        let (told, heard) = mpsc::channel();
        let mut mates = Self { mates: Vec::new(), heard };
        let deadline = RealClock.now() + READY_WITHIN;
        listener.set_nonblocking(true)?;
        let mut ready = 0;
        while ready < count {
            mates.let_in(listener, count, &told)?;
            match mates.heard.recv_timeout(LOOK_EVERY) {
                Ok((index, word)) => mates.introduce(index, word, version).map(|()| ready += 1)?,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if interrupted.load(Ordering::Relaxed) {
                return Err(MatesError::Interrupted);
            }
            if RealClock.now() > deadline {
                return Err(MatesError::Missing { came: ready, wanted: count });
            }
        }
        Ok(mates)
    }

    /// Takes the connections of those that came since.
    fn let_in(
        &mut self,
        listener: &UnixListener,
        count: usize,
        told: &Sender<Heard>,
    ) -> Result<(), MatesError> {
        while self.mates.len() < count {
            let stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            stream.set_nonblocking(false)?;
            let lines = Lines::of(&stream)?;
            let (index, told) = (self.mates.len(), told.clone());
            thread::Builder::new()
                .name(format!("mate-{index}"))
                .spawn(move || listen(index, lines, &told))?;
            self.mates.push(Mate { stream, workers: 0, at_work: false });
        }
        Ok(())
    }

    fn introduce(&mut self, index: usize, word: Option<Word>, ours: &str) -> Result<(), MatesError> {
        let number = index + 2;
        let failed = |why: &str| MatesError::Failed { number, why: why.to_owned() };
        match word {
            Some(Word::Ready { version, .. }) if version != ours => {
                Err(MatesError::Version { number, theirs: version, ours: ours.to_owned() })
            }
            Some(Word::Ready { workers, .. }) => {
                self.mates[index].workers = workers;
                Ok(())
            }
            Some(Word::Failed { why }) => Err(failed(&why)),
            Some(_) => Err(failed("it speaks out of turn")),
            None => Err(failed("it ended; what it says stands above")),
        }
    }

    /// Workers of all of them together.
    pub(crate) fn workers(&self) -> u32 {
        self.mates.iter().map(|mate| mate.workers).sum()
    }

    /// Gives each its share of a step. The numbers of its workers follow those of the leader's `own`; of `workers` in all
    /// there may be fewer than there are mates for.
    pub(crate) fn begin(&mut self, own: u32, step: &StepWish) {
        let mut before = own;
        for mate in &mut self.mates {
            let mine = mate.workers.min(step.workers.saturating_sub(before));
            let share = StepShare { step: step.clone(), workers_before: before, own_workers: mine };
            mate.at_work = mine > 0 && mate.tell(&Wish::Begin(share));
            before += mine;
        }
    }

    /// Ends the load of all.
    pub(crate) fn end_load(&mut self) {
        self.tell_all(&Wish::EndLoad);
    }

    /// Ends the load of all, and their waiting.
    pub(crate) fn abandon(&mut self) {
        self.tell_all(&Wish::Abandon);
    }

    fn tell_all(&mut self, wish: &Wish) {
        for mate in self.mates.iter_mut().filter(|mate| mate.at_work) {
            // One that cannot be told is gone, which its reader tells.
            mate.tell(wish);
        }
    }

    /// True until all have made their shares.
    pub(crate) fn at_work(&self) -> bool {
        self.mates.iter().any(|mate| mate.at_work)
    }

    /// What comes next, waited for at most this long.
    pub(crate) fn next(&mut self, longest: Duration) -> News {
        let heard = match longest.is_zero() {
            true => self.heard.try_recv().ok(),
            false => self.heard.recv_timeout(longest).ok(),
        };
        heard.map_or(News::Quiet, |(index, word)| self.take(index, word))
    }

    fn take(&mut self, index: usize, word: Option<Word>) -> News {
        let number = index + 2;
        let trouble = |text: &str| News::Trouble(format!("generator {number} {text}"));
        match word {
            Some(Word::Frame(frame)) => News::Frame(frame),
            Some(Word::Began { late_ns }) if late_ns > APART_MAX.as_nanos() as u64 => {
                let late_ms = late_ns as f64 / 1e6;
                News::Late(format!("generator {number} began {late_ms:.0} ms after the others"))
            }
            Some(Word::Ended { fault }) => {
                self.mates[index].at_work = false;
                fault.map_or(News::Quiet, |fault| trouble(&fault))
            }
            Some(Word::Failed { why }) => self.lose(index, &format!("failed: {why}")),
            None => self.lose(index, "is gone; what it measured last is not counted"),
            Some(Word::Began { .. } | Word::Ready { .. }) => News::Quiet,
        }
    }

    /// A mate that is gone takes part in no further step.
    fn lose(&mut self, index: usize, how: &str) -> News {
        let mate = &mut self.mates[index];
        let known = mate.workers == 0 && !mate.at_work;
        (mate.workers, mate.at_work) = (0, false);
        if known { News::Quiet } else { News::Trouble(format!("generator {} {how}", index + 2)) }
    }
}

impl Drop for Mates {
    fn drop(&mut self) {
        for mate in &self.mates {
            // Fails only if the other side has closed it already.
            mate.stream.shutdown(std::net::Shutdown::Both).ok();
        }
    }
}

impl Mate {
    /// False if it is gone.
    fn tell(&self, wish: &Wish) -> bool {
        say(&self.stream, wish).is_ok()
    }
}

/// Passes on what one mate says, until it is gone or nobody listens any more.
fn listen(index: usize, mut lines: Lines, told: &Sender<Heard>) {
    // What is no word of ours is as good as an end: nothing after it could be trusted.
    while let Ok(Some(word)) = lines.next() {
        if told.send((index, Some(word))).is_err() {
            return;
        }
    }
    // Nobody is there to be told once the run is over.
    told.send((index, None)).ok();
}
