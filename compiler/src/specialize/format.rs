//! Python's format mini-language: `f"{x:>8.3f}"`, `str.format`, `%`.
//!
//! Takes a value and a spec, gives text or a sentence about what is wrong with the spec.

use super::value::Value;

#[derive(Default)]
struct Spec {
    fill: Option<char>,
    align: Option<char>,
    sign: Option<char>,
    alternate: bool,
    zero: bool,
    width: usize,
    comma: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

/// Formats a value as `format(value, spec)` does.
pub fn format(value: &Value, spec: &str) -> Result<String, String> {
    if spec.is_empty() {
        return Ok(value.text());
    }
    let parsed = parse(spec).ok_or_else(|| format!("`{spec}` is not a format that is known"))?;
    let (sign, digits, is_number) = match (value, parsed.kind) {
        (Value::Str(it), None | Some('s')) => {
            let text = match parsed.precision {
                Some(it_is) => it.chars().take(it_is).collect(),
                None => it.to_string(),
            };
            (String::new(), text, false)
        }
        (_, Some('d' | 'b' | 'o' | 'x' | 'X' | 'c')) => integer(value, &parsed, spec)?,
        (Value::Int(_) | Value::Bool(_), None | Some('n')) => integer(value, &parsed, spec)?,
        (Value::Int(_) | Value::Bool(_) | Value::Float(_), Some('s')) => {
            return Err(format!("format code `s` does not fit a {}", value.kind()));
        }
        _ if value.as_float().is_some() => float(value, &parsed),
        (_, None | Some('s')) => (String::new(), value.text(), false),
        (_, Some(kind)) => return Err(format!("format code `{kind}` does not fit a {}", value.kind())),
    };
    Ok(pad(&parsed, sign, digits, is_number))
}

fn parse(text: &str) -> Option<Spec> {
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    let mut spec = Spec::default();
    let is_align = |c: Option<&char>| matches!(c, Some('<' | '>' | '^' | '='));
    if is_align(chars.get(1)) {
        spec.fill = Some(chars[0]);
        spec.align = Some(chars[1]);
        at = 2;
    } else if is_align(chars.first()) {
        spec.align = Some(chars[0]);
        at = 1;
    }
    if let Some(it @ ('+' | '-' | ' ')) = chars.get(at) {
        spec.sign = Some(*it);
        at += 1;
    }
    if chars.get(at) == Some(&'#') {
        spec.alternate = true;
        at += 1;
    }
    if chars.get(at) == Some(&'0') {
        spec.zero = true;
        at += 1;
    }
    spec.width = number(&chars, &mut at)?.unwrap_or(0);
    if let Some(it @ (',' | '_')) = chars.get(at) {
        spec.comma = Some(*it);
        at += 1;
    }
    if chars.get(at) == Some(&'.') {
        at += 1;
        spec.precision = Some(number(&chars, &mut at)??);
    }
    if let Some(&kind) = chars.get(at) {
        if !"bcdeEfFgGnosxX%".contains(kind) {
            return None;
        }
        spec.kind = Some(kind);
        at += 1;
    }
    // Widths beyond any line are refused, as they would only burn memory.
    (at == chars.len() && spec.width <= 10_000 && spec.precision.unwrap_or(0) <= 1_000).then_some(spec)
}

fn number(chars: &[char], at: &mut usize) -> Option<Option<usize>> {
    let digits: String = chars[*at..].iter().take_while(|it| it.is_ascii_digit()).collect();
    *at += digits.len();
    if digits.is_empty() {
        Some(None)
    } else {
        digits.parse().ok().map(Some)
    }
}

fn sign_of(negative: bool, spec: &Spec) -> String {
    match (negative, spec.sign) {
        (true, _) => "-".to_string(),
        (false, Some('+')) => "+".to_string(),
        (false, Some(' ')) => " ".to_string(),
        _ => String::new(),
    }
}

fn integer(value: &Value, spec: &Spec, text: &str) -> Result<(String, String, bool), String> {
    let Some(x) = value.as_int() else {
        return Err(format!("format `{text}` needs an int, not a {}", value.kind()));
    };
    let size = x.unsigned_abs();
    let (prefix, digits) = match spec.kind {
        Some('b') => ("0b", format!("{size:b}")),
        Some('o') => ("0o", format!("{size:o}")),
        Some('x') => ("0x", format!("{size:x}")),
        Some('X') => ("0X", format!("{size:X}")),
        Some('c') => {
            let c = u32::try_from(x)
                .ok()
                .and_then(char::from_u32)
                .ok_or("the int is no character")?;
            return Ok((String::new(), c.to_string(), false));
        }
        _ => ("", size.to_string()),
    };
    let prefix = if spec.alternate { prefix } else { "" };
    Ok((
        format!("{}{prefix}", sign_of(x < 0, spec)),
        grouped(&digits, spec),
        true,
    ))
}

fn float(value: &Value, spec: &Spec) -> (String, String, bool) {
    let x = value.as_float().unwrap_or(f64::NAN);
    let sign = sign_of(x.is_sign_negative() && !x.is_nan(), spec);
    let size = x.abs();
    if !x.is_finite() {
        return (sign, if x.is_nan() { "nan" } else { "inf" }.to_string(), true);
    }
    let precision = spec.precision.unwrap_or(6);
    let digits = match spec.kind {
        Some('f' | 'F') => format!("{size:.precision$}"),
        Some('%') => format!("{:.precision$}%", size * 100.0),
        Some(kind @ ('e' | 'E')) => exponent(size, precision, kind),
        Some(kind @ ('g' | 'G')) => general(size, precision, kind),
        Some('n') => general(size, precision, 'g'),
        _ if spec.precision.is_some() => general(size, precision, 'g'),
        _ => super::repr::float_repr(size),
    };
    (sign, grouped(&digits, spec), true)
}

fn exponent(x: f64, precision: usize, kind: char) -> String {
    let text = format!("{x:.precision$e}");
    let (mantissa, power) = text.split_once('e').expect("{:e} writes an exponent");
    let sign = if power.starts_with('-') { '-' } else { '+' };
    format!("{mantissa}{kind}{sign}{:0>2}", power.trim_start_matches('-'))
}

fn general(x: f64, precision: usize, kind: char) -> String {
    let precision = precision.max(1);
    let trimmed = |text: String| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_string()
        } else {
            text
        }
    };
    if x == 0.0 {
        return "0".to_string();
    }
    let scientific = format!("{x:.*e}", precision - 1);
    let power: i32 = scientific
        .split_once('e')
        .and_then(|it| it.1.parse().ok())
        .unwrap_or(0);
    if power < -4 || power >= precision as i32 {
        let text = exponent(x, precision - 1, if kind == 'G' { 'E' } else { 'e' });
        let (mantissa, rest) = text.split_at(text.find(['e', 'E']).expect("the exponent was just written"));
        return format!("{}{rest}", trimmed(mantissa.to_string()));
    }
    trimmed(format!("{x:.*}", (precision as i32 - 1 - power).max(0) as usize))
}

