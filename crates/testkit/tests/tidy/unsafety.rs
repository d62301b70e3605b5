//! Where `unsafe` may stand: in the sources of one crate, which is small enough to be read as a whole.

use std::error::Error;

use proc_macro2::{TokenStream, TokenTree};

use super::breach::Breach;
use super::sources::Source;

const HOME: &str = "crates/sys/src/";

/// Each `unsafe` outside the sys crate's sources. Tokens are searched, so that macros count and comments do not.
pub(crate) fn unsafe_outside_sys(source: &Source) -> Result<Vec<Breach>, Box<dyn Error>> {
    if source.path.starts_with(HOME) {
        return Ok(Vec::new());
    }
    let tokens: TokenStream = source.text.parse().map_err(|error| format!("{}: {error}", source.path))?;
    let mut lines = Vec::new();
    find_unsafe(tokens, &mut lines);
    Ok(lines.into_iter().map(|line| breach(&source.path, line)).collect())
}

fn breach(path: &str, line: usize) -> Breach {
    Breach {
        file: path.to_owned(),
        line,
        rule: "unsafe code lives in crates/sys/src",
        advice: "offer what is needed as a safe function of the sys crate and call that".into(),
    }
}

fn find_unsafe(tokens: TokenStream, lines: &mut Vec<usize>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => find_unsafe(group.stream(), lines),
            TokenTree::Ident(ident) if ident == "unsafe" => lines.push(ident.span().start().line),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str = "fn peek() {\n    macro_call!(unsafe { read() });\n}";

    #[test]
    fn an_unsafe_block_is_a_breach_outside_sys_also_within_a_macro() {
        let breaches = unsafe_outside_sys(&Source::new("crates/engine/src/worker.rs", BLOCK)).unwrap();
        assert_eq!((breaches.len(), breaches[0].line), (1, 2));
        assert_eq!(unsafe_outside_sys(&Source::new("crates/sys/tests/a.rs", BLOCK)).unwrap().len(), 1);
        assert!(unsafe_outside_sys(&Source::new("crates/sys/src/epoll.rs", BLOCK)).unwrap().is_empty());
    }

    #[test]
    fn the_word_in_text_or_in_a_longer_name_is_no_breach() {
        let text = "#![deny(unsafe_code)]\n// unsafe\nconst WORD: &str = \"unsafe\";";
        assert!(unsafe_outside_sys(&Source::new("a.rs", text)).unwrap().is_empty());
    }
}
