//! IR text and the verifier, tested from files: `tests/ir` holds canonical texts, `tests/text` texts that cannot be read,
//! `tests/verify` instructions that break a rule. A line that is wrong says so: `; error: CODE words`.

mod random;

use nk_compiler::diagnostic::{Diagnostic, Report, render};
use nk_compiler::ir::{InstId, Placement, Program, Schedule, Step};
use nk_compiler::place::place;
use nk_compiler::source::{FileId, Sources};
use nk_compiler::target::Target;
use nk_compiler::text::{self, Directive, Parsed, PrintOptions};
use nk_compiler::verify::{verify, verify_placed};
use proptest::prelude::*;
use random::{Tape, described, described_inst};
use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests")
        .join(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder of tests exists");
    let mut files: Vec<PathBuf> = entries
        .map(|it| it.expect("the folder can be listed").path())
        .filter(|it| it.extension().is_some_and(|it| it == "nir"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds no tests", folder.display());
    files
}

fn read(path: &Path) -> (Sources, FileId) {
    let mut sources = Sources::new();
    let text = std::fs::read_to_string(path).expect("a listed file can be read");
    let name = path
        .file_name()
        .expect("a listed file has a name")
        .to_string_lossy();
    let file = sources.add(name, text);
    (sources, file)
}

fn parse(sources: &Sources, file: FileId) -> Parsed {
    text::parse(sources, file).unwrap_or_else(|errors| panic!("{}", render(&reports(&errors), sources)))
}

fn print(parsed: &Parsed) -> String {
    let (placement, schedule) = (parsed.placement.as_ref(), parsed.schedule.as_ref());
    text::print(&parsed.program, placement, schedule, PrintOptions::default())
}

fn reports<T: Report>(errors: &[T]) -> Vec<Diagnostic> {
    errors.iter().map(Report::report).collect()
}

/// The text without comments, which no table keeps.
fn without_comments(text: &str) -> String {
    let lines = text.lines().filter(|it| !it.trim_start().starts_with(';'));
    lines.flat_map(|it| [it, "\n"]).collect()
}

/// Compares the errors that lines announce with the ones that were found: every found one is announced on its line, and
/// every announced one is found. Gives what is wrong.
fn unannounced(sources: &Sources, file: FileId, found: &[Diagnostic]) -> Vec<String> {
    let directives = text::directives(sources, file)
        .unwrap_or_else(|errors| panic!("{}", render(&reports(&errors), sources)));
    let announced = directives.into_iter().filter_map(|it| match it {
        Directive::Error { line, code, words } => Some((line, code, words)),
        Directive::Run { .. } => None,
    });
    let mut announced: Vec<_> = announced.map(|it| (it, false)).collect();
    assert!(
        !announced.is_empty(),
        "{} announces no error",
        sources.name_of(file)
    );
    let mut wrong = Vec::new();
    for diagnostic in found {
        let span = diagnostic
            .primary_span()
            .expect("errors of a text have a place in it");
        let (line, _) = sources.line_column(file, span.start);
        let mut is_announced = false;
        for ((at, code, words), is_found) in &mut announced {
            if *at == line && code == diagnostic.code && diagnostic.message.contains(words.as_str()) {
                *is_found = true;
                is_announced = true;
            }
        }
        if !is_announced {
            wrong.push(format!(
                "not announced:\n{}",
                render(std::slice::from_ref(diagnostic), sources)
            ));
        }
    }
    let missed = announced.iter().filter(|(_, is_found)| !is_found);
    wrong.extend(missed.map(|(it, _)| format!("{}: announced, not found: {it:?}", sources.name_of(file))));
    wrong
}

fn check_snapshot(folder: &str, path: &Path, shown: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../tests/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let name = path
        .file_stem()
        .expect("a listed file has a name")
        .to_string_lossy();
    settings.bind(|| insta::assert_snapshot!(format!("{folder}__{name}"), shown));
}

#[test]
fn canonical_texts_print_as_they_were_read() {
    for path in files("ir") {
        let (sources, file) = read(&path);
        let printed = print(&parse(&sources, file));
        let text = without_comments(sources.text_of(file));
        if printed != text {
            let lines = printed.lines().zip(text.lines());
            let differ: Vec<_> = lines.filter(|(printed, text)| printed != text).collect();
            panic!("{}: printed, read: {differ:#?}", path.display());
        }
    }
}

#[test]
fn cycles_and_spans_are_read_and_dropped() {
    for path in files("ir") {
        let (mut sources, file) = read(&path);
        let parsed = parse(&sources, file);
        let cycles = |id: InstId| 64 * (id.index() as u64 + 1);
        let options = PrintOptions {
            spans: Some(&sources),
            cycles: Some(&cycles),
        };
        let (placement, schedule) = (parsed.placement.as_ref(), parsed.schedule.as_ref());
        let detailed = text::print(&parsed.program, placement, schedule, options);
        if path.ends_with("specialised.nir") {
            check_snapshot("ir", &path, &detailed);
        }
        let file = sources.add("detailed.nir", detailed);
        assert_eq!(
            print(&parse(&sources, file)),
            print(&parsed),
            "{}",
            path.display()
        );
    }
}

#[test]
fn placements_survive_their_text() {
    for path in files("place") {
        let (sources, file) = read(&path);
        let program = parse(&sources, file).program;
        let target = Target::from_name(program.target).expect("a program names a known target");
        if let Ok(placement) = place(&program, target) {
            let parsed = through_text(&program, Some(&placement), None);
            assert_eq!(parsed.placement, Some(placement), "{}", path.display());
        }
    }
}

#[test]
fn broken_rules_are_reported_where_they_are() {
    let mut wrong = Vec::new();
    for path in files("verify") {
        let (sources, file) = read(&path);
        let parsed = parse(&sources, file);
        let target = Target::from_name(parsed.program.target).expect("a program names a known target");
        let mut errors = verify(&parsed.program, target);
        if let Some(placement) = parsed.placement.as_ref().filter(|_| errors.is_empty()) {
            errors = verify_placed(&parsed.program, placement, target);
        }
        let found = reports(&errors);
        wrong.extend(unannounced(&sources, file, &found));
        check_snapshot("verify", &path, &render(&found, &sources));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn texts_that_cannot_be_read_say_where() {
    let mut wrong = Vec::new();
    for path in files("text") {
        let (sources, file) = read(&path);
        let Err(errors) = text::parse(&sources, file) else {
            panic!("{} was read", path.display());
        };
        let found = reports(&errors);
        wrong.extend(unannounced(&sources, file, &found));
        check_snapshot("text", &path, &render(&found, &sources));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Prints and reads back; the text must be canonical.
fn through_text(program: &Program, placement: Option<&Placement>, schedule: Option<&Schedule>) -> Parsed {
    let text = text::print(program, placement, schedule, PrintOptions::default());
    let mut sources = Sources::new();
    let file = sources.add("random.nir", text.as_str());
    let parsed = parse(&sources, file);
    assert_eq!(print(&parsed), text);
    parsed
}

/// The instructions of each queue, and its waits and signals.
fn described_queues(program: &Program, schedule: &Schedule) -> Vec<Vec<String>> {
    let step = |step: &Step| match step {
        Step::Inst(id) => described_inst(program, &program[*id]),
        other => format!("{other:?}"),
    };
    schedule
        .queues
        .iter()
        .map(|it| it.iter().map(step).collect())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_program_survives_its_text(numbers in prop::collection::vec(any::<u32>(), 0..400)) {
        let mut tape = Tape::new(&numbers);
        let program = random::program(&mut tape);
        let parsed = through_text(&program, None, None);
        prop_assert_eq!(described(&parsed.program), described(&program));
        prop_assert!(parsed.placement.is_none() && parsed.schedule.is_none());

        let placement = random::placement(&mut tape, &program);
        let parsed = through_text(&program, Some(&placement), None);
        prop_assert_eq!(parsed.placement.map(|it| it.regions), Some(placement.regions.clone()));

        let schedule = random::schedule(&mut tape, &program);
        let parsed = through_text(&program, Some(&placement), Some(&schedule));
        let read = parsed.schedule.expect("a text with queues holds a schedule");
        prop_assert_eq!(described_queues(&parsed.program, &read), described_queues(&program, &schedule));
    }

    #[test]
    fn no_text_breaks_the_parser_or_the_verifier(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let texts: Vec<PathBuf> = ["ir", "text", "verify"].into_iter().flat_map(files).collect();
        let mut text = std::fs::read(which.get(&texts)).expect("a listed file can be read");
        for (at, from, byte) in edits {
            // Replace, repeat or remove a byte; most of what is left still reads.
            let (at, from) = (at.index(text.len()), from.index(text.len()));
            match byte % 3 {
                0 => text[at] = byte,
                1 => text.insert(at, text[from]),
                _ => drop(text.remove(at)),
            }
        }
        let mut sources = Sources::new();
        let file = sources.add("edited.nir", String::from_utf8_lossy(&text));
        match text::parse(&sources, file) {
            Ok(parsed) => {
                let target = Target::from_name(parsed.program.target).expect("a program names a known target");
                let mut errors = verify(&parsed.program, target);
                if let Some(placement) = &parsed.placement {
                    errors.extend(verify_placed(&parsed.program, placement, target));
                }
                render(&reports(&errors), &sources);
                through_text(&parsed.program, parsed.placement.as_ref(), parsed.schedule.as_ref());
            }
            Err(errors) => drop(render(&reports(&errors), &sources)),
        }
    }
}
