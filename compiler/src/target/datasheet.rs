//! What `nk targets` shows: the datasheet of a chip or an instance, each figure with its source.
//!
//! Takes the tables of this module, gives facts. Peaks are derived from the array and the clock, and stand beside what
//! AWS publishes. What nobody has published is said to be so. Never prints.

use super::{INSTANCES, Instance, TARGETS, Target};
use crate::dtype::Dtype;
use crate::isa::Engine;

/// What runs on a thing that `nk targets` lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    Modelled,
    /// Known, and nothing runs on it.
    NotModelled,
}

/// A page about a chip or an instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Datasheet {
    pub name: &'static str,
    pub kind: &'static str,
    pub support: Support,
    /// One line.
    pub summary: String,
    pub facts: Vec<Fact>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub topic: &'static str,
    pub name: String,
    pub value: Figure,
    pub source: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    Number { value: f64, unit: &'static str },
    Words(String),
    NotPublished,
}

impl Figure {
    pub fn text(&self) -> String {
        match self {
            Figure::Number { value, unit } => {
                let rounded = (value * 100.0).round() / 100.0;
                format!("{rounded} {unit}")
            }
            Figure::Words(text) => text.clone(),
            Figure::NotPublished => "not published".to_string(),
        }
    }
}

const ARCH: &str = "trainium_inferentia2_arch.rst";
const DERIVED: &str = "derived: rows x columns x 2 x clock x cores";

struct Facts(Vec<Fact>);

impl Facts {
    fn add(&mut self, topic: &'static str, name: impl Into<String>, value: Figure, source: &'static str) {
        let name = name.into();
        self.0.push(Fact {
            topic,
            name,
            value,
            source,
        });
    }

    fn number(
        &mut self,
        topic: &'static str,
        name: impl Into<String>,
        value: f64,
        unit: &'static str,
        source: &'static str,
    ) {
        self.add(topic, name, Figure::Number { value, unit }, source);
    }

    fn words(
        &mut self,
        topic: &'static str,
        name: impl Into<String>,
        text: impl Into<String>,
        source: &'static str,
    ) {
        self.add(topic, name, Figure::Words(text.into()), source);
    }
}

/// Every page: chips that are modelled, instances, and chips that are only known.
pub fn datasheets() -> Vec<Datasheet> {
    let chips = TARGETS.iter().map(chip);
    let instances = INSTANCES.iter().map(instance);
    chips
        .chain(instances)
        .chain([inferentia1(), trainium2()])
        .collect()
}

/// The page of a name or an alias.
pub fn datasheet(name: &str) -> Option<Datasheet> {
    let name = Target::from_name(name).map_or(name, |it| it.name);
    let known = [
        ("inf1", "inferentia1"),
        ("trn2", "trainium2"),
        ("gen3", "trainium2"),
    ];
    let name = known.iter().find(|it| it.0 == name).map_or(name, |it| it.1);
    datasheets().into_iter().find(|it| it.name == name)
}

/// Operations in a second of the PE arrays of a chip, in units of 10^12.
pub fn peak_tera(target: &Target, dtype: Dtype) -> f64 {
    let rows = f64::from(target.partitions);
    let columns = f64::from(target.stationary_max);
    let hertz = f64::from(target.timing.clock_mhz[Engine::Tensor as usize]) * 1e6;
    let passes = if dtype == Dtype::F32 {
        target.timing.fp32_passes as f64
    } else {
        1.0
    };
    rows * columns * 2.0 * hertz * f64::from(target.cores) / passes / 1e12
}

