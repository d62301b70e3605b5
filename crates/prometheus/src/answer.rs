//! Parses answers of the API (Prometheus, *HTTP API*) into series.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::error::QueryError;

/// The number of characters shown of an answer that cannot be parsed.
const SHOWN_CHARS: usize = 120;

/// The labels of a series.
pub(crate) type Labels = BTreeMap<String, String>;

/// One series: its labels, and its samples as seconds since 1970 and value. Values that are not finite are left out, like gaps.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LabelledSeries {
    pub(crate) labels: Labels,
    pub(crate) samples: Vec<(f64, f64)>,
}

/// The result of a query, with the server's warnings.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer<T> {
    pub(crate) content: T,
    pub(crate) warnings: Vec<String>,
}

#[derive(Deserialize)]
struct Envelope {
    status: String,
    #[serde(default)]
    data: Value,
    #[serde(default, rename = "errorType")]
    error_type: String,
    #[serde(default)]
    error: String,
    #[serde(default)]
    warnings: Vec<String>,
}

#[derive(Deserialize)]
struct QueryData {
    #[serde(rename = "resultType")]
    result_type: String,
    result: Value,
}

/// A row of a matrix or of a vector.
#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    metric: Labels,
    #[serde(default)]
    values: Vec<(f64, String)>,
    #[serde(default)]
    value: Option<(f64, String)>,
    #[serde(default)]
    histograms: Vec<Value>,
    #[serde(default)]
    histogram: Option<Value>,
}

/// Parses the series of a query. Errors contain the server's name `place` and the query.
pub(crate) fn series(
    place: &str,
    query: &str,
    status: u16,
    body: &[u8],
) -> Result<Answer<Vec<LabelledSeries>>, QueryError> {
    let envelope = envelope(place, query, status, body)?;
    let no_api = |_| no_api(place, status, body);
    let data: QueryData = serde_json::from_value(envelope.data).map_err(no_api)?;
    if !matches!(data.result_type.as_str(), "matrix" | "vector") {
        return Err(QueryError::Type { query: query.to_owned(), got: format!("a {}", data.result_type) });
    }
    let rows: Vec<Row> = serde_json::from_value(data.result).map_err(no_api)?;
    let is_histogram = |row: &Row| row.histogram.is_some() || !row.histograms.is_empty();
    if rows.iter().any(is_histogram) {
        return Err(QueryError::Histograms { query: query.to_owned() });
    }
    Ok(Answer { content: rows.into_iter().map(read_row).collect(), warnings: envelope.warnings })
}

/// Parses a list of names, such as the values of a label.
pub(crate) fn names(
    place: &str,
    query: &str,
    status: u16,
    body: &[u8],
) -> Result<Answer<Vec<String>>, QueryError> {
    let envelope = envelope(place, query, status, body)?;
    let content = serde_json::from_value(envelope.data).map_err(|_| no_api(place, status, body))?;
    Ok(Answer { content, warnings: envelope.warnings })
}

/// Parses the type of a metric from its metadata, such as `counter`; `None` if the server has none.
pub(crate) fn metric_type(
    place: &str,
    name: &str,
    status: u16,
    body: &[u8],
) -> Result<Answer<Option<String>>, QueryError> {
    let envelope = envelope(place, name, status, body)?;
    let kind = envelope.data.get(name).and_then(|all| all.get(0)?.get("type")?.as_str());
    Ok(Answer { content: kind.map(str::to_owned), warnings: envelope.warnings })
}

fn envelope(place: &str, query: &str, status: u16, body: &[u8]) -> Result<Envelope, QueryError> {
    let read: Result<Envelope, _> = serde_json::from_slice(body);
    match read {
        Ok(envelope) if envelope.status == "success" => Ok(envelope),
        Ok(envelope) if envelope.status == "error" => {
            Err(QueryError::from_api(query, &envelope.error_type, envelope.error))
        }
        _ if matches!(status, 401 | 403) => Err(QueryError::Login { place: place.to_owned(), status }),
        // A rate-limiting proxy, or one without a reachable server, answers with a page of its own.
        _ if matches!(status, 429 | 500 | 502..=504) => {
            Err(QueryError::Unavailable { said: format!("status {status} of {place}") })
        }
        _ => Err(no_api(place, status, body)),
    }
}

