//! A profile in Chrome's trace format, which Perfetto opens: a track for each engine and for the transfers of each queue,
//! arrows for semaphores, and counters of the bytes that are live and of the HBM bandwidth.

use super::{Profile, place};
use crate::trace::Bound;
use nk_compiler::ir::{InstId, Program};
use nk_compiler::isa::{ENGINES, Memory, Unit};
use nk_compiler::place::lives;
use nk_compiler::source::Sources;
use nk_compiler::text::print_inst;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// Tracks of transfers stand behind those of engines.
const FIRST_DMA_TRACK: usize = 16;

fn micros(ps: u64) -> f64 {
    ps as f64 / 1e6
}

/// The trace as JSON text.
pub fn perfetto(profile: &Profile, program: &Program, sources: &Sources) -> String {
    let mut events: Vec<Value> = Vec::new();
    let mut name_track = |number: usize, name: String| {
        events
            .push(json!({"ph": "M", "pid": 0, "tid": number, "name": "thread_name", "args": {"name": name}}));
        events.push(json!({"ph": "M", "pid": 0, "tid": number, "name": "thread_sort_index", "args": {"sort_index": number}}));
    };
    for (engine, name) in ENGINES {
        name_track(*engine as usize, (*name).to_string());
        name_track(FIRST_DMA_TRACK + *engine as usize, format!("dma of {name}"));
    }
    events.push(json!({"ph": "M", "pid": 0, "name": "process_name", "args": {"name": format!("{} on {}", profile.kernel, profile.target.name)}}));
    let ends: FxHashMap<InstId, u64> = profile
        .trace
        .transfers
        .iter()
        .map(|it| (it.inst, it.last_ps))
        .collect();
    for (id, inst) in program.iter() {
        let event = profile.trace.event(id);
        let name = inst.op.name();
        let args = json!({"line": place(program, sources, inst), "instruction": print_inst(program, inst)});
        let end_ps = match inst.op.row().unit {
            Unit::Dma => event.free_ps,
            Unit::Engine | Unit::Sequencer => event.free_ps.max(event.start_ps + 1),
        };
        events.push(json!({
            "ph": "X", "pid": 0, "tid": profile.queues[id.index()] as usize, "name": name,
            "ts": micros(event.start_ps), "dur": micros(end_ps - event.start_ps), "args": args,
        }));
        if let Bound::Signal(by) = event.bound {
            arrow(&mut events, profile, &ends, by, id);
        }
    }
    for it in &profile.trace.transfers {
        let inst = &program[it.inst];
        let track = FIRST_DMA_TRACK + profile.queues[it.inst.index()] as usize;
        events.push(json!({
            "ph": "X", "pid": 0, "tid": track, "name": inst.op.name(),
            "ts": micros(it.first_ps), "dur": micros(it.last_ps.saturating_sub(it.first_ps)),
            "args": {
                "line": place(program, sources, inst),
                "instruction": print_inst(program, inst),
                "bytes": it.bytes,
            },
        }));
    }
    counters(&mut events, profile, program);
    bandwidth(&mut events, profile, program);
    json!({"displayTimeUnit": "ns", "traceEvents": events}).to_string()
}

/// An arrow from the end of what signals to the start of what waits. `ends` holds the last byte of each transfer.
fn arrow(
    events: &mut Vec<Value>,
    profile: &Profile,
    ends: &FxHashMap<InstId, u64>,
    from: InstId,
    to: InstId,
) {
    let transfer = ends.get(&from);
    let track = profile.queues[from.index()] as usize + transfer.map_or(0, |_| FIRST_DMA_TRACK);
    let end_ps = transfer.copied().unwrap_or(profile.trace.event(from).free_ps);
    let start_ps = profile.trace.event(to).start_ps;
    let number = to.index();
    // A flow binds to the slice around its time, so it starts just inside the end of the first one.
    events.push(json!({"ph": "s", "pid": 0, "tid": track, "id": number, "cat": "semaphore", "name": "semaphore", "ts": micros(end_ps.saturating_sub(1))}));
    events.push(json!({"ph": "f", "bp": "e", "pid": 0, "tid": profile.queues[to.index()] as usize, "id": number, "cat": "semaphore", "name": "semaphore", "ts": micros(start_ps)}));
}

/// Live bytes of each memory over time.
fn counters(events: &mut Vec<Value>, profile: &Profile, program: &Program) {
    let lives = lives(program);
    for memory in [Memory::Sbuf, Memory::Psum] {
        let mut changes: Vec<(u64, i64)> = Vec::new();
        for (buffer, life) in program.buffers.iter().zip(&lives) {
            let (true, Some(life)) = (buffer.memory == memory, life) else {
                continue;
            };
            let bytes = buffer.bytes() as i64;
            changes.push((profile.trace.event(life.first).start_ps, bytes));
            changes.push((profile.trace.event(life.last).end_ps, -bytes));
        }
        changes.sort_unstable();
        let mut live = 0;
        for (ps, change) in changes {
            live += change;
            let name = format!("{} bytes a partition", memory.name());
            events.push(json!({"ph": "C", "pid": 0, "name": name, "ts": micros(ps), "args": {"live": live}}));
        }
    }
}

/// The HBM bandwidth over time: the bytes of each transfer spread over the time in which it moves them.
fn bandwidth(events: &mut Vec<Value>, profile: &Profile, program: &Program) {
    let mut changes: Vec<(u64, i64)> = Vec::new();
    for it in &profile.trace.transfers {
        let views = program.accesses(&program[it.inst]);
        let n_sides = views
            .filter(|(_, view)| program.memory(view) == Memory::Hbm)
            .count() as u64;
        let duration_ps = it.last_ps.saturating_sub(it.first_ps).max(1);
        // Megabytes a second are bytes a microsecond.
        let rate = (u128::from(it.bytes * n_sides) * 1_000_000 / u128::from(duration_ps)) as i64;
        changes.extend([(it.first_ps, rate), (it.last_ps, -rate)]);
    }
    changes.sort_unstable();
    let mut rate = 0;
    for (ps, change) in changes {
        rate += change;
        events.push(json!({"ph": "C", "pid": 0, "name": "HBM GB/s", "ts": micros(ps), "args": {"rate": rate as f64 / 1e3}}));
    }
}
