//! What the words of a text stand for: declared names, dtypes, engines, marks, and numbers that have to fit.

use super::super::error::{Error, Mistake, Noun};
use super::super::operand::read_name;
use super::super::syntax::{AskedText, At};
use super::{Builder, number};
use crate::diagnostic::nearest;
use crate::dtype::{DTYPES, Dtype};
use crate::ir::{Asked, BufferId, Mark, MarkId, Name, RegisterId};
use crate::isa::{ENGINES, Engine};
use std::ops::Range;

impl Builder {
    /// Whether a name may be declared; reports one that is declared already. Says nothing about the second declaration of
    /// what was declared wrongly before.
    pub fn is_new(&mut self, name: &str, range: &Range<usize>) -> bool {
        let register = self.registers.get(name).map(|it| self.program[*it].loc);
        let first = match (register, self.names.get(name)) {
            (None, None) => return true,
            (Some(loc), _) => self.program.span(loc),
            (None, Some(buffer)) => buffer.map(|it| self.buffer_spans[it.index()]),
        };
        if let Some(first) = first {
            let name = name.to_owned();
            self.report(range.clone(), Mistake::DuplicateName { name, first });
        }
        false
    }

    pub fn is_register(&self, name: &At<&str>) -> bool {
        self.registers.contains_key(name.value)
    }

    /// Finds a declared register.
    pub fn register(&mut self, name: &At<&str>) -> Option<RegisterId> {
        let known = self.registers.get(name.value).copied();
        if known.is_none() && self.is_worth_reading() {
            let names = self.registers.keys().map(String::as_str);
            let near = nearest(name.value, names).map(str::to_owned);
            self.report_unknown(Noun::Register, name, near);
        }
        known
    }

    /// Finds a declared buffer; says nothing about one whose declaration is wrong.
    pub fn buffer(&mut self, name: &At<&str>) -> Option<BufferId> {
        if let Some(id) = self.names.get(name.value) {
            return *id;
        }
        // `%"a"` and `%a.01` are other spellings of `%a` and `%a.1`.
        let canonical = read_name(name.value).map(|it| it.to_string());
        if let Some(id) = canonical.and_then(|it| self.names.get(&it).copied()) {
            return id;
        }
        // A file that is broken all over has names enough to compare them for minutes.
        if self.is_worth_reading() {
            let known = self.names.keys().map(|it| &it[1..]);
            let near = nearest(&name.value[1..], known).map(|it| format!("%{it}"));
            self.report_unknown(Noun::Buffer, name, near);
        }
        None
    }

    pub fn dtype(&mut self, name: &At<&str>) -> Option<Dtype> {
        let dtype = Dtype::from_name(name.value);
        if dtype.is_none() {
            self.unknown(Noun::Dtype, name, DTYPES.iter().map(|it| it.1));
        }
        dtype
    }

    pub fn engine(&mut self, name: &At<&str>) -> Option<Engine> {
        let engine = Engine::from_name(name.value);
        if engine.is_none() {
            self.unknown(Noun::Engine, name, ENGINES.iter().map(|it| it.1));
        }
        engine
    }

    pub(super) fn count(&mut self, count: &At<i64>) -> Option<u32> {
        self.fit(count, "a semaphore's count", "4294967295")
    }

    pub fn unknown<'a>(&mut self, noun: Noun, word: &At<&str>, known: impl Iterator<Item = &'a str>) {
        if self.is_worth_reading() {
            let near = nearest(word.value, known).map(str::to_owned);
            self.report_unknown(noun, word, near);
        }
    }

    fn report_unknown(&mut self, noun: Noun, word: &At<&str>, near: Option<String>) {
        let mistake = Mistake::Unknown {
            noun,
            word: word.value.to_owned(),
            near,
        };
        self.report(word.range.clone(), mistake);
    }

    /// The number in a smaller type.
    pub fn fit<T: TryFrom<i64>>(&mut self, value: &At<i64>, what: &'static str, limit: &str) -> Option<T> {
        let fitted = T::try_from(value.value).ok();
        if fitted.is_none() {
            self.report(value.range.clone(), number(what, limit));
        }
        fitted
    }

    /// What is asked of an instruction's order; marks may be named before the line that defines them.
    pub fn asked(&mut self, text: &AskedText) -> Asked {
        let own = text.name.as_ref().map(|it| self.mark(it, true));
        let after: Vec<MarkId> = text.after.iter().map(|it| self.mark(it, false)).collect();
        let mark = match own {
            None if after.is_empty() => None,
            None => Some(self.program.add_mark(Mark { name: None, after })),
            Some(own) => {
                self.program.marks[own.index()].after = after;
                Some(own)
            }
        };
        Asked::new(mark, text.is_fixed)
    }

    fn mark(&mut self, text: &At<&str>, defines: bool) -> MarkId {
        let here = self.span(&text.range);
        let name = read_name(text.value).unwrap_or_else(|| Name::plain(text.value));
        let program = &mut self.program;
        let (mark, place) = self.marks.entry(name.to_string()).or_insert_with(|| {
            let (name, after) = (Some(name.clone()), Vec::new());
            (program.add_mark(Mark { name, after }), Err(here))
        });
        let mark = *mark;
        match (*place, defines) {
            (Ok(first), true) => {
                let name = name.to_string();
                self.report(text.range.clone(), Mistake::DuplicateMark { name, first });
            }
            (Err(_), true) => *place = Ok(here),
            _ => {}
        }
        mark
    }

    /// Reports marks that no instruction has.
    pub(super) fn check_marks(&mut self) {
        let unknown = self
            .marks
            .iter()
            .filter_map(|(name, (_, place))| Some((place.err()?, name)));
        let errors: Vec<Error> = unknown
            .map(|(span, name)| Error {
                span,
                mistake: Mistake::Unknown {
                    noun: Noun::Mark,
                    word: name.clone(),
                    near: None,
                },
            })
            .collect();
        self.errors.extend(errors);
    }
}
