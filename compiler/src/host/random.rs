//! Random arrays: `np.random`, `RandomState` and `default_rng`.
//!
//! The generator is xoshiro256++, seeded through SplitMix64; normal values come from the Box-Muller transform. A seed
//! gives the same values on every host and in every release, but not those of NumPy.

use super::bind::{Call, bind};
use super::create::{filled, to_array};
use super::shape::reshape_to;
use super::{Arg, HostArray, HostDtype, HostError, HostResult};
use crate::diagnostic::nearest;
use ndarray::Axis;

/// Everything that a call may change: the random generators.
#[derive(Clone, Debug)]
pub struct HostState {
    generators: Vec<Random>,
}

/// One of the generators of a [`HostState`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratorId(usize);

/// The generator behind `np.random.rand` and its like, before a seed is set.
const MODULE: GeneratorId = GeneratorId(0);
const MAX_GENERATORS: usize = 1 << 16;

impl Default for HostState {
    fn default() -> HostState {
        HostState {
            generators: vec![Random::from_seed(0)],
        }
    }
}

#[derive(Clone, Debug)]
struct Random {
    state: [u64; 4],
    /// The second value of the last pair of normal values.
    spare: Option<f64>,
}

impl Random {
    fn from_seed(seed: i64) -> Random {
        let mut mix = seed as u64;
        let state = [(); 4].map(|()| {
            mix = mix.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let word = (mix ^ (mix >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^ (word >> 31)
        });
        Random { state, spare: None }
    }

    fn next(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// At least 0, less than 1.
    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        if let Some(value) = self.spare.take() {
            return value;
        }
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        let angle = std::f64::consts::TAU * self.uniform();
        self.spare = Some(radius * libm::sin(angle));
        radius * libm::cos(angle)
    }

    /// At least 0, less than the bound, every value equally likely.
    fn below(&mut self, bound: u64) -> u64 {
        let limit = u64::MAX - u64::MAX % bound;
        loop {
            let word = self.next();
            if word < limit {
                return word % bound;
            }
        }
    }
}

type Draw = fn(&Call, &mut Random) -> HostResult<Arg>;

/// The functions that draw, by their name after `np.random.` or as methods of a generator.
const DRAWS: &[(&str, &str, Draw)] = &[
    ("rand", "*shape", rand),
    ("randn", "*shape", randn),
    ("random", "size=, dtype=", random),
    ("random_sample", "size=", random),
    ("uniform", "low=, high=, size=", uniform),
    ("normal", "loc=, scale=, size=", normal),
    ("standard_normal", "size=, dtype=", standard_normal),
    ("randint", "low, high=, size=, dtype=", randint),
    ("integers", "low, high=, size=, dtype=, endpoint=", randint),
    ("permutation", "x", permutation),
    ("choice", "a, size=, replace=, p=", choice),
];

/// The functions that set or make a generator.
const SEEDS: &[(&str, &str)] = &[
    ("seed", "seed="),
    ("RandomState", "seed="),
    ("default_rng", "seed="),
];

/// The names after `np.random.`.
pub fn names() -> impl Iterator<Item = &'static str> {
    DRAWS.iter().map(|it| it.0).chain(SEEDS.iter().map(|it| it.0))
}

/// `np.random.NAME(…)`; `None` when there is no such function.
pub fn call_module(
    name: &str,
    args: &[Arg],
    kwargs: &[(String, Arg)],
    state: &mut HostState,
) -> Option<HostResult<Arg>> {
    if let Some(seed) = SEEDS.iter().find(|it| it.0 == name) {
        return Some(bind(seed.0, seed.1, args, kwargs).and_then(|call| plant(&call, state)));
    }
    draw(name, args, kwargs, &mut state.generators[MODULE.0])
}

fn draw(name: &str, args: &[Arg], kwargs: &[(String, Arg)], random: &mut Random) -> Option<HostResult<Arg>> {
    let row = DRAWS.iter().find(|it| it.0 == name)?;
    Some(bind(row.0, row.1, args, kwargs).and_then(|call| (row.2)(&call, random)))
}

/// A method of a generator.
pub fn generator_method(
    generator: GeneratorId,
    name: &str,
    args: &[Arg],
    kwargs: &[(String, Arg)],
    state: &mut HostState,
) -> HostResult<Arg> {
    let random = &mut state.generators[generator.0];
    if name == "seed" {
        *random = Random::from_seed(bind("seed", "seed=", args, kwargs)?.int_or("seed", 0)?);
        return Ok(Arg::None);
    }
    let unknown = || HostError::UnknownMethod {
        name: name.into(),
        near: nearest(name, DRAWS.iter().map(|it| it.0)).map(String::from),
    };
    draw(name, args, kwargs, random).unwrap_or_else(|| Err(unknown()))
}

fn plant(call: &Call, state: &mut HostState) -> HostResult<Arg> {
    // Runs must repeat, so a missing seed is 0 and not the time of day.
    let random = Random::from_seed(call.int_or("seed", 0)?);
    if call.function == "seed" {
        state.generators[MODULE.0] = random;
        return Ok(Arg::None);
    }
    if state.generators.len() >= MAX_GENERATORS {
        return Err(call.bad(format!("more than {MAX_GENERATORS} generators")));
    }
    state.generators.push(random);
    Ok(Arg::Generator(GeneratorId(state.generators.len() - 1)))
}

/// As many values as the shape has; without a shape, one number.
fn fill(shape: Option<Vec<usize>>, dtype: HostDtype, mut next: impl FnMut() -> f64) -> Arg {
    match shape {
        None => super::number(dtype.round(next()), dtype),
        Some(shape) => {
            let values = (0..shape.iter().product()).map(|_| next()).collect();
            HostArray::from_rounded(filled(&shape, values), dtype).into()
        }
    }
}

fn size(call: &Call) -> HostResult<Option<Vec<usize>>> {
    call.opt("size").map(|_| call.shape("size")).transpose()
}

/// The shape given as separate arguments.
fn shape_arguments(call: &Call) -> HostResult<Option<Vec<usize>>> {
    let sizes: Option<Vec<i64>> = call.rest.iter().map(super::bind::as_int).collect();
    let sizes = sizes.ok_or_else(|| call.bad("the sizes must be integers"))?;
    Ok(if sizes.is_empty() {
        None
    } else {
        Some(super::bind::to_shape(&sizes)?)
    })
}

fn rand(call: &Call, random: &mut Random) -> HostResult<Arg> {
    Ok(fill(shape_arguments(call)?, HostDtype::F64, || random.uniform()))
}

fn randn(call: &Call, random: &mut Random) -> HostResult<Arg> {
    Ok(fill(shape_arguments(call)?, HostDtype::F64, || random.normal()))
}

fn random(call: &Call, random: &mut Random) -> HostResult<Arg> {
    let dtype = if call.function == "random" {
        call.dtype("dtype")?
    } else {
        None
    };
    Ok(fill(size(call)?, dtype.unwrap_or(HostDtype::F64), || {
        random.uniform()
    }))
}

fn standard_normal(call: &Call, random: &mut Random) -> HostResult<Arg> {
    Ok(fill(
        size(call)?,
        call.dtype("dtype")?.unwrap_or(HostDtype::F64),
        || random.normal(),
    ))
}

fn uniform(call: &Call, random: &mut Random) -> HostResult<Arg> {
    let (low, high) = (call.float_or("low", 0.0)?, call.float_or("high", 1.0)?);
    Ok(fill(size(call)?, HostDtype::F64, || {
        low + (high - low) * random.uniform()
    }))
}

fn normal(call: &Call, random: &mut Random) -> HostResult<Arg> {
    let (mean, deviation) = (call.float_or("loc", 0.0)?, call.float_or("scale", 1.0)?);
    Ok(fill(size(call)?, HostDtype::F64, || {
        mean + deviation * random.normal()
    }))
}

fn randint(call: &Call, random: &mut Random) -> HostResult<Arg> {
    let first = call.int("low")?;
    let (low, high) = if call.opt("high").is_some() {
        (first, call.int("high")?)
    } else {
        (0, first)
    };
    let closed = call.function == "integers" && call.flag("endpoint")?;
    let high = if closed { high.saturating_add(1) } else { high };
    let span = i128::from(high) - i128::from(low);
    let span = u64::try_from(span).ok().filter(|it| *it > 0);
    let span = span.ok_or_else(|| call.bad(format!("there is no integer from {low} to below {high}")))?;
    let dtype = call.dtype("dtype")?.unwrap_or(HostDtype::I64);
    Ok(fill(size(call)?, dtype, || {
        low as f64 + random.below(span) as f64
    }))
}

/// The positions of `count` elements in random order.
fn shuffled(count: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        order.swap(at, random.below(at as u64 + 1) as usize);
    }
    order
}

