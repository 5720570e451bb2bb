//! Where ranks meet: the links between the cores of a launch.
//!
//! Takes the part of each rank and blocks it until all members of its group are there; then everyone gets what
//! [`combine`] makes. Ranks that can never meet are found at once: when all that have not ended are waiting, the cycle is
//! reported instead of hanging. Never looks at a memory.
//!
//! **Ranks beyond one machine.** A rank asks two things of the fabric, [`Link::rank`] and [`Link::meet`], and hands over
//! bytes, never addresses; so a fabric over MPI is another module with these two, chosen where ranks are launched. There a
//! rank is a process (`mpirun -n 64 nk run FILE --ranks 64`), which compiles its own program, keeps its own memory and
//! writes its own results. Groups become communicators: the first time a list of members appears, they make one with
//! `MPI_Comm_create_group`, and keep it by that list. Collectives map one to one: all_gather to `MPI_Allgather`, all_to_all
//! to `MPI_Alltoall`, permutations to `MPI_Sendrecv` along the pairs, the barrier to `MPI_Barrier`. Reductions must not use
//! `MPI_Allreduce`, whose order is free: all_reduce is `MPI_Allgather` of the parts with [`combine`] on each rank, or for
//! large tensors `MPI_Alltoall` of slices, [`combine`] of one slice each, and `MPI_Allgather`; both keep the order of
//! the group, so the bits stay those of one machine. What members check of each other here, kind, dtype and size, goes
//! first as a header of fixed size. Of the diagnostics, a mismatch stays exact; a deadlock becomes a time limit on the
//! wait, after which each rank reports where it stands, because no process sees the others. Modelled time needs no
//! change: every rank can model all of them. Today there is one fabric, so there is no trait.

use crate::collective::combine;
use nk_compiler::diagnostic::Diagnostic;
use nk_compiler::dtype::Dtype;
use nk_compiler::isa::{AluOp, Exchange};
use nk_compiler::source::Span;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What a rank asks of its group.
#[derive(Clone, Debug)]
pub struct Call {
    pub kind: Exchange,
    pub op: AluOp,
    /// Rows in each of which parts are gathered.
    pub rows: usize,
    pub dtype: Dtype,
    /// Bytes of what each member gets.
    pub bytes: u64,
    /// The ranks of the group, in its order.
    pub members: Vec<u32>,
    /// Sources and targets of a permutation.
    pub pairs: Vec<(u32, u32)>,
    pub span: Option<Span>,
}

/// The connection of one rank.
#[derive(Clone, Debug)]
pub struct Link {
    pub rank: u32,
    fabric: Arc<Fabric>,
}

/// The ranks of a launch.
#[derive(Debug)]
pub struct Fabric {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    seats: Vec<Seat>,
    /// Exchanges for which some members are there, by the list of members.
    meetings: FxHashMap<Vec<u32>, Meeting>,
    failure: Option<Diagnostic>,
}

#[derive(Debug)]
enum Seat {
    Running,
    Waiting(Call),
    /// What an exchange gave, not yet taken.
    Served(Arc<Vec<u8>>),
    Ended,
}

#[derive(Debug)]
struct Meeting {
    /// By position in the group.
    parts: Vec<Option<Vec<u8>>>,
    n_missing: usize,
}

impl Fabric {
    /// A link for each rank.
    pub fn links(n_ranks: u32) -> Vec<Link> {
        let fabric = Arc::new(Fabric {
            state: Mutex::new(State {
                seats: (0..n_ranks).map(|_| Seat::Running).collect(),
                meetings: FxHashMap::default(),
                failure: None,
            }),
            changed: Condvar::new(),
        });
        (0..n_ranks)
            .map(|rank| Link {
                rank,
                fabric: fabric.clone(),
            })
            .collect()
    }

    /// A poisoned lock holds a whole state: it is changed in single steps.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Link {
    /// The link of a rank that is alone.
    pub fn alone() -> Link {
        let mut links = Fabric::links(1);
        links.swap_remove(0)
    }

