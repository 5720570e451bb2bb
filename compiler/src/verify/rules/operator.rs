//! Operators, patterns and immediates.

use super::super::Case;
use super::super::error::{OperandMistake, OperatorMistake, ViewMistake};
use super::dst;
use crate::isa::{Access, ActFn, AluClass, AluOp, Arg, Engine, Kind, ReduceCmd};

pub fn alu_classes(case: &mut Case) {
    let mut bits = None;
    let mut arithmetic = None;
    for position in 1..case.row.operands.len() {
        if let Arg::Alu(op) = case.inst.args[position] {
            match op.facts().class {
                AluClass::Bits => bits = Some(op),
                AluClass::Arithmetic => arithmetic = Some(op),
            }
            engine_of_operator(case, position, op);
        }
        operand_of_operator(case, position);
    }
    let Some(bits) = bits else { return };
    if let Some(arithmetic) = arithmetic {
        let (bits, arithmetic) = (bits.name(), arithmetic.name());
        case.report_whole(OperatorMistake::ClassesMixed { bits, arithmetic });
    } else {
        integers_throughout(case, bits.name());
    }
}

/// Bit operators run on the Vector engine, some arithmetic ones on GpSimd only.
fn engine_of_operator(case: &mut Case, position: usize, op: AluOp) {
    let needs = match (op.facts().class, op.facts().gpsimd_only) {
        (AluClass::Bits, _) => Engine::Vector,
        (AluClass::Arithmetic, true) => Engine::Gpsimd,
        (AluClass::Arithmetic, false) => return,
    };
    let engine = case.inst.engine;
    if engine != needs {
        let operator = op.name();
        let mistake = OperatorMistake::WrongEngine {
            operator,
            engine,
            needs,
        };
        case.report(position, mistake);
    }
}

/// An operator and the column or number after it come together, unless the operator is unary.
fn operand_of_operator(case: &mut Case, position: usize) {
    let before = &case.row.operands[position - 1];
    let kinds = (before.kind, case.row.operands[position].kind);
    if !matches!(kinds, (Kind::Alu(_), Kind::ColumnOrScalar(_))) {
        return;
    }
    let arg = case.inst.args[position];
    match case.inst.args[position - 1] {
        Arg::Alu(op) if op.facts().unary => {
            let is_nothing = matches!(arg, Arg::Absent | Arg::Int(0)) || arg == Arg::Float(0.0);
            if !is_nothing {
                let operator = op.name();
                case.report(position, OperatorMistake::UnaryWithOperand { operator });
            }
        }
        Arg::Alu(_) if arg == Arg::Absent => case.report(position, OperandMistake::Missing),
        Arg::Absent if arg != Arg::Absent => {
            let operator = before.name;
            case.report(position, OperatorMistake::Unused { operator });
        }
        _ => {}
    }
}

/// Reports the first operand that is no integer, and negation.
fn integers_throughout(case: &mut Case, operator: &'static str) {
    for position in 0..case.row.operands.len() {
        let found = match case.inst.args[position] {
            Arg::View(id) if case.facts[id.index()].dtype.is_float() => {
                case.facts[id.index()].dtype.nki_name()
            }
            Arg::Float(_) if !case.follows_unary_operator(position) => "a float",
            Arg::Bool(true) if case.row.operands[position].name == "negate" => {
                case.report(position, OperatorMistake::NegatedBits { operator });
                return;
            }
            _ => continue,
        };
        case.report(position, OperatorMistake::BitsNeedIntegers { operator, found });
        return;
    }
}

pub fn pattern_count(case: &mut Case) {
    let free = dst(case).free;
    for position in 1..case.row.operands.len() {
        let Arg::Pattern(id) = case.inst.args[position] else {
            continue;
        };
        let pairs = &case.program[id].0;
        let (dims, limit) = (pairs.len(), case.target.free_dims_max);
        let product = pairs
            .iter()
            .fold(1u64, |it, pair| it.saturating_mul(pair.count.into()));
        if dims > limit {
            case.report(position, ViewMistake::TooManyDims { dims, limit });
        }
        if product != free {
            case.report(position, OperatorMistake::PatternCount { product, free });
        }
    }
}

pub fn no_bias_with_reciprocal(case: &mut Case) {
    if !case.inst.args.contains(&Arg::Act(ActFn::Reciprocal)) {
        return;
    }
    for position in 1..case.row.operands.len() {
        let is_bias =
            matches!(case.row.operands[position].kind, Kind::Column(tile) if tile.access == Access::Read);
        if is_bias && case.view(position).is_some() {
            case.report(position, OperatorMistake::BiasWithReciprocal);
        }
    }
}

pub fn activation_reduce(case: &mut Case) {
    let has_operator = case.inst.args.iter().any(|it| matches!(it, Arg::Alu(_)));
    for position in 1..case.row.operands.len() {
        match (case.row.operands[position].kind, case.inst.args[position]) {
            (Kind::ReduceCmd, Arg::ReduceCmd(command)) if command != ReduceCmd::Idle && !has_operator => {
                case.report(position, OperatorMistake::ReduceNeedsOperator);
            }
            (Kind::Column(tile), Arg::View(_)) if tile.access == Access::Write && !has_operator => {
                case.report(position, OperatorMistake::ReduceNeedsOperator);
            }
            _ => {}
        }
    }
}

pub fn reduce_commands(case: &mut Case, takes: &'static [ReduceCmd]) {
    for position in 1..case.row.operands.len() {
        if let Arg::ReduceCmd(command) = case.inst.args[position]
            && !takes.contains(&command)
        {
            case.report(position, OperatorMistake::ReduceCommand { command, takes });
        }
    }
}

/// The operand that loads the accumulator comes with the command that does it.
pub fn load_reduce(case: &mut Case, position: usize) {
    let loads = case.inst.args.contains(&Arg::ReduceCmd(ReduceCmd::LoadReduce));
    let is_given = case.inst.args[position] != Arg::Absent;
    if loads != is_given {
        case.report(position, OperatorMistake::LoadReduce { is_given });
    }
}

pub fn not_reversed(case: &mut Case, position: usize) {
    if case.inst.args[position] == Arg::Bool(true) {
        case.report(position, OperatorMistake::Reversed);
    }
}

pub fn bits_need_integers(case: &mut Case) {
    let bits = case.inst.args.iter().find_map(|it| match it {
        Arg::Alu(op) if op.facts().class == AluClass::Bits => Some(op.name()),
        _ => None,
    });
    if let Some(operator) = bits {
        integers_throughout(case, operator);
    }
}

pub fn memset_value(case: &mut Case) {
    let dtype = dst(case).dtype;
    for position in 1..case.row.operands.len() {
        if dtype.is_int() && matches!(case.inst.args[position], Arg::Float(_)) {
            case.report(position, OperatorMistake::MemsetValue { dtype });
        }
    }
}
