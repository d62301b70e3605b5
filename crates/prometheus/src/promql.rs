//! Partial parsing of PromQL: the window of a rate, the metrics that a query uses without a rate, and label matchers.

/// Units of PromQL's durations, longest names first (Prometheus, *Querying basics*, float literals and time durations).
const UNITS: [(&str, f64); 7] = [
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3_600.0),
    ("d", 86_400.0),
    ("w", 604_800.0),
    ("y", 31_536_000.0),
];
/// Functions and aggregations whose result is never a counter, whatever their argument. Names of functions of change contain these
/// words: `rate`, `increase`, `delta`.
const CHANGE_WORDS: [&str; 3] = ["rate", "increase", "delta"];
const NOT_OF_VALUES: [&str; 11] = [
    "deriv",
    "resets",
    "changes",
    "predict_linear",
    "count",
    "count_values",
    "count_over_time",
    "present_over_time",
    "absent",
    "group",
    "timestamp",
];
/// Functions of only the last two samples of a window.
const MOMENTARY: [&str; 2] = ["irate", "idelta"];
/// Keywords that precede a list of labels.
const OF_LABELS: [&str; 6] = ["by", "without", "on", "ignoring", "group_left", "group_right"];
/// Words that are neither metrics nor functions.
const OTHER_WORDS: [&str; 11] =
    ["and", "or", "unless", "atan2", "bool", "offset", "start", "end", "inf", "nan", "keep_metric_names"];
/// Aggregations, whose labels may be between the name and the parenthesis.
const AGGREGATIONS: [&str; 13] = [
    "sum",
    "avg",
    "min",
    "max",
    "count",
    "group",
    "stddev",
    "stdvar",
    "topk",
    "bottomk",
    "quantile",
    "limitk",
    "count_values",
];

/// Returns the first window of a query, `[5m]`, in PromQL and in seconds. Without one, returns the window in the name of the
/// first recording rule that ends with one, such as `job:requests:rate5m`; `None` without either.
pub(crate) fn window(query: &str) -> Option<(String, f64)> {
    let code = without_text(query);
    let Some((_, after)) = code.split_once('[') else {
        return code.split(|letter| !is_of_word(letter)).find_map(window_of_rule);
    };
    let end = after.find([']', ':'])?;
    let text = after[..end].trim();
    Some((text.to_owned(), seconds(text)?))
}

/// Returns the window at the end of a rule's name, after the word `rate`.
fn window_of_rule(name: &str) -> Option<(String, f64)> {
    let (before, text) = name.rsplit_once("rate")?;
    let is_word = before.is_empty() || before.ends_with(['_', ':']);
    let has_unit = text.ends_with(|letter: char| letter.is_ascii_alphabetic());
    let seconds = seconds(text).filter(|_| is_word && has_unit)?;
    Some((text.to_owned(), seconds))
}

/// Returns the function of a query that uses only the last two samples of a window instead of averaging over it; `None` without one.
pub(crate) fn momentary(query: &str) -> Option<&'static str> {
    let code = without_text(query);
    let mut called = code.match_indices('(').map(|(at, _)| last_word(&code[..at]));
    called.find_map(|word| MOMENTARY.into_iter().find(|function| *function == word))
}

/// Parses a duration such as `1h30m`, or a number of seconds.
fn seconds(text: &str) -> Option<f64> {
    if let Ok(number) = text.parse::<f64>() {
        return (number.is_finite() && number > 0.0).then_some(number);
    }
    let mut rest = text;
    let mut sum = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let number: f64 = rest[..end].parse().ok()?;
        let (unit, scale) = UNITS.iter().find(|(unit, _)| rest[end..].starts_with(unit))?;
        sum += number * scale;
        rest = &rest[end + unit.len()..];
    }
    (sum > 0.0).then_some(sum)
}

