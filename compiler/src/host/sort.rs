//! Order: sort, argsort, unique values, membership, searching.
//!
//! NaN sorts last, and every sort is stable, whatever `kind` says.

use super::bind::Call;
use super::shape::reshape_to;
use super::{Arg, HostArray, HostDtype, HostResult};
use ndarray::Axis;
use std::cmp::Ordering;

fn ascending(a: &f64, b: &f64) -> Ordering {
    a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Replaces every row along the axis by what the function makes of it.
fn along_axis(call: &Call, dtype: Option<HostDtype>, row: impl Fn(&mut Vec<f64>)) -> HostResult<Arg> {
    let array = call.array("a")?;
    let (array, axis) = match call.given("axis") {
        Some(Arg::None) => (reshape_to(&array, &[array.len()]), 0),
        _ => {
            let axis = call.axis_or("axis", -1, array.n_dims())?;
            (array, axis)
        }
    };
    let mut data = array.view().to_owned();
    for mut lane in data.lanes_mut(Axis(axis)) {
        let mut values = lane.to_vec();
        row(&mut values);
        lane.iter_mut().zip(values).for_each(|(it, value)| *it = value);
    }
    Ok(HostArray::from_exact(data, dtype.unwrap_or(array.dtype())).into())
}

pub fn sort(call: &Call) -> HostResult<Arg> {
    along_axis(call, None, |row| row.sort_by(ascending))
}

pub fn arg_sort(call: &Call) -> HostResult<Arg> {
    along_axis(call, Some(HostDtype::I64), |row| {
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(|a, b| ascending(&row[*a], &row[*b]));
        *row = order.into_iter().map(|it| it as f64).collect();
    })
}

/// `unique(ar, return_index, return_inverse, return_counts)`.
pub fn unique(call: &Call) -> HostResult<Arg> {
    let array = call.array("ar")?;
    let values = array.to_vec();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| ascending(&values[*a], &values[*b]));
    let (mut found, mut first, mut counts): (Vec<f64>, Vec<f64>, Vec<f64>) = Default::default();
    let mut inverse = vec![0.0; values.len()];
    for at in order {
        let same = |last: &f64| *last == values[at] || (last.is_nan() && values[at].is_nan());
        if !found.last().is_some_and(same) {
            found.push(values[at]);
            first.push(at as f64);
            counts.push(0.0);
        }
        if let Some(count) = counts.last_mut() {
            *count += 1.0;
        }
        inverse[at] = (found.len() - 1) as f64;
    }
    let ints = |values: Vec<f64>| HostArray::vector(values, HostDtype::I64);
    let mut results = vec![HostArray::vector(found, array.dtype()).into()];
    if call.flag("return_index")? {
        results.push(ints(first).into());
    }
    if call.flag("return_inverse")? {
        results.push(reshape_to(&ints(inverse), array.shape()).into());
    }
    if call.flag("return_counts")? {
        results.push(ints(counts).into());
    }
    Ok(if results.len() == 1 {
        results.remove(0)
    } else {
        Arg::Tuple(results)
    })
}

/// `isin(element, test_elements)`.
pub fn is_in(call: &Call) -> HostResult<Arg> {
    let mut tests = call.array("test_elements")?.to_vec();
    tests.sort_by(ascending);
    let found = |value: f64| {
        f64::from(u8::from(
            tests.binary_search_by(|it| ascending(it, &value)).is_ok() && !value.is_nan(),
        ))
    };
    let data = super::elementwise::map(&call.array("element")?, found);
    Ok(HostArray::from_exact(data, HostDtype::Bool).into())
}

/// `searchsorted(a, v, side)`.
pub fn search_sorted(call: &Call) -> HostResult<Arg> {
    let sorted = call.array("a")?.to_vec();
    let right = match call.text_or("side", "left")? {
        "left" => false,
        "right" => true,
        _ => return Err(call.bad("side must be \"left\" or \"right\"")),
    };
    let place = |value: f64| {
        let before = |it: &f64| match ascending(it, &value) {
            Ordering::Less => true,
            Ordering::Equal => right,
            Ordering::Greater => false,
        };
        sorted.partition_point(before) as f64
    };
    Ok(HostArray::from_exact(super::elementwise::map(&call.array("v")?, place), HostDtype::I64).into())
}
