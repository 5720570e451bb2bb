//! Two profiles side by side: where the programs part, and what each engine does more or less.
//!
//! Takes two compiled programs with their profiles, gives the difference as a value with its text and its JSON.

use super::{Profile, place};
use nk_compiler::ir::{InstId, Program};
use nk_compiler::isa::{ENGINES, Memory};
use nk_compiler::source::Sources;
use nk_compiler::text::print_inst;
use serde_json::{Value, json};

/// What differs, the second minus the first.
#[derive(Debug)]
pub struct Difference {
    pub kernels: [String; 2],
    /// Numbers of both, by name.
    pub rows: Vec<Row>,
    pub divergence: Divergence,
}

#[derive(Clone, Debug)]
pub struct Row {
    pub name: String,
    pub unit: &'static str,
    pub first: f64,
    pub second: f64,
}

/// The first instruction, in program order, that is not the same in both.
#[derive(Clone, Debug)]
pub enum Divergence {
    None,
    /// Another instruction, or none: its number, and what stands there with its place.
    Instruction {
        number: usize,
        shown: [Option<String>; 2],
    },
    /// The same instruction at another time.
    Time {
        number: usize,
        shown: String,
        starts_us: [f64; 2],
    },
}

/// A side of the comparison.
pub type Side<'a> = (&'a Profile, &'a Program, &'a Sources);

/// Compares two profiles.
pub fn difference(first: Side, second: Side) -> Difference {
    let sides = [first, second];
    let mut rows = Vec::new();
    let mut row = |name: &str, unit: &'static str, value: &dyn Fn(&Profile) -> f64| {
        let (first, second) = (value(first.0), value(second.0));
        if first != 0.0 || second != 0.0 {
            let name = name.to_string();
            rows.push(Row {
                name,
                unit,
                first,
                second,
            });
        }
    };
    let micros = |ps: u64| ps as f64 / 1e6;
    row("time", "us", &|it| micros(it.totals.total_ps));
    for (engine, name) in ENGINES {
        let idx = *engine as usize;
        row(&format!("{name} busy"), "us", &|it| {
            micros(it.totals.busy_ps[idx])
        });
        row(&format!("{name} waits for dma"), "us", &|it| {
            micros(it.waits[idx].dma_ps)
        });
        row(&format!("{name} waits for engines"), "us", &|it| {
            micros(it.waits[idx].engine_ps)
        });
        row(&format!("{name} waits for results"), "us", &|it| {
            micros(it.waits[idx].dependence_ps)
        });
        row(&format!("{name} waits for ports"), "us", &|it| {
            micros(it.waits[idx].port_ps)
        });
        row(&format!("{name} instructions"), "", &|it| it.n_insts[idx] as f64);
    }
    row("dma busy", "us", &|it| micros(it.totals.dma_busy_ps));
    row("dma transfers", "", &|it| it.transfers.count as f64);
    row("hbm read", "bytes", &|it| it.traffic(Memory::Hbm).read as f64);
    row("hbm written", "bytes", &|it| {
        it.traffic(Memory::Hbm).written as f64
    });
    row("operations", "", &|it| it.hardware_flops as f64);
    Difference {
        kernels: sides.map(|it| it.0.kernel.clone()),
        rows,
        divergence: divergence(sides),
    }
}

fn divergence(sides: [Side; 2]) -> Divergence {
    let [a, b] = sides;
    let n_most = a.1.insts.len().max(b.1.insts.len());
    let shown = |(_, program, sources): Side, idx: usize| {
        let inst = program.insts.get(idx)?;
        let text = print_inst(program, inst);
        Some(format!("{text} ({})", place(program, sources, inst)))
    };
    let text = |program: &Program, idx: usize| program.insts.get(idx).map(|it| print_inst(program, it));
    if let Some(number) = (0..n_most).find(|&idx| text(a.1, idx) != text(b.1, idx)) {
        return Divergence::Instruction {
            number,
            shown: sides.map(|it| shown(it, number)),
        };
    }
    let starts = |idx: usize| sides.map(|it| it.0.trace.event(InstId::new(idx)).start_ps);
    match (0..n_most).find(|&idx| starts(idx)[0] != starts(idx)[1]) {
        None => Divergence::None,
        Some(number) => Divergence::Time {
            number,
            shown: shown(a, number).unwrap_or_default(),
            starts_us: starts(number).map(|it| it as f64 / 1e6),
        },
    }
}

impl Difference {
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut line = |text: String| out.push_str(&(text + "\n"));
        let [first, second] = &self.kernels;
        line(format!("{first} and {second}, modelled"));
        line(format!(
            "  {:<28} {:>14} {:>14} {:>14}",
            "", "first", "second", "difference"
        ));
        for it in &self.rows {
            let change = it.second - it.first;
            let percent = match it.first {
                0.0 => "new".to_string(),
                first => format!("{:+.1} %", 100.0 * change / first),
            };
            let number = |value: f64| match it.unit {
                "us" => format!("{value:.3}"),
                _ => format!("{value:.0}"),
            };
            line(format!(
                "  {:<28} {:>14} {:>14} {:>14} {percent:>10}",
                format!("{} {}", it.name, it.unit),
                number(it.first),
                number(it.second),
                number(change)
            ));
        }
        match &self.divergence {
            Divergence::None => line("  the programs are the same, at the same times".to_string()),
            Divergence::Instruction { number, shown } => {
                line(format!("  they part at instruction {number}"));
                for (name, it) in ["first", "second"].iter().zip(shown) {
                    line(format!("    {name}: {}", it.as_deref().unwrap_or("has ended")));
                }
            }
            Divergence::Time {
                number,
                shown,
                starts_us: [first, second],
            } => {
                line(format!(
                    "  the programs are the same; instruction {number} is the first at another time"
                ));
                line(format!("    {first:.3} us and {second:.3} us: {shown}"));
            }
        }
        out
    }

    pub fn to_json(&self) -> Value {
        let row =
            |it: &Row| json!({"name": it.name, "unit": it.unit, "first": it.first, "second": it.second});
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        let divergence = match &self.divergence {
            Divergence::None => Value::Null,
            Divergence::Instruction { number, shown } => {
                json!({"instruction": number, "first": shown[0], "second": shown[1]})
            }
            Divergence::Time {
                number,
                shown,
                starts_us,
            } => json!({
                "instruction": number,
                "shown": shown,
                "first_us": starts_us[0],
                "second_us": starts_us[1],
            }),
        };
        json!({"kernels": self.kernels, "rows": rows, "first_divergence": divergence})
    }
}
