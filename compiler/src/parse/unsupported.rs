//! Python that parses but is never kernel code.
//!
//! Gives the noun and the rewrite for each such construct; the evaluator reports them where it reaches them, so that
//! host code in the same file does no harm.

use crate::ast::Unsupported;

pub const ASYNC_DEF: Unsupported = Unsupported {
    what: "an `async` function",
    help: "write `def`; engines and DMA queues run concurrently by themselves",
};

pub const ASYNC_WITH: Unsupported = Unsupported {
    what: "`async with`",
    help: "drop `async with`; a kernel has no event loop",
};

pub const ASYNC_FOR: Unsupported = Unsupported {
    what: "`async for`",
    help: "write `for` over `range`, `nl.affine_range` or a list",
};

pub const AWAIT: Unsupported = Unsupported {
    what: "`await`",
    help: "call the function; semaphores between engines are placed by the compiler",
};

pub const YIELD: Unsupported = Unsupported {
    what: "`yield`",
    help: "append to a list and return it, or loop where the values are used",
};

pub const MATCH: Unsupported = Unsupported {
    what: "a `match` statement",
    help: "write `if` and `elif`",
};

pub const DEL: Unsupported = Unsupported {
    what: "a `del` statement",
    help: "remove it; on-chip storage is free for reuse after its last use, and lists have `pop`",
};

pub const EXCEPT_STAR: Unsupported = Unsupported {
    what: "`except*`",
    help: "check the condition with `if` or `assert`; kernels raise no exception groups",
};

pub const TYPE_ALIAS: Unsupported = Unsupported {
    what: "a `type` alias",
    help: "assign the type to a name",
};

pub const TYPE_PARAMS: Unsupported = Unsupported {
    what: "a type parameter list",
    help: "remove the bracketed list; pass compile-time values as parameters",
};

pub const BYTES: Unsupported = Unsupported {
    what: "a bytes literal",
    help: "write a string without the prefix `b`",
};

pub const COMPLEX: Unsupported = Unsupported {
    what: "a complex number",
    help: "keep real and imaginary parts in tensors of their own",
};

pub const WIDE_INTEGER: Unsupported = Unsupported {
    what: "an integer literal of more than 64 bits",
    help: "integers go from -9223372036854775808 to 9223372036854775807 (-2**63 to 2**63 - 1)",
};
