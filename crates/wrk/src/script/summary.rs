//! The arguments of the script's `done`: the totals of a run, its latencies, and the rates of its threads.

use mlua::{Lua, MetaMethod, Table, UserData, UserDataFields, UserDataMethods};

use crate::stats::{Distribution, Measured};

/// Returns the totals of a run, in microseconds, requests and bytes, with failures in wrk's five kinds.
pub(crate) fn totals(lua: &Lua, measured: &Measured) -> mlua::Result<Table> {
    let errors = &measured.errors;
    let errors = lua.create_table_from([
        ("connect", errors.connect),
        ("read", errors.read),
        ("write", errors.write),
        ("status", measured.bad_statuses),
        ("timeout", errors.timeout),
    ])?;
    let totals = lua.create_table_from([
        ("duration", measured.runtime_us),
        ("requests", measured.requests),
        ("bytes", measured.bytes),
    ])?;
    totals.raw_set("errors", errors)?;
    Ok(totals)
}

impl UserData for Distribution {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("min", |_, values| Ok(values.min()));
        fields.add_field_method_get("max", |_, values| Ok(values.max()));
        fields.add_field_method_get("mean", |_, values| Ok(values.mean()));
        fields.add_field_method_get("stdev", |_, values| Ok(values.stdev()));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("percentile", |_, values, percent: f64| Ok(values.percentile(percent)));
        methods.add_meta_method(MetaMethod::Call, |_, values, index: f64| Ok(at(values, index as usize)));
        methods.add_meta_method(MetaMethod::Len, |_, values, ()| Ok(values.pairs().len()));
    }
}

/// Returns the `index`-th distinct value, counted from 1, and how often it occurred. Beyond the last it returns 0 and the
/// number of distinct values, as in wrk.
fn at(values: &Distribution, index: usize) -> (u64, u64) {
    let pair = index.checked_sub(1).and_then(|index| values.pairs().get(index));
    pair.copied().unwrap_or((0, values.pairs().len() as u64))
}