fn grouped(digits: &str, spec: &Spec) -> String {
    let Some(separator) = spec.comma else {
        return digits.to_string();
    };
    let by_bits = separator == '_' && matches!(spec.kind, Some('b' | 'o' | 'x' | 'X'));
    let group = if by_bits { 4 } else { 3 };
    let end = match by_bits {
        true => digits.len(),
        false => digits.find(['.', 'e', 'E', '%']).unwrap_or(digits.len()),
    };
    let (whole, rest) = digits.split_at(end);
    let mut out = String::new();
    for (idx, c) in whole.chars().enumerate() {
        if idx > 0 && (whole.len() - idx) % group == 0 {
            out.push(separator);
        }
        out.push(c);
    }
    out + rest
}

fn pad(spec: &Spec, sign: String, digits: String, is_number: bool) -> String {
    let length = sign.chars().count() + digits.chars().count();
    let missing = spec.width.saturating_sub(length);
    let fill = spec.fill.unwrap_or(if spec.zero { '0' } else { ' ' });
    let align = spec.align.unwrap_or(match (is_number, spec.zero) {
        (true, true) => '=',
        (true, false) => '>',
        _ => '<',
    });
    let filler = |n: usize| fill.to_string().repeat(n);
    match align {
        '<' => format!("{sign}{digits}{}", filler(missing)),
        '^' => format!(
            "{}{sign}{digits}{}",
            filler(missing / 2),
            filler(missing - missing / 2)
        ),
        '=' => format!("{sign}{}{digits}", filler(missing)),
        _ => format!("{}{sign}{digits}", filler(missing)),
    }
}

/// Formats as `text % values` does.
pub fn percent(text: &str, values: &Value) -> Result<String, String> {
    let given = match values {
        Value::Tuple(it) => it.to_vec(),
        other => vec![other.clone()],
    };
    let is_mapping = matches!(values, Value::Dict(_) | Value::List(_));
    let mut values = given.into_iter();
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        if chars.peek() == Some(&'%') {
            chars.next();
            out.push('%');
            continue;
        }
        let mut spec = String::new();
        let kind = loop {
            match chars.next() {
                Some(it) if it.is_ascii_alphabetic() => break it,
                Some('-') => spec.push('<'),
                Some(it) => spec.push(it),
                None => return Err("the format ends after %".to_string()),
            }
        };
        let value = values.next().ok_or("more places than values in the % format")?;
        let (value, kind) = match kind {
            's' => (Value::str(value.text()), 's'),
            'r' => (Value::str(value.repr()), 's'),
            'i' | 'u' => (value, 'd'),
            'c' if matches!(value, Value::Str(_)) => (value, 's'),
            it => (value, it),
        };
        if kind == 's' && !spec.is_empty() && !spec.starts_with('<') {
            spec.insert(0, '>');
        }
        let value = match (kind, &value) {
            ('d', Value::Float(it)) => Value::Int(*it as i64),
            _ => value,
        };
        spec.push(kind);
        out.push_str(&format(&value, &spec)?);
    }
    if values.next().is_some() && !is_mapping {
        return Err("more values than places in the % format".to_string());
    }
    Ok(out)
}
