//! The parameters of a function or a lambda.

use super::deep::optional;
use super::{Builder, Deep, Node};
use crate::ast::{Ident, Param, ParamKind};
use crate::parse::error::Error;
use crate::source::Span;
use std::collections::HashMap;

/// One entry of a parameter list.
pub enum Entry {
    Param(Param),
    /// `*` alone: parameters behind it are keyword-only.
    Star(Span),
    /// `/`: parameters before it are positional-only.
    Slash(Span),
}

pub fn param(
    name: Ident,
    kind: ParamKind,
    annotation: Option<Node>,
    default: Option<Node>,
) -> Deep<Box<Entry>> {
    let parts = optional(annotation).and(optional(default));
    parts.map(|(annotation, default)| {
        Box::new(Entry::Param(Param {
            name,
            kind,
            annotation,
            default,
        }))
    })
}

impl Builder<'_> {
    pub fn bare_star(&self, start: u32, end: u32) -> Entry {
        Entry::Star(self.span(start, end))
    }

    pub fn slash(&self, start: u32, end: u32) -> Entry {
        Entry::Slash(self.span(start, end))
    }

    /// Gives every parameter its kind and checks their order, as CPython does.
    pub(super) fn params(&mut self, entries: Deep<Vec<Entry>>) -> Deep<Vec<Param>> {
        entries.map(|entries| {
            let params = self.sort_kinds(entries);
            self.check_params(&params);
            params
        })
    }

    fn sort_kinds(&mut self, entries: Vec<Entry>) -> Vec<Param> {
        let mut params: Vec<Param> = Vec::with_capacity(entries.len());
        let (mut slash, mut star, mut bare_star, mut double_star) = (None, None, None, None);
        for entry in entries {
            let span = match &entry {
                Entry::Param(param) => param.name.span,
                Entry::Star(span) | Entry::Slash(span) => *span,
            };
            if let Some(before) = double_star {
                self.errors.push(Error::ParameterOrder {
                    span,
                    before,
                    rule: "no parameter follows `**`",
                });
            }
            match entry {
                Entry::Slash(_) => {
                    if let Some(before) = slash.or(star) {
                        self.errors.push(Error::ParameterOrder {
                            span,
                            before,
                            rule: "`/` stands once, before any `*`",
                        });
                    } else if params.is_empty() {
                        self.errors.push(Error::LoneMarker {
                            span,
                            rule: "`/` needs a parameter before it",
                        });
                    }
                    slash = Some(span);
                    params
                        .iter_mut()
                        .for_each(|it| it.kind = ParamKind::PositionalOnly);
                }
                Entry::Star(_)
                | Entry::Param(Param {
                    kind: ParamKind::Star,
                    ..
                }) => {
                    if let Some(before) = star {
                        self.errors.push(Error::ParameterOrder {
                            span,
                            before,
                            rule: "`*` stands once",
                        });
                    }
                    star = Some(span);
                    match entry {
                        Entry::Param(param) => params.push(param),
                        _ => bare_star = Some(span),
                    }
                }
                Entry::Param(mut param) => {
                    match param.kind {
                        ParamKind::DoubleStar => double_star = Some(span),
                        _ if star.is_some() => param.kind = ParamKind::KeywordOnly,
                        _ => {}
                    }
                    params.push(param);
                }
            }
        }
        let has_keyword_only = params.iter().any(|it| it.kind == ParamKind::KeywordOnly);
        if let Some(span) = bare_star.filter(|_| !has_keyword_only) {
            self.errors.push(Error::LoneMarker {
                span,
                rule: "`*` needs a named parameter behind it",
            });
        }
        params
    }

    fn check_params(&mut self, params: &[Param]) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        let mut with_default: Option<Span> = None;
        for param in params {
            let span = param.name.span;
            if let Some(&first) = seen.get(&*param.name.name) {
                self.errors.push(Error::DuplicateParameter {
                    name: param.name.clone(),
                    first,
                });
            }
            seen.insert(&param.name.name, span);
            if !matches!(param.kind, ParamKind::PositionalOnly | ParamKind::Normal) {
                continue;
            }
            match (&param.default, with_default) {
                (Some(_), _) => with_default = Some(span),
                (None, Some(before)) => self.errors.push(Error::DefaultOrder {
                    name: param.name.clone(),
                    before,
                }),
                (None, None) => {}
            }
        }
    }
}
