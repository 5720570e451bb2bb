//! Instructions in another order: program order where a kernel asks for another one, or one that waits less.
//!
//! Takes a program that has no addresses yet, gives the same instructions in an order that computes the same bits: every
//! two instructions that touch common bytes, one writing, that use one state of an engine, or that a kernel has put in
//! order, stay as they are. It runs before placement, since tiles that share an address only because they lived one after
//! the other would keep nearly every instruction where it stands; in return an order may need more SRAM than there is,
//! which placement finds out and whoever asked then does without. Nothing moves across an instruction of a `no_reorder` region, a
//! collective, or an end of the control flow. Says nothing about time: whether an order is faster is for the model.

mod check;
mod fence;
mod graph;
mod list;

use crate::ir::{InstId, Program};
use crate::target::Target;
use graph::{Geometry, Graph};
use std::fmt;

/// Which order a program has got, by the modelled times of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reordered {
    /// In the order of the program.
    pub program_ps: u64,
    /// In the best other order that fits into SRAM; `None` when there was none.
    pub other_ps: Option<u64>,
}

impl Reordered {
    /// Whether the other order was taken: only when it is faster.
    pub fn is_taken(&self) -> bool {
        self.other_ps.is_some_and(|it| it < self.program_ps)
    }
}

impl fmt::Display for Reordered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = |ps: u64| ps as f64 / 1e6;
        let before = micros(self.program_ps);
        match self.other_ps {
            Some(ps) if self.is_taken() => {
                let gain = 100.0 * (self.program_ps - ps) as f64 / self.program_ps as f64;
                write!(
                    f,
                    "reordered, {before:.3} us -> {:.3} us (-{gain:.1} %)",
                    micros(ps)
                )
            }
            Some(ps) => write!(
                f,
                "program order kept at {before:.3} us; the best other order takes {:.3} us",
                micros(ps)
            ),
            None => write!(
                f,
                "program order kept at {before:.3} us; no other order was found"
            ),
        }
    }
}

/// Puts instructions behind those that they wait for on request, and moves no others. An instruction and one that it
/// waits for are given when that is impossible.
pub fn settle(program: &mut Program) -> Result<(), (InstId, InstId)> {
    let geometry = Geometry::new(program);
    let mut order: Vec<InstId> = Vec::with_capacity(program.insts.len());
    for piece in fence::pieces(program) {
        let first = piece.start;
        let graph = Graph::new(program, &geometry, piece);
        order.extend(graph.earliest().into_iter().map(|it| InstId::new(first + it)));
    }
    let places = places(&order, program.insts.len());
    let marked = program.marked();
    for (id, inst) in program.iter() {
        for producer in waits(program, inst.asked.mark(), &marked) {
            if places[producer.index()] >= places[id.index()] {
                return Err((id, producer));
            }
        }
    }
    program.insts = order.iter().map(|it| program[*it]).collect();
    Ok(())
}

/// The instructions in an order in which engines wait less for each other, as far as a look at their durations tells. An
/// instruction is moved before at most `window` others.
pub fn reorder(program: &Program, window: usize, target: &Target) -> Program {
    let geometry = Geometry::new(program);
    let mut room = list::Room::new(program, target);
    let mut order: Vec<InstId> = Vec::with_capacity(program.insts.len());
    for piece in fence::pieces(program) {
        let first = piece.start;
        if piece.len() < 3 {
            room.pass(program, piece.clone());
            order.extend(piece.map(InstId::new));
            continue;
        }
        let graph = Graph::new(program, &geometry, piece.clone());
        let listed = list::list(program, &graph, piece, window, &mut room, target);
        order.extend(listed.into_iter().map(|it| InstId::new(first + it)));
    }
    let mut reordered = program.clone();
    reordered.insts = order.iter().map(|it| program[*it]).collect();
    let places = places(&order, program.insts.len());
    assert!(
        check::keeps_order(program, &places),
        "what must stay in order does, since the graph has an edge for each such pair"
    );
    reordered
}

/// Where each instruction stands in an order; one that is in none stands behind all.
fn places(order: &[InstId], n_insts: usize) -> Vec<u32> {
    let mut places = vec![u32::MAX; n_insts];
    for (place, id) in order.iter().enumerate() {
        places[id.index()] = place as u32;
    }
    places
}

/// The instructions that one waits for on request.
fn waits<'a>(
    program: &'a Program,
    mark: Option<crate::ir::MarkId>,
    marked: &'a [Option<InstId>],
) -> impl Iterator<Item = InstId> + 'a {
    let after = mark.map_or(&[][..], |it| &program[it].after);
    after.iter().filter_map(|it| marked[it.index()])
}
