//! The free bytes of one on-chip memory while buffers come and go.
//!
//! Takes claims of (partitions, bytes), gives and frees ranges. Partitions are counted in quadrants of 32, because every
//! buffer starts at one; bytes in granules, one bit each, so that a search costs the same however many buffers live. A
//! granule is the alignment of the addresses that we choose, unless a user's address is finer.

use crate::target::Target;
use std::ops::Range;

/// Partitions of a quadrant: the smallest legal start partition above zero.
pub const QUADRANT: u32 = 32;
const N_QUADRANTS: usize = 4;

/// The unit in which the bytes of a memory are given away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granule {
    pub bytes: u32,
    /// The places we choose start at multiples of so many granules.
    step: u32,
}

impl Granule {
    /// The coarsest granule of which all `starts` are multiples.
    pub fn dividing(starts: impl Iterator<Item = u32>, target: &Target) -> Granule {
        let bits = starts.fold(target.min_align, |bits, start| bits | start);
        let bytes = 1 << bits.trailing_zeros();
        Granule {
            bytes,
            step: target.min_align / bytes,
        }
    }

    /// Granules that a buffer of so many bytes takes where we choose its place.
    pub fn rounded(self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.bytes * self.step)) * u64::from(self.step)
    }
}

/// Where in a memory a claim may start, besides being free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Banks {
    /// Anywhere.
    None,
    /// Inside one bank of so many granules, or from a bank's start when it is longer than a bank.
    Of(u32),
}

/// A range of granules in some quadrants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub quadrants: Range<u32>,
    pub granules: Range<u32>,
}

impl Spot {
    pub fn overlaps(&self, other: &Spot) -> bool {
        let meet = |a: &Range<u32>, b: &Range<u32>| a.start < b.end && b.start < a.end;
        meet(&self.quadrants, &other.quadrants) && meet(&self.granules, &other.granules)
    }
}

/// The words that hold the bits of a range of granules, and which bits of each.
fn words(granules: &Range<u32>) -> impl Iterator<Item = (usize, u64)> + use<> {
    let Range { start, end } = *granules;
    (start / 64..end.div_ceil(64)).map(move |at| {
        let low = u64::MAX << start.saturating_sub(at * 64);
        let high = u64::MAX >> (at * 64 + 64).saturating_sub(end);
        (at as usize, low & high)
    })
}

/// One on-chip memory.
#[derive(Clone, Debug)]
pub struct Space {
    pub granule: Granule,
    /// A set bit is a granule in use; indexed by granule / 64, then quadrant.
    words: Vec<[u64; N_QUADRANTS]>,
    pub granules: u32,
    pub banks: Banks,
}

impl Space {
    pub fn new(bytes: u32, banks: Banks, granule: Granule) -> Space {
        let granules = bytes / granule.bytes;
        let mut space = Space {
            granule,
            words: vec![[0; N_QUADRANTS]; granules.div_ceil(64) as usize],
            granules,
            banks,
        };
        // The bits past the end are in use for ever.
        let end = space.words.len() as u32 * 64;
        space.take(&Spot {
            quadrants: 0..N_QUADRANTS as u32,
            granules: granules..end,
        });
        space
    }

    pub fn take(&mut self, spot: &Spot) {
        self.for_each_word(spot, |word, mask| *word |= mask);
    }

    pub fn release(&mut self, spot: &Spot) {
        self.for_each_word(spot, |word, mask| *word &= !mask);
    }

    pub fn is_free(&self, spot: &Spot) -> bool {
        let quadrants = spot.quadrants.start as usize..spot.quadrants.end as usize;
        words(&spot.granules).all(|(at, mask)| {
            self.words
                .get(at)
                .is_some_and(|it| it[quadrants.clone()].iter().all(|word| word & mask == 0))
        })
    }

    fn for_each_word(&mut self, spot: &Spot, apply: impl Fn(&mut u64, u64)) {
        let quadrants = spot.quadrants.start as usize..spot.quadrants.end as usize;
        for (at, mask) in words(&spot.granules) {
            for word in &mut self.words[at][quadrants.clone()] {
                apply(word, mask);
            }
        }
    }

    /// The granules of word `at` that any of the quadrants uses.
    fn used(&self, quadrants: &Range<u32>, at: usize) -> u64 {
        let [a, b, c, d] = self.words[at];
        // Most claims take all partitions.
        if quadrants.end - quadrants.start == N_QUADRANTS as u32 {
            return a | b | c | d;
        }
        let words = &self.words[at][quadrants.start as usize..quadrants.end as usize];
        words.iter().fold(0, |used, it| used | it)
    }

    /// The next maximal free run at or after a granule; its start is cut off at `from`.
    fn next_free(&self, quadrants: &Range<u32>, from: u32) -> Option<Range<u32>> {
        let start = self.next(quadrants, from, |used| !used)?;
        let end = self.next(quadrants, start, |used| used);
        Some(start..end.unwrap_or(self.words.len() as u32 * 64))
    }

    /// The first granule at or after `from` whose bit is set in `pick` of the used bits.
    fn next(&self, quadrants: &Range<u32>, from: u32, pick: impl Fn(u64) -> u64) -> Option<u32> {
        let mut at = (from / 64) as usize;
        let mut bits =
            pick(self.used(quadrants, (at < self.words.len()).then_some(at)?)) & (u64::MAX << (from % 64));
        while bits == 0 {
            at += 1;
            bits = pick(self.used(quadrants, (at < self.words.len()).then_some(at)?));
        }
        Some(at as u32 * 64 + bits.trailing_zeros())
    }

