//! Commands on their way to an agent: numbered, and resent until the agent confirms them.

use std::collections::VecDeque;

use plimsoll_conductor::peers::Command;

/// The conductor's side.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    /// Number of the first command in the queue.
    first: u64,
    queue: VecDeque<Command>,
}

impl Commands {
    /// For an agent that has received `count` commands from former conductors.
    pub(crate) fn after(count: u64) -> Self {
        Self { first: count, queue: VecDeque::new() }
    }

    pub(crate) fn add(&mut self, command: Command) {
        self.queue.push_back(command);
    }

    /// Notes that the agent has received `count` commands in all.
    pub(crate) fn confirm(&mut self, count: u64) {
        while self.first < count && self.queue.pop_front().is_some() {
            self.first += 1;
        }
    }

    /// The number of the first unconfirmed command, and all of them.
    pub(crate) fn unconfirmed(&self) -> (u64, Vec<Command>) {
        (self.first, self.queue.iter().cloned().collect())
    }
}

/// The agent's side: which commands are new.
#[derive(Debug, Default)]
pub(crate) struct Confirmed(u64);

impl Confirmed {
    /// Returns the commands that did not arrive before; `first` is the number of the first one. After a gap none is new.
    pub(crate) fn take(&mut self, first: u64, commands: Vec<Command>) -> Vec<Command> {
        let Some(known) = self.0.checked_sub(first) else { return Vec::new() };
        let new: Vec<Command> =
            commands.into_iter().skip(usize::try_from(known).unwrap_or(usize::MAX)).collect();
        self.0 += new.len() as u64;
        new
    }

    /// Number of commands received without a gap.
    pub(crate) fn count(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_arrives_once_however_often_it_is_sent() {
        let (mut commands, mut confirmed) = (Commands::default(), Confirmed::default());
        commands.add(Command::EndLoad);
        let (first, both) = commands.unconfirmed();
        assert_eq!(confirmed.take(first, both.clone()), [Command::EndLoad]);
        assert!(confirmed.take(first, both).is_empty());
        commands.add(Command::Abandon);
        let (first, all) = commands.unconfirmed();
        assert_eq!(
            confirmed.take(first, all),
            [Command::Abandon],
            "the first was not confirmed yet, and is known"
        );
        commands.confirm(confirmed.count());
        assert_eq!(commands.unconfirmed(), (2, Vec::new()));
    }

    #[test]
    fn a_gap_gives_nothing() {
        let mut confirmed = Confirmed::default();
        assert!(confirmed.take(1, vec![Command::Abandon]).is_empty());
        assert_eq!(confirmed.count(), 0);
    }
}
