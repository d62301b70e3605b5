//! The response of a collector: accepted, partly accepted, or refused.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceResponse;
use plimsoll_units::escape_control;
use prost::Message;

/// The longest part of a collector's message that is shown, in characters.
const MAX_SAID_CHARS: usize = 200;

/// The body of a refusal (google.rpc.Status). Its code is not read: the HTTP status says more.
#[derive(Clone, PartialEq, Message)]
struct Refusal {
    #[prost(string, tag = "2")]
    message: String,
}

/// Checks that the collector accepted the whole message; the error says why it did not.
pub(super) fn judge(status: u16, body: &[u8]) -> Result<(), String> {
    if status != 200 {
        let said = shown(&refusal(body));
        let advice = match status {
            401 | 403 => " (give a key in OTEL_EXPORTER_OTLP_HEADERS)",
            404 => " (see that the path is right; the usual one is /v1/metrics)",
            _ => "",
        };
        return Err(format!("status {status}{said}{advice}"));
    }
    // A server that responds with 200 took the message, even if its body cannot be read.
    let answer = ExportMetricsServiceResponse::decode(body).unwrap_or_default();
    match answer.partial_success {
        Some(part) if part.rejected_data_points > 0 => {
            Err(format!("{} values refused{}", part.rejected_data_points, shown(&part.error_message)))
        }
        Some(part) if !part.error_message.is_empty() => {
            Err(format!("taken with a warning{}", shown(&part.error_message)))
        }
        _ => Ok(()),
    }
}

/// Returns the message of a refusal. Servers that are no collectors respond with plain text.
fn refusal(body: &[u8]) -> String {
    match Refusal::decode(body) {
        Ok(refusal) if !refusal.message.is_empty() => refusal.message,
        _ => String::from_utf8(body.to_vec()).unwrap_or_default(),
    }
}

fn shown(said: &str) -> String {
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let said: String = said.chars().take(MAX_SAID_CHARS).collect();
    if said.is_empty() { said } else { format!(", \"{}\"", escape_control(&said)) }
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsPartialSuccess;

    use super::*;

    fn partly(rejected_data_points: i64, message: &str) -> Vec<u8> {
        let part = ExportMetricsPartialSuccess { rejected_data_points, error_message: message.to_owned() };
        ExportMetricsServiceResponse { partial_success: Some(part) }.encode_to_vec()
    }

    #[test]
    fn an_empty_answer_and_an_empty_part_mean_that_all_was_taken() {
        assert_eq!(judge(200, b""), Ok(()));
        assert_eq!(judge(200, &partly(0, "")), Ok(()));
        assert_eq!(judge(200, b"{}"), Ok(()));
    }

    #[test]
    fn a_refused_part_and_a_warning_are_reported_with_their_message() {
        assert_eq!(judge(200, &partly(3, "too old")), Err("3 values refused, \"too old\"".to_owned()));
        assert_eq!(
            judge(200, &partly(0, "slow down")),
            Err("taken with a warning, \"slow down\"".to_owned())
        );
    }

    #[test]
    fn a_refusal_is_read_from_protobuf_or_text_and_cannot_steer_a_terminal() {
        let refusal = Refusal { message: "bad\u{1b}[31m data".to_owned() }.encode_to_vec();
        let why = judge(400, &refusal).unwrap_err();
        assert!(why.starts_with("status 400") && why.contains("data") && !why.contains('\u{1b}'), "{why}");
        assert!(judge(502, b"<h1>bad gateway</h1>").unwrap_err().contains("bad gateway"));
        assert!(judge(401, b"").unwrap_err().contains("OTEL_EXPORTER_OTLP_HEADERS"));
    }
}
