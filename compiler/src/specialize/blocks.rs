//! Tensors with block dimensions: `nl.ndarray((8, nl.par_dim(128), 512), …)`.
//!
//! A block tensor is one tile per block index, each with storage of its own that is made when it is first used, so
//! each lives and dies by itself.

use super::Evaluator;
use super::error::{Error, Mistake, Result};
use super::eval::CallArgs;
use super::value::{Region, Value};
use crate::ir::MAX_DIMS;
use crate::source::Span;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// The call that makes a tile, and the tiles made so far.
pub struct Storage {
    function: &'static str,
    /// The tile's shape, partition dimension first.
    shape: Vec<i64>,
    blocks: Vec<u32>,
    positional: Vec<Value>,
    keywords: Vec<(Rc<str>, Value)>,
    name: Option<Rc<str>>,
    span: Span,
    tiles: RefCell<Vec<Option<Value>>>,
}

impl Storage {
    /// An argument of the call that makes a tile; `nl.full` has a fill value in second place.
    fn argument(&self, name: &str, position: usize) -> Option<Value> {
        let keyword = self
            .keywords
            .iter()
            .find(|it| &*it.0 == name)
            .map(|it| it.1.clone());
        let position = position + usize::from(self.function == "full");
        keyword.or_else(|| self.positional.get(position).cloned())
    }
}

/// Some blocks of a block tensor: those whose leading indices are `prefix`.
#[derive(Clone)]
pub struct Blocks {
    storage: Rc<Storage>,
    prefix: Vec<u32>,
}

impl fmt::Debug for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "blocks {:?} of {:?}", self.prefix, self.storage.blocks)
    }
}

impl Blocks {
    /// The shape with the block dimensions in front.
    pub fn shape(&self) -> Vec<i64> {
        let blocks = self.storage.blocks[self.prefix.len()..]
            .iter()
            .map(|&it| i64::from(it));
        blocks.chain(self.storage.shape.iter().copied()).collect()
    }

    /// The tiles that were made so far.
    pub fn tiles(&self) -> Vec<Value> {
        self.storage.tiles.borrow().iter().flatten().cloned().collect()
    }

    pub fn is_same(&self, other: &Blocks) -> bool {
        Rc::ptr_eq(&self.storage, &other.storage) && self.prefix == other.prefix
    }

    fn open_dims(&self) -> &[u32] {
        &self.storage.blocks[self.prefix.len()..]
    }
}

/// The most blocks of one tensor.
const MAX_BLOCKS: u64 = 4_000_000;

