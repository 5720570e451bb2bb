//! Declarations: the kernel's line, buffers with their regions, and results.
//!
//! Takes those lines, adds to the tables under construction or reports what is wrong.

use super::SPECIAL_FLOATS;
use super::build::{Builder, Section, number};
use super::error::{Error, Mistake, Noun};
use super::operand::{read_name, read_word};
use super::print::usual_result_name;
use super::syntax::{
    At, BufferLine, Kernel, PrintLine, RangeText, RegionText, ResultText, RoleWord, Run, Scalar, Value,
};
use crate::ir::{Buffer, Constant, Print, Region, Register, Request, ResultValue, Role, Shape};
use crate::isa::{MEMORIES, Memory};
use crate::target::{TARGETS, Target};

/// The most values that a constant of a text has.
const MAX_VALUES: u64 = 1 << 26;

impl Builder {
    /// `kernel %name for target`
    pub(super) fn add_kernel(&mut self, kernel: Kernel) {
        self.section = Section::Declarations;
        // A kernel's name has no instance numbers, so what follows the mark is the name, digits included.
        self.program.name = read_word(&kernel.name.value[1..]);
        match Target::from_name(kernel.target.value) {
            Some(target) => self.program.target = target.name,
            None => self.unknown(Noun::Target, &kernel.target, TARGETS.iter().map(|it| it.name)),
        }
    }

    /// `reg %name, …`
    pub(super) fn add_registers(&mut self, names: Vec<At<&str>>) {
        for it in names {
            let Some(name) = read_name(it.value) else {
                self.report(it.range, number("an instance number", "4294967295"));
                continue;
            };
            let text = name.to_string();
            if !self.is_new(&text, &it.range) {
                continue;
            }
            let loc = Some(self.add_loc(&it.range));
            let id = self.program.add_register(Register { name, loc });
            self.registers.insert(text, id);
        }
    }

    /// `buf %name: dtype[sizes] @ memory …`
    pub(super) fn add_buffer(&mut self, line: BufferLine) {
        let Some(name) = read_name(line.name.value) else {
            self.report(line.name.range, number("an instance number", "4294967295"));
            return;
        };
        let text = name.to_string();
        let span = self.span(&line.name.range);
        if !self.is_new(&text, &line.name.range) {
            return;
        }
        self.names.insert(text.clone(), None);
        let dtype = self.dtype(&line.dtype);
        let memory = Memory::from_name(line.memory.value);
        if memory.is_none() {
            self.unknown(Noun::Memory, &line.memory, MEMORIES.iter().map(|it| it.1));
        }
        let shape = self.shape(&line.shape);
        let request = self.request(&line);
        let (Some(dtype), Some(memory), Some(shape), Ok(request)) = (dtype, memory, shape, request) else {
            return;
        };
        let buffer = Buffer {
            name,
            dtype,
            shape,
            memory,
            role: match line.role {
                RoleWord::In => Role::In,
                RoleWord::Out => Role::Out,
                RoleWord::Buf => Role::Local,
            },
            request,
            loc: None,
        };
        if memory.is_on_chip() && shape.is_empty() {
            self.report(line.shape.range, Mistake::NoPartitions);
            return;
        }
        if !has_usable_size(&shape, memory) {
            self.report(line.shape.range, Mistake::ShapeTooLarge);
            return;
        }
        let region = match &line.region {
            Some(region) => match self.region(&buffer, region) {
                Some(region) => Some(region),
                None => return,
            },
            None => None,
        };
        let contents = match &line.contents {
            Some(contents) => match self.contents(contents, shape.count()) {
                Some(values) => Some(values),
                None => return,
            },
            None => None,
        };
        let loc = self.add_loc(&line.name.range);
        let id = self.program.add_buffer(Buffer {
            loc: Some(loc),
            ..buffer
        });
        if let Some(values) = contents {
            let constant = Constant {
                buffer: id,
                values: values.into(),
            };
            self.program.constants.push(constant);
        }
        self.names.insert(text, Some(id));
        self.buffer_spans.push(span);
        self.regions.push(region);
    }

    /// The values of a constant, one per element.
    fn contents(&mut self, runs: &At<Vec<Run>>, needs: u64) -> Option<Vec<f64>> {
        let mut has = 0u64;
        for run in &runs.value {
            has = has.saturating_add(u64::try_from(run.count).unwrap_or(0));
        }
        if needs > MAX_VALUES {
            self.report(runs.range.clone(), number("the number of values", "67108864"));
            return None;
        }
        if has != needs {
            self.report(runs.range.clone(), Mistake::Contents { has, needs });
            return None;
        }
        let mut values = Vec::with_capacity(needs as usize);
        for run in &runs.value {
            let value = match run.value {
                Scalar::Int(it) => it as f64,
                Scalar::Float(it) => f64::from(it),
                Scalar::Word("nan") => f64::NAN,
                Scalar::Word(word) => match SPECIAL_FLOATS.iter().find(|it| it.1 == word) {
                    Some((it, _)) => f64::from(*it),
                    None => {
                        let (operand, takes) = ("contents", "numbers, inf, neg_inf and nan");
                        self.report(runs.range.clone(), Mistake::Value { operand, takes });
                        return None;
                    }
                },
            };
            values.resize(values.len() + usize::try_from(run.count).unwrap_or(0), value);
        }
        Some(values)
    }

