//! Pictures as self-contained SVG.
//!
//! Takes facts that others have computed, gives text. Every shape has a title, which viewers show on hover; nothing refers
//! to a file or a script.

use crate::append::push;
use crate::occupancy::{Occupancy, Tenant, Usage};
use crate::profile::Profile;
use nk_compiler::ir::{InstId, Program};
use nk_compiler::isa::{ENGINES, Unit};
use nk_compiler::text::print_inst;

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 70.0;
const PLOT_HEIGHT: f64 = 300.0;
const TOP: f64 = 40.0;
const GAP: f64 = 60.0;

/// Text as XML holds it.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// A picture of a height up to its title.
fn head(height: f64, title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"20\" font-size=\"15\">{}</text>\n",
        WIDTH + LEFT + 20.0,
        escaped(title)
    )
}

/// SBUF and PSUM over the program: instructions to the right, bytes upwards, a box for each tensor.
pub fn memory_svg(occupancy: &Occupancy) -> String {
    let height = TOP + 2.0 * (PLOT_HEIGHT + GAP);
    let title = format!(
        "{} on {}: {} instructions",
        occupancy.kernel, occupancy.target, occupancy.n_insts
    );
    let mut out = head(height, &title);
    for (idx, usage) in occupancy.memories.iter().enumerate() {
        plot(
            &mut out,
            usage,
            occupancy.n_insts,
            TOP + idx as f64 * (PLOT_HEIGHT + GAP),
        );
    }
    out.push_str("</svg>\n");
    out
}

fn plot(out: &mut String, usage: &Usage, n_insts: usize, top: f64) {
    let name = usage.memory.name().to_uppercase();
    let bottom = top + PLOT_HEIGHT;
    push!(
        out,
        "<text x=\"{LEFT}\" y=\"{:.1}\">{name}: peak {} of {} bytes a partition</text>\n",
        top - 6.0,
        usage.peak,
        usage.capacity
    );
    push!(
        out,
        "<rect x=\"{LEFT}\" y=\"{top:.1}\" width=\"{WIDTH}\" height=\"{PLOT_HEIGHT}\" fill=\"#f7f7f7\" stroke=\"#888\"/>\n"
    );
    let y = |byte: u32| bottom - PLOT_HEIGHT * f64::from(byte) / f64::from(usage.capacity.max(1));
    let x = |inst: usize| LEFT + WIDTH * inst as f64 / n_insts.max(1) as f64;
    let step = usage.bank.unwrap_or(usage.capacity / 8).max(1);
    for byte in (0..=usage.capacity).step_by(step as usize) {
        push!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{2:.1}\" y2=\"{2:.1}\" stroke=\"#ddd\"/><text x=\"{3:.1}\" y=\"{4:.1}\" text-anchor=\"end\" fill=\"#555\">{1}</text>\n",
            LEFT + WIDTH,
            byte,
            y(byte),
            LEFT - 5.0,
            y(byte) + 4.0
        );
    }
    for (idx, tenant) in usage.tenants.iter().enumerate() {
        tenant_box(
            out,
            tenant,
            idx,
            x(tenant.born),
            x(tenant.dies + 1),
            y(tenant.bytes.1),
            y(tenant.bytes.0),
        );
    }
    push!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555\">instructions in program order</text>\n",
        LEFT + WIDTH,
        bottom + 16.0
    );
}

fn tenant_box(out: &mut String, tenant: &Tenant, idx: usize, left: f64, right: f64, top: f64, bottom: f64) {
    // Neighbouring numbers get hues far apart.
    let hue = idx * 137 % 360;
    let name = escaped(&tenant.name);
    let shape: Vec<String> = tenant.shape.iter().map(u32::to_string).collect();
    push!(
        out,
        "<g><title>{name}: {}[{}]\npartitions {}:{}, bytes {}:{}\ninstructions {} to {}{}</title>\
         <rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"hsl({hue},65%,75%)\" fill-opacity=\"0.8\" stroke=\"hsl({hue},50%,40%)\" stroke-width=\"0.5\"/>",
        tenant.dtype,
        shape.join(", "),
        tenant.partitions.0,
        tenant.partitions.1,
        tenant.bytes.0,
        tenant.bytes.1,
        tenant.born + 1,
        tenant.dies + 1,
        tenant
            .line
            .as_deref()
            .map_or(String::new(), |it| format!("\n{}", escaped(it))),
        (right - left).max(0.5),
        (bottom - top).max(0.5)
    );
    // A name is drawn where it fits.
    if right - left > 7.0 * tenant.name.chars().count() as f64 && bottom - top > 12.0 {
        push!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"#222\">{name}</text>",
            left + 3.0,
            (top + bottom) / 2.0 + 4.0
        );
    }
    out.push_str("</g>\n");
}

