//! The result of an instruction call without `dst`: its shape and dtype, and whether a view can take it directly.

use super::super::error::{Error, Result};
use super::super::promote::promote;
use super::super::tensor::{axis, int_list};
use super::super::value::{Region, Tensor, Value};
use crate::dtype::Dtype;
use crate::isa::{Access, AluClass, AluOp, Kind, MAX_ARGS, Op, Row, Rule};
use crate::source::Span;
use std::rc::Rc;

/// Whether an instruction can write its result straight into a view.
pub fn takes_directly(
    op: Op,
    given: &[Option<Value>; MAX_ARGS],
    target: &Tensor,
    shape: &[u32],
    dtype: Dtype,
    region: Region,
) -> bool {
    let row = op.row();
    let memories = row.operands[0].kind.tile().map_or(&[][..], |it| it.memories);
    let free: u64 = shape[1..].iter().map(|&it| u64::from(it)).product();
    let fits =
        target.is_on_chip() && target.view.partitions() == shape[0] && target.view.free_count() == free;
    let is_bits = given.iter().flatten().any(|it| {
        super::super::library::operator_name(it)
            .and_then(AluOp::from_name)
            .is_some_and(|it| it.facts().class == AluClass::Bits)
    });
    let wants_dtype = is_bits || row.rules.iter().any(|it| matches!(it, Rule::SameDtype(0, _)));
    // A transpose on the Tensor engine goes through PSUM wherever its result is wanted.
    let region_fits = !matches!(op, Op::NcMatmul | Op::NcTranspose) || target.region == region;
    let needs_f32 = op == Op::NcMatmul && target.view.dtype != Dtype::F32;
    fits && memories.contains(&target.region.memory())
        && region_fits
        && !needs_f32
        && (!wants_dtype || target.view.dtype == dtype)
}

/// The tiles that an instruction reads, in operand order.
fn tiles<'a>(row: &Row, given: &'a [Option<Value>; MAX_ARGS]) -> Vec<&'a Rc<Tensor>> {
    let operands = row.operands.iter().zip(given).skip(1);
    operands
        .filter_map(|(operand, value)| match (&operand.kind, value) {
            (Kind::Tile(facts), Some(Value::Tensor(tile))) if facts.access != Access::Write => Some(tile),
            (Kind::TileOrScalar(_), Some(Value::Tensor(tile))) => Some(tile),
            _ => None,
        })
        .collect()
}

pub fn default_dtype(row: &Row, given: &[Option<Value>; MAX_ARGS]) -> Dtype {
    if row.op == Op::NcMatmul {
        return Dtype::F32;
    }
    if matches!(row.name, "nc_find_index8" | "sequence_bounds") {
        return Dtype::U32;
    }
    let dtypes = tiles(row, given).into_iter().map(|it| it.view.dtype);
    dtypes.reduce(promote).unwrap_or(Dtype::F32)
}

/// The shape of the result of a call without destination.
pub fn result_shape(
    row: &Row,
    given: &[Option<Value>; MAX_ARGS],
    keepdims: Option<Value>,
    span: Span,
) -> Result<Vec<u32>> {
    let tiles = tiles(row, given);
    let Some(first) = tiles.first() else {
        let function = format!("nisa.{}", row.name);
        return Err(Error::type_error(format!("{function} takes a tile"), span));
    };
    let shape: Vec<u32> = first.shape().collect();
    let partitions = first.view.partitions();
    let free = |it: &Tensor| it.shape().skip(1).collect::<Vec<_>>();
    Ok(match row.name {
        "nc_matmul" => {
            let Some(moving) = tiles.get(1) else {
                return Err(Error::type_error("nisa.nc_matmul takes two tiles", span));
            };
            let mut shape = vec![first.view.free_count() as u32];
            shape.extend(free(moving));
            shape
        }
        "nc_transpose" => vec![first.view.free_count() as u32, partitions],
        "dma_transpose" => {
            let order: &[usize] = match shape.len() {
                2 => &[1, 0],
                3 => &[2, 1, 0],
                _ => &[3, 1, 2, 0],
            };
            if shape.len() > 4 || shape.len() < 2 {
                return Err(Error::value_error(
                    "dma_transpose takes a tensor of 2 to 4 dimensions",
                    span,
                ));
            }
            order.iter().map(|&it| shape[it]).collect()
        }
        "tensor_reduce" => {
            let axes = row
                .position("axis")
                .and_then(|it| given[it].clone())
                .unwrap_or(Value::Int(1));
            let axes = int_list(&axes, "axis", span)?
                .iter()
                .map(|it| axis(&Value::Int(*it), shape.len(), span))
                .collect::<Result<Vec<_>>>()?;
            let mut kept = shape.clone();
            axes.iter().for_each(|&it| kept[it] = 1);
            if !keepdims.is_some_and(|it| it.truth()) {
                kept.truncate((shape.len() - axes.len()).max(2));
            }
            kept
        }
        "tensor_partition_reduce" => std::iter::once(1).chain(free(first)).collect(),
        "local_gather" => {
            // A column of indices is read by 16 partitions, one index each.
            let int = |name: &str| {
                let value = row.position(name).and_then(|it| given[it].as_ref());
                value
                    .and_then(Value::as_int)
                    .and_then(|it| u32::try_from(it).ok())
            };
            let columns = tiles.get(1).map_or(1, |it| it.view.free_count() as u32);
            let each = int("num_elem_per_idx").unwrap_or(1);
            match int("num_valid_indices") {
                Some(count) if count != columns.saturating_mul(16) => {
                    vec![partitions, count.saturating_mul(each)]
                }
                _ => vec![partitions, columns, 16, each],
            }
        }
        "sequence_bounds" => vec![partitions, 2, first.view.free_count() as u32],
        "bn_stats" => vec![partitions, 6],
        "bn_aggr" => vec![partitions, 2],
        "max8" | "nc_find_index8" => vec![partitions, 8],
        _ => shape,
    })
}
