//! Instructions that one Rust kernel executes on rows: the shapes and dtypes they come in are brought into the kernel's
//! form by copies and casts around it.
//!
//! Takes verified operands, gives calls. A kernel reads rows of f32 or of raw elements and writes rows of its own; what it
//! writes overlaps nothing that it reads.

use super::map::{Body, Step};
use super::{Call, Lowering, StagedRows, elementwise, nest};
use crate::access::Access;
use crate::kernels::{
    Aggregate, Bounds, Drop, Field, Find, FoldBytes, FoldRows, Gather, Largest, Replace, Scalar, Seed,
    SharedGather, ShuffleRows, TileKernel, Triples, Words,
};
use crate::reference::alu::{mask, width};
use crate::reference::cast::immediate;
use crate::reference::{alu_op, integer, is_bits};
use nk_compiler::dtype::Dtype;
use nk_compiler::isa::{AluOp, Arg, MAX_ARGS};

type Args = [Arg; MAX_ARGS];

/// Where a kernel writes: the destination itself, or a tile of the stage window that is moved there afterwards.
pub(super) struct Output {
    pub field: Field,
    pub tile: Access,
    is_staged: bool,
}

pub(super) fn field(access: &Access) -> Field {
    Field {
        start: access.start,
        pitch: access.axes[0].stride,
        rows: access.axes[0].count as usize,
        n: access.free_count() as usize,
    }
}

/// Whether the elements of every row lie one after the other, each aligned, at a place that is known beforehand.
pub(super) fn is_plain(access: &Access) -> bool {
    let size = i64::from(access.dtype.size());
    let is_aligned = access.start.is_multiple_of(size as u64) && access.axes[0].stride % size == 0;
    let is_contiguous = match nest::single(access.free_axes())[..] {
        [] => true,
        [it] => it.strides[0] == size,
        _ => false,
    };
    is_aligned && is_contiguous && access.movement.is_none()
}

impl<'a> Lowering<'a> {
    pub(super) fn call(&mut self, kernel: impl TileKernel + 'static) {
        self.table.calls.push(Call::Tile(Box::new(kernel)));
    }

    /// A tile as rows of f32.
    pub(super) fn floats(&mut self, tile: &Access) -> Field {
        if tile.dtype == Dtype::F32 && is_plain(tile) {
            return field(tile);
        }
        let copy = self.stage(
            Dtype::F32,
            tile.axes.iter().map(|it| it.count),
            StagedRows::Padded,
        );
        self.convert_apart(&copy, tile);
        field(&copy)
    }

    /// A tile as rows of its own elements.
    pub(super) fn elements(&mut self, tile: &Access) -> Field {
        if is_plain(tile) {
            return field(tile);
        }
        field(&self.staged_copy(tile, StagedRows::Padded))
    }

    /// A column or an immediate.
    pub(super) fn scalar(&mut self, arg: &Arg) -> Scalar {
        match arg {
            Arg::View(_) => {
                let column = self.access(arg);
                Scalar::Column(self.floats(column))
            }
            _ => Scalar::Value(immediate(arg)),
        }
    }

    /// Where results of a dtype go that end in `dst` and are made while `inputs` are read.
    pub(super) fn output(&mut self, dst: &Access, dtype: Dtype, inputs: &[&Access]) -> Output {
        let is_direct = dst.dtype == dtype && is_plain(dst) && !inputs.iter().any(|it| it.overlaps(dst));
        let tile = if is_direct {
            dst.clone()
        } else {
            self.stage(dtype, dst.axes.iter().map(|it| it.count), StagedRows::Padded)
        };
        Output {
            field: field(&tile),
            tile,
            is_staged: !is_direct,
        }
    }

    /// Moves results to where they belong.
    pub(super) fn deliver(&mut self, dst: &Access, output: &Output) {
        if output.is_staged {
            self.convert_apart(dst, &output.tile);
        }
    }

