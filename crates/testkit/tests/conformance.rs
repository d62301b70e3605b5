//! The page of conformance is that of the cases and of what was recorded of other clients.
use plimsoll_testkit::conformance::{Case, Observed, Peers, Suite, Verdict, judge, page, suite};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conformance.md");

fn cases(of: Suite) -> Vec<Case> {
    suite(of).into_iter().flat_map(|group| group.cases).collect()
}

#[test]
fn the_page_is_that_of_the_cases() {
    let current = page(&suite(Suite::Http1), &suite(Suite::Http2), &Peers::load());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, &current).unwrap();
    }
    assert!(
        std::fs::read_to_string(PAGE).unwrap_or_default() == current,
        "docs/conformance.md is stale; regenerate it: UPDATE_DOCS=1 cargo test -p plimsoll-testkit --test conformance"
    );
}

#[test]
fn every_case_was_played_to_every_peer() {
    let peers = Peers::load();
    let clients: [(Suite, &[&str]); 2] =
        [(Suite::Http1, &["curl", "wrk", "h2load"]), (Suite::Http2, &["curl", "h2load"])];
    for (of, clients) in clients {
        for case in cases(of) {
            for client in clients {
                let known = peers.observed(of, &case, client).is_some();
                assert!(known, "{} of {}: run `make conformance`", case.name, of.name());
            }
        }
    }
}

#[test]
fn where_plimsoll_is_not_right_its_case_gives_the_reason() {
    for of in [Suite::Http1, Suite::Http2] {
        for case in cases(of) {
            let verdict = judge(&case, &Observed::parse(&case.plimsoll));
            let name = &case.name;
            match verdict {
                Verdict::Right => assert_eq!(case.deviation, None, "{name} is right"),
                Verdict::Wrong | Verdict::OtherCode => assert!(case.deviation.is_some(), "{name}: why?"),
                Verdict::Free => {}
            }
        }
    }
}
