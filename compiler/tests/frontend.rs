//! The front end, tested from files: `tests/ast` holds valid files and their trees, `tests/tokens` their tokens,
//! `tests/syntax` broken files and what is said about them. Whatever else is thrown at it gets diagnostics, too.

use nk_compiler::ast::{Expr, ExprKind, Module, Stmt, StmtKind, dump_ast, dump_expr};
use nk_compiler::diagnostic::{Report, Severity, render};
use nk_compiler::lex::{dump_tokens, expected_diagnostics};
use nk_compiler::parse::{Error, parse, parse_expr};
use nk_compiler::source::{FileId, Sources};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests")
        .join(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder of tests exists");
    let paths = entries.map(|it| it.expect("the folder can be listed").path());
    let mut files: Vec<PathBuf> = paths
        .filter(|it| it.extension().is_some_and(|it| it == "py"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds no tests", folder.display());
    files
}

fn read(path: &Path) -> (Sources, FileId) {
    let text = std::fs::read_to_string(path).expect("a listed file can be read");
    let name = path
        .file_name()
        .expect("a listed file has a name")
        .to_string_lossy();
    one_file(&name, &text)
}

fn one_file(name: &str, text: &str) -> (Sources, FileId) {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    (sources, file)
}

fn rendered(errors: &[Error], sources: &Sources) -> String {
    let diagnostics: Vec<_> = errors.iter().map(Report::report).collect();
    render(&diagnostics, sources)
}

/// Compares with the snapshot of a file of `tests/FOLDER`; the text of the file stands at its top.
fn snapshot(folder: &str, path: &Path, shown: &str) {
    let stem = path
        .file_stem()
        .expect("a listed file has a name")
        .to_string_lossy();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../tests/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format!("{folder}__{stem}"), shown));
}

/// Broken files show their lines in the diagnostics, so the snapshot holds only those.
#[test]
fn broken_files_are_explained() {
    for path in files("syntax") {
        let (sources, file) = read(&path);
        let (_, errors) = parse(&sources, file);
        assert!(!errors.is_empty(), "{} has no error", path.display());
        snapshot("syntax", &path, &rendered(&errors, &sources));
    }
}

#[test]
fn valid_files_have_this_tree() {
    for path in files("ast") {
        let (sources, file) = read(&path);
        let (module, errors) = parse(&sources, file);
        assert!(errors.is_empty(), "{}", rendered(&errors, &sources));
        snapshot("ast", &path, &dump_ast(&module));
    }
}

#[test]
fn valid_files_have_these_tokens() {
    for path in files("tokens") {
        let (sources, file) = read(&path);
        snapshot("tokens", &path, &dump_tokens(&sources, file));
    }
}

/// Spans lie on character boundaries, inside their file, and inside the span around them.
#[test]
fn spans_nest() {
    for path in files("ast") {
        let (sources, file) = read(&path);
        check_spans(&parse(&sources, file).0, &sources);
    }
}

fn check_spans(module: &Module, sources: &Sources) {
    for stmt in &module.body {
        check_stmt(stmt, sources);
    }
}

fn check_stmt(stmt: &Stmt, sources: &Sources) {
    let text = sources.slice(stmt.span);
    assert_eq!(text.trim(), text, "a statement begins and ends with a token");
    let inner: Vec<&Expr> = match &stmt.kind {
        StmtKind::Expr(value) | StmtKind::Return(Some(value)) => vec![value],
        StmtKind::Assign { targets, value } => targets.iter().chain([value]).collect(),
        StmtKind::If { test, .. } | StmtKind::While { test, .. } => vec![test],
        _ => Vec::new(),
    };
    for expr in inner {
        assert!(
            stmt.span.start <= expr.span.start && expr.span.end <= stmt.span.end,
            "{text}"
        );
        check_expr(expr, sources);
    }
    if let StmtKind::If { body, orelse, .. } | StmtKind::For { body, orelse, .. } = &stmt.kind {
        body.iter().chain(orelse).for_each(|it| check_stmt(it, sources));
    }
}

fn check_expr(expr: &Expr, sources: &Sources) {
    let text = sources.slice(expr.span);
    let inner: Vec<&Expr> = match &expr.kind {
        ExprKind::Binary { left, right, .. } | ExprKind::Logic { left, right, .. } => vec![left, right],
        ExprKind::Call { callee, args } => args.iter().map(|it| &it.value).chain([&**callee]).collect(),
        ExprKind::Index { value, index } => vec![value, index],
        ExprKind::Tuple(elements) | ExprKind::List(elements) => elements.iter().collect(),
        ExprKind::Attr { value, .. } => vec![value],
        ExprKind::Name(name) => {
            assert_eq!(&**name, text);
            Vec::new()
        }
        _ => Vec::new(),
    };
    for part in inner {
        assert!(
            expr.span.start <= part.span.start && part.span.end <= expr.span.end,
            "{text}"
        );
        check_expr(part, sources);
    }
}

