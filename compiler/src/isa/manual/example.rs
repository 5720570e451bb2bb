//! A worked example for every row: an instruction as IR text, with the values it is given and those it leaves.
//!
//! Data only; a test runs each of them.

use crate::isa::Op;

/// `%name:dtype=…` before the arrow are inputs, those behind it results. All lie on chip. Instructions of registers have no values to show.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    pub op: Op,
    pub inst: &'static str,
    pub values: &'static str,
}

macro_rules! examples {
    ($( $op:ident $inst:literal $values:literal; )*) => {
        /// Every example, in the order of the rows.
        pub const EXAMPLES: &[Example] =
            &[ $( Example { op: Op::$op, inst: $inst, values: $values } ),* ];
    };
}

examples! {
    DmaCopy "%y <- dma_copy %x"
        "%x:f32=[[1, 2.5, 3], [4, 5, -6]] -> %y:i32=[[1, 2, 3], [4, 5, -6]]";
    DmaTranspose "%y <- dma_transpose %x"
        "%x:f32=[[1, 2, 3], [4, 5, 6]] -> %y:f32=[[1, 4], [2, 5], [3, 6]]";
    TensorCopy "%y <- tensor_copy %x"
        "%x:f32=[[0.5, 1.5, 2.5], [-1.5, 300, -1]] -> %y:u8=[[0, 2, 2], [0, 255, 0]]";
    Memset "%y <- memset value=7"
        "-> %y:i32=[[7, 7, 7], [7, 7, 7]]";
    Iota "%y <- iota pattern=3*2, offset=1, channel_multiplier=10"
        "-> %y:i32=[[1, 3, 5], [11, 13, 15]]";
    NcMatmul "%acc <- nc_matmul %st, %mv"
        "%st:f32=[[1, 2, 3], [4, 5, 6]] %mv:f32=[[1, 0], [0, 1]] -> %acc:f32@psum=[[1, 4], [2, 5], [3, 6]]";
    NcTranspose "%y <- nc_transpose %x on vector"
        "%x:f32=[[1, 2, 3], [4, 5, 6]] -> %y:f32=[[1, 4], [2, 5], [3, 6]]";
    TensorTensor "%y <- tensor_tensor %a, %b, op=maximum"
        "%a:f32=[[1, 2, 3], [4, 5, 6]] %b:f32=[[3, 3, 3], [5, 5, 5]] -> %y:f32=[[3, 3, 3], [5, 5, 6]]";
    TensorScalar "%y <- tensor_scalar %x, op0=multiply, operand0=2, op1=subtract, operand1=10, reverse1=true"
        "%x:f32=[[1, 2, 3], [4, 5, 6]] -> %y:f32=[[8, 6, 4], [2, 0, -2]]";
    ScalarTensorTensor "%y <- scalar_tensor_tensor %a, %b, op0=multiply, operand0=2, op1=add"
        "%a:f32=[[1, 2, 3], [4, 5, 6]] %b:f32=[[1, 1, 1], [0, 0, 0]] -> %y:f32=[[3, 5, 7], [8, 10, 12]]";
    TensorReduce "%y <- tensor_reduce %x, op=add, axis=1"
        "%x:f32=[[1, 2, 3], [4, 5, 6]] -> %y:f32=[[6], [15]]";
    Activation "%y <- activation %x, op=square, scale=2, reduce_op=add, reduce_res=%s, reduce_cmd=reset_reduce"
        "%x:f32=[[1, 2, 3], [0, 0, 1]] -> %y:f32=[[4, 16, 36], [0, 0, 4]] %s:f32=[[56], [4]]";
    ActivationReduce "%y <- activation_reduce %x, op=relu, reduce_op=add, reduce_res=%s"
        "%x:f32=[[1, -2, 3], [4, 5, -6]] -> %y:f32=[[1, 0, 3], [4, 5, 0]] %s:f32=[[4], [9]]";
    Reciprocal "%y <- reciprocal %x"
        "%x:f32=[[1, 2, 4], [-0.5, 8, 0]] -> %y:f32=[[1, 0.5, 0.25], [-2, 0.125, inf]]";
    AffineSelect "%y <- affine_select %x, pattern=3*-1, channel_multiplier=1, on_false_value=-9, cmp_op=greater_equal"
        "%x:f32=[[1, 2, 3], [4, 5, 6]] -> %y:f32=[[1, -9, -9], [4, 5, -9]]";
    TensorCopyPredicated "%y <- tensor_copy_predicated %m, src=%x"
        "%x:f32=[[1, 2, 3], [4, 5, 6]] %m:u8=[[1, 0, 1], [0, 2, 0]] %y:f32=[[0, 0, 0], [0, 0, 0]] -> %y:f32=[[1, 0, 3], [0, 5, 0]]";
    RegisterMove "%r <- register_move src=5"
        "";
    RegisterLoad "%r <- register_load %x"
        "";
    RegisterStore "%x <- register_store %r"
        "";
    TensorScalarReduce "%y <- tensor_scalar_reduce %x, op0=multiply, operand0=2, reduce_op=add, reduce_res=%s"
        "%x:f32=[[1, 2, 3], [4, 5, 6]] -> %y:f32=[[2, 4, 6], [8, 10, 12]] %s:f32=[[12], [30]]";
    TensorScalarCumulative "%y <- tensor_scalar_cumulative %x, op0=multiply, op1=add, imm0=1"
        "%x:f32=[[1, 2, 3], [4, 5, 6]] -> %y:f32=[[1, 3, 6], [4, 9, 15]]";
    TensorTensorScan "%y <- tensor_tensor_scan %a, %b, initial=1, op0=multiply, op1=add"
        "%a:f32=[[2, 2, 2], [1, 0, 1]] %b:f32=[[0, 1, 0], [1, 1, 1]] -> %y:f32=[[2, 5, 10], [2, 1, 2]]";
    TensorPartitionReduce "%y <- tensor_partition_reduce %x, op=average"
        "%x:f32=[[1, 2, 3], [4, 5, 6]] -> %y:f32=[[2.5, 3.5, 4.5]]";
    SelectReduce "%y <- select_reduce %m, %x, on_false=-1, reduce_res=%s, reduce_cmd=reset_reduce"
        "%m:u8=[[1, 0, 1], [0, 0, 0]] %x:f32=[[1, 2, 3], [4, 5, 6]] -> %y:f32=[[1, -1, 3], [-1, -1, -1]] %s:f32=[[3], [-1]]";
    SequenceBounds "%y <- sequence_bounds %x"
        "%x:i32=[[1, 1, 0, 2]] -> %y:i32=[[[0, 0, 4, 3], [2, 2, -1, 4]]]";
    BnStats "%y <- bn_stats %x"
        "%x:f32=[[1, 2, 3], [4, 5, 6]] -> %y:f32=[[2, 2, 2, 1, 2, 0], [2, 5, 2, 1, 5, 0]]";
    BnAggr "%y <- bn_aggr %x"
        "%x:f32=[[2, 2, 2, 2, 4, 2], [1, 3, 0, 1, 5, 0]] -> %y:f32=[[3, 2], [4, 1]]";
    Max8 "%y <- max8 %x"
        "%x:f32=[[1, 9, 2, 8, 3, 7, 4, 6, 5, 9]] -> %y:f32=[[9, 9, 8, 7, 6, 5, 4, 3]]";
    NcFindIndex8 "%y <- nc_find_index8 %x, %v"
        "%x:f32=[[9, 1, 9, 2, 3, 4, 5, 6]] %v:f32=[[9, 9, 9, 6, 1, 7, 2, 3]] -> %y:u32=[[0, 2, 4294967295, 7, 1, 4294967295, 3, 4]]";
    NcMatchReplace8 "%y <- nc_match_replace8 %x, %v, imm=0"
        "%x:f32=[[9, 1, 9, 2, 9, 4, 5, 6]] %v:f32=[[9, 9, 7, 7, 7, 7, 7, 6]] -> %y:f32=[[0, 1, 0, 2, 9, 4, 5, 0]]";
    NcStreamShuffle "%y <- nc_stream_shuffle %x, shuffle_mask=(1, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255)"
        "%x:f32=[[1, 2, 3], [4, 5, 6]] %y:f32=[[0, 0, 0], [0, 0, 0]] -> %y:f32=[[4, 5, 6], [1, 2, 3]]";
    LocalGather "%y <- local_gather %x, %i, num_valid_indices=2"
        "%x:u8=[[1, 2], [3, 4], [5, 6], [7, 8], [0, 9], [0, 9], [0, 9], [0, 9], [0, 9], [0, 9], [0, 9], [0, 9], [0, 9], [0, 9], [0, 9], [0, 9]] %i:u16=[[1], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0]] -> %y:u8=[[2, 1], [4, 3], [6, 5], [8, 7], [9, 0], [9, 0], [9, 0], [9, 0], [9, 0], [9, 0], [9, 0], [9, 0], [9, 0], [9, 0], [9, 0], [9, 0]]";
    NcNGather "%y <- nc_n_gather %x, %i"
        "%x:f32=[[1, 2, 3], [4, 5, 6]] %i:u32=[[2, 0, 0], [1, 1, 2]] -> %y:f32=[[3, 1, 1], [5, 5, 6]]";
    Dropout "%y <- dropout %x, prob=1"
        "%x:f32=[[1, 2, 3], [4, 5, 6]] -> %y:f32=[[0, 0, 0], [0, 0, 0]]";
    Rng "%y <- rng"
        "-> %y:u32";
    SetRngSeed "set_rng_seed %x"
        "%x:i32=[[7]] ->";
    DmaCompute "%y <- dma_compute %a, src1=%b"
        "%a:f32=[[1, 2, 3], [4, 5, 6]] %b:f32=[[1, 1, 1], [2, 2, 2]] -> %y:f32=[[2, 3, 4], [6, 7, 8]]";
    Collective "%y <- collective src=%x, kind=all_reduce, ranks=0, group=1"
        "%x:f32=[[1, 2, 3], [4, 5, 6]] -> %y:f32=[[1, 2, 3], [4, 5, 6]]";
}

/// The example of a row.
pub fn example(op: Op) -> &'static Example {
    &EXAMPLES[op as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::ROWS;

    #[test]
    fn examples_are_in_the_order_of_the_rows() {
        assert_eq!(EXAMPLES.len(), ROWS.len());
        assert!(EXAMPLES.iter().enumerate().all(|(idx, it)| it.op as usize == idx));
    }
}
