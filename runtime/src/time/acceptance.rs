//! The model against published measurements (`timing.md` §4.5, tier 1).

use super::time;
use crate::trace::{Event, Trace};
use nk_compiler::ir::{Program, Schedule, Step};
use nk_compiler::isa::{Engine, Memory, Op};
use nk_compiler::place::place;
use nk_compiler::source::Sources;
use nk_compiler::target::{TARGETS, Target};
use nk_compiler::text::parse;

const TARGET: &Target = &TARGETS[0];

/// A timed program.
struct Timed {
    program: Program,
    schedule: Schedule,
    trace: Trace,
}

impl Timed {
    /// Places and times a program of IR text whose instructions stand in queues.
    fn of(text: &str) -> Timed {
        let mut sources = Sources::new();
        let file = sources.add("test.nir", format!("kernel %test for trainium1\n{text}"));
        let parsed = parse(&sources, file).unwrap();
        let placement = place(&parsed.program, TARGET).unwrap();
        let schedule = parsed.schedule.unwrap();
        let trace = time(&parsed.program, &placement, &schedule, TARGET);
        Timed {
            program: parsed.program,
            schedule,
            trace,
        }
    }

    /// The events of the instructions of one queue, in their order.
    fn on(&self, queue: Engine) -> Vec<Event> {
        let steps = self.schedule.queues[queue as usize].iter();
        let events = steps.filter_map(|it| match it {
            Step::Inst(inst) => Some(*self.trace.event(*inst)),
            _ => None,
        });
        events.collect()
    }

    /// From the start of a queue's instruction to that of the next one.
    fn interval_ps(&self, queue: Engine, idx: usize) -> u64 {
        let events = self.on(queue);
        events[idx + 1].start_ps - events[idx].start_ps
    }
}

#[track_caller]
fn assert_within(percent: f64, got_ps: u64, want_us: f64) {
    let got_us = got_ps as f64 / 1e6;
    let error = 100.0 * (got_us - want_us) / want_us;
    assert!(
        error.abs() <= percent,
        "{got_us} us is {error:+.1} % off {want_us} us"
    );
}

#[test]
fn tensor_tensor_of_two_f32_tiles_in_sbuf() {
    for (partitions, n, want_us) in [
        (128, 1000, 2.0165),
        (128, 2000, 3.820),
        (128, 8192, 14.987),
        (64, 8192, 14.968),
    ] {
        let timed = Timed::of(&format!(
            "buf %a: f32[{partitions}, {n}] @ sbuf
             buf %b: f32[{partitions}, {n}] @ sbuf
             buf %c: f32[{partitions}, {n}] @ sbuf
             queue vector {{
               %c <- tensor_tensor %a, %b, op=add
             }}"
        ));
        assert_within(2.0, timed.trace.total_ps, want_us);
    }
}

#[test]
fn independent_vector_instructions_run_at_the_initiation_interval() {
    let timed = Timed::of(
        "buf %a: f32[128, 512] @ sbuf
         buf %b: f32[128, 512] @ sbuf
         buf %c: f32[128, 512] @ sbuf
         queue vector {
           %b <- tensor_tensor %a, %a, op=add
           %c <- tensor_tensor %a, %a, op=add
         }",
    );
    assert_within(1.0, timed.interval_ps(Engine::Vector, 0), 1.010);
}

#[test]
fn a_chain_of_small_activations() {
    let timed = Timed::of(
        "buf %x: f32[128, 1] @ sbuf
         queue scalar {
           %x <- activation %x, op=square
           %x <- activation %x, op=square
         }",
    );
    assert_within(2.0, timed.interval_ps(Engine::Scalar, 0), 0.189);
}

/// A consumer that needs the end of the producer's output waits for its completion; one that streams it does not.
#[test]
fn a_reduction_is_waited_for() {
    let timed = Timed::of(
        "buf %x: f32[128, 512] @ sbuf
         buf %y: f32[128, 512] @ sbuf
         buf %sum: f32[128, 1] @ sbuf
         queue vector {
           %y <- tensor_copy %x
           %sum <- tensor_reduce %y, op=add, axis=1
           %y <- tensor_scalar %y, op0=multiply, operand0=%sum
         }",
    );
    let events = timed.on(Engine::Vector);
    assert_eq!(events[1].start_ps, events[0].free_ps);
    assert_eq!(
        events[2].start_ps,
        events[1].end_ps + TARGET.timing.dependent_gap_ps
    );
}

