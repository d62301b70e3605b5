//! Queries to a scripted Prometheus, and its answers.

use plimsoll_testkit::Reply;

/// From one point to the next, in seconds.
pub(crate) const STEP: usize = 60;

/// The value at a second; `None` is a gap.
pub(crate) type ValueAt<'a> = &'a dyn Fn(usize) -> Option<String>;

/// What is asked for: the path behind `/api/v1/`, and the parameters.
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) parameters: Vec<(String, String)>,
}

impl Asked {
    pub(crate) fn new(target: &str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap();
            (decoded(name), decoded(value))
        };
        Self {
            path: path.trim_start_matches("/api/v1/").to_owned(),
            parameters: query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect(),
        }
    }

    pub(crate) fn get(&self, name: &str) -> &str {
        self.parameters.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value)
    }

    pub(crate) fn is_of(&self, text: &str) -> bool {
        self.get("query").contains(text)
    }

    /// A matrix of these series: labels, and the value at each second that is asked for; none is a gap.
    pub(crate) fn matrix(&self, series: &[(&str, ValueAt<'_>)]) -> Reply {
        let second = |name: &str| self.get(name).parse::<f64>().unwrap() as usize;
        let times: Vec<usize> = (second("start")..=second("end")).step_by(second("step")).collect();
        let one = |(labels, value): &(&str, ValueAt<'_>)| {
            let values: Vec<String> =
                times.iter().filter_map(|at| Some(format!(r#"[{at},"{}"]"#, value(*at)?))).collect();
            format!(r#"{{"metric":{{{labels}}},"values":[{}]}}"#, values.join(","))
        };
        let rows: Vec<String> = series.iter().map(one).collect();
        success(&format!(r#"{{"resultType":"matrix","result":[{}]}}"#, rows.join(",")))
    }
}

/// The text of a parameter, without its percent-encoding.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).unwrap()
}

pub(crate) fn page(status: u16, body: &str) -> Reply {
    Reply::Page { status, body: body.to_owned() }
}

pub(crate) fn success(data: &str) -> Reply {
    page(200, &format!(r#"{{"status":"success","data":{data}}}"#))
}

pub(crate) fn error(status: u16, kind: &str, text: &str) -> Reply {
    page(status, &format!(r#"{{"status":"error","errorType":"{kind}","error":"{text}"}}"#))
}

pub(crate) fn vector(rows: &str) -> Reply {
    success(&format!(r#"{{"resultType":"vector","result":[{rows}]}}"#))
}

/// A rate that changes with time.
pub(crate) fn wave(at: usize) -> Option<String> {
    Some(format!("{}", 100 + at / STEP % 50))
}
