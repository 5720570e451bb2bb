//! The manual of the instruction set: its pages, its list, and its worked examples run on both emulators.

use nk_compiler::ir::{BufferId, FirstWrites, InstId, Role};
use nk_compiler::isa::ROWS;
use nk_compiler::isa::manual::{EXAMPLES, Example};
use nk_compiler::place::place;
use nk_compiler::source::Sources;
use nk_compiler::target::TARGETS;
use nk_compiler::text::{Directive, directives, parse};
use nk_compiler::verify::verify;
use nk_runtime::tensor::Tensor;
use nk_runtime::{Emulator, Machine};
use std::process::{Command, Output};

/// `%name:dtype@memory=literal` in an example: the memory is SBUF and the literal absent when they are left out.
struct Item<'t> {
    name: &'t str,
    dtype: &'t str,
    memory: &'t str,
    literal: Option<&'t str>,
}

fn items(side: &str) -> Vec<Item<'_>> {
    let item = |text| -> Item<'_> {
        let text: &str = text;
        let (head, literal) = match text.split_once('=') {
            Some((head, literal)) => (head, Some(literal.trim())),
            None => (text.trim(), None),
        };
        let (name, dtype) = head.split_once(':').expect("an item has a dtype");
        let (dtype, memory) = dtype.split_once('@').unwrap_or((dtype, "sbuf"));
        Item {
            name,
            dtype,
            memory,
            literal,
        }
    };
    let texts = side.split('%').filter(|it| !it.trim().is_empty());
    texts.map(item).collect()
}

/// Names with literals, as a `run` directive writes them.
fn literals(items: &[Item]) -> String {
    let with_literal = items.iter().filter_map(|it| Some((it.name, it.literal?)));
    let texts: Vec<String> = with_literal
        .map(|(name, literal)| format!("%{name}={literal}"))
        .collect();
    texts.join(" ")
}

fn run_directive(text: &str) -> Option<Directive> {
    let mut sources = Sources::new();
    let file = sources.add("example.nir", text);
    let directives = directives(&sources, file).unwrap_or_else(|it| panic!("{text}: {it:?}"));
    directives.into_iter().next()
}

/// The example as a kernel: every tile is declared with the shape of its literal.
fn kernel(example: &Example) -> String {
    let (inputs, outputs) = example.values.split_once("->").expect("an example has an arrow");
    let (inputs, outputs) = (items(inputs), items(outputs));
    let run = format!("; run: {} -> {}\n", literals(&inputs), literals(&outputs));
    let shapes = match run_directive(&run) {
        Some(Directive::Run { inputs, outputs, .. }) => {
            let all = inputs.into_iter().chain(outputs);
            all.map(|(name, literal)| (name, literal.shape)).collect()
        }
        _ => Vec::new(),
    };
    let mut text = "kernel %example for trainium1\n\n".to_string();
    let mut declared = Vec::new();
    for item in inputs.iter().chain(&outputs) {
        if declared.contains(&item.name) {
            continue;
        }
        declared.push(item.name);
        let role = if inputs.iter().any(|it| it.name == item.name) {
            "in"
        } else {
            "buf"
        };
        let known = shapes.iter().find(|it| it.0[1..] == *item.name);
        let sizes: Vec<String> = match known {
            Some((_, shape)) => shape.iter().map(|it| it.to_string()).collect(),
            None => vec!["2".to_string(), "3".to_string()],
        };
        let (name, dtype, memory) = (item.name, item.dtype, item.memory);
        text.push_str(&format!(
            "{role} %{name}: {dtype}[{}] @ {memory}\n",
            sizes.join(", ")
        ));
    }
    text.push_str(&format!("\nbody {{\n  {}\n}}\n", example.inst));
    text + &run
}

