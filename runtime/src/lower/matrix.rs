//! The Tensor engine's instructions as calls of matrix kernels.

use super::nest;
use super::{Call, Lowering};
use crate::access::Access;
use crate::kernels::{Identity, MatrixProduct, Plane};
use nk_compiler::ir::FirstWrite;
use nk_compiler::isa::{Accumulate, Arg, Engine, MAX_ARGS, Memory as Space};

type Args = [Arg; MAX_ARGS];

/// A tile as rows, one per partition.
fn plane(access: &Access) -> Plane {
    Plane {
        start: access.address(),
        dtype: access.dtype,
        rows: access.partitions() as usize,
        pitch: access.axes[0].stride,
        columns: access.free_count() as usize,
        loops: nest::single(access.free_axes())
            .iter()
            .map(|it| (it.count, it.strides[0]))
            .collect(),
    }
}

impl Lowering<'_> {
    pub(super) fn matmul(&mut self, args: &Args, first: &[FirstWrite]) {
        let [dst, stationary, moving, _, _, _, accumulate, ..] = args;
        let mut cleared = Vec::new();
        for range in first {
            for partition in range.first_partition..range.end_partition {
                let at = self
                    .layout
                    .offset(Space::Psum, partition.into(), range.start.into());
                cleared.push((at, (range.end - range.start) as usize));
            }
        }
        self.table.calls.push(Call::Product(Box::new(MatrixProduct {
            dst: plane(self.access(dst)),
            stationary: plane(self.access(stationary)),
            moving: plane(self.access(moving)),
            adds: *accumulate != Arg::Accumulate(Accumulate::Overwrite),
            cleared: if *accumulate == Arg::Accumulate(Accumulate::Auto) {
                cleared
            } else {
                Vec::new()
            },
        })));
    }

    pub(super) fn transpose(&mut self, args: &Args, engine: Engine) {
        let [dst, data, ..] = args;
        let (dst, data) = (self.access(dst), self.access(data));
        if engine == Engine::Tensor {
            return self.table.calls.push(Call::Identity(Box::new(Identity {
                dst: plane(dst),
                data: plane(data),
            })));
        }
        // dst runs over the free axes of the data first.
        self.convert_turned(dst, data, |axes| axes.rotate_left(1));
    }
}
