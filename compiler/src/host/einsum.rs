//! Sums of products over labelled axes (`np.einsum`), pairwise from the left, each pair as a batched matrix product.

use super::array::check_size;
use super::bind::Call;
use super::create::to_array;
use super::elementwise::zip_map;
use super::linalg::{multiply_batches, product_type};
use super::reduce::{rows_over, sum_row};
use super::shape::{diagonal_of, permute, reshape_to, spread};
use super::{Arg, HostArray, HostDtype, HostError, HostResult};
use ndarray::{ArrayD, IxDyn};
use std::collections::BTreeMap;

/// An array and the label of each of its axes.
pub struct Term {
    pub array: HostArray,
    pub labels: Vec<u32>,
}

/// The axes that `...` stands for are labelled from here, the last one first.
const ELLIPSIS: u32 = 0x11_0000;

/// `einsum(subscripts, *operands)`.
pub fn einsum(call: &Call) -> HostResult<Arg> {
    let Arg::Str(subscripts) = call.need("subscripts")? else {
        return Err(call.wrong("subscripts", "a string", call.need("subscripts")?));
    };
    let refuse = |reason: String| HostError::Einsum {
        subscripts: subscripts.clone(),
        reason,
    };
    let text: String = subscripts.chars().filter(|it| !it.is_whitespace()).collect();
    let (inputs, output) = match text.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (&text[..], None),
    };
    let inputs: Vec<&str> = inputs.split(',').collect();
    if inputs.len() != call.rest.len() {
        return Err(refuse(format!(
            "names {} operands, {} given",
            inputs.len(),
            call.rest.len()
        )));
    }
    let mut terms = Vec::new();
    for (labels, arg) in inputs.iter().zip(call.rest) {
        let array = to_array(arg)?;
        let labels = read_labels(labels, Some(array.n_dims())).map_err(refuse)?;
        terms.push(Term { array, labels });
    }
    let output = match output {
        Some(output) => explicit_output(output, &terms).map_err(refuse)?,
        None => implicit_output(&terms),
    };
    let dtype = terms
        .iter()
        .map(|it| it.array.dtype())
        .reduce(product_type)
        .unwrap_or(HostDtype::F64);
    let sizes = label_sizes(&terms).map_err(refuse)?;
    for term in &mut terms {
        take_diagonals(term);
        // A size of 1 broadcasts to the size that its label has elsewhere.
        let shape: Vec<usize> = term.labels.iter().map(|it| sizes[it]).collect();
        if term.array.shape() != shape {
            check_size(&shape)?;
            term.array = spread(&term.array, &shape)?;
        }
    }
    call.cast(HostArray::from_rounded(contract(terms, &output)?, dtype))
}

/// The labels of one operand; `...` takes the axes that no letter names.
fn read_labels(text: &str, n_dims: Option<usize>) -> Result<Vec<u32>, String> {
    let n_letters = text.chars().filter(|it| *it != '.').count();
    let (before, after) = match text.split_once("...") {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    };
    let letters = |text: &str| -> Result<Vec<u32>, String> {
        match text.chars().find(|it| !it.is_ascii_alphabetic()) {
            Some(bad) => Err(format!("`{bad}` is not a label; labels are letters")),
            None => Ok(text.chars().map(u32::from).collect()),
        }
    };
    let mut labels = letters(before)?;
    if let Some(after) = after {
        let n_open = n_dims.map_or(0, |it| it.saturating_sub(n_letters));
        labels.extend((0..n_open as u32).rev().map(|it| ELLIPSIS + it));
        labels.extend(letters(after)?);
    }
    match n_dims {
        Some(n_dims) if labels.len() != n_dims => Err(format!(
            "`{text}` names {n_letters} axes of an operand that has {n_dims}"
        )),
        _ => Ok(labels),
    }
}

fn explicit_output(text: &str, terms: &[Term]) -> Result<Vec<u32>, String> {
    let mut output = read_labels(text, None)?;
    let known = |label: &u32| terms.iter().any(|it| it.labels.contains(label));
    for (at, label) in output.iter().enumerate() {
        let name = char::from_u32(*label).unwrap_or('.');
        if output[..at].contains(label) {
            return Err(format!("the output names `{name}` twice"));
        }
        if !known(label) {
            return Err(format!("the output names `{name}`, which no operand has"));
        }
    }
    if let Some(at) = text.find("...") {
        output.splice(at..at, open_labels(terms));
    }
    Ok(output)
}

/// The labels of `...` over all operands, first axis first.
fn open_labels(terms: &[Term]) -> Vec<u32> {
    let n_open = terms
        .iter()
        .flat_map(|it| &it.labels)
        .filter(|it| **it >= ELLIPSIS)
        .max();
    n_open.map_or(Vec::new(), |last| (ELLIPSIS..=*last).rev().collect())
}

/// Without `->`: the open axes, then the letters that appear once, in alphabetical order.
fn implicit_output(terms: &[Term]) -> Vec<u32> {
    let mut counts = BTreeMap::new();
    for label in terms
        .iter()
        .flat_map(|it| &it.labels)
        .filter(|it| **it < ELLIPSIS)
    {
        *counts.entry(*label).or_insert(0) += 1;
    }
    let once = counts.into_iter().filter(|it| it.1 == 1).map(|it| it.0);
    open_labels(terms).into_iter().chain(once).collect()
}

