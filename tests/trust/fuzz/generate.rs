//! Kernels that are legal by construction: tiles of a few shapes, and instructions that fit them.

use super::mutate::Dice;
use std::fmt::Write;

/// A kernel as the choices that make it: leaving statements out, or making them simpler, gives a smaller one.
#[derive(Clone, Debug)]
pub struct Kernel {
    rows: usize,
    columns: usize,
    statements: Vec<[usize; 6]>,
}

const ROWS: &[usize] = &[128, 32, 1, 64, 100];
const COLUMNS: &[usize] = &[8, 1, 32, 64, 96, 256];
const DTYPES: &[&str] = &[
    "float32",
    "bfloat16",
    "float16",
    "float8_e4m3",
    "int32",
    "uint8",
    "int16",
];
const OPS: &[&str] = &["add", "multiply", "subtract", "maximum", "minimum"];
const FUNCTIONS: &[&str] = &["exp", "relu", "tanh", "sigmoid", "copy", "square", "gelu", "silu"];
const NUMBERS: &[&str] = &["0.0", "1.0", "-1.0", "0.5", "3.25", "-1e30", "1e-30", "255.0"];

impl Kernel {
    pub fn random(dice: &mut Dice) -> Kernel {
        let n_statements = 1 + dice.below(12);
        let statements = (0..n_statements).map(|_| std::array::from_fn(|_| dice.below(1 << 16)));
        Kernel {
            statements: statements.collect(),
            rows: *dice.pick(ROWS),
            columns: *dice.pick(COLUMNS),
        }
    }

    /// The smallest kernel on the way that still fails.
    pub fn shrunk(mut self, fails: impl Fn(&Kernel) -> bool) -> Kernel {
        loop {
            let smaller = self.smaller().into_iter().find(|it| fails(it));
            match smaller {
                Some(it) => self = it,
                None => return self,
            }
        }
    }

    fn smaller(&self) -> Vec<Kernel> {
        let mut all = Vec::new();
        for at in 0..self.statements.len() {
            let mut kernel = self.clone();
            kernel.statements.remove(at);
            all.push(kernel);
        }
        for (rows, columns) in [
            (1, self.columns),
            (32, self.columns),
            (self.rows, 1),
            (self.rows, 8),
        ] {
            if rows < self.rows || columns < self.columns {
                all.push(Kernel {
                    rows,
                    columns,
                    ..self.clone()
                });
            }
        }
        for at in 0..self.statements.len() {
            for choice in 1..6 {
                if self.statements[at][choice] != 0 {
                    let mut kernel = self.clone();
                    kernel.statements[at][choice] = 0;
                    all.push(kernel);
                }
            }
        }
        all
    }

    pub fn text(&self) -> String {
        let (rows, columns) = (self.rows, self.columns);
        let mut text = format!(
            "# nk: run kernel(x=f32[{rows},{columns}]:randn(0), w=f32[{rows},128]:uniform(-2,2,1))\n\
             import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\n\n\
             def scaled(dst, src, factor):\n    \
             nisa.tensor_scalar(dst=dst, data=src, op0=nl.multiply, operand0=factor)\n\n\n\
             @nki.jit\ndef kernel(x, w):\n    \
             t0 = nl.ndarray(({rows}, {columns}), dtype=nl.float32, buffer=nl.sbuf)\n    \
             nisa.dma_copy(dst=t0, src=x)\n    \
             wide = nl.ndarray(({rows}, 128), dtype=nl.float32, buffer=nl.sbuf)\n    \
             nisa.dma_copy(dst=wide, src=w)\n    \
             column = nl.ndarray(({rows}, 1), dtype=nl.float32, buffer=nl.sbuf)\n    \
             nisa.memset(dst=column, value=0.75)\n"
        );
        for (idx, choices) in self.statements.iter().enumerate() {
            self.statement(&mut text, idx + 1, choices);
        }
        let n_tiles = self.statements.len() + 1;
        let mut names = Vec::new();
        for idx in 0..n_tiles {
            let line = format!(
                "    out{idx} = nl.ndarray(t{idx}.shape, dtype=t{idx}.dtype, buffer=nl.shared_hbm)\n    \
                 nisa.dma_copy(dst=out{idx}, src=t{idx})\n"
            );
            text.push_str(&line);
            names.push(format!("out{idx}"));
        }
        writeln!(text, "    return {}", names.join(", ")).expect("a string takes any text");
        text
    }

