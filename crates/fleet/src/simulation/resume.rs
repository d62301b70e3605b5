//! A conductor that dies, and another one that resumes its run.

use std::collections::HashMap;
use std::sync::mpsc::channel;
use std::time::Duration;

use plimsoll_conductor::peers::{Command, PeerEvent, Peers, StepShare};
use plimsoll_conductor::{KnownFrames, Made, NotMade, ended_step, missing_text, not_run_text, origin_of_run};
use plimsoll_record::{Step, StepEnd};

use super::clock::ConductorClock;
use super::conductor::{OpenStep, Phase, SimConductor, invitation, listening};
use super::run::{DRAINED_WITHIN, READY_WITHIN};
use super::weather::{MS, SEC};
use super::world::{AgentEvent, ConductorEvent, Event, World};
use crate::hub::TAKEN_WITHIN;
use crate::members::{Member, Members};
use crate::orphans::{FleetSession, LISTEN, Orphans};

/// How often the user tries to resume a run at most.
const TRIES_MAX: u32 = 20;
/// The wait before the next try.
const TRY_AGAIN_AFTER: u64 = SEC;
/// The last commands of a conductor reach its agents within this time of each other.
const LAST_WORDS_APART: u64 = SEC;

impl World {
    pub(super) fn die(&mut self) {
        match self.death() {
            Some(death) if death.before_record => self.conductor.dies_at_begin = true,
            _ => self.end_process(),
        }
    }

    /// Ends the conductor's process at once.
    pub(super) fn end_process(&mut self) {
        self.conductor.died = true;
        let Some(death) = self.death().filter(|_| self.conductor.can_be_resumed()) else { return };
        if let Some(after) = death.last_words_after {
            self.send_last_words(after);
        }
        self.conductor.disk.lose_uncommitted();
        if let Some(after) = death.resumed_after {
            self.is_resumption_due = true;
            self.plan(self.now + after, Event::Resume);
        }
    }

    /// Delivers the last commands of the conductor late, perhaps after the first ones of its successor.
    fn send_last_words(&mut self, after: u64) {
        let one = &mut self.conductor;
        one.peers.iter_mut().for_each(|peers| peers.command_all(&Command::EndLoad));
        while let Ok(order) = one.orders.try_recv() {
            one.members.carry_out(order);
        }
        for agent in 0..self.conductor.arrivals.len() {
            let late = after + self.random.within(0..LAST_WORDS_APART);
            let state = self.unsent_state(agent);
            let heard = state.map(|state| AgentEvent::Heard(Box::new(state)));
            heard.into_iter().for_each(|heard| self.plan_agent(late, agent, heard));
        }
    }

    /// Starts another process that resumes the run.
    pub(super) fn resume(&mut self) {
        let ahead = self.death().map_or(0, |death| death.ahead);
        let until = self.now + LISTEN.as_nanos() as u64;
        self.is_resumption_due = false;
        self.conductor = SimConductor::succeeding(&mut self.conductor, ConductorClock::new(ahead), until);
        self.forget_order();
        self.plan_conductor(0, ConductorEvent::Tick);
        self.plan_death();
    }

    /// Ends the listening once agents have shown that their conductor is gone, or the time is up.
    pub(super) fn listen(&mut self) {
        let Phase::Listening { session, orphans, until } = &mut self.conductor.phase else { return };
        if self.now < *until && !orphans.are_silent(session) {
            return;
        }
        let (session, orphans) = (session.clone(), std::mem::take(orphans));
        match orphans.conducted(&session) {
            Some(_) => self.try_again("an agent hears its conductor"),
            None => self.take_over(&session, &orphans),
        }
    }

    fn try_again(&mut self, why: &str) {
        self.failed_tries += 1;
        if self.failed_tries >= TRIES_MAX {
            return self.give_up(why);
        }
        let until = self.now + TRY_AGAIN_AFTER + LISTEN.as_nanos() as u64;
        self.conductor.phase = listening(self.agents.len(), until);
    }

