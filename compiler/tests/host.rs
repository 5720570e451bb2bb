//! Runs the cases of `tests/host/*.txt` against the host arrays: an expression, its arguments, and what NumPy gives
//! for it or what is said when it is wrong.
//!
//! The reader below evaluates the few kinds of expression that the cases use while it reads them.

use nk_compiler::ast::{BIN_OPS, BinOp, CMP_OPS, UnaryOp};
use nk_compiler::host::{self, Arg, HostArray, HostDtype, HostError, HostState};
use std::collections::BTreeMap;

type Variables = BTreeMap<String, Arg>;
type Keywords = Vec<(String, Arg)>;

#[test]
fn cases_give_what_numpy_gives() {
    let mut n_cases = 0;
    let mut failures = Vec::new();
    for entry in std::fs::read_dir("../tests/host").expect("the cases are in tests/host") {
        let path = entry.expect("the folder can be listed").path();
        let text = std::fs::read_to_string(&path).expect("a case file is text");
        let name = path
            .file_name()
            .expect("a file has a name")
            .to_string_lossy()
            .into_owned();
        // Values that are only moved or converted must agree exactly.
        let exact = ["create.txt", "shape.txt", "index.txt"].contains(&&*name);
        for (number, line) in text
            .lines()
            .enumerate()
            .filter(|it| !it.1.is_empty() && !it.1.starts_with('#'))
        {
            n_cases += 1;
            if let Err(reason) = check(line, exact) {
                failures.push(format!("{name}:{}: {line}\n    {reason}", number + 1));
            }
        }
    }
    assert!(n_cases > 800, "only {n_cases} cases found");
    assert!(
        failures.is_empty(),
        "{} of {n_cases} fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// One line: `expression | name=value; … -> result` or `expression | name=value; … !! code: message (help)`.
fn check(line: &str, exact: bool) -> Result<(), String> {
    let (expression, rest) = line.rsplit_once(" | ").ok_or("no ` | `")?;
    let mut state = HostState::default();
    if let Some((arguments, message)) = rest.split_once("!! ") {
        let mut variables = bind(arguments, &mut state);
        return match run(expression, &mut variables, &mut state) {
            Err(error) if error_text(&error) == message => Ok(()),
            Err(error) => Err(format!("says {}", error_text(&error))),
            Ok(value) => Err(format!("gives {} instead of an error", show(&value))),
        };
    }
    let (arguments, wanted) = rest.split_once("-> ").ok_or("no result")?;
    let mut variables = bind(arguments, &mut state);
    let got = run(expression, &mut variables, &mut state).map_err(|it| error_text(&it))?;
    let want = Reader::new(wanted, &Variables::new(), &mut state)
        .expression()
        .expect("results are literals");
    if same(&got, &want, exact) {
        Ok(())
    } else {
        Err(format!("gives {}", show(&got)))
    }
}

fn bind(arguments: &str, state: &mut HostState) -> Variables {
    let mut variables = Variables::new();
    for argument in arguments.split("; ").map(str::trim).filter(|it| !it.is_empty()) {
        let (name, value) = argument.split_once('=').expect("an argument is name=value");
        let value = Reader::new(value, &Variables::new(), state)
            .expression()
            .expect("arguments are literals");
        variables.insert(name.into(), value);
    }
    variables
}

fn error_text(error: &HostError) -> String {
    let help = error.help().map_or(String::new(), |it| format!(" ({it})"));
    format!("{}: {}{help}", error.code(), error.message())
}

fn show(value: &Arg) -> String {
    match value {
        Arg::Array(array) => format!("{}{:?}:{:?}", array.dtype().name(), array.shape(), array.to_vec()),
        Arg::Tuple(items) | Arg::List(items) => items.iter().map(show).collect::<Vec<_>>().join(", "),
        other => format!("{other:?}"),
    }
}

fn same(got: &Arg, want: &Arg, exact: bool) -> bool {
    match (got, want) {
        (Arg::Array(a), Arg::Array(b)) => {
            let relative = if exact { 0.0 } else { tolerance(b.dtype()) };
            let near = |(a, b): (f64, f64)| close(a, b, relative);
            a.shape() == b.shape()
                && a.dtype() == b.dtype()
                && a.to_vec().into_iter().zip(b.to_vec()).all(near)
        }
        (Arg::Tuple(a), Arg::Tuple(b)) | (Arg::List(a), Arg::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, exact))
        }
        _ => got == want,
    }
}

/// NumPy's transcendental functions and sums are off by a few units of their type; ours by half a unit.
fn tolerance(dtype: HostDtype) -> f64 {
    match dtype {
        HostDtype::F64 => 4e-15,
        HostDtype::F32 => 4e-7,
        HostDtype::F16 => 2e-3,
        HostDtype::Bf16 => 8e-3,
        _ => 0.0,
    }
}

fn close(a: f64, b: f64, relative: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= relative * b.abs().max(1e-2)
}

