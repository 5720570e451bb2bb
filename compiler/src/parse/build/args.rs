//! The arguments of a call or a class.

use super::{Builder, Deep, Node};
use crate::ast::{ArgKind, CallArg, Expr};
use crate::parse::error::Error;
use crate::source::Span;
use std::collections::HashMap;

/// An argument before its keyword is read.
pub struct Arg {
    word: ArgWord,
    value: Expr,
}

/// What stands before an argument.
#[derive(Clone, Copy, PartialEq)]
pub enum ArgWord {
    Positional,
    /// A generator without parentheses of its own.
    BareGenerator,
    Keyword {
        start: u32,
        end: u32,
    },
    Star,
    DoubleStar,
}

pub fn arg(word: ArgWord, value: Node) -> Deep<Arg> {
    value.map(|value| Arg { word, value })
}

impl Builder<'_> {
    /// Gives every argument its kind and checks their order, as CPython does.
    pub(super) fn args(&mut self, args: Deep<Vec<Arg>>) -> Deep<Vec<CallArg>> {
        let bare = args.tree.iter().find(|it| it.word == ArgWord::BareGenerator);
        if let Some(it) = bare.filter(|_| args.tree.len() > 1) {
            self.errors.push(Error::BareGenerator { span: it.value.span });
        }
        let args = args.map(|it| it.into_iter().map(|it| self.arg(it)).collect::<Vec<_>>());
        if args.tree.len() > 1 {
            self.check_args(&args.tree);
        }
        args
    }

    fn arg(&mut self, arg: Arg) -> CallArg {
        let kind = match arg.word {
            ArgWord::Positional | ArgWord::BareGenerator => ArgKind::Positional,
            ArgWord::Keyword { start, end } => ArgKind::Keyword(self.ident(start, end)),
            ArgWord::Star => ArgKind::Star,
            ArgWord::DoubleStar => ArgKind::DoubleStar,
        };
        CallArg {
            kind,
            value: arg.value,
        }
    }

    fn check_args(&mut self, args: &[CallArg]) {
        let mut keyword = None;
        let mut double_star = None;
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for arg in args {
            let span = arg.value.span;
            match &arg.kind {
                ArgKind::Positional => {
                    if let Some(before) = double_star.or(keyword) {
                        self.errors.push(Error::ArgumentOrder { span, before });
                    }
                }
                ArgKind::Star => {
                    if let Some(before) = double_star {
                        self.errors.push(Error::ArgumentOrder { span, before });
                    }
                }
                ArgKind::DoubleStar => double_star = double_star.or(Some(span)),
                ArgKind::Keyword(name) => {
                    keyword = keyword.or(Some(name.span.to(span)));
                    match seen.get(&*name.name) {
                        Some(&first) => self.errors.push(Error::RepeatedArgument {
                            name: name.clone(),
                            first,
                        }),
                        None => drop(seen.insert(&name.name, name.span)),
                    }
                }
            }
        }
    }
}
