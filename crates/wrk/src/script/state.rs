//! One Lua state with the table `wrk` in it and a script file run in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mlua::{Function, Lua, Table};

use super::address::{Address, ScriptTarget, connect, lookup};
use super::error::ScriptError;

const PRELUDE: &str = include_str!("prelude.lua");

/// The file of a script, read once and run in every state.
#[derive(Debug)]
pub(crate) struct ScriptFile {
    path: PathBuf,
    text: Vec<u8>,
}

impl ScriptFile {
    pub(crate) fn read(path: &Path) -> Result<Self, ScriptError> {
        match std::fs::read(path) {
            Ok(text) => Ok(Self { path: path.to_owned(), text }),
            Err(source) => Err(ScriptError::Read { path: path.to_owned(), source }),
        }
    }
}

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
    /// Makes a state for the target and runs the script in it.
    pub(crate) fn open(source: &ScriptFile, target: &Arc<ScriptTarget>) -> Result<Self, ScriptError> {
        let state = Self::bare(target).map_err(|error| ScriptError::in_lua("the prelude", &error))?;
        let chunk = state.lua.load(source.text.as_slice()).set_name(format!("@{}", source.path.display()));
        chunk.exec().map_err(|error| ScriptError::in_lua("the file", &error))?;
        Ok(state)
    }

    fn bare(target: &Arc<ScriptTarget>) -> mlua::Result<Self> {
        let lua = plimsoll_sys::open_lua();
        let calls = lua.load(PRELUDE).set_name("=wrk").call((lookup_in(&lua, target)?, connect_in(&lua)?))?;
        let wrk: Table = lua.globals().get("wrk")?;
        describe(&wrk, target)?;
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

fn describe(wrk: &Table, target: &ScriptTarget) -> mlua::Result<()> {
    wrk.set("scheme", target.scheme.as_str())?;
    wrk.set("host", target.host.as_str())?;
    wrk.set("port", target.port.map(|port| port.to_string()))?;
    wrk.set("path", target.path.as_str())?;
    let headers: Table = wrk.get("headers")?;
    for (name, value) in &target.headers {
        headers.set(name.as_str(), value.as_str())?;
    }
    Ok(())
}

fn lookup_in(lua: &Lua, target: &Arc<ScriptTarget>) -> mlua::Result<Function> {
    let target = Arc::clone(target);
    lua.create_function(move |lua, (host, service): (String, String)| {
        let found = lookup(&target, &host, &service).map_err(mlua::Error::external)?;
        lua.create_sequence_from(found)
    })
}

fn connect_in(lua: &Lua) -> mlua::Result<Function> {
    lua.create_function(|_, address: Address| Ok(connect(address.0).is_ok()))
}
