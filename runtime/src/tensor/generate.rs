//! Generators: tensors made from a seed, the same on every host.
//!
//! The source of randomness is PCG64 (XSL-RR 128/64, O'Neill 2014), seeded with the seed as its state. Normal numbers
//! come from a ziggurat of 256 layers (Marsaglia and Tsang 2000, in Doornik's form) whose tables are made with `libm`;
//! uniform numbers are 53 bits over 2^53. Each element uses the stream in row-major order and is then rounded to f32 and
//! to the dtype.

use super::{Error, MAX_BYTES, Tensor, byte_count, push};
use nk_compiler::dtype::Dtype;
use std::sync::LazyLock;

/// What the elements are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Generator {
    Zeros,
    Ones,
    /// 0, 1, 2, … in row-major order.
    Arange,
    /// Normal, of mean 0 and deviation 1.
    Randn {
        seed: u64,
    },
    /// At least `low`, below `high`.
    Uniform {
        low: f64,
        high: f64,
        seed: u64,
    },
    /// Integers, at least `low`, below `high`.
    Randint {
        low: i64,
        high: i64,
        seed: u64,
    },
}

impl Generator {
    pub fn make(&self, dtype: Dtype, shape: &[usize]) -> Result<Tensor, Error> {
        let too_large = |bytes| Error::TooLarge {
            what: format!("{}{shape:?}", dtype.name()),
            bytes,
        };
        let n_bytes = byte_count(dtype, shape);
        let n_bytes = n_bytes
            .filter(|&it| it <= MAX_BYTES)
            .ok_or_else(|| too_large(n_bytes))?;
        let mut bytes = Vec::new();
        let n_reserved = usize::try_from(n_bytes).map_err(|_| too_large(Some(n_bytes)))?;
        bytes
            .try_reserve_exact(n_reserved)
            .map_err(|_| too_large(Some(n_bytes)))?;
        let count = n_bytes / u64::from(dtype.size());
        match *self {
            Generator::Zeros => bytes.resize(n_reserved, 0),
            Generator::Ones => (0..count).for_each(|_| push(&mut bytes, dtype, 1.0)),
            Generator::Arange => (0..count).for_each(|it| push(&mut bytes, dtype, it as f64)),
            Generator::Randn { seed } => {
                let mut pcg = Pcg::new(seed);
                (0..count).for_each(|_| push(&mut bytes, dtype, pcg.normal()));
            }
            Generator::Uniform { low, high, seed } => {
                let mut pcg = Pcg::new(seed);
                (0..count).for_each(|_| push(&mut bytes, dtype, low + (high - low) * pcg.unit()));
            }
            Generator::Randint { low, high, seed } => {
                let mut pcg = Pcg::new(seed);
                (0..count).for_each(|_| push(&mut bytes, dtype, pcg.integer(low, high) as f64));
            }
        }
        Ok(Tensor::new(dtype, shape.to_vec(), bytes).expect("every element was pushed"))
    }
}

/// PCG64, XSL-RR 128/64.
struct Pcg {
    state: u128,
}

const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;
const INCREMENT: u128 = 0x5851_f42d_4c95_7f2d_1405_7b7e_f767_814f;

