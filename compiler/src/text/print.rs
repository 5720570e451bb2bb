//! Programs, placements and schedules as IR text.
//!
//! Takes the tables of any stage, gives canonical text: everything that follows from the instruction table or from the
//! buffers (default operands, default engines, views of whole buffers) is left out. Never fails.

use super::order::QUEUE_ORDER;
use super::token::is_free_word;
use super::window::{self, Item};
use super::{ACCUMULATES, PrintOptions, SPECIAL_FLOATS};
use crate::diagnostic::quote;
use crate::ir::{
    Asked, Bound, Buffer, BufferId, Constant, ControlStep, Dim, Dynamic, Index, Inst, InstId, LoopKind, Mark,
    Placement, Program, Region, Role, Schedule, Step, View, is_word,
};
use crate::isa::{Arg, Engine, Kind, Operand};
use crate::source::{Sources, Span};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// The text of a program at the stage it has reached.
pub fn print(
    program: &Program,
    placement: Option<&Placement>,
    schedule: Option<&Schedule>,
    options: PrintOptions,
) -> String {
    let mut out = String::with_capacity(80 * (program.buffers.len() + program.insts.len()) + 80);
    push_header(&mut out, program);
    let constants: FxHashMap<BufferId, &Constant> =
        program.constants.iter().map(|it| (it.buffer, it)).collect();
    for (idx, buffer) in program.buffers.iter().enumerate() {
        let id = BufferId::new(idx);
        push_buffer(&mut out, buffer, placement.map(|it| it.region(id)));
        if let Some(constant) = constants.get(&id) {
            out.push_str(" = ");
            push_contents(&mut out, &constant.values);
        }
        out.push('\n');
    }
    push_registers(&mut out, program);
    push_results(&mut out, program);
    push_prints(&mut out, program);
    match schedule {
        Some(schedule) => {
            for engine in QUEUE_ORDER {
                push_queue(&mut out, program, engine, schedule, options);
            }
        }
        None => {
            out.push_str("\nbody {\n");
            let mut depth = 1;
            for step in program.control().flatten() {
                match step {
                    ControlStep::Segment(range) => {
                        for id in range.map(InstId::new) {
                            push_inst_line(&mut out, program, id, depth, options);
                        }
                    }
                    // Where registers change follows from the instructions.
                    ControlStep::Meet(Step::Barrier) => {}
                    ControlStep::Meet(step) => push_meet(&mut out, program, step, &mut depth),
                }
            }
            out.push_str("}\n");
        }
    }
    out
}

/// One instruction as IR text, without its span and cycles.
pub fn print_inst(program: &Program, inst: &Inst) -> String {
    let mut out = String::new();
    push_inst(&mut out, program, inst);
    out
}

/// A view as IR text.
pub fn print_view(program: &Program, view: &View) -> String {
    let mut out = String::new();
    push_view(&mut out, program, view);
    out
}

/// Appends formatted text; writing to a `String` cannot fail.
macro_rules! push {
    ($out:expr, $($format:tt)*) => {
        write!($out, $($format)*).expect("a string takes any text")
    };
}

fn push_header(out: &mut String, program: &Program) {
    out.push_str("kernel %");
    push_word(out, &program.name);
    push!(out, " for {}\n", program.target);
    if !program.buffers.is_empty() || results_are_unusual(program) {
        out.push('\n');
    }
}

/// A word, or quoted text when it is none.
fn push_word(out: &mut String, text: &str) {
    if is_word(text) {
        out.push_str(text);
    } else {
        out.push_str(&quote(text));
    }
}

