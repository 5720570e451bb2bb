//! What the ranks of a group make of their tensors: the values of collectives.
//!
//! Takes an instruction with its views resolved, moves bytes between a core's memory and the fabric; combines the parts
//! of all ranks in the order of the group, in f32, so that the result does not depend on who came first. Never waits: the
//! fabric does.

use crate::access::Access;
use crate::fabric::{Call, Link};
use crate::fault::Fault;
use crate::memory::Memory;
use crate::reference::alu::arithmetic;
use crate::reference::cast::{decode, encode};
use nk_compiler::dtype::Dtype;
use nk_compiler::ir::{InstId, Program};
use nk_compiler::isa::{AluOp, Arg, Exchange};
use std::sync::Arc;

/// A collective of a program, ready to run.
#[derive(Clone, Debug)]
pub struct Collective {
    inst: InstId,
    call: Call,
    ranks: Vec<u32>,
    group: usize,
    dst: Access,
    srcs: Vec<Access>,
}

impl Collective {
    pub fn new(program: &Program, id: InstId, accesses: &[Access]) -> Collective {
        let inst = &program[id];
        let [dst, src, src1, kind, op, dim, ranks, group, ..] = inst.args;
        let access = |arg: Arg| match arg {
            Arg::View(id) => Some(accesses[id.index()].clone()),
            _ => None,
        };
        let (Arg::Exchange(kind), Arg::Alu(op), Arg::Int(dim), Arg::Ranks(ranks), Arg::Int(group)) =
            (kind, op, dim, ranks, group)
        else {
            panic!("a verified collective has all its operands")
        };
        let dst = access(dst).expect("dst is a required tile");
        let rows = if dst.space.is_on_chip() && dim == 1 {
            dst.partitions() as usize
        } else {
            1
        };
        Collective {
            inst: id,
            call: Call {
                kind,
                op,
                rows,
                dtype: dst.dtype,
                bytes: dst.count() * u64::from(dst.dtype.size()),
                members: Vec::new(),
                pairs: Vec::new(),
                span: program.span(inst.loc),
            },
            ranks: program[ranks].0.clone(),
            group: group as usize,
            srcs: [src, src1].into_iter().filter_map(access).collect(),
            dst,
        }
    }

    /// Exchanges the tensors with the other ranks.
    pub fn run(&self, memory: &mut Memory, link: &Link) -> Result<(), Fault> {
        let mut call = self.call.clone();
        match call.kind {
            Exchange::Permute | Exchange::PermuteReduce => {
                call.pairs = self.ranks.chunks(2).map(|it| (it[0], it[1])).collect();
                call.members = call.pairs.iter().map(|it| it.0).collect();
                call.members.sort_unstable();
            }
            _ => {
                let mut groups = self.ranks.chunks(self.group);
                let group = groups.find(|it| it.contains(&link.rank));
                // A rank outside of all groups is refused when it is specialised.
                call.members = group.map_or_else(|| vec![link.rank], <[u32]>::to_vec);
            }
        }
        let part = match &self.srcs[..] {
            [] => Vec::new(),
            [src] => read(memory, src),
            [first, second, ..] => {
                let parts = [read(memory, first), read(memory, second)];
                reduce(call.op, call.dtype, &parts)
            }
        };
        let made = link.meet(call, part).ok_or(Fault::Exchange { inst: self.inst })?;
        if !self.srcs.is_empty() {
            write(memory, &self.dst, &made);
        }
        Ok(())
    }
}

/// The runs of consecutive bytes of a view: their length, and where each starts.
fn runs(access: &Access) -> (u64, Vec<u64>) {
    let mut bytes = i64::from(access.dtype.size());
    let mut outer = access.axes.len();
    while let Some(axis) = outer.checked_sub(1).map(|it| access.axes[it])
        && (axis.count == 1 || axis.stride == bytes)
    {
        bytes *= i64::from(axis.count);
        outer -= 1;
    }
    let mut starts = vec![access.start];
    for axis in &access.axes[..outer] {
        starts = starts
            .iter()
            .flat_map(|&at| {
                (0..i64::from(axis.count)).map(move |it| at.wrapping_add_signed(it * axis.stride))
            })
            .collect();
    }
    (bytes as u64, starts)
}

/// The elements of a view in row-major order.
fn read(memory: &Memory, access: &Access) -> Vec<u8> {
    let (bytes, starts) = runs(access);
    let mut all = Vec::with_capacity(bytes as usize * starts.len());
    for at in starts {
        all.extend_from_slice(memory.bytes(at, bytes));
    }
    all
}

fn write(memory: &mut Memory, access: &Access, all: &[u8]) {
    let (bytes, starts) = runs(access);
    for (at, run) in starts.into_iter().zip(all.chunks(bytes.max(1) as usize)) {
        memory.bytes_mut(at, bytes).copy_from_slice(run);
    }
}

