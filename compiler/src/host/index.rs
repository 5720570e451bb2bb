//! Reading and writing through `array[…]`: integers, slices, `None`, `...`, integer arrays, boolean masks.
//!
//! An index is first narrowed by its basic parts, which only move a view; then the integer arrays pick positions.

use super::array::{HostArray, broadcast_shapes, check_size};
use super::create::to_array;
use super::elementwise::Operand;
use super::shape::{inverse, permute, reshape_to};
use super::{Arg, HostDtype, HostError, HostResult};
use ndarray::{ArrayBase, ArrayD, Axis, IxDyn, RawData, Slice};

/// One item of an index, after `...` is spelt out.
enum Item {
    At(i64),
    Range {
        start: Option<i64>,
        stop: Option<i64>,
        step: Option<i64>,
    },
    New,
    /// Positions along one axis.
    Picks {
        shape: Vec<usize>,
        positions: Vec<i64>,
    },
}

/// What an index does to a view, axis by axis.
enum Step {
    At(usize),
    Range(Slice),
    New,
    Keep,
}

/// An index resolved against a shape.
struct Plan {
    steps: Vec<Step>,
    /// The axes of the narrowed view that integer arrays pick from, and the wrapped positions.
    picks: Vec<(usize, HostArray)>,
    /// The common shape of the integer arrays.
    pick_shape: Vec<usize>,
    /// Where the dimensions of `pick_shape` stand among those of the result.
    place: usize,
}

/// `array[keys]`; the keys are the items of the tuple between the brackets.
pub fn index(array: &HostArray, keys: &[Arg]) -> HostResult<HostArray> {
    if let [Arg::Array(mask)] = keys
        && mask.dtype() == HostDtype::Bool
        && mask.shape() == array.shape()
        && mask.n_dims() > 0
    {
        let kept = array
            .shared()
            .iter()
            .zip(mask.shared().iter())
            .filter(|it| *it.1 != 0.0)
            .map(|it| *it.0);
        return Ok(HostArray::vector(kept.collect(), array.dtype()));
    }
    let plan = plan(array.shape(), keys)?;
    let view = narrow(array.shared().clone(), &plan.steps);
    if plan.picks.is_empty() {
        // A small part must not share its storage with the whole, or the next write to the whole would copy it.
        let is_part = view.len() < array.len();
        let view = if is_part {
            view.to_owned().into_shared()
        } else {
            view
        };
        return Ok(HostArray::from_exact(view, array.dtype()));
    }
    let rest = rest_axes(&plan, view.ndim());
    let rest_shape: Vec<usize> = rest.iter().map(|it| view.shape()[*it]).collect();
    let gathered_shape = [&plan.pick_shape[..], &rest_shape].concat();
    check_size(&gathered_shape)?;
    let picks = flat_picks(&plan, view.shape());
    let view = view.permuted_axes(IxDyn(&pick_first(&plan, &rest)));
    let n_picked: usize = view.shape()[..plan.picks.len()].iter().product();
    let n_rest: usize = rest_shape.iter().product();
    let table = view
        .to_shape([n_picked, n_rest])
        .expect("the shape has as many elements");
    let data = HostArray::from_exact(table.select(Axis(0), &picks).into_dyn(), array.dtype());
    Ok(permute(
        &reshape_to(&data, &gathered_shape),
        &result_order(&plan, rest.len()),
    ))
}

