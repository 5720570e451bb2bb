//! Which combinations are tried, and in which order.
//!
//! Takes axes and a way to measure a batch of combinations, gives what was measured. Deterministic: the same seed tries
//! the same combinations, however many threads measure them.

use super::{Axis, Candidate, Verdict, grid, n_points};
use std::collections::{BTreeMap, BTreeSet};

/// How combinations are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    Grid,
    Random {
        samples: usize,
        seed: u64,
    },
    /// From the middle to the best neighbour, again and again; from random places when no neighbour is better.
    Climb {
        samples: usize,
        seed: u64,
    },
}

/// What is known of each combination.
type Known = BTreeMap<Vec<usize>, Verdict>;

/// Searches. `known` was measured before and is not measured again; it counts as tried. `batch` measures combinations
/// side by side, in any order.
pub fn search(
    axes: &[Axis],
    strategy: Strategy,
    known: Vec<Candidate>,
    batch: &mut dyn FnMut(Vec<Vec<usize>>) -> Vec<Candidate>,
) -> Vec<Candidate> {
    let mut known: Known = known.into_iter().map(|it| (it.point, it.verdict)).collect();
    let tried = match strategy {
        Strategy::Grid => {
            let points = grid(axes);
            measure(&points, &mut known, batch);
            points
        }
        Strategy::Random { samples, seed } => {
            let points = sampled(axes, samples, seed);
            measure(&points, &mut known, batch);
            points
        }
        Strategy::Climb { samples, seed } => climb(axes, samples, seed, &mut known, batch),
    };
    let candidate = |point: Vec<usize>| {
        let verdict = known.get(&point)?.clone();
        Some(Candidate { point, verdict })
    };
    tried.into_iter().filter_map(candidate).collect()
}

fn measure(
    points: &[Vec<usize>],
    known: &mut Known,
    batch: &mut dyn FnMut(Vec<Vec<usize>>) -> Vec<Candidate>,
) {
    let missing: Vec<Vec<usize>> = points
        .iter()
        .filter(|it| !known.contains_key(*it))
        .cloned()
        .collect();
    if !missing.is_empty() {
        known.extend(batch(missing).into_iter().map(|it| (it.point, it.verdict)));
    }
}

/// A generator of numbers (splitmix64): a short sequence that a seed fixes on every machine.
struct Numbers(u64);

impl Numbers {
    /// A number below a limit.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ word >> 31) % limit as u64) as usize
    }

    fn point(&mut self, axes: &[Axis]) -> Vec<usize> {
        axes.iter().map(|it| self.below(it.values.len())).collect()
    }
}

/// So many different combinations, or all of them.
fn sampled(axes: &[Axis], samples: usize, seed: u64) -> Vec<Vec<usize>> {
    if samples >= n_points(axes) {
        return grid(axes);
    }
    let mut numbers = Numbers(seed);
    let mut seen = BTreeSet::new();
    let mut points = Vec::new();
    while points.len() < samples {
        let point = numbers.point(axes);
        if seen.insert(point.clone()) {
            points.push(point);
        }
    }
    points
}

fn climb(
    axes: &[Axis],
    samples: usize,
    seed: u64,
    known: &mut Known,
    batch: &mut dyn FnMut(Vec<Vec<usize>>) -> Vec<Candidate>,
) -> Vec<Vec<usize>> {
    let samples = samples.min(n_points(axes));
    let mut numbers = Numbers(seed);
    let (mut tried, mut seen) = (Vec::new(), BTreeSet::new());
    let mut here: Vec<usize> = axes.iter().map(|it| it.values.len() / 2).collect();
    loop {
        let mut around = vec![here.clone()];
        around.extend(neighbours(axes, &here));
        around.retain(|it| !seen.contains(it));
        around.truncate(samples - tried.len());
        measure(&around, known, batch);
        seen.extend(around.iter().cloned());
        tried.extend(around);
        if tried.len() >= samples {
            return tried;
        }
        let time = |it: &Vec<usize>| match known.get(it) {
            Some(Verdict::Measured(summary)) => summary.time_ps,
            _ => u64::MAX,
        };
        let best = neighbours(axes, &here)
            .into_iter()
            .min_by_key(|it| (time(it), it.clone()));
        here = match best {
            Some(best) if time(&best) < time(&here) => best,
            // The top of a hill, or no place to stand on: begin elsewhere.
            _ => loop {
                let point = numbers.point(axes);
                if !seen.contains(&point) {
                    break point;
                }
            },
        };
    }
}

/// The combinations that differ by one step of one axis.
fn neighbours(axes: &[Axis], point: &[usize]) -> Vec<Vec<usize>> {
    let mut neighbours = Vec::new();
    for (number, axis) in axes.iter().enumerate() {
        for value in [point[number].checked_sub(1), Some(point[number] + 1)]
            .into_iter()
            .flatten()
        {
            if value < axis.values.len() {
                let mut next = point.to_vec();
                next[number] = value;
                neighbours.push(next);
            }
        }
    }
    neighbours
}
