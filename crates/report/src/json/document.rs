//! What documents are made of: the macro that defines their parts, intervals, units, and how a document is written.

use plimsoll_analyze::Estimate;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Value, json};

/// Defines the parts of a document. Each line is one field: its description, its type, and the expression that fills it from
/// the findings. The type, its JSON schema and its constructor `new` all come from this one list.
///
/// A float that is not finite is written as null by `serde_json`, and the schema lets every field of floats be null.
macro_rules! document {
    ($(
        $(#[$about:meta])*
        pub struct $name:ident($($source:ident: $from:ty),* $(,)?) {
            $($(#[$doc:meta])* $field:ident: $type:ty = $value:expr,)*
        }
    )*) => {$(
        #[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
        $(#[$about])*
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl $name {
            /// Fills the fields from the findings.
            pub fn new($($source: $from),*) -> Self {
                Self { $($field: ::std::convert::Into::into($value),)* }
            }
        }
    )*};
}

pub(crate) use document;

/// A 95 % interval; null where too little is known for one, or where a bound is not finite.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct Interval(Option<[f64; 2]>);

impl Interval {
    /// Converts both bounds, such as to another unit.
    pub fn map(self, convert: impl Fn(f64) -> f64) -> Self {
        Self(self.0.map(|bounds| bounds.map(convert)))
    }
}

impl From<Option<(f64, f64)>> for Interval {
    fn from(interval: Option<(f64, f64)>) -> Self {
        let finite = interval.filter(|(lower, upper)| lower.is_finite() && upper.is_finite());
        Self(finite.map(|(lower, upper)| [lower, upper]))
    }
}

impl From<Estimate> for Interval {
    fn from(estimate: Estimate) -> Self {
        estimate.interval.into()
    }
}

impl From<Option<Estimate>> for Interval {
    fn from(estimate: Option<Estimate>) -> Self {
        estimate.and_then(|estimate| estimate.interval).into()
    }
}

/// The value of an estimate that may be missing.
pub(super) fn value(estimate: Option<Estimate>) -> Option<f64> {
    estimate.map(|estimate| estimate.value)
}

/// Nanoseconds as milliseconds.
pub(super) fn ms(ns: f64) -> f64 {
    ns / 1e6
}

/// Seconds as microseconds.
pub(super) fn us(sec: f64) -> f64 {
    sec * 1e6
}

/// Makes one part of a document from each item.
pub(super) fn each<'a, T: 'a, D>(
    items: impl IntoIterator<Item = &'a T>,
    part: impl Fn(&'a T) -> D,
) -> Vec<D> {
    items.into_iter().map(part).collect()
}

/// Returns a document as indented JSON, with a line end.
///
/// # Errors
/// When it cannot be written as JSON. No document of this crate has a map key or a value for which that happens.
pub fn render(document: &impl Serialize) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}

/// The JSON schema of a kind of document, as published. All fields are always present.
pub fn schema_of<D: JsonSchema>() -> Value {
    let settings =
        SchemaSettings::default().for_serialize().with_transform(RecursiveTransform(nullable_floats));
    settings.into_generator().into_root_schema_for::<D>().to_value()
}

/// Lets each property that is a float be null.
fn nullable_floats(schema: &mut Schema) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(serde_json::Map::values_mut) {
        if property["type"] == "number" {
            property["type"] = json!(["number", "null"]);
        }
    }
}
