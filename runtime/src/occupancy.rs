//! Who lies where in SBUF and PSUM, and for how long: the facts behind `nk memory`.
//!
//! Takes a placed program, gives tensors with their bytes and lives, the bytes that are live at every instruction, and the
//! picture of both as text or JSON. Computes nothing of time: lives count instructions in program order.

use crate::append::push;
use crate::profile::line_of;
use nk_compiler::ir::{BufferId, Placement, Program, Region};
use nk_compiler::isa::Memory;
use nk_compiler::place::lives;
use nk_compiler::source::Sources;
use nk_compiler::target::Target;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// Both on-chip memories of a core over a program.
#[derive(Clone, Debug)]
pub struct Occupancy {
    pub kernel: String,
    pub target: &'static str,
    pub n_insts: usize,
    pub memories: [Usage; 2],
}

/// One on-chip memory.
#[derive(Clone, Debug)]
pub struct Usage {
    pub memory: Memory,
    /// Bytes of a partition, and of one of its banks.
    pub capacity: u32,
    pub bank: Option<u32>,
    /// In order of birth.
    pub tenants: Vec<Tenant>,
    /// Bytes of a partition that are live at each instruction, in the fullest quadrant of partitions.
    pub live: Vec<u32>,
    /// The most of them, and where.
    pub peak: u32,
    pub peak_at: usize,
    pub peak_line: Option<String>,
}

/// A tensor in its place.
#[derive(Clone, Debug)]
pub struct Tenant {
    pub name: String,
    pub dtype: &'static str,
    pub shape: Vec<u32>,
    /// `file:line` of its allocation.
    pub line: Option<String>,
    pub partitions: (u32, u32),
    pub bytes: (u32, u32),
    /// The first and the last instruction that touch it, from 0.
    pub born: usize,
    pub dies: usize,
}

impl Occupancy {
    pub fn new(program: &Program, placement: &Placement, target: &Target, sources: &Sources) -> Occupancy {
        let usage = |memory, capacity, bank| usage(program, placement, sources, memory, capacity, bank);
        Occupancy {
            kernel: program.name.clone(),
            target: program.target,
            n_insts: program.insts.len(),
            memories: [
                usage(Memory::Sbuf, target.sbuf_partition_bytes, None),
                usage(
                    Memory::Psum,
                    target.psum_partition_bytes,
                    Some(target.psum_bank_bytes),
                ),
            ],
        }
    }
}

fn usage(
    program: &Program,
    placement: &Placement,
    sources: &Sources,
    memory: Memory,
    capacity: u32,
    bank: Option<u32>,
) -> Usage {
    let lives = lives(program);
    let mut tenants = Vec::new();
    let mut changes = vec![[0i64; QUADRANTS]; program.insts.len() + 1];
    for (idx, (buffer, life)) in program.buffers.iter().zip(&lives).enumerate() {
        let (true, Some(life)) = (buffer.memory == memory, life) else {
            continue;
        };
        let Region::OnChip {
            partition,
            partitions,
            start,
            end,
        } = placement.region(BufferId::new(idx))
        else {
            continue;
        };
        let first = u32::from(partition);
        let last = first + u32::from(partitions);
        let quadrants = first as usize / 32..(last as usize).div_ceil(32).min(QUADRANTS);
        for (inst, bytes) in [
            (life.first.index(), i64::from(end - start)),
            (life.last.index() + 1, -i64::from(end - start)),
        ] {
            changes[inst][quadrants.clone()]
                .iter_mut()
                .for_each(|it| *it += bytes);
        }
        tenants.push(Tenant {
            name: buffer.name.to_string().trim_start_matches('%').to_string(),
            dtype: buffer.dtype.name(),
            shape: buffer.shape.to_vec(),
            line: buffer.loc.map(|it| line_of(program, sources, it)),
            partitions: (first, last),
            bytes: (start, end),
            born: life.first.index(),
            dies: life.last.index(),
        });
    }
    tenants.sort_by_key(|it| (it.born, it.bytes));
    let mut now = [0i64; QUADRANTS];
    let live: Vec<u32> = changes[..program.insts.len()]
        .iter()
        .map(|change| {
            now.iter_mut().zip(change).for_each(|(now, it)| *now += it);
            now.iter().max().map_or(0, |it| *it as u32).min(capacity)
        })
        .collect();
    let peak = live.iter().copied().max().unwrap_or(0);
    let peak_at = live.iter().position(|it| *it == peak).unwrap_or(0);
    let peak_loc = program.insts.get(peak_at).and_then(|it| it.loc);
    Usage {
        memory,
        capacity,
        bank,
        tenants,
        live,
        peak,
        peak_at,
        peak_line: peak_loc.map(|it| line_of(program, sources, it)),
    }
}

