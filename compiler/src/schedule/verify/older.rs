//! Accesses of earlier buffers to the bytes of one buffer.
//!
//! Takes the accesses when the buffer is born, gives those that share bytes with one of its own. Bytes that the buffer has
//! written are forgotten: what follows is ordered behind the write.

use super::past::Past;
use crate::footprint::{Bytes, Footprint};

/// The last accesses to some bytes.
#[derive(Clone, Copy, Debug)]
pub struct Older {
    pub bytes: Footprint,
    pub writes: Past,
    pub reads: Past,
}

impl Older {
    /// The part inside a region, if any: the region is all bytes of a buffer.
    pub fn clipped(&self, region: &Footprint) -> Option<Older> {
        let mut part = *self;
        part.bytes.first_partition = self.bytes.first_partition.max(region.first_partition);
        part.bytes.end_partition = self.bytes.end_partition.min(region.end_partition);
        if part.bytes.first_partition >= part.bytes.end_partition {
            return None;
        }
        part.bytes.bytes = self.bytes.bytes.clipped(region.bytes.start, region.bytes.end())?;
        Some(part)
    }

    /// What a write leaves of it, when it leaves less.
    pub fn cut(&self, write: &Footprint) -> Option<[Option<Older>; 4]> {
        if write.contains(&self.bytes) {
            return Some([None; 4]);
        }
        let (a, b) = (&self.bytes, write);
        let is_dense = a.bytes.is_dense() && b.bytes.is_dense();
        if !is_dense || a.common(b).is_none() {
            return None;
        }
        let part = |partitions: (u32, u32), bytes: (u64, u64)| {
            let is_some = partitions.0 < partitions.1 && bytes.0 < bytes.1;
            is_some.then(|| Older {
                bytes: Footprint {
                    memory: a.memory,
                    first_partition: partitions.0,
                    end_partition: partitions.1,
                    bytes: Bytes::dense(bytes.0, bytes.1),
                },
                ..*self
            })
        };
        let all = (a.first_partition, a.end_partition);
        let (start, end) = (a.bytes.start, a.bytes.end());
        let middle = (start.max(b.bytes.start), end.min(b.bytes.end()));
        Some([
            part(all, (start, b.bytes.start)),
            part(all, (b.bytes.end(), end)),
            part((all.0, b.first_partition), middle),
            part((b.end_partition, all.1), middle),
        ])
    }
}

/// The list with what is said twice of the same bytes said once: several owners may hand on what one of them had.
pub fn merged(mut list: Vec<Older>) -> Vec<Older> {
    if list.len() > 1 {
        list.sort_by_key(|it| (it.bytes.first_partition, it.bytes.end_partition, it.bytes.bytes));
        list.dedup_by(|next, kept| {
            let is_same = next.bytes == kept.bytes;
            if is_same {
                kept.writes.join(&next.writes);
                kept.reads.join(&next.reads);
            }
            is_same
        });
    }
    list
}

/// Cuts what a write covers out of a list.
pub fn forget(list: &mut Vec<Older>, write: &Footprint) {
    if list.iter().all(|it| write.contains(&it.bytes)) {
        // Nothing is left of most lists.
        return list.clear();
    }
    let mut left = Vec::new();
    list.retain(|it| match it.cut(write) {
        None => true,
        Some(parts) => {
            left.extend(parts.into_iter().flatten());
            false
        }
    });
    list.append(&mut left);
}
