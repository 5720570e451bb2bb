//! The kernel language against CPython: each `tests/language/NAME.py` has a function `main`, and `NAME.out` holds what
//! CPython 3.11 (with NumPy 2) prints for it.

use nk_compiler::diagnostic::render;
use nk_compiler::source::Sources;
use nk_compiler::specialize::HostCall;
use nk_compiler::{parse, specialize, target};
use std::path::Path;
use std::rc::Rc;

fn run(path: &Path) -> String {
    let mut sources = Sources::new();
    let text = std::fs::read_to_string(path).expect("the test file is readable");
    let file = sources.add(path.display().to_string(), text);
    let (ast, errors) = parse::parse(&sources, file);
    assert!(errors.is_empty(), "{path:?} does not parse: {errors:?}");
    let target = &target::TARGETS[0];
    let call = HostCall {
        function: "main",
        args: &[],
        params: &[],
    };
    match specialize::evaluate(&mut sources, file, &Rc::new(ast), &call, target, &|_| None) {
        Ok(it) => it.printed,
        Err(diagnostics) => render(&diagnostics, &sources),
    }
}

#[test]
fn programs_print_what_cpython_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/language");
    let mut n_files = 0;
    for entry in std::fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("the folder is readable").path();
        if path.extension().is_some_and(|it| it == "py") {
            let want =
                std::fs::read_to_string(path.with_extension("out")).expect("every program has its output");
            // The evaluator's frames are deep in unoptimised builds.
            let path_of_thread = path.clone();
            let builder = std::thread::Builder::new().stack_size(256 << 20);
            let thread = builder
                .spawn(move || run(&path_of_thread))
                .expect("a thread starts");
            let got = thread.join().expect("the evaluator does not panic");
            for (number, (got, want)) in got.lines().zip(want.lines()).enumerate() {
                assert_eq!(got, want, "{path:?}, line {} of the output", number + 1);
            }
            assert_eq!(got, want, "{path:?}");
            n_files += 1;
        }
    }
    assert!(n_files >= 5, "only {n_files} programs were found");
}
