//! The object `thread` that scripts hold: `thread.addr`, `thread:get`, `thread:set`, `thread:stop`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mlua::{Lua, MetaMethod, UserData, UserDataFields, UserDataMethods, Value, WeakLua};
use parking_lot::Mutex;

use super::address::Address;

/// How deep tables may be nested. A table that contains itself must not overflow the stack.
const MAX_DEPTH: usize = 64;

/// The state of a thread that the main Lua state, the thread's own and the worker share.
#[derive(Debug)]
pub(crate) struct Shared {
    address: Mutex<SocketAddr>,
    stopped: AtomicBool,
}

impl Shared {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address: Mutex::new(address), stopped: AtomicBool::new(false) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        *self.address.lock()
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn set_stopped(&self, stopped: bool) {
        self.stopped.store(stopped, Ordering::Relaxed);
    }
}

/// A thread as an object of a script, in the main state or in the thread's own.
///
/// The thread's state owns one of these itself, so the reference back must not keep the state alive.
#[derive(Clone)]
pub(crate) struct ThreadObject {
    pub(crate) lua: WeakLua,
    pub(crate) shared: Arc<Shared>,
}

impl ThreadObject {
    fn state(&self) -> mlua::Result<Lua> {
        self.lua
            .try_upgrade()
            .ok_or_else(|| mlua::Error::runtime("the thread is gone and its values with it"))
    }
}

impl UserData for ThreadObject {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("addr", |_, thread| Ok(Address(thread.shared.address())));
        fields.add_field_method_set("addr", |_, thread, address: Address| {
            *thread.shared.address.lock() = address.0;
            Ok(())
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |lua, thread, name: String| {
            let value: Value = thread.state()?.globals().get(name)?;
            transfer(&value, lua, 0)
        });
        methods.add_method("set", |_, thread, (name, value): (String, Value)| {
            let state = thread.state()?;
            state.globals().set(name, transfer(&value, &state, 0)?)
        });
        methods.add_method("stop", |_, thread, ()| {
            thread.shared.set_stopped(true);
            Ok(())
        });
        methods.add_meta_method(
            MetaMethod::NewIndex,
            |_, _, (name, _): (String, Value)| -> mlua::Result<()> {
                Err(mlua::Error::runtime(format!("cannot set '{name}' on thread: only addr can be")))
            },
        );
    }
}

/// Copies a value, found `depth` tables deep, into the state `to`.
///
/// # Errors
/// It is nested too deep, or belongs to the state it was made in: only nil, booleans, numbers, strings and tables of such
/// do not.
fn transfer(value: &Value, to: &Lua, depth: usize) -> mlua::Result<Value> {
    match value {
        Value::Nil | Value::Boolean(_) | Value::Integer(_) | Value::Number(_) => Ok(value.clone()),
        Value::String(text) => to.create_string(&*text.as_bytes()).map(Value::String),
        Value::Table(_) if depth == MAX_DEPTH => {
            let refusal = format!("cannot transfer a table nested more than {MAX_DEPTH} deep to thread");
            Err(mlua::Error::runtime(refusal))
        }
        Value::Table(table) => {
            let copy = to.create_table()?;
            table.for_each(|key: Value, value: Value| {
                copy.raw_set(transfer(&key, to, depth + 1)?, transfer(&value, to, depth + 1)?)
            })?;
            Ok(Value::Table(copy))
        }
        other => {
            let refusal = format!("cannot transfer '{}' to thread", other.type_name());
            Err(mlua::Error::runtime(refusal))
        }
    }
}