fn no_api(place: &str, status: u16, body: &[u8]) -> QueryError {
    let text = String::from_utf8_lossy(body);
    let said: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    QueryError::NoApi { place: place.to_owned(), status, said: said.chars().take(SHOWN_CHARS).collect() }
}

fn read_row(row: Row) -> LabelledSeries {
    let all = row.values.into_iter().chain(row.value);
    let finite = |(at, text): (f64, String)| {
        let value: f64 = text.parse().ok()?;
        value.is_finite().then_some((at, value))
    };
    LabelledSeries { labels: row.metric, samples: all.filter_map(finite).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(status: u16, body: &str) -> Result<Answer<Vec<LabelledSeries>>, QueryError> {
        series("prometheus", "up", status, body.as_bytes())
    }

    #[test]
    fn values_that_are_no_numbers_are_gaps() {
        let body = r#"{"status":"success","warnings":["partial"],"data":{"resultType":"matrix","result":[
            {"metric":{"job":"a"},"values":[[1,"2.5"],[2,"NaN"],[3,"+Inf"],[4,"0"]]}]}}"#;
        let answer = read(200, body).unwrap();
        assert_eq!(answer.warnings, ["partial"]);
        assert_eq!(answer.content[0].samples, [(1.0, 2.5), (4.0, 0.0)]);
        assert_eq!(answer.content[0].labels["job"], "a");
    }

    #[test]
    fn each_kind_of_failure_is_distinguished() {
        let error = |kind: &str, text: &str| {
            read(422, &format!(r#"{{"status":"error","errorType":"{kind}","error":"{text}"}}"#)).unwrap_err()
        };
        assert!(matches!(error("bad_data", "parse error"), QueryError::Query { .. }));
        assert!(matches!(
            error("execution", "query processing would load too many samples into memory in query execution"),
            QueryError::TooMuch { .. }
        ));
        assert!(matches!(
            error("bad_data", "exceeded maximum resolution of 11,000 points"),
            QueryError::TooMuch { .. }
        ));
        assert!(matches!(error("timeout", "query timed out"), QueryError::TooMuch { .. }));
        let execution = |text: &str| error("execution", text);
        for limit in [
            "expanding series: the query exceeded the maximum number of chunks (limit: 2000000 chunks) (err-mimir-max-chunks-per-query)",
            "the query hit the max number of series limit (limit: 100000 series)",
            "rpc error: code = ResourceExhausted desc = exceeded series limit",
        ] {
            assert!(matches!(execution(limit), QueryError::TooMuch { .. }), "{limit}");
        }
        for away in ["expanding series: no store matched", "rpc error: code = Unavailable desc = closing"] {
            assert!(matches!(execution(away), QueryError::Unavailable { .. }), "{away}");
        }
        let mistake =
            "found duplicate series for the match group {__name__=\\\"container_spec_memory_limit_bytes\\\"}";
        assert!(matches!(execution(mistake), QueryError::Query { .. }));
        assert!(matches!(error("unavailable", "starting up"), QueryError::Unavailable { .. }));
        assert!(matches!(error("internal", "disk"), QueryError::Other { .. }));
        assert!(matches!(read(401, "who?").unwrap_err(), QueryError::Login { .. }));
        for status in [429, 500, 503] {
            let error = read(status, "<html>").unwrap_err();
            assert!(matches!(error, QueryError::Unavailable { .. }), "{status}");
        }
        assert!(matches!(read(200, "<html>").unwrap_err(), QueryError::NoApi { .. }));
        assert!(matches!(read(404, "404 page not found").unwrap_err(), QueryError::NoApi { .. }));
    }

    #[test]
    fn what_is_no_series_of_numbers_is_refused() {
        let of_type = |kind: &str| {
            format!(r#"{{"status":"success","data":{{"resultType":"{kind}","result":[1,"x"]}}}}"#)
        };
        assert!(matches!(read(200, &of_type("string")), Err(QueryError::Type { .. })));
        let histograms = r#"{"status":"success","data":{"resultType":"matrix","result":[
            {"metric":{},"histograms":[[1,{"count":"3"}]]}]}}"#;
        assert!(matches!(read(200, histograms), Err(QueryError::Histograms { .. })));
        let empty = r#"{"status":"success","data":{"resultType":"matrix","result":[]}}"#;
        assert!(read(200, empty).unwrap().content.is_empty());
    }
}