    /// Waits for the other members and gives what the exchange makes for this one; `None` when it cannot come about.
    pub fn meet(&self, call: Call, part: Vec<u8>) -> Option<Arc<Vec<u8>>> {
        let rank = self.rank as usize;
        let mut state = self.fabric.lock();
        if state.failure.is_some() {
            return None;
        }
        if let Some(mistake) = state.mismatch(self.rank, &call) {
            state.failure = Some(mistake);
            self.fabric.changed.notify_all();
            return None;
        }
        let n_members = call.members.len();
        let position = call.members.iter().position(|it| *it == self.rank)?;
        let meeting = state
            .meetings
            .entry(call.members.clone())
            .or_insert_with(|| Meeting {
                parts: vec![None; n_members],
                n_missing: n_members,
            });
        meeting.parts[position] = Some(part);
        meeting.n_missing -= 1;
        if meeting.n_missing == 0 {
            let parts = state
                .meetings
                .remove(&call.members)
                .map_or_else(Vec::new, |it| it.parts);
            for member in &call.members {
                state.seats[*member as usize] = Seat::Running;
            }
            drop(state);
            let parts: Vec<Vec<u8>> = parts.into_iter().flatten().collect();
            let mut made = combine(&call, &parts);
            let mut state = self.fabric.lock();
            for (member, made) in call.members.iter().zip(&made) {
                if *member != self.rank {
                    state.seats[*member as usize] = Seat::Served(made.clone());
                }
            }
            self.fabric.changed.notify_all();
            return Some(made.swap_remove(position));
        }
        state.seats[rank] = Seat::Waiting(call);
        if state.failure.is_none() {
            state.failure = state.deadlock();
        }
        if state.failure.is_some() {
            self.fabric.changed.notify_all();
        }
        loop {
            if let Seat::Served(_) = state.seats[rank]
                && let Seat::Served(made) = std::mem::replace(&mut state.seats[rank], Seat::Running)
            {
                return Some(made);
            }
            if state.failure.is_some() {
                return None;
            }
            state = self
                .fabric
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Says that the rank has ended: who still waits for it waits in vain.
    pub fn end(&self) {
        let mut state = self.fabric.lock();
        state.seats[self.rank as usize] = Seat::Ended;
        if state.failure.is_none() {
            state.failure = state.deadlock();
        }
        self.fabric.changed.notify_all();
    }

    /// Why an exchange did not come about.
    pub fn failure(&self) -> Option<Diagnostic> {
        self.fabric.lock().failure.clone()
    }
}

impl State {
    /// What is wrong with a call, given those that wait in the same group.
    fn mismatch(&self, rank: u32, call: &Call) -> Option<Diagnostic> {
        if !self.meetings.contains_key(&call.members) {
            return None;
        }
        let waiting = call
            .members
            .iter()
            .find_map(|&it| match &self.seats[it as usize] {
                Seat::Waiting(other) if other.members == call.members => Some((it, other)),
                _ => None,
            });
        let (other_rank, other) = waiting?;
        let facts = |it: &Call| (it.kind, it.op, it.dtype, it.bytes, it.rows);
        if facts(other) == facts(call) && other.pairs == call.pairs {
            return None;
        }
        let ((rank, call), (other_rank, other)) = if rank < other_rank {
            ((rank, call), (other_rank, other))
        } else {
            ((other_rank, other), (rank, call))
        };
        let message = format!(
            "rank {rank} is in {} and rank {other_rank} in {}, in one group",
            described(call),
            described(other)
        );
        let mut diagnostic = Diagnostic::error("collective-mismatch", message);
        if let Some(span) = call.span {
            diagnostic = diagnostic.at(span, format!("rank {rank} is here"));
        }
        if let Some(span) = other.span.filter(|it| Some(*it) != call.span) {
            diagnostic = diagnostic.because(span, format!("rank {other_rank} is here"));
        }
        Some(
            diagnostic
                .note(format!("the group is {:?}", call.members))
                .help("let every rank of a group call the same collectives in the same order"),
        )
    }

    /// The cycle of ranks that wait for each other, when nobody runs any more.
    fn deadlock(&self) -> Option<Diagnostic> {
        let is_stuck = |it: &Seat| matches!(it, Seat::Waiting(_) | Seat::Ended);
        if !self.seats.iter().all(is_stuck) {
            return None;
        }
        let waits_for = |rank: u32| match &self.seats[rank as usize] {
            Seat::Waiting(call) => {
                let meeting = self.meetings.get(&call.members)?;
                let missing = meeting.parts.iter().position(Option::is_none)?;
                Some((call, call.members[missing]))
            }
            _ => None,
        };
        let mut path: Vec<u32> = Vec::new();
        let mut at = (0..self.seats.len() as u32).find(|it| waits_for(*it).is_some())?;
        while let Some((_, next)) = waits_for(at)
            && !path.contains(&at)
        {
            path.push(at);
            at = next;
        }
        let is_cycle = path.contains(&at);
        let cycle: &[u32] = match path.iter().position(|it| *it == at) {
            Some(start) => &path[start..],
            None => &path,
        };
        let message = if is_cycle {
            format!("{} ranks wait for each other", cycle.len())
        } else {
            format!("rank {} waits for rank {at}, which has ended", cycle.last()?)
        };
        let mut diagnostic = Diagnostic::error("deadlock", message);
        for (number, rank) in cycle.iter().enumerate() {
            let (call, next) = waits_for(*rank)?;
            let label = format!("rank {rank} waits here in {} for rank {next}", described(call));
            diagnostic = match call.span {
                Some(span) if number == 0 => diagnostic.at(span, label),
                Some(span) => diagnostic.because(span, label),
                None => diagnostic.note(label),
            };
        }
        Some(
            diagnostic
                .note("the device would hang until the runtime gives up (NRT_TIMEOUT)")
                .help("let every rank of a group call the same collectives in the same order"),
        )
    }
}

/// A call in words: `all_reduce (add) of 512 bytes of float32 over [0, 1]`.
fn described(call: &Call) -> String {
    let (kind, dtype) = (call.kind.name(), call.dtype.nki_name());
    match call.kind {
        Exchange::Barrier => format!("{kind} over {:?}", call.members),
        Exchange::AllReduce | Exchange::ReduceScatter | Exchange::PermuteReduce => {
            let (op, bytes, members) = (call.op.name(), call.bytes, &call.members);
            format!("{kind} ({op}) of {bytes} bytes of {dtype} over {members:?}")
        }
        _ => {
            let (bytes, members) = (call.bytes, &call.members);
            let along = match call.rows {
                1 => String::new(),
                rows => format!(" along each of {rows} partitions"),
            };
            format!("{kind} of {bytes} bytes of {dtype}{along} over {members:?}")
        }
    }
}