impl Evaluator<'_> {
    /// A tensor whose shape says with `nl.par_dim` that leading dimensions are blocks; `None` for any other shape.
    pub fn make_blocks(
        &mut self,
        function: &'static str,
        args: &CallArgs,
        shape: &[Value],
    ) -> Result<Option<Value>> {
        let Some(at) = shape.iter().position(|it| matches!(it, Value::ParDim(_))) else {
            return Ok(None);
        };
        if at == 0 {
            return Ok(None);
        }
        let span = args.span;
        let sizes = super::create::shape_of(&Value::tuple(shape.to_vec()), span)?;
        let mut counts = sizes[..at].iter().map(|&it| u64::from(it));
        let n_blocks = counts.try_fold(1u64, u64::checked_mul).unwrap_or(u64::MAX);
        if n_blocks > MAX_BLOCKS {
            let message = format!("{n_blocks} blocks; at most {MAX_BLOCKS} are supported");
            return Err(Error::new(Mistake::BadShape { message }, span));
        }
        let storage = Storage {
            function,
            shape: sizes[at..].iter().map(|&it| i64::from(it)).collect(),
            blocks: sizes[..at].to_vec(),
            positional: args.positional.clone(),
            keywords: args.keywords.clone(),
            name: self.naming.clone(),
            span,
            tiles: RefCell::new(vec![None; n_blocks as usize]),
        };
        let prefix = Vec::new();
        let storage = Rc::new(storage);
        Ok(Some(Value::Blocks(Rc::new(Blocks { storage, prefix }))))
    }

    /// `blocks[i, j, …]`: a tile, a view of one, or fewer blocks.
    pub fn index_blocks(&mut self, blocks: &Rc<Blocks>, index: &Value, span: Span) -> Result<Value> {
        let keys = match index {
            Value::Tuple(keys) => keys.as_slice(),
            key => std::slice::from_ref(key),
        };
        if keys.iter().all(|it| matches!(it, Value::Ellipsis)) {
            return Ok(Value::Blocks(blocks.clone()));
        }
        let mut prefix = blocks.prefix.clone();
        let open = blocks.open_dims();
        let n_used = keys.len().min(open.len());
        for (dim, key) in keys[..n_used].iter().enumerate() {
            let at = match key {
                Value::Index(form) if form.whole_reach().0 == form.whole_reach().1 => Some(form.start),
                key => key.as_int(),
            };
            match at {
                Some(at) => {
                    let at = super::index::position(at, i64::from(open[dim]), "block dimension", span)?;
                    prefix.push(at as u32);
                }
                // `blocks[:]` and `blocks[:, :]` are all blocks.
                None if keys.iter().all(is_full) => return Ok(Value::Blocks(blocks.clone())),
                None => {
                    return Err(Error::unsupported(
                        "a block dimension that is not indexed with an int",
                        "each block is a tile of its own: index block dimensions with the loop variables",
                        span,
                    ));
                }
            }
        }
        if prefix.len() < blocks.storage.blocks.len() {
            let storage = blocks.storage.clone();
            return Ok(Value::Blocks(Rc::new(Blocks { storage, prefix })));
        }
        let tile = self.block(&blocks.storage, &prefix)?;
        match &keys[n_used..] {
            [] => Ok(tile),
            rest if rest.len() > MAX_DIMS => Err(Error::value_error(format!("{} indices", keys.len()), span)),
            rest => self.index(&tile, &Value::tuple(rest.to_vec()), span),
        }
    }

    /// The tile of a block, made on first use.
    fn block(&mut self, storage: &Rc<Storage>, index: &[u32]) -> Result<Value> {
        let at = index
            .iter()
            .zip(&storage.blocks)
            .fold(0usize, |at, (&index, &size)| at * size as usize + index as usize);
        if let Some(tile) = &storage.tiles.borrow()[at] {
            return Ok(tile.clone());
        }
        let shape = Value::tuple(storage.shape.iter().map(|&it| Value::Int(it)).collect());
        let mut positional = storage.positional.clone();
        let mut keywords = storage.keywords.clone();
        match (
            positional.first_mut(),
            keywords.iter_mut().find(|it| &*it.0 == "shape"),
        ) {
            (Some(first), _) => *first = shape,
            (None, Some(keyword)) => keyword.1 = shape,
            (None, None) => unreachable!("make_blocks has found the shape"),
        }
        for value in positional
            .iter_mut()
            .chain(keywords.iter_mut().map(|it| &mut it.1))
        {
            if let Value::Allocation(it) = value {
                *value = Value::Allocation(Rc::new(it.of_block(index)));
            }
        }
        let naming = std::mem::replace(&mut self.naming, storage.name.clone());
        let iterations = std::mem::replace(&mut self.iterations, index.to_vec());
        let instance = self.instance.take();
        let tile = self.call_language(
            storage.function,
            CallArgs::with(positional, keywords, storage.span),
        );
        self.naming = naming;
        self.iterations = iterations;
        self.instance = instance;
        let tile = tile?;
        storage.tiles.borrow_mut()[at] = Some(tile.clone());
        Ok(tile)
    }

    pub fn blocks_attribute(&mut self, blocks: &Rc<Blocks>, name: &Rc<str>, span: Span) -> Result<Value> {
        match &**name {
            "shape" => Ok(Value::tuple(blocks.shape().into_iter().map(Value::Int).collect())),
            "ndim" => Ok(Value::Int(blocks.shape().len() as i64)),
            "dtype" => {
                let dtype = blocks.storage.argument("dtype", 1);
                Ok(Value::Dtype(
                    self.device_dtype(&dtype.unwrap_or(Value::None), span)?,
                ))
            }
            "buffer" => Ok(match blocks.storage.argument("buffer", 2) {
                Some(Value::Allocation(it)) => Value::Buffer(it.region),
                Some(it) => it,
                None => Value::Buffer(Region::Sbuf),
            }),
            _ => {
                let known = ["shape", "dtype", "ndim", "buffer"];
                Err(super::builtins::no_attribute(
                    "a tensor with block dimensions".to_string(),
                    name,
                    known.into_iter(),
                    span,
                ))
            }
        }
    }

    /// Every tile of the blocks, in order of their indices.
    pub fn all_blocks(&mut self, blocks: &Rc<Blocks>) -> Result<Vec<Value>> {
        let open: Vec<u32> = blocks.open_dims().to_vec();
        let count: u32 = open.iter().product();
        let mut tiles = Vec::with_capacity(count as usize);
        for at in 0..count {
            let mut index = blocks.prefix.clone();
            let mut rest = at;
            for dim in 0..open.len() {
                let below: u32 = open[dim + 1..].iter().product();
                index.push(rest / below);
                rest %= below;
            }
            tiles.push(self.block(&blocks.storage, &index)?);
        }
        Ok(tiles)
    }
}

fn is_full(key: &Value) -> bool {
    match key {
        Value::Ellipsis => true,
        Value::Slice(it) => matches!((&it.start, &it.stop), (Value::None, Value::None)),
        _ => false,
    }
}