fn label_sizes(terms: &[Term]) -> Result<BTreeMap<u32, usize>, String> {
    let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
    for term in terms {
        for (&label, &size) in term.labels.iter().zip(term.array.shape()) {
            let known = sizes.entry(label).or_insert(size);
            if *known != size && *known != 1 && size != 1 {
                let name = char::from_u32(label).map_or("...".into(), String::from);
                return Err(format!("the label `{name}` has the sizes {known} and {size}"));
            }
            if *known == 1 {
                *known = size;
            }
        }
    }
    Ok(sizes)
}

/// Replaces axes with one label by their diagonal.
fn take_diagonals(term: &mut Term) {
    let repeated = |labels: &[u32]| {
        (0..labels.len()).find_map(|it| {
            labels[..it]
                .iter()
                .position(|label| *label == labels[it])
                .map(|at| (at, it))
        })
    };
    while let Some((first, second)) = repeated(&term.labels) {
        term.array = diagonal_of(&term.array, 0, first, second);
        let label = term.labels[first];
        term.labels.retain(|it| *it != label);
        term.labels.push(label);
    }
}

/// Multiplies the terms, sums over every label that the output does not have, and orders the axes as it says.
///
/// Labels are unique within a term and have one size across all terms.
pub fn contract(terms: Vec<Term>, output: &[u32]) -> HostResult<ArrayD<f64>> {
    let mut rest = terms.into_iter();
    let Some(mut result) = rest.next() else {
        return Ok(ArrayD::ones(IxDyn(&[])));
    };
    while let Some(term) = rest.next() {
        let later = |label: &u32| {
            output.contains(label) || rest.as_slice().iter().any(|it| it.labels.contains(label))
        };
        result = multiply(result, term, later)?;
    }
    let result = sum_out(result, |label| output.contains(label));
    let place = |label: &u32| {
        result
            .labels
            .iter()
            .position(|it| it == label)
            .expect("operands have every output label")
    };
    let order: Vec<usize> = output.iter().map(place).collect();
    Ok(permute(&result.array, &order).view().to_owned())
}

/// Sums over the labels that are not kept.
fn sum_out(term: Term, keep: impl Fn(&u32) -> bool) -> Term {
    let gone: Vec<usize> = (0..term.labels.len())
        .filter(|it| !keep(&term.labels[*it]))
        .collect();
    if gone.is_empty() {
        return term;
    }
    let array = HostArray::from_exact(rows_over(&term.array, &gone, false, sum_row), HostDtype::F64);
    Term {
        array,
        labels: term.labels.into_iter().filter(keep).collect(),
    }
}

fn multiply(left: Term, right: Term, later: impl Fn(&u32) -> bool) -> HostResult<Term> {
    let left = sum_out(left, |it| later(it) || right.labels.contains(it));
    let right = sum_out(right, |it| later(it) || left.labels.contains(it));
    let (shared, free_left): (Vec<u32>, Vec<u32>) =
        left.labels.iter().partition(|it| right.labels.contains(it));
    let free_right: Vec<u32> = right
        .labels
        .iter()
        .filter(|it| !shared.contains(it))
        .copied()
        .collect();
    let (batch, summed): (Vec<u32>, Vec<u32>) = shared.into_iter().partition(|it| later(it));
    let labels = [&batch[..], &free_left, &free_right].concat();
    let a = ordered(&left, &[&batch[..], &free_left, &summed]);
    let b = ordered(&right, &[&batch[..], &summed, &free_right]);
    let (n_batches, rows, depth, columns) = (a.sizes[0], a.sizes[1], a.sizes[2], b.sizes[2]);
    check_size(&[n_batches, rows, columns])?;
    let (a, b) = (
        reshape_to(&a.array, &[n_batches, rows, depth]),
        reshape_to(&b.array, &[n_batches, depth, columns]),
    );
    // Without a sum, one pass over the products beats many one-element matrix products.
    let data = if summed.is_empty() {
        zip_map(&a, &b, |x, y| x * y)?
    } else {
        multiply_batches(&a, &b)
    };
    let size_of = |label: &u32| {
        let of = |term: &Term| {
            term.labels
                .iter()
                .position(|it| it == label)
                .map(|at| term.array.shape()[at])
        };
        of(&left)
            .or_else(|| of(&right))
            .expect("one of the terms has the label")
    };
    let shape: Vec<usize> = labels.iter().map(size_of).collect();
    check_size(&shape)?;
    let array = reshape_to(&HostArray::from_exact(data, HostDtype::F64), &shape);
    Ok(Term { array, labels })
}

struct Ordered {
    array: HostArray,
    /// The number of elements of each group of axes.
    sizes: [usize; 3],
}

/// The array with its axes in three groups.
fn ordered(term: &Term, groups: &[&[u32]; 3]) -> Ordered {
    let place = |label: &u32| {
        term.labels
            .iter()
            .position(|it| it == label)
            .expect("the groups partition the labels")
    };
    let order: Vec<usize> = groups.concat().iter().map(place).collect();
    let sizes = groups.map(|group| group.iter().map(|it| term.array.shape()[place(it)]).product());
    Ordered {
        array: permute(&term.array, &order),
        sizes,
    }
}
