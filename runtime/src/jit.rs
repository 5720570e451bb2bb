//! Compiled code: one function per shape class, and the table that runs it.
//!
//! Takes a table of calls, gives machine code through Cranelift and runs instructions on a memory; or gives the code of
//! every class as CLIF text. Chooses nothing: what a class computes is in `lower`.

use crate::access::split_address;
use crate::control;
use crate::fault::{Fault, read_index, read_register};
use crate::kernels::{Kernels, Level};
use crate::lower::helper::Helper;
use crate::lower::{Call, Moved, RegisterCall, Table};
use crate::memory::{Layout, Memory};
use cranelift::codegen::Context;
use cranelift::codegen::ir::{ExtFuncData, ExternalName, Function, UserFuncName};
use cranelift::codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift::codegen::settings::Configurable;
use cranelift::jit::{ArenaMemoryProvider, JITBuilder, JITModule};
use cranelift::module::{FuncId, Linkage, Module, default_libcall_names};
use cranelift::prelude::types::I64;
use cranelift::prelude::{AbiParam, FunctionBuilder, FunctionBuilderContext, Signature, settings};
use nk_compiler::ir::{InstId, Program};
use std::fmt::Write;

/// Address space for the code of a program: more than the memory that a process may have by default, so that a program of
/// very many shapes is stopped by that bound and not by this one.
const CODE_ARENA_BYTES: usize = 4 << 30;

/// The code of a class: the reservation's address and the arguments.
type Code = unsafe extern "C" fn(base: *mut u8, args: *const u64);

/// What compiled control flow calls, by name.
const CALLBACKS: &[(&str, control::Callback)] = &[("segment", segment), ("iteration", iteration)];

/// A table with the code that its calls need.
pub struct Compiled {
    table: Table,
    kernels: &'static Kernels,
    code: Vec<Code>,
    /// The control flow, unless all instructions run once.
    entry: Option<control::Entry>,
    pub code_bytes: usize,
    /// Owns the code until it is dropped.
    module: Option<JITModule>,
}

/// The host's instruction set as Cranelift sees it.
fn host() -> OwnedTargetIsa {
    let mut flags = settings::builder();
    let verifier = if cfg!(debug_assertions) { "true" } else { "false" };
    for (name, value) in [
        // The optimiser doubles the time of compilation and saves nothing: the loops are emitted as they should run.
        ("opt_level", "none"),
        ("enable_verifier", verifier),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("enable_probestack", "false"),
        ("unwind_info", "false"),
    ] {
        flags.set(name, value).expect("Cranelift knows its own settings");
    }
    let builder = cranelift::native::builder().expect("Cranelift has a back end for this host");
    builder
        .finish(settings::Flags::new(flags))
        .expect("the host's features are consistent")
}

fn signature(convention: CallConv) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend([AbiParam::new(I64), AbiParam::new(I64)]);
    signature
}

