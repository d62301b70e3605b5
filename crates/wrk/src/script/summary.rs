//! The totals of a run, as the script's `done` gets them.

use mlua::{IntoLua, Lua, Value};

/// The totals of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary {
    /// How long the load ran, in microseconds.
    pub duration_us: u64,
    /// Requests that were answered.
    pub requests: u64,
    /// Bytes that were received.
    pub bytes: u64,
    /// What failed, by kind.
    pub errors: Errors,
}

/// Failures of a run, in wrk's five kinds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Errors {
    /// Connections that were not made.
    pub connect: u64,
    /// Connections that failed while a response was read.
    pub read: u64,
    /// Connections that failed while a request was written.
    pub write: u64,
    /// Responses with a status above 399.
    pub status: u64,
    /// Requests that were not answered in time.
    pub timeout: u64,
}

impl IntoLua for Summary {
    fn into_lua(self, lua: &Lua) -> mlua::Result<Value> {
        let errors = lua.create_table()?;
        errors.raw_set("connect", self.errors.connect)?;
        errors.raw_set("read", self.errors.read)?;
        errors.raw_set("write", self.errors.write)?;
        errors.raw_set("status", self.errors.status)?;
        errors.raw_set("timeout", self.errors.timeout)?;
        let summary = lua.create_table()?;
        summary.raw_set("duration", self.duration_us)?;
        summary.raw_set("requests", self.requests)?;
        summary.raw_set("bytes", self.bytes)?;
        summary.raw_set("errors", errors)?;
        Ok(Value::Table(summary))
    }
}