fn push_buffer(out: &mut String, buffer: &Buffer, region: Option<Region>) {
    let role = match buffer.role {
        Role::In => "in",
        Role::Out => "out",
        Role::Local => "buf",
    };
    push!(out, "{role} {}: {}[", buffer.name, buffer.dtype.name());
    push_list(out, buffer.shape.iter(), |out, it| push!(out, "{it}"));
    push!(out, "] @ {}", buffer.memory.name());
    match region {
        Some(Region::Hbm { address }) => push!(out, "[{address:#x}:{:#x}]", address + buffer.bytes()),
        Some(Region::OnChip {
            partition,
            partitions,
            start,
            end,
        }) => push!(
            out,
            "[{partition}:{}, {start:#x}:{end:#x}]",
            u32::from(partition) + u32::from(partitions)
        ),
        None => {}
    }
    if let Some(request) = buffer.request {
        push!(out, ", address=({}, {:#x})", request.partition, request.byte);
    }
}

/// `count*value, value, …`: neighbours that are equal stand together.
fn push_contents(out: &mut String, values: &[f64]) {
    let runs = values.chunk_by(|a, b| a.to_bits() == b.to_bits());
    push_list(out, runs, |out, run| {
        if run.len() > 1 {
            push!(out, "{}*", run.len());
        }
        let value = run[0];
        // Integers beyond f32 are exact as integers only; a zero with a sign is a float only.
        if value.fract() == 0.0 && value.abs() < 1e10 && (value != 0.0 || value.is_sign_positive()) {
            push!(out, "{value}");
        } else {
            push_float(out, value as f32);
        }
    });
}

/// What `results` are when the text says nothing: the `out` buffers in order, under their own names.
pub fn usual_results(buffers: &[Buffer]) -> Vec<(BufferId, String)> {
    let outs = buffers.iter().enumerate().filter(|(_, it)| it.role == Role::Out);
    outs.map(|(idx, it)| (BufferId::new(idx), usual_result_name(it)))
        .collect()
}

/// A result's name when the text gives none.
pub fn usual_result_name(buffer: &Buffer) -> String {
    buffer.name.to_string().split_off(1)
}

fn results_are_unusual(program: &Program) -> bool {
    let usual = usual_results(&program.buffers);
    !usual
        .iter()
        .map(|(id, name)| (*id, name.as_str()))
        .eq(program.results.iter().map(|it| (it.buffer, it.name.as_str())))
}

fn push_results(out: &mut String, program: &Program) {
    if !results_are_unusual(program) {
        return;
    }
    out.push_str("return");
    let mut separator = " ";
    for result in &program.results {
        let buffer = &program[result.buffer];
        push!(out, "{separator}{}", buffer.name);
        if result.name != usual_result_name(buffer) {
            out.push_str(" as ");
            if is_word(&result.name) && is_free_word(&result.name) {
                out.push_str(&result.name);
            } else {
                out.push_str(&quote(&result.name));
            }
        }
        separator = ", ";
    }
    out.push('\n');
}

fn push_prints(out: &mut String, program: &Program) {
    for print in &program.prints {
        let name = &program[print.buffer].name;
        push!(
            out,
            "print {name} as {}, {}\n",
            quote(&print.prefix),
            quote(&print.what)
        );
    }
}

fn push_queue(
    out: &mut String,
    program: &Program,
    engine: Engine,
    schedule: &Schedule,
    options: PrintOptions,
) {
    let steps = &schedule.queues[engine as usize];
    if steps.is_empty() {
        return;
    }
    push!(out, "\nqueue {} {{\n", engine.name());
    let mut depth = 1;
    for step in steps {
        let indent = 2 * depth;
        match *step {
            Step::Inst(id) => push_inst_line(out, program, id, depth, options),
            Step::Wait { from, count } => push!(out, "{:indent$}wait {} {count}\n", "", from.name()),
            Step::Signal { to, count } => push!(out, "{:indent$}signal {} {count}\n", "", to.name()),
            step => push_meet(out, program, step, &mut depth),
        }
    }
    out.push_str("}\n");
}

