//! The states of a service that an ablation compares: the plan file and each of its variants.

use plimsoll_analyze::{Design, settings_of};
use plimsoll_plan::{Combinations, LoadSpec, PlanFile, Switch, Turn};
use plimsoll_units::nearest;

use super::switches::turned;

/// Why a plan file is not fit for an ablation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnfitPlan {
    #[error(
        "{0} has no switches; add [[switch]] tables, each with a name and a header, query, env or command"
    )]
    NoSwitch(String),
    #[error("all of {0} says `quick = false`, which leaves nothing for --quick")]
    NothingQuick(String),
    #[error(
        "an ablation compares runs of one number of connections: write `ladder = [64]` into [load], of several the highest is \
         taken; a rate or a search has none"
    )]
    Load,
    #[error(
        "switch `{switch}` is of the host `{host}`, which {file} does not make; its environment can only be set there{near}"
    )]
    Host {
        switch: String,
        host: String,
        file: String,
        /// A question with the host that is probably meant; may be empty.
        near: String,
    },
    #[error(
        "switch `{switch}` calls a command on the host `{host}`, which {file} does not make; leave `host` out, and write how to reach \
         it into the command{near}"
    )]
    CommandHost { switch: String, host: String, file: String, near: String },
}

/// How the combinations of an ablation are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialDesign {
    Full,
    /// None, all, each switch alone, and all but each.
    OneAtATime,
    /// The combinations that the file names.
    Named,
}

/// One state of the service.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    /// The name of the state; `None` if there is only one.
    pub(super) name: Option<String>,
    pub(super) plan: PlanFile,
    pub(super) combinations: Vec<Combination>,
}

/// One combination of a state's switches.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Combination {
    pub(super) settings: Vec<bool>,
    /// The plan with the switches set.
    pub(super) file: PlanFile,
}

impl State {
    /// The states that a pass measures: the file's own, under the file's name, then its variants.
    pub(super) fn all(file: &PlanFile, name: &str, quick: bool) -> Result<Vec<Self>, UnfitPlan> {
        let several = file.of_pass(quick).count() > 1;
        if file.of_pass(quick).next().is_none() {
            return Err(UnfitPlan::NothingQuick(name.to_owned()));
        }
        let state = |(variant, file): (Option<&str>, &PlanFile)| {
            let called = several.then(|| variant.unwrap_or(name).to_owned());
            Self::new(called, fit(file, name)?)
        };
        file.of_pass(quick).map(state).collect()
    }

    fn new(name: Option<String>, plan: PlanFile) -> Result<Self, UnfitPlan> {
        let count = plan.switches.len();
        let settings = match &plan.combinations {
            Combinations::Usual => settings_of(Design::for_switches(count), count),
            Combinations::All => settings_of(Design::Full, count),
            Combinations::Given(given) => given.clone(),
        };
        let combination = |settings: Vec<bool>| Combination { file: turned(&plan, &settings), settings };
        let combinations = settings.into_iter().map(combination).collect();
        Ok(Self { name, plan, combinations })
    }

    pub(super) fn design(&self) -> TrialDesign {
        match &self.plan.combinations {
            Combinations::Given(_) => TrialDesign::Named,
            Combinations::Usual if Design::for_switches(self.plan.switches.len()) != Design::Full => {
                TrialDesign::OneAtATime
            }
            Combinations::Usual | Combinations::All => TrialDesign::Full,
        }
    }

    pub(super) fn on(&self, settings: &[bool]) -> Vec<String> {
        let on = self.plan.switches.iter().zip(settings).filter(|(_, on)| **on);
        on.map(|(switch, _)| switch.name.clone()).collect()
    }
}

/// Checks that a switch's host is one that the file makes, before any host is started.
fn check_host(switch: &Switch, file: &PlanFile, name: &str) -> Result<(), UnfitPlan> {
    let hosts = || file.lab_hosts.iter().filter(|_| file.makes_hosts());
    let near = |host: &str| {
        let near = nearest(host, hosts().map(|known| known.name.as_str()));
        near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
    };
    let switched = |host: &str| (switch.name.clone(), host.to_owned(), name.to_owned(), near(host));
    match &switch.turn {
        Turn::Environment { host, .. }
            if !hosts().any(|known| known.name == *host && !known.run.is_empty()) =>
        {
            let (switch, host, file, near) = switched(host);
            Err(UnfitPlan::Host { switch, host, file, near })
        }
        Turn::Command { host: Some(host), .. } if !hosts().any(|known| known.name == *host) => {
            let (switch, host, file, near) = switched(host);
            Err(UnfitPlan::CommandHost { switch, host, file, near })
        }
        _ => Ok(()),
    }
}