/// An integer counts as `arange`; an array is shuffled along its first axis.
fn population(call: &Call, name: &'static str) -> HostResult<HostArray> {
    let arg = call.need(name)?;
    let array = to_array(arg)?;
    if array.n_dims() > 0 {
        return Ok(array);
    }
    let shape = super::bind::to_shape(&[call.int(name)?])?;
    Ok(HostArray::vector(
        (0..shape[0]).map(|it| it as f64).collect(),
        HostDtype::I64,
    ))
}

fn permutation(call: &Call, random: &mut Random) -> HostResult<Arg> {
    let array = population(call, "x")?;
    let order = shuffled(array.shape()[0], random);
    Ok(HostArray::from_exact(array.view().select(Axis(0), &order), array.dtype()).into())
}

fn choice(call: &Call, random: &mut Random) -> HostResult<Arg> {
    let array = population(call, "a")?;
    if call.opt("p").is_some() {
        return Err(call.bad("weights `p` are not supported"));
    }
    let (shape, count) = (size(call)?, array.shape()[0]);
    let n_wanted: usize = shape.as_ref().map_or(1, |it| it.iter().product());
    let replace = call.opt("replace").is_none() || call.flag("replace")?;
    if (count == 0 && n_wanted > 0) || (!replace && n_wanted > count) {
        return Err(call.bad(format!(
            "{n_wanted} elements asked for, but there are only {count}"
        )));
    }
    let full = [&shape.unwrap_or_default()[..], &array.shape()[1..]].concat();
    super::array::check_size(&full)?;
    let picks: Vec<usize> = if replace {
        (0..n_wanted)
            .map(|_| random.below(count as u64) as usize)
            .collect()
    } else {
        shuffled(count, random).into_iter().take(n_wanted).collect()
    };
    let chosen = HostArray::from_exact(array.view().select(Axis(0), &picks), array.dtype());
    Ok(reshape_to(&chosen, &full).into())
}