/// A line where all queues meet.
fn push_meet(out: &mut String, program: &Program, step: Step, depth: &mut usize) {
    if step == Step::End {
        *depth -= 1;
    }
    push!(out, "{:1$}", "", 2 * *depth);
    match step {
        Step::Loop(number) => {
            match program.loops[number as usize].kind {
                LoopKind::For {
                    register,
                    lower,
                    upper,
                    step,
                } => {
                    push!(out, "for {} in ", program[register].name);
                    push_bound(out, program, lower);
                    out.push_str("..");
                    push_bound(out, program, upper);
                    if step != 1 {
                        push!(out, " by {step}");
                    }
                }
                LoopKind::While { register } => push!(out, "while {}", program[register].name),
            }
            out.push_str(" {\n");
            *depth += 1;
        }
        Step::End => out.push_str("}\n"),
        _ => out.push_str("barrier\n"),
    }
}

fn push_bound(out: &mut String, program: &Program, bound: Bound) {
    match bound {
        Bound::Int(value) => push!(out, "{value}"),
        Bound::Register(id) => push!(out, "{}", program[id].name),
    }
}

fn push_registers(out: &mut String, program: &Program) {
    if !program.registers.is_empty() {
        out.push_str("reg ");
        push_list(out, program.registers.iter(), |out, it| push!(out, "{}", it.name));
        out.push('\n');
    }
}

fn push_inst_line(out: &mut String, program: &Program, id: InstId, depth: usize, options: PrintOptions) {
    let inst = &program[id];
    push!(out, "{:1$}", "", 2 * depth);
    push_inst(out, program, inst);
    push_asked(out, program, inst.asked);
    if let Some(cycles) = options.cycles {
        push!(out, " ~{}", cycles(id));
    }
    if let (Some(sources), Some(span)) = (options.spans, program.span(inst.loc)) {
        push_span(out, sources, span);
    }
    out.push('\n');
}

fn push_span(out: &mut String, sources: &Sources, span: Span) {
    let (line, column) = sources.line_column(span.file, span.start);
    let (end_line, end_column) = sources.line_column(span.file, span.end);
    push!(out, " at {line}:{column}..{end_line}:{end_column}");
}

fn push_inst(out: &mut String, program: &Program, inst: &Inst) {
    let row = inst.op.row();
    let n_dst = usize::from(row.has_dst());
    if row.has_dst() {
        push_arg(out, program, &inst.args[0]);
        out.push_str(" <- ");
    }
    out.push_str(row.name);
    let operands = || row.operands.iter().zip(&inst.args).skip(n_dst);
    let mut separator = " ";
    for (_, arg) in operands().filter(|(operand, _)| is_positional(operand)) {
        out.push_str(separator);
        push_arg(out, program, arg);
        separator = ", ";
    }
    for (operand, arg) in operands().filter(|(operand, _)| !is_positional(operand)) {
        if *arg == operand.default.unwrap_or(Arg::Absent) {
            continue;
        }
        push!(out, "{separator}{}=", operand.name);
        push_arg(out, program, arg);
        separator = ", ";
    }
    if inst.engine != row.engines[0] {
        push!(out, " on {}", inst.engine.name());
    }
}

/// What is asked of the order: ` as %mark after %mark, … fixed`.
fn push_asked(out: &mut String, program: &Program, asked: Asked) {
    if let Some(mark) = asked.mark() {
        let Mark { name, after } = &program[mark];
        if let Some(name) = name {
            push!(out, " as {name}");
        }
        let names = after.iter().filter_map(|it| program[*it].name.as_ref());
        for (idx, name) in names.enumerate() {
            out.push_str(if idx == 0 { " after " } else { ", " });
            push!(out, "{name}");
        }
    }
    if asked.is_fixed() {
        out.push_str(" fixed");
    }
}

/// Required tiles stand without a name; every other operand is `name=value`.
pub fn is_positional(operand: &Operand) -> bool {
    matches!(operand.kind, Kind::Tile(_) | Kind::Register) && operand.default.is_none()
}

