//! The bytes that a view touches.
//!
//! Takes views (and, for absolute bytes, their placement), gives sets of bytes in a normal form with exact tests for
//! overlap and containment. Never looks at instructions or time.

use crate::ir::{Buffer, BufferId, Dim, MAX_DIMS, Placement, Program, Region, View};
use crate::isa::Memory;

/// A repetition: `count` times, `stride` bytes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    pub stride: u64,
    pub count: u64,
}

/// Runs of `run` bytes at `start` plus every combination of the steps.
///
/// In normal form steps have a count above one and a stride above zero, the largest stride first, and a step that only
/// lengthens the run or continues its neighbour is merged away. So a dense range has no steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes {
    pub start: u64,
    pub run: u64,
    rank: u8,
    steps: [Step; MAX_STEPS],
}

/// Every pair of a view, and the one that moves it at run time.
const MAX_STEPS: usize = MAX_DIMS + 1;

/// The bytes of a view in a memory: `bytes` of each partition in `first_partition..end_partition`.
///
/// HBM has one partition, 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    pub memory: Memory,
    pub first_partition: u32,
    pub end_partition: u32,
    pub bytes: Bytes,
}

/// Comparisons of more combinations than this are answered as if the two overlapped.
const MAX_TRIES: u32 = 1 << 16;

impl Bytes {
    /// A dense range.
    pub fn dense(start: u64, end: u64) -> Bytes {
        Bytes {
            start,
            run: end - start,
            rank: 0,
            steps: [Step { stride: 0, count: 0 }; MAX_STEPS],
        }
    }

    /// The bytes of a view in each of its partitions (in HBM: all of them), counted from the start of its buffer.
    ///
    /// `None` when the view has no elements. The view lies inside its buffer.
    pub fn of(view: &View, memory: Memory) -> Option<Bytes> {
        Bytes::with_step(view, memory, None)
    }

    /// [`Bytes::of`] for all addresses that a dynamic view of a buffer can have.
    pub fn reach(view: &View, buffer: &Buffer) -> Option<Bytes> {
        let step = view.dynamic.map(|it| Step {
            stride: u64::from(it.stride) * u64::from(view.dtype.size()),
            count: u64::from(it.count).max(1),
        });
        Bytes::with_step(
            view,
            buffer.memory,
            step.filter(|it| it.stride > 0 && it.count > 1),
        )
    }

    fn with_step(view: &View, memory: Memory, step: Option<Step>) -> Option<Bytes> {
        let size = i64::from(view.dtype.size());
        let skip = usize::from(memory.is_on_chip());
        // Most tiles are rows without holes.
        if let ([partitions, Dim { stride: 1, count }], 1, None) = (view.dims(), skip, step)
            && partitions.count > 0
            && *count > 0
        {
            let start = u64::try_from(view.offset * size).unwrap_or(0);
            return Some(Bytes::dense(start, start + u64::from(*count) * size as u64));
        }
        let mut start = view.offset * size;
        let mut bytes = Bytes::dense(0, size as u64);
        for dim in &view.dims()[skip..] {
            let stride = i64::from(dim.stride) * size;
            match dim.count {
                0 => return None,
                1 => continue,
                _ if stride == 0 => continue,
                _ => {}
            }
            if stride < 0 {
                start += stride * i64::from(dim.count - 1);
            }
            bytes.insert(Step {
                stride: stride.unsigned_abs(),
                count: u64::from(dim.count),
            });
        }
        if view.dims()[..skip].iter().any(|it| it.count == 0) {
            return None;
        }
        if let Some(step) = step {
            bytes.insert(step);
        }
        bytes.start = u64::try_from(start).unwrap_or(0);
        bytes.merge();
        Some(bytes)
    }

    /// Inserts a step by falling stride.
    fn insert(&mut self, step: Step) {
        let rank = usize::from(self.rank);
        let at = self.steps[..rank].partition_point(|it| it.stride >= step.stride);
        self.steps.copy_within(at..rank, at + 1);
        self.steps[at] = step;
        self.rank += 1;
    }