#[test]
fn single_expressions() {
    for (text, tree) in [
        (
            "(2, nl.bfloat16)",
            "tuple\n  int 2\n  attr bfloat16\n    name nl\n",
        ),
        ("-inf", "unary -\n  name inf\n"),
        ("  [1,\n  2]\n", "list\n  int 1\n  int 2\n"),
        ("np.less", "attr less\n  name np\n"),
        ("1,", "tuple\n  int 1\n"),
    ] {
        let (sources, file) = one_file("argument", text);
        let expr =
            parse_expr(&sources, file).unwrap_or_else(|errors| panic!("{}", rendered(&errors, &sources)));
        assert_eq!(dump_expr(&expr), tree);
    }
    let mut shown = String::new();
    for text in ["", "1 2", "(1", "x = 3", "1 +", "\"a", "a)", "f\"{\"", "$"] {
        let (sources, file) = one_file("argument", text);
        let errors = parse_expr(&sources, file).expect_err("these are broken");
        shown.push_str(&rendered(&errors, &sources));
    }
    snapshot("syntax", Path::new("single_expressions"), &shown);
}

#[test]
fn announced_diagnostics() {
    let text = "x = 1  # error: tile-too-large\n\
                y = \"# error: not-a-comment\"\n\
                # warning: slow-path\n\
                z  # error: a-b  # warning: c-d\n\
                # error: this is prose\n";
    let announced = expected_diagnostics(text);
    let expected = [
        (1, Severity::Error, "tile-too-large"),
        (3, Severity::Warning, "slow-path"),
        (4, Severity::Error, "a-b"),
        (4, Severity::Warning, "c-d"),
    ];
    assert_eq!(
        announced,
        expected.map(|(line, severity, code)| (line, severity, code.to_owned()))
    );
}

#[test]
fn directives_keep_their_place() {
    let (sources, file) = one_file("kernel.nk", "x = 1  # nk: run f(x) \n");
    let (module, _) = parse(&sources, file);
    assert_eq!(module.directives[0].text, "run f(x)");
    assert_eq!(sources.slice(module.directives[0].span), "# nk: run f(x)");
}

/// A prompt asks for another line while one of these is all that is wrong.
#[test]
fn unfinished_texts_want_more() {
    for (text, wants_more) in [
        ("x = f(1,", true),
        ("def f(x):", true),
        ("x = \"\"\"a", true),
        ("for i in y:\n    if z:", true),
        ("x = 'a", false),
        ("x = f(1]", false),
        ("x = 1 2", false),
    ] {
        let (sources, file) = one_file("prompt", text);
        let (_, errors) = parse(&sources, file);
        assert_eq!(errors.iter().all(Error::wants_more), wants_more, "{text}");
    }
}

/// Texts that are deep, long or endless get a diagnostic with this code.
#[test]
fn limits_are_errors() {
    let elifs: String = (0..300).map(|n| format!("elif x == {n}:\n  pass\n")).collect();
    let blocks: String = (0..150).map(|n| format!("{}if x:\n", " ".repeat(n))).collect();
    let nested_fstrings = (0..20).fold("x".to_owned(), |inner, _| format!("f\"{{{inner}}}\""));
    for (what, text, code) in [
        (
            "brackets",
            "x = ".to_owned() + &"(".repeat(100_000),
            "nested-too-deep",
        ),
        (
            "closed brackets",
            format!("x = {}1{}", "[".repeat(300), "]".repeat(300)),
            "nested-too-deep",
        ),
        (
            "calls",
            format!("x = {}1{}", "f(".repeat(150), ")".repeat(150)),
            "",
        ),
        (
            "minus signs",
            "x = ".to_owned() + &"-".repeat(100_000) + "1",
            "nested-too-deep",
        ),
        (
            "three hundred minus signs",
            "x = ".to_owned() + &"-".repeat(300) + "1",
            "nested-too-deep",
        ),
        (
            "a sum",
            "x = 1".to_owned() + &"+ 1".repeat(10_000),
            "nested-too-deep",
        ),
        ("a short sum", "x = 1".to_owned() + &"+ 1".repeat(150), ""),
        (
            "powers",
            "x = 1".to_owned() + &"**1".repeat(10_000),
            "nested-too-deep",
        ),
        (
            "attributes",
            "x".to_owned() + &".a".repeat(10_000),
            "nested-too-deep",
        ),
        ("lambdas", "lambda:".repeat(10_000) + "1", "nested-too-deep"),
        (
            "conditionals",
            "x = ".to_owned() + &"a if b else ".repeat(10_000) + "c",
            "nested-too-deep",
        ),
        ("comparisons", "x = 1".to_owned() + &" < 1".repeat(1000), ""),
        (
            "a longer sum",
            "x = 1".to_owned() + &"+1".repeat(2_000_000),
            "nested-too-deep",
        ),
        ("elif", format!("if x:\n  pass\n{elifs}"), "nested-too-deep"),
        ("blocks", blocks, "nested-too-deep"),
        ("f-strings", nested_fstrings, "nested-too-deep"),
        (
            "f-strings with open holes",
            "x = ".to_owned() + &"f\"{a\" ".repeat(100_000),
            "bad-fstring",
        ),
        ("a long list", format!("x = [{}]", "1, ".repeat(100_000)), ""),
        (
            "a long line",
            "x = 1 ".to_owned() + &"y ".repeat(1_000_000),
            "unexpected-token",
        ),
        ("garbage", "$".repeat(1_000_000), "invalid-character"),
        ("garbage lines", "$ x\n".repeat(100_000), "invalid-character"),
        ("broken lines", "x = = 3\n".repeat(100_000), "unexpected-token"),
        (
            "broken lines of one block",
            "if x:\n".to_owned() + &"  x = = 3\n".repeat(100_000),
            "unexpected-token",
        ),
        ("open brackets", "f(x\n".repeat(100_000), "unclosed-bracket"),
        (
            "an open string",
            "x = '''".to_owned() + &"\n".repeat(1_000_000),
            "unterminated-string",
        ),
        ("backslashes", " \\\n".repeat(1_000_000), ""),
        ("zeros", "\0".repeat(100_000), "invalid-character"),
    ] {
        let (sources, file) = one_file("limits.py", &text);
        let (_, errors) = parse(&sources, file);
        let codes: Vec<&str> = errors.iter().map(|it| it.report().code).collect();
        assert!(errors.len() <= 100, "{what} have {} errors", errors.len());
        assert_eq!(codes.first().copied().unwrap_or_default(), code, "{what}");
    }
}