/// Replaces each character of string literals and comments by a space. Literals are in `"`, `'` or backticks; in the first two, a backslash
/// escapes the next character (Prometheus, *Querying basics*, string literals).
fn without_text(query: &str) -> String {
    let mut code = String::with_capacity(query.len());
    let mut letters = query.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' | '\'' | '`' => {
                code.push(' ');
                while let Some(inner) = letters.next() {
                    code.push(' ');
                    if inner == letter {
                        break;
                    }
                    if inner == '\\' && letter != '`' && letters.next().is_some() {
                        code.push(' ');
                    }
                }
            }
            '#' => {
                code.push(' ');
                code.extend(letters.by_ref().take_while(|inner| *inner != '\n').map(|_| ' '));
                code.push('\n');
            }
            letter => code.push(letter),
        }
    }
    code
}

/// Splits a selector, with or without braces, into its matchers.
pub(crate) fn matchers(selector: &str) -> Vec<&str> {
    let list = selector.trim().trim_start_matches('{').trim_end_matches('}');
    let code = without_text(list);
    let commas = list.char_indices().zip(code.chars()).filter(|(_, letter)| *letter == ',');
    let mut start = 0;
    let mut found = Vec::new();
    for end in commas.map(|((at, _), _)| at).chain([list.len()]) {
        found.push(list[start..end].trim());
        start = end + 1;
    }
    found.retain(|matcher| !matcher.is_empty());
    found
}

/// Returns the label of a matcher.
pub(crate) fn label(matcher: &str) -> &str {
    matcher.split(['=', '!']).next().unwrap_or_default().trim()
}

/// Whether the query contains a function of change, such as `rate()`.
pub(crate) fn has_changes(query: &str) -> bool {
    let code = without_text(query);
    code.split('(').any(|before| is_change(last_word(before)))
}

/// Returns the metrics that a query uses as raw values: outside of functions of change and of functions that count series.
pub(crate) fn raw_metrics(query: &str) -> Vec<String> {
    let code = without_text(query);
    let mut found: Vec<String> = Vec::new();
    // For each open parenthesis, whether a function of change applies inside it.
    let mut covers: Vec<bool> = Vec::new();
    let (mut function, mut rest) = (None, code.as_str());
    while let Some(letter) = rest.chars().next() {
        let word = word_at(rest);
        if word.is_empty() {
            match letter {
                '{' => rest = behind(rest, '}'),
                '[' => rest = behind(rest, ']'),
                letter => {
                    match letter {
                        '(' => covers
                            .push(covers.last() == Some(&true) || function.take().is_some_and(is_change)),
                        ')' => {
                            covers.pop();
                        }
                        letter if letter.is_whitespace() => {}
                        _ => function = None,
                    }
                    rest = &rest[letter.len_utf8()..];
                }
            }
            continue;
        }
        rest = &rest[word.len()..];
        let is_called = rest.trim_start().starts_with('(');
        if OF_LABELS.contains(&word) {
            rest = if is_called { behind(rest, ')') } else { rest };
        } else if is_called || AGGREGATIONS.contains(&word) {
            function = Some(word);
        } else if !letter.is_ascii_digit() && !OTHER_WORDS.contains(&word.to_ascii_lowercase().as_str()) {
            let is_new = covers.last() != Some(&true) && !found.iter().any(|known| known == word);
            found.extend(is_new.then(|| word.to_owned()));
        }
    }
    found
}

fn is_change(function: &str) -> bool {
    NOT_OF_VALUES.contains(&function) || CHANGE_WORDS.iter().any(|word| function.contains(word))
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | ':')
}

/// Returns the name or number at the beginning; empty if there is none.
fn word_at(code: &str) -> &str {
    &code[..code.find(|letter| !is_of_word(letter)).unwrap_or(code.len())]
}

/// Returns the name at the end, ignoring trailing spaces.
fn last_word(code: &str) -> &str {
    let code = code.trim_end();
    code.rsplit(|letter| !is_of_word(letter)).next().unwrap_or_default()
}

