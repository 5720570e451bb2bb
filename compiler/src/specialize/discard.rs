//! The end of values that hold values: lists in lists, chains of objects.
//!
//! Takes a value that nobody needs and takes it apart in a loop. Rust would do so by recursion, and a kernel can nest lists
//! deeper than any stack is. Whatever is still used elsewhere stays.

use super::value::Value;
use std::rc::Rc;

/// Drops a value.
pub fn discard(value: Value) {
    if !holds_values(&value) {
        return;
    }
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::List(it) => left.extend(Rc::try_unwrap(it).into_iter().flat_map(|it| it.into_inner())),
            Value::Tuple(it) => left.extend(Rc::try_unwrap(it).into_iter().flatten()),
            Value::Dict(it) | Value::Set(it) => {
                let dicts = Rc::try_unwrap(it).into_iter();
                left.extend(
                    dicts
                        .flat_map(|it| it.into_inner().into_entries())
                        .flat_map(|(key, value)| [key, value]),
                );
            }
            Value::Object(it) => left.extend(Rc::try_unwrap(it).into_iter().flat_map(|it| it.into_values())),
            _ => {}
        }
    }
}

fn holds_values(value: &Value) -> bool {
    matches!(
        value,
        Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Set(_) | Value::Object(_)
    )
}
