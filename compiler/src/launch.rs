//! A launch: the programs of one kernel that run together, which core each gets, and what they share.
//!
//! Takes grids as text and compiled programs, gives cores and keys of shared tensors; `race` finds accesses that nothing
//! orders. Never runs anything.
//!
//! AWS's NeuronCore-v2 has logical cores of one core only. That `nl.nc(2)` puts the programs of a launch on both cores of
//! a chip, and that `nisa.core_barrier` orders them there, is an extension of ours.

mod race;

pub use race::{Races, Site};

use crate::Compiled;
use crate::directive::split;
use crate::ir::{Name, Role};
use crate::source::Span;
use crate::target::TARGETS;

/// Where a program stands among those that run with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Among the ranks that exchange tensors.
    pub rank: u32,
    pub n_ranks: u32,
    /// Whether the launch is one program on each of the two cores of a chip.
    pub is_paired: bool,
}

impl Default for Place {
    fn default() -> Place {
        Place {
            rank: 0,
            n_ranks: 1,
            is_paired: false,
        }
    }
}

/// The grid of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    pub sizes: Vec<u32>,
    /// The axis along which programs go to the two cores of a chip.
    pub split: Option<Split>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    pub axis: usize,
    pub deal: Deal,
}

/// How the programs along an axis are dealt to cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deal {
    /// `nl.spmd_dim(nl.nc(2), n)`: the first half to the first core.
    Blocks,
    /// `nl.spmd_dim(n, nl.nc(2))`: in turns.
    Turns,
}

/// The cores that `nl.nc` can name: those of a chip, of which every target has as many.
const CORES: u32 = TARGETS[0].cores;

/// A size inside of an axis: plain, or of cores.
enum Part {
    Programs(u32),
    Cores(u32),
}

impl Grid {
    /// Reads `4`, `2,3`, `nl.nc(2)`, `nl.spmd_dim(nl.nc(2), 4)`.
    pub fn parse(text: &str) -> Result<Grid, String> {
        let mut grid = Grid::default();
        for (axis, piece) in split(text).into_iter().enumerate() {
            let piece = piece.trim().trim_start_matches("nl.");
            let inside = piece
                .strip_prefix("spmd_dim(")
                .and_then(|it| it.strip_suffix(')'));
            let (size, deal) = match inside {
                None => match part(piece)? {
                    Part::Programs(size) => (size, None),
                    Part::Cores(n) => (n, Some((n, Deal::Blocks))),
                },
                Some(inside) => {
                    let parts = split(inside)
                        .into_iter()
                        .map(part)
                        .collect::<Result<Vec<_>, _>>()?;
                    match parts[..] {
                        [Part::Cores(n), Part::Programs(size)] => {
                            (product(n, size)?, Some((n, Deal::Blocks)))
                        }
                        [Part::Programs(size), Part::Cores(n)] => (product(n, size)?, Some((n, Deal::Turns))),
                        _ => return Err("nl.spmd_dim takes a size and nl.nc(2), in either order".to_string()),
                    }
                }
            };
            grid.sizes.push(size);
            if let Some((_, deal)) = deal.filter(|it| it.0 > 1) {
                if grid.split.is_some() {
                    return Err("only one axis of a grid has nl.nc(2): a chip has two cores".to_string());
                }
                grid.split = Some(Split { axis, deal });
            }
        }
        Ok(grid)
    }

    /// Whether it is one program on each core of a chip.
    pub fn is_paired(&self) -> bool {
        self.split.is_some() && self.n_programs() == u64::from(CORES)
    }

    /// How many programs, as far as 64 bits count.
    pub fn n_programs(&self) -> u64 {
        let sizes = self.sizes.iter().map(|&it| u64::from(it));
        sizes.fold(1, u64::saturating_mul)
    }

