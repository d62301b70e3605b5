//! A Lua state that has the table `wrk` and has run a script file.

use std::path::Path;

use mlua::{Function, Lua, Table};

use super::address::{Address, connect, lookup};
use super::error::ScriptError;
use crate::options::Options;

const PRELUDE: &str = include_str!("prelude.lua");

/// A Lua state that is ready for its script's hooks to be called.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) lua: Lua,
    /// The table `wrk`.
    pub(crate) wrk: Table,
    /// The prelude's calls into the script, by the name of the hook.
    pub(crate) calls: Table,
}

impl State {
    /// Makes a state for the target and runs `text`, the script in the file `path`, in it.
    pub(crate) fn open(path: &Path, text: &[u8], options: &Options) -> Result<Self, ScriptError> {
        let state = Self::bare(options).map_err(|error| ScriptError::in_lua("the prelude", &error))?;
        let chunk = state.lua.load(text).set_name(format!("@{}", path.display()));
        chunk.exec().map_err(|error| ScriptError::in_lua("the file", &error))?;
        Ok(state)
    }

    fn bare(options: &Options) -> mlua::Result<Self> {
        let lua = plimsoll_sys::open_lua();
        let lookup = lua.create_function(|lua, (host, service): (String, String)| {
            lua.create_sequence_from(lookup(&host, &service).map_err(mlua::Error::external)?)
        })?;
        let connect = lua.create_function(|_, address: Address| Ok(connect(address.0).is_ok()))?;
        let calls = lua.load(PRELUDE).set_name("=wrk").call((lookup, connect))?;
        let wrk: Table = lua.globals().get("wrk")?;
        describe(&wrk, options)?;
        Ok(Self { lua, wrk, calls })
    }

    /// Whether the script has a global function of that name.
    pub(crate) fn has_hook(&self, name: &str) -> mlua::Result<bool> {
        Ok(self.lua.globals().get::<mlua::Value>(name)?.is_function())
    }

    /// Calls a function of the table `wrk`, which a script may have replaced.
    pub(crate) fn call_wrk(
        &self,
        name: &'static str,
        arguments: impl mlua::IntoLuaMulti,
    ) -> Result<(), ScriptError> {
        let called = self.wrk.get::<Function>(name).and_then(|function| function.call(arguments));
        called.map_err(|error| ScriptError::in_lua(name, &error))
    }
}

/// Fills the table `wrk` with the target and the headers of the command line.
fn describe(wrk: &Table, options: &Options) -> mlua::Result<()> {
    let url = &options.url;
    wrk.set("scheme", url.scheme.as_str())?;
    wrk.set("host", url.host.as_str())?;
    wrk.set("port", url.port.as_deref())?;
    wrk.set("path", url.path.as_str())?;
    let headers: Table = wrk.get("headers")?;
    options.headers.iter().try_for_each(|(name, value)| headers.set(name.as_str(), value.as_str()))
}