/// Quadrants of 32 partitions: tensors start at one.
const QUADRANTS: usize = 4;

/// Columns of the pictures.
const WIDTH: usize = 64;

/// Tensors that the table shows; the rest is counted.
const MAX_ROWS: usize = 40;

/// The picture in lines.
pub fn text(occupancy: &Occupancy) -> String {
    texts(occupancy, |_| true)
}

/// The picture of one memory in lines.
pub(crate) fn memory_text(occupancy: &Occupancy, memory: Memory) -> String {
    texts(occupancy, |it| it.memory == memory)
}

fn texts(occupancy: &Occupancy, is_shown: impl Fn(&&Usage) -> bool) -> String {
    let mut out = format!(
        "{} on {}: {} instructions\n",
        occupancy.kernel, occupancy.target, occupancy.n_insts
    );
    for usage in occupancy.memories.iter().filter(is_shown) {
        usage_text(&mut out, usage, occupancy.n_insts);
    }
    out
}

fn usage_text(out: &mut String, usage: &Usage, n_insts: usize) {
    let name = usage.memory.name().to_uppercase();
    let percent = 100.0 * f64::from(usage.peak) / f64::from(usage.capacity);
    push!(
        out,
        "\n{name}  peak {} of {} bytes a partition ({percent:.0} %)",
        usage.peak,
        usage.capacity
    );
    if usage.tenants.is_empty() {
        out.push_str(", not used\n");
        return;
    }
    push!(out, ", at instruction {}", usage.peak_at + 1);
    if let Some(line) = &usage.peak_line {
        push!(out, ", {line}");
    }
    push!(out, "\n  over the program  {}\n", bar(usage));
    let live = live_at_peak(usage);
    push!(
        out,
        "  at the peak, 32 partitions a line, {} bytes a column\n",
        mapped(&live).div_ceil(WIDTH as u32)
    );
    for quadrant in 0..QUADRANTS as u32 {
        push!(out, "  {:>3}  {}\n", quadrant * 32, map_row(&live, quadrant));
    }
    if let Some(bank) = usage.bank {
        banks_text(out, usage.capacity, &live, bank);
    }
    table(out, usage, &live, n_insts);
}

/// The bytes that the map of a memory shows: up to the highest one at the peak.
fn mapped(live: &[&Tenant]) -> u32 {
    let ends = live.iter().map(|it| it.bytes.1);
    ends.max().unwrap_or(0).max(WIDTH as u32)
}

/// Live bytes over the instructions, as blocks of eight heights; the highest is the peak.
fn bar(usage: &Usage) -> String {
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let n = usage.live.len();
    let n_columns = n.min(WIDTH);
    let column = |idx: usize| {
        let range = idx * n / n_columns..((idx + 1) * n / n_columns).max(idx * n / n_columns + 1);
        let most = usage.live[range].iter().copied().max().unwrap_or(0);
        BLOCKS[(u64::from(most) * 8).div_ceil(u64::from(usage.peak).max(1)) as usize % 9]
    };
    (0..n_columns).map(column).collect()
}

/// The bytes of a quadrant at the peak: a letter for each tensor, a dot for free bytes.
fn map_row(live: &[&Tenant], quadrant: u32) -> String {
    let mapped = u64::from(mapped(live));
    let column = |idx: usize| {
        let (from, to) = (
            idx as u64 * mapped / WIDTH as u64,
            (idx as u64 + 1) * mapped / WIDTH as u64,
        );
        let here = live.iter().position(|it| {
            it.partitions.0 < (quadrant + 1) * 32
                && quadrant * 32 < it.partitions.1
                && u64::from(it.bytes.0) < to
                && from < u64::from(it.bytes.1)
        });
        here.map_or('.', letter)
    };
    (0..WIDTH).map(column).collect()
}

fn live_at_peak(usage: &Usage) -> Vec<&Tenant> {
    let at = usage.peak_at;
    usage
        .tenants
        .iter()
        .filter(|it| it.born <= at && at <= it.dies)
        .collect()
}

