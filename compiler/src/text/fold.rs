//! Long IR text made short: runs of lines that repeat become one `repeat` block.
//!
//! Takes printed text, gives text for readers only, which is not parsed back and says so. Lines are alike when they
//! differ in numbers alone and each number grows evenly: `{0+128}` is 0 in the first repetition and 128 more in every
//! next one, in a nested block `{{0+512}+128}` the outer repetition adds 512. Nothing is left out or approximated.

use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Fewer repetitions are shorter to read as they stand.
const MIN_REPEATS: usize = 3;

/// The longest block that is looked for; longer ones repeat what shorter ones have folded.
const MAX_BLOCK: usize = 64;

/// The text with its runs folded.
pub fn fold(text: &str) -> String {
    let mut lines: Vec<Line> = text.lines().map(Line::new).collect();
    let n_lines = lines.len();
    loop {
        let folded = fold_once(&lines);
        if folded.len() == lines.len() {
            break;
        }
        lines = folded;
    }
    let mut out = String::with_capacity(text.len());
    writeln!(
        out,
        "; folded: {} lines stand for {n_lines}; {{a+b}} is a in the first repetition and b more in every next one\n\
         ; for readers only: this text is not parsed back",
        lines.len()
    )
    .expect("a string takes any text");
    for line in &lines {
        out.push_str(&line.text());
        out.push('\n');
    }
    out
}

/// A line taken apart: what stands between the numbers, and the numbers.
#[derive(Clone, PartialEq)]
struct Line {
    /// One piece more than there are numbers.
    pieces: Vec<String>,
    numbers: Vec<Number>,
}

/// A number as it was written.
#[derive(Clone, Copy, PartialEq)]
struct Number {
    value: i64,
    is_hex: bool,
}

impl Number {
    fn text(self) -> String {
        match self.is_hex {
            true => format!("{:#x}", self.value),
            false => self.value.to_string(),
        }
    }
}

impl Line {
    fn new(text: &str) -> Line {
        let mut line = Line {
            pieces: vec![String::new()],
            numbers: Vec::new(),
        };
        // How often a block repeats, and what stands in quotes or comments, is no number that grows.
        if text.trim_start().starts_with("repeat ") || text.contains(['"', ';']) {
            line.pieces[0].push_str(text);
            return line;
        }
        let mut rest = text;
        let mut in_name = false;
        while let Some(first) = rest.chars().next() {
            let before = line.pieces.last().and_then(|it| it.chars().next_back());
            let is_inside_word = before.is_some_and(|it| it.is_ascii_alphanumeric() || it == '_');
            match first {
                '%' => in_name = true,
                '.' | '_' | '\'' => {}
                it if it.is_ascii_alphanumeric() => {}
                _ => in_name = false,
            }
            let (number, len) = match first.is_ascii_digit() && !is_inside_word {
                true => number_at(rest, in_name),
                false => (None, first.len_utf8()),
            };
            match number {
                Some(number) => {
                    line.numbers.push(number);
                    line.pieces.push(String::new());
                }
                None => line.last_piece().push_str(&rest[..len]),
            }
            rest = &rest[len..];
        }
        line
    }

    fn last_piece(&mut self) -> &mut String {
        self.pieces.last_mut().expect("there is always one")
    }

    fn text(&self) -> String {
        let mut out = self.pieces[0].clone();
        for (number, piece) in self.numbers.iter().zip(&self.pieces[1..]) {
            out.push_str(&number.text());
            out.push_str(piece);
        }
        out
    }

    /// How many blocks it opens, less those it closes.
    fn opens(&self) -> i32 {
        let last = self.pieces[self.pieces.len() - 1].trim();
        if last.ends_with(" {") {
            1
        } else if last == "}" {
            -1
        } else {
            0
        }
    }

