//! Access patterns: `t.ap(pattern, offset)`, raw `[stride, count]` pairs over the storage of a tensor.

use super::super::builtins::required;
use super::super::error::{Error, Mistake, Result};
use super::super::eval::CallArgs;
use super::super::value::{Tensor, Value};
use super::super::{Evaluator, Warning};
use super::{MAX_ELEMENTS, int};
use crate::ir::{Dim, MAX_DIMS, View};
use crate::source::Span;

impl Evaluator<'_> {
    /// `t.ap(pattern, offset)`: raw pairs over the storage.
    pub fn access_pattern(&mut self, tensor: &Tensor, args: CallArgs) -> Result<Tensor> {
        let span = args.span;
        let names = [
            "pattern",
            "offset",
            "scalar_offset",
            "vector_offset",
            "indirect_dim",
            "dtype",
        ];
        let [pattern, offset, scalar, vector, dim, dtype] = args.bind("ap", names, 1)?;
        let dtype = match dtype {
            None | Some(Value::None) => tensor.view.dtype,
            Some(it) => self.dtype_of(&it, span)?,
        };
        let mut storage = tensor.clone();
        storage.view.dtype = dtype;
        let free = self.free_count_of(&storage);
        let partitions = i64::from(self.program[tensor.buffer()].partitions());
        let pairs = pairs(&required(pattern), span)?;
        if pairs.is_empty() || pairs.len() > MAX_DIMS {
            let message = format!("an access pattern of {} pairs", pairs.len());
            return Err(Error::new(
                Mistake::View {
                    message,
                    help: format!("give 1 to {MAX_DIMS} pairs"),
                },
                span,
            ));
        }
        let count = pairs
            .iter()
            .try_fold(1u64, |all, it| all.checked_mul(it.1 as u64));
        if count.is_none_or(|it| it > MAX_ELEMENTS) {
            let message = "an access pattern of too many elements".to_string();
            let help = format!("let the counts multiply to at most {MAX_ELEMENTS}");
            return Err(Error::new(Mistake::View { message, help }, span));
        }
        let start = match offset {
            None | Some(Value::None) => {
                let scale = i64::from(tensor.view.dtype.size());
                i64::from(tensor.view.partition) * free + tensor.view.offset * scale / i64::from(dtype.size())
            }
            Some(it) => {
                let given = int(&it, "offset", span)?;
                if tensor.view.offset != 0 || tensor.view.partition != 0 {
                    self.warn(Warning::OffsetOnView, span);
                }
                given
            }
        };
        let (mut partition, mut element, mut free_pairs) = (0, start, &pairs[..]);
        let mut dims = Vec::with_capacity(pairs.len());
        if tensor.is_on_chip() {
            let (stride, count) = pairs[0];
            if stride != free && count > 1 {
                return Err(Error::new(
                    Mistake::PatternPartitionStride {
                        given: stride,
                        expected: free,
                    },
                    span,
                ));
            }
            (partition, element) = (start.div_euclid(free), start.rem_euclid(free));
            let stop = partition.saturating_add(count);
            if partition < 0 || stop > partitions {
                let size = partitions;
                return Err(Error::new(
                    Mistake::OutOfBounds {
                        dim: 0,
                        start: partition,
                        stop,
                        size,
                    },
                    span,
                ));
            }
            dims.push(Dim {
                stride: 1,
                count: count as u32,
            });
            free_pairs = &pairs[1..];
        }
        let (mut low, mut high) = (element, element);
        for &(stride, count) in free_pairs {
            let reach = stride.saturating_mul(count - 1);
            low = low.saturating_add(reach.min(0));
            high = high.saturating_add(reach.max(0));
            let stride = i32::try_from(stride).map_err(|_| {
                Error::new(
                    Mistake::PatternOutside {
                        last: high,
                        size: free,
                    },
                    span,
                )
            })?;
            dims.push(Dim {
                stride,
                count: count as u32,
            });
        }
        if low < 0 || high >= free {
            let last = if low < 0 { low } else { high };
            return Err(Error::new(Mistake::PatternOutside { last, size: free }, span));
        }
        if tensor.is_on_chip() && dims.len() == 1 {
            dims.push(Dim { stride: 1, count: 1 });
        }
        let view = View::new(tensor.buffer(), dtype, partition as u16, element, &dims)
            .expect("the number of pairs was checked, and partitions are below 128");
        let pattern = Tensor {
            view,
            region: tensor.region,
        };
        self.pattern_offset(tensor, pattern, scalar, vector, dim, span)
    }
}

/// `[[stride, count], …]`.
pub fn pairs(value: &Value, span: Span) -> Result<Vec<(i64, i64)>> {
    let wrong = || {
        Error::type_error(
            "an access pattern is a list of [stride, count] pairs of ints",
            span,
        )
    };
    let items = value.items().ok_or_else(wrong)?;
    let pair = |it: &Value| {
        let pair = it.items().filter(|it| it.len() == 2).ok_or_else(wrong)?;
        let (stride, count) = (int(&pair[0], "a stride", span)?, int(&pair[1], "a count", span)?);
        if !(1..=i64::from(u32::MAX)).contains(&count) {
            return Err(Error::value_error(
                format!("a pair of the access pattern has count {count}; it is at least 1"),
                span,
            ));
        }
        Ok((stride, count))
    };
    items.iter().map(pair).collect()
}
