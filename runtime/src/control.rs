//! The control flow of a program as one compiled function.
//!
//! Takes the loops and segments of a program, gives a Cranelift function that runs them: counters and conditions are
//! registers in memory, segments and the count of iterations are calls back into the machine. Never touches a tile.

use crate::lower::emit::flags;
use cranelift::codegen::ir::{FuncRef, Function};
use cranelift::prelude::types::{I32, I64};
use cranelift::prelude::{
    AbiParam, FunctionBuilder, FunctionBuilderContext, InstBuilder, IntCC, Signature, Value,
    isa::{CallConv, TargetFrontendConfig},
};
use nk_compiler::ir::{Bound, Loop, LoopKind, Node, RegisterId};

/// The compiled control flow: the context, which it only passes on, and the registers. 0 at the end, 1 after a fault.
pub type Entry = unsafe extern "C" fn(context: *mut u8, registers: *mut i32) -> u32;

/// Runs a segment or counts an iteration: the context and a number. Not 0 to stop.
pub type Callback = unsafe extern "C" fn(context: *mut u8, number: u32) -> u32;

pub fn entry_signature(convention: CallConv) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend([AbiParam::new(I64), AbiParam::new(I64)]);
    signature.returns.push(AbiParam::new(I32));
    signature
}

pub fn callback_signature(convention: CallConv) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend([AbiParam::new(I64), AbiParam::new(I32)]);
    signature.returns.push(AbiParam::new(I32));
    signature
}

/// What the function calls.
pub struct Callbacks {
    pub segment: FuncRef,
    pub iteration: FuncRef,
}

struct Emitter<'a> {
    b: FunctionBuilder<'a>,
    loops: &'a [Loop],
    callbacks: Callbacks,
    context: Value,
    registers: Value,
}

/// Makes the body of the function.
pub fn emit(
    function: &mut Function,
    builder_context: &mut FunctionBuilderContext,
    nodes: &[Node],
    loops: &[Loop],
    callbacks: Callbacks,
    config: TargetFrontendConfig,
) {
    let mut b = FunctionBuilder::new(function, builder_context);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    let (context, registers) = (b.block_params(block)[0], b.block_params(block)[1]);
    let mut emitter = Emitter {
        b,
        loops,
        callbacks,
        context,
        registers,
    };
    emitter.nodes(nodes);
    let mut b = emitter.b;
    let done = b.ins().iconst(I32, 0);
    b.ins().return_(&[done]);
    b.seal_all_blocks();
    b.finalize(config);
}

impl Emitter<'_> {
    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Segment(number) => self.call(self.callbacks.segment, *number),
                Node::Loop(number, body) => self.run_loop(*number, body),
            }
        }
    }

    /// Calls back and returns when that says stop.
    fn call(&mut self, callback: FuncRef, number: usize) {
        let number = self.b.ins().iconst(I32, number as i64);
        let call = self.b.ins().call(callback, &[self.context, number]);
        let stops = self.b.inst_results(call)[0];
        let (stop, go_on) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(stops, stop, &[], go_on, &[]);
        self.b.switch_to_block(stop);
        self.b.ins().return_(&[stops]);
        self.b.switch_to_block(go_on);
    }

    fn load(&mut self, register: RegisterId) -> Value {
        let offset = register.index() as i32 * 4;
        self.b.ins().load(I32, flags(), self.registers, offset)
    }

    /// A bound, wide enough that a step past it never wraps.
    fn bound(&mut self, bound: Bound) -> Value {
        match bound {
            Bound::Int(value) => self.b.ins().iconst(I64, i64::from(value)),
            Bound::Register(register) => {
                let value = self.load(register);
                self.b.ins().sextend(I64, value)
            }
        }
    }

    fn run_loop(&mut self, number: usize, body: &[Node]) {
        let (head, inside, end) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        match self.loops[number].kind {
            LoopKind::For {
                register,
                lower,
                upper,
                step,
            } => {
                let (lower, upper) = (self.bound(lower), self.bound(upper));
                let counter = self.b.append_block_param(head, I64);
                self.b.ins().jump(head, &[lower.into()]);
                self.b.switch_to_block(head);
                let goes_on = self.b.ins().icmp(IntCC::SignedLessThan, counter, upper);
                self.b.ins().brif(goes_on, inside, &[], end, &[]);
                self.b.switch_to_block(inside);
                self.call(self.callbacks.iteration, number);
                let value = self.b.ins().ireduce(I32, counter);
                let offset = register.index() as i32 * 4;
                self.b.ins().store(flags(), value, self.registers, offset);
                self.nodes(body);
                let next = self.b.ins().iadd_imm_s(counter, i64::from(step));
                self.b.ins().jump(head, &[next.into()]);
            }
            LoopKind::While { register } => {
                self.b.ins().jump(head, &[]);
                self.b.switch_to_block(head);
                let condition = self.load(register);
                self.b.ins().brif(condition, inside, &[], end, &[]);
                self.b.switch_to_block(inside);
                self.call(self.callbacks.iteration, number);
                self.nodes(body);
                self.b.ins().jump(head, &[]);
            }
        }
        self.b.switch_to_block(end);
    }
}
