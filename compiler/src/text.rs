//! IR text (`.nir`): programs, placements and schedules as lines that people read, diff and write, and back.
//!
//! Takes any stage's tables and prints them, takes a file and gives the tables. Never checks the rules of
//! instructions: that is `verify`'s work, so a test can write down a wrong instruction.
//!
//! Law: `print(parse(t)) == t` for every canonical text; `parse(print(p)) == p` for every program, except that locations
//! become places in the text, and that a schedule forgets the order of instructions between queues (running the semaphores
//! gives a valid one back).
//!
//! ```text
//! file      kernel line, buffer lines, `return` line if needed, `print` lines, then `body` or any number of `queue` blocks
//! kernel    kernel %NAME for TARGET
//! buffer    (in | out | buf) %NAME: DTYPE[SIZE, …] @ MEMORY REGION? (, address=(PARTITION, BYTE))?
//! region    [START:END] in hbm, [PARTITIONS, BYTES] on chip as two START:END; all buffers have one, or none has
//!           a buffer in hbm may end with what it holds from the start: = 127*0, 1, 2.5 (COUNT*VALUE, VALUE, …)
//! print     print %BUFFER as "PREFIX", "VIEW"   shown after a run, in the order of these lines
//! registers reg %NAME, …
//! return    return %BUFFER (as NAME)?, …       left out when it lists the `out` buffers in order under their own names
//! body      body { (INSTRUCTION | LOOP) … }     without `body` and `queue` the text is an empty schedule
//! queue     queue ENGINE { (INSTRUCTION | LOOP | wait ENGINE COUNT | signal ENGINE COUNT | barrier) … }
//!             all queues have the same loops and barriers, at which they meet; counts of signals start anew there
//! loop      for %REGISTER in BOUND..BOUND (by STEP)? { … }   or   while %REGISTER { … }; a bound is a number or a register
//! instr.    VIEW <- OP TILES, NAME=VALUE, … (on ENGINE)? ASKED (~CYCLES)? (at LINE:COLUMN..LINE:COLUMN)?
//!             TILES are the row's required tiles in its order; every other operand is named. Defaults are left out, and so is
//!             the engine when it is the row's first, whatever queue the line stands in. Cycles and spans are not kept.
//! asked     (as %MARK)? (after %MARK, …)? (fixed)?   it starts when those marks are complete; `fixed`: nothing of its queue
//!             that stands on one side of it in the program runs on the other
//! view      %NAME                               all of the buffer
//!           %NAME[ITEM, …]                      an item per dimension: START:END, or INDEX, which drops the dimension
//!           %NAME[P:Q, OFFSET + COUNT*STEP + …] an access pattern, outermost first; in hbm without the partitions `P:Q`
//!           %NAME:DTYPE, %NAME:DTYPE[…]         the bytes read as another dtype, its items in elements of that dtype
//!           VIEW + %REGISTER*STRIDE of COUNT    moved at run time by so many elements, the register being below COUNT;
//!                                               TILE instead of it is its one element, rows(TILE) one for each row of VIEW
//! value     VIEW, 3, 0x3, 0.5, 1e-6, inf, neg_inf, nan, true, false, an operator's or function's name,
//!           `COUNT*STEP + …` or `0` (pattern), `1` or `(1, 2)` (axes), `(0, 64)` (pair), `auto` (accumulate),
//!           none (the operand is absent although its default is not)
//! name      %WORD, %WORD.0.3 (iterations of unrolled loops), %WORD'2 (a second one), %"any text" when it is no word
//! comment   ; to the end of the line; test directives live there (`directives`)
//! ```
//! Lines do not depend on each other's position: blanks, indentation and blank lines mean nothing.

pub mod window;

mod build;
mod declare;
mod directive;
mod error;
mod fold;
mod operand;
mod order;
mod print;
mod syntax;
mod token;

// Only the generated parser unwraps; its stacks are never empty.
lalrpop_util::lalrpop_mod!(
    #[expect(clippy::unwrap_used, reason = "generated code")]
    grammar,
    "/ir.rs"
);

pub use build::{Parsed, parse};
pub use directive::{Directive, Literal, directives};
pub use error::Error;
pub use fold::fold;
pub use print::{print, print_inst, print_view};

use crate::ir::InstId;
use crate::isa::Accumulate;
use crate::source::Sources;

/// What [`print()`] adds to the canonical text.
#[derive(Clone, Copy, Default)]
pub struct PrintOptions<'a> {
    /// Adds ` at 9:9..9:52` to every instruction that has a location, looked up here.
    pub spans: Option<&'a Sources>,
    /// Adds ` ~512`, the busy cycles of the instruction's engine.
    pub cycles: Option<&'a dyn Fn(InstId) -> u64>,
}

const ACCUMULATES: &[(Accumulate, &str)] = &[
    (Accumulate::Overwrite, "false"),
    (Accumulate::Add, "true"),
    (Accumulate::Auto, "auto"),
];

/// Values of f32 that are words; NaN, which equals nothing, is `nan`.
const SPECIAL_FLOATS: &[(f32, &str)] = &[(f32::INFINITY, "inf"), (f32::NEG_INFINITY, "neg_inf")];