/// Evaluates an expression, or carries out an assignment and gives the changed array.
fn run(text: &str, variables: &mut Variables, state: &mut HostState) -> Result<Arg, HostError> {
    for (mark, op) in [
        (" = ", None),
        (" += ", Some("+")),
        (" -= ", Some("-")),
        (" *= ", Some("*")),
    ] {
        let Some((target, value)) = text.split_once(mark) else {
            continue;
        };
        let (name, keys) = target.split_once('[').expect("a target has an index");
        let keys = Reader::new(keys, variables, state).keys()?;
        let mut value = Reader::new(value, variables, state).expression()?;
        let Some(Arg::Array(mut array)) = variables.get(name).cloned() else {
            panic!("{name} is not an array")
        };
        if let Some(op) = op {
            let op = BIN_OPS.iter().find(|it| it.1 == op).expect("a listed operator").0;
            value = host::binary(op, &host::index(&array, &keys)?.into(), &value)?;
        }
        host::assign(&mut array, &keys, &value)?;
        return Ok(array.into());
    }
    Reader::new(text, variables, state).expression()
}

struct Reader<'a> {
    rest: &'a str,
    variables: &'a Variables,
    state: &'a mut HostState,
}

/// Binary operators from the loosest to the tightest.
const LEVELS: &[&[&str]] = &[
    &["|"],
    &["^"],
    &["&"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "//", "/", "%", "@"],
];

