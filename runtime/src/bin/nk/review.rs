//! `nk test --review`: snapshots that differ, one after the other, with the keys of insta.
//!
//! Asks on stdout and reads lines from stdin, so that a script can answer.

use crate::console::Console;
use nk_runtime::testing::{Case, Pending, Verdict, diff_text};
use std::io::BufRead;

const KEYS: &str = "  a accept    r reject    s skip    A accept all    R reject all    S skip all\n";

#[derive(Clone, Copy, PartialEq)]
enum Answer {
    Accept,
    /// The snapshot stays; the test fails.
    Reject,
    /// Decided another time; the test fails.
    Skip,
}

/// Asks for each snapshot; those that are accepted are written, and tests that had nothing else wrong have passed.
pub fn review(cases: &mut [Case], console: Console) {
    let total: usize = cases.iter().map(|it| it.pending.len()).sum();
    let mut lines = std::io::stdin().lock().lines();
    let (mut number, mut counts) = (0, [0; 3]);
    let mut for_all: Option<Answer> = None;
    for case in cases.iter_mut() {
        let (mut rest, mut n_accepted) = (Vec::new(), 0);
        for pending in std::mem::take(&mut case.pending) {
            number += 1;
            let answer = for_all.unwrap_or_else(|| {
                console.product(&format!(
                    "\nreviewing [{number}/{total}] {}\n{}{KEYS}",
                    case.name,
                    shown(&pending)
                ));
                let (answer, is_for_all) = ask(&mut lines, console);
                for_all = is_for_all.then_some(answer);
                answer
            });
            counts[answer as usize] += 1;
            if answer != Answer::Accept {
                rest.push(pending);
            } else if let Err(error) = pending.accept() {
                console.product(&format!("{}: {error}\n", pending.path.display()));
                rest.push(pending);
            } else {
                n_accepted += 1;
            }
        }
        case.pending = rest;
        if n_accepted > 0 && case.pending.is_empty() && case.is_value_right {
            case.verdict = Verdict::Accepted;
        }
    }
    let [accepted, rejected, skipped] = counts;
    console.product(&format!(
        "\nreview finished: {accepted} accepted, {rejected} rejected, {skipped} skipped\n"
    ));
}

fn shown(pending: &Pending) -> String {
    match pending.known {
        Some(_) => diff_text(pending),
        None => format!("new snapshot {}\n{}", pending.path.display(), pending.found),
    }
}

/// Reads one answer; the end of the input skips the rest.
fn ask(lines: &mut impl Iterator<Item = std::io::Result<String>>, console: Console) -> (Answer, bool) {
    loop {
        console.product("> ");
        let Some(Ok(line)) = lines.next() else {
            return (Answer::Skip, true);
        };
        match line.trim() {
            "a" | "accept" => return (Answer::Accept, false),
            "r" | "reject" => return (Answer::Reject, false),
            "s" | "skip" => return (Answer::Skip, false),
            "A" => return (Answer::Accept, true),
            "R" => return (Answer::Reject, true),
            "S" => return (Answer::Skip, true),
            _ => console.product(KEYS),
        }
    }
}