fn chip(target: &Target) -> Datasheet {
    let mut facts = Facts(Vec::new());
    let cores = f64::from(target.cores);
    let clock = |engine: Engine| f64::from(target.timing.clock_mhz[engine as usize]) / 1000.0;
    let published = if target.name == "trainium1" {
        "trainium.rst"
    } else {
        "inferentia2.rst"
    };
    facts.number("chip", "NeuronCore-v2 cores", cores, "", ARCH);
    facts.number("chip", "collective cores", 6.0, "", ARCH);
    for (name, engine) in [
        ("tensor engine clock", Engine::Tensor),
        ("vector engine clock", Engine::Vector),
        ("scalar engine clock", Engine::Scalar),
        ("gpsimd engine clock", Engine::Gpsimd),
    ] {
        facts.number("core", name, clock(engine), "GHz", ARCH);
    }
    let array = format!("{} x {} elements", target.partitions, target.stationary_max);
    facts.words("core", "tensor engine array", array, ARCH);
    facts.words("core", "gpsimd engine", "8 processors of 512 bits", ARCH);
    facts.number("core", "DMA engines", f64::from(target.dma_engines), "", ARCH);
    let mib = |partition: u32| f64::from(partition) * f64::from(target.partitions) / f64::from(1 << 20);
    let (sbuf, psum) = (mib(target.sbuf_partition_bytes), mib(target.psum_partition_bytes));
    facts.number("memory", "SBUF of a core", sbuf, "MiB", ARCH);
    facts.number(
        "memory",
        "SBUF of the chip",
        sbuf * cores,
        "MiB",
        "derived: cores x SBUF of a core",
    );
    facts.number("memory", "PSUM of a core", psum, "MiB", ARCH);
    facts.number(
        "memory",
        "PSUM of the chip",
        psum * cores,
        "MiB",
        "derived: cores x PSUM of a core",
    );
    facts.number(
        "memory",
        "PSUM banks of a core",
        f64::from(target.psum_banks()),
        "",
        ARCH,
    );
    facts.number(
        "memory",
        "HBM",
        target.hbm_bytes as f64 / f64::from(1 << 30),
        "GiB",
        ARCH,
    );
    let gbytes = |per_us: u64| per_us as f64 / 1000.0;
    facts.number(
        "memory",
        "HBM bandwidth",
        gbytes(target.timing.hbm_chip_bytes_per_us),
        "GB/s",
        ARCH,
    );
    facts.number(
        "memory",
        "HBM bandwidth, a core's half",
        gbytes(target.timing.hbm_core_bytes_per_us),
        "GB/s",
        "derived: HBM bandwidth / cores",
    );
    facts.number(
        "memory",
        "DMA engine, theoretical",
        27.2,
        "GB/s",
        "nki-dma-overview.rst",
    );
    facts.number(
        "memory",
        "DMA engine, sustained (modelled)",
        gbytes(target.timing.dma_bytes_per_us),
        "GB/s",
        "nki-dma-bandwidth-guide.rst",
    );
    facts.number("memory", "DMA of the chip", 1.0, "TB/s", published);
    let link = INSTANCES
        .iter()
        .find(|it| it.chip == target.name && it.link_gbytes_per_s.is_some());
    let (link_source, links) = link.map_or((published, 0), |it| (it.source, it.topology.links()));
    let rate = link.and_then(|it| it.link_gbytes_per_s);
    let rate = rate.map_or(Figure::NotPublished, |it| Figure::Number {
        value: f64::from(it),
        unit: "GB/s",
    });
    facts.add("links", "NeuronLink-v2", rate, link_source);
    facts.number("links", "NeuronLink-v2 ports", f64::from(links), "", ARCH);
    for (names, dtype, advertised, unit) in [
        ("bf16, f16, tf32, fp8", Dtype::Bf16, 190.0, "TFLOPS"),
        ("f32", Dtype::F32, 47.5, "TFLOPS"),
    ] {
        facts.number(
            "peak",
            format!("{names}, derived"),
            peak_tera(target, dtype),
            unit,
            DERIVED,
        );
        facts.number("peak", format!("{names}, published"), advertised, unit, published);
    }
    facts.number("peak", "int8, published", 380.0, "TOPS", published);
    facts.words(
        "peak",
        "int8, derived",
        "no: nothing public says how the array doubles its rate",
        "",
    );
    for name in ["power", "process", "die size", "transistors"] {
        facts.add("physical", name, Figure::NotPublished, "");
    }
    facts.words("modelled by nk", "values", "emulated bit for bit", "");
    facts.words(
        "modelled by nk",
        "time",
        "timing.md; figures that rest on guesses are counted with every result",
        "",
    );
    Datasheet {
        name: target.name,
        kind: "chip",
        support: Support::Modelled,
        summary: format!(
            "{} cores, {} MiB SBUF, {} GiB HBM",
            target.cores,
            sbuf * cores,
            target.hbm_bytes >> 30
        ),
        facts: facts.0,
    }
}

