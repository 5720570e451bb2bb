//! Random orders: every one respects the semaphores, all legal ones occur, and a queue that waits for ever is told.

use nk_compiler::ir::{InstId, Schedule, Step};
use nk_compiler::isa::Engine;
use nk_compiler::source::Sources;
use nk_compiler::text;
use nk_runtime::emulate::{Deadlock, random_order};
use std::collections::BTreeSet;

const BUFFERS: &str = "kernel %orders for trainium1

in %a: f32[2, 4] @ hbm[0x0:0x20]
out %b: f32[2, 4] @ hbm[0x20:0x40]
buf %s: f32[2, 4] @ sbuf[0:2, 0x0:0x10]
buf %t: f32[2, 4] @ sbuf[0:2, 0x10:0x20]
buf %u: f32[2, 4] @ sbuf[0:2, 0x20:0x30]
";

const QUEUES: &str = "
queue vector {
  wait sync 1
  %u <- tensor_copy %s
}

queue sync {
  %s <- dma_copy %a
  signal vector 1
  %t <- dma_copy %a
}
";

/// The orders that many seeds give for the queues, after a change; instructions are numbered as the parser orders them.
fn orders(change: impl Fn(&mut Schedule)) -> Result<BTreeSet<Vec<usize>>, Deadlock> {
    let mut sources = Sources::new();
    let file = sources.add("orders.nir", format!("{BUFFERS}{QUEUES}"));
    let parsed = text::parse(&sources, file).expect("the text is well-formed");
    let mut schedule = parsed.schedule.expect("the text has queues");
    change(&mut schedule);
    let order = |seed| random_order(&schedule, &parsed.program, seed);
    (0..300)
        .map(|seed| Ok(order(seed)?.into_iter().map(InstId::index).collect()))
        .collect()
}

#[test]
fn transfers_complete_between_their_issue_and_their_signal() {
    // The copy, 2, reads what the first transfer, 0, brings; the second may complete at any time, even before the first.
    let want = [[0, 2, 1], [0, 1, 2], [1, 0, 2]];
    assert_eq!(orders(|_| {}), Ok(want.iter().map(|it| it.to_vec()).collect()));
}

#[test]
fn a_wait_without_its_signal_is_a_deadlock() {
    let got =
        orders(|schedule| schedule.queues[Engine::Sync as usize].retain(|it| matches!(it, Step::Inst(_))));
    let blocked = vec![(Engine::Vector, 0)];
    assert_eq!(got, Err(Deadlock { blocked }));
}
