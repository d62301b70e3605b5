//! Whether the agents that were started answer at the broker, and why some do not.

use std::thread;
use std::time::Duration;

use plimsoll_units::named;

use crate::broker::Broker;
use crate::deadline::{Deadline, Overdue};
use crate::error::FleetError;
use crate::reasons::together;
use crate::status::{AgentStatus, status};

/// The pause between two rounds of listening, each of which takes about a second.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The way in which agents were started: as processes, sessions, containers or pods.
pub(crate) trait Starter {
    /// True if one of these agents has ended, so that waiting for them is pointless.
    ///
    /// # Errors
    /// When that cannot be asked.
    fn has_failed(&mut self, missing: &[String]) -> Result<bool, FleetError>;

    /// Returns why each of these agents does not answer, in their order; `None` for one that runs, as far as is known.
    ///
    /// # Errors
    /// When that cannot be asked.
    fn reasons(&mut self, missing: &[String]) -> Result<Vec<Option<String>>, FleetError>;

    /// Returns what to do about an agent that runs and does not answer.
    fn advice(&self) -> String;
}

/// Fails if an agent of one of these names answers at the broker already: it would be taken for the one to start.
///
/// # Errors
/// Also when the broker cannot be used.
pub(crate) fn refuse_taken(agents: &[String], broker: &Broker) -> Result<(), FleetError> {
    let mut taken: Vec<String> = status(broker)?.agents.into_iter().map(|agent| agent.name).collect();
    taken.dedup();
    taken.retain(|name| agents.contains(name));
    match taken.is_empty() {
        true => Ok(()),
        false => Err(FleetError::NamesTaken { names: named(&taken) }),
    }
}

