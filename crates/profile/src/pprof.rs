//! Parser for the protobuf of pprof, as written by Go's `/debug/pprof/profile` and many other servers.
//!
//! The messages are those of <https://github.com/google/pprof/blob/main/proto/profile.proto>, with only the fields that are needed here.
//! Texts are kept as bytes, so that a name that is not UTF-8 does not invalidate the rest.

use std::collections::HashMap;
use std::time::Duration;

use prost::Message;

use crate::{Cost, MAX_FRAMES, ProfileError, Stacks};

#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(bytes = "vec", repeated, tag = "6")]
    string_table: Vec<Vec<u8>>,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
}

/// The type and unit of a value of samples, both as indexes into the table of texts.
#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    /// The locations of the stack, innermost first.
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "3")]
    address: u64,
    /// The function of the location. There are several if functions were inlined; the innermost comes first.
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
}

/// The columns of a sample's values that hold the CPU time and the number of samples.
struct Columns {
    cpu: usize,
    /// The number of nanoseconds in the unit of CPU time.
    cpu_unit_ns: u64,
    samples: Option<usize>,
    /// The CPU time between two samples, in nanoseconds; at least 1.
    period_ns: u64,
}

pub(crate) fn parse(content: &[u8]) -> Result<Stacks, ProfileError> {
    let profile = Profile::decode(content)?;
    let columns = profile.columns()?;
    let mut stacks = Stacks::default();
    let span_ns = u64::try_from(profile.duration_nanos).ok().filter(|span_ns| *span_ns > 0);
    stacks.span = span_ns.map(Duration::from_nanos);
    let locations = profile.locations(&mut stacks)?;
    for sample in &profile.sample {
        // Further frames are dropped.
        let mut frames = Vec::with_capacity(sample.location_id.len().min(MAX_FRAMES));
        for id in &sample.location_id {
            if frames.len() >= MAX_FRAMES {
                break;
            }
            let functions = locations.get(id);
            frames.extend(functions.ok_or(ProfileError::Dangling { what: "location", id: *id })?);
        }
        let cost = profile.cost(sample, &columns);
        if cost.samples > 0 {
            stacks.add(&frames, cost);
        }
    }
    Ok(stacks)
}

