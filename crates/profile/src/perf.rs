//! Parser for the text of `perf script -F period,ip,sym,dso`: for each sample a line with its period in nanoseconds (of the event
//! `cpu-clock`), then its frames, innermost first, and an empty line.

use crate::{Cost, ProfileError, Stacks};

/// The number of characters shown of an invalid line.
const SHOWN_CHARS: usize = 80;

pub(crate) fn parse(content: &[u8]) -> Result<Stacks, ProfileError> {
    let text = String::from_utf8_lossy(content);
    let mut stacks = Stacks::default();
    let mut sample: Option<Cost> = None;
    let mut frames: Vec<u32> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        match sample {
            None => sample = opening(line, index)?,
            Some(cost) if line.trim().is_empty() => {
                close(&mut stacks, &mut frames, cost);
                sample = None;
            }
            Some(_) => {
                let name = frame(line).ok_or_else(|| wrong(line, index))?;
                frames.push(stacks.number(&name));
            }
        }
    }
    if let Some(cost) = sample {
        close(&mut stacks, &mut frames, cost);
    }
    Ok(stacks)
}

fn close(stacks: &mut Stacks, frames: &mut Vec<u32>, cost: Cost) {
    if frames.is_empty() {
        frames.push(stacks.number("[no stack]"));
    }
    stacks.add(frames, cost);
    frames.clear();
}

/// Parses the first line of a sample. Comments, which begin with `#`, and empty lines may be between samples.
fn opening(line: &str, index: usize) -> Result<Option<Cost>, ProfileError> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let cpu_ns = line.trim_end_matches(':').trim_end().parse().map_err(|_| wrong(line, index))?;
    Ok(Some(Cost { samples: 1, cpu_ns }))
}

/// Returns the function in a line such as `  55d0c1 main.work (/usr/bin/api)`; the file if there is no symbol. A symbol may itself contain
/// spaces and parentheses.
fn frame(line: &str) -> Option<String> {
    let line = line.trim();
    let (address, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    u64::from_str_radix(address, 16).ok()?;
    let rest = rest.trim();
    // The file is in parentheses at the end, and may contain parentheses itself: ([kernel.kallsyms]), (/tmp/a (deleted)).
    let opens = rest.rfind(" (/").or_else(|| rest.rfind(" ([")).or_else(|| rest.rfind(" ("));
    let (symbol, file) = match (opens, rest.starts_with('(')) {
        (Some(at), _) => (&rest[..at], &rest[at + 1..]),
        (None, true) => ("", rest),
        (None, false) => (rest, ""),
    };
    let file = file.strip_prefix('(').and_then(|file| file.strip_suffix(')')).unwrap_or(file);
    let file = file.rsplit('/').next().unwrap_or(file);
    match (symbol.trim(), file) {
        ("" | "[unknown]", "" | "[unknown]") => Some("[unknown]".to_owned()),
        ("" | "[unknown]", file) => Some(format!("[unknown] ({file})")),
        (symbol, _) => Some(symbol.to_owned()),
    }
}

fn wrong(line: &str, index: usize) -> ProfileError {
    ProfileError::Line { line: index + 1, text: line.trim().chars().take(SHOWN_CHARS).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# captured by hand
  10101010 
	  4a0c work (/usr/bin/api)
	  1b20 main.(*Server).serve (inlined) (/usr/bin/api)
	ffff81 do_syscall_64 ([kernel.kallsyms])
	  7f00 [unknown] (/usr/lib/libc.so.6)

  10101010: 
	     0 [unknown] ([unknown])

  10101010 

";

    #[test]
    fn each_sample_is_a_stack_with_its_period() {
        let stacks = parse(TEXT.as_bytes()).unwrap();
        let seen: Vec<Vec<&str>> = stacks.iter().map(|(stack, _)| stack).collect();
        let first = vec!["[unknown] (libc.so.6)", "do_syscall_64", "main.(*Server).serve (inlined)", "work"];
        assert!(seen.contains(&first), "{seen:?}");
        assert!(seen.contains(&vec!["[unknown]"]) && seen.contains(&vec!["[no stack]"]), "{seen:?}");
        assert_eq!(stacks.total(), Cost { samples: 3, cpu_ns: 30_303_030 });
    }

    #[test]
    fn a_text_that_ends_within_a_sample_keeps_it() {
        assert_eq!(parse(b"5\n  1 main (/a)").unwrap().total().cpu_ns, 5);
        assert_eq!(parse(b"").unwrap().total(), Cost::default());
    }

    #[test]
    fn a_line_that_is_nothing_of_it_is_named() {
        let error = parse(b"5\n  1 main (/a)\n\nperf: segfault\n").unwrap_err().to_string();
        assert!(error.contains("line 4") && error.contains("segfault"), "{error}");
        assert!(parse(b"5\n  xyz main (/a)\n").unwrap_err().to_string().contains("line 2"));
    }
}