/// Waits until all of these agents answer at the broker; ends early if one of them is known to have ended.
///
/// # Errors
/// When one does not answer in time: then the error says which, and why. Two with one name are an error, too.
pub(crate) fn await_agents(
    agents: &[String],
    broker: &Broker,
    starter: &mut dyn Starter,
    deadline: Deadline<'_>,
) -> Result<(), FleetError> {
    let mut twin_before = None;
    loop {
        // A broker that is starting, or electing a leader, answers later.
        let found = status(broker).map(|found| found.agents);
        let Heard { missing, twin } = heard(agents, found.as_deref().unwrap_or_default());
        match twin {
            // The old process of a restarted agent is not heard again.
            Some(name) if twin_before.as_ref() == Some(&name) => return Err(FleetError::SameName { name }),
            None if missing.is_empty() => return Ok(()),
            twin => twin_before = twin,
        }
        let overdue = deadline.overdue();
        if overdue == Some(Overdue::Interrupted) {
            return Err(FleetError::Interrupted);
        }
        if overdue.is_some() || has_failed(starter, &missing)? {
            let of_broker = found.err().map(|error| error.to_string());
            let (came, expected) = (agents.len() - missing.len(), agents.len());
            let reasons = reasons(starter, &missing, of_broker);
            let reasons = together(missing.into_iter().zip(reasons));
            return Err(FleetError::NotReady { came, expected, reasons });
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// True if one of these agents is known to have ended. A transient error says nothing about agents, so the wait goes on; a lasting
/// one, such as a missing permission, ends it.
fn has_failed(starter: &mut dyn Starter, missing: &[String]) -> Result<bool, FleetError> {
    match starter.has_failed(missing) {
        Err(FleetError::Kubernetes(error)) if error.is_lasting() => Err(error.into()),
        failed => Ok(failed.unwrap_or(false)),
    }
}

/// Returns why each of these agents does not answer. For an agent with no known fault that is the error of the broker, or else the
/// starter's advice.
fn reasons(starter: &mut dyn Starter, missing: &[String], of_broker: Option<String>) -> Vec<String> {
    match starter.reasons(missing) {
        Ok(reasons) => {
            let advice = of_broker.unwrap_or_else(|| starter.advice());
            reasons.into_iter().map(|why| why.unwrap_or_else(|| advice.clone())).collect()
        }
        Err(error) => {
            let silent = || "it does not answer at the broker".to_owned();
            let why = of_broker.unwrap_or_else(silent);
            vec![format!("{why}; more is not known: {error}"); missing.len()]
        }
    }
}

/// The result of one round of listening.
struct Heard {
    /// Agents that were not heard.
    missing: Vec<String>,
    /// The name of an agent that two processes have.
    twin: Option<String>,
}

fn heard(agents: &[String], found: &[AgentStatus]) -> Heard {
    let count = |name: &String| found.iter().filter(|agent| agent.name == *name).count();
    Heard {
        missing: agents.iter().filter(|name| count(name) == 0).cloned().collect(),
        twin: agents.iter().find(|name| count(name) > 1).cloned(),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_kubernetes::KubernetesError;
    use plimsoll_testkit::refused_address;

    use super::*;
    use crate::broker::Certificates;

    /// Answers as the API of a cluster that is busy at times.
    struct Busy {
        /// How often it was asked.
        asked: usize,
        knows: bool,
    }

    impl Starter for Busy {
        fn has_failed(&mut self, _missing: &[String]) -> Result<bool, FleetError> {
            self.asked += 1;
            if self.asked == 1 { Err(busy()) } else { Ok(true) }
        }

        fn reasons(&mut self, _missing: &[String]) -> Result<Vec<Option<String>>, FleetError> {
            if self.knows { Ok(vec![Some("Evicted".to_owned())]) } else { Err(busy()) }
        }

        fn advice(&self) -> String {
            "see the broker".to_owned()
        }
    }

    fn busy() -> FleetError {
        let (request, message) = ("GET pods".to_owned(), "too many requests".to_owned());
        KubernetesError::Refused { request, status: 429, message }.into()
    }

    fn await_one(starter: &mut Busy) -> String {
        match await_agent(starter) {
            Err(FleetError::NotReady { came: 0, expected: 1, reasons }) => reasons,
            other => panic!("{other:?}"),
        }
    }

    /// Waits for an agent at a broker that is away.
    fn await_agent(starter: &mut dyn Starter) -> Result<(), FleetError> {
        let broker = Broker {
            address: format!("nats://{}", refused_address()).parse().unwrap(),
            credentials: None,
            certificates: Certificates::default(),
            fleet: "default".to_owned(),
        };
        let deadline = Deadline::uninterrupted(Duration::from_secs(600));
        await_agents(&["a".to_owned()], &broker, starter, deadline)
    }

    #[test]
    fn an_answer_that_fails_once_does_not_end_the_wait() {
        let mut starter = Busy { asked: 0, knows: true };
        let reasons = await_one(&mut starter);
        assert_eq!((starter.asked, reasons.as_str()), (2, "  a: Evicted"));
    }

    /// Of a user who may not list the pods.
    struct Forbidden;

    impl Starter for Forbidden {
        fn has_failed(&mut self, _missing: &[String]) -> Result<bool, FleetError> {
            Err(forbidden().into())
        }

        fn reasons(&mut self, _missing: &[String]) -> Result<Vec<Option<String>>, FleetError> {
            Err(forbidden().into())
        }

        fn advice(&self) -> String {
            String::new()
        }
    }

    fn forbidden() -> KubernetesError {
        KubernetesError::Forbidden { request: "GET pods".to_owned(), message: "no".to_owned() }
    }

    #[test]
    fn that_the_user_may_not_ask_ends_the_wait() {
        let refused = await_agent(&mut Forbidden);
        assert!(
            matches!(refused, Err(FleetError::Kubernetes(KubernetesError::Forbidden { .. }))),
            "{refused:?}"
        );
    }

    #[test]
    fn agents_are_missing_by_name_also_where_the_reasons_cannot_be_asked_for() {
        let reasons = await_one(&mut Busy { asked: 0, knows: false });
        assert!(reasons.starts_with("  a: ") && reasons.contains(&busy().to_string()), "{reasons}");
    }

    fn found(names: &[&str]) -> Vec<AgentStatus> {
        let agent = |name: &&str| AgentStatus {
            name: (*name).to_owned(),
            version: "1".to_owned(),
            run: None,
            left: None,
        };
        names.iter().map(agent).collect()
    }

    #[test]
    fn agents_are_missing_until_each_name_is_heard_of_one_process() {
        let expected = ["a".to_owned(), "b".to_owned()];
        let heard = |names: &[&str]| heard(&expected, &found(names));
        assert_eq!(heard(&["other", "b"]).missing, ["a"]);
        let both = heard(&["a", "b", "other", "other"]);
        assert!(both.missing.is_empty() && both.twin.is_none());
        assert_eq!(heard(&["a", "b", "b"]).twin.as_deref(), Some("b"));
    }
}
