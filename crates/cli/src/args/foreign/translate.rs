//! Translates command lines with options of ab and hey into command lines of Plimsoll.

use std::iter::Peekable;
use std::vec::IntoIter;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use clap::{Arg, ArgAction, Command};
use plimsoll_units::{parse_count, parse_duration};

use super::flags::{FOREIGN_FLAGS, ForeignFlag, Here, THREADS, flag};
use crate::exit::UsageError;

/// A line with Plimsoll's own options only.
#[derive(Debug)]
pub(crate) struct Translated {
    /// The line, the program's name first.
    pub(crate) line: Vec<String>,
    /// Options without effect, and why.
    pub(crate) remarks: Vec<String>,
}

/// Replaces options of ab and hey by Plimsoll's own, in lines that make one load or ask for the whole answer. Returns lines of
/// other commands unchanged.
///
/// # Errors
/// When an option, or its value, means something else here or nothing at all.
pub(crate) fn translate(root: &Command, mut line: Vec<String>) -> Result<Translated, UsageError> {
    let first = line.get(1).map(String::as_str).unwrap_or_default();
    let run = root.find_subcommand("run").unwrap_or(root);
    let (command, words) = match first {
        "run" => (run, 2),
        _ if first == "help" || root.find_subcommand(first).is_some() => {
            return Ok(Translated { line, remarks: Vec::new() });
        }
        _ => (root, 1.min(line.len())),
    };
    let args = line.split_off(words);
    let connections = connections(run, &args);
    let args = args.into_iter().peekable();
    let translated = Translated { line, remarks: Vec::new() };
    let mut reading =
        Reading { command, run, connections, args, translated, parsed: Vec::new(), cookie: None };
    reading.all()?;
    Ok(reading.translated)
}

/// Returns the value of `-c` or `--connections`, wherever it stands.
fn connections(run: &Command, args: &[String]) -> Option<u64> {
    args.iter().enumerate().find_map(|(at, arg)| {
        let attached = connections_in(run, arg)?;
        let attached = attached.strip_prefix('=').unwrap_or(attached);
        let value = if attached.is_empty() { args.get(at + 1)?.as_str() } else { attached };
        parse_count(value).ok()
    })
}

/// Returns what is attached to `-c` or `--connections` in this word. `-c` may follow letters without a value in a bundle.
fn connections_in<'a>(run: &Command, arg: &'a str) -> Option<&'a str> {
    if let Some(attached) = arg.strip_prefix("--connections") {
        return Some(attached).filter(|attached| attached.is_empty() || attached.starts_with('='));
    }
    let letters = arg.strip_prefix('-').filter(|_| long(arg).is_none())?;
    let takes_value = |letter: &char| {
        let typed = format!("-{letter}");
        match (option(run, &typed), flag(&typed)) {
            (Some(native), _) => native.get_action().takes_values(),
            (None, row) => row.is_none_or(|row| row.value.is_some()),
        }
    };
    let (at, _) = letters.char_indices().find(|(_, letter)| takes_value(letter))?;
    letters[at..].strip_prefix('c')
}

/// An option of Plimsoll that the line contains.
struct ParsedFlag {
    id: String,
    typed: String,
    /// True if it was typed as an option of ab or hey.
    borrowed: bool,
}

struct Reading<'a> {
    command: &'a Command,
    run: &'a Command,
    /// The number of connections, if it is given.
    connections: Option<u64>,
    args: Peekable<IntoIter<String>>,
    translated: Translated,
    parsed: Vec<ParsedFlag>,
    /// The index of the Cookie header in the translated line.
    cookie: Option<usize>,
}

fn option<'a>(command: &'a Command, typed: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| match typed.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short().is_some_and(|short| typed == format!("-{short}")),
    })
}

/// Returns true if this word is the value of the option before it, which takes one. An option with an optional value does not
/// take another option for it; a dash alone is no option.
fn is_value_of(native: &Arg, word: &str) -> bool {
    let may_be_left_out = native.get_num_args().is_some_and(|count| count.min_values() == 0);
    !may_be_left_out || word == "-" || !word.starts_with('-')
}

