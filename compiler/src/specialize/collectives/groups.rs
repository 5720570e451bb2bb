//! Replica groups, and the pairs of a permutation: which ranks meet.
//!
//! Takes lists of ranks as the kernel wrote them, gives them flat, one group after the other. Every rank of the launch may
//! stand in one place, and who calls a collective takes part in it.

use super::super::Evaluator;
use super::super::error::{Error, Mistake, Result};
use super::super::tensor::int_list;
use super::super::value::Value;
use crate::launch::Place;
use crate::source::Span;

impl Evaluator<'_> {
    /// The ranks of all groups and the size of a group.
    pub fn groups(&mut self, value: &Value, span: Span) -> Result<(Vec<u32>, usize)> {
        let no_groups = || Error::type_error("a replica group is a list of lists of ranks", span);
        let groups = value.items().ok_or_else(no_groups)?.to_vec();
        let mut ranks = Vec::new();
        let mut size = None;
        for group in &groups {
            let group = int_list(group, "a group of ranks", span)?;
            if *size.get_or_insert(group.len()) != group.len() || group.is_empty() {
                let message = "the groups of a collective have different sizes, or none".to_string();
                let help = "give every group equally many ranks".to_string();
                return Err(Error::new(Mistake::ReplicaGroup { message, help }, span));
            }
            for rank in group {
                let rank = self.rank(rank, span)?;
                if ranks.contains(&rank) {
                    let message = format!("rank {rank} is in two places of a replica group");
                    let help = "list every rank once".to_string();
                    return Err(Error::new(Mistake::ReplicaGroup { message, help }, span));
                }
                ranks.push(rank);
            }
        }
        self.check_member(&ranks, span)?;
        Ok((ranks, size.ok_or_else(no_groups)?))
    }

    /// Sources and targets, pair after pair; each rank that sends also receives.
    pub fn pairs(&mut self, value: &Value, span: Span) -> Result<Vec<u32>> {
        let wrong = |message: &str| {
            let help = "write pairs that form rings, e.g. [(0, 1), (1, 0)]".to_string();
            let message = message.to_string();
            Error::new(Mistake::ReplicaGroup { message, help }, span)
        };
        let items = value
            .items()
            .ok_or_else(|| wrong("the pairs are no list"))?
            .to_vec();
        let (mut sources, mut targets) = (Vec::new(), Vec::new());
        for pair in &items {
            let [source, target] = int_list(pair, "a pair of ranks", span)?[..] else {
                return Err(wrong("a pair has a source and a target"));
            };
            let (source, target) = (self.rank(source, span)?, self.rank(target, span)?);
            if sources.contains(&source) || targets.contains(&target) {
                return Err(wrong("a rank sends or receives twice"));
            }
            sources.push(source);
            targets.push(target);
        }
        if items.is_empty() || sources.iter().any(|it| !targets.contains(it)) {
            return Err(wrong("a rank sends and does not receive, or nobody does either"));
        }
        self.check_member(&sources, span)?;
        Ok(sources
            .into_iter()
            .zip(targets)
            .flat_map(<[u32; 2]>::from)
            .collect())
    }

    fn rank(&self, rank: i64, span: Span) -> Result<u32> {
        let n_ranks = self.place.n_ranks;
        match u32::try_from(rank) {
            Ok(it) if it < n_ranks => Ok(it),
            _ => {
                let message = match n_ranks {
                    1 => format!("the collective names rank {rank}; the launch has one rank"),
                    _ => format!(
                        "the collective names rank {rank}; the launch has ranks 0 to {}",
                        n_ranks - 1
                    ),
                };
                let help = format!("launch it with --ranks {}", rank.max(0) + 1);
                Err(Error::new(Mistake::ReplicaGroup { message, help }, span))
            }
        }
    }

    /// A rank that calls a collective takes part in it.
    fn check_member(&mut self, ranks: &[u32], span: Span) -> Result<()> {
        let Place { rank, n_ranks, .. } = self.place;
        if ranks.len() == n_ranks as usize {
            return Ok(());
        }
        self.reads_place = true;
        if ranks.contains(&rank) {
            Ok(())
        } else {
            Err(self.not_a_member(span))
        }
    }

    pub fn not_a_member(&self, span: Span) -> Box<Error> {
        let message = format!("rank {} calls a collective that it is not in", self.place.rank);
        let help = "put it into a group, or guard the call by rank_id()".to_string();
        Error::new(Mistake::ReplicaGroup { message, help }, span)
    }
}
