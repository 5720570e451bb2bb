//! Building blocks of compiled code: loops, addresses, vectors and calls of row kernels.
//!
//! Takes a Cranelift function under construction, gives values in it. Knows no instruction.
//!
//! Every function has the signature `(base, arguments)`: the reservation's address, and a list of 64-bit words. Operand
//! arguments are offsets from `base` that were proven to lie in their window, so no address leaves the reservation.

use super::helper::Helper;
use super::nest::Loop;
use crate::memory::{Layout, SCRATCH_ROWS};
use cranelift::codegen::ir::{BlockArg, Endianness, ExtFuncData, ExternalName, FuncRef, UserExternalName};
use cranelift::prelude::types::{F32X4, I32X4, I64};
use cranelift::prelude::*;

/// How memory is accessed: never trapping, at any alignment.
pub fn flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// Lanes of a vector, and bytes of one.
pub const LANES: u32 = 4;
pub const VECTOR: i64 = 16;

/// A function under construction.
pub struct Emitter<'a> {
    pub b: FunctionBuilder<'a>,
    pub layout: &'a Layout,
    base: Value,
    args: Value,
    rows: Value,
    next_row: u64,
    imports: Vec<(Helper, FuncRef)>,
}

impl<'a> Emitter<'a> {
    /// Begins the body of a function with the signature of compiled code.
    pub fn new(mut b: FunctionBuilder<'a>, layout: &'a Layout) -> Emitter<'a> {
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let params = b.block_params(entry).to_vec();
        let rows = b.ins().iadd_imm_s(params[0], layout.rows as i64);
        Emitter {
            b,
            layout,
            base: params[0],
            args: params[1],
            rows,
            next_row: 0,
            imports: Vec::new(),
        }
    }

    /// Argument `idx` as a 64-bit word.
    pub fn word(&mut self, idx: usize) -> Value {
        self.b.ins().load(I64, flags(), self.args, idx as i32 * 8)
    }

    /// Argument `idx` as a value of 32 bits.
    pub fn scalar(&mut self, idx: usize, kind: Type) -> Value {
        self.b.ins().load(kind, flags(), self.args, idx as i32 * 8)
    }

    /// The address that argument `idx` is the offset of.
    pub fn operand(&mut self, idx: usize) -> Value {
        let offset = self.word(idx);
        self.b.ins().iadd(self.base, offset)
    }

    /// The address of a scratch row that no other call returns.
    pub fn scratch(&mut self) -> Value {
        assert!(
            self.next_row < SCRATCH_ROWS,
            "a class uses at most {SCRATCH_ROWS} scratch rows"
        );
        let offset = self.next_row * self.layout.row_pitch;
        self.next_row += 1;
        self.b.ins().iadd_imm_s(self.rows, offset as i64)
    }

    /// Gives back all scratch rows taken since `mark`.
    pub fn scratch_mark(&self) -> u64 {
        self.next_row
    }

    pub fn scratch_release(&mut self, mark: u64) {
        self.next_row = mark;
    }

    pub fn number(&mut self, value: i64) -> Value {
        self.b.ins().iconst(I64, value)
    }

    /// Runs `body` for 0, `step`, 2 `step`, … below `end`; at least once.
    pub fn repeat(&mut self, end: i64, step: i64, body: impl FnOnce(&mut Self, Value)) {
        self.run(end, step, None, |emitter, at, _| {
            body(emitter, at);
            None
        });
    }

    /// The same with a value that each iteration hands to the next one; gives the last.
    pub fn accumulate(
        &mut self,
        end: i64,
        step: i64,
        first: Value,
        body: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) -> Value {
        let last = self.run(end, step, Some(first), |emitter, at, carried| {
            carried.map(|it| body(emitter, at, it))
        });
        last.expect("what is carried in is carried out")
    }

    fn run(
        &mut self,
        end: i64,
        step: i64,
        carried: Option<Value>,
        body: impl FnOnce(&mut Self, Value, Option<Value>) -> Option<Value>,
    ) -> Option<Value> {
        let zero = self.number(0);
        if end <= step {
            return body(self, zero, carried);
        }
        let (head, exit) = (self.b.create_block(), self.b.create_block());
        self.b.append_block_param(head, I64);
        if let Some(value) = carried {
            let kind = self.b.func.dfg.value_type(value);
            self.b.append_block_param(head, kind);
            self.b.append_block_param(exit, kind);
        }
        let start: Vec<BlockArg> = [Some(zero), carried]
            .into_iter()
            .flatten()
            .map(Into::into)
            .collect();
        self.b.ins().jump(head, &start);
        self.b.switch_to_block(head);
        let params = self.b.block_params(head).to_vec();
        let result = body(self, params[0], params.get(1).copied());
        let next = self.b.ins().iadd_imm_s(params[0], step);
        let goes_on = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, next, end);
        let again: Vec<BlockArg> = [Some(next), result]
            .into_iter()
            .flatten()
            .map(Into::into)
            .collect();
        let done: Vec<BlockArg> = result.into_iter().map(Into::into).collect();
        self.b.ins().brif(goes_on, head, &again, exit, &done);
        self.b.switch_to_block(exit);
        self.b.block_params(exit).first().copied()
    }

    /// Runs `body` if a condition that hardly ever holds does.
    pub fn rarely(&mut self, condition: Value, body: impl FnOnce(&mut Self)) {
        let (cold, next) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(cold);
        self.b.ins().brif(condition, cold, &[], next, &[]);
        self.b.switch_to_block(cold);
        body(self);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
    }

    /// Runs `body` for every iteration of a nest with each address moved along. `operands` says which stride of the nest
    /// each address follows.
    pub fn nest(
        &mut self,
        loops: &[Loop],
        operands: &[usize],
        addresses: &[Value],
        body: &mut dyn FnMut(&mut Self, &[Value]),
    ) {
        let Some((outer, inner)) = loops.split_first() else {
            return body(self, addresses);
        };
        self.repeat(i64::from(outer.count), 1, |emitter, idx| {
            let moved: Vec<Value> = operands
                .iter()
                .zip(addresses)
                .map(|(&operand, &address)| emitter.advance(address, idx, outer.strides[operand]))
                .collect();
            emitter.nest(inner, operands, &moved, body);
        });
    }

    /// `address + idx * stride`.
    pub fn advance(&mut self, address: Value, idx: Value, stride: i64) -> Value {
        if stride == 0 {
            return address;
        }
        let distance = self.b.ins().imul_imm_s(idx, stride);
        self.b.ins().iadd(address, distance)
    }

    /// [`Emitter::advance`] that multiplies once for all addresses with one stride; `distances` holds the products so far.
    pub fn advance_shared(
        &mut self,
        distances: &mut Vec<(i64, Value)>,
        address: Value,
        idx: Value,
        stride: i64,
    ) -> Value {
        if stride == 0 {
            return address;
        }
        let known = distances.iter().find(|it| it.0 == stride).map(|it| it.1);
        let distance = known.unwrap_or_else(|| {
            let distance = self.b.ins().imul_imm_s(idx, stride);
            distances.push((stride, distance));
            distance
        });
        self.b.ins().iadd(address, distance)
    }

    /// An address and an immediate offset for `address + distance`.
    pub fn displace(&mut self, address: Value, distance: i64) -> (Value, i32) {
        match i32::try_from(distance) {
            Ok(offset) => (address, offset),
            Err(_) => (self.b.ins().iadd_imm_s(address, distance), 0),
        }
    }

    pub fn call(&mut self, helper: Helper, args: &[Value]) -> Option<Value> {
        let known = self.imports.iter().find(|it| it.0 == helper).map(|it| it.1);
        let function = known.unwrap_or_else(|| self.import(helper));
        let call = self.b.ins().call(function, args);
        self.b.inst_results(call).first().copied()
    }

    fn import(&mut self, helper: Helper) -> FuncRef {
        let convention = self.b.func.signature.call_conv;
        let signature = self.b.import_signature(helper.signature(convention));
        let name = self
            .b
            .func
            .declare_imported_user_function(UserExternalName::new(0, helper.number()));
        let function = self.b.import_function(ExtFuncData {
            name: ExternalName::user(name),
            signature,
            colocated: false,
            patchable: false,
        });
        self.imports.push((helper, function));
        function
    }

    /// The same bits as another type of vector.
    pub fn cast(&mut self, kind: Type, value: Value) -> Value {
        if self.b.func.dfg.value_type(value) == kind {
            return value;
        }
        self.b.ins().bitcast(
            kind,
            MemFlagsData::new().with_endianness(Endianness::Little),
            value,
        )
    }

    /// A vector of one constant.
    pub fn constant(&mut self, kind: Type, bits: u32) -> Value {
        let bytes: Vec<u8> = (0..LANES).flat_map(|_| bits.to_le_bytes()).collect();
        let constant = self.b.func.dfg.constants.insert(bytes.into());
        self.b.ins().vconst(kind, constant)
    }

    pub fn float(&mut self, value: f32) -> Value {
        self.constant(F32X4, value.to_bits())
    }

    pub fn integer(&mut self, value: u32) -> Value {
        self.constant(I32X4, value)
    }

    /// Lane-wise `mask ? yes : no`; the mask is all ones or all zeros per lane.
    pub fn select(&mut self, mask: Value, yes: Value, no: Value) -> Value {
        let kind = self.b.func.dfg.value_type(yes);
        let mask = self.cast(kind, mask);
        self.b.ins().bitselect(mask, yes, no)
    }

    /// Ends the function.
    pub fn finish(mut self, config: cranelift::codegen::isa::TargetFrontendConfig) {
        self.b.ins().return_(&[]);
        self.b.seal_all_blocks();
        self.b.finalize(config);
    }
}
