//! What queues have known at earlier times, kept for whoever is told of it later.
//!
//! Takes clocks, gives them back by number. A long program has about as many of them as instructions, and most programs use
//! few of the lanes, so only the lanes that some instruction completes are kept; the others read as 0, which nobody needs.

use super::clock::Lane;

/// A word for each lane.
pub type Words = [u32; Lane::N];

#[derive(Debug, Default)]
pub struct Epochs {
    /// The lanes that are kept, by index.
    lanes: Vec<u8>,
    words: Vec<u32>,
    n: u32,
}

impl Epochs {
    /// For a program whose instructions complete in these lanes.
    pub fn new(is_used: [bool; Lane::N]) -> Epochs {
        Epochs {
            lanes: (0..Lane::N as u8)
                .filter(|it| is_used[usize::from(*it)])
                .collect(),
            words: Vec::new(),
            n: 0,
        }
    }

    /// Keeps a clock and gives its number.
    pub fn push(&mut self, words: &Words) -> u32 {
        self.words
            .extend(self.lanes.iter().map(|it| words[usize::from(*it)]));
        self.n = self
            .n
            .checked_add(1)
            .expect("a program has fewer waits than 2^32");
        self.n - 1
    }

    /// The clock of a number that [`Epochs::push`] gave.
    pub fn get(&self, number: u32) -> Words {
        assert!(number < self.n, "epochs are read after they were kept");
        let start = number as usize * self.lanes.len();
        let mut all = Words::default();
        for (&lane, &word) in self.lanes.iter().zip(&self.words[start..]) {
            all[usize::from(lane)] = word;
        }
        all
    }
}