    /// Merges steps into the run, then into each other.
    fn merge(&mut self) {
        while let Some(last) = self.steps().last() {
            if last.stride > self.run {
                break;
            }
            self.run += last.stride * (last.count - 1);
            self.rank -= 1;
        }
        let mut n_kept = 0;
        for idx in 0..usize::from(self.rank) {
            let step = self.steps[idx];
            let outer = n_kept;
            if outer > 0 && self.steps[outer - 1].stride == step.stride * step.count {
                let count = step.count * self.steps[outer - 1].count;
                self.steps[outer - 1] = Step { count, ..step };
            } else {
                self.steps[n_kept] = step;
                n_kept += 1;
            }
        }
        for step in &mut self.steps[n_kept..] {
            *step = Step { stride: 0, count: 0 };
        }
        self.rank = n_kept as u8;
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps[..usize::from(self.rank)]
    }

    pub fn is_dense(&self) -> bool {
        self.rank == 0
    }

    /// One past the last byte.
    pub fn end(&self) -> u64 {
        self.start + extent(self.steps(), self.run)
    }

    /// The same bytes, `by` bytes further.
    pub fn shifted(mut self, by: u64) -> Bytes {
        self.start += by;
        self
    }

    /// The bytes from `start` on and before `end`, and of the first and the last repetition that reach over them perhaps
    /// some outside; `None` when no repetition meets the range.
    pub fn clipped(mut self, start: u64, end: u64) -> Option<Bytes> {
        while let Some((outer, inner)) = self.steps().split_first() {
            let (first, after) = repetitions_in(self.start, *outer, extent(inner, self.run), start, end);
            let count = after.checked_sub(first).filter(|it| *it > 0)?;
            self.start += first * outer.stride;
            if count > 1 {
                self.steps[0].count = count;
                return Some(self);
            }
            self.steps.copy_within(1.., 0);
            self.steps[MAX_STEPS - 1] = Step { stride: 0, count: 0 };
            self.rank -= 1;
        }
        let (start, end) = (self.start.max(start), self.end().min(end));
        (start < end).then(|| Bytes::dense(start, end))
    }

    /// Bytes in all runs together; bytes that two runs share count twice.
    pub fn count(&self) -> u64 {
        self.run * self.steps().iter().map(|it| it.count).product::<u64>()
    }

    /// Calls `visit` with the start and end of every run.
    pub fn for_each_run(&self, mut visit: impl FnMut(u64, u64)) {
        visit_runs(self.start, self.steps(), self.run, &mut visit);
    }

    /// A byte that both sets have.
    pub fn common(&self, other: &Bytes) -> Option<u64> {
        if self.end() <= other.start || other.end() <= self.start {
            return None;
        }
        let mut tries = 0;
        common(
            (self.start, self.steps(), self.run),
            (other.start, other.steps(), other.run),
            &mut tries,
        )
    }

    /// Whether every byte of `other` is in this set. May answer no for sets with two steps or more.
    pub fn contains(&self, other: &Bytes) -> bool {
        if self.is_dense() {
            return self.start <= other.start && other.end() <= self.end();
        }
        if self == other {
            return true;
        }
        let [step] = *self.steps() else { return false };
        let count = match *other.steps() {
            [] => 1,
            [it] if it.stride == step.stride => it.count,
            _ => return false,
        };
        let Some(distance) = other.start.checked_sub(self.start) else {
            return false;
        };
        distance / step.stride + count <= step.count && distance % step.stride + other.run <= self.run
    }
}

impl Footprint {
    /// The bytes of a view of a placed program, all that it can touch when it is dynamic; `None` when it has no elements.
    pub fn of(program: &Program, placement: &Placement, view: &View) -> Option<Footprint> {
        let memory = program.memory(view);
        let bytes = Bytes::reach(view, &program[view.buffer])?;
        Some(match placement.region(view.buffer) {
            Region::Hbm { address } => Footprint {
                memory,
                first_partition: 0,
                end_partition: 1,
                bytes: bytes.shifted(address),
            },
            Region::OnChip { partition, start, .. } => {
                let first_partition = u32::from(partition) + u32::from(view.partition);
                Footprint {
                    memory,
                    first_partition,
                    end_partition: first_partition + view.partitions(),
                    bytes: bytes.shifted(u64::from(start)),
                }
            }
        })
    }

