//! Which agents are free to take part in a run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::Subscriber;
use futures_util::StreamExt as _;
use plimsoll_units::{Clock as _, RealClock, named};

use crate::broker::Broker;
use crate::deadline::POLL_INTERVAL;
use crate::error::FleetError;
use crate::wire::{Alive, REPEAT, sign_of};

/// How long to wait for the requested number of agents, or for the first agent if no number was requested.
const GATHER_WITHIN: Duration = Duration::from_secs(30);
/// How long to wait for others after the first agent, if no number was requested.
const OTHERS_WITHIN: Duration = Duration::from_secs(2);
/// Every agent that is running is heard again within this time.
const AGAIN_WITHIN: Duration = REPEAT.saturating_mul(3);

/// Finds free agents, by name: `asked_for` of them, or all that answer within a while.
pub(crate) async fn find(
    broker: &Broker,
    asked_for: Option<usize>,
    alive: &mut Subscriber,
    interrupted: &AtomicBool,
) -> Result<BTreeMap<String, Alive>, FleetError> {
    let mut census = Census::new(asked_for);
    let began = RealClock.now();
    let mut deadline = began + GATHER_WITHIN;
    while !census.is_sure() && RealClock.now() < deadline {
        if interrupted.load(Ordering::Relaxed) {
            return Err(FleetError::Interrupted);
        }
        let Ok(Some(message)) = tokio::time::timeout(POLL_INTERVAL, alive.next()).await else { continue };
        let Some(sign) = sign_of(&message) else { continue };
        let before = census.state();
        census.take(sign)?;
        match census.state() {
            state if state == before => {}
            State::AnyNumber => deadline = RealClock.now() + OTHERS_WITHIN,
            State::All => deadline = RealClock.now() + AGAIN_WITHIN,
            // An agent that was found has begun another run.
            State::TooFew => deadline = began + GATHER_WITHIN,
        }
    }
    let within_sec = RealClock.now().since(began).as_secs();
    census.result().map_err(|census| census.too_few(broker, within_sec))
}

/// The progress of a census.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    TooFew,
    /// No number was requested, at least one agent was found, and others may come.
    AnyNumber,
    /// As many as requested were found.
    All,
}

/// What the signs of life so far show.
#[derive(Debug, Default)]
struct Census {
    asked_for: Option<usize>,
    found: BTreeMap<String, Found>,
    /// The run of each busy agent, by agent name.
    busy: BTreeMap<String, String>,
    /// Incarnations of a name that was later heard with another incarnation.
    former: Vec<u64>,
}

#[derive(Debug)]
struct Found {
    sign: Alive,
    /// The same process was heard before.
    again: bool,
}

impl Census {
    fn new(asked_for: Option<usize>) -> Self {
        Self { asked_for, ..Self::default() }
    }

    /// Takes in a sign of life.
    ///
    /// # Errors
    /// When two agents have one name.
    fn take(&mut self, sign: Alive) -> Result<(), FleetError> {
        if let Some(run) = sign.run {
            let before = self.found.remove(&sign.agent).map(|found| found.sign.incarnation);
            self.former.extend(before.filter(|before| *before != sign.incarnation));
            self.busy.insert(sign.agent, run);
            return Ok(());
        }
        self.busy.remove(&sign.agent);
        // The old process of a restarted agent is not heard again; two processes of one name both are.
        if self.former.contains(&sign.incarnation) {
            return Err(FleetError::SameName { name: sign.agent });
        }
        let (name, incarnation) = (sign.agent.clone(), sign.incarnation);
        if self.state() == State::All && !self.found.contains_key(&name) {
            return Ok(());
        }
        let before = self.found.get(&name).map(|found| found.sign.incarnation);
        self.former.extend(before.filter(|before| *before != incarnation));
        self.found.insert(name, Found { sign, again: before == Some(incarnation) });
        Ok(())
    }

    fn state(&self) -> State {
        match self.asked_for {
            None if self.found.is_empty() => State::TooFew,
            None => State::AnyNumber,
            Some(asked_for) if self.found.len() < asked_for => State::TooFew,
            Some(_) => State::All,
        }
    }

