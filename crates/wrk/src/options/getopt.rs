//! Parses an argument vector as GNU getopt does: bundled letters, abbreviated names, operands anywhere.
//!
//! Libraries for command lines have rules of their own; scripts written for wrk rely on GNU's rules and messages.

/// Which of the two programs is called: they differ in their options, and in the text after the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// A closed loop.
    Wrk,
    /// A constant rate.
    Wrk2,
}

/// An option of wrk, wrk2 or both.
struct Known {
    /// The name without its dashes.
    name: &'static str,
    letter: char,
    takes_value: bool,
    wrk2_only: bool,
}

const fn known(name: &'static str, letter: char, takes_value: bool, wrk2_only: bool) -> Known {
    Known { name, letter, takes_value, wrk2_only }
}

/// All options; the message about an ambiguous abbreviation lists them in this order.
const OPTIONS: [Known; 12] = [
    known("connections", 'c', true, false),
    known("duration", 'd', true, false),
    known("threads", 't', true, false),
    known("script", 's', true, false),
    known("header", 'H', true, false),
    known("latency", 'L', false, false),
    known("u_latency", 'U', false, true),
    known("batch_latency", 'B', false, true),
    known("timeout", 'T', true, false),
    known("help", 'h', false, false),
    known("version", 'v', false, false),
    known("rate", 'R', true, true),
];

fn options(dialect: Dialect) -> impl Iterator<Item = &'static Known> {
    OPTIONS.iter().filter(move |option| dialect == Dialect::Wrk2 || !option.wrk2_only)
}

/// A parsed argument vector.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    /// The options in the order typed, each as its letter and its value; the value is empty if the option takes none.
    pub(super) options: Vec<(char, String)>,
    /// Everything else in the order typed, wherever it stood.
    pub(super) operands: Vec<String>,
    /// The message about the first argument that is wrong; nothing after it was read.
    pub(super) complaint: Option<String>,
}

/// Parses `args`, which do not include the program's name.
pub(super) fn parse(dialect: Dialect, args: &[String]) -> Parsed {
    let mut parsed = Parsed::default();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let outcome = if arg == "--" {
            parsed.operands.extend(rest.by_ref().cloned());
            Ok(())
        } else if let Some(name) = arg.strip_prefix("--") {
            read_named(dialect, name, &mut rest).map(|option| parsed.options.push(option))
        } else if let Some(letters) = arg.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            read_letters(dialect, letters, &mut rest, &mut parsed.options)
        } else {
            parsed.operands.push(arg.clone());
            Ok(())
        };
        if let Err(complaint) = outcome {
            parsed.complaint = Some(complaint);
            break;
        }
    }
    parsed
}

fn read_named<'a>(
    dialect: Dialect,
    text: &str,
    rest: &mut impl Iterator<Item = &'a String>,
) -> Result<(char, String), String> {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    let option = find(dialect, name, text)?;
    let value = match (option.takes_value, value) {
        (false, None) => "",
        (false, Some(_)) => return Err(format!("option '--{}' doesn't allow an argument", option.name)),
        (true, Some(value)) => value,
        (true, None) => {
            rest.next().ok_or_else(|| format!("option '--{}' requires an argument", option.name))?
        }
    };
    Ok((option.letter, value.to_owned()))
}

/// Returns the option of this name, or the only one that the name abbreviates. `text` is the argument as it was typed.
fn find(dialect: Dialect, name: &str, text: &str) -> Result<&'static Known, String> {
    if let Some(exact) = options(dialect).find(|option| option.name == name) {
        return Ok(exact);
    }
    let candidates: Vec<&Known> = options(dialect).filter(|option| option.name.starts_with(name)).collect();
    match candidates.as_slice() {
        [] => Err(format!("unrecognized option '--{text}'")),
        [only] => Ok(only),
        several => {
            let names: String = several.iter().map(|option| format!(" '--{}'", option.name)).collect();
            Err(format!("option '--{text}' is ambiguous; possibilities:{names}"))
        }
    }
}

fn read_letters<'a>(
    dialect: Dialect,
    letters: &'a str,
    rest: &mut impl Iterator<Item = &'a String>,
    options: &mut Vec<(char, String)>,
) -> Result<(), String> {
    for (index, letter) in letters.char_indices() {
        let takes_value =
            takes_value(dialect, letter).ok_or_else(|| format!("invalid option -- '{letter}'"))?;
        if takes_value {
            let value = match &letters[index + letter.len_utf8()..] {
                "" => rest.next().map(String::as_str),
                attached => Some(attached),
            };
            let value = value.ok_or_else(|| format!("option requires an argument -- '{letter}'"))?;
            options.push((letter, value.to_owned()));
            return Ok(());
        }
        options.push((letter, String::new()));
    }
    Ok(())
}

/// Returns whether the option of this letter takes a value; `None` if there is no such option. wrk has no `-h`; its `-r`
/// and `-?` have no long name, and show the usage.
fn takes_value(dialect: Dialect, letter: char) -> Option<bool> {
    match letter {
        'h' => None,
        'r' | '?' => Some(false),
        _ => options(dialect).find(|option| option.letter == letter).map(|option| option.takes_value),
    }
}
