//! Waiting for the work of the command, with an eye on the clock and on the memory of this process.
//!
//! Takes the channel on which the end of the work is said, gives how it ended. What takes too much memory is asked to stop,
//! so that its error names the place; what goes on growing is not waited for. Only Linux tells how much memory it is.

use crate::Exit;
use nk_compiler::interrupt::{self, Interrupt};
use nk_compiler::limits::memory_bytes;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How the work ended, or why nobody waits for it.
pub enum End {
    Done(Exit),
    Panicked,
    Late,
    TooLarge,
}

/// Between two looks, code that fills memory as fast as it can takes less than the part of the limit that is kept back.
const INTERVAL: Duration = Duration::from_millis(10);

/// The part of the limit at which the work is asked to stop, and the part at which nobody waits for it any more: what is
/// taken between two looks is within the limit, too.
const ASKED_AT: f64 = 0.8;
const ENDED_AT: f64 = 0.95;

/// Waits until the work is done, but not longer than a limit.
pub fn wait(work: &Receiver<Exit>, limit: Duration) -> End {
    let started = Instant::now();
    loop {
        let most = memory_bytes() as f64;
        match held_bytes() {
            Some(held) if held > ENDED_AT * most => return End::TooLarge,
            Some(held) if held > ASKED_AT * most => interrupt::ask(Interrupt::Memory),
            // What took so much is gone; the next kernel of a test or a search starts anew.
            _ if interrupt::asked() == Some(Interrupt::Memory) => interrupt::clear(),
            _ => {}
        }
        let left = limit.saturating_sub(started.elapsed());
        match work.recv_timeout(left.min(INTERVAL)) {
            Ok(exit) => return End::Done(exit),
            Err(RecvTimeoutError::Disconnected) => return End::Panicked,
            Err(RecvTimeoutError::Timeout) if started.elapsed() >= limit => return End::Late,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// The memory that this process holds.
fn held_bytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024.0)
}