impl Pcg {
    fn new(seed: u64) -> Pcg {
        let mut pcg = Pcg {
            state: u128::from(seed).wrapping_add(INCREMENT),
        };
        pcg.next();
        pcg
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    /// At least 0, below 1.
    fn unit(&mut self) -> f64 {
        unit(self.next())
    }

    fn integer(&mut self, low: i64, high: i64) -> i64 {
        let span = high.wrapping_sub(low) as u64;
        // The high word of the product is uniform up to a bias of span / 2^64.
        let offset = (u128::from(self.next()) * u128::from(span)) >> 64;
        low.wrapping_add(offset as i64)
    }

    fn normal(&mut self) -> f64 {
        let ziggurat = &*ZIGGURAT;
        loop {
            let word = self.next();
            // The low bits, which `unit` drops, choose the layer.
            let layer = (word & 0xff) as usize;
            let x = (2.0 * unit(word) - 1.0) * ziggurat.x[layer];
            if x.abs() < ziggurat.x[layer + 1] {
                return x;
            }
            if layer == 0 {
                return if x < 0.0 { -self.tail() } else { self.tail() };
            }
            let (low, high) = (ziggurat.density[layer], ziggurat.density[layer + 1]);
            if low + (high - low) * self.unit() < libm::exp(-0.5 * x * x) {
                return x;
            }
        }
    }

    /// A normal number beyond the lowest layer.
    fn tail(&mut self) -> f64 {
        loop {
            // 1 - unit is never 0, so the logarithms are finite.
            let x = -libm::log(1.0 - self.unit()) / TAIL_START;
            let y = -libm::log(1.0 - self.unit());
            if 2.0 * y > x * x {
                return TAIL_START + x;
            }
        }
    }
}

/// 53 bits as a number of at least 0 and below 1.
fn unit(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

const N_LAYERS: usize = 256;
/// Where the tail begins, and the area of each layer, for 256 layers.
const TAIL_START: f64 = 3.654_152_885_361_009;
const LAYER_AREA: f64 = 0.004_928_673_233_974_655;

/// The layers: their right ends, widest first, and the densities there.
struct Ziggurat {
    x: [f64; N_LAYERS + 1],
    density: [f64; N_LAYERS + 1],
}

static ZIGGURAT: LazyLock<Ziggurat> = LazyLock::new(|| {
    let density = |x: f64| libm::exp(-0.5 * x * x);
    let mut x = [0.0; N_LAYERS + 1];
    // The lowest layer is as wide as if it were a rectangle, tail included.
    x[0] = LAYER_AREA / density(TAIL_START);
    x[1] = TAIL_START;
    for layer in 2..N_LAYERS {
        let top = LAYER_AREA / x[layer - 1] + density(x[layer - 1]);
        x[layer] = libm::sqrt(-2.0 * libm::log(top));
    }
    Ziggurat {
        x,
        density: x.map(density),
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_have_the_moments_of_the_normal_distribution() {
        let mut pcg = Pcg::new(1);
        let n = 1_000_000;
        let mut moments = [0.0; 5];
        let mut beyond = 0;
        for _ in 0..n {
            let x = pcg.normal();
            (0..5).for_each(|it| moments[it] += x.powi(it as i32) / f64::from(n));
            beyond += u32::from(x.abs() > 3.0);
        }
        // Five standard errors of each moment.
        assert!(moments[1].abs() < 0.005, "{moments:?}");
        assert!((moments[2] - 1.0).abs() < 0.0075, "{moments:?}");
        assert!(moments[3].abs() < 0.02, "{moments:?}");
        assert!((moments[4] - 3.0).abs() < 0.05, "{moments:?}");
        assert!(
            (2440..2960).contains(&beyond),
            "{beyond} of {n} are beyond 3; 2700 are expected"
        );
    }

    #[test]
    fn the_layers_meet_at_the_top() {
        let last = ZIGGURAT.x[N_LAYERS - 1];
        let area = last * (1.0 - ZIGGURAT.density[N_LAYERS - 1]);
        assert!((area - LAYER_AREA).abs() < 1e-9, "{area}");
    }

    #[test]
    fn generators_are_the_same_for_ever() {
        let first = |generator: Generator| generator.make(Dtype::F32, &[4]).unwrap().to_f64();
        insta::assert_debug_snapshot!([
            first(Generator::Randn { seed: 0 }),
            first(Generator::Uniform {
                low: -1.0,
                high: 1.0,
                seed: 7
            }),
            first(Generator::Randint {
                low: -5,
                high: 5,
                seed: 3
            }),
        ]);
    }
}
