//! The words for what can be wrong with a kernel while it is evaluated: message, label, note and help of each mistake.

use super::{Error, Mistake};
use crate::diagnostic::{Diagnostic, Report};
use crate::source::Span;

impl Report for Error {
    fn report(&self) -> Diagnostic {
        let mut diagnostic = self.mistake.report(self.span);
        // A recursion is the same call many times over: each place is shown once.
        let mut shown = vec![self.span];
        if let Some(span) = self.allocated.filter(|it| *it != self.span) {
            diagnostic = diagnostic.because(span, "the tensor is allocated here");
        }
        for entry in &self.trace {
            if shown.contains(&entry.span) || shown.len() > 8 {
                continue;
            }
            shown.push(entry.span);
            diagnostic = diagnostic.because(entry.span, format!("in this call of `{}`", entry.function));
        }
        diagnostic
    }
}

impl Mistake {
    fn report(&self, span: Span) -> Diagnostic {
        let error = |code: &'static str, message: &dyn std::fmt::Display| {
            Diagnostic::error(code, message.to_string())
        };
        match self {
            Mistake::UndefinedName { name, suggestion } => {
                let it = error("undefined-name", &format!("the name `{name}` is not defined"));
                it.at(span, "not found in this scope").did_you_mean(span, name, suggestion.as_deref())
            }
            Mistake::Unbound { name } => error("unbound-name", &format!("`{name}` is used before it is assigned"))
                .at(span, "no value yet")
                .note("a name that is assigned anywhere in a function is local to all of it"),
            Mistake::UnresolvedImport { module, name } => {
                error("unresolved-import", &format!("`{name}` comes from `{module}`, which cannot be imported here"))
                    .at(span, "used here")
                    .help("only nki, numpy, parts of the standard library and sibling files can be imported; \
                           pass what you need as an argument")
            }
            Mistake::ImportCycle { name } => {
                error("import-cycle", &format!("evaluating `{name}` needs `{name}` itself")).at(span, "used here")
            }
            Mistake::NoAttribute { of, name, suggestion } => {
                let it = error("no-attribute", &format!("{of} has no attribute `{name}`"));
                it.at(span, "unknown attribute").did_you_mean(span, name, suggestion.as_deref())
            }
            Mistake::NotCallable { kind } => {
                error("not-callable", &format!("{kind} cannot be called")).at(span, "called here")
            }
            Mistake::UnexpectedKeyword { function, name, suggestion } => {
                let it = error("unexpected-keyword", &format!("`{function}` has no keyword argument `{name}`"));
                it.at(span, "unknown keyword").did_you_mean(span, name, suggestion.as_deref())
            }
            Mistake::RepeatedArgument { name } => {
                error("repeated-argument", &format!("the argument `{name}` is given twice")).at(span, "given again here")
            }
            Mistake::MissingArgument { function, name } => {
                error("missing-argument", &format!("`{function}` needs the argument `{name}`")).at(span, "in this call")
            }
            Mistake::TooManyArguments { function, takes, given } => error(
                "too-many-arguments",
                &format!("`{function}` takes {takes} positional arguments, {given} are given"),
            )
            .at(span, "in this call"),
            Mistake::Type { message } => error("type-error", message).at(span, ""),
            Mistake::Value { message } => error("value-error", message).at(span, ""),
            Mistake::Operands { op, left, right } => {
                error("type-error", &format!("`{op}` does not work between {left} and {right}")).at(span, "")
            }
            Mistake::DivisionByZero { op } => {
                error("division-by-zero", &format!("`{op}` by zero at compile time")).at(span, "the right side is 0")
            }
            Mistake::IntegerOverflow { op } => error("integer-overflow", &format!("`{op}` overflows a 64-bit integer"))
                .at(span, "")
                .note("compile-time integers have 64 bits"),
            Mistake::IndexOutOfRange { index, length, what } => {
                error("index-out-of-range", &format!("index {index} is outside a {what} of length {length}"))
                    .at(span, "")
            }
            Mistake::MissingKey { key } => error("missing-key", &format!("the dict has no key {key}")).at(span, ""),
            Mistake::Unpack { targets, values } => {
                error("unpack-mismatch", &format!("{values} values cannot be unpacked into {targets} names")).at(span, "")
            }
            Mistake::Annotation { shape, wanted } => {
                error("annotation-mismatch", &format!("the tile has shape {shape:?}; the annotation says {wanted:?}"))
                    .at(span, "this annotation")
            }
            Mistake::Assertion { message, sides } => {
                let text = match message {
                    Some(message) => format!("assertion failed: {message}"),
                    None => "assertion failed".to_string(),
                };
                let label = match sides {
                    Some((left, op, right)) => format!("{left} {} {right} is False", op.symbol()),
                    None => "this is False".to_string(),
                };
                error("assertion-failed", &text).at(span, label)
            }
            Mistake::Raised { kind, message, .. } if message.is_empty() => {
                error("kernel-raised", &format!("the kernel raised {kind}")).at(span, "raised here")
            }
            Mistake::Raised { kind, message, .. } => {
                error("kernel-raised", &format!("the kernel raised {kind}: {message}")).at(span, "raised here")
            }
            Mistake::Unsupported { what, help } => {
                error("unsupported-syntax", &format!("{what} is not part of the kernel language"))
                    .at(span, "not supported")
                    .help(help)
            }
            Mistake::TooDeep { limit } => error(
                "nested-too-deep",
                &format!("evaluation is nested more than {limit} expressions deep"),
            )
            .at(span, "reached here")
            .help("split the expression, or end the recursion"),
            Mistake::CallsTooDeep { function, limit } => {
                error("recursion-too-deep", &format!("`{function}` is called more than {limit} calls deep"))
                    .at(span, "this call")
                    .note("calls are inlined at compile time; `--limit calls=N` is another limit")
                    .help("end the recursion with a condition that these arguments reach")
            }
            Mistake::EndlessLoop { limit } => {
                error("endless-loop", &format!("this `while` loop has run {limit} times at compile time"))
                    .at(span, "the condition never became false")
                    .note("loops are unrolled at compile time; `--limit iterations=N` is another limit")
                    .help("make the body change what the condition tests")
            }
            Mistake::AccumulateInDeviceLoop => error(
                "accumulate-unset",
                &"whether this matmul starts or continues a sum is known on the device only",
            )
            .at(span, "`accumulate` must be given here")
            .note("the first matmul on a word overwrites it; in a loop of the device no compiler knows which one that is")
            .help("pass accumulate=True after a first matmul outside the loop, or accumulate=False"),
            Mistake::RegisterTruth => error("dynamic-condition", &"a register decides a branch of the kernel")
                .at(span, "its value is known on the device only")
                .note("`if` and `and` are resolved when the kernel is compiled")
                .help("use `while register:`, nl.while_loop, or select results with a predicate"),
            Mistake::TileTruth => error("dynamic-condition", &"the elements of a tile decide a branch of the kernel")
                .at(span, "they are known on the device only, and each may decide otherwise")
                .note("`if` and `and` are resolved when the kernel is compiled; every partition runs the same instructions")
                .help("compute both sides and choose with nl.where or nisa.tensor_copy_predicated; \
                       ask whether a tile was given with `is not None`"),
            Mistake::ChangedInDeviceLoop { name, old, new } => error(
                "changed-in-device-loop",
                &format!("the body of a device loop changes the Python variable `{name}` from {old} to {new}"),
            )
            .at(span, "the device repeats the body that was compiled for the first iteration")
            .help("keep the value in a register or in a tile, or use a range that is unrolled"),
            Mistake::TooManySteps { limit } => {
                error("too-many-steps", &format!("specialising took more than {limit} statements"))
                    .at(span, "reached here")
                    .note("`--limit steps=N` is another limit")
                    .help("use fewer or larger tiles, or a loop that ends")
            }
            Mistake::NoRoom(error) => error.report(),
            Mistake::Interrupted { why } => why.report().at(span, "while this was evaluated"),
            Mistake::TooManyInstructions { limit } => {
                error("too-many-instructions", &format!("the kernel unrolls to more than {limit} instructions"))
                    .at(span, "reached here")
                    .note("`--limit instructions=N` is another limit")
                    .help("use larger tiles, or a device loop (nl.dynamic_range, nl.fori_loop)")
            }
            Mistake::TooManyPartitions { name, partitions, limit } => error(
                "too-many-partitions",
                &format!("{name} has {partitions} partitions; on-chip memory has {limit}"),
            )
            .at(span, format!("the first dimension is {partitions}"))
            .note("the first dimension of a tile in SBUF or PSUM lies across the partitions of the memory")
            .help(format!("split the first dimension into tiles of at most {limit}")),
            Mistake::OnChipRank { rank } => {
                error("insufficient-rank", &format!("a tile in SBUF or PSUM needs at least 2 dimensions, this one has {rank}"))
                    .at(span, "")
                    .note("the first dimension is the partition dimension, the others lie inside a partition")
                    .help("write (partitions, 1) for a column")
            }
            Mistake::ReplicaGroup { message, help } => {
                error("bad-replica-group", message).at(span, "").help(help)
            }
            Mistake::BadShape { message } => error("bad-shape", message).at(span, ""),
            Mistake::OutOfBounds { dim, start, stop, size } => error(
                "out-of-bounds",
                &format!("{start}:{stop} is outside dimension {dim}, which has {size} elements"),
            )
            .at(span, "")
            .note("static indices are checked against the tensor; nothing is clipped")
            .help(match start < size {
                true => format!("end the slice at {size}; the last, shorter tile of a loop needs min(…, {size})"),
                false => "all of it lies behind the tensor: does the loop have an iteration too many?".to_string(),
            }),
            Mistake::ReshapeCount { from, to } => {
                let elements = to.iter().fold(1i64, |all, it| all.saturating_mul(*it));
                let had: i64 = from.iter().map(|&it| i64::from(it)).product();
                error("reshape-count", &format!("{from:?} has {had} elements and cannot become {to:?} with {elements}"))
                    .at(span, "")
            }
            Mistake::ReshapeLayout { message } => error("reshape-layout", message)
                .at(span, "")
                .note("a view moves no data: the elements must already lie in the order of the new shape")
                .help("copy the view into a tile of its own first"),
            Mistake::PatternPartitionStride { given, expected } => error(
                "pattern-partition-stride",
                &format!("the first pair of the access pattern has stride {given}; the tile has {expected} elements per partition"),
            )
            .at(span, "")
            .note("on chip the first pair walks the partitions, whose stride is the tile's free size")
            .help(format!("write [{expected}, partitions] as the first pair")),
            Mistake::PatternOutside { last, size } => error(
                "out-of-bounds",
                &format!("the access pattern reaches element {last}; the tensor has {size}"),
            )
            .at(span, ""),
            Mistake::View { message, help } => error("bad-view", message).at(span, "").help(help),
            Mistake::WrongOperand { op, operand, expected, given, help } => {
                let it = error("wrong-operand", &format!("`{operand}` of {op} is {expected}, not {given}"));
                let it = it.at(span, "in this call");
                match help {
                    Some(help) => it.help(help),
                    None => it,
                }
            }
            Mistake::BiasImmediate => error("bias-needs-tile", &"`bias` of an activation is a tile of shape (P, 1), not a number")
                .at(span, "in this call")
                .note("the Scalar engine of NeuronCore-v2 reads the bias from memory; immediates came with NeuronCore-v3")
                .help("make a (P, 1) tile in SBUF, nisa.memset it, and pass that"),
            Mistake::Allocation { message, help } => error("bad-allocation", message)
                .at(span, "allocated here")
                .help(help.clone()),
            Mistake::DtypeKeyword { dtype, dst } => error(
                "dtype-keyword",
                &format!("`dtype={dtype}` differs from the destination, which is {dst}"),
            )
            .at(span, "in this call")
            .help(format!("drop `dtype=` and make `dst` a {dtype} tile")),
            Mistake::NewerOnly { what, since, help } => error(
                "not-on-this-target",
                &format!("{what} needs {since}; this target is NeuronCore-v2"),
            )
            .at(span, "")
            .help(help),
            Mistake::NlShapes { function, left, right } => error(
                "shape-mismatch",
                &format!("`{function}` cannot bring the shapes {left:?} and {right:?} together"),
            )
            .at(span, "")
            .note("a dimension of size 1 is repeated to the size of the other tile's; all others must be equal"),
            Mistake::Host { code, message, help } => {
                let it = error(code, message).at(span, "");
                match help {
                    Some(help) => it.help(help),
                    None => it,
                }
            }
            Mistake::NoKernel { names } if names.is_empty() => {
                error("no-kernel", &"the file has no function to compile").at(span, "")
            }
            Mistake::NoKernel { names } => error("no-kernel", &"the file has no function marked `@nki.jit`")
                .at(span, "")
                .help(format!("name one of its functions: FILE::{}", names.join(", FILE::"))),
            Mistake::UnknownKernel { name, suggestion } => {
                let it = error("unknown-kernel", &format!("the file has no function `{name}`")).at(span, "");
                match suggestion {
                    Some(near) => it.help(format!("did you mean `{near}`?")),
                    None => it,
                }
            }
            Mistake::SeveralKernels { names } => {
                error("several-kernels", &format!("the file has {} kernels: {}", names.len(), names.join(", ")))
                    .at(span, "the first one")
                    .help(format!("name one: FILE::{}", names[0]))
            }
            Mistake::BadArgument { name, message } => {
                error("bad-argument", &format!("argument `{name}`: {message}")).at(span, "this parameter")
            }
            Mistake::UnknownParam { name, suggestion } => {
                let message = format!("nothing is called `{name}` that could be set");
                let diagnostic = error("unknown-param", &message).note(
                    "what can be set are module-level constants and parameters of functions, of this file and of the files it imports",
                );
                match suggestion {
                    Some(it) => diagnostic.help(format!("did you mean `{it}`?")),
                    None => diagnostic,
                }
            }
            Mistake::ResultNotTensor { kind } => error(
                "result-not-a-tensor",
                &format!("the kernel returns {kind}; results are tensors in HBM"),
            )
            .at(span, "")
            .help("make the result with nl.ndarray(…, buffer=nl.shared_hbm), write it, and return it"),
            Mistake::NoResult => error("output-not-written", &"the kernel returns nothing and writes no argument")
                .at(span, "")
                .help("return a tensor made with buffer=nl.shared_hbm"),
        }
    }
}