#[test]
fn a_change_of_function_set_loads_a_table() {
    let timed = Timed::of(
        "buf %x: f32[128, 1] @ sbuf
         buf %y: f32[128, 1] @ sbuf
         queue scalar {
           %y <- activation %x, op=exp
           %y <- activation %x, op=copy
           %y <- activation %x, op=log
           %y <- activation %x, op=gelu
         }",
    );
    let loads: Vec<usize> = timed.trace.table_loads.iter().map(|it| it.inst.index()).collect();
    assert_eq!(loads, [0, 3]);
    assert_eq!(
        timed.on(Engine::Scalar)[0].start_ps,
        TARGET.timing.act_table_load_ps
    );
}

#[test]
fn a_stream_of_matmuls() {
    let line = "%acc <- nc_matmul %weights, %moving, accumulate=true\n";
    let timed = Timed::of(&format!(
        "buf %weights: bf16[128, 128] @ sbuf
         buf %moving: bf16[128, 512] @ sbuf
         buf %acc: f32[128, 512] @ psum
         queue tensor {{
         {}}}",
        line.repeat(1000)
    ));
    assert_within(0.2, timed.trace.total_ps, 0.2089 * 1000.0);
}

#[test]
fn triggers_follow_each_other_at_their_interval() {
    let timed = Timed::of(
        "in %x: f32[128, 64] @ hbm
         buf %a: f32[128, 64] @ sbuf
         buf %b: f32[128, 64] @ sbuf
         queue sync {
           %a <- dma_copy %x
           %b <- dma_copy %x
         }",
    );
    assert_within(5.0, timed.interval_ps(Engine::Sync, 0), 0.082);
}

/// `vector_add_stream` of 256 000 elements: per tile two loads, an add and a store.
fn vector_add_stream(width: u32) -> Timed {
    let n_tiles = 256_000 / (128 * width);
    let rows = n_tiles * 128;
    let mut text = format!("in %a: f32[{rows}, {width}] @ hbm\nin %b: f32[{rows}, {width}] @ hbm\n");
    text.push_str(&format!("out %c: f32[{rows}, {width}] @ hbm\n"));
    let (mut loads, mut adds, mut stores) = (String::new(), String::new(), String::new());
    for tile in 0..n_tiles {
        let (from, to, count) = (tile * 128, (tile + 1) * 128, tile + 1);
        for name in ["a", "b", "c"] {
            text.push_str(&format!("buf %t{name}.{tile}: f32[128, {width}] @ sbuf\n"));
        }
        loads.push_str(&format!(
            "%ta.{tile} <- dma_copy %a[{from}:{to}, 0:{width}]
             %tb.{tile} <- dma_copy %b[{from}:{to}, 0:{width}]
             signal vector {count}\n"
        ));
        adds.push_str(&format!(
            "wait sync {count}
             %tc.{tile} <- tensor_tensor %ta.{tile}, %tb.{tile}, op=add
             signal gpsimd {count}\n"
        ));
        stores.push_str(&format!(
            "wait vector {count}
             %c[{from}:{to}, 0:{width}] <- dma_copy %tc.{tile}\n"
        ));
    }
    for (queue, steps) in [("sync", loads), ("vector", adds), ("gpsimd", stores)] {
        text.push_str(&format!("queue {queue} {{\n{steps}}}\n"));
    }
    Timed::of(&text)
}

#[test]
fn vector_add_stream_in_two_tiles() {
    let timed = vector_add_stream(1000);
    let loads = timed.on(Engine::Sync);
    for (load, want_us) in loads.iter().zip([3.53, 5.57, 7.60, 9.07]) {
        assert_within(10.0, load.end_ps, want_us);
    }
    assert_within(10.0, timed.on(Engine::Gpsimd)[0].end_ps, 10.93);
    assert_within(5.0, timed.trace.total_ps, 13.88);
    assert_within(
        15.0,
        timed.trace.total_ps + TARGET.timing.program_overhead_ps,
        29.0,
    );
}

