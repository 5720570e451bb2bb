//! Masks: comparisons of index tensors, combined.
//!
//! A mask is a list of conditions that all hold, each an affine form compared with zero. Matched by position with the
//! dimensions of a tile, it says which elements an instruction touches: all, none, a rectangle, or a general set.

use super::affine::{Affine, broadcast_size};
use crate::ast::CmpOp;
use crate::ir::MAX_DIMS;

/// What a form must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    NotNegative,
    Zero,
    NotZero,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    pub form: Affine,
    pub test: Test,
}

impl Condition {
    /// The condition with the outer coordinates given.
    pub fn fixed(&self, shape: &[u32], outer: &[u32]) -> Condition {
        let form = self.form.aligned(shape.len());
        let mut fixed = Affine::constant(form.start);
        for (dim, (&size, &step)) in form.sizes().iter().zip(form.steps()).enumerate() {
            match outer.get(dim) {
                Some(&at) => {
                    fixed.start = fixed.start.saturating_add(step.saturating_mul(at.into()));
                    fixed = fixed.with_dim(1, 0);
                }
                None => fixed = fixed.with_dim(size, step),
            }
        }
        Condition {
            form: fixed,
            test: self.test,
        }
    }
}

/// Conditions that all hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Mask {
    pub conditions: Vec<Condition>,
}

/// The elements that a mask lets through.
#[derive(Clone, Debug, PartialEq)]
pub enum Extent {
    All,
    Nothing,
    Rectangle(Rectangle),
    /// No rectangle.
    General,
}

/// Coordinates `lows[d] .. highs[d]` of each dimension of a tile of `sizes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    pub rank: usize,
    /// 1 where the mask says nothing about the dimension.
    pub sizes: [u32; MAX_DIMS],
    pub lows: [u32; MAX_DIMS],
    pub highs: [u32; MAX_DIMS],
}

impl Rectangle {
    pub fn whole(sizes: &[u32]) -> Rectangle {
        let mut out = Rectangle {
            rank: sizes.len(),
            sizes: [1; MAX_DIMS],
            lows: [0; MAX_DIMS],
            highs: [1; MAX_DIMS],
        };
        out.sizes[..sizes.len()].copy_from_slice(sizes);
        out.highs[..sizes.len()].copy_from_slice(sizes);
        out
    }

    pub fn is_whole(&self) -> bool {
        (0..self.rank).all(|it| self.lows[it] == 0 && self.highs[it] == self.sizes[it])
    }

    pub fn is_empty(&self) -> bool {
        (0..self.rank).any(|it| self.lows[it] >= self.highs[it])
    }

    /// Whether it cuts a dimension other than the first.
    pub fn cuts_free(&self) -> bool {
        (1..self.rank).any(|it| self.lows[it] != 0 || self.highs[it] != self.sizes[it])
    }

    /// What two rectangles of one rank share; `None` when they are about different tiles.
    pub fn shared(&self, other: &Rectangle) -> Option<Rectangle> {
        let mut out = *self;
        if self.rank != other.rank {
            return None;
        }
        for dim in 0..self.rank {
            match (self.sizes[dim], other.sizes[dim]) {
                (a, b) if a == b => {
                    out.lows[dim] = self.lows[dim].max(other.lows[dim]);
                    out.highs[dim] = self.highs[dim].min(other.highs[dim]);
                }
                (1, b) => {
                    (out.sizes[dim], out.lows[dim], out.highs[dim]) = (b, other.lows[dim], other.highs[dim])
                }
                (_, 1) => {}
                _ => return None,
            }
        }
        Some(out)
    }
}

impl Mask {
    /// The mask of a comparison; `None` when the shapes do not broadcast.
    pub fn compared(op: CmpOp, left: &Affine, right: &Affine) -> Option<Mask> {
        let difference = left.sum(&right.negated())?;
        let (form, test) = match op {
            CmpOp::Ge => (difference, Test::NotNegative),
            CmpOp::Gt => (difference.plus(-1), Test::NotNegative),
            CmpOp::Le => (difference.negated(), Test::NotNegative),
            CmpOp::Lt => (difference.negated().plus(-1), Test::NotNegative),
            CmpOp::Ne => (difference, Test::NotZero),
            _ => (difference, Test::Zero),
        };
        let conditions = vec![Condition { form, test }];
        Some(Mask { conditions })
    }