/// Returns the text after the first such bracket.
fn behind(code: &str, bracket: char) -> &str {
    code.split_once(bracket).map_or("", |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window_of(query: &str) -> Option<(String, f64)> {
        window(query)
    }

    #[test]
    fn the_window_of_a_rate_is_read() {
        let of = |text: &str, seconds: f64| Some((text.to_owned(), seconds));
        assert_eq!(window_of("sum(rate(http_requests_total{a=\"b\"}[1m]))"), of("1m", 60.0));
        assert_eq!(window_of("rate(a[1h30m])"), of("1h30m", 5_400.0));
        assert_eq!(window_of("max_over_time(a[500ms:1s])"), of("500ms", 0.5));
        assert_eq!(window_of("rate(a[ 300 ])"), of("300", 300.0));
        assert_eq!(window_of("sum(job:requests:rate5m{rate=\"rate1h\"})"), of("5m", 300.0));
        assert_eq!(window_of("job_requests_rate1h30m > 0"), of("1h30m", 5_400.0));
        assert_eq!(window_of("job:requests:sum_rate5m + rate(a[1m])"), of("1m", 60.0));
        for none in ["job:requests:rate", "job:requests:rate5", "accurate5m", "job:requests:rate5m_max"] {
            assert_eq!(window_of(none), None, "{none}");
        }
        assert_eq!(window_of("a[b]"), None);
    }

    #[test]
    fn brackets_in_strings_and_comments_are_no_window() {
        for query in [
            r#"rate(a{path=~"/[0-9]+"}[1m])"#,
            r#"rate(a{path=~"\"[2h]\\"}[1m])"#,
            "rate(a{path=~'[2h]\\'[3h]'}[1m])",
            "rate(a{path=~`[2h]\\`}[1m])",
            "# of [2h]\nrate(a{path='#'}[1m]) # not \"[3h]",
            "rate(a{path=\"für[2h]\"}[1m])",
        ] {
            assert_eq!(window_of(query), Some(("1m".to_owned(), 60.0)), "{query}");
        }
        assert_eq!(window_of(r#"a{path=~"[1m]"}"#), None);
    }

    #[test]
    fn functions_of_changes_are_found_outside_strings() {
        assert!(has_changes("sum(irate (a[1m]))") && has_changes("increase(a[1m])"));
        assert!(!has_changes(r#"sum(a{q="rate("})"#) && !has_changes("sum(moderate_total)"));
    }

    #[test]
    fn functions_of_the_last_two_samples_are_found_outside_strings() {
        assert_eq!(momentary("sum by (job) (irate (a_total[5m]))"), Some("irate"));
        assert_eq!(momentary("sum(idelta(a[5m]))"), Some("idelta"));
        assert_eq!(momentary(r#"sum(rate(a{q="irate("}[5m])) + irate"#), None);
    }

    #[test]
    fn a_selector_is_taken_apart_outside_strings() {
        let read = matchers(r#" { a = "x,y" ,b!~'"\',', c!="für,", } "#);
        assert_eq!(read, [r#"a = "x,y""#, r#"b!~'"\','"#, r#"c!="für,""#]);
        assert_eq!(read.iter().map(|matcher| label(matcher)).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert!(matchers("{}").is_empty() && matchers("").is_empty());
    }

    #[test]
    fn metrics_that_are_taken_as_they_are_have_no_function_of_changes_around_them() {
        let raw = |query: &str| raw_metrics(query).join(" ");
        assert_eq!(raw("http_requests_total"), "http_requests_total");
        assert_eq!(raw("sum by (job) (http_requests_total{a=\"rate(b)\"}) / 2"), "http_requests_total");
        assert_eq!(raw("sum(http_requests_total) without(instance) offset 5m"), "http_requests_total");
        assert_eq!(raw("sum(rate(a_total[1m])) + b_total"), "b_total");
        assert_eq!(raw("sum(rate(a_total[1m]) * on(pod) group_left(node) info)"), "info");
        assert_eq!(raw("count by (instance) (node_cpu_seconds_total{mode=\"idle\"})"), "");
        assert_eq!(raw("max_over_time(sum(increase(a_total[1m]))[1h:]) # b_total"), "");
        assert_eq!(raw("a:b_total > bool 0 or 1e3 * a:b_total - Inf"), "a:b_total");
    }
}
