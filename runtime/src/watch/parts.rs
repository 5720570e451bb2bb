//! The elements that a view stands for at the moment at which its instruction runs.
//!
//! Takes resolved views, the memory and the registers, gives accesses without a movement. Rows whose index is out of bounds
//! are left out: the instruction skips them, or stops by itself.

use crate::access::Access;
use crate::fault::read_index;
use crate::memory::Memory;

/// A part of a view in row-major order of the view.
#[derive(Clone, Debug)]
pub struct Part {
    /// The position of its first element in the view.
    pub first: u64,
    pub access: Access,
}

/// Neighbouring elements.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The position of the first one in the view.
    pub position: u64,
    /// Its offset in the reservation.
    pub at: u64,
    pub count: u64,
}

/// What a view stands for.
pub fn parts(access: &Access, memory: &Memory, registers: &[i32]) -> Vec<Part> {
    let Some(movement) = &access.movement else {
        return vec![Part {
            first: 0,
            access: access.clone(),
        }];
    };
    if !access.has_row_indices() {
        let index = read_index(movement, 0, memory, registers).ok();
        let part = index.map(|it| Part {
            first: 0,
            access: access.moved(it),
        });
        return part.into_iter().collect();
    }
    let rows = access.axes[0];
    let row_len = access.count() / u64::from(rows.count.max(1));
    let row = |number: u32| {
        let index = read_index(movement, number, memory, registers).ok()?;
        let mut moved = access.moved(index);
        moved.axes.remove(0);
        moved.start = moved.start.wrapping_add_signed(rows.stride * i64::from(number));
        Some(Part {
            first: u64::from(number) * row_len,
            access: moved,
        })
    };
    (0..rows.count).filter_map(row).collect()
}

/// The parts of a view row by row, with the numbers of the rows.
pub fn by_rows(parts: Vec<Part>, access: &Access) -> Vec<(u64, Part)> {
    let n_rows = u64::from(access.axes.first().map_or(1, |it| it.count));
    let row_len = (access.count() / n_rows.max(1)).max(1);
    let mut rows = Vec::new();
    for part in parts {
        if part.access.axes.len() < access.axes.len() {
            // It is a row already.
            rows.push((part.first / row_len, part));
            continue;
        }
        let first = part.access.axes[0];
        for number in 0..first.count {
            let mut row = part.access.clone();
            row.axes.remove(0);
            row.start = row.start.wrapping_add_signed(first.stride * i64::from(number));
            rows.push((
                u64::from(number),
                Part {
                    first: u64::from(number) * row_len,
                    access: row,
                },
            ));
        }
    }
    rows
}

/// Calls `visit` with every run of neighbouring elements, in row-major order.
pub fn for_each_run(parts: &[Part], mut visit: impl FnMut(Run)) {
    for part in parts {
        let axes = &part.access.axes;
        let size = i64::from(part.access.dtype.size());
        let (outer, inner) = match axes.split_last() {
            Some((last, outer)) if last.stride == size => (outer, u64::from(last.count)),
            _ => (&axes[..], 1),
        };
        let mut index = vec![0u32; outer.len()];
        let mut position = part.first;
        if part.access.count() == 0 {
            continue;
        }
        loop {
            let distance: i64 = outer
                .iter()
                .zip(&index)
                .map(|(axis, &it)| axis.stride * i64::from(it))
                .sum();
            visit(Run {
                position,
                at: part.access.start.wrapping_add_signed(distance),
                count: inner,
            });
            position += inner;
            // The index counts like an odometer, the last axis fastest.
            let turns = outer.iter().zip(&mut index).rev().any(|(axis, it)| {
                *it += 1;
                let goes_on = *it < axis.count;
                if !goes_on {
                    *it = 0;
                }
                goes_on
            });
            if !turns {
                break;
            }
        }
    }
}