    /// The line with the numbers that grow written as `{first+step}`, one level deeper.
    fn growing(&self, next: &Line) -> Line {
        let mut text = format!("  {}", self.pieces[0]);
        for ((number, after), piece) in self.numbers.iter().zip(&next.numbers).zip(&self.pieces[1..]) {
            let step = Number {
                value: (after.value - number.value).abs(),
                ..*number
            };
            if step.value == 0 {
                text.push_str(&number.text());
            } else {
                let sign = if after.value > number.value { '+' } else { '-' };
                write!(text, "{{{}{sign}{}}}", number.text(), step.text()).expect("a string takes any text");
            }
            text.push_str(piece);
        }
        Line::new(&text)
    }
}

/// The number at the start of a text, and how long it is; a float, a range of dots and what does not fit are none.
fn number_at(text: &str, in_name: bool) -> (Option<Number>, usize) {
    if let Some(digits) = text.strip_prefix("0x") {
        let len = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
        let value = i64::from_str_radix(&digits[..len], 16).ok();
        let number = value.map(|value| Number { value, is_hex: true });
        return (number, len + 2);
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_float = |it: u8| it.is_ascii_alphanumeric() || it == b'.' || it == b'-' || it == b'+';
    let rest = &text.as_bytes()[digits..];
    // `0..8` is a range, `%a.0` a name with a number; `0.5` and `1e-6` are floats.
    let goes_on = matches!(rest, [b'.', it, ..] if it.is_ascii_digit()) || matches!(rest, [b'e', ..]);
    if goes_on && !in_name {
        let len = text.bytes().take_while(|it| is_float(*it)).count();
        return (None, len);
    }
    let value = text[..digits].parse().ok();
    let number = value.map(|value| Number { value, is_hex: false });
    (number, digits)
}

/// One pass: at each line the shortest block that repeats is folded.
fn fold_once(lines: &[Line]) -> Vec<Line> {
    let mut known: FxHashMap<&[String], usize> = FxHashMap::default();
    let mut shapes = Vec::with_capacity(lines.len());
    for line in lines {
        let n_known = known.len();
        shapes.push(*known.entry(line.pieces.as_slice()).or_insert(n_known));
    }
    let mut out = Vec::with_capacity(lines.len());
    let mut at = 0;
    while at < lines.len() {
        let found = (1..=MAX_BLOCK).find_map(|len| {
            let n_repeats = repeats(lines, &shapes, at, len);
            (n_repeats >= MIN_REPEATS).then_some((len, n_repeats))
        });
        let Some((len, n_repeats)) = found else {
            out.push(lines[at].clone());
            at += 1;
            continue;
        };
        let text = lines[at].text();
        let indent = &text[..text.len() - text.trim_start().len()];
        out.push(Line::new(&format!("{indent}repeat {n_repeats} {{")));
        out.extend((at..at + len).map(|it| lines[it].growing(&lines[it + len])));
        out.push(Line::new(&format!("{indent}}}")));
        at += len * n_repeats;
    }
    out
}

/// How often the block of `len` lines repeats, numbers growing evenly.
fn repeats(lines: &[Line], shapes: &[usize], at: usize, len: usize) -> usize {
    let is_alike = |first: usize| {
        first + len <= lines.len()
            && shapes[at] == shapes[first]
            && shapes[at..at + len] == shapes[first..first + len]
    };
    if !is_alike(at + len) || lines[at].text().trim().is_empty() || !is_closed(&lines[at..at + len]) {
        return 1;
    }
    let step = |line: usize, number: usize| {
        i128::from(lines[line + len].numbers[number].value) - i128::from(lines[line].numbers[number].value)
    };
    let mut n_repeats = 2;
    while is_alike(at + n_repeats * len) {
        let last = at + (n_repeats - 1) * len;
        let is_even = (0..len).all(|line| {
            (0..lines[at + line].numbers.len()).all(|it| step(at + line, it) == step(last + line, it))
        });
        if !is_even {
            break;
        }
        n_repeats += 1;
    }
    n_repeats
}

/// Whether blocks that open within the lines close within them, and no other.
fn is_closed(lines: &[Line]) -> bool {
    let mut depth = 0;
    let stays_inside = lines.iter().all(|it| {
        depth += it.opens();
        depth >= 0
    });
    stays_inside && depth == 0
}
