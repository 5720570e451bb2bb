//! The commands of a session: their names, what they take, and what they are for.

/// A command.
pub struct Command {
    pub verb: Verb,
    pub name: &'static str,
    pub takes: &'static str,
    pub help: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Help,
    Load,
    Reload,
    Kernel,
    Arg,
    Set,
    Run,
    Check,
    Cost,
    Profile,
    Timeline,
    Memory,
    Psum,
    Roofline,
    Why,
    Ir,
    Sweep,
    Diff,
    Undo,
    History,
    Isa,
    Explain,
    Target,
    Save,
    Quit,
}

macro_rules! commands {
    ($( $verb:ident $name:literal $takes:literal $help:literal; )*) => {
        /// In the order in which `:help` lists them.
        pub const COMMANDS: &[Command] = &[ $( Command { verb: Verb::$verb, name: $name, takes: $takes, help: $help }, )* ];
    };
}

commands! {
    Help "help" "" "this list";
    Load "load" "FILE" "read a file: its names are visible, and its first kernel is chosen";
    Reload "reload" "" "read the file again, and show what changed";
    Kernel "kernel" "[NAME]" "choose a kernel, or `session` for what was typed; list them";
    Arg "arg" "[NAME=VALUE]" "an argument of the kernel, or a tensor for the session: x=f32[128,512]:randn(0); list them";
    Set "set" "[NAME=VALUE …]" "another value for a constant or parameter: before -> after; list them";
    Run "run" "" "values and checks of the kernel";
    Check "check" "" "compile only";
    Cost "cost" "" "time and bytes by instruction";
    Profile "profile" "" "all of the modelled time: engines, waits, critical path";
    Timeline "timeline" "" "which engine is busy when";
    Memory "memory" "" "who lies where in SBUF and PSUM";
    Psum "psum" "" "PSUM alone, with its banks";
    Roofline "roofline" "" "how far from the limits of the array and of HBM";
    Why "why" "LINE" "what the instructions of a line wait for";
    Ir "ir" "[STAGE]" "program, placement, schedule or clif";
    Sweep "sweep" "NAME=a,b,c …" "time and SRAM for every combination";
    Diff "diff" "[STAGE]" "what the last change did to the IR";
    Undo "undo" "" "take back the last change or statement";
    History "history" "" "what was typed";
    Isa "isa" "[OP]" "an instruction's page";
    Explain "explain" "[CODE]" "what the code of a message means; alone: that of the last one";
    Target "target" "[NAME]" "the chip, or another one";
    Save "save" "FILE.nk" "write the file with the values that were set, and the statements as a kernel";
    Quit "quit" "" "end";
}

/// The command of a name, or of a beginning that only one name has.
pub fn find(word: &str) -> Result<&'static Command, String> {
    if let Some(exact) = COMMANDS.iter().find(|it| it.name == word) {
        return Ok(exact);
    }
    let near: Vec<&Command> = COMMANDS
        .iter()
        .filter(|it| !word.is_empty() && it.name.starts_with(word))
        .collect();
    match near.as_slice() {
        [one] => Ok(one),
        [] => Err(format!("there is no command `:{word}`; :help lists them\n")),
        several => {
            let names: Vec<String> = several.iter().map(|it| format!(":{}", it.name)).collect();
            Err(format!("`:{word}` may be {}\n", names.join(", ")))
        }
    }
}

/// What `:help` says.
pub fn help() -> String {
    let mut out = String::from(
        "What is typed is the kernel language, executed at once; an expression shows its value.\n\
         Commands act on the chosen kernel, or on what was typed.\n\n",
    );
    for it in COMMANDS {
        let usage = format!(":{} {}", it.name, it.takes);
        out.push_str(&format!("  {usage:<24} {}\n", it.help));
    }
    out
}
