//! A picture of a search: a line over one parameter, a heat map over two.

use super::{Axis, Candidate, Verdict};
use crate::append::line;
use crate::draw::escaped;
use crate::report::micros;

const MARGIN: f64 = 90.0;
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;

/// The picture; `None` for none or more than two parameters.
pub fn svg(kernel: &str, axes: &[Axis], candidates: &[Candidate]) -> Option<String> {
    let mut out = String::new();
    let (width, height) = (WIDTH + 2.0 * MARGIN, HEIGHT + 2.0 * MARGIN);
    line!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">"
    );
    line!(
        out,
        "<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>"
    );
    line!(
        out,
        "<text x=\"{MARGIN}\" y=\"40\" font-size=\"16\">{}: modelled time</text>",
        escaped(kernel)
    );
    match axes {
        [x] => line(&mut out, x, candidates),
        [x, y] => heat_map(&mut out, x, y, candidates),
        _ => return None,
    }
    line!(out, "</svg>");
    Some(out)
}

fn time_ps(candidate: &Candidate) -> Option<u64> {
    match &candidate.verdict {
        Verdict::Measured(summary) => Some(summary.time_ps),
        Verdict::Skipped { .. } => None,
    }
}

/// The least and the most time; both 1 when nothing was measured.
fn extent(candidates: &[Candidate]) -> (u64, u64) {
    let times = || candidates.iter().filter_map(time_ps);
    (times().min().unwrap_or(1), times().max().unwrap_or(1))
}

fn line(out: &mut String, axis: &Axis, candidates: &[Candidate]) {
    let (least, most) = extent(candidates);
    let n_steps = (axis.values.len().max(2) - 1) as f64;
    let x = |value: usize| MARGIN + WIDTH * value as f64 / n_steps;
    let y = |ps: u64| MARGIN + HEIGHT * (1.0 - ps as f64 / most.max(1) as f64);
    for step in 0..=4u64 {
        let ps = most * step / 4;
        let (at, label) = (y(ps), micros(ps));
        line!(out, "<path d=\"M{MARGIN} {at:.1}h{WIDTH}\" stroke=\"#ddd\"/>");
        line!(
            out,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label} us</text>",
            MARGIN - 8.0,
            at + 4.0
        );
    }
    let mut points: Vec<(usize, u64)> = candidates
        .iter()
        .filter_map(|it| Some((it.point[0], time_ps(it)?)))
        .collect();
    points.sort_unstable();
    let path: Vec<String> = points
        .iter()
        .map(|it| format!("{:.1},{:.1}", x(it.0), y(it.1)))
        .collect();
    line!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#1f6feb\" stroke-width=\"2\"/>",
        path.join(" ")
    );
    for (value, ps) in points {
        let color = if ps == least { "#d1242f" } else { "#1f6feb" };
        line!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{color}\"><title>{} = {}: {} us</title></circle>",
            x(value),
            y(ps),
            escaped(&axis.name),
            escaped(&axis.values[value]),
            micros(ps)
        );
    }
    labels(out, axis, x);
}

/// Names below the picture; of many values only some.
fn labels(out: &mut String, axis: &Axis, x: impl Fn(usize) -> f64) {
    let step = axis.values.len().div_ceil(12).max(1);
    for (value, text) in axis.values.iter().enumerate().step_by(step) {
        line!(
            out,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x(value),
            MARGIN + HEIGHT + 18.0,
            escaped(text)
        );
    }
    let middle = MARGIN + WIDTH / 2.0;
    line!(
        out,
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" font-size=\"14\">{}</text>",
        MARGIN + HEIGHT + 42.0,
        escaped(&axis.name)
    );
}

/// Dark is fast; grey was skipped.
fn heat_map(out: &mut String, x_axis: &Axis, y_axis: &Axis, candidates: &[Candidate]) {
    let (least, most) = extent(candidates);
    let cell = (
        WIDTH / x_axis.values.len() as f64,
        HEIGHT / y_axis.values.len() as f64,
    );
    for candidate in candidates {
        let (column, row) = (candidate.point[0], candidate.point[1]);
        let (x, y) = (MARGIN + cell.0 * column as f64, MARGIN + cell.1 * row as f64);
        let (color, text) = match time_ps(candidate) {
            Some(ps) => {
                let share = (ps - least) as f64 / (most - least).max(1) as f64;
                let channel = |fast: f64, slow: f64| (fast + (slow - fast) * share.sqrt()) as u8;
                let color = format!(
                    "#{:02x}{:02x}{:02x}",
                    channel(8.0, 240.0),
                    channel(81.0, 246.0),
                    channel(156.0, 255.0)
                );
                (color, format!("{} us", micros(ps)))
            }
            None => ("#cccccc".to_string(), "skipped".to_string()),
        };
        let (name_x, name_y) = (escaped(&x_axis.name), escaped(&y_axis.name));
        let (value_x, value_y) = (escaped(&x_axis.values[column]), escaped(&y_axis.values[row]));
        line!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{color}\" stroke=\"white\"><title>{name_x} = {value_x}, {name_y} = {value_y}: {text}</title></rect>",
            cell.0,
            cell.1
        );
        if time_ps(candidate) == Some(least) {
            line!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"white\">best: {text}</text>",
                x + cell.0 / 2.0,
                y + cell.1 / 2.0
            );
        }
    }
    let step = y_axis.values.len().div_ceil(16).max(1);
    for (row, text) in y_axis.values.iter().enumerate().step_by(step) {
        let y = MARGIN + cell.1 * (row as f64 + 0.5) + 4.0;
        line!(
            out,
            "<text x=\"{}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>",
            MARGIN - 8.0,
            escaped(text)
        );
    }
    line!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-size=\"14\">{}</text>",
        MARGIN - 8.0,
        MARGIN - 14.0,
        escaped(&y_axis.name)
    );
    labels(out, x_axis, |value| MARGIN + cell.0 * (value as f64 + 0.5));
}