fn instance(it: &Instance) -> Datasheet {
    let target = it.target();
    let chips = f64::from(it.chips);
    let mut facts = Facts(Vec::new());
    facts.words("instance", "chip", it.chip, it.source);
    facts.number("instance", "chips", chips, "", it.source);
    facts.number(
        "instance",
        "cores",
        f64::from(it.cores()),
        "",
        "derived: chips x cores of a chip",
    );
    facts.words("instance", "topology", it.topology.words(), it.source);
    let hbm = chips * (target.hbm_bytes >> 30) as f64;
    facts.number("instance", "HBM", hbm, "GiB", "derived: chips x HBM");
    let bandwidth = chips * target.timing.hbm_chip_bytes_per_us as f64 / 1000.0;
    facts.number(
        "instance",
        "HBM bandwidth",
        bandwidth,
        "GB/s",
        "derived: chips x HBM bandwidth",
    );
    match it.link_gbytes_per_s {
        Some(rate) => {
            facts.number(
                "links",
                "NeuronLink-v2 of a chip",
                f64::from(rate),
                "GB/s",
                it.source,
            );
            let links = it.topology.links();
            facts.number("links", "links of a chip", f64::from(links), "", ARCH);
            let each = f64::from(rate) / f64::from(links);
            facts.number(
                "links",
                "one link",
                each,
                "GB/s",
                "derived: NeuronLink-v2 of a chip / links",
            );
        }
        None => facts.words(
            "links",
            "NeuronLink-v2 of a chip",
            "none: the chip stands alone",
            it.source,
        ),
    }
    match it.efa_gbits_per_s {
        Some(rate) => facts.number("links", "EFA", f64::from(rate), "Gbit/s", it.source),
        None => facts.words("links", "EFA", "none", it.source),
    }
    let peak = peak_tera(target, Dtype::Bf16) * chips;
    facts.number("peak", "bf16, f16, tf32, fp8, derived", peak, "TFLOPS", DERIVED);
    facts.number(
        "peak",
        "bf16, f16, tf32, fp8, published",
        chips * 190.0,
        "TFLOPS",
        it.source,
    );
    facts.number("peak", "f32, published", chips * 47.5, "TFLOPS", it.source);
    let plural = if it.chips == 1 { "" } else { "s" };
    Datasheet {
        name: it.name,
        kind: "instance",
        support: Support::Modelled,
        summary: format!(
            "{} {} chip{plural}, {} cores, {}",
            it.chips,
            it.chip,
            it.cores(),
            it.topology.words()
        ),
        facts: facts.0,
    }
}

fn inferentia1() -> Datasheet {
    const SOURCE: &str = "inferentia.rst";
    let mut facts = Facts(Vec::new());
    facts.number("chip", "NeuronCore-v1 cores", 4.0, "", SOURCE);
    facts.number("memory", "DRAM", 8.0, "GiB", SOURCE);
    facts.number("memory", "DRAM bandwidth", 50.0, "GiB/s", SOURCE);
    facts.number("links", "NeuronLink-v1", 32.0, "GiB/s", "inf1-arch.rst");
    facts.number("peak", "bf16, f16, published", 64.0, "TFLOPS", SOURCE);
    facts.number("peak", "int8, published", 128.0, "TOPS", SOURCE);
    for name in ["on-chip memory", "clocks", "instruction set"] {
        facts.add("core", name, Figure::NotPublished, "");
    }
    facts.words(
        "modelled by nk",
        "programs",
        "not modelled: NKI does not reach NeuronCore-v1",
        "",
    );
    Datasheet {
        name: "inferentia1",
        kind: "chip",
        support: Support::NotModelled,
        summary: "4 NeuronCore-v1, 8 GiB DRAM".to_string(),
        facts: facts.0,
    }
}

