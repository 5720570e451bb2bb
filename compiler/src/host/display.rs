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
        self.write(f, MAX_SHOWN)
    }
}

/// An array that shows the ends of its axes when it has more elements than a limit.
struct Shortened<'a>(&'a HostArray, usize);

impl fmt::Display for Shortened<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, self.1)
    }
}

impl HostArray {
    /// The text of an array, of which one with more than `max_shown` elements shows the ends of its axes.
    pub fn shortened(&self, max_shown: usize) -> String {
        Shortened(self, max_shown).to_string()
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, max_shown: usize) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("[]");
        }
        let edge = if self.len() > max_shown {
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

/// The numbers with as few digits as tell them apart, at most 8 after the point.
fn number_texts(values: &[f64], dtype: HostDtype) -> Vec<String> {
    match dtype {
        HostDtype::Bool => values
            .iter()
            .map(|it| if *it != 0.0 { "True" } else { "False" }.into())
            .collect(),
        _ if dtype.is_int() => values.iter().map(|it| format!("{it:.0}")).collect(),
        _ => float_texts(values, dtype),
    }
}

const MAX_DIGITS: usize = 8;

fn float_texts(values: &[f64], dtype: HostDtype) -> Vec<String> {
    let sizes = || {
        values
            .iter()
            .map(|it| it.abs())
            .filter(|it| it.is_finite() && *it > 0.0)
    };
    let (low, high) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    // NumPy's rule for the switch to scientific notation.
    let scientific = high >= 1e8 || low < 1e-4 || high / low > 1e3;
    let fixed = |value: f64, n_digits: usize| {
        if scientific {
            format!("{value:.n_digits$e}")
        } else {
            format!("{value:.n_digits$}")
        }
    };
    // The fewest digits that read back as the same value of the type, or that lose nothing of the longest text.
    let n_digits = |value: f64| {
        let read = |n_digits: usize| fixed(value, n_digits).parse().unwrap_or(f64::NAN);
        let enough = |it: &usize| dtype.round(read(*it)) == value || read(*it) == read(MAX_DIGITS);
        (0..MAX_DIGITS).find(enough).unwrap_or(MAX_DIGITS)
    };
    let longest = values
        .iter()
        .filter(|it| it.is_finite())
        .map(|it| n_digits(*it))
        .max()
        .unwrap_or(0);
    let text = |value: f64| match value {
        _ if value.is_nan() => "nan".into(),
        f64::INFINITY => "inf".into(),
        f64::NEG_INFINITY => "-inf".into(),
        _ if scientific => {
            let text = fixed(value, longest);
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let (sign, size) = exponent.strip_prefix('-').map_or(('+', exponent), |it| ('-', it));
            format!(
                "{mantissa}{}e{sign}{size:0>2}",
                if longest == 0 { "." } else { "" }
            )
        }
        _ => {
            let n_digits = n_digits(value);
            let point = if n_digits == 0 { "." } else { "" };
            format!(
                "{}{point}{}",
                fixed(value, n_digits),
                " ".repeat(longest - n_digits)
            )
        }
    };
    values.iter().map(|it| text(*it)).collect()
}