    /// A mask that lets everything through, or nothing.
    pub fn always(passes: bool) -> Mask {
        let never = Condition {
            form: Affine::constant(-1),
            test: Test::NotNegative,
        };
        Mask {
            conditions: if passes { Vec::new() } else { vec![never] },
        }
    }

    pub fn and(&self, other: &Mask) -> Mask {
        Mask {
            conditions: self.conditions.iter().chain(&other.conditions).copied().collect(),
        }
    }

    /// The opposite, where it is one condition.
    pub fn inverted(&self) -> Option<Mask> {
        let [condition] = self.conditions.as_slice() else {
            return None;
        };
        let (form, test) = match condition.test {
            Test::NotNegative => (condition.form.negated().plus(-1), Test::NotNegative),
            Test::Zero => (condition.form, Test::NotZero),
            Test::NotZero => (condition.form, Test::Zero),
        };
        Some(Mask {
            conditions: vec![Condition { form, test }],
        })
    }

    /// What it lets through. Conditions that always hold do not count.
    pub fn extent(&self) -> Extent {
        let rank = self.conditions.iter().map(|it| it.form.rank()).max().unwrap_or(0);
        let mut out = Rectangle::whole(&[1; MAX_DIMS][..rank]);
        for condition in &self.conditions {
            for (dim, &size) in condition.form.aligned(rank).sizes().iter().enumerate() {
                match broadcast_size(out.sizes[dim], size) {
                    Some(size) => (out.sizes[dim], out.highs[dim]) = (size, size),
                    None => return Extent::General,
                }
            }
        }
        let mut is_general = false;
        for condition in &self.conditions {
            match cut(&mut out, &condition.form.aligned(rank), condition.test) {
                Cut::Fits => {}
                Cut::Never => return Extent::Nothing,
                Cut::General => is_general = true,
            }
        }
        match (out.is_empty(), is_general) {
            (true, _) => Extent::Nothing,
            (_, true) => Extent::General,
            _ if out.is_whole() => Extent::All,
            _ => Extent::Rectangle(out),
        }
    }

    /// The conditions that do not hold everywhere.
    pub fn open_conditions(&self) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(|it| {
            let (least, greatest) = it.form.whole_reach();
            match it.test {
                Test::NotNegative => least < 0,
                Test::Zero => least != 0 || greatest != 0,
                Test::NotZero => least <= 0 && greatest >= 0,
            }
        })
    }
}

enum Cut {
    Fits,
    Never,
    General,
}

/// Cuts a rectangle by one condition.
fn cut(out: &mut Rectangle, form: &Affine, test: Test) -> Cut {
    let (least, greatest) = form.whole_reach();
    let moving = form.steps().iter().filter(|it| **it != 0).count();
    let always = match test {
        Test::NotNegative => least >= 0,
        Test::Zero => least == 0 && greatest == 0,
        Test::NotZero => least > 0 || greatest < 0,
    };
    let never = match test {
        Test::NotNegative => greatest < 0,
        Test::Zero => least > 0 || greatest < 0,
        Test::NotZero => least == 0 && greatest == 0,
    };
    if always {
        return Cut::Fits;
    }
    if never {
        return Cut::Never;
    }
    let Some(dim) = form
        .steps()
        .iter()
        .position(|it| *it != 0)
        .filter(|_| moving == 1)
    else {
        return Cut::General;
    };
    let (step, start) = (form.steps()[dim], form.start);
    let clamped = |it: i64| it.clamp(0, i64::from(out.sizes[dim])) as u32;
    match test {
        // step * i + start >= 0.
        Test::NotNegative if step > 0 => {
            out.lows[dim] = out.lows[dim].max(clamped(
                (-start).div_euclid(step) + i64::from((-start).rem_euclid(step) != 0),
            ))
        }
        Test::NotNegative => out.highs[dim] = out.highs[dim].min(clamped(start.div_euclid(-step) + 1)),
        Test::Zero if start % step == 0 => {
            let at = -start / step;
            out.lows[dim] = out.lows[dim].max(clamped(at));
            out.highs[dim] = out.highs[dim].min(clamped(at + 1));
        }
        Test::Zero => return Cut::Never,
        Test::NotZero => return Cut::General,
    }
    Cut::Fits
}
