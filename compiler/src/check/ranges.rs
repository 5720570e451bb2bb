//! Flat ranges of elements as index ranges of their tensor.
//!
//! Takes ascending ranges of a row-major order, gives boxes; rows that miss the same columns make one box.

use super::Gap;
use crate::ir::{BufferId, Program};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The elements of gaps as index ranges of their tensor.
pub fn element_ranges(program: &Program, id: BufferId, gaps: &[Gap]) -> String {
    let buffer = &program[id];
    let size = u64::from(buffer.dtype.size());
    let shape = &buffer.shape[usize::from(buffer.memory.is_on_chip())..];
    let mut found = Vec::new();
    let mut gaps: Vec<Gap> = gaps.to_vec();
    gaps.sort_by_key(|it| (it.first_partition, it.end_partition, it.start));
    let is_alike =
        |a: &Gap, b: &Gap| (a.first_partition, a.end_partition) == (b.first_partition, b.end_partition);
    for alike in gaps.chunk_by(is_alike) {
        let elements: Vec<Range<u64>> = alike
            .iter()
            .map(|it| it.start / size..it.end.div_ceil(size))
            .collect();
        for mut ranges in boxes(&elements, shape) {
            if buffer.memory.is_on_chip() {
                ranges.insert(
                    0,
                    u64::from(alike[0].first_partition)..u64::from(alike[0].end_partition),
                );
            }
            found.push(ranges);
        }
    }
    shown(&found)
}

/// The boxes that together are the ranges.
fn boxes(ranges: &[Range<u64>], shape: &[u32]) -> Vec<Vec<Range<u64>>> {
    let Some((&last, outer)) = shape.split_last() else {
        return vec![Vec::new()];
    };
    let width = u64::from(last).max(1);
    if outer.is_empty() {
        return ranges.iter().map(|it| vec![it.clone()]).collect();
    }
    // For each range of columns the rows that have it, in order of their first appearance.
    let mut columns: Vec<(Range<u64>, Vec<Range<u64>>)> = Vec::new();
    let mut places: FxHashMap<Range<u64>, usize> = FxHashMap::default();
    let mut add = |rows: Range<u64>, cut: Range<u64>| {
        if rows.is_empty() || cut.is_empty() {
            return;
        }
        let place = *places.entry(cut.clone()).or_insert(columns.len());
        match columns.get_mut(place) {
            Some((_, known)) => match known.last_mut().filter(|it| it.end == rows.start) {
                Some(before) => before.end = rows.end,
                None => known.push(rows),
            },
            None => columns.push((cut, vec![rows])),
        }
    };
    for range in ranges {
        let (first, end) = (range.start / width, range.end / width);
        let (from, to) = (range.start % width, range.end % width);
        if first == end {
            add(first..first + 1, from..to);
            continue;
        }
        let full = if from == 0 { first } else { first + 1 };
        if from > 0 {
            add(first..first + 1, from..width);
        }
        add(full..end, 0..width);
        add(end..end + 1, 0..to);
    }
    let with_columns = |(cut, rows): &(Range<u64>, Vec<Range<u64>>)| -> Vec<Vec<Range<u64>>> {
        let mut found = boxes(rows, outer);
        found.iter_mut().for_each(|it| it.push(cut.clone()));
        found
    };
    columns.iter().flat_map(with_columns).collect()
}

/// A few boxes as text: `[0:128, 384:512], [127:128, 0:384] and 3 more`.
fn shown(boxes: &[Vec<Range<u64>>]) -> String {
    const MAX_BOXES: usize = 4;
    if let Some(text) = strided(boxes) {
        return text;
    }
    let one = |it: &Vec<Range<u64>>| {
        let ranges: Vec<String> = it.iter().map(|it| format!("{}:{}", it.start, it.end)).collect();
        format!("[{}]", ranges.join(", "))
    };
    let first: Vec<String> = boxes.iter().take(MAX_BOXES).map(one).collect();
    match boxes.len().saturating_sub(MAX_BOXES) {
        0 => first.join(", "),
        more => format!("{} and {more} more ranges", first.join(", ")),
    }
}

/// Boxes that are equally spaced in their first index, as one: `[1:128:2, 0:64]`.
fn strided(boxes: &[Vec<Range<u64>>]) -> Option<String> {
    let ([first, second, ..], Some(last)) = (boxes, boxes.last()) else {
        return None;
    };
    let step = second.first()?.start.checked_sub(first.first()?.start)?;
    let (start, end) = (first[0].start, last.first()?.end);
    let is_even = boxes.iter().zip((start..).step_by(step.max(1) as usize));
    let mut is_even = is_even.map(|(it, at)| it[0] == (at..at + 1) && it[1..] == first[1..]);
    if !is_even.all(|it| it) {
        return None;
    }
    let rest = first[1..].iter().map(|it| format!(", {}:{}", it.start, it.end));
    Some(format!("[{start}:{end}:{step}{}]", rest.collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_miss_the_same_columns_are_one_box() {
        let ranges: Vec<Range<u64>> = (0..4).map(|row| row * 8 + 5..row * 8 + 8).collect();
        assert_eq!(shown(&boxes(&ranges, &[4, 8])), "[0:4, 5:8]");
        assert_eq!(
            shown(&boxes(std::slice::from_ref(&(5..19)), &[4, 8])),
            "[0:1, 5:8], [1:2, 0:8], [2:3, 0:3]"
        );
        assert_eq!(
            shown(&boxes(std::slice::from_ref(&(16..32)), &[2, 2, 8])),
            "[1:2, 0:2, 0:8]"
        );
        assert_eq!(shown(&boxes(&[8..16, 24..32, 40..48], &[8, 8])), "[1:6:2, 0:8]");
    }
}
