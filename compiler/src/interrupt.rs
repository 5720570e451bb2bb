//! A request to stop: whoever waits for a long computation may ask for its end.
//!
//! Takes requests from anywhere, a signal handler's thread included, and gives them to the loops that poll: the evaluator
//! at each statement, the stages between each other, the emulator between instructions. What was asked to stop ends with an
//! error like any other, so a session goes on. Never stops anything by itself.

use crate::diagnostic::Diagnostic;
use crate::limits::memory_bytes;
use std::sync::atomic::{AtomicU8, Ordering};

/// Why something is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// Ctrl-C.
    User,
    /// The process holds more memory than it may.
    Memory,
}

const NOTHING: u8 = 0;

/// The process has one, like its limits: a signal is for all of it.
static ASKED: AtomicU8 = AtomicU8::new(NOTHING);

const CODES: &[(Interrupt, u8)] = &[(Interrupt::User, 1), (Interrupt::Memory, 2)];

/// Asks what runs to stop.
pub fn ask(why: Interrupt) {
    let code = CODES.iter().find(|it| it.0 == why).map_or(NOTHING, |it| it.1);
    ASKED.store(code, Ordering::Relaxed);
}

/// Takes the request back; whoever starts something new does so first.
pub fn clear() {
    ASKED.store(NOTHING, Ordering::Relaxed);
}

/// What was asked, if anything.
pub fn asked() -> Option<Interrupt> {
    let code = ASKED.load(Ordering::Relaxed);
    CODES.iter().find(|it| it.1 == code).map(|it| it.0)
}

/// What was asked, as the error of whatever stops because of it.
pub fn stop() -> Result<(), Diagnostic> {
    match asked() {
        None => Ok(()),
        Some(why) => Err(why.report()),
    }
}

impl Interrupt {
    pub fn report(self) -> Diagnostic {
        match self {
            Interrupt::User => Diagnostic::error("interrupted", "stopped by Ctrl-C")
                .note("nothing of what was running is kept"),
            Interrupt::Memory => {
                let limit = memory_bytes();
                Diagnostic::error(
                    "out-of-memory",
                    format!("this takes more than {limit} bytes of this machine's memory"),
                )
                .note("`--limit memory-bytes=N` is another limit")
                .help("make fewer or smaller lists, arrays and tiles at compile time")
            }
        }
    }
}
