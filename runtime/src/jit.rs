//! Compiled code: one function per shape class, and the table that runs it.
//!
//! Takes a table of calls, gives machine code through Cranelift and runs instructions on a memory; or gives the code of
//! every class as CLIF text. Chooses nothing: what a class computes is in `lower`.

use crate::kernels::{Kernels, Level};
use crate::lower::helper::Helper;
use crate::lower::{Call, Table};
use crate::memory::{Layout, Memory};
use cranelift::codegen::Context;
use cranelift::codegen::ir::{Function, UserFuncName};
use cranelift::codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift::codegen::settings::Configurable;
use cranelift::jit::{ArenaMemoryProvider, JITBuilder, JITModule};
use cranelift::module::{FuncId, Linkage, Module, default_libcall_names};
use cranelift::prelude::types::I64;
use cranelift::prelude::{AbiParam, FunctionBuilder, FunctionBuilderContext, Signature, settings};
use nk_compiler::ir::InstId;
use std::fmt::Write;

/// Address space for the code of a program.
const CODE_ARENA_BYTES: usize = 256 << 20;

/// The code of a class: the reservation's address and the arguments.
type Code = unsafe extern "C" fn(base: *mut u8, args: *const u64);

/// A table with the code that its calls need.
pub struct Compiled {
    table: Table,
    kernels: &'static Kernels,
    code: Vec<Code>,
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
pub fn compile(table: Table, layout: &Layout, level: Level) -> Compiled {
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
    module.finalize_definitions().expect("all helpers are known");
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
    pub fn run(&self, memory: &mut Memory, order: &[InstId]) {
        let layout = memory.layout;
        let base = memory.base();
        for id in order {
            for call in &self.table.calls[self.table.spans[id.index()].clone()] {
                // SAFETY: every operand of a call was proven to lie in its buffer when its view was resolved, the memory
                // has the layout the table was made for, and operands that overlap go through the stage window.
                unsafe {
                    match call {
                        Call::Code { class, args } => {
                            self.code[*class](base, self.table.args[*args..].as_ptr())
                        }
                        Call::Bulk(it) => it.run(base),
                        Call::Product(it) => it.run(self.kernels, &layout, base),
                        Call::Identity(it) => it.run(self.kernels, &layout, base),
                    }
                }
            }
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
pub fn text(table: &Table, layout: &Layout) -> String {
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