    /// True if as many agents as requested were found, and each was heard twice: in between, another process of its name would have
    /// been heard.
    fn is_sure(&self) -> bool {
        self.state() == State::All && self.found.values().all(|found| found.again)
    }

    fn result(self) -> Result<BTreeMap<String, Alive>, Self> {
        match self.state() {
            State::TooFew => Err(self),
            State::AnyNumber | State::All => {
                Ok(self.found.into_iter().map(|(name, found)| (name, found.sign)).collect())
            }
        }
    }

    /// Returns why there are not enough agents. Some of them may be in other runs.
    fn too_few(mut self, broker: &Broker, within_sec: u64) -> FleetError {
        self.busy.retain(|agent, _| !self.found.contains_key(agent));
        let free: Vec<&str> = self.found.keys().map(String::as_str).collect();
        let (came, names) = (free.len(), free.join(", "));
        let busy: Vec<String> =
            self.busy.iter().map(|(agent, run)| format!("{agent} in run {run}")).collect();
        let expected = self.asked_for.unwrap_or(1);
        match (busy.is_empty(), came) {
            (true, 0) => FleetError::NoAgents { address: broker.address.to_string(), within_sec },
            (true, _) => FleetError::TooFew { came, expected, within_sec, names },
            (false, _) => FleetError::Busy { came, expected, within_sec, busy: named(&busy) },
        }
    }
}

/// Fails if one of these agents is another version.
pub(crate) fn refuse_versions(found: &BTreeMap<String, Alive>, ours: &str) -> Result<(), FleetError> {
    match found.values().find(|alive| alive.version != ours) {
        None => Ok(()),
        Some(other) => Err(FleetError::Version {
            name: other.agent.clone(),
            theirs: other.version.clone(),
            ours: ours.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(agent: &str, incarnation: u64) -> Alive {
        Alive {
            agent: agent.to_owned(),
            incarnation,
            version: String::new(),
            run: None,
            commands: 0,
            refusal: None,
            distrusted: None,
            held: None,
        }
    }

    fn after(asked_for: Option<usize>, signs: &[(&str, u64)]) -> Result<Census, FleetError> {
        let mut census = Census::new(asked_for);
        signs.iter().try_for_each(|(agent, incarnation)| census.take(sign(agent, *incarnation)))?;
        Ok(census)
    }

    #[test]
    fn the_census_of_a_number_is_sure_once_each_agent_was_heard_again() {
        let is_sure = |signs: &[(&str, u64)]| after(Some(2), signs).unwrap().is_sure();
        assert!(!is_sure(&[("a", 1), ("a", 1), ("b", 2)]));
        assert!(is_sure(&[("a", 1), ("a", 1), ("b", 2), ("b", 2)]));
        assert!(!is_sure(&[("a", 1), ("b", 2), ("b", 2), ("a", 3)]), "it was started again, or has a twin");
    }

    #[test]
    fn two_agents_of_one_name_are_noticed_after_the_last_one_has_come() {
        let twins = after(Some(2), &[("a", 1), ("b", 2), ("a", 3), ("a", 1)]);
        assert!(matches!(twins, Err(FleetError::SameName { name }) if name == "a"));
        assert!(after(Some(2), &[("a", 1), ("b", 2), ("a", 3), ("a", 3)]).is_ok(), "it was started again");
    }

    #[test]
    fn an_agent_that_begins_another_run_is_free_no_more() {
        let mut census = after(Some(2), &[("a", 1), ("b", 2)]).unwrap();
        census.take(Alive { run: Some("r".to_owned()), ..sign("a", 1) }).unwrap();
        assert_eq!(census.state(), State::TooFew);
        census.take(sign("c", 3)).unwrap();
        assert!(census.result().unwrap().into_keys().eq(["b", "c"]));
    }

    #[test]
    fn no_more_take_part_than_were_asked_for() {
        let names = |asked_for| -> Vec<String> {
            let census = after(asked_for, &[("b", 1), ("c", 2), ("a", 3)]).unwrap();
            census.result().unwrap().into_keys().collect()
        };
        assert_eq!(names(Some(2)), ["b", "c"]);
        assert_eq!(names(None), ["a", "b", "c"]);
        assert!(after(Some(4), &[("a", 1)]).unwrap().result().is_err());
    }
}