/// Compiles the classes of a table.
pub fn compile(table: Table, program: &Program, layout: &Layout, level: Level) -> Compiled {
    let kernels = level.kernels();
    let isa = host();
    let config = isa.frontend_config();
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    let arena =
        ArenaMemoryProvider::new_with_size(CODE_ARENA_BYTES).expect("the host has address space for code");
    builder.memory_provider(Box::new(arena));
    for helper in Helper::all() {
        builder.symbol(helper.name(), helper.address(kernels));
    }
    for (name, callback) in CALLBACKS {
        builder.symbol(*name, *callback as *const u8);
    }
    let mut module = JITModule::new(builder);
    let convention = module.isa().default_call_conv();
    for helper in Helper::all() {
        let id = module
            .declare_function(&helper.name(), Linkage::Import, &helper.signature(convention))
            .expect("helpers have different names");
        assert!(
            id.as_u32() == helper.number(),
            "helpers are declared first, in order"
        );
    }
    let callbacks: Vec<FuncId> = CALLBACKS
        .iter()
        .map(|(name, _)| {
            module
                .declare_function(name, Linkage::Import, &control::callback_signature(convention))
                .expect("callbacks have different names")
        })
        .collect();
    let mut context = module.make_context();
    let mut builder_context = FunctionBuilderContext::new();
    let mut code_bytes = 0;
    let ids: Vec<FuncId> = table
        .classes
        .iter()
        .map(|class| {
            let signature = signature(convention);
            let id = module
                .declare_anonymous_function(&signature)
                .expect("any number of functions can be declared");
            context.func.signature = signature;
            context.func.name = UserFuncName::user(0, id.as_u32());
            class.emit(
                FunctionBuilder::new(&mut context.func, &mut builder_context),
                layout,
                config,
            );
            if let Err(error) = module.define_function(id, &mut context) {
                panic!(
                    "the code of every class is valid: {error}\n{class:?}\n{}",
                    context.func.display()
                );
            }
            code_bytes += code_size(&context);
            module.clear_context(&mut context);
            id
        })
        .collect();
    let entry = (!program.is_straight()).then(|| {
        let signature = control::entry_signature(convention);
        let id = module
            .declare_anonymous_function(&signature)
            .expect("any number of functions can be declared");
        context.func.signature = signature;
        context.func.name = UserFuncName::user(0, id.as_u32());
        let [segment, iteration] =
            [0, 1].map(|it| module.declare_func_in_func(callbacks[it], &mut context.func));
        control::emit(
            &mut context.func,
            &mut builder_context,
            &program.control().nodes,
            &program.loops,
            control::Callbacks { segment, iteration },
            config,
        );
        if let Err(error) = module.define_function(id, &mut context) {
            panic!(
                "the code of control flow is valid: {error}\n{}",
                context.func.display()
            );
        }
        code_bytes += code_size(&context);
        module.clear_context(&mut context);
        id
    });
    module.finalize_definitions().expect("all helpers are known");
    let entry = entry.map(|id| {
        let address = module.get_finalized_function(id);
        // SAFETY: the function was defined with the signature of `Entry`.
        unsafe { std::mem::transmute::<*const u8, control::Entry>(address) }
    });
    let code = ids
        .into_iter()
        .map(|id| {
            let address = module.get_finalized_function(id);
            // SAFETY: the function was defined with the signature of `Code`.
            unsafe { std::mem::transmute::<*const u8, Code>(address) }
        })
        .collect();
    Compiled {
        table,
        kernels,
        code,
        entry,
        code_bytes,
        module: Some(module),
    }
}

fn code_size(context: &Context) -> usize {
    context
        .compiled_code()
        .map_or(0, |it| it.code_info().total_size as usize)
}

impl Compiled {
    pub fn n_classes(&self) -> usize {
        self.table.classes.len()
    }

    /// Executes instructions in order.
    pub fn run(&self, memory: &mut Memory, registers: &mut [i32], order: &[InstId]) -> Result<(), Fault> {
        let is_static = self.table.moved.is_empty();
        for &id in order {
            let calls = &self.table.calls[self.table.spans[id.index()].clone()];
            if !is_static && let Some(moved) = self.table.moved.get(&id) {
                self.run_moved(memory, registers, id, moved, calls)?;
                continue;
            }
            for call in calls {
                self.run_call(memory, registers, id, call)?;
            }
        }
        Ok(())
    }

    fn run_call(
        &self,
        memory: &mut Memory,
        registers: &mut [i32],
        id: InstId,
        call: &Call,
    ) -> Result<(), Fault> {
        let layout = memory.layout;
        let base = memory.base();
        // SAFETY: every operand of a call was proven to lie in its buffer when its view was resolved, and indices are
        // compared with their bounds; the memory has the layout the table was made for, and operands that overlap go
        // through the stage window.
        unsafe {
            match call {
                Call::Code { class, args, .. } => {
                    self.code[*class](base, self.table.args[*args..].as_ptr());
                }
                Call::Bulk(it) => it.run(base),
                Call::Turn(it) => it.run(self.kernels, base),
                Call::Product(it) => it.run(self.kernels, &layout, base),
                Call::Identity(it) => it.run(self.kernels, &layout, base),
                Call::Tile(it) => it.run(self.kernels, base),
                Call::Rows(it) => {
                    return it
                        .run(memory, registers)
                        .map_err(|index| Fault::Index { inst: id, index });
                }
                Call::RowSum(it) => {
                    return it
                        .run(memory, registers)
                        .map_err(|index| Fault::Index { inst: id, index });
                }
                Call::Register(it) => run_register(*it, memory, registers),
            }
        }
        Ok(())
    }

