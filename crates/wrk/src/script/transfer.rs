//! Values carried from one Lua state to another.

use mlua::{Lua, Value};

/// How deep tables may be nested. A table that contains itself has no depth, and must not take the stack with it.
const DEPTH_MAX: usize = 64;

/// The same value in the state `to`: nil, a boolean, a number, a string, or a table of such.
///
/// # Errors
///
/// Anything else belongs to the state it was made in, and a table may be nested at most 64 deep.
pub(crate) fn transfer(value: &Value, to: &Lua) -> mlua::Result<Value> {
    nested(value, to, 0)
}

fn nested(value: &Value, to: &Lua, depth: usize) -> mlua::Result<Value> {
    match value {
        Value::Nil => Ok(Value::Nil),
        Value::Boolean(truth) => Ok(Value::Boolean(*truth)),
        Value::Integer(number) => Ok(Value::Integer(*number)),
        Value::Number(number) => Ok(Value::Number(*number)),
        Value::String(text) => to.create_string(&*text.as_bytes()).map(Value::String),
        Value::Table(_) if depth == DEPTH_MAX => {
            let refusal = format!("cannot transfer a table nested more than {DEPTH_MAX} deep to thread");
            Err(mlua::Error::runtime(refusal))
        }
        Value::Table(table) => {
            let copy = to.create_table()?;
            table.for_each(|key: Value, value: Value| {
                copy.raw_set(nested(&key, to, depth + 1)?, nested(&value, to, depth + 1)?)
            })?;
            Ok(Value::Table(copy))
        }
        other => {
            let refusal = format!("cannot transfer '{}' to thread", other.type_name());
            Err(mlua::Error::runtime(refusal))
        }
    }
}