    /// All bytes of a placed buffer that has some.
    pub fn of_buffer(program: &Program, placement: &Placement, buffer: BufferId) -> Footprint {
        let memory = program[buffer].memory;
        match placement.region(buffer) {
            Region::Hbm { address } => Footprint {
                memory,
                first_partition: 0,
                end_partition: 1,
                bytes: Bytes::dense(address, address + program[buffer].bytes()),
            },
            Region::OnChip {
                partition,
                partitions,
                start,
                end,
            } => Footprint {
                memory,
                first_partition: u32::from(partition),
                end_partition: u32::from(partition) + u32::from(partitions),
                bytes: Bytes::dense(u64::from(start), u64::from(end)),
            },
        }
    }

    /// A partition and a byte in it that both have.
    pub fn common(&self, other: &Footprint) -> Option<(u32, u64)> {
        let partition = self.first_partition.max(other.first_partition);
        if self.memory != other.memory || partition >= self.end_partition.min(other.end_partition) {
            return None;
        }
        self.bytes.common(&other.bytes).map(|byte| (partition, byte))
    }

    /// Whether every byte of `other` is here too. May answer no for patterns with two steps or more.
    pub fn contains(&self, other: &Footprint) -> bool {
        self.memory == other.memory
            && self.first_partition <= other.first_partition
            && other.end_partition <= self.end_partition
            && self.bytes.contains(&other.bytes)
    }
}

fn extent(steps: &[Step], run: u64) -> u64 {
    run + steps.iter().map(|it| it.stride * (it.count - 1)).sum::<u64>()
}

/// Of the repetitions of a set that extends over so many bytes, those from the first number on and before the second meet
/// a range.
fn repetitions_in(at: u64, step: Step, extent: u64, start: u64, end: u64) -> (u64, u64) {
    let first = (start + 1).saturating_sub(at + extent).div_ceil(step.stride);
    (
        first,
        end.saturating_sub(at).div_ceil(step.stride).min(step.count),
    )
}

fn visit_runs(start: u64, steps: &[Step], run: u64, visit: &mut impl FnMut(u64, u64)) {
    let Some((step, inner)) = steps.split_first() else {
        return visit(start, start + run);
    };
    for idx in 0..step.count {
        let start = start + idx * step.stride;
        match inner {
            [] => visit(start, start + run),
            _ => visit_runs(start, inner, run, visit),
        }
    }
}

/// A start, steps and a run: a set of bytes whose outer steps are taken off one by one.
type Rest<'a> = (u64, &'a [Step], u64);

/// A common byte of two sets whose bounding ranges overlap.
///
/// The set with the larger outer stride is unrolled where the other one's range can be met. When both have the same
/// stride only the difference of the two indices matters, so tiles of one tensor are told apart in a few tries.
fn common(a: Rest, b: Rest, tries: &mut u32) -> Option<u64> {
    *tries += 1;
    let meet = a.0.max(b.0);
    if *tries > MAX_TRIES {
        return Some(meet);
    }
    match (a.1.first(), b.1.first()) {
        (None, None) => Some(meet),
        (Some(x), Some(y)) if x.stride == y.stride => common_same_stride(a, b, tries),
        (Some(x), Some(y)) if x.stride < y.stride => common_unrolled(b, a, tries),
        (None, Some(_)) => common_unrolled(b, a, tries),
        (Some(_), _) => common_unrolled(a, b, tries),
    }
}

/// Unrolls the outer step of `a`, which `a` has.
fn common_unrolled(a: Rest, b: Rest, tries: &mut u32) -> Option<u64> {
    let (step, inner) = a.1.split_first().expect("the unrolled set has a step");
    let b_end = b.0 + extent(b.1, b.2);
    let (first, end) = repetitions_in(a.0, *step, extent(inner, a.2), b.0, b_end);
    (first..end).find_map(|idx| common((a.0 + idx * step.stride, inner, a.2), b, tries))
}

