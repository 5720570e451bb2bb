//! `nki.collectives`, and `nisa.core_barrier`: what programs on several cores do together.
//!
//! Takes calls, gives `collective` instructions. A rank is specialised for itself, so `rank_id()` is an int, and the
//! implicit ring forms become permutations of their group: each rank sends to the next one, the last to the first.

mod groups;

use super::Evaluator;
use super::builtins::{no_attribute, required};
use super::error::{Error, Mistake, Result};
use super::eval::CallArgs;
use super::library;
use super::ordering::Handle;
use super::tensor::int_list;
use super::value::{Tensor, Value};
use crate::ir::Ranks;
use crate::isa::{AluOp, AluSet, Arg, Engine, Exchange, MAX_ARGS, Op};
use crate::source::Span;
use std::rc::Rc;

/// The functions of `nki.collectives`.
pub const NAMES: &[&str] = &[
    "ReplicaGroup",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "collective_permute",
    "collective_permute_implicit",
    "collective_permute_implicit_current_processing_rank_id",
    "collective_permute_implicit_reduce",
    "rank_id",
    "reduce_scatter",
];

/// Functions whose sizes are known at run time only, and which NeuronCore-v2 does not have.
const VARIABLE: &[&str] = &["all_gather_v", "all_to_all_v"];

/// What an instruction takes besides its tensors.
struct Terms {
    kind: Exchange,
    op: AluOp,
    dim: i32,
    ranks: Vec<u32>,
    group: usize,
}

/// A member of the module.
pub fn member(name: &Rc<str>, span: Span) -> Result<Value> {
    if VARIABLE.contains(&&**name) {
        let help = "pad the parts to one size and use all_gather or all_to_all".to_string();
        let (what, since) = (format!("nki.collectives.{name}"), "NeuronCore-v3");
        return Err(Error::new(Mistake::NewerOnly { what, since, help }, span));
    }
    if NAMES.contains(&&**name) {
        return Ok(Value::library("nccl", name));
    }
    Err(no_attribute(
        "nki.collectives".to_string(),
        name,
        NAMES.iter().copied(),
        span,
    ))
}