    pub(super) fn max8(&mut self, args: &Args) {
        let (dst, src) = (self.access(&args[0]), self.access(&args[1]));
        let from = self.floats(src);
        let output = self.output(dst, Dtype::F32, &[src]);
        self.call(Largest {
            to: output.field,
            from,
        });
        self.deliver(dst, &output);
    }

    pub(super) fn find_index8(&mut self, args: &Args) {
        let (dst, data, vals) = (
            self.access(&args[0]),
            self.access(&args[1]),
            self.access(&args[2]),
        );
        let (data_rows, val_rows) = (self.floats(data), self.floats(vals));
        // All ones stay so when they are cast to fewer bits.
        let output = self.output(dst, Dtype::U32, &[data, vals]);
        self.call(Find {
            to: output.field,
            data: data_rows,
            vals: val_rows,
        });
        self.deliver(dst, &output);
    }

    pub(super) fn match_replace8(&mut self, args: &Args) {
        let (dst, data, vals) = (
            self.access(&args[0]),
            self.access(&args[1]),
            self.access(&args[2]),
        );
        let (data_rows, val_rows) = (self.floats(data), self.floats(vals));
        let output = self.output(dst, Dtype::F32, &[data, vals]);
        self.call(Replace {
            to: output.field,
            data: data_rows,
            vals: val_rows,
            with: immediate(&args[3]),
        });
        self.deliver(dst, &output);
    }

    pub(super) fn sequence_bounds(&mut self, args: &Args) {
        let (dst, ids) = (self.access(&args[0]), self.access(&args[1]));
        let words = self.elements(ids);
        let output = self.output(dst, Dtype::F32, &[ids]);
        self.call(Bounds {
            to: output.field,
            ids: words,
            is_float: ids.dtype == Dtype::F32,
        });
        self.deliver(dst, &output);
    }

    pub(super) fn bn_stats(&mut self, args: &Args) {
        let (dst, data) = (self.access(&args[0]), self.access(&args[1]));
        let from = self.floats(data);
        let output = self.output(dst, Dtype::F32, &[data]);
        self.call(Triples {
            to: output.field,
            from,
        });
        self.deliver(dst, &output);
    }

    pub(super) fn bn_aggr(&mut self, args: &Args) {
        let (dst, data) = (self.access(&args[0]), self.access(&args[1]));
        let from = self.floats(data);
        let output = self.output(dst, Dtype::F32, &[data]);
        self.call(Aggregate {
            to: output.field,
            from,
        });
        self.deliver(dst, &output);
    }

    pub(super) fn partition_reduce(&mut self, args: &Args) {
        let (dst, op, data) = (self.access(&args[0]), alu_op(&args[1]), self.access(&args[2]));
        if !is_bits(op) {
            let from = self.floats(data);
            let output = self.output(dst, Dtype::F32, &[data]);
            self.call(FoldRows {
                to: output.field,
                from,
                op,
            });
            return self.deliver(dst, &output);
        }
        let from = self.elements(data);
        let counts = dst.axes.iter().map(|it| it.count);
        let bits = self.stage(data.dtype, counts, StagedRows::Padded);
        self.call(FoldBytes {
            to: field(&bits),
            from,
            size: data.dtype.size() as usize,
            is_and: op == AluOp::BitwiseAnd,
        });
        // The low bits become the result; `or` of a value with itself is the value.
        let step = Step {
            op: AluOp::BitwiseOr,
            source: None,
            reverse: false,
        };
        let body = Body::Bits {
            steps: vec![step],
            width: width(data.dtype),
        };
        self.map(dst, vec![elementwise::Operand::Tile(bits)], body, &[]);
    }