fn trainium2() -> Datasheet {
    const SOURCE: &str = "trainium2.rst";
    const ARCH3: &str = "trainium2_arch.rst";
    let mut facts = Facts(Vec::new());
    facts.number("chip", "NeuronCore-v3 cores", 8.0, "", SOURCE);
    facts.number("chip", "collective cores", 20.0, "", SOURCE);
    facts.number("core", "tensor engine clock", 2.4, "GHz", ARCH3);
    facts.number("core", "vector engine clock", 0.96, "GHz", ARCH3);
    facts.number("core", "scalar engine clock", 1.2, "GHz", ARCH3);
    facts.number("memory", "SBUF of the chip", 224.0, "MiB", SOURCE);
    facts.number("memory", "HBM", 96.0, "GiB", SOURCE);
    facts.number("memory", "HBM bandwidth", 2.9, "TB/s", SOURCE);
    facts.number("memory", "DMA of the chip", 3.5, "TB/s", SOURCE);
    facts.number("links", "NeuronLink-v3", 1.28, "TB/s", SOURCE);
    facts.number("peak", "bf16, f16, tf32, published", 667.0, "TFLOPS", SOURCE);
    facts.number("peak", "fp8, published", 1299.0, "TFLOPS", SOURCE);
    facts.number("peak", "f32, published", 181.0, "TFLOPS", SOURCE);
    facts.number("peak", "sparse, published", 2563.0, "TFLOPS", SOURCE);
    facts.words("modelled by nk", "programs", "not modelled", "");
    Datasheet {
        name: "trainium2",
        kind: "chip",
        support: Support::NotModelled,
        summary: "8 NeuronCore-v3, 96 GiB HBM".to_string(),
        facts: facts.0,
    }
}

/// A page as text: facts by topic, the source at the end of each line.
pub fn page(sheet: &Datasheet) -> String {
    let support = match sheet.support {
        Support::Modelled => "",
        Support::NotModelled => ", not modelled",
    };
    let mut text = format!("{} ({}{support}): {}\n", sheet.name, sheet.kind, sheet.summary);
    let mut topics: Vec<&str> = Vec::new();
    for fact in &sheet.facts {
        if !topics.contains(&fact.topic) {
            topics.push(fact.topic);
        }
    }
    for topic in topics {
        text.push_str(&format!("\n{topic}\n"));
        for fact in sheet.facts.iter().filter(|it| it.topic == topic) {
            let line = format!("  {:<36}{:<22}  {}", fact.name, fact.value.text(), fact.source);
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

/// The list of all pages.
pub fn list() -> String {
    let mut text = String::new();
    for sheet in datasheets() {
        let support = match sheet.support {
            Support::Modelled => "",
            Support::NotModelled => " (not modelled)",
        };
        text.push_str(&format!(
            "{:<16}{:<10}{}{support}\n",
            sheet.name, sheet.kind, sheet.summary
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_its_source() {
        for sheet in datasheets() {
            for fact in &sheet.facts {
                let is_number = matches!(fact.value, Figure::Number { .. });
                assert!(
                    !is_number || !fact.source.is_empty(),
                    "{}: {}",
                    sheet.name,
                    fact.name
                );
            }
        }
    }

    #[test]
    fn peaks_follow_from_the_array_and_the_clock() {
        let peak = |dtype| (peak_tera(&TARGETS[0], dtype) * 10.0).round() / 10.0;
        assert_eq!((peak(Dtype::Bf16), peak(Dtype::F32)), (183.5, 45.9));
        assert_eq!(datasheet("trn1").map(|it| it.name), Some("trainium1"));
    }
}
