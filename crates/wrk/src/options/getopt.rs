//! The GNU way of reading an argument vector: bundled letters, abbreviated names, operands anywhere.
//!
//! Libraries for command lines read their own dialects; scripts written for wrk rely on this one, with its words.

/// An option that has a name.
pub(super) struct Named {
    /// The name, without its dashes.
    pub(super) name: &'static str,
    /// The letter it stands for.
    pub(super) letter: char,
    /// Whether a value follows.
    pub(super) takes_value: bool,
}

/// The options of a program.
pub(super) struct Table {
    /// The options with names. An ambiguous abbreviation lists them in this order.
    pub(super) named: &'static [Named],
    /// The letters; one that takes a value is followed by a colon.
    pub(super) letters: &'static str,
}

/// An argument vector, sorted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parsed {
    /// The options in their order, each as its letter and its value, which is empty for one that takes none.
    pub(super) options: Vec<(char, String)>,
    /// Everything else in its order, wherever it stood.
    pub(super) operands: Vec<String>,
    /// What is wrong with the first argument that could not be understood; nothing after it was read.
    pub(super) complaint: Option<String>,
}

impl Table {
    /// Sorts `args`, which do not include the program's name.
    pub(super) fn parse(&self, args: &[String]) -> Parsed {
        let mut parsed = Parsed::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let outcome = if arg == "--" {
                parsed.operands.extend(rest.by_ref().cloned());
                Ok(())
            } else if let Some(name) = arg.strip_prefix("--") {
                self.read_named(name, &mut rest).map(|option| parsed.options.push(option))
            } else if let Some(letters) = arg.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                self.read_letters(letters, &mut rest, &mut parsed.options)
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
        &self,
        text: &str,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(char, String), String> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let named = self.find(name, text)?;
        let value = match (named.takes_value, value) {
            (false, None) => String::new(),
            (false, Some(_)) => return Err(format!("option '--{}' doesn't allow an argument", named.name)),
            (true, Some(value)) => value.to_owned(),
            (true, None) => rest
                .next()
                .cloned()
                .ok_or_else(|| format!("option '--{}' requires an argument", named.name))?,
        };
        Ok((named.letter, value))
    }

    /// The option of this name, or the only one that the name abbreviates. `text` is the argument as it was typed.
    fn find(&self, name: &str, text: &str) -> Result<&Named, String> {
        if let Some(exact) = self.named.iter().find(|named| named.name == name) {
            return Ok(exact);
        }
        let candidates: Vec<&Named> =
            self.named.iter().filter(|named| named.name.starts_with(name)).collect();
        match candidates.as_slice() {
            [] => Err(format!("unrecognized option '--{text}'")),
            [only] => Ok(only),
            several => {
                let names: Vec<String> = several.iter().map(|named| format!(" '--{}'", named.name)).collect();
                Err(format!("option '--{text}' is ambiguous; possibilities:{}", names.concat()))
            }
        }
    }

    fn read_letters<'a>(
        &self,
        letters: &str,
        rest: &mut impl Iterator<Item = &'a String>,
        options: &mut Vec<(char, String)>,
    ) -> Result<(), String> {
        for (index, letter) in letters.char_indices() {
            let takes_value =
                self.takes_value(letter).ok_or_else(|| format!("invalid option -- '{letter}'"))?;
            if takes_value {
                let attached = &letters[index + letter.len_utf8()..];
                let value = match attached {
                    "" => rest.next().map(String::as_str),
                    value => Some(value),
                };
                let value = value.ok_or_else(|| format!("option requires an argument -- '{letter}'"))?;
                options.push((letter, value.to_owned()));
                return Ok(());
            }
            options.push((letter, String::new()));
        }
        Ok(())
    }

    /// Whether the option of this letter takes a value, or `None` if there is no such option.
    fn takes_value(&self, letter: char) -> Option<bool> {
        let (_, after) = self.letters.split_once(letter).filter(|_| letter != ':')?;
        Some(after.starts_with(':'))
    }
}
