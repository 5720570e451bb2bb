//! The arguments of a call or a class.

use super::{Builder, Deep, Node};
use crate::ast::{ArgKind, CallArg};
use crate::parse::error::Error;
use std::collections::HashSet;

/// An argument, and whether it is a generator without parentheses of its own.
pub struct Arg {
    arg: CallArg,
    is_bare_generator: bool,
}

pub fn arg(kind: ArgKind, value: Node) -> Deep<Arg> {
    value.map(|value| Arg {
        arg: CallArg { kind, value },
        is_bare_generator: false,
    })
}

pub fn bare_generator(value: Node) -> Deep<Arg> {
    arg(ArgKind::Positional, value).map(|it| Arg {
        is_bare_generator: true,
        ..it
    })
}

impl Builder<'_> {
    /// Checks the order of arguments, as CPython does.
    pub(super) fn args(&mut self, args: Deep<Vec<Arg>>) -> Deep<Vec<CallArg>> {
        if args.tree.len() > 1 {
            self.check_args(&args.tree);
        }
        args.map(|it| it.into_iter().map(|it| it.arg).collect())
    }

    fn check_args(&mut self, args: &[Arg]) {
        let mut keyword = None;
        let mut double_star = None;
        let mut seen = HashSet::new();
        for Arg {
            arg,
            is_bare_generator,
        } in args
        {
            let span = arg.value.span;
            if *is_bare_generator {
                self.errors.push(Error::BareGenerator { span });
            }
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
                    if !seen.insert(name.name.clone()) {
                        self.errors.push(Error::RepeatedArgument { name: name.clone() });
                    }
                }
            }
        }
    }
}
