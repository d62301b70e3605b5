use super::*;
use crate::Known;

fn judge(text: &str, place: Place, csv: &str) -> Result<(), UnfitError> {
    let feeder = Feeder::from_csv(csv.as_bytes()).unwrap();
    let env = |name: &str| (name == "TOKEN").then(|| "a\r\nX-Evil: 1".to_owned());
    let known = Known { columns: feeder.columns(), env: &env };
    Template::parse(text.as_bytes(), &known).unwrap().require_fit(place, Some(&feeder))
}

#[test]
fn a_line_end_in_a_csv_value_cannot_write_another_header() {
    let csv = "id,name\n1,Ada\n2,\"x\r\nX-Evil: 1\"\n";
    let error = judge("Bearer ${csv.name}", Place::HeaderValue, csv).unwrap_err().to_string();
    assert!(error.starts_with("column `name` in line 3 of the CSV file holds byte 0x0d"), "{error}");
    assert!(!error.contains("Evil"), "{error}");
    assert_eq!(judge("Bearer ${csv.id}", Place::HeaderValue, csv), Ok(()), "only columns in use are judged");
}

#[test]
fn a_line_end_in_the_environment_cannot_write_another_header() {
    let error = judge("${env.TOKEN}", Place::HeaderValue, "id\n1\n").unwrap_err();
    assert_eq!(error, UnfitError::Text { byte: b'\r', place: Place::HeaderValue });
}

#[test]
fn a_url_takes_only_visible_ascii_and_a_header_also_spaces() {
    let csv = "q\nnew york\n";
    let error = judge("/search?q=${csv.q}", Place::Target, csv).unwrap_err().to_string();
    assert!(error.contains("0x20") && error.contains("percent-encode"), "{error}");
    assert_eq!(judge("${csv.q}", Place::HeaderValue, csv), Ok(()));
    assert_eq!(judge("/${uuid}/${counter}?t=${timestamp_ms}&n=${random(-1,1)}", Place::Target, csv), Ok(()));
}