impl<'a> Reader<'a> {
    fn new(text: &'a str, variables: &'a Variables, state: &'a mut HostState) -> Reader<'a> {
        Reader {
            rest: text.trim(),
            variables,
            state,
        }
    }

    fn take(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else {
            return false;
        };
        self.rest = rest.trim_start();
        true
    }

    fn word(&mut self) -> &'a str {
        let end = self
            .rest
            .find(|it: char| !it.is_alphanumeric() && it != '_')
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn expression(&mut self) -> Result<Arg, HostError> {
        let left = self.level(0)?;
        let mut ops: Vec<_> = CMP_OPS
            .iter()
            .filter(|it| !it.1.contains(char::is_alphabetic))
            .collect();
        ops.sort_by_key(|it| std::cmp::Reverse(it.1.len()));
        for (op, symbol) in ops {
            if self.take(symbol) {
                let right = self.level(0)?;
                return host::compare(*op, &left, &right);
            }
        }
        Ok(left)
    }

    fn level(&mut self, level: usize) -> Result<Arg, HostError> {
        let Some(symbols) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.level(level + 1)?;
        while let Some(symbol) = symbols.iter().find(|it| self.take(it)) {
            let right = self.level(level + 1)?;
            let op = BIN_OPS
                .iter()
                .find(|it| it.1 == *symbol)
                .expect("the levels list operators")
                .0;
            left = host::binary(op, &left, &right)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Arg, HostError> {
        if self.take("-") {
            return match self.unary()? {
                Arg::Int(value) => Ok(Arg::Int(-value)),
                Arg::Float(value) => Ok(Arg::Float(-value)),
                other => host::unary(UnaryOp::Neg, &other),
            };
        }
        if self.take("~") {
            return host::unary(UnaryOp::Invert, &self.unary()?);
        }
        let base = self.postfix()?;
        if self.take("**") {
            return host::binary(BinOp::Pow, &base, &self.unary()?);
        }
        Ok(base)
    }

    fn postfix(&mut self) -> Result<Arg, HostError> {
        let mut value = self.primary()?;
        loop {
            if self.take("[") {
                let keys = self.keys()?;
                value = match (&value, &keys[..]) {
                    (Arg::Tuple(items), [Arg::Int(at)]) => items[*at as usize].clone(),
                    (Arg::Array(array), _) => host::index(array, &keys)?.into(),
                    _ => panic!("{value:?} is not indexed"),
                };
            } else if self.take(".") {
                let name = self.word();
                value = self.member(value, name)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn member(&mut self, value: Arg, name: &str) -> Result<Arg, HostError> {
        match value {
            Arg::Array(mut array) if self.take("(") => {
                let (args, kwargs) = self.arguments()?;
                host::method(&mut array, name, &args, &kwargs, self.state)
            }
            Arg::Array(array) => host::attribute(&array, name),
            Arg::Dtype(dtype) => host::dtype_attribute(dtype, name),
            Arg::Info(dtype) => host::info_attribute(dtype, name),
            other => panic!("{other:?} has no members"),
        }
    }

    /// The arguments of a call, up to the closing parenthesis.
    fn arguments(&mut self) -> Result<(Vec<Arg>, Keywords), HostError> {
        let (mut args, mut kwargs) = (Vec::new(), Vec::new());
        while !self.take(")") {
            let before = self.rest;
            let word = self.word();
            if !word.is_empty() && self.rest.starts_with('=') && !self.rest.starts_with("==") {
                self.take("=");
                kwargs.push((word.to_string(), self.expression()?));
            } else {
                self.rest = before;
                args.push(self.expression()?);
            }
            self.take(",");
        }
        Ok((args, kwargs))
    }

    /// The items between brackets, up to the closing one.
    fn keys(&mut self) -> Result<Vec<Arg>, HostError> {
        let mut keys = Vec::new();
        while !self.take("]") {
            let mut parts = vec![self.bound()?];
            while self.take(":") {
                parts.push(self.bound()?);
            }
            let int = |at: usize| match parts.get(at) {
                Some(Some(Arg::Int(value))) => Some(*value),
                _ => None,
            };
            keys.push(match parts.len() {
                1 => parts.remove(0).expect("a key is not empty"),
                _ => Arg::Slice {
                    start: int(0),
                    stop: int(1),
                    step: int(2),
                },
            });
            self.take(",");
        }
        match &keys[..] {
            [Arg::Tuple(items)] => Ok(items.clone()),
            _ => Ok(keys),
        }
    }

    fn bound(&mut self) -> Result<Option<Arg>, HostError> {
        if self.rest.starts_with([':', ',', ']']) {
            Ok(None)
        } else {
            self.expression().map(Some)
        }
    }

    fn items(&mut self, close: &str) -> Result<(Vec<Arg>, bool), HostError> {
        let (mut items, mut comma) = (Vec::new(), false);
        while !self.take(close) {
            items.push(self.expression()?);
            comma |= self.take(",");
        }
        Ok((items, comma))
    }

    fn primary(&mut self) -> Result<Arg, HostError> {
        if self.take("...") {
            return Ok(Arg::Ellipsis);
        }
        if self.take("[") {
            return Ok(Arg::List(self.items("]")?.0));
        }
        if self.take("(") {
            let (mut items, comma) = self.items(")")?;
            return Ok(if items.len() == 1 && !comma {
                items.remove(0)
            } else {
                Arg::Tuple(items)
            });
        }
        for quote in ['"', '\''] {
            if let Some(text) = self.rest.strip_prefix(quote) {
                let (text, rest) = text.split_once(quote).expect("a string is closed");
                self.rest = rest.trim_start();
                return Ok(Arg::Str(text.into()));
            }
        }
        if self.rest.starts_with(|it: char| it.is_ascii_digit()) {
            return Ok(self.number());
        }
        match self.word() {
            "np" => self.module(),
            "True" => Ok(Arg::Bool(true)),
            "False" => Ok(Arg::Bool(false)),
            "None" => Ok(Arg::None),
            "inf" => Ok(Arg::Float(f64::INFINITY)),
            "nan" => Ok(Arg::Float(f64::NAN)),
            name => Ok(self
                .variables
                .get(name)
                .cloned()
                .unwrap_or_else(|| self.literal(name))),
        }
    }

    fn number(&mut self) -> Arg {
        let text = self.rest;
        let mut end = 0;
        for (at, it) in text.char_indices() {
            let exponent_sign = (it == '-' || it == '+') && text[..at].ends_with('e');
            if !(it.is_ascii_digit() || it == '.' || it == 'e' || exponent_sign) {
                break;
            }
            end = at + 1;
        }
        self.rest = text[end..].trim_start();
        match text[..end].parse::<i64>() {
            Ok(value) => Arg::Int(value),
            Err(_) => Arg::Float(text[..end].parse().expect("a number")),
        }
    }

    /// `f32[2,3]:[…]` is an array, `f32` alone an element type.
    fn literal(&mut self, name: &str) -> Arg {
        let dtype = match name {
            "f64" => Some(HostDtype::F64),
            "i64" => Some(HostDtype::I64),
            "u64" => Some(HostDtype::U64),
            "f8e4m3fn" => Some(HostDtype::F8e4m3fn),
            _ => HostDtype::from_name(name),
        };
        let dtype = dtype.unwrap_or_else(|| panic!("{name} is neither a variable nor an element type"));
        if !self.take("[") {
            return Arg::Dtype(dtype);
        }
        let (shape, values) = self
            .rest
            .split_once("]:[")
            .expect("an array is dtype[shape]:[values]");
        let (values, rest) = values.split_once(']').expect("the values are closed");
        self.rest = rest.trim_start();
        let items = |text: &'a str| text.split(',').map(str::trim).filter(|it| !it.is_empty());
        let shape: Vec<usize> = items(shape).map(|it| it.parse().expect("a size")).collect();
        let values = items(values).map(|it| it.parse().expect("a value")).collect();
        HostArray::new(&shape, values, dtype)
            .expect("as many values as the shape has")
            .into()
    }

    /// What stands after `np`: a call or a constant.
    fn module(&mut self) -> Result<Arg, HostError> {
        let mut path = String::new();
        while self.take(".") {
            let dot = if path.is_empty() { "" } else { "." };
            path = format!("{path}{dot}{}", self.word());
        }
        if self.take("(") {
            let (args, kwargs) = self.arguments()?;
            return host::call(&path, &args, &kwargs, self.state);
        }
        Ok(host::constant(&path).unwrap_or_else(|| panic!("np.{path} is not a constant")))
    }
}
