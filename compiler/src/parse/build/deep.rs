//! Parts of the tree that know how deep they nest, and growing lists of them.
//!
//! The parser moves every part many times between its stack and the rules, all as one type of the largest size. So
//! parts larger than an expression are boxed here, although the tree holds them unboxed.

use crate::ast::{Expr, Stmt};

/// A part of the tree, and how many levels it has.
pub struct Deep<T> {
    pub tree: T,
    pub depth: u32,
}

pub type Node = Deep<Expr>;
pub type Exprs = Deep<Vec<Expr>>;
pub type Statement = Deep<Box<Stmt>>;
pub type Block = Deep<Vec<Stmt>>;

impl<T> Deep<T> {
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Deep<U> {
        Deep {
            tree: change(self.tree),
            depth: self.depth,
        }
    }

    /// Two parts side by side.
    pub fn and<U>(self, other: Deep<U>) -> Deep<(T, U)> {
        Deep {
            tree: (self.tree, other.tree),
            depth: self.depth.max(other.depth),
        }
    }
}

impl<T> Deep<Box<T>> {
    pub fn unboxed(self) -> Deep<T> {
        self.map(|it| *it)
    }
}

/// A part that holds no other.
pub fn leaf<T>(tree: T) -> Deep<T> {
    Deep { tree, depth: 0 }
}

/// A part that may be absent.
pub fn optional<T>(part: Option<Deep<T>>) -> Deep<Option<T>> {
    part.map_or(leaf(None), |it| it.map(Some))
}

pub fn empty<T>() -> Deep<Vec<T>> {
    leaf(Vec::new())
}

pub fn one<T>(part: Deep<T>) -> Deep<Vec<T>> {
    part.map(|it| vec![it])
}

pub fn push<T>(list: Deep<Vec<T>>, part: Deep<T>) -> Deep<Vec<T>> {
    list.and(part).map(|(mut list, part)| {
        list.push(part);
        list
    })
}

pub fn join<T>(list: Deep<Vec<T>>, more: Deep<Vec<T>>) -> Deep<Vec<T>> {
    list.and(more).map(|(mut list, more)| {
        list.extend(more);
        list
    })
}
