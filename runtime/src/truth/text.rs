//! The comparison as a table for people and as one object for programs.

use super::table::ABSENT;
use super::{Figure, LeftOut, Measured, Quantity, Summary, Tier, summarise};
use crate::append::line;
use serde_json::{Value, json};

const TIERS: &[(Tier, &str)] = &[
    (Tier::Exact, "1"),
    (Tier::Close, "2"),
    (Tier::Spilled, "2s"),
    (Tier::Far, "3"),
    (Tier::Limit, "4"),
    (Tier::Shown, "-"),
];

fn tier_name(tier: Tier) -> &'static str {
    TIERS.iter().find(|it| it.0 == tier).map_or("-", |it| it.1)
}

impl Quantity {
    fn name(self) -> String {
        match self {
            Quantity::Latency => "latency us".to_string(),
            Quantity::Timeline => "timeline us".to_string(),
            Quantity::Duration(op) => format!("{} ns", op.name()),
            Quantity::Interval(op) => format!("{} every ns", op.name()),
            Quantity::Spacing(it) => format!("{} spacing ns", it.name()),
            Quantity::LoadEnd(n) => format!("load {} ends us", n + 1),
            Quantity::StoreEnd(n) => format!("store {} ends us", n + 1),
            Quantity::Active(it) => format!("{} active us", it.name()),
            Quantity::DmaActive => "dma active us".to_string(),
            Quantity::HbmRead => "hbm read bytes".to_string(),
            Quantity::HbmWrite => "hbm write bytes".to_string(),
            Quantity::Flops => "operations".to_string(),
            Quantity::TransposeFlops => "of transposes".to_string(),
            Quantity::Hfu => "HFU %".to_string(),
            Quantity::Mbu => "MBU %".to_string(),
            Quantity::Ridge => "ridge flop/byte".to_string(),
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Quantity::HbmRead | Quantity::HbmWrite | Quantity::Flops | Quantity::TransposeFlops => {
                format!("{value:.0}")
            }
            Quantity::Hfu | Quantity::Mbu | Quantity::Ridge => format!("{value:.2}"),
            _ if value < 100.0 => format!("{value:.3}"),
            _ => format!("{value:.1}"),
        }
    }
}

fn verdict(figure: &Figure, error: f64) -> &'static str {
    match figure.tier {
        Tier::Shown => "",
        _ if figure.holds(error) => "ok",
        _ => "BEYOND",
    }
}

/// All figures, the summary, and the fits without themselves.
pub fn text(measured: &[Measured], left_out: &[LeftOut]) -> String {
    let mut out = String::new();
    line!(
        out,
        "{:<6} {:<18} {:>16} {:>16} {:>9} {:>7} {:<4} {:<7} {:>5}",
        "row",
        "figure",
        "modelled",
        "measured",
        "error",
        "bound",
        "tier",
        "",
        "guess"
    );
    for it in measured {
        line!(out, "\n{}", it.case.what);
        for (figure, ours, error) in it.figures() {
            let bound = match figure.tier {
                Tier::Shown => String::new(),
                Tier::Limit => "limit".to_string(),
                _ => format!("{:.0} %", figure.bound),
            };
            line!(
                out,
                "{:<6} {:<18} {:>16} {:>16} {:>+7.1} % {:>7} {:<4} {:<7} {:>3.0} %",
                it.case.id,
                figure.quantity.name(),
                figure.quantity.show(ours),
                figure.quantity.show(figure.theirs),
                error,
                bound,
                tier_name(figure.tier),
                if figure.is_fit {
                    "fit"
                } else {
                    verdict(figure, error)
                },
                100.0 * it.guessed
            );
        }
        fetched_lines(&mut out, it);
        line!(out, "       source: {}", it.case.source);
        if !it.case.note.is_empty() {
            line!(out, "       note: {}", it.case.note);
        }
    }
    line!(out, "\nrows without a kernel");
    for (id, what, why) in ABSENT {
        line!(out, "{id:<6} {what}\n       note: {why}");
    }
    fetched_table(&mut out, measured);
    summary_lines(&mut out, &summarise(measured));
    line!(out, "\nfits, each left out of its own fit");
    for it in left_out {
        line!(
            out,
            "{:<6} {:<18} {:>16} {:>16} {:>+7.1} %   {}",
            it.case.id,
            it.figure.quantity.name(),
            it.figure.quantity.show(it.ours),
            it.figure.quantity.show(it.figure.theirs),
            it.error,
            it.how
        );
    }
    out
}

fn fetched_lines(out: &mut String, measured: &Measured) {
    let (Some(run), Some(fetched)) = (&measured.fetched, &measured.case.fetched) else {
        return;
    };
    line!(
        out,
        "       as published: {:.1} us, {} bytes read, {} written, {} operations, not scored: {}",
        run.latency_us,
        run.hbm_read,
        run.hbm_write,
        run.hardware_flops,
        fetched.reason
    );
}

