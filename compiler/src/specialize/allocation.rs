//! Tiles that the kernel places by a rule: `nki.compiler.sbuf.mod_alloc`, `nki.compiler.psum.mod_alloc` and `alloc`.
//!
//! Takes the call that stands as a `buffer`, gives the address of the tile at a block index. Whether tiles collide or
//! leave their memory is for placement to say; only what has no address is refused here.

use super::Evaluator;
use super::builtins::no_attribute;
use super::create::shape_of;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::value::{Region, Value};
use crate::ir::{Frame as LocFrame, Request};
use crate::source::Span;
use std::rc::Rc;

/// A call in the source, with the calls and iterations around it. The iterations of a traced loop count as one.
pub type Place = (Span, Vec<(Span, Option<u32>)>);

/// What `nki.compiler.sbuf` and `nki.compiler.psum` have.
const FUNCTIONS: &[&str] = &["alloc", "auto_alloc", "mod_alloc"];

/// A `buffer` that says where tiles lie.
#[derive(Clone, Debug)]
pub struct Allocation {
    pub region: Region,
    rule: Rc<Rule>,
    /// The block index of the tile; empty for a tensor without block dimensions.
    index: Vec<u32>,
}

#[derive(Debug)]
enum Rule {
    /// Block indices are taken modulo the number of places.
    Modular { bank: Ring, partition: Ring, byte: Ring },
    /// A function of the block index, the partitions and the bytes per partition of a tile.
    Function(Value),
}

/// So many places in a row along one direction of a memory, from a base on.
#[derive(Debug)]
struct Ring {
    /// The argument that says how many places there are.
    name: &'static str,
    base: u32,
    /// Places per block dimension; empty for one place.
    places: Vec<u32>,
}

impl Allocation {
    /// The same rule for the tile at a block index.
    pub fn of_block(&self, index: &[u32]) -> Allocation {
        Allocation {
            index: index.to_vec(),
            ..self.clone()
        }
    }
}

impl Ring {
    /// Where the tile at a block index lies, if a place is `step` wide.
    fn at(&self, index: &[u32], step: u32, span: Span) -> Result<u32> {
        if !self.places.is_empty() && self.places.len() != index.len() {
            let message = format!(
                "{} counts places along {}; the tensor has {}",
                self.name,
                dimensions(self.places.len()),
                dimensions(index.len())
            );
            let help = "give one number for each dimension before nl.par_dim".to_string();
            return Err(bad_allocation(message, help, span));
        }
        let place = index
            .iter()
            .zip(&self.places)
            .fold(0u64, |at, (&index, &places)| {
                at.saturating_mul(places.into()) + u64::from(index % places)
            });
        let at = u64::from(self.base).saturating_add(place.saturating_mul(step.into()));
        u32::try_from(at).map_err(|_| Error::value_error(format!("an address of {at}"), span))
    }
}

fn dimensions(count: usize) -> String {
    match count {
        0 => "no block dimension".to_string(),
        1 => "1 block dimension".to_string(),
        _ => format!("{count} block dimensions"),
    }
}

fn bad_allocation(message: String, help: String, span: Span) -> Box<Error> {
    Error::new(Mistake::Allocation { message, help }, span)
}

