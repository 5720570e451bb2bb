//! A profile in Chrome's trace format, which Perfetto opens: a track for each engine and for the transfers of each queue,
//! arrows for semaphores, and counters of the bytes that are live and of the HBM bandwidth. Each event becomes text at once: a
//! long program has millions.

use super::{Profile, place};
use crate::append::push;
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

/// A trace while it is written, and the core whose events come next.
pub(super) struct Events {
    text: String,
    pub core: usize,
    /// When the program of the core begins.
    pub start_us: f64,
    /// Arrows so far: each has a number of its own, in all of the trace.
    n_arrows: u64,
}

impl Events {
    pub fn new() -> Events {
        Events {
            text: r#"{"displayTimeUnit":"ns","traceEvents":["#.to_string(),
            core: 0,
            start_us: 0.0,
            n_arrows: 0,
        }
    }

    /// Adds an event, whose time counts from the start of the program.
    pub fn push(&mut self, mut event: Value) {
        event["pid"] = json!(self.core);
        if let Some(ts) = event.get("ts").and_then(Value::as_f64) {
            event["ts"] = json!(ts + self.start_us);
        }
        if !self.text.ends_with('[') {
            self.text.push(',');
        }
        push!(self.text, "\n{event}");
    }

    pub fn end(self) -> String {
        self.text + "\n]}\n"
    }
}

/// The trace as JSON text.
pub fn perfetto(profile: &Profile, program: &Program, sources: &Sources) -> String {
    let mut events = Events::new();
    let title = format!("{} on {}", profile.kernel, profile.target.name);
    add(&mut events, &title, profile, program, sources);
    events.end()
}

/// Adds a program under a title.
pub(super) fn add(events: &mut Events, title: &str, profile: &Profile, program: &Program, sources: &Sources) {
    let mut name_track = |number: usize, name: String| {
        events.push(json!({"ph": "M", "tid": number, "name": "thread_name", "args": {"name": name}}));
        events.push(
            json!({"ph": "M", "tid": number, "name": "thread_sort_index", "args": {"sort_index": number}}),
        );
    };
    for (engine, name) in ENGINES {
        name_track(*engine as usize, (*name).to_string());
        name_track(FIRST_DMA_TRACK + *engine as usize, format!("dma of {name}"));
    }
    events.push(json!({"ph": "M", "name": "process_name", "args": {"name": title}}));
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
            "ph": "X", "tid": profile.queues[id.index()] as usize, "name": name,
            "ts": micros(event.start_ps), "dur": micros(end_ps - event.start_ps), "args": args,
        }));
        if let Bound::Signal(by) = event.bound {
            arrow(events, profile, &ends, by, id);
        }
    }
    for it in &profile.trace.transfers {
        let inst = &program[it.inst];
        let track = FIRST_DMA_TRACK + profile.queues[it.inst.index()] as usize;
        events.push(json!({
            "ph": "X", "tid": track, "name": inst.op.name(),
            "ts": micros(it.first_ps), "dur": micros(it.last_ps.saturating_sub(it.first_ps)),
            "args": {
                "line": place(program, sources, inst),
                "instruction": print_inst(program, inst),
                "bytes": it.bytes,
            },
        }));
    }
    counters(events, profile, program);
    bandwidth(events, profile, program);
}

/// An arrow from the end of what signals to the start of what waits. `ends` holds the last byte of each transfer.
fn arrow(events: &mut Events, profile: &Profile, ends: &FxHashMap<InstId, u64>, from: InstId, to: InstId) {
    let transfer = ends.get(&from);
    let track = profile.queues[from.index()] as usize + transfer.map_or(0, |_| FIRST_DMA_TRACK);
    let end_ps = transfer.copied().unwrap_or(profile.trace.event(from).free_ps);
    let start_ps = profile.trace.event(to).start_ps;
    events.n_arrows += 1;
    let number = events.n_arrows;
    // A flow binds to the slice around its time, so it starts just inside the end of the first one.
    events.push(json!({"ph": "s", "tid": track, "id": number, "cat": "semaphore", "name": "semaphore", "ts": micros(end_ps.saturating_sub(1))}));
    events.push(json!({"ph": "f", "bp": "e", "tid": profile.queues[to.index()] as usize, "id": number, "cat": "semaphore", "name": "semaphore", "ts": micros(start_ps)}));
}

/// Live bytes of each memory over time.
fn counters(events: &mut Events, profile: &Profile, program: &Program) {
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
            events.push(json!({"ph": "C", "name": name, "ts": micros(ps), "args": {"live": live}}));
        }
    }
}

/// The HBM bandwidth over time: the bytes of each transfer spread over the time in which it moves them.
fn bandwidth(events: &mut Events, profile: &Profile, program: &Program) {
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
        events.push(
            json!({"ph": "C", "name": "HBM GB/s", "ts": micros(ps), "args": {"rate": rate as f64 / 1e3}}),
        );
    }
}