    /// Leaves the run as it is.
    fn give_up(&mut self, why: &str) {
        self.conductor.died = true;
        self.conductor.ends_as = Some(why.to_owned());
    }

    fn take_over(&mut self, session: &FleetSession, orphans: &Orphans) {
        let batches = self.stream.len() as u64;
        if orphans.there(session).is_empty() && batches == 0 {
            return self.give_up("nothing is left of the run");
        }
        let now = self.conductor_now();
        let (mut members, mut arrivals) = (Vec::new(), Vec::new());
        self.conductor.disk.gone.clear();
        for (number, (agent, stands)) in orphans.of(session).enumerate() {
            if stands.is_err() {
                self.conductor.disk.gone.insert(number);
                self.resumed.gone += 1;
            }
            let (sender, receiver) = channel();
            members.push(Member::resumed((agent.name.clone(), agent.incarnation), stands, sender, now));
            arrivals.push(receiver);
        }
        let term = orphans.next_term(session).unwrap();
        self.clocks.insert(term, self.conductor.clock);
        let one = &mut self.conductor;
        one.members = Members::new(invitation(), members).resuming(term, batches, now);
        one.arrivals = arrivals;
        let left = one.members.to_be_taken();
        one.phase = Phase::Taking { left, until: self.now + TAKEN_WITHIN.as_nanos() as u64 };
        self.have_taken();
        self.ask_to_obey();
    }

    /// Goes on once all agents obey this conductor; otherwise another try is made.
    pub(super) fn have_taken(&mut self) {
        let Phase::Taking { left, until } = &self.conductor.phase else { return };
        if left.is_empty() {
            return self.take_up();
        }
        if self.now >= *until {
            self.try_again("an agent does not obey");
        }
    }

    pub(super) fn ask_to_obey(&mut self) {
        if !matches!(self.conductor.phase, Phase::Taking { .. }) {
            return;
        }
        for agent in 0..self.agents.len() {
            if let Some(message) = self.repetition(agent) {
                self.send_back(agent, AgentEvent::Heard(Box::new(message)));
            }
        }
    }

    /// Takes in the data of agents that obey, and asks them for further steps.
    fn take_up(&mut self) {
        self.stream.read_anew();
        let (now, unix_ms) = (self.conductor_now(), self.now / MS);
        let one = &mut self.conductor;
        one.members.end_backlog(now);
        (one.ticked, one.phase) = (self.now, Phase::Pausing { until: u64::MAX });
        one.heard.fill(self.now);
        one.changed = (0..one.heard.len()).collect();
        one.origin = origin_of_run(&one.disk.run, now, unix_ms).unwrap();
        one.meet(self.on_loss, false);
        let open = one.disk.open.map(|open| (open, one.disk.run.steps.last().unwrap().clone()));
        let shares = open.as_ref().map(|(_, step)| step.generators.as_slice()).unwrap_or_default();
        let former: Vec<_> = one.disk.run.steps.iter().flat_map(|step| step.generators.clone()).collect();
        let peers = one.peers.as_mut().unwrap();
        peers.resume((open.as_ref().map(|(open, _)| open.index), shares), &former);
        peers.stand_by(unix_ms);
        match open {
            Some((open, step)) => {
                let known = KnownFrames::new(&one.disk.run, step.index);
                let ends = one.origin + Duration::from_nanos(open.ends_ns);
                let abandons = self.now + ends.since(now).as_nanos() as u64 + DRAINED_WITHIN;
                one.phase = Phase::Completing(Box::new(OpenStep { step, open, known, abandons }));
            }
            None => self.follow_plan(),
        }
        self.resumed.conductors += 1;
        self.repeat();
    }

    /// Goes on once the agents have ended the step that was under way.
    pub(super) fn complete_step(&mut self) {
        let over = Phase::Pausing { until: u64::MAX };
        let phase = std::mem::replace(&mut self.conductor.phase, over);
        let (Phase::Completing(open), Some(peers)) = (phase, &mut self.conductor.peers) else { return };
        let OpenStep { step, open, .. } = *open;
        let step = Step { generators: peers.shares(), ..step };
        let ended = ended_step(&self.conductor.disk.run, &self.run_plan, &step, open);
        self.conductor.reports.extend(missing_text(&ended, open));
        self.conductor.disk.end_step(ended);
        peers.kept();
        self.follow_plan();
    }

