//! An index of rectangles: which of many views of one buffer may overlap a given one.
//!
//! Takes rectangles with ids, gives the ids near a rectangle. Rows are partitions, or in HBM the rows of the tensor;
//! columns are bytes. A rectangle holds its view, so near is not yet overlapping.

use crate::footprint::Footprint;
use crate::isa::Memory;
use rustc_hash::FxHashMap;

/// Rows `row..end_row`, bytes `column..end_column` of each.
///
/// Programs have one for every view, so they are kept in 32 bits: what lies beyond, in HBM only, counts as one row or column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    pub row: u32,
    pub end_row: u32,
    pub column: u32,
    pub end_column: u32,
}

impl Rect {
    /// The bounding rectangle of a view, in HBM with rows of `pitch` bytes that count from address `origin`.
    pub fn of(footprint: &Footprint, origin: u64, pitch: u64) -> Rect {
        let bytes = &footprint.bytes;
        if footprint.memory != Memory::Hbm {
            return Rect {
                row: footprint.first_partition,
                end_row: footprint.end_partition,
                column: first(bytes.start),
                end_column: end(bytes.end()),
            };
        }
        let (start, stop) = (bytes.start - origin, bytes.end() - origin);
        let column = start % pitch;
        let mut end_column = column + bytes.run;
        for step in bytes.steps() {
            if !step.stride.is_multiple_of(pitch) {
                end_column += step.stride * (step.count - 1);
            }
        }
        let wraps = end_column > pitch;
        Rect {
            row: first(start / pitch),
            end_row: end((stop - 1) / pitch + 1),
            column: if wraps { 0 } else { first(column) },
            end_column: end(if wraps { pitch } else { end_column }),
        }
    }

    pub fn meets(&self, other: &Rect) -> bool {
        self.row < other.end_row
            && other.row < self.end_row
            && self.column < other.end_column
            && other.column < self.end_column
    }

    pub fn contains(&self, other: &Rect) -> bool {
        self.row <= other.row
            && other.end_row <= self.end_row
            && self.column <= other.column
            && other.end_column <= self.end_column
    }

    /// What both have; only meaningful when they meet.
    pub fn clipped(&self, other: &Rect) -> Rect {
        Rect {
            row: self.row.max(other.row),
            end_row: self.end_row.min(other.end_row),
            column: self.column.max(other.column),
            end_column: self.end_column.min(other.end_column),
        }
    }

    /// The smallest rectangle that holds both.
    pub fn joined(&self, other: &Rect) -> Rect {
        Rect {
            row: self.row.min(other.row),
            end_row: self.end_row.max(other.end_row),
            column: self.column.min(other.column),
            end_column: self.end_column.max(other.end_column),
        }
    }

    pub fn area(&self) -> u64 {
        u64::from(self.end_row - self.row) * u64::from(self.end_column - self.column)
    }
}

fn first(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX).min(u32::MAX - 1)
}

fn end(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A cell of the grid, row first.
type Cell = (u32, u32);

/// A rectangle that touches more cells than this is kept in a list of its own.
const MAX_CELLS: u64 = 64;

/// Rectangles by the cells of a grid that they touch.
#[derive(Debug)]
pub struct Grid {
    cell_rows: u32,
    cell_columns: u32,
    /// Each entry with the first cell it touches, so that a pair is met in one cell only.
    cells: FxHashMap<Cell, Vec<(u32, Cell)>>,
    wide: Vec<u32>,
}

impl Grid {
    /// A grid whose cells have the mean size of the given rectangles.
    pub fn new(rects: impl Iterator<Item = Rect>) -> Grid {
        let (mut n, mut rows, mut columns) = (0u64, 0u64, 0u64);
        for it in rects {
            n += 1;
            rows += u64::from(it.end_row - it.row);
            columns += u64::from(it.end_column - it.column);
        }
        let mean = |sum: u64| end(sum.div_ceil(n.max(1)).max(1));
        Grid {
            cell_rows: mean(rows),
            cell_columns: mean(columns),
            cells: FxHashMap::default(),
            wide: Vec::new(),
        }
    }

    /// The first and the last cell of a rectangle.
    fn span(&self, rect: &Rect) -> (Cell, Cell) {
        let first = (rect.row / self.cell_rows, rect.column / self.cell_columns);
        let last = (
            (rect.end_row - 1) / self.cell_rows,
            (rect.end_column - 1) / self.cell_columns,
        );
        (first, last)
    }

    pub fn insert(&mut self, id: u32, rect: &Rect) {
        let (first, last) = self.span(rect);
        if n_cells(first, last) > MAX_CELLS {
            return self.wide.push(id);
        }
        for cell in cells(first, last) {
            self.cells.entry(cell).or_default().push((id, first));
        }
    }

    /// Calls `visit` once with every id whose rectangle may meet `rect`.
    pub fn near(&self, rect: &Rect, mut visit: impl FnMut(u32)) {
        self.wide.iter().for_each(|&it| visit(it));
        let (first, last) = self.span(rect);
        if n_cells(first, last) > self.cells.len() as u64 {
            for (cell, entries) in &self.cells {
                entries
                    .iter()
                    .filter(|it| it.1 == *cell)
                    .for_each(|it| visit(it.0));
            }
            return;
        }
        for cell in cells(first, last) {
            let entries = self.cells.get(&cell).map_or(&[][..], Vec::as_slice);
            for &(id, start) in entries {
                if (start.0.max(first.0), start.1.max(first.1)) == cell {
                    visit(id);
                }
            }
        }
    }
}

fn n_cells(first: Cell, last: Cell) -> u64 {
    (u64::from(last.0 - first.0) + 1) * (u64::from(last.1 - first.1) + 1)
}

fn cells(first: Cell, last: Cell) -> impl Iterator<Item = Cell> {
    (first.0..=last.0).flat_map(move |row| (first.1..=last.1).map(move |column| (row, column)))
}
