//! Operators, patterns and immediates.

use super::{About, Words, alternatives, plural, tuple, words};
use crate::dtype::Dtype;
use crate::isa::{Engine, ReduceCmd};

/// Operators or immediates that do not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorMistake {
    ClassesMixed {
        bits: &'static str,
        arithmetic: &'static str,
    },
    BitsNeedIntegers {
        operator: &'static str,
        found: &'static str,
    },
    WrongEngine {
        operator: &'static str,
        engine: Engine,
        needs: Engine,
    },
    UnaryWithOperand {
        operator: &'static str,
    },
    /// An operand whose operator was left out.
    Unused {
        operator: &'static str,
    },
    NegatedBits {
        operator: &'static str,
    },
    ReduceAxes {
        axes: Vec<u32>,
        rank: usize,
    },
    PatternCount {
        product: u64,
        free: u64,
    },
    BiasWithReciprocal,
    ReduceNeedsOperator,
    ReduceCommand {
        command: ReduceCmd,
        takes: &'static [ReduceCmd],
    },
    /// The accumulator is loaded from an operand, and only then the operand is given.
    LoadReduce {
        is_given: bool,
    },
    Reversed,
    MemsetValue {
        dtype: Dtype,
    },
}

impl OperatorMistake {
    pub(super) fn code(&self) -> &'static str {
        match self {
            OperatorMistake::ClassesMixed { .. } => "operator-classes-mixed",
            OperatorMistake::BitsNeedIntegers { .. } => "bits-need-integers",
            OperatorMistake::WrongEngine { .. } => "operator-engine",
            OperatorMistake::UnaryWithOperand { .. } => "unary-takes-no-operand",
            OperatorMistake::Unused { .. } => "operand-without-operator",
            OperatorMistake::NegatedBits { .. } => "negate-needs-arithmetic",
            OperatorMistake::ReduceAxes { .. } => "reduce-axes",
            OperatorMistake::PatternCount { .. } => "pattern-count-mismatch",
            OperatorMistake::BiasWithReciprocal => "bias-with-reciprocal",
            OperatorMistake::ReduceNeedsOperator => "reduce-needs-operator",
            OperatorMistake::ReduceCommand { .. } => "reduce-command",
            OperatorMistake::LoadReduce { .. } => "reduce-init",
            OperatorMistake::Reversed => "reverse-not-available",
            OperatorMistake::MemsetValue { .. } => "memset-value",
        }
    }

    pub(super) fn words(&self, about: &About) -> Words {
        let (op, name) = (about.op, about.name);
        match self {
            OperatorMistake::ClassesMixed { bits, arithmetic } => words(
                format!(
                    "{op} mixes `{bits}`, which works on bits, with `{arithmetic}`, which works on numbers"
                ),
                "two classes of operators",
            )
            .rule("bit operators keep raw integers, arithmetic ones go through float32")
            .help("use two instructions"),
            OperatorMistake::BitsNeedIntegers { operator, found } => words(
                format!("`{operator}` works on integers; `{name}` of {op} is {found}"),
                format!("`{name}` is {found}"),
            )
            .rule("bit operators do not convert")
            .help("use integers throughout; a tile can be viewed as an integer dtype of the same size"),
            OperatorMistake::WrongEngine {
                operator,
                engine,
                needs,
            } => words(
                format!(
                    "`{operator}` runs on {} only, not on {}",
                    needs.name(),
                    engine.name()
                ),
                format!("`{operator}` on {}", engine.name()),
            )
            .rule(match needs {
                Engine::Vector => "bit operators exist on the Vector engine only",
                _ => "the Vector engine does not compute this operator",
            })
            .help(format!("run it on the {} engine", needs.name())),
            OperatorMistake::UnaryWithOperand { operator } => words(
                format!("`{operator}` takes one input; `{name}` of {op} gives a second"),
                format!("`{name}` has no use"),
            )
            .help(format!("pass None or 0 as `{name}`")),
            OperatorMistake::Unused { operator } => words(
                format!("{op} has `{name}` but no `{operator}`"),
                format!("`{name}` has no use"),
            )
            .help(format!("add `{operator}`, or leave `{name}` out")),
            OperatorMistake::NegatedBits { operator } => words(
                format!("{op} cannot negate the result of `{operator}`"),
                "negated here",
            )
            .rule("negation is arithmetic, and bit operators keep raw integers")
            .help(format!("leave `{name}` out")),
            OperatorMistake::ReduceAxes { axes, rank } => words(
                format!(
                    "{op} cannot reduce axes {} of a tile of {}",
                    tuple(axes),
                    plural(*rank as u64, "dimension")
                ),
                format!("axes {}", tuple(axes)),
            )
            .rule("the Vector engine reduces the last axes, without a gap, and never the partitions")
            .help("permute the view so that the reduced axes come last; sum over partitions with a matmul"),
            OperatorMistake::PatternCount { product, free } => words(
                format!(
                    "`{name}` of {op} counts {}; dst has {free} per partition",
                    plural(*product, "element")
                ),
                format!("{product} against {free}"),
            )
            .rule("the counts of the pairs multiply to the elements of a partition"),
            OperatorMistake::BiasWithReciprocal => words(
                format!("{op} takes no `{name}` with `reciprocal`"),
                format!("`{name}` with `reciprocal`"),
            )
            .rule("the Scalar engine of NeuronCore-v2 computes reciprocal without a bias")
            .help("add the bias with tensor_scalar first"),
            OperatorMistake::ReduceNeedsOperator => words(
                format!("{op} has `{name}` but no `reduce_op`"),
                format!("`{name}` without an operator"),
            )
            .help("add `reduce_op=nl.add`"),
            OperatorMistake::ReduceCommand { command, takes } => {
                let command = command.name();
                words(
                    format!("{op} has no reduce command `{command}`"),
                    format!("`{command}`"),
                )
                .rule("what an instruction can do with its engine's accumulator is fixed")
                .help(format!("use {}", alternatives(takes.iter().map(|it| it.name()))))
            }
            OperatorMistake::LoadReduce { is_given: true } => words(
                format!("{op} has `{name}`, but its reduce command does not load it"),
                format!("`{name}` has no use"),
            )
            .help(format!(
                "add `reduce_cmd=nisa.reduce_cmd.load_reduce`, or leave `{name}` out"
            )),
            OperatorMistake::LoadReduce { is_given: false } => words(
                format!("{op} loads its accumulator, but there is no `{name}`"),
                format!("`{name}` is missing"),
            )
            .help(format!("add `{name}=…`, or use `reset_reduce`")),
            OperatorMistake::Reversed => words(
                format!("{op} cannot swap the sides of its operator"),
                format!("`{name}` is set"),
            )
            .rule("the documentation names the flag and says that the hardware does not have it")
            .help(format!(
                "leave `{name}` out, and rewrite the operator: a - x is (x * -1) + a"
            )),
            OperatorMistake::MemsetValue { dtype } => words(
                format!("`{name}` of {op} is a float; dst is {}", dtype.nki_name()),
                format!("a float into {}", dtype.nki_name()),
            )
            .rule("memset writes a constant of the tile's own kind, without converting")
            .help("write the value as an integer"),
        }
    }
}