#[test]
fn vector_add_stream_in_one_tile() {
    let timed = vector_add_stream(2000);
    for (load, want_us) in timed.on(Engine::Sync).iter().zip([5.64, 9.24]) {
        assert_within(10.0, load.end_ps, want_us);
    }
    assert_within(5.0, timed.trace.total_ps, 17.8);
    assert_within(
        15.0,
        timed.trace.total_ps + TARGET.timing.program_overhead_ps,
        34.0,
    );
    assert_eq!(timed.trace.traffic(Memory::Hbm).read, 2 * 4 * 256_000);
    assert_eq!(timed.trace.traffic(Memory::Hbm).written, 4 * 256_000);
}

#[test]
fn isolated_stores() {
    for (width, want_us) in [(1000, 2.855), (2000, 4.7)] {
        let timed = Timed::of(&format!(
            "out %y: f32[128, {width}] @ hbm
             buf %x: f32[128, {width}] @ sbuf
             queue sync {{
               %y <- dma_copy %x
             }}"
        ));
        assert_within(4.0, timed.trace.total_ps, want_us);
    }
}

/// Copies between HBM partitions read and write it, so the core's share of HBM is the limit.
#[test]
fn a_copy_inside_of_hbm_moves_half_of_the_bandwidth() {
    let timed = Timed::of(
        "in %x: f32[4096, 4096] @ hbm
         out %y: f32[4096, 4096] @ hbm
         queue sync {
           %y <- dma_copy %x
         }",
    );
    assert_within(2.0, timed.trace.total_ps, (4096.0 * 4096.0 * 4.0) / 205e3);
}

#[test]
fn few_partitions_use_few_dma_engines() {
    let load = |partitions: u32| {
        let timed = Timed::of(&format!(
            "in %x: f32[{partitions}, 4096] @ hbm
             buf %y: f32[{partitions}, 4096] @ sbuf
             queue sync {{
               %y <- dma_copy %x
             }}"
        ));
        timed.trace.transfers[0].last_ps - timed.trace.transfers[0].first_ps
    };
    assert_eq!(load(8), load(128));
    assert_eq!(load(4) * 2, load(8));
}

#[test]
fn the_vector_engine_and_gpsimd_take_turns_at_sbuf() {
    let timed = Timed::of(
        "buf %a: f32[128, 512] @ sbuf
         buf %b: f32[128, 512] @ sbuf
         buf %acc: f32[128, 512] @ psum
         queue vector {
           %b[0:64, 0:512] <- tensor_copy %a[0:64, 0:512]
         }
         queue gpsimd {
           %b[64:128, 0:512] <- tensor_copy %a[64:128, 0:512] on gpsimd
         }
         queue scalar {
           %acc <- activation %a, op=copy
         }",
    );
    assert_eq!(timed.on(Engine::Vector)[0].start_ps, 0);
    let vector_ps = TARGET.cycles_to_ps(Engine::Vector, 512);
    assert_eq!(timed.on(Engine::Gpsimd)[0].start_ps, vector_ps);
    assert_eq!(timed.on(Engine::Scalar)[0].start_ps, 0);
    assert_eq!(timed.trace.stalls.len(), 1);
    assert!(timed.trace.guessed_share() > 0.0);
}

#[test]
fn the_order_of_events_holds_every_instruction_once() {
    let timed = vector_add_stream(1000);
    let trace = &timed.trace;
    let mut order = trace.order.clone();
    order.sort();
    order.dedup();
    assert_eq!(order.len(), timed.program.insts.len());
    let starts: Vec<u64> = trace.order.iter().map(|it| trace.event(*it).start_ps).collect();
    assert!(starts.is_sorted());
    let copies = timed
        .program
        .insts
        .iter()
        .filter(|it| it.op == Op::DmaCopy)
        .count();
    assert_eq!(trace.transfers.len(), copies);
}
