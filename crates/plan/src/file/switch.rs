//! The switches of a plan file: parts of a service that are turned on and off to measure their cost.

use toml::de::DeValue;

use super::entry::Entry;
use super::error::Result;
use super::section::Section;

/// Something that `plimsoll ablate` turns on and off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    pub name: String,
    pub turn: Turn,
}

/// How a switch is turned on and off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// A header of each request, in the form `Name: value`.
    Header(Positions),
    /// A part of the query of each request, in the form `name=value`.
    Query(Positions),
    /// An environment variable of the commands of a lab host, `NAME=value`; the host is restarted.
    Environment { host: String, positions: Positions },
    /// A shell command to run before the load, on a lab host; `None` for this machine.
    Command { host: Option<String>, positions: Positions },
}

/// The settings for on and off; `None` sets or runs nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Positions {
    pub on: Option<String>,
    pub off: Option<String>,
}

/// The combinations of switches to measure.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Combinations {
    /// The default for the number of switches.
    #[default]
    Usual,
    All,
    /// These combinations: for each switch, in order, whether it is on.
    Given(Vec<Vec<bool>>),
}

/// The most switches that can be measured in all combinations: 1024 runs a round.
const MAX_COMBINATIONS: usize = 10;

impl Positions {
    /// The setting for on or off.
    pub fn at(&self, on: bool) -> Option<&str> {
        if on { self.on.as_deref() } else { self.off.as_deref() }
    }
}

pub(super) fn switches(file: &Section<'_>) -> Result<Vec<Switch>> {
    let mut switches: Vec<Switch> = Vec::new();
    for section in file.sections("switch", &["name", "header", "query", "env", "command", "host"])? {
        let entry = section.needed("name")?;
        let name = entry.name()?;
        if switches.iter().any(|known| known.name == name) {
            return Err(entry.wrong("a name that no other switch has"));
        }
        switches.push(Switch { name, turn: turn(&section)? });
    }
    Ok(switches)
}

/// Reads the combinations: all of them, or lists of the switches that are on.
pub(super) fn combinations(file: &Section<'_>, switches: &[Switch]) -> Result<Combinations> {
    const EXPECTED: &str = "\"all\", or a list of lists of the switches that are on, such as [[\"cache\", \"log\"], [\"cache\"], []]";
    let Some(entry) = file.get("combinations") else { return Ok(Combinations::Usual) };
    match entry.value {
        DeValue::String(text) if text == "all" && switches.len() <= MAX_COMBINATIONS => Ok(Combinations::All),
        DeValue::String(text) if text == "all" => {
            let found = format!("\"all\" of {} switches", switches.len());
            Err(entry
                .wrong_as(&found, &format!("a list of combinations, beyond {MAX_COMBINATIONS} switches")))
        }
        DeValue::Array(lists) if !lists.is_empty() => {
            let names: Vec<&str> = switches.iter().map(|switch| switch.name.as_str()).collect();
            let lists = entry.items()?;
            let given =
                lists.iter().map(|list| settings(list, &names, EXPECTED)).collect::<Result<Vec<_>>>()?;
            match (0..given.len()).find(|index| given[..*index].contains(&given[*index])) {
                Some(index) => Err(lists[index].wrong("another combination than those before it")),
                None => Ok(Combinations::Given(given)),
            }
        }
        _ => Err(entry.wrong(EXPECTED)),
    }
}

/// Reads one combination from the names of the switches that are on.
fn settings(list: &Entry<'_>, names: &[&str], expected: &str) -> Result<Vec<bool>> {
    if !list.value.is_array() {
        return Err(list.wrong(expected));
    }
    let one = |entry: &Entry<'_>| entry.one_of(names, "the name of a switch");
    let on = list.items()?.iter().map(one).collect::<Result<Vec<_>>>()?;
    Ok(names.iter().map(|name| on.iter().any(|known| known == name)).collect())
}

fn turn(section: &Section<'_>) -> Result<Turn> {
    section.at_most_one(&["header", "query", "env", "command"])?;
    let host = section.read("host", Entry::string)?;
    if let Some(entry) = section.get("header") {
        Ok(Turn::Header(positions(&entry, "a header such as \"X-Log: off\"", is_header)?))
    } else if let Some(entry) = section.get("query") {
        Ok(Turn::Query(positions(&entry, "a part of a query such as \"log=off\"", is_pair)?))
    } else if let Some(entry) = section.get("env") {
        let host = host.ok_or_else(|| section.missing("host", "the variable is of what this host runs"))?;
        let positions = positions(&entry, "a variable such as \"LOG=off\"", is_variable)?;
        Ok(Turn::Environment { host, positions })
    } else if let Some(entry) = section.get("command") {
        Ok(Turn::Command { host, positions: positions(&entry, "a shell command", |_| true)? })
    } else {
        let why =
            "a switch turns a `header`, a part of the `query`, a variable of `env`, or calls a `command`";
        Err(section.missing("header", why))
    }
}

/// Reads the settings: a single text is for on; a table has `on`, `off` or both.
fn positions(entry: &Entry<'_>, expected: &str, is_right: fn(&str) -> bool) -> Result<Positions> {
    let text = |entry: &Entry<'_>| {
        let text = entry.string().ok().filter(|text| is_right(text));
        text.ok_or_else(|| entry.wrong(expected))
    };
    if !entry.value.is_table() {
        return Ok(Positions { on: Some(text(entry)?), off: None });
    }
    let section = entry.section(&["on", "off"])?;
    let positions = Positions { on: section.read("on", text)?, off: section.read("off", text)? };
    if positions.on == positions.off {
        return Err(entry.wrong("a table whose `on` and `off` differ, such as { on = \"…\", off = \"…\" }"));
    }
    Ok(positions)
}

