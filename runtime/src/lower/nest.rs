//! Loop nests: the loops that several operands of different shapes can share.
//!
//! Takes the axes of operands with equal element counts, gives one list of loops with a stride per operand, as few and as
//! long as possible. Never looks at memory.

use crate::access::Axis;

/// The most operands that share a nest.
pub const MAX_OPERANDS: usize = 4;

/// One loop: how often it runs, and how far each operand moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loop {
    pub count: u32,
    pub strides: [i64; MAX_OPERANDS],
}

/// The loops that visit all operands in row-major order, outermost first; `None` when their shapes have no common
/// refinement, such as 4 x 6 beside 6 x 4. Operands that are all alike in one element need no loop.
pub fn refine(operands: &[&[Axis]]) -> Option<Vec<Loop>> {
    let mut rest: Vec<Vec<Axis>> = operands.iter().map(|it| merged(it)).collect();
    let mut loops: Vec<Loop> = Vec::new();
    while rest.iter().any(|it| !it.is_empty()) {
        let inner: Option<Vec<Axis>> = rest.iter().map(|it| it.last().copied()).collect();
        let inner = inner.expect("operands that share a nest have equally many elements");
        let count = inner.iter().fold(0, |acc, it| gcd(acc, it.count));
        if count == 1 {
            return None;
        }
        let mut strides = [0; MAX_OPERANDS];
        for (stride, axis) in strides.iter_mut().zip(&inner) {
            *stride = axis.stride;
        }
        for (axes, axis) in rest.iter_mut().zip(inner) {
            axes.pop();
            if axis.count > count {
                axes.push(Axis {
                    count: axis.count / count,
                    stride: axis.stride * i64::from(count),
                });
            }
        }
        push_outer(&mut loops, Loop { count, strides });
    }
    loops.reverse();
    Some(loops)
}

/// The axes of one operand, without those of one element and those that continue the next one.
fn merged(axes: &[Axis]) -> Vec<Axis> {
    let mut result: Vec<Axis> = Vec::new();
    for &axis in axes.iter().filter(|it| it.count != 1) {
        match result.last_mut() {
            Some(outer) if outer.stride == axis.stride * i64::from(axis.count) => {
                outer.stride = axis.stride;
                outer.count *= axis.count;
            }
            _ => result.push(axis),
        }
    }
    result
}

/// Adds a loop around the others, which stand innermost first; merges it with the next one if no operand minds.
fn push_outer(loops: &mut Vec<Loop>, outer: Loop) {
    if let Some(inner) = loops.last_mut() {
        let continues = |(out, inn): (&i64, &i64)| *out == inn * i64::from(inner.count);
        if outer.strides.iter().zip(&inner.strides).all(continues) {
            inner.count *= outer.count;
            return;
        }
    }
    loops.push(outer);
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The loops of one operand.
pub fn single(axes: &[Axis]) -> Vec<Loop> {
    refine(&[axes]).expect("one operand always refines itself")
}

/// How many trailing loops an operand visits without a gap, elements being `size` bytes, and the elements in them.
pub fn contiguous(loops: &[Loop], operand: usize, size: u32) -> (usize, u32) {
    let (mut n_loops, mut count) = (0, 1);
    for it in loops.iter().rev() {
        if it.strides[operand] != i64::from(count) * i64::from(size) {
            break;
        }
        n_loops += 1;
        count *= it.count;
    }
    (n_loops, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(pairs: &[(u32, i64)]) -> Vec<Axis> {
        pairs
            .iter()
            .map(|&(count, stride)| Axis { count, stride })
            .collect()
    }

    #[test]
    fn shapes_are_refined_and_merged() {
        let (a, b) = (axes(&[(4, 40), (6, 4)]), axes(&[(24, 4)]));
        let loops = refine(&[&a, &b]).expect("4 x 6 refines 24");
        let flat: Vec<(u32, i64, i64)> = loops
            .iter()
            .map(|it| (it.count, it.strides[0], it.strides[1]))
            .collect();
        assert_eq!(flat, [(4, 40, 24), (6, 4, 4)]);
        assert_eq!(
            refine(&[&b, &axes(&[(3, 32), (8, 4)])]).map(|it| it.len()),
            Some(1)
        );
        assert_eq!(refine(&[&a, &axes(&[(6, 40), (4, 4)])]), None);
        assert_eq!(
            refine(&[&a, &axes(&[(6, 16), (4, 4)])]).map(|it| it.len()),
            Some(2)
        );
        assert_eq!(refine(&[&axes(&[(1, 7)]), &axes(&[])]), Some(vec![]));
    }
}