impl Profile {
    fn text(&self, number: i64) -> Result<String, ProfileError> {
        let text = usize::try_from(number).ok().and_then(|number| self.string_table.get(number));
        let text = text.ok_or(ProfileError::Dangling { what: "text", id: number as u64 })?;
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    fn columns(&self) -> Result<Columns, ProfileError> {
        let kinds = self.sample_type.iter().map(|kind| Ok((self.text(kind.kind)?, self.text(kind.unit)?)));
        let kinds: Vec<(String, String)> = kinds.collect::<Result<_, ProfileError>>()?;
        let time = |kind: &str, unit: &str| unit_ns(unit).filter(|_| kind == "cpu");
        let mut columns = kinds.iter().enumerate();
        let cpu = columns.find_map(|(place, (kind, unit))| Some((place, time(kind, unit)?)));
        let (cpu, cpu_unit_ns) = cpu.ok_or_else(|| {
            let names: Vec<String> = kinds.iter().map(|(kind, unit)| format!("{kind}/{unit}")).collect();
            ProfileError::NotCpu {
                kinds: if names.is_empty() { "nothing".to_owned() } else { names.join(", ") },
            }
        })?;
        let samples = kinds.iter().position(|(kind, unit)| kind == "samples" && unit == "count");
        Ok(Columns { cpu, cpu_unit_ns, samples, period_ns: self.period_ns(cpu_unit_ns)? })
    }

    /// Returns the CPU time between two samples, in nanoseconds. Without a unit of its own, it has that of the samples.
    fn period_ns(&self, cpu_unit_ns: u64) -> Result<u64, ProfileError> {
        let unit = self.period_type.map(|kind| self.text(kind.unit)).transpose()?;
        let unit_ns = unit.and_then(|unit| unit_ns(&unit)).unwrap_or(cpu_unit_ns);
        Ok(u64::try_from(self.period).unwrap_or_default().saturating_mul(unit_ns).max(1))
    }

    /// Returns the functions of each location, innermost first.
    fn locations(&self, stacks: &mut Stacks) -> Result<HashMap<u64, Vec<u32>>, ProfileError> {
        let mut functions = HashMap::with_capacity(self.function.len());
        for function in &self.function {
            functions.insert(function.id, stacks.number(&self.text(function.name)?));
        }
        let mut locations = HashMap::with_capacity(self.location.len());
        for location in &self.location {
            let mut frames = Vec::with_capacity(location.line.len().clamp(1, MAX_FRAMES));
            for Line { function_id: id } in location.line.iter().take(MAX_FRAMES) {
                let function = functions.get(id);
                frames.push(*function.ok_or(ProfileError::Dangling { what: "function", id: *id })?);
            }
            if frames.is_empty() {
                frames.push(stacks.number(&format!("{:#x}", location.address)));
            }
            locations.insert(location.id, frames);
        }
        Ok(locations)
    }

    /// Returns the cost of a sample. If the profile does not count samples, the count follows from the period.
    fn cost(&self, sample: &Sample, columns: &Columns) -> Cost {
        let value = |column: usize| sample.value.get(column).and_then(|value| u64::try_from(*value).ok());
        let cpu_ns = value(columns.cpu).unwrap_or_default().saturating_mul(columns.cpu_unit_ns);
        let samples = columns.samples.and_then(value).unwrap_or_else(|| cpu_ns.div_ceil(columns.period_ns));
        Cost { samples, cpu_ns }
    }
}

/// Returns the number of nanoseconds in a unit; `None` if it is not a unit of time.
fn unit_ns(unit: &str) -> Option<u64> {
    match unit {
        "nanoseconds" => Some(1),
        "microseconds" => Some(1_000),
        "milliseconds" => Some(1_000_000),
        "seconds" => Some(1_000_000_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two samples in `main` → `serve` with `write` inlined into `serve` in the second.
    fn profile() -> Profile {
        let texts = ["", "samples", "count", "cpu", "nanoseconds", "main", "serve", "write"];
        let line = |function_id| Line { function_id };
        Profile {
            sample_type: vec![ValueType { kind: 1, unit: 2 }, ValueType { kind: 3, unit: 4 }],
            sample: vec![
                Sample { location_id: vec![2, 1], value: vec![3, 30_000_000] },
                Sample { location_id: vec![3, 1], value: vec![1, 10_000_000] },
            ],
            location: vec![
                Location { id: 1, address: 16, line: vec![line(1)] },
                Location { id: 2, address: 32, line: vec![line(2)] },
                Location { id: 3, address: 48, line: vec![line(3), line(2)] },
            ],
            function: (1..=3).map(|id| Function { id, name: id as i64 + 4 }).collect(),
            string_table: texts.iter().map(|text| text.as_bytes().to_vec()).collect(),
            duration_nanos: 1_500_000_000,
            period_type: None,
            period: 10_000_000,
        }
    }

    #[test]
    fn inlined_functions_are_frames_of_their_own() {
        let stacks = parse(&profile().encode_to_vec()).unwrap();
        let seen: Vec<(Vec<&str>, Cost)> = stacks.iter().collect();
        let cost = |samples| Cost { samples, cpu_ns: samples * 10_000_000 };
        assert_eq!(seen, [(vec!["main", "serve"], cost(3)), (vec!["main", "serve", "write"], cost(1))]);
        assert_eq!(stacks.span, Some(Duration::from_millis(1500)));
    }

    #[test]
    fn no_more_frames_are_unpacked_than_are_kept() {
        let mut profile = profile();
        // A hundred times a thousand million frames.
        profile.location[0].line = vec![Line { function_id: 1 }; 100_000];
        profile.sample = vec![Sample { location_id: vec![1; 10_000], value: vec![1, 10_000_000] }; 100];
        let stacks = parse(&profile.encode_to_vec()).unwrap();
        assert_eq!(stacks.iter().map(|(frames, _)| frames.len()).collect::<Vec<_>>(), [MAX_FRAMES]);
    }

    #[test]
    fn without_a_count_samples_follow_from_the_period() {
        let mut profile = profile();
        profile.sample_type.remove(0);
        for sample in &mut profile.sample {
            sample.value.remove(0);
        }
        assert_eq!(parse(&profile.encode_to_vec()).unwrap().total().samples, 4);
    }

    #[test]
    fn cpu_time_and_the_period_may_be_in_any_unit_of_time() {
        let mut profile = profile();
        profile.sample_type.remove(0);
        profile.string_table[4] = b"milliseconds".to_vec();
        profile.string_table.push(b"microseconds".to_vec());
        profile.period_type = Some(ValueType { kind: 3, unit: 8 });
        profile.period = 10_000;
        for (sample, ms) in profile.sample.iter_mut().zip([30, 10]) {
            sample.value = vec![ms];
        }
        let total = parse(&profile.encode_to_vec()).unwrap().total();
        assert_eq!(total, Cost { samples: 4, cpu_ns: 40_000_000 });
        profile.string_table[4] = b"seconds".to_vec();
        profile.sample[0].value = vec![i64::MAX];
        assert_eq!(parse(&profile.encode_to_vec()).unwrap().total().cpu_ns, u64::MAX);
    }

    #[test]
    fn a_location_without_symbols_is_named_by_its_address() {
        let mut profile = profile();
        profile.location[1].line.clear();
        let stacks = parse(&profile.encode_to_vec()).unwrap();
        assert!(stacks.functions().iter().any(|function| function.name == "0x20"));
    }

    #[test]
    fn what_is_no_cpu_profile_is_refused_by_what_it_is() {
        let mut heap = profile();
        heap.string_table[3] = b"alloc_space".to_vec();
        let error = parse(&heap.encode_to_vec()).unwrap_err().to_string();
        assert!(error.contains("samples/count, alloc_space/nanoseconds") && error.contains("CPU"), "{error}");
        let mut ticks = profile();
        ticks.string_table[4] = b"ticks".to_vec();
        let error = parse(&ticks.encode_to_vec()).unwrap_err().to_string();
        assert!(error.contains("cpu/ticks and no cpu in a unit of time"), "{error}");
        let mut cut = profile();
        cut.function.pop();
        let error = parse(&cut.encode_to_vec()).unwrap_err().to_string();
        assert!(error.contains("function 3"), "{error}");
        let page = parse(b"<html>not found</html>").unwrap_err().to_string();
        assert!(page.contains("/debug/pprof/profile"), "{page}");
    }
}
