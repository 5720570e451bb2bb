//! Random changes of inputs: bytes for files, words for texts.

/// Numbers that look random and come again from the same seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n.max(1) as u64).expect("it is below a usize")
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Words that break things more often than others.
const WORDS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "127",
    "128",
    "129",
    "512",
    "513",
    "65536",
    "9223372036854775807",
    "1e400",
    "nan",
    "None",
    "True",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    ".",
    "=",
    "**",
    "//",
    "%",
    "<<",
    "@",
    "\n",
    "\n    ",
    "lambda",
    "x",
    "\"",
    "'''",
    "f\"{",
    "[::-1]",
    "[None]",
    ".ap([[1, 1]])",
    ".reshape((1, 1))",
    "\u{0}",
    "é",
    "\u{202e}",
    "nl.",
    "nisa.",
    "range(",
    "*args",
    "while",
    "for i in range(3):",
    "+=",
    "->",
    "<-",
    "%x",
    "queue",
    "wait",
    "$r",
    ";",
];

/// Inputs to start from.
pub struct Pool {
    inputs: Vec<Vec<u8>>,
}

impl Pool {
    pub fn new(inputs: Vec<Vec<u8>>) -> Pool {
        Pool { inputs }
    }

    /// One of the inputs after a few changes.
    pub fn mutation(&self, dice: &mut Dice) -> Vec<u8> {
        let mut input = dice.pick(&self.inputs).clone();
        for _ in 0..=dice.below(4) {
            match std::str::from_utf8(&input) {
                Ok(text) if !dice.one_in(8) => input = self.words(text, dice).into_bytes(),
                _ => self.bytes(&mut input, dice),
            }
        }
        input
    }

    fn bytes(&self, input: &mut Vec<u8>, dice: &mut Dice) {
        if input.is_empty() {
            input.push(0);
        }
        let at = dice.below(input.len());
        match dice.below(6) {
            0 => input[at] ^= 1 << dice.below(8),
            1 => input[at] = *dice.pick(&[0, 1, 0x7f, 0x80, 0xff]),
            2 => input.truncate(at),
            3 => drop(input.drain(at..(at + dice.below(16)).min(input.len()))),
            4 => {
                let other = dice.pick(&self.inputs);
                let start = dice.below(other.len());
                let piece = &other[start..(start + dice.below(64)).min(other.len())];
                input.splice(at..at, piece.iter().copied());
            }
            _ => {
                let byte = u8::try_from(dice.below(256)).expect("a byte");
                input.insert(at, byte);
            }
        }
    }

    fn words(&self, text: &str, dice: &mut Dice) -> String {
        let mut words = split(text);
        if words.is_empty() {
            return WORDS[0].to_string();
        }
        let at = dice.below(words.len());
        match dice.below(8) {
            0 => words[at] = *dice.pick::<&str>(WORDS),
            1 => drop(words.remove(at)),
            2 => words.insert(at, *dice.pick::<&str>(WORDS)),
            3 => {
                let other = dice.below(words.len());
                words.swap(at, other);
            }
            4 => words[at] = words[dice.below(words.len())],
            5 => {
                // A piece many times over: long lines, deep nesting.
                let end = (at + 1 + dice.below(3)).min(words.len());
                let piece = words[at..end].to_vec();
                let most = if dice.one_in(10) { 2000 } else { 8 };
                let copies = dice.below(most);
                for _ in 0..copies {
                    words.splice(at..at, piece.iter().copied());
                }
            }
            6 => {
                let lines: Vec<&str> = text.split_inclusive('\n').collect();
                let mut lines: Vec<&str> = lines.clone();
                let (from, to) = (dice.below(lines.len()), dice.below(lines.len()));
                let line = lines.remove(from);
                lines.insert(to.min(lines.len()), line);
                return lines.concat();
            }
            _ => words[at] = *dice.pick(&["0", "1", "3", "-128", "100000", "1.5"]),
        }
        words.concat()
    }
}

/// Words, numbers, and every other character for itself.
fn split(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let mut last: Option<char> = None;
    for (at, c) in text.char_indices() {
        if let Some(before) = last
            && !(is_word(before) && is_word(c))
        {
            words.push(&text[start..at]);
            start = at;
        }
        last = Some(c);
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}
