//! An agent: a process that generates its share of the load in each run that a conductor invites it to.

pub(crate) mod gate;
pub(crate) mod order;
pub(crate) mod participant;
mod task;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use plimsoll_conductor::peers::{Channel, Command, Message};
use plimsoll_plan::Plan;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::allow::refusal;
use crate::deadline::POLL_INTERVAL;
use crate::error::FleetError;
use crate::wire::{Invitation, Refusal};
pub use order::{AgentOptions, Generator};
use order::{AgentOrder, Invited, Notice};
use task::{Setup, run};

/// An event that an agent reports to its caller.
#[derive(Debug)]
pub enum AgentReport<'a> {
    /// It is connected, and waits for a run.
    Waiting { agent: &'a str, broker: &'a str },
    /// A run began against this host and port, as in the Host header. The rest of the URL may not belong in an agent's log.
    Began { run: &'a str, target: &'a str },
    /// It refused to take part in a run.
    Refused { run: &'a str, why: &'a str },
    /// Its part of a run has ended.
    Ended { run: &'a str },
    /// Its part of a run failed.
    Failed { run: &'a str, why: &'a str },
}

/// Takes part in runs until it is interrupted, or in one run if [`AgentOptions::once`] is set. An interrupt during a run ends its
/// load; the conductor still receives what was measured.
///
/// # Errors
/// When the broker cannot be used.
pub fn serve(
    options: &AgentOptions,
    interrupted: &Arc<AtomicBool>,
    report: &mut dyn FnMut(&AgentReport<'_>),
) -> Result<(), FleetError> {
    let (orders, received) = unbounded_channel();
    let (notices, noticed) = mpsc::channel();
    let setup = Setup::new(options, Arc::clone(interrupted), received, orders.clone(), notices)?;
    let start = thread::Builder::new().name("broker".to_owned()).spawn(move || run(setup));
    let thread = start.map_err(FleetError::system("could not start the thread of the broker"))?;
    let served = Agent { options, orders: orders.clone(), interrupted, report }.serve(&noticed);
    plimsoll_units::best_effort(orders.send(AgentOrder::Leave), "the task has ended");
    let ended = thread
        .join()
        .unwrap_or_else(|_| Err(FleetError::Ended { why: "a fault in Plimsoll itself".to_owned() }));
    served.and(ended)
}

struct Agent<'a> {
    options: &'a AgentOptions,
    orders: UnboundedSender<AgentOrder>,
    interrupted: &'a AtomicBool,
    report: &'a mut dyn FnMut(&AgentReport<'_>),
}

impl Agent<'_> {
    fn serve(mut self, notices: &Receiver<Notice>) -> Result<(), FleetError> {
        loop {
            match notices.recv_timeout(POLL_INTERVAL) {
                Ok(Notice::Connected) => self.announce(),
                Ok(Notice::Invited(invited)) => {
                    self.take_part(*invited);
                    if self.options.once {
                        return Ok(());
                    }
                }
                Ok(Notice::Refused(Refusal { run, why })) => {
                    (self.report)(&AgentReport::Refused { run: &run, why: &why });
                }
                // The task has ended; its own error says why.
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.interrupted.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
    }

    fn announce(&mut self) {
        let broker = self.options.broker.address.to_string();
        (self.report)(&AgentReport::Waiting { agent: &self.options.name, broker: &broker });
    }

    fn take_part(&mut self, invited: Invited) {
        let Invited { invitation, channel } = invited;
        let run = invitation.run.clone();
        match self.accept(&invitation) {
            Ok((plan, csv)) => self.follow(&run, plan, csv.as_deref(), channel),
            Err(why) => {
                (self.report)(&AgentReport::Refused { run: &run, why: &why });
                plimsoll_units::best_effort(
                    self.orders.send(AgentOrder::Refuse { run, why }),
                    "the task has ended",
                );
            }
        }
    }

    /// Returns the plan and its CSV file, or why the agent refuses this load.
    fn accept(&self, invitation: &Invitation) -> Result<(Plan, Option<Vec<u8>>), String> {
        if invitation.version != self.options.version {
            let (theirs, ours) = (&invitation.version, self.options.version);
            return Err(format!("it is plimsoll {ours}, and the conductor {theirs}; start the same on all"));
        }
        let plan = Plan::from_json(&invitation.plan)
            .map_err(|error| format!("it cannot read the plan ({error})"))?;
        if let Some(why) = refusal(&self.options.allow, &plan) {
            return Err(why);
        }
        let csv = invitation.csv.as_ref().map(|csv| BASE64_STANDARD.decode(csv)).transpose();
        Ok((plan, csv.map_err(|error| format!("it cannot read the CSV file ({error})"))?))
    }

    fn follow(&mut self, run: &str, plan: Plan, csv: Option<&[u8]>, channel: Channel<Message, Command>) {
        (self.report)(&AgentReport::Began { run, target: &plan.target.authority() });
        let made = (self.options.generator)(plan, csv, self.options.version, channel, self.interrupted);
        match made {
            Ok(()) => (self.report)(&AgentReport::Ended { run }),
            Err(error) => (self.report)(&AgentReport::Failed { run, why: &error.to_string() }),
        }
        plimsoll_units::best_effort(self.orders.send(AgentOrder::Finished), "the task has ended");
    }
}