fn push_arg(out: &mut String, program: &Program, arg: &Arg) {
    match arg {
        Arg::Absent => out.push_str("none"),
        Arg::View(id) => push_view(out, program, &program[*id]),
        Arg::Float(value) => push_float(out, *value),
        Arg::Int(value) => push!(out, "{value}"),
        Arg::Uint(value) => push!(out, "{value}"),
        Arg::Bool(value) => push!(out, "{value}"),
        Arg::Alu(op) => out.push_str(op.name()),
        Arg::Act(op) => out.push_str(op.name()),
        Arg::ReduceCmd(cmd) => out.push_str(cmd.name()),
        Arg::Register(id) => push!(out, "{}", program[*id].name),
        Arg::OobMode(mode) => out.push_str(mode.name()),
        Arg::Pattern(id) => push_pattern(out, &program[*id].0),
        Arg::Axes(bits) => push_axes(out, *bits),
        Arg::Pair(first, second) => push!(out, "({first}, {second})"),
        Arg::Shuffle(id, _) => {
            out.push('(');
            push_list(out, program[*id].0.iter(), |out, it| push!(out, "{it}"));
            out.push(')');
        }
        Arg::Exchange(it) => out.push_str(it.name()),
        Arg::Ranks(id) => match program[*id].0.as_slice() {
            [one] => push!(out, "{one}"),
            ranks => {
                out.push('(');
                push_list(out, ranks.iter(), |out, it| push!(out, "{it}"));
                out.push(')');
            }
        },
        Arg::Accumulate(accumulate) => {
            let known = ACCUMULATES.iter().find(|it| it.0 == *accumulate);
            out.push_str(known.expect("the table lists every way to accumulate").1);
        }
    }
}

/// The shortest decimal that reads back exactly.
fn push_float(out: &mut String, value: f32) {
    if value.is_nan() {
        out.push_str("nan");
    } else if let Some((_, word)) = SPECIAL_FLOATS.iter().find(|it| it.0 == value) {
        out.push_str(word);
    } else {
        push!(out, "{value:?}");
    }
}

/// `count*step + …`; nothing at all is written `0`.
fn push_pattern(out: &mut String, dims: &[Dim]) {
    if dims.is_empty() {
        out.push('0');
    }
    for (idx, dim) in dims.iter().enumerate() {
        let separator = if idx == 0 { "" } else { " + " };
        push!(out, "{separator}{}*{}", dim.count, dim.stride);
    }
}

/// One axis is a number, several are a tuple.
fn push_axes(out: &mut String, bits: u8) {
    if bits.count_ones() == 1 {
        push!(out, "{}", bits.trailing_zeros());
        return;
    }
    out.push('(');
    let axes = (0..u8::BITS).filter(|it| bits & (1 << it) != 0);
    push_list(out, axes, |out, it| push!(out, "{it}"));
    out.push(')');
}

fn push_view(out: &mut String, program: &Program, view: &View) {
    let buffer = &program[view.buffer];
    push!(out, "{}", buffer.name);
    if view.dtype != buffer.dtype {
        push!(out, ":{}", view.dtype.name());
    }
    if let Some(items) = window::items(view, buffer) {
        push_items(out, &items);
    }
    if let Some(Dynamic { index, stride, count }) = view.dynamic {
        out.push_str(" + ");
        match index {
            Index::Register(id) => push!(out, "{}", program[id].name),
            Index::Element(id) => push_view(out, program, &program[id]),
            Index::Rows(id) => {
                out.push_str("rows(");
                push_view(out, program, &program[id]);
                out.push(')');
            }
        }
        push!(out, "*{stride} of {count}");
    }
}

fn push_items(out: &mut String, items: &[Item]) {
    out.push('[');
    push_list(out, items.iter(), |out, it| match it {
        Item::Range(start, end) => push!(out, "{start}:{end}"),
        Item::Index(index) => push!(out, "{index}"),
        Item::Pattern(offset, dims) => {
            push!(out, "{offset} + ");
            push_pattern(out, dims);
        }
    });
    out.push(']');
}

fn push_list<T>(out: &mut String, items: impl Iterator<Item = T>, push_item: impl Fn(&mut String, T)) {
    for (idx, item) in items.enumerate() {
        if idx > 0 {
            out.push_str(", ");
        }
        push_item(out, item);
    }
}