/// What each member gets, given the parts of all of them in the order of the group.
pub fn combine(call: &Call, parts: &[Vec<u8>]) -> Vec<Arc<Vec<u8>>> {
    let n = parts.len();
    match call.kind {
        Exchange::Barrier => shared(Vec::new(), n),
        Exchange::AllReduce => shared(reduce(call.op, call.dtype, parts), n),
        Exchange::AllGather => shared(gather(parts, call.rows), n),
        Exchange::ReduceScatter => {
            let whole = reduce(call.op, call.dtype, parts);
            let share = whole.len() / n;
            (0..n)
                .map(|it| Arc::new(whole[it * share..(it + 1) * share].to_vec()))
                .collect()
        }
        Exchange::AllToAll => {
            let share = parts[0].len() / n;
            let of_member = |at: usize| parts.iter().flat_map(move |it| &it[at * share..(at + 1) * share]);
            (0..n)
                .map(|it| Arc::new(of_member(it).copied().collect()))
                .collect()
        }
        Exchange::Permute | Exchange::PermuteReduce => {
            let position = |rank: u32| call.members.iter().position(|it| *it == rank);
            let of_member = |target: &u32| {
                let pair = call.pairs.iter().find(|it| it.1 == *target);
                let source = pair.and_then(|it| position(it.0));
                Arc::new(source.map_or_else(Vec::new, |it| parts[it].clone()))
            };
            call.members.iter().map(of_member).collect()
        }
    }
}

/// One value for all members.
fn shared(whole: Vec<u8>, n: usize) -> Vec<Arc<Vec<u8>>> {
    let whole = Arc::new(whole);
    (0..n).map(|_| whole.clone()).collect()
}

/// The parts one after the other, in each of so many rows.
fn gather(parts: &[Vec<u8>], rows: usize) -> Vec<u8> {
    let row_of = |part: &'_ Vec<u8>, row: usize| {
        let bytes = part.len() / rows;
        row * bytes..(row + 1) * bytes
    };
    (0..rows)
        .flat_map(|row| parts.iter().flat_map(move |it| &it[row_of(it, row)]))
        .copied()
        .collect()
}

/// The elements of the parts combined in f32 from the first part on; one part alone keeps its bits.
fn reduce(op: AluOp, dtype: Dtype, parts: &[Vec<u8>]) -> Vec<u8> {
    let [first, rest @ ..] = parts else {
        return Vec::new();
    };
    if rest.is_empty() {
        return first.clone();
    }
    let mut sums = Vec::with_capacity(first.len() / dtype.size() as usize);
    for_each_value(dtype, first, |_, value| sums.push(value));
    for part in rest {
        match op {
            AluOp::Add => for_each_value(dtype, part, |at, value| sums[at] += value),
            _ => for_each_value(dtype, part, |at, value| {
                sums[at] = arithmetic(op, sums[at], value)
            }),
        }
    }
    let mut bytes = Vec::with_capacity(first.len());
    for sum in sums {
        let word = encode(dtype, sum).to_le_bytes();
        bytes.extend_from_slice(&word[..dtype.size() as usize]);
    }
    bytes
}

fn for_each_value(dtype: Dtype, bytes: &[u8], mut visit: impl FnMut(usize, f32)) {
    if dtype == Dtype::F32 {
        let (words, _) = bytes.as_chunks::<4>();
        for (at, word) in words.iter().enumerate() {
            visit(at, f32::from_le_bytes(*word));
        }
        return;
    }
    let size = dtype.size() as usize;
    for (at, element) in bytes.chunks_exact(size).enumerate() {
        let mut word = [0; 4];
        word[..size].copy_from_slice(element);
        visit(at, decode(dtype, u32::from_le_bytes(word)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(kind: Exchange, members: &[u32]) -> Call {
        Call {
            kind,
            op: AluOp::Add,
            rows: 1,
            dtype: Dtype::U8,
            bytes: 0,
            members: members.to_vec(),
            pairs: Vec::new(),
            span: None,
        }
    }

    fn made(call: &Call, parts: &[&[u8]]) -> Vec<Vec<u8>> {
        let parts: Vec<Vec<u8>> = parts.iter().map(|it| it.to_vec()).collect();
        combine(call, &parts).into_iter().map(|it| it.to_vec()).collect()
    }

    #[test]
    fn parts_go_where_the_exchange_says() {
        let parts: [&[u8]; 2] = [&[1, 2], &[10, 250]];
        let of = |kind| made(&call(kind, &[0, 1]), &parts);
        assert_eq!(of(Exchange::AllReduce), [[11, 252], [11, 252]]);
        assert_eq!(of(Exchange::AllGather), [[1, 2, 10, 250], [1, 2, 10, 250]]);
        assert_eq!(of(Exchange::ReduceScatter), [[11], [252]]);
        assert_eq!(of(Exchange::AllToAll), [[1, 10], [2, 250]]);
        let ring = Call {
            pairs: vec![(0, 1), (1, 0)],
            ..call(Exchange::Permute, &[0, 1])
        };
        assert_eq!(made(&ring, &parts), [[10, 250], [1, 2]]);
    }

    #[test]
    fn columns_are_gathered_row_by_row() {
        let call = Call {
            rows: 2,
            ..call(Exchange::AllGather, &[0, 1])
        };
        assert_eq!(made(&call, &[&[1, 2], &[3, 4]])[0], [1, 3, 2, 4]);
    }
}