fn is_header(text: &str) -> bool {
    text.split_once(':').is_some_and(|(name, _)| !name.trim().is_empty())
}

fn is_pair(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c == '#' || c == '?')
}

fn is_variable(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = |name: &str| name.chars().all(letter) && !name.starts_with(|c: char| c.is_ascii_digit());
    text.split_once('=').is_some_and(|(name, _)| !name.is_empty() && is_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanFile;

    fn read(switches: &str) -> Result<Vec<Switch>, String> {
        let text = format!("[target]\nurl = \"http://web/\"\n{switches}");
        PlanFile::parse(&text).map(|file| file.switches).map_err(|error| error.to_string())
    }

    #[test]
    fn a_switch_has_one_way_and_two_positions() {
        let text = "[[switch]]\nname = \"log\"\nheader = \"X-Log: on\"\n[[switch]]\nname = \"cache\"\nhost = \"web\"\n\
                    env = { on = \"CACHE=1\", off = \"CACHE=0\" }\n[[switch]]\nname = \"pin\"\n\
                    command = { off = \"taskset -pc 0-1 1\" }\n";
        let switches = read(text).unwrap();
        let Turn::Header(log) = &switches[0].turn else { panic!("{switches:?}") };
        assert_eq!((log.at(true), log.at(false)), (Some("X-Log: on"), None));
        let Turn::Environment { host, positions } = &switches[1].turn else { panic!("{switches:?}") };
        assert_eq!((host.as_str(), positions.at(false)), ("web", Some("CACHE=0")));
        assert!(
            matches!(&switches[2].turn, Turn::Command { host: None, positions } if positions.on.is_none())
        );
    }

    const TWO: &str = "[[switch]]\nname = \"log\"\nheader = { on = \"S: log=call\", off = \"S: log=off\" }\n\
        [[switch]]\nname = \"cache\"\nquery = \"cache=1\"\n";

    fn with(before: &str, after: &str) -> Result<PlanFile, String> {
        let text = format!("{before}\n[target]\nurl = \"http://web/\"\n{TWO}{after}");
        PlanFile::parse(&text).map_err(|error| error.to_string())
    }

    #[test]
    fn combinations_are_usual_all_or_named_by_what_is_on() {
        let of = |line: &str| with(line, "").map(|file| file.combinations);
        assert_eq!(of(""), Ok(Combinations::Usual));
        assert_eq!(of("combinations = \"all\""), Ok(Combinations::All));
        let given = Combinations::Given(vec![vec![true, true], vec![false, true], vec![false, false]]);
        assert_eq!(of("combinations = [[\"cache\", \"log\"], [\"cache\"], []]"), Ok(given));
        let wrong = |value: &str| of(&format!("combinations = {value}")).unwrap_err();
        assert!(wrong("\"some\"").starts_with("line 1: `combinations` is `some`; it must be \"all\""));
        assert!(wrong("[]").contains("or a list of lists"));
        assert!(wrong("[\"log\"]").contains("or a list of lists"));
        assert!(wrong("[[\"logs\"]]").contains("did you mean `log`?"), "{}", wrong("[[\"logs\"]]"));
        assert!(wrong("[[\"log\"], [\"log\"]]").contains("another combination"));
    }

    #[test]
    fn a_variant_turns_switches_of_the_file_another_way_and_has_none_of_its_own() {
        let variant = "[[variant]]\nname = \"fixed\"\ncombinations = [[\"log\"]]\n\
            [[variant.switch]]\nname = \"log\"\nheader.on = \"S: log=batched\"\n";
        let file = with("", variant).unwrap();
        let fixed = &file.variants[0].file;
        let Turn::Header(log) = &fixed.switches[0].turn else { panic!("{fixed:?}") };
        assert_eq!((log.at(true), log.at(false)), (Some("S: log=batched"), Some("S: log=off")));
        assert_eq!(fixed.switches[1], file.switches[1]);
        assert_eq!(fixed.combinations, Combinations::Given(vec![vec![true, false]]));
        let refused = |switch: &str| with("", &variant.replace("\"log\"\nheader", switch)).unwrap_err();
        let unknown = refused("\"logs\"\nheader");
        assert!(
            unknown.contains("`variant.switch.name` is `logs`") && unknown.contains("(log)"),
            "{unknown}"
        );
        let other_way = refused("\"cache\"\nheader");
        assert!(other_way.contains("two different things"), "{other_way}");
        let none =
            "[target]\nurl = \"http://web/\"\n[[variant]]\nname = \"a\"\n[[variant.switch]]\nname = \"b\"\n";
        let error = PlanFile::parse(none).unwrap_err().to_string();
        assert!(error.contains("line 5") && error.contains("which is no switch of the file"), "{error}");
    }

    #[test]
    fn what_is_wrong_with_a_switch_is_named_with_its_line() {
        let wrong = |switch: &str| read(&format!("[[switch]]\nname = \"a\"\n{switch}")).unwrap_err();
        assert!(wrong("").contains("`switch.header` is missing"), "{}", wrong(""));
        assert!(wrong("header = \"X-Log\"").starts_with("line 5"), "{}", wrong("header = \"X-Log\""));
        assert!(wrong("env = \"A=1\"").contains("`switch.host` is missing"));
        assert!(wrong("header = \"A: b\"\nquery = \"a=b\"").contains("two different things"));
        assert!(wrong("query = { on = \"a=1\", off = \"a=1\" }").contains("differ"));
        assert!(wrong("colour = 1").contains("colour"));
        assert!(
            wrong("query = \"a=1\"\n[[switch]]\nname = \"a\"\nquery = \"b=1\"").contains("no other switch")
        );
    }
}
