//! A set of small integers in pages: what of a partition, or of a tensor in HBM, has been written.
//!
//! Takes ranges, gives what is missing in a range. Pages that are empty or full take no memory.

/// Bits of a page.
const PAGE: u64 = 1 << 18;

/// A subset of `0..len`.
#[derive(Clone, Debug, PartialEq)]
pub struct Bits {
    len: u64,
    n_set: u64,
    pages: Vec<Page>,
}

#[derive(Clone, Debug, PartialEq)]
enum Page {
    Empty,
    Full,
    Some { words: Box<[u64]>, n_set: u64 },
}

impl Bits {
    /// The empty set.
    pub fn new(len: u64) -> Bits {
        Bits {
            len,
            n_set: 0,
            pages: vec![Page::Empty; len.div_ceil(PAGE) as usize],
        }
    }

    pub fn is_full(&self) -> bool {
        self.n_set == self.len
    }

    /// Adds `start..end`.
    pub fn insert(&mut self, start: u64, end: u64) {
        let mut at = start;
        while at < end {
            let page = at / PAGE;
            let (low, high) = (at - page * PAGE, end.min((page + 1) * PAGE) - page * PAGE);
            let page_len = PAGE.min(self.len - page * PAGE);
            self.n_set += self.pages[page as usize].insert(low, high, page_len);
            at = (page + 1) * PAGE;
        }
    }

    /// Calls `visit` with every maximal range of `start..end` that is not in the set, page by page.
    pub fn for_each_missing(&self, start: u64, end: u64, mut visit: impl FnMut(u64, u64)) {
        if self.is_full() {
            return;
        }
        let mut at = start;
        while at < end {
            let page = at / PAGE;
            let base = page * PAGE;
            let high = end.min(base + PAGE);
            match &self.pages[page as usize] {
                Page::Empty => visit(at, high),
                Page::Full => {}
                Page::Some { words, .. } => {
                    each_unset(words, at - base, high - base, |from, to| {
                        visit(base + from, base + to)
                    });
                }
            }
            at = base + PAGE;
        }
    }
}

impl Page {
    /// Adds bits and returns how many were not there.
    fn insert(&mut self, start: u64, end: u64, len: u64) -> u64 {
        match self {
            Page::Full => return 0,
            Page::Empty if end - start == len => {
                *self = Page::Full;
                return len;
            }
            Page::Empty => {
                *self = Page::Some {
                    words: vec![0; len.div_ceil(64) as usize].into(),
                    n_set: 0,
                };
            }
            Page::Some { .. } => {}
        }
        let Page::Some { words, n_set } = self else {
            unreachable!("other pages have been handled");
        };
        let n_added = set(words, start, end);
        *n_set += n_added;
        if *n_set == len {
            *self = Page::Full;
        }
        n_added
    }
}

/// Sets the bits `start..end` and returns how many were not.
fn set(words: &mut [u64], start: u64, end: u64) -> u64 {
    let add = |word: &mut u64, mask: u64| {
        let new = mask & !*word;
        *word |= mask;
        u64::from(new.count_ones())
    };
    let (low, high) = (u64::MAX << (start % 64), u64::MAX >> (64 - (end - 1) % 64 - 1));
    let (first, last) = (start as usize / 64, (end - 1) as usize / 64);
    if first == last {
        return add(&mut words[first], low & high);
    }
    let mut n_added = add(&mut words[first], low) + add(&mut words[last], high);
    for word in &mut words[first + 1..last] {
        // Mostly a row is written once.
        n_added += if *word == 0 {
            64
        } else {
            u64::from((!*word).count_ones())
        };
        *word = u64::MAX;
    }
    n_added
}

/// Calls `visit` with every maximal range of zeros in `start..end`.
fn each_unset(words: &[u64], start: u64, end: u64, mut visit: impl FnMut(u64, u64)) {
    let mut at = start;
    while let Some(from) = next(words, at, end, |it| !it) {
        let to = next(words, from, end, |it| it).unwrap_or(end);
        visit(from, to);
        at = to;
    }
}

/// The first position in `start..end` whose bit is set in `pick` of the words.
fn next(words: &[u64], start: u64, end: u64, pick: impl Fn(u64) -> u64) -> Option<u64> {
    if start >= end {
        return None;
    }
    let mut at = start / 64;
    let mut bits = pick(words[at as usize]) & (u64::MAX << (start % 64));
    while bits == 0 {
        at += 1;
        if at * 64 >= end {
            return None;
        }
        bits = pick(words[at as usize]);
    }
    Some(at * 64 + u64::from(bits.trailing_zeros())).filter(|it| *it < end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(bits: &Bits, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        bits.for_each_missing(start, end, |from, to| all.push((from, to)));
        all
    }

    #[test]
    fn ranges_cross_words_and_pages() {
        let mut bits = Bits::new(3 * PAGE + 100);
        bits.insert(60, 70);
        bits.insert(PAGE - 5, 2 * PAGE + 5);
        assert!(!bits.is_full());
        assert_eq!(missing(&bits, 0, 130), [(0, 60), (70, 130)]);
        assert_eq!(missing(&bits, 62, 68), []);
        assert_eq!(
            missing(&bits, PAGE - 6, 2 * PAGE + 6),
            [(PAGE - 6, PAGE - 5), (2 * PAGE + 5, 2 * PAGE + 6)]
        );
        bits.insert(0, 3 * PAGE + 100);
        assert!(bits.is_full());
        assert_eq!(missing(&bits, 0, 3 * PAGE + 100), []);
    }
}