    /// `print %buffer as "prefix", "view"`
    pub(super) fn add_print(&mut self, line: PrintLine) {
        if let Some(buffer) = self.buffer(&line.buffer) {
            self.program.prints.push(Print {
                buffer,
                prefix: read_word(line.prefix.value),
                what: read_word(line.what.value),
            });
        }
    }

    fn shape(&mut self, sizes: &At<Vec<At<i64>>>) -> Option<Shape> {
        let mut dims = Vec::with_capacity(sizes.value.len());
        for size in &sizes.value {
            dims.push(self.fit::<u32>(size, "a size", "4294967295")?);
        }
        let shape = Shape::new(&dims);
        if shape.is_none() {
            self.report(sizes.range.clone(), Mistake::Rank { rank: dims.len() });
        }
        shape
    }

    /// `address=(partition, byte)`.
    fn request(&mut self, line: &BufferLine) -> Result<Option<Request>, ()> {
        let mut request = None;
        for option in &line.options {
            if option.name.value != "address" {
                self.unknown(Noun::BufferOption, &option.name, ["address"].into_iter());
                return Err(());
            }
            if request.is_some() {
                self.report(
                    option.name.range.clone(),
                    Mistake::RepeatedOperand { name: "address" },
                );
                return Err(());
            }
            let pair = match &option.value.value {
                Value::Tuple(items) => <&[At<i64>; 2]>::try_from(items.as_slice()).ok(),
                _ => None,
            };
            let Some([partition, byte]) = pair else {
                let takes = "a partition and a byte, like (0, 0x800)";
                self.report(
                    option.value.range.clone(),
                    Mistake::Value {
                        operand: "address",
                        takes,
                    },
                );
                return Err(());
            };
            request = Some(Request {
                partition: self.fit(partition, "a partition", "4294967295").ok_or(())?,
                byte: self.fit(byte, "a byte address", "4294967295").ok_or(())?,
            });
        }
        Ok(request)
    }

    fn region(&mut self, buffer: &Buffer, region: &At<RegionText>) -> Option<Region> {
        match (
            &region.value.first,
            &region.value.second,
            buffer.memory.is_on_chip(),
        ) {
            (bytes, None, false) => self.hbm_region(buffer, region, bytes),
            (partitions, Some(bytes), true) => {
                let partition: u16 = self.fit(&partitions.start, "a partition", "65535")?;
                let end: u16 = self.fit(&partitions.end, "a partition", "65535")?;
                let Some(partitions) = end.checked_sub(partition) else {
                    self.report(region.range.clone(), Mistake::RegionForm { on_chip: true });
                    return None;
                };
                Some(Region::OnChip {
                    partition,
                    partitions,
                    start: self.fit(&bytes.start, "a byte address", "4294967295")?,
                    end: self.fit(&bytes.end, "a byte address", "4294967295")?,
                })
            }
            (_, _, on_chip) => {
                self.report(region.range.clone(), Mistake::RegionForm { on_chip });
                None
            }
        }
    }

    fn hbm_region(&mut self, buffer: &Buffer, region: &At<RegionText>, bytes: &RangeText) -> Option<Region> {
        let address: u64 = self.fit(&bytes.start, "a byte address", "64 bits")?;
        let end: u64 = self.fit(&bytes.end, "a byte address", "64 bits")?;
        let needs = buffer.bytes();
        // The end is the start plus the buffer's bytes, written out for the reader.
        if address.checked_add(needs) != Some(end) {
            let has = end.saturating_sub(address);
            self.report(region.range.clone(), Mistake::RegionSize { has, needs });
            return None;
        }
        Some(Region::Hbm { address })
    }

    /// `return …`
    pub(super) fn add_results(&mut self, results: Vec<ResultText>) {
        let mut values = Vec::with_capacity(results.len());
        for result in results {
            let Some(id) = self.buffer(&result.buffer) else {
                continue;
            };
            let name = match &result.name {
                Some(name) => read_word(name.value),
                None => usual_result_name(&self.program[id]),
            };
            values.push(ResultValue { name, buffer: id });
        }
        self.results = Some(values);
    }

    /// The regions of all buffers, if the text gives any.
    pub(super) fn regions(&mut self) -> Option<Vec<Region>> {
        let placed = self.regions.iter().position(Option::is_some)?;
        let placed = self.buffer_spans[placed];
        for idx in 0..self.regions.len() {
            if self.regions[idx].is_none() {
                self.errors.push(Error {
                    span: self.buffer_spans[idx],
                    mistake: Mistake::PartlyPlaced { placed },
                });
            }
        }
        Some(self.regions.iter().copied().flatten().collect())
    }
}

/// Whether strides fit in 32 bits and the bytes of the whole buffer in 62, so that later arithmetic cannot overflow.
fn has_usable_size(shape: &[u32], memory: Memory) -> bool {
    let product = |dims: &[u32]| {
        dims.iter()
            .fold(1u128, |product, &it| product.saturating_mul(it.max(1).into()))
    };
    let strided = shape.get(1 + usize::from(memory.is_on_chip())..).unwrap_or(&[]);
    product(strided) <= i32::MAX as u128 && product(shape) < 1 << 60
}