/// Takes the outer step, whose stride is the same, off both.
fn common_same_stride(a: Rest, b: Rest, tries: &mut u32) -> Option<u64> {
    let (a_step, a_inner) = a.1.split_first().expect("both sets have a step");
    let (b_step, b_inner) = b.1.split_first().expect("both sets have a step");
    let stride = a_step.stride;
    let a_extent = extent(a_inner, a.2);
    let b_extent = extent(b_inner, b.2);
    // Copy `k` of `a` against copy 0 of `b`, then copy 0 of `a` against copy `k` of `b`.
    let (first, end) = repetitions_in(a.0, *a_step, a_extent, b.0, b.0 + b_extent);
    for idx in first..end {
        let found = common((a.0 + idx * stride, a_inner, a.2), (b.0, b_inner, b.2), tries);
        if found.is_some() {
            return found;
        }
    }
    let (first, end) = repetitions_in(b.0, *b_step, b_extent, a.0, a.0 + a_extent);
    (first.max(1)..end).find_map(|idx| common((a.0, a_inner, a.2), (b.0 + idx * stride, b_inner, b.2), tries))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype;
    use crate::ir::{BufferId, Dim};
    use std::collections::BTreeSet;

    /// A small generator of pseudo-random numbers, so that the test needs no dependency and repeats.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % n
        }
    }

    fn random_view(random: &mut Random) -> View {
        let dtype = [Dtype::U8, Dtype::Bf16, Dtype::F32][random.below(3) as usize];
        let mut dims = vec![];
        let mut low = 0;
        for _ in 0..random.below(4) {
            let stride = random.below(13) as i32 - 4;
            let count = 1 + random.below(5) as u32;
            low += i64::from(stride.min(0)) * i64::from(count - 1);
            dims.push(Dim { stride, count });
        }
        View::new(BufferId::new(0), dtype, 0, random.below(24) as i64 - low, &dims)
            .expect("at most three pairs")
    }

    /// Every byte of a view, by plain loops over its pairs.
    fn enumerate(view: &View) -> BTreeSet<u64> {
        let mut elements = vec![view.offset];
        for dim in view.dims() {
            elements = elements
                .iter()
                .flat_map(|&at| (0..dim.count).map(move |k| at + i64::from(dim.stride) * i64::from(k)))
                .collect();
        }
        let size = i64::from(view.dtype.size());
        elements
            .iter()
            .flat_map(|&it| (it * size..(it + 1) * size).map(|it| it as u64))
            .collect()
    }

    #[test]
    fn sets_agree_with_enumeration() {
        let mut random = Random(7);
        let mut n_overlaps = 0;
        for _ in 0..20_000 {
            let (a, b) = (random_view(&mut random), random_view(&mut random));
            let (x, y) = (enumerate(&a), enumerate(&b));
            let p = Bytes::of(&a, Memory::Hbm).expect("counts are positive");
            let q = Bytes::of(&b, Memory::Hbm).expect("counts are positive");
            let mut runs = BTreeSet::new();
            p.for_each_run(|start, end| runs.extend(start..end));
            assert_eq!(runs, x, "{a:?}");
            assert_eq!((p.start, p.end()), (*x.first().unwrap(), x.last().unwrap() + 1));
            let common = p.common(&q);
            assert_eq!(common.is_some(), !x.is_disjoint(&y), "{a:?} {b:?}");
            if let Some(byte) = common {
                assert!(x.contains(&byte) && y.contains(&byte), "{a:?} {b:?} {byte}");
                n_overlaps += 1;
            }
            if p.contains(&q) {
                assert!(y.is_subset(&x), "{a:?} {b:?}");
            }
            let (start, end) = (q.start, q.end());
            let mut clipped = BTreeSet::new();
            if let Some(it) = p.clipped(start, end) {
                it.for_each_run(|start, end| clipped.extend(start..end));
            }
            assert!(clipped.is_subset(&x), "{a:?} {start} {end}");
            assert!(
                x.range(start..end).all(|it| clipped.contains(it)),
                "{a:?} {start} {end}"
            );
        }
        assert!(n_overlaps > 5_000);
    }

    #[test]
    fn tiles_of_one_tensor_are_told_apart() {
        let tile = |row: i64, column: i64| {
            let dims = [
                Dim {
                    stride: 4096,
                    count: 128,
                },
                Dim {
                    stride: 1,
                    count: 512,
                },
            ];
            let view = View::new(BufferId::new(0), Dtype::Bf16, 0, row * 4096 + column, &dims);
            Bytes::of(&view.expect("two pairs"), Memory::Hbm).expect("not empty")
        };
        assert!(tile(0, 0).common(&tile(0, 512)).is_none());
        assert!(tile(0, 0).common(&tile(64, 512)).is_none());
        assert!(tile(0, 0).common(&tile(64, 500)).is_some());
        assert!(tile(0, 0).contains(&tile(0, 0)));
    }
}
