//! Values of one parameter: `TILE_N=128,256,512`, `TILE_N=128..512*2`, `bufs=1..4`.

use nk_compiler::directive::split;

/// A parameter and the values to try, as source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    pub name: String,
    pub values: Vec<String>,
}

/// Values of one axis.
const MAX_VALUES: usize = 100_000;

/// Reads `NAME=VALUES`: a list, or a range with both ends, its step an added or a multiplied number.
pub fn axis(text: &str) -> Result<Axis, String> {
    let (name, values) = text
        .split_once('=')
        .ok_or_else(|| format!("write NAME=a,b,c or NAME=lo..hi*2 instead of `{text}`"))?;
    let mut all: Vec<String> = Vec::new();
    for piece in split(values)
        .into_iter()
        .map(str::trim)
        .filter(|it| !it.is_empty())
    {
        match range(piece)? {
            Some(values) => all.extend(values),
            None => all.push(piece.to_string()),
        }
    }
    if all.is_empty() {
        return Err(format!("`{name}` has no values"));
    }
    let mut known = std::collections::BTreeSet::new();
    all.retain(|it| known.insert(it.clone()));
    Ok(Axis {
        name: name.trim().to_string(),
        values: all,
    })
}

/// The numbers of `lo..hi`, `lo..hi+step` or `lo..hi*factor`; `None` for anything else.
fn range(text: &str) -> Result<Option<Vec<String>>, String> {
    let Some((lo, rest)) = text.split_once("..") else {
        return Ok(None);
    };
    let wrong = || format!("`{text}` is no range; write lo..hi, lo..hi+step or lo..hi*factor");
    let number = |it: &str| it.trim().parse::<i64>().map_err(|_| wrong());
    let (hi, by, is_product) = match (rest.split_once('*'), rest.split_once('+')) {
        (Some((hi, factor)), _) => (hi, number(factor)?, true),
        (None, Some((hi, step))) => (hi, number(step)?, false),
        (None, None) => (rest, 1, false),
    };
    let (lo, hi) = (number(lo)?, number(hi)?);
    let grows = if is_product { by > 1 && lo > 0 } else { by > 0 };
    if !grows || lo > hi {
        return Err(wrong());
    }
    let mut values = Vec::new();
    let mut at = Some(lo);
    while let Some(value) = at.filter(|&it| it <= hi) {
        if values.len() == MAX_VALUES {
            return Err(format!("`{text}` has more than {MAX_VALUES} values"));
        }
        values.push(value.to_string());
        at = if is_product {
            value.checked_mul(by)
        } else {
            value.checked_add(by)
        };
    }
    Ok(Some(values))
}
