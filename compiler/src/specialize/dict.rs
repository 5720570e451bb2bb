//! Dicts and sets: insertion-ordered, keyed by what can be hashed.

use super::value::Value;
use crate::dtype::Dtype;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// An insertion-ordered dict.
#[derive(Clone, Debug, Default)]
pub struct Dict {
    entries: Vec<(Value, Value)>,
    index: FxHashMap<Key, usize>,
}

/// A hashable value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    None,
    Int(i64),
    Float(u64),
    Str(Rc<str>),
    Tuple(Vec<Key>),
    Dtype(Dtype),
    Named(&'static str, &'static str),
}

impl Dict {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn get(&self, key: &Key) -> Option<&Value> {
        self.index.get(key).map(|&it| &self.entries[it].1)
    }

    pub fn insert(&mut self, key: Key, name: Value, value: Value) {
        match self.index.get(&key) {
            Some(&it) => self.entries[it].1 = value,
            None => {
                self.index.insert(key, self.entries.len());
                self.entries.push((name, value));
            }
        }
    }

    /// Takes an entry out; those behind it move up, so it costs what the dict has.
    pub fn remove(&mut self, key: &Key) -> Option<Value> {
        let at = self.index.remove(key)?;
        let (_, value) = self.entries.remove(at);
        self.index
            .values_mut()
            .filter(|it| **it > at)
            .for_each(|it| *it -= 1);
        Some(value)
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.index.clear();
    }

    pub fn entries(&self) -> &[(Value, Value)] {
        &self.entries
    }

    pub fn into_entries(self) -> Vec<(Value, Value)> {
        self.entries
    }
}
