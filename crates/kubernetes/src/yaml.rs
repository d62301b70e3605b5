//! Converts YAML to JSON values, which serde can deserialise.

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::{Map, Value};

/// Parses the first document of a text; `null` if it has none.
///
/// # Errors
/// When it is not YAML; the text says where.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    let documents = Yaml::load_from_str(text).map_err(|error| error.to_string())?;
    Ok(documents.first().map_or(Value::Null, value))
}

fn value(yaml: &Yaml<'_>) -> Value {
    match yaml {
        Yaml::Value(scalar) => of_scalar(scalar),
        Yaml::Sequence(items) => items.iter().map(value).collect(),
        Yaml::Mapping(pairs) => {
            let pairs = pairs.iter().filter_map(|(key, of)| Some((key.as_str()?.to_owned(), value(of))));
            Value::Object(pairs.collect::<Map<_, _>>())
        }
        Yaml::Representation(text, ..) => text.as_ref().into(),
        Yaml::Tagged(_, inner) => value(inner),
        Yaml::Alias(_) | Yaml::BadValue => Value::Null,
    }
}

fn of_scalar(scalar: &Scalar<'_>) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Boolean(is) => (*is).into(),
        Scalar::Integer(number) => (*number).into(),
        Scalar::FloatingPoint(number) => number.into_inner().into(),
        Scalar::String(text) => text.as_ref().into(),
    }
}