/// Parses and renders everything that is said; the test is that this ends.
fn throw(text: &str) {
    let (sources, file) = one_file("fuzz.py", text);
    let (module, errors) = parse(&sources, file);
    dump_ast(&module);
    dump_tokens(&sources, file);
    rendered(&errors, &sources);
    expected_diagnostics(text);
    let starts: Vec<u32> = errors.iter().map(|it| it.span().start).collect();
    assert!(starts.is_sorted(), "errors are sorted");
    if let Err(errors) = parse_expr(&sources, file) {
        assert!(!errors.is_empty());
        rendered(&errors, &sources);
    }
}

/// Words of the language and beyond, for soups.
const WORDS: &[&str] = &[
    "x",
    "foo",
    "nl",
    "1",
    "2.5",
    "0x1F",
    "3j",
    "'s'",
    "f\"{x}\"",
    "f'{x:{y}}'",
    "b'b'",
    "\"\"\"d\"\"\"",
    "'open",
    "f'{",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ";",
    ".",
    "...",
    "->",
    "@",
    "!",
    "=",
    ":=",
    "+",
    "-",
    "*",
    "**",
    "/",
    "//",
    "==",
    "<",
    "+=",
    "if",
    "elif",
    "else",
    "for",
    "in",
    "while",
    "def",
    "class",
    "return",
    "lambda",
    "with",
    "as",
    "try",
    "except",
    "finally",
    "import",
    "from",
    "not",
    "and",
    "or",
    "is",
    "None",
    "async",
    "await",
    "yield",
    "match",
    "case",
    "type",
    "pass",
    "break",
    "global",
    "assert",
    "raise",
    "del",
    "\n",
    "\n",
    "\n",
    "\n    ",
    "\n    ",
    "\n        ",
    "\n\t",
    "\\\n",
    "# c\n",
    "# nk: run\n",
    "é",
    "×",
    "\r\n",
    "\u{feff}",
    "\0",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        throw(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn characters_never_panic(text in "\\PC{0,200}") {
        throw(&text);
    }

    #[test]
    fn token_soups_never_panic(words in prop::collection::vec(prop::sample::select(WORDS), 0..60), spaced: bool) {
        throw(&words.join(if spaced { " " } else { "" }));
    }

    #[test]
    fn cut_files_never_panic(index: prop::sample::Index, cut: prop::sample::Index, other: prop::sample::Index) {
        let paths: Vec<PathBuf> = files("ast").into_iter().chain(files("syntax")).collect();
        let text = std::fs::read_to_string(index.get(&paths)).expect("a listed file can be read");
        let boundaries: Vec<usize> = text.char_indices().map(|it| it.0).collect();
        let (one, two) = (*cut.get(&boundaries), *other.get(&boundaries));
        throw(&text[..one]);
        throw(&text[one..]);
        // A piece left out of the middle.
        throw(&format!("{}{}", &text[..one.min(two)], &text[one.max(two)..]));
    }
}