/// `array[keys] = value`.
pub fn assign(array: &mut HostArray, keys: &[Arg], value: &Arg) -> HostResult<()> {
    let value = Operand::new(to_array(value)?, value).as_type(array.dtype())?;
    if let ([Arg::Array(mask)], Some(&number)) = (keys, value.view().first())
        && mask.dtype() == HostDtype::Bool
        && mask.shape() == array.shape()
        && value.len() == 1
    {
        let mask = mask.view();
        array
            .shared_mut()
            .zip_mut_with(&mask, |it, test| *it = if *test != 0.0 { number } else { *it });
        return Ok(());
    }
    let plan = plan(array.shape(), keys)?;
    let mut view = narrow(array.shared_mut().view_mut(), &plan.steps);
    if plan.picks.is_empty() {
        let value = fit(&value, view.shape())?;
        view.assign(&value);
        return Ok(());
    }
    let rest = rest_axes(&plan, view.ndim());
    let rest_shape: Vec<usize> = rest.iter().map(|it| view.shape()[*it]).collect();
    let gathered_shape = [&plan.pick_shape[..], &rest_shape].concat();
    check_size(&gathered_shape)?;
    let order = result_order(&plan, rest.len());
    let result_shape: Vec<usize> = order.iter().map(|it| gathered_shape[*it]).collect();
    let value = fit(&value, &result_shape)?.permuted_axes(IxDyn(&inverse(&order)));
    let picks = flat_picks(&plan, view.shape());
    let mut view = view.permuted_axes(IxDyn(&pick_first(&plan, &rest)));
    let (n_rest, values) = (
        rest_shape.iter().product::<usize>(),
        value.iter().copied().collect::<Vec<f64>>(),
    );
    let mut table: Vec<f64> = view.iter().copied().collect();
    for (at, pick) in picks.into_iter().enumerate() {
        table[pick * n_rest..(pick + 1) * n_rest].copy_from_slice(&values[at * n_rest..(at + 1) * n_rest]);
    }
    view.iter_mut().zip(table).for_each(|(it, value)| *it = value);
    Ok(())
}

/// The value spread over the shape; leading dimensions of size 1 may be too many.
fn fit(value: &HostArray, shape: &[usize]) -> HostResult<ArrayD<f64>> {
    let extra = value.n_dims().saturating_sub(shape.len());
    let refuse = || HostError::CannotBroadcastTo {
        from: value.shape().to_vec(),
        to: shape.to_vec(),
    };
    if value.shape()[..extra].iter().any(|it| *it != 1) {
        return Err(refuse());
    }
    let value = reshape_to(value, &value.shape()[extra..]);
    let view = value.view();
    Ok(view.broadcast(IxDyn(shape)).ok_or_else(refuse)?.to_owned())
}

fn plan(shape: &[usize], keys: &[Arg]) -> HostResult<Plan> {
    let items = items(shape, keys)?;
    let mut plan = Plan {
        steps: Vec::new(),
        picks: Vec::new(),
        pick_shape: Vec::new(),
        place: 0,
    };
    // The axis of the source, of the narrowed view and of the result without picks.
    let (mut source, mut narrowed, mut kept) = (0, 0, 0);
    let advanced: Vec<usize> = (0..items.len())
        .filter(|it| matches!(items[*it], Item::At(_) | Item::Picks { .. }))
        .collect();
    let adjacent = advanced.windows(2).all(|it| it[0] + 1 == it[1]);
    for (at, item) in items.into_iter().enumerate() {
        if adjacent && advanced.first() == Some(&at) {
            plan.place = kept;
        }
        match item {
            Item::At(position) => {
                plan.steps.push(Step::At(wrap(position, source, shape[source])?));
                source += 1;
            }
            Item::Range { start, stop, step } => {
                plan.steps
                    .push(Step::Range(range(start, stop, step, shape[source])?));
                (source, narrowed, kept) = (source + 1, narrowed + 1, kept + 1);
            }
            Item::New => {
                plan.steps.push(Step::New);
                (narrowed, kept) = (narrowed + 1, kept + 1);
            }
            Item::Picks {
                shape: pick_shape,
                positions,
            } => {
                let size = shape[source];
                let wrapped = positions
                    .into_iter()
                    .map(|it| wrap(it, source, size).map(|it| it as f64));
                let values = wrapped.collect::<HostResult<Vec<f64>>>()?;
                let data = super::create::filled(&pick_shape, values);
                plan.picks
                    .push((narrowed, HostArray::from_exact(data, HostDtype::I64)));
                plan.pick_shape = broadcast_shapes(&plan.pick_shape, &pick_shape)?;
                plan.steps.push(Step::Keep);
                (source, narrowed) = (source + 1, narrowed + 1);
            }
        }
    }
    Ok(plan)
}