/// Modelled time to the right, a row for each engine and one for transfers.
pub fn timeline_svg(profile: &Profile, program: &Program) -> String {
    const ROW: f64 = 34.0;
    let total_ps = profile.trace.total_ps.max(1);
    let x = |ps: u64| LEFT + WIDTH * ps as f64 / total_ps as f64;
    let names: Vec<&str> = ENGINES.iter().map(|it| it.1).chain(["dma"]).collect();
    let height = TOP + ROW * names.len() as f64 + 40.0;
    let title = format!(
        "{} on {}: {:.3} us modelled{}",
        profile.kernel,
        profile.target.name,
        profile.totals.total_ps as f64 / 1e6,
        if program.loops.is_empty() {
            ""
        } else {
            ", each loop drawn once"
        }
    );
    let mut out = head(height, &title);
    for (row, name) in names.iter().enumerate() {
        let y = TOP + ROW * row as f64;
        push!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text><rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{WIDTH}\" height=\"{:.1}\" fill=\"#f4f4f4\"/>\n",
            LEFT - 6.0,
            y + 19.0,
            ROW - 6.0
        );
    }
    for step in 0..=10u64 {
        let ps = total_ps / 10 * step;
        push!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555\">{:.1} us</text>\n",
            x(ps),
            height - 16.0,
            ps as f64 / 1e6
        );
    }
    let mut bars: Vec<(usize, u64, u64, InstId)> = Vec::new();
    for (id, inst) in program.iter() {
        if inst.op.row().unit != Unit::Dma {
            let event = profile.trace.event(id);
            bars.push((inst.engine as usize, event.start_ps, event.free_ps, id));
        }
    }
    let transfers = profile.trace.transfers.iter();
    bars.extend(transfers.map(|it| (ENGINES.len(), it.first_ps, it.last_ps, it.inst)));
    bars.sort_unstable_by_key(|it| (it.0, it.1));
    // What is narrower than half a pixel joins the bar before it.
    let mut joined: Vec<(usize, u64, u64, InstId, u64)> = Vec::new();
    let half_pixel_ps = total_ps / (2 * WIDTH as u64);
    for (row, start_ps, end_ps, id) in bars {
        match joined.last_mut() {
            Some(last) if last.0 == row && end_ps.saturating_sub(last.1) < half_pixel_ps => {
                last.2 = last.2.max(end_ps);
                last.4 += 1;
            }
            _ => joined.push((row, start_ps, end_ps, id, 1)),
        }
    }
    for (row, start_ps, end_ps, id, count) in joined {
        let inst = &program[id];
        let hue = inst.op as usize * 67 % 360;
        let more = if count > 1 {
            format!(" and {} more", count - 1)
        } else {
            String::new()
        };
        push!(
            out,
            "<rect x=\"{:.2}\" y=\"{:.1}\" width=\"{:.2}\" height=\"{:.1}\" fill=\"hsl({hue},60%,60%)\"><title>{}{more}\n{:.3} to {:.3} us</title></rect>\n",
            x(start_ps),
            TOP + ROW * row as f64 + 2.0,
            (x(end_ps) - x(start_ps)).max(0.3),
            ROW - 10.0,
            escaped(&print_inst(program, inst)),
            start_ps as f64 / 1e6,
            end_ps as f64 / 1e6
        );
    }
    out.push_str("</svg>\n");
    out
}