    /// The first place in a free run where a claim may start.
    fn fit(&self, run: &Range<u32>, granules: u32) -> Option<u32> {
        let start = self.start(run.start, granules);
        (start + granules <= run.end).then_some(start)
    }

    /// The first granule at or after `from` where a claim may start, free or not.
    pub fn start(&self, from: u32, granules: u32) -> u32 {
        let start = from.next_multiple_of(self.granule.step);
        match self.banks {
            Banks::Of(bank) if granules > bank - start % bank => start.next_multiple_of(bank),
            Banks::Of(_) | Banks::None => start,
        }
    }

    /// The fit with the lowest address.
    pub fn first_fit(&self, quadrants: Range<u32>, granules: u32) -> Option<Spot> {
        let mut at = 0;
        while let Some(run) = self.next_free(&quadrants, at) {
            if let Some(start) = self.fit(&run, granules) {
                return Some(Spot {
                    quadrants,
                    granules: start..start + granules,
                });
            }
            at = run.end;
        }
        None
    }

    /// A fit at the end of the last free run that has one.
    pub fn last_fit(&self, quadrants: Range<u32>, granules: u32) -> Option<Spot> {
        let mut last = None;
        let mut at = 0;
        while let Some(run) = self.next_free(&quadrants, at) {
            at = run.end;
            let Some(first) = self.fit(&run, granules) else {
                continue;
            };
            // Inside banks the end may be no legal start; the first fit is one.
            let from_end = run.end - granules..run.end;
            last = Some(self.fit(&from_end, granules).unwrap_or(first));
        }
        last.map(|start| Spot {
            quadrants,
            granules: start..start + granules,
        })
    }

    /// The fit that leaves the smallest run behind, with the size of the run it is in.
    pub fn best_fit(&self, quadrants: Range<u32>, granules: u32) -> Option<(u32, Spot)> {
        let mut best: Option<(u32, u32)> = None;
        let mut at = 0;
        while let Some(run) = self.next_free(&quadrants, at) {
            at = run.end;
            let len = run.end - run.start;
            if best.is_some_and(|(shortest, _)| shortest <= len) {
                continue;
            }
            if let Some(start) = self.fit(&run, granules) {
                best = Some((len, start));
            }
        }
        best.map(|(len, start)| {
            let spot = Spot {
                quadrants,
                granules: start..start + granules,
            };
            (len, spot)
        })
    }

    /// The largest claim that would fit, in granules.
    pub fn largest_fit(&self, quadrants: &Range<u32>) -> u32 {
        let mut largest = 0;
        let mut at = 0;
        while let Some(run) = self.next_free(quadrants, at) {
            at = run.end;
            let fit = match self.banks {
                Banks::None => run.end - run.start,
                Banks::Of(bank) => {
                    let next_bank = run.start.next_multiple_of(bank);
                    let in_bank = next_bank.min(run.end) - run.start;
                    in_bank.max(run.end.saturating_sub(next_bank))
                }
            };
            largest = largest.max(fit);
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::TARGETS;

    fn granule(start: u32) -> Granule {
        Granule::dividing([start].into_iter(), &TARGETS[0])
    }

    #[test]
    fn runs_cross_words_and_stop_at_the_end() {
        let mut space = Space::new(1000, Banks::None, granule(0));
        assert_eq!(space.granules, 250);
        space.take(&Spot {
            quadrants: 0..4,
            granules: 60..70,
        });
        space.take(&Spot {
            quadrants: 2..3,
            granules: 200..201,
        });
        assert_eq!(space.first_fit(0..4, 61).unwrap().granules, 70..131);
        assert_eq!(space.largest_fit(&(0..4)), 130);
        assert_eq!(space.largest_fit(&(0..2)), 180);
        assert_eq!(space.best_fit(0..4, 40).unwrap().1.granules, 201..241);
        assert_eq!(space.first_fit(0..1, 181), None);
        space.release(&Spot {
            quadrants: 0..4,
            granules: 60..70,
        });
        assert_eq!(space.first_fit(0..1, 250).unwrap().granules, 0..250);
    }

    #[test]
    fn claims_stay_inside_a_bank_or_start_at_one() {
        let mut space = Space::new(16_384, Banks::Of(512), granule(8));
        space.take(&Spot {
            quadrants: 0..4,
            granules: 0..100,
        });
        assert_eq!(space.first_fit(0..4, 412).unwrap().granules, 100..512);
        assert_eq!(space.first_fit(0..4, 413).unwrap().granules, 512..925);
        assert_eq!(space.first_fit(0..4, 600).unwrap().granules, 512..1112);
        assert_eq!(space.first_fit(0..4, 3584).unwrap().granules, 512..4096);
        assert_eq!(space.first_fit(0..4, 3585), None);
    }
    #[test]
    fn beside_a_finer_address_claims_stay_aligned() {
        let mut space = Space::new(1000, Banks::None, granule(6));
        assert_eq!(space.granules, 500);
        space.take(&Spot {
            quadrants: 0..4,
            granules: 0..3,
        });
        let granules = space.granule.rounded(5) as u32;
        assert_eq!(space.first_fit(0..4, granules).unwrap().granules, 4..8);
    }
}