#[test]
fn worked_examples_give_the_values_beside_them() {
    let target = &TARGETS[0];
    let mut n_checked = 0;
    for example in EXAMPLES.iter().filter(|it| !it.values.is_empty()) {
        let text = kernel(example);
        let mut sources = Sources::new();
        let file = sources.add("example.nir", text.clone());
        let program = parse(&sources, file)
            .unwrap_or_else(|it| panic!("{text}: {it:?}"))
            .program;
        assert_eq!(program.insts[0].op, example.op, "{text}");
        let errors = verify(&program, target);
        assert!(errors.is_empty(), "{text}: {errors:?}");
        let placement = place(&program, target).unwrap_or_else(|it| panic!("{text}: {it:?}"));
        let (inputs, outputs) = match run_directive(&text) {
            Some(Directive::Run { inputs, outputs, .. }) => (inputs, outputs),
            _ => (Vec::new(), Vec::new()),
        };
        for emulator in [Emulator::Jit, Emulator::Reference] {
            let first = FirstWrites::default();
            let mut machine = Machine::load(&program, &placement, &first, target, emulator);
            let buffer = |name: &str| {
                let at = program.buffers.iter().position(|it| it.name.to_string() == name);
                BufferId::new(at.unwrap_or_else(|| panic!("{text}: no buffer {name}")))
            };
            for (name, literal) in &inputs {
                let id = buffer(name);
                assert_eq!(program[id].role, Role::In);
                let tensor = Tensor::from_f64(program[id].dtype, literal.shape.clone(), &literal.values);
                machine.write(id, tensor.expect("literals are rectangular").bytes());
            }
            machine
                .run(&[InstId::new(0)])
                .expect("an example has no dynamic address");
            for (name, literal) in &outputs {
                let (bytes, dtype) = (machine.read(buffer(name)), program[buffer(name)].dtype);
                let got = Tensor::new(dtype, literal.shape.clone(), bytes);
                let got = got.expect("the literal has the buffer's shape").to_f64();
                assert_eq!(got, literal.values, "{text}: {name} by {emulator:?}");
                n_checked += 1;
            }
        }
    }
    assert!(
        n_checked >= 2 * (ROWS.len() - 5),
        "only {n_checked} results were checked"
    );
}

fn nk(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nk"))
        .args(args)
        .output()
        .expect("the command starts")
}

fn product(args: &[&str]) -> String {
    let output = nk(args);
    assert_eq!(output.status.code(), Some(0), "nk {args:?}");
    String::from_utf8(output.stdout).expect("pages are text")
}

#[test]
fn json_has_an_object_for_every_mnemonic() {
    let stdout = product(&["isa", "--format", "json"]);
    let entries: serde_json::Value = serde_json::from_str(stdout.trim()).expect("one array");
    let entries = entries.as_array().expect("one array");
    assert!(entries.len() >= ROWS.len() + 12);
    for (name, engine, v2, since) in [
        ("nc_matmul", "tensor", true, "NeuronCore-v2"),
        ("dma_compute", "dma", true, "NeuronCore-v2"),
        ("nc_matmul_mx", "tensor", false, "NeuronCore-v4"),
        ("range_select", "vector", false, "NeuronCore-v3"),
    ] {
        let want = serde_json::json!({"name": name, "engine": engine, "v2": v2, "since": since});
        assert!(entries.contains(&want), "{name}");
    }
}

#[test]
fn pages_say_what_an_instruction_takes() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (name, args) in [
        ("isa_list", vec!["isa"]),
        ("isa_nc_matmul", vec!["isa", "nc_matmul"]),
        ("isa_select_reduce", vec!["isa", "nisa.select_reduce"]),
        ("isa_activate2", vec!["isa", "activate2"]),
    ] {
        settings.bind(|| insta::assert_snapshot!(name, product(&args)));
    }
}

/// The book in the repository is what the command prints today.
#[test]
fn the_book_is_current() {
    let printed = product(&["isa", "--all"]);
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../grammar/instructions.txt");
    if std::env::var("INSTA_UPDATE").is_ok_and(|it| it == "always") {
        std::fs::write(&path, &printed).expect("the folder is writable");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        printed == written,
        "write it again: nk isa --all > grammar/instructions.txt"
    );
}

#[test]
fn an_unknown_name_is_a_mistake_of_usage() {
    let output = nk(&["isa", "nc_matmull"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("did you mean `nc_matmul`?"), "{said}");
    assert!(output.stdout.is_empty());
}
