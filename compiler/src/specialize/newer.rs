//! Keywords of instructions that only newer NeuronCores have.
//!
//! Takes the keywords of a call that are no operands, refuses by name what the target lacks. Whether the others fit the
//! instruction is `bind.rs`'s question.

use super::error::{Error, Mistake, Result};
use super::library;
use super::value::Value;
use crate::source::Span;
use std::rc::Rc;

/// The value of a keyword; some libraries spell a mode by its number.
pub fn named_mode(name: &str, value: &Value) -> Value {
    library::member_of_number(name, value).unwrap_or_else(|| value.clone())
}

/// Refuses keywords that ask for what only newer NeuronCores have.
pub fn refuse_newer(extra: &[(Rc<str>, Value)], span: Span) -> Result<()> {
    for (name, value) in extra {
        let (what, since, help) = match (&**name, named_mode(name, value)) {
            ("priority" | "dst_idx" | "perf_mode", Value::None) => continue,
            ("dst_idx", _) => (
                "`dst_idx`",
                "NeuronCore-v3",
                "find the positions with nc_find_index8 before replacing",
            ),
            ("priority", _) => ("`priority`", "NeuronCore-v4", "drop it"),
            ("dge_mode", Value::Member(it)) if it.name == "hwdge" => (
                "`dge_mode.hwdge`",
                "NeuronCore-v3",
                "use dge_mode.none, or drop it",
            ),
            ("perf_mode", Value::Member(it)) if it.kind == "matmul_perf_mode" && it.name == "none" => {
                continue;
            }
            ("perf_mode", _) => ("`perf_mode`", "NeuronCore-v3", "drop it"),
            _ => continue,
        };
        let (what, help) = (what.to_string(), help.to_string());
        return Err(Error::new(Mistake::NewerOnly { what, since, help }, span));
    }
    Ok(())
}
