//! Whether an instruction reads what an earlier one of its own queue writes, and how.
//!
//! Takes two instructions, gives the link between them. A queue's compute takes effect in order, so no semaphore says
//! it; it only costs time. Never looks at times.

use super::queue::World;
use nk_compiler::ir::{Inst, ViewId};
use nk_compiler::isa::{Access, Arg, Cost, Kind, Unit};

/// How a consumer uses a producer's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// It streams it in the order in which it is written.
    Chained,
    /// It needs the end of it: after a reduction, in another order, as a scalar per partition, in a DMA.
    Dependent,
}

/// The link from an earlier instruction of a queue to a later one, if the later reads what the earlier writes.
pub fn link(producer: &Inst, consumer: &Inst, world: World) -> Option<Link> {
    let written = producer.op.row().operands.iter().zip(&producer.args).enumerate();
    let mut link = None;
    for (idx, (operand, arg)) in written {
        let Arg::View(output) = arg else { continue };
        let tile = operand.kind.tile().expect("only tile operands hold views");
        if tile.access == Access::Read {
            continue;
        }
        let is_streamed = idx == 0 && streams_output(producer);
        match (reading(consumer, *output, world), is_streamed) {
            (Some(Link::Chained), true) => link = link.or(Some(Link::Chained)),
            (Some(_), _) => return Some(Link::Dependent),
            (None, _) => {}
        }
    }
    link
}

/// How an instruction reads what was written through a view.
fn reading(consumer: &Inst, written: ViewId, world: World) -> Option<Link> {
    let row = consumer.op.row();
    let mut link = None;
    for (operand, arg) in row.operands.iter().zip(&consumer.args) {
        let Arg::View(read) = arg else { continue };
        let tile = operand.kind.tile().expect("only tile operands hold views");
        if tile.access == Access::Write || !world.views.overlap(written, *read) {
            continue;
        }
        let is_tile =
            matches!(operand.kind, Kind::Tile(_) | Kind::TileOrScalar(_)) && row.unit == Unit::Engine;
        let is_chained =
            is_tile && row.cost != Cost::Transpose && world.views.same_order(world.program, written, *read);
        if !is_chained {
            return Some(Link::Dependent);
        }
        link = Some(Link::Chained);
    }
    link
}

/// Whether element `i` of the destination is written when element `i` of the input has been read.
fn streams_output(inst: &Inst) -> bool {
    match inst.op.row().cost {
        Cost::Elementwise
        | Cost::Activation
        | Cost::ActivationReduce
        | Cost::TwoStreams(..)
        | Cost::Reciprocal
        | Cost::Gpsimd
        | Cost::Memset
        | Cost::Cumulative
        | Cost::Scan
        | Cost::SelectReduce(..) => true,
        Cost::Reduce
        | Cost::Matmul
        | Cost::Transpose
        | Cost::Dma
        | Cost::DmaTranspose
        | Cost::DmaCompute
        | Cost::GpsimdTimes(_)
        | Cost::Aggregate
        | Cost::LocalGather
        | Cost::Gather
        | Cost::Register
        | Cost::Interval
        | Cost::Collective => false,
    }
}
