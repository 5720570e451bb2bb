//! Programs of the kernel language by its grammar: classes, loops, comprehensions, helpers, exceptions, tiles; with wrong
//! types and wrong sizes now and then.
//!
//! Gives text that parses nearly always and means nothing: what is wanted is an answer to it, never a panic.

use super::mutate::Dice;
use std::fmt::Write;

/// Names that a program may use; some are never bound.
const NAMES: &[&str] = &["a", "b", "c", "n", "xs", "obj", "f", "t", "x", "y", "K"];
const UNARY: &[&str] = &["-", "+", "~", "not "];
const BINARY: &[&str] = &[
    "+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^", "<", "<=", "==", "!=", ">", ">=",
    "in", "not in", "is", "is not", "and", "or",
];
const AUGMENTED: &[&str] = &["+=", "-=", "*=", "//=", "%=", "|=", "<<=", "@="];
const ATOMS: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "3.5",
    "1e400",
    "True",
    "None",
    "''",
    "'ab'",
    "\"{}\"",
    "...",
    "9223372036854775807",
    "[]",
    "()",
    "{}",
    "range(3)",
    "nl.float32",
    "nl.sbuf",
    "np.float32",
    "x.shape",
    "x.dtype",
    "nl.tile_size.pmax",
];
const CALLS: &[&str] = &[
    "len",
    "sum",
    "min",
    "max",
    "sorted",
    "list",
    "tuple",
    "set",
    "dict",
    "str",
    "int",
    "float",
    "bool",
    "abs",
    "repr",
    "enumerate",
    "zip",
    "reversed",
    "any",
    "all",
    "isinstance",
    "getattr",
    "hasattr",
    "range",
    "divmod",
    "map",
    "filter",
    "print",
    "type",
    "round",
    "f",
    "obj.m",
    "C",
    "np.ones",
    "np.arange",
    "np.sum",
    "np.reshape",
    "math.sqrt",
    "nl.ds",
    "nl.arange",
    "nl.exp",
    "nl.add",
    "nl.load",
    "nl.zeros",
    "slice",
    "super",
    "functools.partial",
];
const METHODS: &[&str] = &[
    "append",
    "extend",
    "pop",
    "insert",
    "index",
    "count",
    "sort",
    "copy",
    "keys",
    "values",
    "items",
    "get",
    "update",
    "join",
    "split",
    "replace",
    "format",
    "upper",
    "strip",
    "startswith",
    "reshape",
    "sum",
    "mean",
    "T",
    "shape",
    "v",
    "ap",
];
const SPECS: &[&str] = &["", ":3", ":>8", ":.2f", ":x", "!r", "=", ":{n}"];
const ERRORS: &[&str] = &[
    "ValueError",
    "TypeError",
    "IndexError",
    "KeyError",
    "Exception",
    "C",
];

/// A program that is being written.
struct Writer<'a> {
    dice: &'a mut Dice,
    out: String,
    indent: usize,
    /// Statements that may still be written.
    left: usize,
}