    pub(super) fn stream_shuffle(&mut self, args: &Args) {
        let (dst, src) = (self.access(&args[0]), self.access(&args[1]));
        let Arg::Shuffle(id, _) = args[2] else {
            panic!("a verified mask is a mask")
        };
        let from = if src.overlaps(dst) {
            field(&self.staged_copy(src, StagedRows::Padded))
        } else {
            self.elements(src)
        };
        let is_direct = is_plain(dst);
        let tile = if is_direct {
            dst.clone()
        } else {
            self.staged_copy(dst, StagedRows::Padded)
        };
        self.call(ShuffleRows {
            to: field(&tile),
            from,
            size: dst.dtype.size() as usize,
            mask: self.program[id],
        });
        if !is_direct {
            self.move_elements(dst, &tile);
        }
    }

    pub(super) fn local_gather(&mut self, args: &Args) {
        const CORE_PARTITIONS: usize = 16;
        let (dst, src, index) = (
            self.access(&args[0]),
            self.access(&args[1]),
            self.access(&args[2]),
        );
        let (from, indices) = (self.elements(src), self.elements(index));
        let output = self.output(dst, dst.dtype, &[src, index]);
        let count = match &args[4] {
            Arg::Absent => indices.n * CORE_PARTITIONS,
            count => integer(count) as usize,
        };
        self.call(SharedGather {
            to: output.field,
            from,
            indices,
            size: dst.dtype.size() as usize,
            run: integer(&args[3]) as usize,
            count,
        });
        self.deliver(dst, &output);
    }

    pub(super) fn n_gather(&mut self, args: &Args) {
        let (dst, data, indices) = (
            self.access(&args[0]),
            self.access(&args[1]),
            self.access(&args[2]),
        );
        let (from, index_rows) = (self.elements(data), self.elements(indices));
        let output = self.output(dst, dst.dtype, &[data, indices]);
        self.call(Gather {
            to: output.field,
            from,
            indices: index_rows,
            size: dst.dtype.size() as usize,
        });
        self.deliver(dst, &output);
    }

    pub(super) fn rng(&mut self, args: &Args) {
        let dst = self.access(&args[0]);
        let output = self.output(dst, dst.dtype, &[]);
        self.call(Words {
            to: output.field,
            size: dst.dtype.size() as usize,
            mask: mask(width(dst.dtype)),
            state: self.layout.generators + u64::from(dst.partition) * 4,
            lane: dst.partition.into(),
        });
        self.deliver(dst, &output);
    }

    pub(super) fn set_rng_seed(&mut self, args: &Args) {
        let seed = self.elements(self.access(&args[0]));
        self.call(Seed {
            seed,
            state: self.layout.generators,
            lanes: self.layout.partitions as u32,
        });
    }

    pub(super) fn dropout(&mut self, args: &Args) {
        let (dst, data) = (self.access(&args[0]), self.access(&args[1]));
        let from = self.elements(data);
        let mut inputs = vec![data];
        if let Arg::View(_) = args[2] {
            inputs.push(self.access(&args[2]));
        }
        let probability = self.scalar(&args[2]);
        let output = self.output(dst, dst.dtype, &inputs);
        self.call(Drop {
            to: output.field,
            from,
            size: dst.dtype.size() as usize,
            probability,
            state: self.layout.generators + u64::from(dst.partition) * 4,
            lane: dst.partition.into(),
        });
        self.deliver(dst, &output);
    }

    /// dst = the sum of the sources, through one contiguous tile of f32.
    pub(super) fn dma_compute(&mut self, args: &Args) {
        let dst = self.access(&args[0]);
        let sources: Vec<&Access> = args[1..]
            .iter()
            .filter(|it| matches!(it, Arg::View(_)))
            .map(|it| self.access(it))
            .collect();
        let (first, rest) = sources.split_first().expect("the first source is required");
        let counts = dst.axes.iter().map(|it| it.count);
        let sum = self.stage(Dtype::F32, counts, StagedRows::Packed);
        self.cast_apart(&sum, first);
        for it in rest {
            let step = Step {
                op: AluOp::Add,
                source: Some(1),
                reverse: false,
            };
            self.flat(&sum, [&sum, it], Body::Arithmetic(vec![step]));
        }
        self.convert_apart(dst, &sum);
    }
}