impl Evaluator<'_> {
    pub fn call_collective(&mut self, name: &str, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let function = format!("nki.collectives.{name}");
        match name {
            "ReplicaGroup" => {
                let mut values = args
                    .positional
                    .into_iter()
                    .chain(args.keywords.into_iter().map(|it| it.1));
                values
                    .next()
                    .ok_or_else(|| Error::type_error("ReplicaGroup takes a list of lists of ranks", span))
            }
            "rank_id" => {
                let [_name] = args.bind(&function, ["name"], 0)?;
                self.reads_place = true;
                Ok(Value::Int(self.place.rank.into()))
            }
            "collective_permute_implicit_current_processing_rank_id" => {
                let names = ["iteration_id", "replica_group", "channel_id", "name"];
                let [iteration, group, _, _] = args.bind(&function, names, 2)?;
                let iteration = required(iteration).as_int();
                let iteration = iteration.ok_or_else(|| {
                    Error::type_error("the iteration is an int that is known at compile time", span)
                })?;
                let (ranks, size) = self.groups(&required(group), span)?;
                self.reads_place = true;
                let group = ranks.chunks(size).find(|it| it.contains(&self.place.rank));
                let group = group.ok_or_else(|| self.not_a_member(span))?;
                let at = group.iter().position(|it| *it == self.place.rank);
                let at = at.expect("the group was found by its rank") as i64;
                Ok(Value::Int(
                    group[(at - iteration.rem_euclid(size as i64)).rem_euclid(size as i64) as usize].into(),
                ))
            }
            "all_reduce" => {
                let names = ["srcs", "dsts", "replica_group", "op", "priority", "name"];
                let [srcs, dsts, group, op, priority, _] = args.bind(&function, names, 4)?;
                no_priority(priority, span)?;
                let terms = self.terms(Exchange::AllReduce, &required(group), op, None, span)?;
                self.exchange(&function, &[required(srcs)], &required(dsts), &terms, span)
            }
            "all_gather" | "all_to_all" => {
                let names = [
                    "srcs",
                    "dsts",
                    "replica_group",
                    "collective_dim",
                    "priority",
                    "name",
                ];
                let [srcs, dsts, group, dim, priority, _] = args.bind(&function, names, 4)?;
                no_priority(priority, span)?;
                let kind = if name == "all_gather" {
                    Exchange::AllGather
                } else {
                    Exchange::AllToAll
                };
                let terms = self.terms(kind, &required(group), None, dim, span)?;
                self.exchange(&function, &[required(srcs)], &required(dsts), &terms, span)
            }
            "reduce_scatter" => {
                let names = [
                    "srcs",
                    "dsts",
                    "replica_group",
                    "collective_dim",
                    "op",
                    "priority",
                    "name",
                ];
                let [srcs, dsts, group, dim, op, priority, _] = args.bind(&function, names, 5)?;
                no_priority(priority, span)?;
                let terms = self.terms(Exchange::ReduceScatter, &required(group), op, dim, span)?;
                self.exchange(&function, &[required(srcs)], &required(dsts), &terms, span)
            }
            "collective_permute" => {
                let names = ["srcs", "dsts", "source_target_pairs", "priority", "name"];
                let [srcs, dsts, pairs, priority, _] = args.bind(&function, names, 3)?;
                no_priority(priority, span)?;
                let terms = Terms {
                    kind: Exchange::Permute,
                    op: AluOp::Add,
                    dim: 0,
                    ranks: self.pairs(&required(pairs), span)?,
                    group: 2,
                };
                self.exchange(&function, &[required(srcs)], &required(dsts), &terms, span)
            }
            "collective_permute_implicit" => {
                let names = [
                    "srcs_by_channel",
                    "dsts_by_channel",
                    "replica_group",
                    "channel_ids",
                    "priority",
                    "name",
                ];
                let [srcs, dsts, group, channels, priority, _] = args.bind(&function, names, 3)?;
                no_priority(priority, span)?;
                let terms = self.ring(Exchange::Permute, &required(group), None, span)?;
                self.channels(
                    &function,
                    &[required(srcs)],
                    &required(dsts),
                    channels,
                    &terms,
                    span,
                )
            }
            _ => {
                let names = [
                    "srcs0_by_channel",
                    "srcs1_by_channel",
                    "dsts_by_channel",
                    "replica_group",
                    "op",
                    "channel_ids",
                    "priority",
                    "name",
                ];
                let [first, second, dsts, group, op, channels, priority, _] =
                    args.bind(&function, names, 5)?;
                no_priority(priority, span)?;
                let terms = self.ring(Exchange::PermuteReduce, &required(group), op, span)?;
                let srcs = [required(first), required(second)];
                self.channels(&function, &srcs, &required(dsts), channels, &terms, span)
            }
        }
    }

    /// `nisa.core_barrier(data, cores)`: legal where the launch puts one program on each core of a chip.
    pub fn core_barrier(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let [data, cores, _engine, _name] =
            args.bind("nisa.core_barrier", ["data", "cores", "engine", "name"], 2)?;
        if !self.place.is_paired {
            let what =
                "nisa.core_barrier in a launch that is not one program for each core of the chip".to_string();
            let help = "launch the kernel with grid nl.nc(2), or leave the barrier out".to_string();
            let since = "NeuronCore-v3 (two cores as one)";
            return Err(Error::new(Mistake::NewerOnly { what, since, help }, span));
        }
        if int_list(&required(cores), "cores", span)? != [0, 1] {
            return Err(Error::value_error("the cores of a core_barrier are (0, 1)", span));
        }
        let data = self.tile(&required(data), "nisa.core_barrier", span)?;
        if data.is_on_chip() {
            return Err(Error::value_error(
                "the data of a core_barrier lies in nl.shared_hbm",
                span,
            ));
        }
        let terms = Terms {
            kind: Exchange::Barrier,
            op: AluOp::Add,
            dim: 0,
            ranks: vec![0, 1],
            group: 2,
        };
        self.emit_exchange(&[], &data, &terms, span)?;
        Ok(Value::Instruction(Handle::default()))
    }

    /// One instruction for each channel, all of which hold one tensor.
    fn channels(
        &mut self,
        function: &str,
        srcs: &[Value],
        dsts: &Value,
        channels: Option<Value>,
        terms: &Terms,
        span: Span,
    ) -> Result<Value> {
        let n_channels = dsts.items().map_or(0, |it| it.len());
        if let Some(channels) = channels.filter(|it| !matches!(it, Value::None)) {
            let ids = int_list(&channels, "channel_ids", span)?;
            if !ids.iter().copied().eq(0..n_channels as i64) {
                let message = format!(
                    "channel_ids are 0 to {} for {n_channels} channels",
                    n_channels.max(1) - 1
                );
                return Err(Error::value_error(message, span));
            }
        }
        const MAX_CHANNELS: usize = 4;
        if n_channels == 0 || n_channels > MAX_CHANNELS {
            let message = format!("{function} has 1 to {MAX_CHANNELS} channels, not {n_channels}");
            return Err(Error::value_error(message, span));
        }
        let of_channel = |value: &Value, at: usize| value.items().and_then(|it| it.get(at).cloned());
        for channel in 0..n_channels {
            let srcs: Option<Vec<Value>> = srcs.iter().map(|it| of_channel(it, channel)).collect();
            let (Some(srcs), Some(dsts)) = (srcs, of_channel(dsts, channel)) else {
                let message = format!("{function} takes a list of tensors for each channel");
                return Err(Error::type_error(message, span));
            };
            self.exchange(function, &srcs, &dsts, terms, span)?;
        }
        Ok(Value::None)
    }

    /// One instruction for each tensor of the lists.
    fn exchange(
        &mut self,
        function: &str,
        srcs: &[Value],
        dsts: &Value,
        terms: &Terms,
        span: Span,
    ) -> Result<Value> {
        let dsts = self.tensors(function, dsts, span)?;
        let srcs = srcs
            .iter()
            .map(|it| self.tensors(function, it, span))
            .collect::<Result<Vec<_>>>()?;
        if let Some(other) = srcs.iter().find(|it| it.len() != dsts.len()) {
            let message = format!(
                "{function} has {} sources and {} destinations",
                other.len(),
                dsts.len()
            );
            return Err(Error::value_error(message, span));
        }
        let on_chip = |it: &Tensor| it.is_on_chip();
        let in_hbm_only = !matches!(
            terms.kind,
            Exchange::AllReduce | Exchange::AllGather | Exchange::ReduceScatter
        );
        if dsts.iter().any(on_chip) && (in_hbm_only || dsts.len() > 1) {
            let message = if in_hbm_only {
                format!("{function} takes tensors in HBM")
            } else {
                format!("{function} takes one tensor when it is in SBUF")
            };
            return Err(Error::value_error(message, span));
        }
        let limit = if dsts.iter().any(on_chip) && terms.kind == Exchange::AllGather {
            1
        } else {
            0
        };
        if !(0..=limit).contains(&terms.dim) {
            let message = format!("collective_dim is {}; it is at most {limit} here", terms.dim);
            return Err(Error::value_error(message, span));
        }
        for (idx, dst) in dsts.iter().enumerate() {
            let srcs: Vec<&Tensor> = srcs.iter().map(|it| &it[idx]).collect();
            self.emit_exchange(&srcs, dst, terms, span)?;
        }
        Ok(Value::None)
    }

    fn emit_exchange(&mut self, srcs: &[&Tensor], dst: &Tensor, terms: &Terms, span: Span) -> Result<()> {
        let mut args = [Arg::Absent; MAX_ARGS];
        args[0] = self.view_arg(dst);
        for (idx, src) in srcs.iter().enumerate() {
            args[1 + idx] = self.view_arg(src);
        }
        let ranks = self.program.add_ranks(Ranks(terms.ranks.clone()));
        let group = i32::try_from(terms.group).expect("groups are no larger than the launch");
        args[3..8].copy_from_slice(&[
            Arg::Exchange(terms.kind),
            Arg::Alu(terms.op),
            Arg::Int(terms.dim),
            ranks,
            Arg::Int(group),
        ]);
        self.emit(Op::Collective, Engine::Sync, args, span)
    }

    fn tensors(&mut self, function: &str, value: &Value, span: Span) -> Result<Vec<Tensor>> {
        let items = match value.items() {
            Some(items) => items.to_vec(),
            None => vec![value.clone()],
        };
        if items.is_empty() {
            return Err(Error::value_error(format!("{function} has no tensors"), span));
        }
        items.iter().map(|it| self.tile(it, function, span)).collect()
    }

    fn terms(
        &mut self,
        kind: Exchange,
        group: &Value,
        op: Option<Value>,
        dim: Option<Value>,
        span: Span,
    ) -> Result<Terms> {
        let (ranks, group) = self.groups(group, span)?;
        let dim = match dim {
            None => 0,
            Some(it) => it
                .as_int()
                .and_then(|it| i32::try_from(it).ok())
                .ok_or_else(|| Error::type_error("collective_dim is an int", span))?,
        };
        Ok(Terms {
            kind,
            op: reduction(op, span)?,
            dim,
            ranks,
            group,
        })
    }

    /// The pairs of a ring through each group.
    fn ring(&mut self, kind: Exchange, group: &Value, op: Option<Value>, span: Span) -> Result<Terms> {
        let (ranks, size) = self.groups(group, span)?;
        let mut pairs = Vec::with_capacity(2 * ranks.len());
        for group in ranks.chunks(size) {
            for (at, rank) in group.iter().enumerate() {
                pairs.extend([*rank, group[(at + 1) % size]]);
            }
        }
        Ok(Terms {
            kind,
            op: reduction(op, span)?,
            dim: 0,
            ranks: pairs,
            group: 2,
        })
    }
}

fn reduction(op: Option<Value>, span: Span) -> Result<AluOp> {
    let Some(op) = op else { return Ok(AluOp::Add) };
    let known = library::operator_name(&op).and_then(AluOp::from_name);
    known
        .filter(|it| AluSet::Collective.contains(*it))
        .ok_or_else(|| Error::type_error("a collective reduces with nl.add, nl.maximum or nl.minimum", span))
}

fn no_priority(value: Option<Value>, span: Span) -> Result<()> {
    match value {
        None | Some(Value::None) => Ok(()),
        Some(_) => {
            let (what, since, help) = ("`priority`".to_string(), "NeuronCore-v4", "drop it".to_string());
            Err(Error::new(Mistake::NewerOnly { what, since, help }, span))
        }
    }
}