/// The items of an index, one or more for each axis of the array.
fn items(shape: &[usize], keys: &[Arg]) -> HostResult<Vec<Item>> {
    let mut before: Vec<Item> = Vec::new();
    let mut after: Option<Vec<Item>> = None;
    let mut n_used = 0;
    for key in keys {
        if *key == Arg::Ellipsis {
            if after.replace(Vec::new()).is_some() {
                return Err(HostError::BadIndex {
                    got: "a second ellipsis".into(),
                });
            }
            continue;
        }
        let read = read_key(key, shape, n_used, after.is_some())?;
        n_used += read.iter().filter(|it| !matches!(it, Item::New)).count();
        after.as_mut().unwrap_or(&mut before).extend(read);
    }
    let n_open = shape.len().checked_sub(n_used);
    let n_open = n_open.ok_or_else(|| HostError::TooManyIndices {
        given: n_used,
        shape: shape.to_vec(),
    })?;
    before.extend((0..n_open).map(|_| Item::Range {
        start: None,
        stop: None,
        step: None,
    }));
    before.extend(after.unwrap_or_default());
    check_size(&vec![1; before.len()])?;
    Ok(before)
}

fn read_key(key: &Arg, shape: &[usize], n_used: usize, after_ellipsis: bool) -> HostResult<Vec<Item>> {
    match key {
        Arg::Int(position) => Ok(vec![Item::At(*position)]),
        Arg::None => Ok(vec![Item::New]),
        Arg::Slice { start, stop, step } => Ok(vec![Item::Range {
            start: *start,
            stop: *stop,
            step: *step,
        }]),
        Arg::Array(_) | Arg::List(_) | Arg::Tuple(_) => {
            let array = to_array(key)?;
            let array = if array.is_empty() && !matches!(key, Arg::Array(_)) {
                array.astype(HostDtype::I64)
            } else {
                array
            };
            match array.dtype() {
                HostDtype::Bool if array.n_dims() == 0 => Err(HostError::BadIndex { got: key.describe() }),
                HostDtype::Bool => mask_items(&array, shape, n_used, after_ellipsis),
                dtype if dtype.is_float() => Err(HostError::BadIndex { got: key.describe() }),
                _ if array.n_dims() == 0 => Ok(array.view().iter().map(|it| Item::At(*it as i64)).collect()),
                _ => {
                    let positions = array.view().iter().map(|it| *it as i64).collect();
                    Ok(vec![Item::Picks {
                        shape: array.shape().to_vec(),
                        positions,
                    }])
                }
            }
        }
        other => Err(HostError::BadIndex {
            got: other.describe(),
        }),
    }
}

/// A mask picks, along each of its axes, the positions of its true elements.
fn mask_items(
    mask: &HostArray,
    shape: &[usize],
    n_used: usize,
    after_ellipsis: bool,
) -> HostResult<Vec<Item>> {
    // After an ellipsis the axes that the mask covers are not known yet; its positions are then checked one by one.
    if !after_ellipsis {
        let covered = shape.get(n_used..n_used + mask.n_dims());
        if covered.is_none_or(|it| it != mask.shape()) {
            return Err(HostError::MaskShape {
                mask: mask.shape().to_vec(),
                shape: shape.to_vec(),
            });
        }
    }
    let positions = super::pick::true_positions(mask);
    let item = |positions: Vec<i64>| Item::Picks {
        shape: vec![positions.len()],
        positions,
    };
    Ok(positions.into_iter().map(item).collect())
}

