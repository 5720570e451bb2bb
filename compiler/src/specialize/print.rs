//! `nl.device_print`: what a tile holds at a point of the program, shown by the emulator.
//!
//! Takes a prefix and a tensor, emits a transfer into a buffer of its own that is shown when the run is over. So a print
//! reads what the program order says, whatever order is executed, and costs the time of a transfer, as on hardware.

use super::Evaluator;
use super::builtins::required;
use super::error::{Error, Mistake, Result};
use super::eval::CallArgs;
use super::tensor::Creation;
use super::value::{Region, Value};
use crate::ir::{Print, Program, Role, View};
use crate::isa::Op;
use crate::text::print_view;

impl Evaluator<'_> {
    /// `nl.device_print(prefix, tensor)`; older kernels name the tensor `x`.
    pub fn device_print(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let names = ["print_prefix", "tensor", "x", "mask"];
        let [prefix, tensor, x, mask] = args.bind("nl.device_print", names, 1)?;
        self.no_mask(mask, span)?;
        let Value::Str(prefix) = required(prefix) else {
            let message = "the prefix of nl.device_print is a string that is known at compile time";
            return Err(Error::type_error(message, span));
        };
        let tensor = match tensor.or(x) {
            Some(it) => self.tile(&it, "nl.device_print", span)?,
            None => {
                let (function, name) = ("nl.device_print".to_string(), "tensor".into());
                return Err(Error::new(Mistake::MissingArgument { function, name }, span));
            }
        };
        let what = described(&self.program, &tensor.view);
        let src = self.in_sbuf(&tensor, span)?;
        let wanted = Creation {
            shape: src.shape().collect(),
            dtype: src.view.dtype,
            region: Region::PrivateHbm,
            name: Some("printed".into()),
            request: None,
            role: Role::Local,
        };
        let copy = self.create(wanted, span)?;
        let args = [self.view_arg(&copy), self.view_arg(&src)];
        self.put(Op::DmaCopy, &args, span)?;
        self.program.prints.push(Print {
            buffer: copy.buffer(),
            prefix: prefix.to_string(),
            what,
        });
        Ok(Value::None)
    }
}

/// A view as the kernel would write it, `t[0:2, 1:6:2]`, or as IR text when it is no slice of its tensor.
fn described(program: &Program, view: &View) -> String {
    let buffer = &program[view.buffer];
    let whole = View::whole(view.buffer, buffer);
    let Some(slices) = slices(view, &whole, buffer.memory.is_on_chip()) else {
        return print_view(program, view).split_off(1);
    };
    let name = buffer.name.to_string().split_off(1);
    if *view == whole {
        name
    } else {
        format!("{name}[{}]", slices.join(", "))
    }
}

/// The slice of each dimension of a whole tensor that a view takes.
fn slices(view: &View, whole: &View, on_chip: bool) -> Option<Vec<String>> {
    if view.dtype != whole.dtype || view.dims().len() != whole.dims().len() {
        return None;
    }
    let mut rest = view.offset;
    let mut slices = Vec::with_capacity(view.dims().len());
    for (idx, (dim, all)) in view.dims().iter().zip(whole.dims()).enumerate() {
        let (count, size, unit) = (i64::from(dim.count), i64::from(all.count), i64::from(all.stride));
        let start = if idx == 0 && on_chip {
            i64::from(view.partition)
        } else {
            let start = rest / unit;
            rest -= start * unit;
            start
        };
        let step = if count == 1 {
            1
        } else {
            i64::from(dim.stride) / unit
        };
        let stop = start + (count - 1) * step + 1;
        let is_slice = step > 0 && (count == 1 || i64::from(dim.stride) % unit == 0) && stop <= size;
        if !is_slice {
            return None;
        }
        slices.push(match (count == size, step) {
            (true, _) => ":".to_string(),
            (false, 1) => format!("{start}:{stop}"),
            _ => format!("{start}:{stop}:{step}"),
        });
    }
    (rest == 0).then_some(slices)
}
