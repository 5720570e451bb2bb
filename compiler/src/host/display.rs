//! Arrays as NumPy prints them: nested brackets, aligned columns, the middle of long axes left out.

use super::{HostArray, HostDtype};
use ndarray::ArrayViewD;
use std::fmt;

/// Longer arrays are shown by the ends of their axes.
const MAX_SHOWN: usize = 1000;
/// Elements shown at each end of a long axis.
const EDGE: usize = 3;

impl fmt::Display for HostArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let edge = if self.len() > MAX_SHOWN {
            EDGE
        } else {
            usize::MAX / 2
        };
        let mut shown = Vec::new();
        collect(self.view(), edge, &mut shown);
        let texts = number_texts(&shown, self.dtype());
        let width = if self.n_dims() == 0 {
            0
        } else {
            texts.iter().map(String::len).max().unwrap_or(0)
        };
        let mut texts = texts.iter().map(|it| format!("{it:>width$}"));
        write_nested(f, self.shape(), edge, 1, &mut texts)
    }
}

/// The positions of an axis that are shown; `None` stands for the gap.
fn shown_positions(size: usize, edge: usize) -> Vec<Option<usize>> {
    if size <= 2 * edge {
        return (0..size).map(Some).collect();
    }
    (0..edge)
        .map(Some)
        .chain([None])
        .chain((size - edge..size).map(Some))
        .collect()
}

fn collect(view: ArrayViewD<'_, f64>, edge: usize, shown: &mut Vec<f64>) {
    if view.ndim() == 0 {
        shown.extend(view.iter());
        return;
    }
    for position in shown_positions(view.shape()[0], edge).into_iter().flatten() {
        collect(view.index_axis(ndarray::Axis(0), position), edge, shown);
    }
}

fn write_nested(
    f: &mut fmt::Formatter<'_>,
    shape: &[usize],
    edge: usize,
    depth: usize,
    texts: &mut impl Iterator<Item = String>,
) -> fmt::Result {
    let [size, inner @ ..] = shape else {
        return f.write_str(&texts.next().unwrap_or_default());
    };
    f.write_str("[")?;
    for (at, position) in shown_positions(*size, edge).into_iter().enumerate() {
        match inner.len() {
            _ if at == 0 => {}
            0 => f.write_str(" ")?,
            n => write!(f, "{}{:depth$}", "\n".repeat(n), "")?,
        }
        match position {
            Some(_) => write_nested(f, inner, edge, depth + 1, texts)?,
            None => f.write_str("...")?,
        }
    }
    f.write_str("]")
}

/// The numbers with as many digits as tell them apart, at most 8 after the point.
fn number_texts(values: &[f64], dtype: HostDtype) -> Vec<String> {
    match dtype {
        HostDtype::Bool => values
            .iter()
            .map(|it| if *it != 0.0 { "True" } else { "False" }.into())
            .collect(),
        _ if dtype.is_int() => values.iter().map(|it| format!("{it:.0}")).collect(),
        _ => float_texts(values),
    }
}

fn float_texts(values: &[f64]) -> Vec<String> {
    let sizes = || {
        values
            .iter()
            .map(|it| it.abs())
            .filter(|it| it.is_finite() && *it > 0.0)
    };
    let (low, high) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    // NumPy's rule for the switch to scientific notation.
    let scientific = high >= 1e8 || low < 1e-4 || high / low > 1e3 && low < 1.0 && high >= 1e5;
    let digits = |value: &f64| {
        let text = if scientific {
            format!("{value:.8e}")
        } else {
            format!("{value:.8}")
        };
        let mantissa = text.split('e').next().unwrap_or_default();
        mantissa
            .split('.')
            .nth(1)
            .map_or(0, |it| it.trim_end_matches('0').len())
    };
    let n_digits = values
        .iter()
        .filter(|it| it.is_finite())
        .map(digits)
        .max()
        .unwrap_or(0);
    let text = |value: &f64| match *value {
        _ if value.is_nan() => "nan".into(),
        f64::INFINITY => "inf".into(),
        f64::NEG_INFINITY => "-inf".into(),
        _ if scientific => {
            let text = format!("{value:.n_digits$e}");
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let (sign, size) = exponent.strip_prefix('-').map_or(('+', exponent), |it| ('-', it));
            format!(
                "{mantissa}{}e{sign}{size:0>2}",
                if n_digits == 0 { "." } else { "" }
            )
        }
        _ => format!("{value:.n_digits$}{}", if n_digits == 0 { "." } else { "" }),
    };
    values.iter().map(text).collect()
}