fn wrap(position: i64, axis: usize, size: usize) -> HostResult<usize> {
    let wrapped = if position < 0 {
        position.checked_add(size as i64)
    } else {
        Some(position)
    };
    match wrapped.and_then(|it| usize::try_from(it).ok()) {
        Some(at) if at < size => Ok(at),
        _ => Err(HostError::IndexOutOfRange {
            index: position,
            axis,
            size,
        }),
    }
}

/// Python's slice as ndarray's, whose range runs upwards and is walked backwards for a negative step.
fn range(start: Option<i64>, stop: Option<i64>, step: Option<i64>, size: usize) -> HostResult<Slice> {
    let step = step.unwrap_or(1);
    let size = size as i64;
    if step == 0 {
        return Err(HostError::BadIndex {
            got: "a slice of step 0".into(),
        });
    }
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let bound = |at: i64| {
        if at < 0 {
            at.saturating_add(size).clamp(low, high)
        } else {
            at.clamp(low, high)
        }
    };
    let (first, end) = if step > 0 { (0, size) } else { (size - 1, -1) };
    let (start, stop) = (start.map_or(first, bound), stop.map_or(end, bound));
    let distance = if step > 0 { stop - start } else { start - stop };
    if distance <= 0 {
        return Ok(Slice::from(0..0));
    }
    let n_steps = (distance - 1) / step.saturating_abs();
    let last = start + n_steps * step;
    let (from, to) = if step > 0 {
        (start, last + 1)
    } else {
        (last, start + 1)
    };
    // A step beyond the range takes one element, and must not overflow the strides.
    let step = if n_steps == 0 { step.signum() } else { step };
    Ok(Slice::from(from as isize..to as isize).step_by(step as isize))
}

/// Applies the steps to a view of any kind.
fn narrow<S: RawData<Elem = f64>>(view: ArrayBase<S, IxDyn>, steps: &[Step]) -> ArrayBase<S, IxDyn> {
    let mut view = view;
    let mut axis = 0;
    for step in steps {
        match step {
            Step::At(position) => view = view.index_axis_move(Axis(axis), *position),
            Step::Range(slice) => view.slice_axis_inplace(Axis(axis), *slice),
            Step::New => view = view.insert_axis(Axis(axis)),
            Step::Keep => {}
        }
        axis += usize::from(!matches!(step, Step::At(_)));
    }
    view
}

/// The axes of the narrowed view that nothing picks from.
fn rest_axes(plan: &Plan, n_dims: usize) -> Vec<usize> {
    (0..n_dims)
        .filter(|axis| plan.picks.iter().all(|it| it.0 != *axis))
        .collect()
}

fn pick_first(plan: &Plan, rest: &[usize]) -> Vec<usize> {
    plan.picks
        .iter()
        .map(|it| it.0)
        .chain(rest.iter().copied())
        .collect()
}

/// For each pick, its place in the C order of the picked axes.
fn flat_picks(plan: &Plan, view_shape: &[usize]) -> Vec<usize> {
    let mut flat: Vec<usize> = vec![0; plan.pick_shape.iter().product()];
    for (axis, positions) in &plan.picks {
        let positions = positions.view();
        let wide = positions
            .broadcast(IxDyn(&plan.pick_shape))
            .expect("the integer arrays broadcast");
        for (at, position) in flat.iter_mut().zip(wide.iter()) {
            *at = *at * view_shape[*axis] + *position as usize;
        }
    }
    flat
}

/// The permutation from (picked dimensions, rest) to the order of the result.
fn result_order(plan: &Plan, n_rest: usize) -> Vec<usize> {
    let n_picked = plan.pick_shape.len();
    let rest = |from: usize, to: usize| (from..to).map(|it| it + n_picked);
    rest(0, plan.place)
        .chain(0..n_picked)
        .chain(rest(plan.place, n_rest))
        .collect()
}
