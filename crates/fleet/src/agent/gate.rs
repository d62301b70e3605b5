//! Which messages of a conductor an agent obeys.

use std::collections::HashSet;

use async_nats::HeaderMap;

use crate::signature::Trust;
use crate::wire::{Invitation, Refusal, ToAgent, is_name, unpack, unpack_within};

/// The largest unpacked size, in bytes, of a message that is not trusted.
const MAX_DISTRUSTED_BYTES: u64 = 1 << 20;

/// Examines each message before the agent acts on it.
pub(crate) struct Gate {
    trust: Trust,
    /// The subject on which the agent receives messages of its conductor.
    subject: String,
    incarnation: u64,
    /// Runs that have ended here: an invitation to one of them is a replay.
    ended: HashSet<String>,
}

/// The decision about a message.
#[derive(Debug, PartialEq)]
pub(crate) enum Admission {
    Obey(ToAgent),
    Refuse(Refusal),
    /// Ignore it: it is unreadable, or untrusted without a valid run name.
    Drop,
}

impl Gate {
    pub(crate) fn new(trust: Trust, subject: String, incarnation: u64) -> Self {
        Self { trust, subject, incarnation, ended: HashSet::new() }
    }

    pub(crate) fn examine(&self, headers: Option<&HeaderMap>, content: &[u8]) -> Admission {
        let trusted = self.trust.examine(&self.subject, headers, content);
        match trusted {
            Ok(()) => unpack(content).map_or(Admission::Drop, |message| self.admit(message)),
            Err(distrust) => {
                let message = unpack_within(MAX_DISTRUSTED_BYTES, content);
                // Each sign of life repeats the run of the refusal, and must stay short.
                let named = message.ok().filter(|message| is_name(run_of(message)));
                named.map_or(Admission::Drop, |message| refuse(&message, distrust.to_string()))
            }
        }
    }

    /// Examines a message of a trusted conductor.
    pub(crate) fn admit(&self, message: ToAgent) -> Admission {
        let why = match &message {
            ToAgent::Join(invitation) => self.outdated(invitation),
            ToAgent::State(_) => None,
        };
        match why {
            Some(why) => refuse(&message, why),
            None => Admission::Obey(message),
        }
    }

    fn outdated(&self, invitation: &Invitation) -> Option<String> {
        if invitation.incarnation != self.incarnation {
            return Some(
                "the invitation is for another process of this agent's name, or a replay".to_owned(),
            );
        }
        let has_ended = self.ended.contains(&invitation.run);
        has_ended.then(|| "the run has ended here, and the invitation is a replay".to_owned())
    }

    /// Marks a run as ended here for good.
    pub(crate) fn close(&mut self, run: String) {
        self.ended.insert(run);
    }
}

fn refuse(message: &ToAgent, why: String) -> Admission {
    Admission::Refuse(Refusal { run: run_of(message).to_owned(), why })
}

fn run_of(message: &ToAgent) -> &str {
    match message {
        ToAgent::Join(invitation) => &invitation.run,
        ToAgent::State(state) => &state.run,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::wire::pack;

    fn invitation(run: &str, incarnation: u64) -> Vec<u8> {
        let join = ToAgent::Join(Invitation {
            run: run.to_owned(),
            incarnation,
            version: "1".to_owned(),
            plan: String::new(),
            csv: None,
            gather: Duration::ZERO,
        });
        pack(&join).unwrap()
    }

    fn refused(admission: Admission) -> String {
        match admission {
            Admission::Refuse(refusal) => refusal.why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_invitation_is_good_for_one_process_and_one_run() {
        let mut gate = Gate::new(Trust::new(&[]), "to.a".to_owned(), 7);
        assert!(matches!(gate.examine(None, &invitation("r", 7)), Admission::Obey(_)));
        assert!(refused(gate.examine(None, &invitation("r", 6))).contains("another process"));
        gate.close("r".to_owned());
        assert!(refused(gate.examine(None, &invitation("r", 7))).contains("replay"));
        assert!(matches!(gate.examine(None, &invitation("s", 7)), Admission::Obey(_)));
        assert_eq!(gate.examine(None, b"noise"), Admission::Drop);
    }

    #[test]
    fn what_a_stranger_sends_cannot_fill_the_signs_of_life() {
        let key = nkeys::KeyPair::new_user().public_key().parse().unwrap();
        let gate = Gate::new(Trust::new(&[key]), "to.a".to_owned(), 7);
        assert_eq!(gate.examine(None, &invitation(&"r".repeat(1000), 7)), Admission::Drop);
        assert_eq!(gate.examine(None, &invitation("r\n", 7)), Admission::Drop);
        assert!(matches!(gate.examine(None, &invitation("r", 7)), Admission::Refuse(_)));
    }

    #[test]
    fn with_a_trusted_key_an_unsigned_invitation_is_refused() {
        let key = nkeys::KeyPair::new_user().public_key().parse().unwrap();
        let gate = Gate::new(Trust::new(&[key]), "to.a".to_owned(), 7);
        assert!(refused(gate.examine(None, &invitation("r", 7))).contains("--fleet-key"));
    }
}
