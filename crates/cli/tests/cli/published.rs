//! `plimsoll explain --csv` on tables that other people published, against what a careful reader concludes from them.
//! `tests/cases/published/README.md` describes the tables and how an answer is scored.

use serde_json::Value;
use toml::Table;

use crate::bench::Bench;
use crate::explain::case;

/// How an answer compares with the truth.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    right: usize,
    /// It is named as an alternative.
    also: usize,
    /// Something else is named that the table does not exclude.
    partly: usize,
    unanswered: usize,
    wrong: usize,
}

fn texts(table: &Table, key: &str) -> Vec<String> {
    let all = table.get(key).and_then(toml::Value::as_array).cloned().unwrap_or_default();
    all.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn text<'a>(table: &'a Table, key: &str) -> &'a str {
    table.get(key).and_then(toml::Value::as_str).unwrap_or_default()
}

/// The limit of a verdict in the words of the tables.
fn limit(verdict: &Value) -> String {
    match verdict["limit"].as_str().unwrap() {
        "none" => "not-reached".to_owned(),
        limit => limit.to_owned(),
    }
}

/// The verdict on the last row of a group; `None` if there is none.
fn verdict(bench: &Bench, table: &Table, group: &Table) -> Option<Value> {
    let file = case(&format!("published/{}.csv", text(table, "name")));
    let throughput = text(group, "qps");
    let mut maps = texts(table, "map");
    maps.retain(|map| throughput.is_empty() || !map.starts_with("qps="));
    maps.extend((!throughput.is_empty()).then(|| format!("qps={throughput}")));
    let mut args = vec!["explain", "--csv", &file, "--json"];
    maps.iter().for_each(|map| args.extend(["--map", map]));
    let called = bench.call(&args);
    if called.code != 0 {
        return None;
    }
    let found = called.json();
    let left_out = found["left_out"].as_array().unwrap();
    let last =
        group["rows"].as_array().unwrap().iter().filter_map(toml::Value::as_integer).next_back().unwrap();
    let before = left_out.iter().filter(|row| row.as_i64().unwrap() < last).count();
    let is_there = !left_out.iter().any(|row| row.as_i64() == Some(last));
    is_there.then(|| found["rows"][last as usize - 1 - before]["verdict"].clone())
}

impl Score {
    fn add(&mut self, group: &Table, verdict: Option<&Value>) {
        let Some(verdict) = verdict else {
            self.unanswered += 1;
            return;
        };
        let (found, truth) = (limit(verdict), text(group, "limit"));
        let is_certain = group["certain"].as_bool().unwrap();
        let is_also = verdict["also"].as_array().unwrap().iter().any(|one| limit(one) == truth);
        let is_excluded = texts(group, "ruled_out").contains(&found);
        let may_be = found == truth || texts(group, "also").contains(&found);
        let place = match found.as_str() {
            "unknown" if may_be => &mut self.right,
            "unknown" if is_also => &mut self.also,
            "unknown" => &mut self.unanswered,
            _ if may_be => &mut self.right,
            _ if is_excluded || truth == "unknown" && is_certain => &mut self.wrong,
            _ if is_also => &mut self.also,
            _ => &mut self.partly,
        };
        *place += 1;
    }
}

/// The score of one half of the tables.
fn score(half: &str) -> Score {
    let all: Table =
        toml::from_str(&std::fs::read_to_string(case("published/tables.toml")).unwrap()).unwrap();
    let bench = Bench::new();
    let mut score = Score::default();
    for table in all["table"].as_array().unwrap().iter().filter_map(toml::Value::as_table) {
        for group in table["group"].as_array().unwrap().iter().filter_map(toml::Value::as_table) {
            if text(table, "half") == half {
                score.add(group, verdict(&bench, table, group).as_ref());
            }
        }
    }
    score
}

#[test]
fn published_tables_are_judged_as_a_careful_reader_judges_them() {
    let tuned = Score { right: 39, also: 0, partly: 4, unanswered: 9, wrong: 0 };
    assert_eq!(score("tuned"), tuned);
    // Judged once, after the rules were finished.
    let held_out = Score { right: 22, also: 0, partly: 1, unanswered: 36, wrong: 2 };
    assert_eq!(score("held-out"), held_out);
}
