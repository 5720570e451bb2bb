//! Shape classes in one line, for the heading of their CLIF text.

use super::map::{Body, Map, Source, Step};
use super::nest::Loop;
use super::reduce::Reduce;
use super::{Class, copy};
use std::fmt;

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Copy(copy::Copy { size, loops }) => {
                write!(f, "copy {size}-byte elements; {}", Loops(loops, 0..2))
            }
            Class::Fill(copy::Fill { size, loops }) => {
                write!(f, "fill {size}-byte elements; {}", Loops(loops, 0..1))
            }
            Class::Map(map) => map.fmt(f),
            Class::Reduce(reduce) => reduce.fmt(f),
        }
    }
}

/// Loops with the strides of some operands in bytes, outermost first: `512 (4 4 2)`.
struct Loops<'a>(&'a [Loop], std::ops::Range<usize>);

impl fmt::Display for Loops<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("one element");
        }
        for (idx, it) in self.0.iter().enumerate() {
            let strides: Vec<String> = it.strides[self.1.clone()].iter().map(i64::to_string).collect();
            let comma = if idx > 0 { ", " } else { "" };
            write!(f, "{comma}{} ({})", it.count, strides.join(" "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <- {}", self.dst.name(), self.body)?;
        for source in &self.sources {
            match source {
                Source::Tile { dtype, .. } => write!(f, ", tile {}", dtype.name())?,
                Source::Column { dtype, .. } => write!(f, ", column {}", dtype.name())?,
                Source::Pattern => write!(f, ", pattern")?,
                Source::Scalar => write!(f, ", scalar")?,
            }
        }
        let moves = |it: &&Source| matches!(it, Source::Tile { .. } | Source::Pattern);
        let operands = self.sources.iter().filter(moves).count();
        write!(
            f,
            "; {} partitions, {}",
            self.partitions,
            Loops(&self.loops, 0..operands + 1)
        )
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Body::Cast => f.write_str("cast"),
            Body::Arithmetic(steps) => write_steps(f, steps),
            Body::Bits { steps, width } => {
                write_steps(f, steps)?;
                write!(f, " on {width} bits")
            }
            Body::Integer(op) => write!(f, "integer {}", op.name()),
            Body::Iota => f.write_str("iota"),
            Body::Select { cmp, .. } => write!(f, "select {}", cmp.name()),
            Body::Predicated { reverse: false } => f.write_str("predicated"),
            Body::Predicated { reverse: true } => f.write_str("predicated reversed"),
            Body::Choose { reverse: false } => f.write_str("choose"),
            Body::Choose { reverse: true } => f.write_str("choose reversed"),
            Body::Function { function, register } => {
                f.write_str(function.name())?;
                let Some(register) = register else { return Ok(()) };
                if register.resets {
                    f.write_str(" reset")?;
                }
                if register.adds {
                    f.write_str(" sum")?;
                }
                match register.result {
                    Some((dtype, _)) => write!(f, " to {}", dtype.name()),
                    None => Ok(()),
                }
            }
        }
    }
}

fn write_steps(f: &mut fmt::Formatter<'_>, steps: &[Step]) -> fmt::Result {
    for (idx, step) in steps.iter().enumerate() {
        let then = if idx > 0 { " then " } else { "" };
        let reversed = if step.reverse { " reversed" } else { "" };
        write!(f, "{then}{}{reversed}", step.op.name())?;
    }
    Ok(())
}

impl fmt::Display for Reduce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let negated = if self.negate { " negated" } else { "" };
        let (to, op, from) = (self.dst.name(), self.op.name(), self.data.name());
        let results = Loops(&self.results, 0..1);
        let (kept, reduced) = (Loops(&self.kept, 1..2), Loops(&self.reduced, 1..2));
        write!(
            f,
            "{to} <- {op}{negated}, tile {from}; {} partitions, ",
            self.partitions
        )?;
        write!(f, "results {results}, kept {kept}, reduced {reduced}")
    }
}