/// The published texts beside what was measured of them, where both are known.
fn fetched_table(out: &mut String, measured: &[Measured]) {
    let runs: Vec<_> = measured
        .iter()
        .filter_map(|it| Some((it.case, it.fetched.as_ref()?)))
        .collect();
    if runs.is_empty() {
        return;
    }
    line!(
        out,
        "\nkernels as published, modelled / measured; not scored, since their compiler changed them first"
    );
    line!(
        out,
        "{:<5} {:>19} {:>8}   {:>25} {:>8}   {:>25} {:>8}   {:>8}",
        "row",
        "latency us",
        "",
        "hbm MB read",
        "",
        "hbm MB written",
        "",
        "operations"
    );
    for (case, run) in runs {
        let theirs = |quantity| {
            let known = case.figures.iter().find(|it| it.quantity == quantity);
            known.map(|it| it.theirs)
        };
        let beside = |ours: f64, theirs: Option<f64>, unit: f64, width: usize| match theirs {
            Some(theirs) => format!(
                "{:>width$} {:>+6.1} %",
                format!("{:.1} / {:.1}", ours / unit, theirs / unit),
                100.0 * (ours / theirs - 1.0)
            ),
            None => format!("{:>width$} {:>8}", format!("{:.1} / -", ours / unit), ""),
        };
        let operations = theirs(Quantity::Flops).map(|it| 100.0 * (run.hardware_flops as f64 / it - 1.0));
        line!(
            out,
            "{:<5} {}   {}   {}   {:>8}",
            case.id,
            beside(run.latency_us, theirs(Quantity::Latency), 1.0, 19),
            beside(run.hbm_read as f64, theirs(Quantity::HbmRead), 1e6, 25),
            beside(run.hbm_write as f64, theirs(Quantity::HbmWrite), 1e6, 25),
            operations.map_or(String::new(), |it| format!("{it:+.1} %"))
        );
    }
}

fn summary_lines(out: &mut String, summaries: &[Summary]) {
    line!(
        out,
        "\npredictions, by tier; 2s: kernels of tier 2 whose compiler spilled by rules that nobody published"
    );
    line!(
        out,
        "{:<6} {:>8} {:>14} {:>14} {:>10} {:>14}",
        "tier",
        "figures",
        "mean signed",
        "median |e|",
        "worst",
        "beyond bounds"
    );
    for it in summaries {
        line!(
            out,
            "{:<6} {:>8} {:>+12.1} % {:>12.1} % {:>8.1} % {:>14}",
            tier_name(it.tier),
            it.count,
            it.mean_signed,
            it.median,
            it.worst,
            it.beyond
        );
    }
}

/// The same as one JSON object.
pub fn to_json(measured: &[Measured], left_out: &[LeftOut]) -> Value {
    let figures: Vec<Value> = measured
        .iter()
        .flat_map(|it| {
            it.figures().map(|(figure, ours, error)| {
                json!({
                    "row": it.case.id,
                    "kernel": it.case.what,
                    "figure": figure.quantity.name(),
                    "modelled": ours,
                    "measured": figure.theirs,
                    "error_percent": error,
                    "bound_percent": figure.bound,
                    "tier": tier_name(figure.tier),
                    "fit": figure.is_fit,
                    "within": figure.holds(error),
                    "guessed_share": it.guessed,
                    "source": it.case.source,
                    "note": it.case.note,
                })
            })
        })
        .collect();
    let fetched: Vec<Value> = measured
        .iter()
        .filter_map(|it| {
            let (run, fetched) = (it.fetched.as_ref()?, it.case.fetched.as_ref()?);
            Some(json!({
                "row": it.case.id,
                "latency_us": run.latency_us,
                "hbm_read_bytes": run.hbm_read,
                "hbm_write_bytes": run.hbm_write,
                "hardware_flops": run.hardware_flops,
                "reason": fetched.reason,
            }))
        })
        .collect();
    let tiers: Vec<Value> = summarise(measured)
        .iter()
        .map(|it| {
            json!({
                "tier": tier_name(it.tier),
                "figures": it.count,
                "mean_signed_percent": it.mean_signed,
                "median_percent": it.median,
                "worst_percent": it.worst,
                "beyond_bounds": it.beyond,
            })
        })
        .collect();
    let left_out: Vec<Value> = left_out
        .iter()
        .map(|it| {
            json!({
                "row": it.case.id,
                "figure": it.figure.quantity.name(),
                "modelled": it.ours,
                "measured": it.figure.theirs,
                "error_percent": it.error,
                "how": it.how,
            })
        })
        .collect();
    json!({ "figures": figures, "tiers": tiers, "left_out": left_out, "as_published": fetched })
}
