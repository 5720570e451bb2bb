//! What the programs of a grid leave unwritten of their results.
//!
//! Takes what each of two programs leaves, gives what both do. Never looks at values.

use nk_compiler::check::{Gap, Unwritten};

/// What two programs of a grid both leave unwritten. They make the same tensors in the same order.
pub fn common(before: &[Unwritten], now: &[Unwritten]) -> Vec<Unwritten> {
    let mut both = Vec::new();
    for it in now {
        let Some(other) = before.iter().find(|other| other.result == it.result) else {
            continue;
        };
        let gaps = common_gaps(&it.gaps, &other.gaps);
        if !gaps.is_empty() {
            both.push(Unwritten {
                result: it.result,
                gaps,
                by_dynamic: it.by_dynamic || other.by_dynamic,
            });
        }
    }
    both
}

/// The bytes in gaps of both lists. Results lie in HBM, which has no partitions, so the lists ascend by their bytes.
fn common_gaps(a: &[Gap], b: &[Gap]) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(&&first), Some(&&second)) = (a.peek(), b.peek()) {
        let (start, end) = (first.start.max(second.start), first.end.min(second.end));
        if start < end {
            gaps.push(Gap { start, end, ..first });
        }
        if first.end < second.end {
            a.next();
        } else {
            b.next();
        }
    }
    gaps
}
