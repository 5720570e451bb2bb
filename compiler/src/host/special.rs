//! Functions of one or two numbers that neither Rust nor NumPy's core has: Python's division, erf, gamma, sigmoid.
//!
//! Takes and gives f64; bits do not depend on the host.

/// The error function, within one unit in the last place.
pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

/// `1 - erf(x)`, accurate where `erf` is near 1.
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

pub fn gamma(x: f64) -> f64 {
    libm::tgamma(x)
}

/// The logarithm of the absolute value of `gamma(x)`.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// The logistic function `1 / (1 + exp(-x))`.
pub fn expit(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

/// Python's `a % b` on floats: the sign follows the divisor.
pub fn remainder(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest == 0.0 {
        return 0.0f64.copysign(b);
    }
    if (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
}

/// Python's `a // b` on floats.
pub fn floor_divide(a: f64, b: f64) -> f64 {
    if b == 0.0 {
        return a / b;
    }
    let quotient = (a - remainder(a, b)) / b;
    if quotient == 0.0 {
        return 0.0f64.copysign(a / b);
    }
    // The exact quotient is whole, so the computed one is off by less than a half.
    let floor = quotient.floor();
    if quotient - floor > 0.5 {
        floor + 1.0
    } else {
        floor
    }
}