/// The plan of one state, reduced to one number of connections.
fn fit(file: &PlanFile, name: &str) -> Result<PlanFile, UnfitPlan> {
    let mut file = file.clone();
    file.variants.clear();
    if file.switches.is_empty() {
        return Err(UnfitPlan::NoSwitch(name.to_owned()));
    }
    file.switches.iter().try_for_each(|switch| check_host(switch, &file, name))?;
    match &mut file.spec.load {
        LoadSpec::Ladder { steps: Some(steps), .. } => {
            let highest = steps.iter().copied().max().ok_or(UnfitPlan::Load)?;
            *steps = vec![highest];
        }
        _ => return Err(UnfitPlan::Load),
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCH: &str = "[[switch]]\nname = \"a\"\nquery = { on = \"a=1\", off = \"a=0\" }\n";

    fn file(rest: &str) -> PlanFile {
        PlanFile::parse(&format!("[target]\nurl = \"http://web/\"\n{rest}")).unwrap()
    }

    #[test]
    fn a_plan_without_switches_or_with_a_rate_is_refused() {
        let fit = |rest: &str| State::all(&file(rest), "f", false).map(|mut states| states.remove(0).plan);
        assert!(matches!(fit(""), Err(UnfitPlan::NoSwitch(_))));
        assert_eq!(fit(&format!("[load]\nrate = 10\n{SWITCH}")), Err(UnfitPlan::Load));
        let fitted = fit(&format!("[load]\nladder = [8, 64, 16]\n{SWITCH}")).unwrap();
        assert!(matches!(fitted.spec.load, LoadSpec::Ladder { steps: Some(steps), .. } if steps == [64]));
        let env = "[load]\nladder = [8]\n[[switch]]\nname = \"a\"\nhost = \"web\"\nenv = \"A=1\"\n";
        assert!(matches!(fit(env), Err(UnfitPlan::Host { .. })));
    }

    #[test]
    fn a_command_is_called_on_a_host_that_the_file_makes_or_on_this_machine() {
        let fit = |host: &str, hosts: &str| {
            let switch = format!("[[switch]]\nname = \"a\"\n{host}command = \"true\"\n");
            let host = "[[host]]\nname = \"api\"\n";
            State::all(
                &file(&format!("[load]\nladder = [8]\n{switch}{}", hosts.replace("HOST", host))),
                "f",
                false,
            )
        };
        let made = "HOSTrun = [\"serve\"]\n";
        let near = |states: Result<Vec<State>, UnfitPlan>| match states {
            Err(UnfitPlan::CommandHost { near, .. }) => near,
            other => panic!("{other:?}"),
        };
        assert!(near(fit("host = \"apj\"\n", made)).contains("`api`"));
        assert!(fit("host = \"api\"\n", made).is_ok() && fit("", made).is_ok() && fit("", "").is_ok());
        assert_eq!(near(fit("host = \"api\"\n", "")), "", "no host is made");
    }

    #[test]
    fn variants_are_states_with_switches_and_combinations_of_their_own() {
        let load = "[load]\nladder = [8]\n";
        let variant = "[[variant]]\nname = \"fixed\"\ncombinations = [[\"a\"]]\n[[variant.switch]]\nname = \"a\"\nquery.on = \"a=2\"\n";
        let alone = State::all(&file(&format!("{load}{SWITCH}")), "f", false).unwrap();
        assert_eq!((alone.len(), &alone[0].name), (1, &None));
        let states = State::all(&file(&format!("{load}{SWITCH}{variant}")), "f", false).unwrap();
        let urls = |state: &State| -> Vec<String> {
            state.combinations.iter().map(|combination| combination.file.spec.url.clone()).collect()
        };
        assert_eq!(states[0].name.as_deref(), Some("f"));
        assert_eq!(urls(&states[0]), ["http://web/?a=0", "http://web/?a=1"]);
        assert_eq!(
            (states[1].name.as_deref(), urls(&states[1])),
            (Some("fixed"), vec!["http://web/?a=2".to_owned()])
        );
    }

    #[test]
    fn a_quick_pass_measures_no_state_that_says_so() {
        let plan = format!("[load]\nladder = [8]\n{SWITCH}[[variant]]\nname = \"slow\"\nquick = false\n");
        let count = |quick: bool| State::all(&file(&plan), "f", quick).unwrap().len();
        assert_eq!((count(false), count(true)), (2, 1));
        let none =
            PlanFile::parse(&format!("quick = false\n[target]\nurl = \"http://web/\"\n{plan}")).unwrap();
        assert_eq!(State::all(&none, "f", true), Err(UnfitPlan::NothingQuick("f".to_owned())));
    }
}