impl Reading<'_> {
    fn all(&mut self) -> Result<(), UsageError> {
        while let Some(arg) = self.args.next() {
            if arg == "--" {
                self.translated.line.push(arg);
                self.translated.line.extend(self.args.by_ref());
            } else if let Some((row, value)) = long(&arg) {
                self.borrowed(row, value)?;
            } else if arg.starts_with("--") {
                self.long_option(arg)?;
            } else if arg.starts_with('-') && arg.len() > 1 {
                self.letters(&arg)?;
            } else {
                self.translated.line.push(arg);
            }
        }
        self.note_threads();
        self.check_number_with_time()
    }

    /// ab and hey use -t for a time. If the line looks like one of theirs, adds a remark on what -t means here.
    fn note_threads(&mut self) {
        let is_theirs = self.parsed.iter().any(|flag| flag.borrowed || flag.id == "requests_count");
        if is_theirs && self.parsed.iter().any(|flag| flag.typed == "-t") {
            self.translated
                .remarks
                .push(format!("-t (ab: how long; hey: time for one request) is here: {THREADS}"));
        }
    }

    /// Refuses -n with -z: hey then ignores -n, while here the load would end at whichever comes first.
    fn check_number_with_time(&self) -> Result<(), UsageError> {
        let number = self.parsed.iter().any(|flag| flag.id == "requests_count");
        if number && self.parsed.iter().any(|flag| flag.typed == "-z") {
            return Err(refusal(
                "with -z hey ignores -n: leave -n out, or write -d instead of -z to end at \
                 whichever comes first"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    fn long_option(&mut self, arg: String) -> Result<(), UsageError> {
        let (name, attached) = arg.split_once('=').map_or((arg.as_str(), false), |(name, _)| (name, true));
        let native = option(self.command, name);
        native.map_or(Ok(()), |native| self.say(native, name, false))?;
        let wants_value = native.filter(|native| !attached && native.get_action().takes_values());
        self.translated.line.push(arg);
        let value = self.args.next_if(|word| wants_value.is_some_and(|native| is_value_of(native, word)));
        self.translated.line.extend(value);
        Ok(())
    }

    /// Translates a letter, or a bundle of letters, the last of which may be followed directly by its value.
    fn letters(&mut self, arg: &str) -> Result<(), UsageError> {
        for (at, letter) in arg.char_indices().skip(1) {
            let typed = format!("-{letter}");
            let rest = &arg[at + letter.len_utf8()..];
            let ends = match (option(self.command, &typed), flag(&typed)) {
                (Some(native), row) => self.native(native, &typed, rest, row)?,
                (None, _) if option(self.run, &typed).is_some() => return Err(one_load(&typed)),
                (None, Some(row)) => {
                    let attached = row.value.is_some() && !rest.is_empty();
                    self.borrowed(row, attached.then(|| rest.strip_prefix('=').unwrap_or(rest).to_owned()))?;
                    row.value.is_some()
                }
                // Unknown: the parser of the command line reports it.
                (None, None) => {
                    self.translated.line.push(format!("-{letter}{rest}"));
                    true
                }
            };
            if ends {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Adds an option of Plimsoll's own; returns true if the rest of the bundle was its value.
    fn native(
        &mut self,
        native: &Arg,
        typed: &str,
        rest: &str,
        row: Option<&ForeignFlag>,
    ) -> Result<bool, UsageError> {
        let wants_value = native.get_action().takes_values();
        let attached = rest.strip_prefix('=').unwrap_or(rest);
        let next = if rest.is_empty() { self.args.peek().cloned() } else { None };
        self.check_value(row, typed, next.as_deref().unwrap_or(attached))?;
        self.say(native, typed, false)?;
        if wants_value && !rest.is_empty() {
            self.translated.line.push(format!("{typed}{rest}"));
            return Ok(true);
        }
        self.translated.line.push(typed.to_owned());
        self.translated.line.extend(self.args.next_if(|word| wants_value && is_value_of(native, word)));
        Ok(false)
    }

    fn check_value(&self, row: Option<&ForeignFlag>, typed: &str, value: &str) -> Result<(), UsageError> {
        let wrong = match row.map(|row| row.here) {
            Some(Here::Own(conflict, means)) => {
                conflict.refuse(value, self.connections).map(|why| conflicting(typed, &why, means))
            }
            _ => None,
        };
        wrong.map_or(Ok(()), |words| Err(refusal(words)))
    }

    fn borrowed(&mut self, row: &'static ForeignFlag, attached: Option<String>) -> Result<(), UsageError> {
        let typed = row.spelling;
        if let Here::Refused(words) = row.here {
            return Err(refusal(format!("{typed} ({}): {words}", there(row))));
        }
        let value = match row.value {
            None => String::new(),
            Some(_) => attached.or_else(|| self.args.next()).ok_or_else(|| wants_value(row))?,
        };
        match row.here {
            Here::Means(args) => self.mean(typed, args, &value),
            Here::ContentType => self.header(typed, &content_type(typed, &value)?),
            Here::Cookie => self.cookie(typed, &value),
            Here::CredentialsOrAccept if !value.contains(':') => self.header(typed, &accept(&value)?),
            Here::Credentials | Here::CredentialsOrAccept => self.header(typed, &credentials(typed, &value)?),
            Here::NoEffect(words) => {
                let remark = format!("{typed} ({}) has no effect: {words}", there(row));
                if !self.translated.remarks.contains(&remark) {
                    self.translated.remarks.push(remark);
                }
                Ok(())
            }
            // These letters are for one load, and the line asks for the whole answer.
            Here::Same | Here::Own(..) | Here::Refused(_) => Err(one_load(typed)),
        }
    }

    /// All cookies go into one field, as RFC 6265, section 5.4 demands.
    fn cookie(&mut self, typed: &str, value: &str) -> Result<(), UsageError> {
        let before = self.cookie.and_then(|at| self.translated.line.get_mut(at));
        if let Some(field) = before {
            *field = format!("{field}; {value}");
            return Ok(());
        }
        self.header(typed, &format!("Cookie: {value}"))?;
        self.cookie = self.translated.line.len().checked_sub(1);
        Ok(())
    }

    fn header(&mut self, typed: &str, header: &str) -> Result<(), UsageError> {
        self.mean(typed, &["-H", "{}"], header)
    }

    fn mean(&mut self, typed: &str, args: &[&str], value: &str) -> Result<(), UsageError> {
        let mut args = args.iter().peekable();
        while let Some(target) = args.next() {
            let of_target = args.next_if(|arg| !arg.starts_with('-')).map(|arg| arg.replace("{}", value));
            if let Some(native) = option(self.command, target) {
                self.check_value(flag(target), target, of_target.as_deref().unwrap_or_default())?;
                self.say(native, typed, true)?;
            } else if option(self.run, target).is_some() {
                return Err(one_load(typed));
            }
            self.translated.line.push((*target).to_owned());
            self.translated.line.extend(of_target);
        }
        Ok(())
    }

    /// Records an option of Plimsoll's own; refuses two options that set the same thing in different words.
    fn say(&mut self, native: &Arg, typed: &str, borrowed: bool) -> Result<(), UsageError> {
        let id = native.get_id().to_string();
        let once = !matches!(native.get_action(), ArgAction::Append);
        if let Some(other) =
            self.parsed.iter().find(|flag| once && flag.id == id && (flag.borrowed || borrowed))
        {
            let long = native.get_long().unwrap_or(&id);
            let other = &other.typed;
            return Err(refusal(format!(
                "{other} and {typed} both stand for --{long}: leave one of them out"
            )));
        }
        self.parsed.push(ParsedFlag { id, typed: typed.to_owned(), borrowed });
        Ok(())
    }
}

/// Finds one of hey's words, after one dash or two, and the value that is attached to it.
fn long(arg: &str) -> Option<(&'static ForeignFlag, Option<String>)> {
    let (name, value) = arg.split_once('=').map_or((arg, None), |(name, value)| (name, Some(value)));
    let name = name.strip_prefix('-').filter(|name| name.starts_with('-')).unwrap_or(name);
    let row = FOREIGN_FLAGS.iter().find(|row| row.spelling.len() > "-x".len() && row.spelling == name)?;
    Some((row, value.map(ToOwned::to_owned)))
}

/// Refuses more threads than connections, as each thread needs one: ab and hey mean seconds by this letter.
///
/// # Errors
/// When there are more.
pub(crate) fn refuse_idle_threads(threads: Option<u64>, connections: u32) -> Result<(), UsageError> {
    let Some(threads) = threads.filter(|threads| *threads > u64::from(connections)) else { return Ok(()) };
    let noun = if connections == 1 { "connection" } else { "connections" };
    let why = format!(
        "`{threads}` is more than the {connections} {noun} that threads share: write -d {threads}s or --timeout \
         {threads}s for a time, or raise -c"
    );
    Err(refusal(conflicting("-t", &why, THREADS)))
}

/// Returns the error for a line that is refused.
fn refusal(why: String) -> UsageError {
    UsageError(format!("{why}; docs/ab-and-hey.md says what becomes of each option of ab and hey"))
}

/// Returns the message for a wrong value of an option with another meaning here.
fn conflicting(typed: &str, why: &str, means: &str) -> String {
    format!("{why}; here {typed} is: {means}")
}

fn one_load(typed: &str) -> UsageError {
    refusal(format!(
        "{typed} is about one load: write plimsoll run URL {typed} …; a URL alone gets a whole ladder of them"
    ))
}

fn wants_value(row: &ForeignFlag) -> UsageError {
    let (value, there) = (row.value.unwrap_or_default(), there(row));
    refusal(format!("{} ({there}) needs a value: {value}", row.spelling))
}

/// Returns what an option means in the tool that it comes from.
fn there(row: &ForeignFlag) -> String {
    if row.there.contains(':') { row.there.to_owned() } else { format!("{}: {}", row.from, row.there) }
}

/// RFC 7617, section 2: user and password, joined by a colon, in base64.
fn credentials(typed: &str, value: &str) -> Result<String, UsageError> {
    if !value.contains(':') {
        return Err(refusal(format!("{typed} needs a name and a password with a colon between them")));
    }
    Ok(format!("Authorization: Basic {}", BASE64_STANDARD.encode(value)))
}

/// Returns the header for the type of a body; wrk takes a time in this option, which is refused.
fn content_type(typed: &str, value: &str) -> Result<String, UsageError> {
    if parse_duration(value).is_ok() {
        return Err(refusal(format!("`{typed} {value}` is a time: write --timeout {value}")));
    }
    Ok(format!("Content-Type: {value}"))
}

fn accept(value: &str) -> Result<String, UsageError> {
    if value.contains('/') {
        return Ok(format!("Accept: {value}"));
    }
    Err(refusal(format!(
        "-A {value} is neither ab's user:password nor a media type for hey's header Accept; write -H 'Accept: {value}' \
         if that is meant"
    )))
}
