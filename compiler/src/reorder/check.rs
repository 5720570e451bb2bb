//! A second look at a new order, that shares nothing with the graph but the geometry of views.
//!
//! Takes a program and the new place of each of its instructions, says whether every two that must stay in order do. Walks
//! in program order and keeps for each view the last new place of a write and of a read: whoever follows them in the
//! program has to stand behind.

use super::fence::{State, pieces, state};
use super::graph::Geometry;
use super::waits;
use crate::ir::Program;
use crate::isa::Access;

pub fn keeps_order(program: &Program, places: &[u32]) -> bool {
    let geometry = Geometry::new(program);
    let slots = &geometry.slots;
    // One more than the last place, so that 0 stands for none.
    let mut writes = vec![0u32; slots.all.len()];
    let mut reads = vec![0u32; slots.all.len()];
    let mut states: Vec<(State, u32)> = Vec::new();
    for (id, inst) in program.iter() {
        let place = places[id.index()];
        let is_behind =
            |it: usize, access: Access| writes[it] <= place && (access == Access::Read || reads[it] <= place);
        let all_behind = program.touches(inst).all(|(access, view)| {
            slots.of_view(view).is_none_or(|slot| {
                let mut others = slots.overlapping(slot).iter().copied().chain([slot]);
                others.all(|it| is_behind(it.index(), access))
            })
        });
        let waits_behind =
            waits(program, inst.asked.mark(), &geometry.marked).all(|it| places[it.index()] < place);
        if !all_behind || !waits_behind {
            return false;
        }
        for (access, view) in program.touches(inst) {
            let Some(slot) = slots.of_view(view) else { continue };
            let last = if access == Access::Read {
                &mut reads
            } else {
                &mut writes
            };
            last[slot.index()] = last[slot.index()].max(place + 1);
        }
        let own = state(inst, &geometry.sums);
        if own != State::Nothing {
            match states.iter_mut().find(|it| it.0 == own) {
                Some((_, last)) if *last > place => return false,
                Some((_, last)) => *last = place,
                None => states.push((own, place)),
            }
        }
    }
    let stays_inside = |it: std::ops::Range<usize>| it.clone().all(|at| it.contains(&(places[at] as usize)));
    pieces(program).into_iter().all(stays_inside)
}