    /// Executes an instruction some of whose operands are moved by indices.
    fn run_moved(
        &self,
        memory: &mut Memory,
        registers: &mut [i32],
        id: InstId,
        moved: &Moved,
        calls: &[Call],
    ) -> Result<(), Fault> {
        let mut distances: Vec<(u32, u64)> = Vec::with_capacity(moved.movements.len());
        for it in &moved.movements {
            match read_index(it, 0, memory, registers) {
                Ok(index) => distances.push((it.view, it.stride * u64::from(index))),
                Err(_) if moved.skips => return Ok(()),
                Err(index) => return Err(Fault::Index { inst: id, index }),
            }
        }
        let relocate = |address: &mut u64| {
            let (view, start) = split_address(*address);
            // A negative immediate looks like the number of a view that no program has; a key may look like any.
            if let Some((_, distance)) = distances.iter().find(|it| Some(it.0) == view) {
                *address = start + distance;
            }
        };
        for call in calls {
            let call = match call {
                Call::Code { class, args, n_args } => {
                    let mut args = self.table.args[*args..args + n_args].to_vec();
                    let n_keys = usize::from(self.table.classes[*class].has_key());
                    args[..n_args - n_keys].iter_mut().for_each(relocate);
                    // SAFETY: as in `run_call`.
                    unsafe { self.code[*class](memory.base(), args.as_ptr()) };
                    continue;
                }
                Call::Bulk(it) => {
                    let mut it = it.clone();
                    it.addresses().into_iter().for_each(relocate);
                    Call::Bulk(it)
                }
                Call::Turn(it) => {
                    let mut it = it.clone();
                    it.addresses().into_iter().for_each(relocate);
                    Call::Turn(it)
                }
                Call::Product(it) => {
                    let mut it = it.clone();
                    it.addresses().into_iter().for_each(relocate);
                    Call::Product(it)
                }
                Call::Identity(it) => {
                    let mut it = it.clone();
                    it.addresses().into_iter().for_each(relocate);
                    Call::Identity(it)
                }
                Call::Rows(it) => Call::Rows(it.clone()),
                Call::Tile(_) | Call::RowSum(_) => {
                    self.run_call(memory, registers, id, call)?;
                    continue;
                }
                Call::Register(it) => {
                    let mut it = *it;
                    if let RegisterCall::Load { at, .. } | RegisterCall::Store { at, .. } = &mut it {
                        relocate(at);
                    }
                    Call::Register(it)
                }
            };
            self.run_call(memory, registers, id, &call)?;
        }
        Ok(())
    }

    /// Runs the program's control flow: `run` executes a segment, and is asked before each iteration.
    pub fn run_control(&self, registers: &mut [i32], callbacks: &mut dyn Callbacks) -> Result<(), Fault> {
        let entry = self
            .entry
            .expect("a program with loops or registers has compiled control flow");
        let (n_registers, registers) = (registers.len(), registers.as_mut_ptr());
        let mut called = Called {
            callbacks,
            registers,
            n_registers,
            fault: None,
        };
        // SAFETY: the function was compiled for this signature; it passes the context, which outlives the call, on to the
        // callbacks below, and touches registers of the program only.
        let stopped = unsafe { entry((&raw mut called).cast(), registers) };
        match called.fault {
            Some(fault) => Err(fault),
            None => {
                assert!(stopped == 0, "control flow stops for a fault only");
                Ok(())
            }
        }
    }
}