/// A file with helpers, a class and one kernel.
pub fn program(dice: &mut Dice) -> String {
    let left = 4 + dice.below(30);
    let mut writer = Writer {
        dice,
        out: String::from(
            "import functools\nimport math\nimport nki\nimport nki.isa as nisa\nimport nki.language as nl\nimport numpy as np\n\n",
        ),
        indent: 0,
        left,
    };
    writer.line("K = 128");
    if !writer.dice.one_in(3) {
        writer.class();
    }
    writer.function("f");
    writer.line("# nk: run kernel(x=f32[128,64]:randn(0), n=3)");
    writer.line("@nki.jit");
    writer.line("def kernel(x, n=2):");
    writer.indent = 1;
    for line in [
        "a, b, c, xs, obj = 1, 2.5, 'c', [1, 2, 3], None",
        "t = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)",
        "y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)",
        "nisa.dma_copy(dst=t, src=x)",
    ] {
        writer.line(line);
    }
    while writer.left > 0 {
        writer.statement(0);
    }
    writer.line("nisa.dma_copy(dst=y, src=t)");
    writer.line("return y");
    writer.out
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        writeln!(self.out, "{}{text}", "    ".repeat(self.indent)).expect("a string takes any text");
    }

    fn class(&mut self) {
        let base = *self
            .dice
            .pick(&["", "(Exception)", "(NamedTuple)", "(Enum)", "(K)", "(object)"]);
        if self.dice.one_in(4) {
            self.line("@dataclass");
        }
        self.line(&format!("class C{base}:"));
        self.indent += 1;
        self.line("v: int = 3");
        for name in [
            "__init__",
            "m",
            "__add__",
            "__eq__",
            "__getitem__",
            "__iter__",
            "__repr__",
        ] {
            if self.dice.one_in(3) {
                let value = self.expression(2);
                self.line(&format!("def {name}(self, n=1):"));
                self.line(&format!(
                    "    {}",
                    if name == "__init__" {
                        "self.v = n"
                    } else {
                        "n = self.v"
                    }
                ));
                self.line(&format!(
                    "    return {}",
                    if name == "__init__" {
                        "None"
                    } else {
                        value.as_str()
                    }
                ));
            }
        }
        self.indent -= 1;
    }

    fn function(&mut self, name: &str) {
        let arguments = *self
            .dice
            .pick(&["n=1", "n, *xs", "n, **c", "n, /, a=2", "*, n=1", "a=[], n=None"]);
        self.line(&format!("def {name}({arguments}):"));
        self.indent += 1;
        for _ in 0..self.dice.below(3) {
            self.statement(2);
        }
        let value = self.expression(2);
        self.line(&format!("return {value}"));
        self.indent -= 1;
    }

    fn block(&mut self, header: &str, depth: usize) {
        self.line(header);
        self.indent += 1;
        for _ in 0..1 + self.dice.below(3) {
            self.statement(depth + 1);
        }
        self.indent -= 1;
    }

    fn statement(&mut self, depth: usize) {
        self.left = self.left.saturating_sub(1);
        let simple = depth > 3 || self.left == 0;
        match self.dice.below(if simple { 8 } else { 15 }) {
            0 | 1 => {
                let (name, value) = (*self.dice.pick(NAMES), self.expression(3));
                self.line(&format!("{name} = {value}"));
            }
            2 => {
                let (name, op) = (*self.dice.pick(NAMES), *self.dice.pick(AUGMENTED));
                let value = self.expression(2);
                self.line(&format!("{name} {op} {value}"));
            }
            3 => {
                let value = self.expression(3);
                self.line(&value);
            }
            4 => {
                let (a, b, value) = (*self.dice.pick(NAMES), *self.dice.pick(NAMES), self.expression(2));
                let target = *self.dice.pick(&[
                    "{a}, {b}",
                    "{a}, *{b}",
                    "({a}, ({b}, n))",
                    "{a}[0]",
                    "obj.{a}",
                    "{a}[{b}:]",
                ]);
                let target = target.replace("{a}", a).replace("{b}", b);
                self.line(&format!("{target} = {value}"));
            }
            5 => {
                let value = self.expression(2);
                let word = *self.dice.pick(&["assert", "del", "print", "raise", "return"]);
                self.line(&format!("{word} {value}"));
            }
            6 => {
                let (dst, src) = (self.view(), self.view());
                let number = self.expression(1);
                let call = match self.dice.below(4) {
                    0 => format!("nisa.tensor_copy(dst={dst}, src={src})"),
                    1 => format!("nisa.memset(dst={dst}, value={number})"),
                    2 => format!("nisa.activation(dst={dst}, data={src}, op=nl.exp, scale={number})"),
                    _ => format!("nisa.tensor_scalar(dst={dst}, data={src}, op0=nl.add, operand0={number})"),
                };
                self.line(&call);
            }
            7 => {
                let word = *self
                    .dice
                    .pick(&["pass", "break", "continue", "global K", "nonlocal n"]);
                self.line(word);
            }
            8 | 9 => {
                let (name, value) = (*self.dice.pick(NAMES), self.expression(2));
                let value = match self.dice.below(3) {
                    0 => format!("range({})", self.dice.below(5)),
                    1 => format!("nl.affine_range({})", self.dice.below(4)),
                    _ => value,
                };
                self.block(&format!("for {name} in {value}:"), depth);
            }
            10 => {
                let value = self.expression(2);
                self.block(&format!("if {value}:"), depth);
                if self.dice.one_in(2) {
                    self.block("else:", depth);
                }
            }
            11 => {
                let value = self.expression(2);
                self.block(&format!("while {value}:"), depth);
            }
            12 => {
                self.block("try:", depth);
                let kind = *self.dice.pick(ERRORS);
                self.block(&format!("except {kind} as error:"), depth);
            }
            13 => {
                let name = *self.dice.pick(&["f", "g", "a"]);
                self.function(name);
            }
            _ => {
                let register = *self.dice.pick(&[
                    "nl.dynamic_range(2)",
                    "nl.dynamic_range(0, n)",
                    "nl.dynamic_range(x)",
                ]);
                self.block(&format!("for n in {register}:"), depth);
            }
        }
    }

    fn view(&mut self) -> String {
        let name = *self.dice.pick(&["t", "t", "x", "y", "a"]);
        match self.dice.below(5) {
            0 => format!("{name}[0:32, 0:8]"),
            1 => format!("{name}[32:64, {}:]", self.dice.below(70)),
            2 => {
                let (a, b) = (self.expression(1), self.expression(1));
                format!("{name}[{a}:, {b}]")
            }
            _ => name.to_string(),
        }
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            let words = if self.dice.one_in(2) { NAMES } else { ATOMS };
            return self.dice.pick(words).to_string();
        }
        let depth = depth - 1;
        match self.dice.below(16) {
            0..=2 => self.expression(0),
            3 | 4 => {
                let (a, op, b) = (
                    self.expression(depth),
                    *self.dice.pick(BINARY),
                    self.expression(depth),
                );
                format!("({a} {op} {b})")
            }
            5 => format!("({}{})", self.dice.pick(UNARY), self.expression(depth)),
            6 | 7 => {
                let name = *self.dice.pick(CALLS);
                let args: Vec<String> = (0..self.dice.below(4)).map(|_| self.expression(depth)).collect();
                format!("{name}({})", args.join(", "))
            }
            8 => {
                let (of, name) = (self.expression(depth), *self.dice.pick(METHODS));
                match self.dice.one_in(3) {
                    true => format!("{of}.{name}"),
                    false => format!("{of}.{name}({})", self.expression(depth)),
                }
            }
            9 => {
                let (of, at) = (self.expression(depth), self.expression(depth));
                let index = *self
                    .dice
                    .pick(&["{}", "{}:", ":{}", "::{}", "{}, ...", "None, {}"]);
                format!("{of}[{}]", index.replace("{}", &at))
            }
            10 => {
                let (value, name, items) = (
                    self.expression(depth),
                    *self.dice.pick(NAMES),
                    self.expression(depth),
                );
                let clause = format!("for {name} in {items}");
                let form =
                    *self
                        .dice
                        .pick(&["[{} {}]", "{{} {}}", "tuple({} {})", "{1: {} {}}", "[{} {} if n]"]);
                form.replacen("{}", &value, 1).replacen("{}", &clause, 1)
            }
            11 => {
                let (a, b, c) = (
                    self.expression(depth),
                    self.expression(depth),
                    self.expression(depth),
                );
                format!("({a} if {b} else {c})")
            }
            12 => format!("(lambda n=1, *xs: {})", self.expression(depth)),
            13 => {
                let (value, spec) = (self.dice.pick(NAMES).to_string(), *self.dice.pick(SPECS));
                format!("f'<{{{value}{spec}}}>'")
            }
            14 => {
                let (a, b) = (self.expression(depth), self.expression(depth));
                let form = *self
                    .dice
                    .pick(&["[{}, {}]", "({}, {})", "{{}, {}}", "{{}: {}}", "[*{}, {}]"]);
                form.replacen("{}", &a, 1).replacen("{}", &b, 1)
            }
            _ => format!(
                "({} := {})",
                self.dice.pick(&["a", "b", "n"]),
                self.expression(depth)
            ),
        }
    }
}