    /// Decides whether further steps are run.
    fn follow_plan(&mut self) {
        let made = Made::new(&self.conductor.disk.run, &self.run_plan);
        if not_run_text(made, &NotMade::ConductorDied).is_none() {
            self.conductor.peers = None;
        } else if made.end().is_some() {
            self.complete_file(&NotMade::ConductorDied);
        } else {
            self.conductor.phase = Phase::StandingBy { until: self.now + READY_WITHIN };
        }
    }

    /// Completes the run file, with the reason why the rest of the plan is not run.
    fn complete_file(&mut self, why: &NotMade) {
        let made = Made::new(&self.conductor.disk.run, &self.run_plan);
        self.end_run(not_run_text(made, why).unwrap());
    }

    /// Goes on once it is known of every agent whether it takes part in further steps.
    pub(super) fn have_stood_by(&mut self) {
        let Some(peers) = &mut self.conductor.peers else { return };
        let names: HashMap<String, usize> =
            (0..self.agents.len()).map(|agent| (super::name(agent), agent)).collect();
        for event in peers.give_up_undecided() {
            let (PeerEvent::Fault(text) | PeerEvent::Stop(text)) = &event else { continue };
            let agent = text.split(' ').find_map(|word| names.get(word)).unwrap();
            self.lost.push((*agent, self.now));
            self.conductor.is_stopped |= matches!(event, PeerEvent::Stop(_));
            self.conductor.reports.push(text.clone());
        }
        if let Some(peers) = &mut self.conductor.peers {
            peers.kept();
        }
        self.check_standing_by();
        let are_left = self.conductor.peers.as_ref().is_some_and(Peers::are_left);
        if !are_left {
            self.complete_file(&NotMade::NoAgents);
        } else if self.conductor.is_stopped {
            self.complete_file(&NotMade::AgentLost);
        } else {
            // The conductor connects to the target.
            self.conductor.phase = Phase::Pausing { until: self.now + self.random.within(MS..SEC) };
        }
    }

    /// Checks that each agent that stands by, and is not lost since, takes part in further steps.
    fn check_standing_by(&mut self) {
        let term = self.clocks.last_key_value().map(|(term, _)| *term);
        let mut standing_by: Vec<usize> = (0..self.agents.len()).collect();
        standing_by
            .retain(|agent| Some(self.agents[*agent].stood_by) == term && self.repetition(*agent).is_some());
        let own = self.lost.iter().filter(|(_, at)| *at == self.now).map(|(agent, _)| *agent);
        standing_by.retain(|agent| own.clone().all(|lost| lost != *agent));
        let (least, peers) = (self.scale.workers * standing_by.len() as u32, self.conductor.peers.as_ref());
        let workers = peers.map_or(0, plimsoll_conductor::peers::Peers::workers);
        let reports = &self.conductor.reports;
        assert!(workers >= least, "{standing_by:?} stand by, and {workers} workers take part: {reports:?}");
    }

    /// Checks that no agent that is gone has a share of a step of a resuming conductor, and counts the step.
    pub(super) fn note_later_step(&mut self, share: &StepShare) {
        if self.conductor.session == 0 {
            return;
        }
        let disk = &self.conductor.disk;
        let step = disk.run.steps.last().unwrap();
        for generator in &step.generators {
            let agent = super::number_of(&generator.name);
            assert!(!disk.gone.contains(&agent), "{} is gone, and is to make a share", generator.name);
        }
        let was_cut =
            |other: &Step| other.end == StepEnd::Cut && other.index < step.index && other.is_of_level(step);
        let is_repeated = disk.run.steps.iter().any(was_cut);
        self.later_steps.insert(step.index);
        self.resumed.steps += 1;
        self.resumed.repeated += u64::from(is_repeated);
        assert_eq!(share.origin, self.conductor.origin);
    }
}