fn letter(idx: usize) -> char {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    LETTERS.get(idx).map_or('#', |it| char::from(*it))
}

fn banks_text(out: &mut String, capacity: u32, live: &[&Tenant], bank: u32) {
    for number in 0..capacity / bank {
        let range = (number * bank, (number + 1) * bank);
        let names: Vec<&str> = live
            .iter()
            .filter(|it| it.bytes.0 < range.1 && range.0 < it.bytes.1)
            .map(|it| it.name.as_str())
            .collect();
        let shown = if names.is_empty() {
            "free".to_string()
        } else {
            names.join(", ")
        };
        push!(out, "  bank {number}  {shown}\n");
    }
}

fn table(out: &mut String, usage: &Usage, live: &[&Tenant], n_insts: usize) {
    let numbers = live
        .iter()
        .enumerate()
        .map(|(idx, it)| (std::ptr::from_ref(*it), idx));
    let numbers: FxHashMap<*const Tenant, usize> = numbers.collect();
    let mark = |tenant: &Tenant| {
        let idx = numbers.get(&std::ptr::from_ref(tenant));
        idx.map_or(' ', |it| letter(*it))
    };
    // The tensors of an unrolled loop share a row, which shows the first of them, or the one at the peak.
    let mut rows: Vec<(&Tenant, usize)> = Vec::new();
    let mut known = FxHashMap::default();
    for tenant in &usage.tenants {
        let key = (base(&tenant.name), &tenant.line, &tenant.shape, tenant.dtype);
        let number = *known.entry(key).or_insert(rows.len());
        if number == rows.len() {
            rows.push((tenant, 1));
            continue;
        }
        let row = &mut rows[number];
        row.1 += 1;
        if mark(row.0) == ' ' && mark(tenant) != ' ' {
            row.0 = tenant;
        }
    }
    rows.sort_by_key(|it| std::cmp::Reverse(it.0.bytes.1 - it.0.bytes.0));
    let n_hidden = rows.len().saturating_sub(MAX_ROWS);
    rows.truncate(MAX_ROWS);
    rows.sort_by_key(|it| (it.0.born, it.0.bytes));
    push!(
        out,
        "     {:>8}  {:<10}  {:<17}  {:>8} {:>8}  tensor (lives in instructions of {n_insts})\n",
        "bytes",
        "partitions",
        "in each",
        "born",
        "dies"
    );
    for (it, count) in rows {
        let others = match count {
            1 => String::new(),
            _ => format!("  and {} more", count - 1),
        };
        let line = it.line.as_deref().map_or(String::new(), |it| format!("  {it}"));
        push!(
            out,
            "   {} {:>8}  {:<10}  {:<17}  {:>8} {:>8}  {}: {}{:?}{line}{others}\n",
            mark(it),
            it.bytes.1 - it.bytes.0,
            format!("{}:{}", it.partitions.0, it.partitions.1),
            format!("{:#x}:{:#x}", it.bytes.0, it.bytes.1),
            it.born + 1,
            it.dies + 1,
            it.name,
            it.dtype,
            it.shape
        );
    }
    if n_hidden > 0 {
        push!(
            out,
            "     and {n_hidden} smaller ones (all of them with --format json)\n"
        );
    }
}

/// A tensor's name without the numbers of iterations and copies.
fn base(name: &str) -> &str {
    name.split(['.', '\'']).next().unwrap_or(name)
}

/// The same as JSON.
pub fn to_json(occupancy: &Occupancy) -> Value {
    let memory = |usage: &Usage| {
        let tenant = |it: &Tenant| {
            json!({
                "name": it.name,
                "dtype": it.dtype,
                "shape": it.shape,
                "line": it.line,
                "partitions": [it.partitions.0, it.partitions.1],
                "bytes": [it.bytes.0, it.bytes.1],
                "born": it.born,
                "dies": it.dies,
            })
        };
        json!({
            "memory": usage.memory.name(),
            "capacity_bytes": usage.capacity,
            "peak_bytes": usage.peak,
            "peak_instruction": usage.peak_at,
            "peak_line": usage.peak_line,
            "tensors": usage.tenants.iter().map(tenant).collect::<Vec<_>>(),
        })
    };
    json!({
        "kernel": occupancy.kernel,
        "target": occupancy.target,
        "instructions": occupancy.n_insts,
        "memories": occupancy.memories.iter().map(memory).collect::<Vec<_>>(),
    })
}