impl Evaluator<'_> {
    /// A call of `nki.compiler.sbuf.NAME` or `nki.compiler.psum.NAME`.
    pub fn allocation(&mut self, path: &str, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let (memory, function) = path.split_once('.').unwrap_or((path, ""));
        let region = if memory == "psum" {
            Region::Psum
        } else {
            Region::Sbuf
        };
        let called = format!("nki.compiler.{path}");
        // NKI traces the body of a loop once, so its kernels count addresses up in it as if it ran once.
        let place = self
            .around
            .iter()
            .any(|it| it.is_traced)
            .then(|| self.place(span));
        if let Some(known) = place.as_ref().and_then(|it| self.allocations.get(it)) {
            return Ok(Value::Allocation(known.clone()));
        }
        let rule = match function {
            "auto_alloc" => {
                let [] = args.bind(called, [], 0)?;
                return Ok(Value::Buffer(region));
            }
            "alloc" => {
                let [func] = args.bind(called, ["func"], 1)?;
                Rule::Function(super::builtins::required(func))
            }
            "mod_alloc" => {
                let (mut bank, mut bank_tiles) = (None, None);
                let (byte, partition, par_tiles, free_tiles);
                if region == Region::Psum {
                    let names = [
                        "base_bank",
                        "base_addr",
                        "base_partition",
                        "num_bank_tiles",
                        "num_par_tiles",
                        "num_free_tiles",
                    ];
                    [bank, byte, partition, bank_tiles, par_tiles, free_tiles] =
                        args.bind(called, names, 1)?;
                } else {
                    let names = ["base_addr", "base_partition", "num_par_tiles", "num_free_tiles"];
                    [byte, partition, par_tiles, free_tiles] = args.bind(called, names, 1)?;
                }
                Rule::Modular {
                    bank: ring("num_bank_tiles", bank, bank_tiles, span)?,
                    partition: ring("num_par_tiles", partition, par_tiles, span)?,
                    byte: ring("num_free_tiles", byte, free_tiles, span)?,
                }
            }
            _ => {
                let of = format!("nki.compiler.{memory}");
                return Err(no_attribute(of, function, FUNCTIONS.iter().copied(), span));
            }
        };
        let allocation = Rc::new(Allocation {
            region,
            rule: Rc::new(rule),
            index: Vec::new(),
        });
        if let Some(place) = place {
            self.allocations.insert(place, allocation.clone());
        }
        Ok(Value::Allocation(allocation))
    }

    fn place(&self, span: Span) -> Place {
        let around = self.around.iter().map(|it| match it.frame {
            LocFrame::Iteration(number) if !it.is_traced => (it.span, Some(number)),
            _ => (it.span, None),
        });
        (span, around.collect())
    }

    /// Where a tile lies that takes so many bytes of so many partitions.
    pub fn allocated(
        &mut self,
        allocation: &Allocation,
        partitions: u32,
        bytes: u32,
        span: Span,
    ) -> Result<Request> {
        let Allocation { region, rule, index } = allocation;
        let (bank, partition, byte) = match &**rule {
            Rule::Modular {
                bank,
                partition,
                byte,
            } => (
                bank.at(index, 1, span)?,
                partition.at(index, partitions, span)?,
                byte.at(index, bytes, span)?,
            ),
            Rule::Function(function) => {
                let ints = index.iter().map(|&it| Value::Int(it.into())).collect();
                let sizes = [partitions, bytes].map(|it| Value::Int(it.into()));
                let args = std::iter::once(Value::tuple(ints)).chain(sizes);
                let args = match function {
                    // What is given already may come before them, so they go by name.
                    Value::Partial(_) => {
                        let names = ["idx", "pdim_size", "fdim_size"].map(Rc::from);
                        CallArgs::with(Vec::new(), names.into_iter().zip(args).collect(), span)
                    }
                    _ => CallArgs::of(args.collect(), span),
                };
                let place = self.call(function, args)?;
                function_result(&place, *region, span)?
            }
        };
        if *region != Region::Psum {
            return Ok(Request { partition, byte });
        }
        let bank_bytes = self.target.psum_bank_bytes;
        let n_banks = self.target.psum_banks();
        if bank >= n_banks {
            let message = format!("a tile in bank {bank} of PSUM; the last bank is {}", n_banks - 1);
            let help = format!("let the bank be at most {}", n_banks - 1);
            return Err(bad_allocation(message, help, span));
        }
        if bytes > bank_bytes {
            let message =
                format!("a tile of {bytes} bytes per partition in a bank of PSUM, which has {bank_bytes}");
            let help = "split the free dimension into a block dimension".to_string();
            return Err(bad_allocation(message, help, span));
        }
        Ok(Request {
            partition,
            byte: (bank * bank_bytes).saturating_add(byte),
        })
    }
}

fn ring(name: &'static str, base: Option<Value>, places: Option<Value>, span: Span) -> Result<Ring> {
    let base = match base {
        None | Some(Value::None) => 0,
        Some(it) => {
            let base = it.as_int().and_then(|it| u32::try_from(it).ok());
            base.ok_or_else(|| {
                let message = format!("an address is an int of at least 0, not {}", it.repr());
                Error::value_error(message, span)
            })?
        }
    };
    let places = match places {
        None | Some(Value::None) => Vec::new(),
        Some(Value::Tuple(it)) if it.is_empty() => Vec::new(),
        Some(it) => shape_of(&it, span)?,
    };
    Ok(Ring { name, base, places })
}

/// `(partition, byte)` in SBUF, `(bank, partition, byte)` in PSUM.
fn function_result(place: &Value, region: Region, span: Span) -> Result<(u32, u32, u32)> {
    let items = place.items().unwrap_or_default();
    let ints: Option<Vec<u32>> = items
        .iter()
        .map(|it| it.as_int().and_then(|it| u32::try_from(it).ok()))
        .collect();
    match (region, ints.as_deref()) {
        (Region::Psum, Some(&[bank, partition, byte])) => Ok((bank, partition, byte)),
        (Region::Psum, _) => Err(not_a_place("(bank, partition, byte)", place, span)),
        (_, Some(&[partition, byte])) => Ok((0, partition, byte)),
        _ => Err(not_a_place("(partition, byte)", place, span)),
    }
}

fn not_a_place(wanted: &str, place: &Value, span: Span) -> Box<Error> {
    let given = match place {
        Value::Tuple(_) => place.repr(),
        _ => with_article(place.kind()),
    };
    let message = format!("the function places a tile at {given}");
    let help = format!("return {wanted}, each an int of at least 0");
    bad_allocation(message, help, span)
}