    /// A tile, and what is written to it.
    fn statement(&self, text: &mut String, idx: usize, choices: &[usize; 6]) {
        let (rows, columns) = (self.rows, self.columns);
        let [kind, first, second, op, number, dtype] = *choices;
        let source = format!("t{}", first % idx);
        let other = format!("t{}", second % idx);
        let of = |list: &[&'static str], at: usize| list[at % list.len()];
        let dtype = of(DTYPES, dtype);
        let (op_name, number) = (of(OPS, op), of(NUMBERS, number));
        let tile = format!("t{idx}");
        let mut line = |words: String| writeln!(text, "    {words}").expect("a string takes any text");
        line(format!(
            "{tile} = nl.ndarray(({rows}, {columns}), dtype=nl.{dtype}, buffer=nl.sbuf)"
        ));
        match kind % 12 {
            0 => line(format!("nisa.tensor_copy(dst={tile}, src={source})")),
            1 => line(format!(
                "nisa.tensor_tensor(dst={tile}, data1={source}, data2={other}, op=nl.{op_name})"
            )),
            2 => line(format!(
                "nisa.tensor_scalar(dst={tile}, data={source}, op0=nl.{op_name}, operand0={number}, op1=nl.add, operand1=column)"
            )),
            3 => line(format!(
                "nisa.activation(dst={tile}, op=nl.{}, data={source}, bias=column, scale={number})",
                of(FUNCTIONS, op)
            )),
            4 => {
                line(format!(
                    "nisa.tensor_reduce(dst=column, op=nl.{op_name}, data={source}, axis=1)"
                ));
                line(format!(
                    "nisa.tensor_scalar(dst={tile}, data={source}, op0=nl.{op_name}, operand0=column)"
                ));
            }
            5 => {
                line(format!("for i in range({columns}):"));
                let last = columns - 1;
                line(format!(
                    "    nisa.tensor_copy(dst={tile}[:, {last} - i:{columns} - i], src={source}[:, i:i + 1])"
                ));
            }
            6 => line(format!("scaled({tile}, {source}, {number})")),
            7 => {
                line(format!(
                    "scratch = nl.ndarray(({rows}, {columns}), dtype=nl.float32, buffer=nl.psum)"
                ));
                line(format!("nisa.tensor_copy(dst=scratch, src={source})"));
                line(format!(
                    "nisa.tensor_tensor(dst={tile}, data1=scratch, data2={other}, op=nl.{op_name})"
                ));
            }
            8 => {
                // The contraction is over the rows, so the result has 128 of them.
                line(format!(
                    "left{idx} = nl.ndarray(({rows}, 128), dtype=nl.bfloat16, buffer=nl.sbuf)"
                ));
                line(format!(
                    "right{idx} = nl.ndarray(({rows}, {columns}), dtype=nl.bfloat16, buffer=nl.sbuf)"
                ));
                line(format!("nisa.tensor_copy(dst=left{idx}, src=wide)"));
                line(format!("nisa.tensor_copy(dst=right{idx}, src={source})"));
                line(format!(
                    "acc{idx} = nl.ndarray((128, {columns}), dtype=nl.float32, buffer=nl.psum)"
                ));
                line(format!("nisa.nc_matmul(acc{idx}, left{idx}, right{idx})"));
                line(format!(
                    "nisa.nc_matmul(acc{idx}, left{idx}, right{idx}, accumulate=True)"
                ));
                line(format!("nisa.tensor_copy(dst={tile}, src=acc{idx}[0:{rows}, :])"));
            }
            9 => {
                line(format!("nisa.tensor_copy(dst={tile}, src={source})"));
                line("for row in nl.dynamic_range(1):".to_string());
                line(format!(
                    "    nisa.tensor_scalar(dst={tile}, data={tile}, op0=nl.{op_name}, operand0={number})"
                ));
            }
            10 => {
                line(format!(
                    "mask{idx} = nl.ndarray(({rows}, {columns}), dtype=nl.uint8, buffer=nl.sbuf)"
                ));
                line(format!(
                    "nisa.tensor_scalar(dst=mask{idx}, data={source}, op0=nl.greater, operand0={number})"
                ));
                line(format!("nisa.tensor_copy(dst={tile}, src={other})"));
                line(format!(
                    "nisa.tensor_copy_predicated(dst={tile}, src={number}, predicate=mask{idx})"
                ));
            }
            _ => line(format!(
                "nisa.scalar_tensor_tensor(dst={tile}, data={source}, op0=nl.{op_name}, operand0={number}, op1=nl.add, operand1={other})"
            )),
        }
    }
}