    /// The coordinates of every program, the last axis fastest; one without coordinates when there is no grid.
    pub fn programs(&self) -> Vec<Vec<u32>> {
        let mut programs = vec![Vec::new()];
        for &size in &self.sizes {
            let longer = programs.iter().flat_map(|it| {
                (0..size).map(|idx| {
                    let mut longer = it.clone();
                    longer.push(idx);
                    longer
                })
            });
            programs = longer.collect();
        }
        programs
    }

    /// The core of the program with these coordinates, which is the `number`-th. Without `nl.nc` programs are dealt in
    /// turns.
    pub fn core_of(&self, program: &[u32], number: usize, n_cores: u32) -> u32 {
        let Some(Split { axis, deal }) = self.split else {
            return number as u32 % n_cores;
        };
        let core = match deal {
            Deal::Blocks => program[axis] / (self.sizes[axis] / CORES),
            Deal::Turns => program[axis] % CORES,
        };
        core % n_cores
    }
}

fn product(n: u32, size: u32) -> Result<u32, String> {
    n.checked_mul(size)
        .ok_or_else(|| format!("{n} times {size} programs are more than an axis of a grid counts"))
}

fn part(text: &str) -> Result<Part, String> {
    let text = text.trim().trim_start_matches("nl.");
    let size = |text: &str| {
        let size = text.trim().parse().ok().filter(|it: &u32| *it > 0);
        size.ok_or_else(|| format!("`{text}` is no size of a grid: write a number from 1, or nl.nc(2)"))
    };
    match text.strip_prefix("nc(").and_then(|it| it.strip_suffix(')')) {
        None => Ok(Part::Programs(size(text)?)),
        Some(inside) => match size(inside)? {
            n if n <= CORES => Ok(Part::Cores(n)),
            n => Err(format!("nl.nc({n}): a chip has {CORES} cores")),
        },
    }
}

/// What tells that tensors of two programs are one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// An argument, by its path.
    Input(String),
    /// A result, by its position.
    Result(usize),
    /// A tensor in `nl.shared_hbm`, made at one place.
    Made(Name, Option<Span>),
}

/// The key of each buffer of a program; `None` for those that are its own.
pub fn keys(compiled: &Compiled) -> Vec<Option<Key>> {
    let program = &compiled.program;
    let mut keys = vec![None; program.buffers.len()];
    for &id in &compiled.shared {
        let buffer = &program[id];
        keys[id.index()] = Some(Key::Made(buffer.name.clone(), program.span(buffer.loc)));
    }
    for (number, result) in program.results.iter().enumerate() {
        if program[result.buffer].role == Role::Out {
            keys[result.buffer.index()] = Some(Key::Result(number));
        }
    }
    for input in &compiled.inputs {
        keys[input.buffer.index()] = Some(Key::Input(input.path.clone()));
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_say_which_core_gets_a_program() {
        let cores = |text: &str| -> Vec<u32> {
            let grid = Grid::parse(text).expect("the grid is well-formed");
            let programs = grid.programs();
            let core = |(number, it): (usize, &Vec<u32>)| grid.core_of(it, number, 2);
            programs.iter().enumerate().map(core).collect()
        };
        assert_eq!(cores("4"), [0, 1, 0, 1]);
        assert_eq!(cores("nl.spmd_dim(nl.nc(2), 2)"), [0, 0, 1, 1]);
        assert_eq!(cores("nl.spmd_dim(2, nl.nc(2))"), [0, 1, 0, 1]);
        assert_eq!(cores("2,nl.nc(2)"), [0, 1, 0, 1]);
        assert!(Grid::parse("nl.nc(2)").is_ok_and(|it| it.is_paired()));
    }

    #[test]
    fn what_is_no_grid_is_said_so() {
        for text in [
            "0",
            "x",
            "nl.nc(3)",
            "nl.nc(2),nl.nc(2)",
            "nl.spmd_dim(2)",
            "nl.spmd_dim(nl.nc(2), 2147483649)",
            "-1",
        ] {
            assert!(Grid::parse(text).is_err(), "{text}");
        }
    }
}
