//! What a client made of a case, and whether that is right.

use super::case::{Answer, Case, Right};

/// What a client made of a case.
///
/// As text: an [`Answer`], or a word for what is counted instead of a response, then what the client wrote about it in
/// HTTP/2: `200 5 keep`, `refused`, `h2_head; rst_stream PROTOCOL_ERROR`. `twice` stands for more responses than requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// The response that it counted; `None` if it counted none.
    pub answer: Option<Answer>,
    pub twice: bool,
    /// The frames that it sent in reply, without those of its requests.
    pub sent: Vec<String>,
}

impl Observed {
    /// Reads an observation as [`Observed`] describes it.
    pub fn parse(text: &str) -> Self {
        let mut parts = text.split("; ").map(str::to_owned);
        let first = parts.next().unwrap_or_default();
        let (first, twice) = first.strip_suffix(" twice").map_or((&first[..], false), |first| (first, true));
        Self { answer: Answer::parse(first), twice, sent: parts.collect() }
    }

    /// Whether a frame with this code ended a stream or, if `connection`, the connection.
    fn ended_with(&self, code: &str, connection: bool) -> bool {
        let is = |sent: &String, kind: &str| sent.strip_prefix(kind) == Some(code);
        self.sent.iter().any(|sent| is(sent, "goaway ") || (!connection && is(sent, "rst_stream ")))
    }
}

/// Whether a client made of a case what the RFC says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Right,
    /// It refused, as it has to, and gave the server no code or another one.
    OtherCode,
    Wrong,
    /// The RFC leaves it open.
    Free,
}

/// Judges what a client made of a case.
pub fn judge(case: &Case, observed: &Observed) -> Verdict {
    let refused = |code: &str, connection: bool| match observed.answer {
        Some(_) => Verdict::Wrong,
        None if observed.ended_with(code, connection) => Verdict::Right,
        None => Verdict::OtherCode,
    };
    match (&case.right, observed.answer) {
        (Right::Valid(right), Some(answer)) if fits(case, observed, &answer, right) => Verdict::Right,
        (Right::Invalid, None) => Verdict::Right,
        (Right::Valid(_), _) | (Right::Invalid, Some(_)) => Verdict::Wrong,
        (Right::Free(Some(right)), Some(answer)) if !fits(case, observed, &answer, right) => Verdict::Wrong,
        (Right::Free(_), _) => Verdict::Free,
        (Right::ConnectionError(code), _) => refused(code, true),
        (Right::StreamError(code), _) => refused(code, false),
    }
}

/// Whether it counted the right response once, and left the connection alone where it must. Where the server closes, a
/// client may find that out only when it sends again.
fn fits(case: &Case, observed: &Observed, answer: &Answer, right: &Answer) -> bool {
    let must_close = right.keep_alive == Some(false) && !case.closes;
    answer.agrees_with(right) && !observed.twice && !(must_close && answer.keep_alive == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(right: Right, closes: bool) -> Case {
        Case {
            name: "a".to_owned(),
            rule: "9112 1".to_owned(),
            why: "b".to_owned(),
            method: "GET".to_owned(),
            closes,
            resets: false,
            whole_only: false,
            right,
            plimsoll: String::new(),
            deviation: None,
            steps: Vec::new(),
        }
    }

    fn verdict(right: &Right, observed: &str) -> Verdict {
        judge(&case(right.clone(), false), &Observed::parse(observed))
    }

    #[test]
    fn a_response_has_to_be_counted_once_with_its_status_and_length() {
        let right = Right::Valid(Answer::parse("200 5 keep").unwrap());
        for accepted in ["200 5 keep", "200 5 close", "? ? keep", "2xx ? keep", "200 ? keep"] {
            assert_eq!(verdict(&right, accepted), Verdict::Right, "{accepted}");
        }
        for wrong in
            ["200 6 keep", "201 5 keep", "3xx ? keep", "refused", "malformed_head", "200 5 keep twice"]
        {
            assert_eq!(verdict(&right, wrong), Verdict::Wrong, "{wrong}");
        }
    }

    #[test]
    fn a_connection_that_must_not_be_used_again_is_judged_where_the_server_keeps_it() {
        let right = Right::Valid(Answer::parse("200 5 close").unwrap());
        let observed = Observed::parse("200 5 keep");
        assert_eq!(judge(&case(right.clone(), false), &observed), Verdict::Wrong);
        assert_eq!(judge(&case(right, true), &observed), Verdict::Right);
    }

    #[test]
    fn what_the_rfc_leaves_open_is_free_as_long_as_the_response_is_read_as_it_stands() {
        let right = Right::Free(Answer::parse("200 5 keep"));
        assert_eq!(verdict(&right, "refused"), Verdict::Free);
        assert_eq!(verdict(&right, "200 5 keep"), Verdict::Free);
        assert_eq!(verdict(&right, "200 0 keep"), Verdict::Wrong);
        assert_eq!(verdict(&Right::Free(None), "200 0 keep"), Verdict::Free);
    }

    #[test]
    fn an_error_has_the_scope_and_the_code_that_the_rfc_gives_it() {
        let stream = Right::StreamError("PROTOCOL_ERROR".to_owned());
        let connection = Right::ConnectionError("PROTOCOL_ERROR".to_owned());
        let check = |observed: &str, of_stream, of_connection| {
            assert_eq!(
                (verdict(&stream, observed), verdict(&connection, observed)),
                (of_stream, of_connection)
            );
        };
        check("refused; goaway PROTOCOL_ERROR", Verdict::Right, Verdict::Right);
        check("h2_head; rst_stream PROTOCOL_ERROR", Verdict::Right, Verdict::OtherCode);
        check("refused; goaway NO_ERROR", Verdict::OtherCode, Verdict::OtherCode);
        check("refused", Verdict::OtherCode, Verdict::OtherCode);
        check("200 5; goaway PROTOCOL_ERROR", Verdict::Wrong, Verdict::Wrong);
        assert_eq!(verdict(&Right::Invalid, "refused"), Verdict::Right);
        assert_eq!(verdict(&Right::Invalid, "200 0 close"), Verdict::Wrong);
    }
}