/// What the compiled control flow calls back with.
struct Called<'a> {
    callbacks: &'a mut dyn Callbacks,
    /// The registers, which the control flow changes too.
    registers: *mut i32,
    n_registers: usize,
    fault: Option<Fault>,
}

/// What the compiled control flow calls back.
pub trait Callbacks {
    /// Executes a segment.
    fn segment(&mut self, number: usize, registers: &mut [i32]) -> Result<(), Fault>;
    /// Is asked before each iteration of a loop.
    fn iteration(&mut self, number: usize) -> Result<(), Fault>;
}

fn called(context: *mut u8, call: impl FnOnce(&mut dyn Callbacks, &mut [i32]) -> Result<(), Fault>) -> u32 {
    // SAFETY: `run_control` passes a context, and nothing else uses it while the function runs.
    let context = unsafe { &mut *context.cast::<Called>() };
    // SAFETY: `run_control` took both from one slice; the control flow, the only other user, waits for this call.
    let registers = unsafe { std::slice::from_raw_parts_mut(context.registers, context.n_registers) };
    match call(context.callbacks, registers) {
        Ok(()) => 0,
        Err(fault) => {
            context.fault = Some(fault);
            1
        }
    }
}

extern "C" fn segment(context: *mut u8, number: u32) -> u32 {
    called(context, |it, registers| it.segment(number as usize, registers))
}

extern "C" fn iteration(context: *mut u8, number: u32) -> u32 {
    called(context, |it, _| it.iteration(number as usize))
}

fn run_register(call: RegisterCall, memory: &mut Memory, registers: &mut [i32]) {
    match call {
        RegisterCall::Set { register, value } => registers[register] = value,
        RegisterCall::Move { register, from } => registers[register] = registers[from],
        RegisterCall::Load { register, at, dtype } => registers[register] = read_register(memory, at, dtype),
        RegisterCall::Store { at, dtype, register } => {
            memory.set_word(at, dtype.size(), registers[register] as u32);
        }
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: function pointers into the module are only called through `self`.
            unsafe { module.free_memory() };
        }
    }
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiled")
            .field("table", &self.table)
            .field("code_bytes", &self.code_bytes)
            .finish()
    }
}

/// The code of every class of a table, in order of first use.
pub fn text(table: &Table, program: &Program, layout: &Layout) -> String {
    let isa = host();
    let mut builder_context = FunctionBuilderContext::new();
    let mut text = String::new();
    for (idx, (class, name)) in table.classes.iter().zip(&table.names).enumerate() {
        let mut function = Function::with_name_signature(
            UserFuncName::testcase(format!("class{idx}")),
            signature(isa.default_call_conv()),
        );
        class.emit(
            FunctionBuilder::new(&mut function, &mut builder_context),
            layout,
            isa.frontend_config(),
        );
        if idx > 0 {
            text.push('\n');
        }
        let body = function.display().to_string();
        writeln!(text, "; {name}: {class}\n{}", named(&body)).expect("writing to a string succeeds");
    }
    if !program.is_straight() {
        let mut function = Function::with_name_signature(
            UserFuncName::testcase("control"),
            control::entry_signature(isa.default_call_conv()),
        );
        let mut import = |name: &str| {
            let signature = function.import_signature(control::callback_signature(isa.default_call_conv()));
            function.import_function(ExtFuncData {
                name: ExternalName::testcase(name),
                signature,
                colocated: false,
                patchable: false,
            })
        };
        let callbacks = control::Callbacks {
            segment: import("segment"),
            iteration: import("iteration"),
        };
        control::emit(
            &mut function,
            &mut builder_context,
            &program.control().nodes,
            &program.loops,
            callbacks,
            isa.frontend_config(),
        );
        writeln!(text, "\n; the program's control flow\n{}", function.display())
            .expect("writing to a string succeeds");
    }
    text
}

/// Replaces the numbers of row kernels by their names.
fn named(text: &str) -> String {
    let mut result = text.to_string();
    for helper in Helper::all().iter().rev() {
        result = result.replace(
            &format!("u0:{} ", helper.number()),
            &format!("%{} ", helper.name()),
        );
    }
    result
}
