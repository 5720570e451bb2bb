//! Arguments, files that NumPy and safetensors wrote, files that nobody should write, and comparison.

use super::*;
use nk_compiler::diagnostic::Report;
use proptest::prelude::*;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data");

/// The argument with `DIR` replaced by the directory of test files.
fn source(text: &str) -> Source {
    match parse_arg(&text.replace("DIR", DATA)).unwrap() {
        ArgSpec::Tensor(source) => source,
        other => panic!("{other:?}"),
    }
}

fn load(text: &str) -> Loaded {
    let source = source(text);
    let loaded = source.load().unwrap();
    let facts = (loaded.tensor.dtype(), loaded.tensor.shape().to_vec());
    assert_eq!(source.facts().unwrap(), facts);
    loaded
}

fn message(error: &Error) -> String {
    let diagnostic = error.report();
    let text = [vec![diagnostic.message], diagnostic.notes, diagnostic.helps]
        .concat()
        .join("; ");
    text.replace(DATA, "DIR")
}

/// `make_data.py` writes every array as 0, 1, 2, … in row-major order, minus 2 where the dtype has a sign.
#[test]
fn files_of_numpy() {
    let signed = [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0];
    let unsigned = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let cases = [
        ("@DIR/f32.npy", Dtype::F32, &signed),
        ("@DIR/f32_big_endian.npy", Dtype::F32, &signed),
        ("@DIR/f32_fortran.npy", Dtype::F32, &signed),
        ("@DIR/f32_version_2.npy", Dtype::F32, &signed),
        ("@DIR/f32.npy:tf32", Dtype::Tf32, &signed),
        ("@DIR/f16.npy", Dtype::F16, &signed),
        ("@DIR/bf16.npy:bf16", Dtype::Bf16, &signed),
        ("@DIR/e4m3.npy:f8e4m3", Dtype::F8e4m3, &signed),
        ("@DIR/e5m2.npy:f8e5m2", Dtype::F8e5m2, &signed),
        ("@DIR/e3m4.npy:float8_e3m4", Dtype::F8e3m4, &signed),
        ("@DIR/i32.npy", Dtype::I32, &signed),
        ("@DIR/i16.npy", Dtype::I16, &signed),
        ("@DIR/i8.npy", Dtype::I8, &signed),
        ("@DIR/u32.npy", Dtype::U32, &unsigned),
        ("@DIR/u16.npy", Dtype::U16, &unsigned),
        ("@DIR/u8.npy", Dtype::U8, &unsigned),
        ("@DIR/stored.npz:a", Dtype::F32, &signed),
        ("@DIR/deflated.npz:a", Dtype::F32, &signed),
        ("@DIR/deflated.npz:raw:bf16", Dtype::Bf16, &signed),
        ("@DIR/all.safetensors:f32", Dtype::F32, &signed),
        ("@DIR/all.safetensors:bf16", Dtype::Bf16, &signed),
        ("@DIR/all.safetensors:e4m3", Dtype::F8e4m3, &signed),
        ("@DIR/all.safetensors:i8", Dtype::I8, &signed),
    ];
    for (text, dtype, values) in cases {
        let loaded = load(text);
        assert_eq!(loaded.tensor.dtype(), dtype, "{text}");
        assert_eq!(loaded.tensor.shape(), [2, 3], "{text}");
        assert_eq!(loaded.tensor.to_f64(), values, "{text}");
        assert!(loaded.warnings.is_empty(), "{text}");
    }
    assert_eq!(load("@DIR/bool.npy").tensor.to_f64(), [1.0, 0.0, 1.0]);
    assert_eq!(load("@DIR/scalar.npy").tensor.shape(), [0usize; 0]);
    assert_eq!(load("@DIR/empty.npy").tensor.shape(), [0, 3]);
}

#[test]
fn arrays_of_64_bits_are_narrowed() {
    for name in ["f64.npy", "i64.npy", "all.safetensors:i64"] {
        let loaded = load(&format!("@DIR/{name}"));
        assert_eq!(loaded.tensor.to_f64(), [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0], "{name}");
        assert_eq!(loaded.warnings.len(), 1, "{name}");
    }
    let error = source("@DIR/i64_large.npy").load().unwrap_err();
    insta::assert_snapshot!(message(&error));
}

#[test]
fn float8_e4m3fn_above_240_becomes_infinite() {
    let loaded = load("@DIR/all.safetensors:e4m3fn_large");
    assert_eq!(loaded.tensor.to_f64(), [240.0, f64::INFINITY, f64::NEG_INFINITY]);
    assert_eq!(loaded.warnings.len(), 1);
}

#[test]
fn every_dtype_is_written_and_read_back() {
    let dir = tempfile::tempdir().unwrap();
    for (dtype, short, _) in nk_compiler::dtype::DTYPES {
        let tensor = Generator::Randint {
            low: 0,
            high: 2,
            seed: 5,
        }
        .make(*dtype, &[3, 4, 1])
        .unwrap();
        let path = tensor.write(dir.path(), short).unwrap();
        assert_eq!(load(&format!("@{}", path.display())).tensor, tensor, "{short}");
    }
}

#[test]
fn written_headers_are_those_of_numpy() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["f32", "f16", "bool", "i8", "scalar", "empty"] {
        let tensor = load(&format!("@DIR/{name}.npy")).tensor;
        let path = tensor.write(dir.path(), name).unwrap();
        assert_eq!(
            std::fs::read(path).unwrap(),
            std::fs::read(format!("{DATA}/{name}.npy")).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn wrong_files_are_errors_with_words() {
    let dir = tempfile::tempdir().unwrap();
    let npy = |descr: &str, shape: &str, n_bytes: usize| {
        let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend_from_slice(&(header.len() as u16).to_le_bytes());
        file.extend_from_slice(header.as_bytes());
        file.extend(std::iter::repeat_n(0, n_bytes));
        file
    };
    let safetensors = |header: &str, n_bytes: usize| {
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend_from_slice(header.as_bytes());
        file.extend(std::iter::repeat_n(0, n_bytes));
        file
    };
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty.npy", vec![]),
        ("text.npy", b"1 2 3 4 5 6 7 8".to_vec()),
        ("cut.npy", npy("'<f4'", "(2, 3)", 20)),
        ("huge.npy", npy("'<f4'", "(1000000000, 1000000000)", 8)),
        (
            "overflow.npy",
            npy("'<f4'", "(4294967296, 4294967296, 4294967296)", 8),
        ),
        ("large_claim.npy", npy("'<f4'", "(1000000000,)", 8)),
        ("negative.npy", npy("'<f4'", "(-1,)", 8)),
        ("complex.npy", npy("'<c8'", "(1,)", 8)),
        ("object.npy", npy("'|O'", "(1,)", 8)),
        ("record.npy", npy("[('a', '<f4')]", "(1,)", 8)),
        ("deep.npy", npy("'<f4'", &"(".repeat(50_000), 8)),
        ("many.npy", npy("'<f4'", &format!("({})", "1,".repeat(10_000)), 8)),
        ("raw.npy", npy("'<V2'", "(1,)", 2)),
        ("unclosed.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec()),
        ("version.npy", b"\x93NUMPY\x09\x00".to_vec()),
        ("text.npz", b"1 2 3 4 5 6 7 8".to_vec()),
        ("text.safetensors", b"1 2 3 4 5 6 7 8".to_vec()),
        ("short.safetensors", b"1 2".to_vec()),
        ("deep.safetensors", safetensors(&"[".repeat(100_000), 0)),
        (
            "cut.safetensors",
            safetensors(r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#, 4),
        ),
        (
            "sizes.safetensors",
            safetensors(r#"{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}"#, 8),
        ),
        (
            "fp4.safetensors",
            safetensors(r#"{"a":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}}"#, 1),
        ),
    ];
    let mut messages = String::new();
    for (name, bytes) in cases {
        std::fs::write(dir.path().join(name), bytes).unwrap();
        let error = source(&format!("@{}/{name}", dir.path().display()))
            .load()
            .unwrap_err();
        let text = message(&error).replace(&dir.path().display().to_string(), "DIR");
        messages.push_str(&format!("{text}\n"));
    }
    for text in [
        "@DIR/missing.npy",
        "@DIR/deflated.npz",
        "@DIR/all.safetensors:x",
        "@DIR/f32.npy:bf16",
    ] {
        messages.push_str(&format!("{}\n", message(&source(text).load().unwrap_err())));
    }
    insta::assert_snapshot!(messages);
}

#[test]
fn arguments() {
    let texts = [
        "3",
        "(2, 4)",
        "nl.bfloat16",
        "'@x.npy'",
        "f(x[0], 1)",
        "@a.npy",
        "@a.npy:bf16",
        "@dir.npy/a.npz:w.npy:key",
        "@a.npz:key:f8e4m3",
        "f32[128, 512]:randn(0)",
        "float8_e4m3[]:ones",
        "nl.bfloat16[8,]:uniform(-1, 1e-3, 7)",
        "i32[8]:randint(-4,4,7)",
        "(@a.npy, (3, u8[2]:arange), ')')",
        // Mistakes.
        "@a.txt",
        "@a.npy:bf17",
        "f31[2]:zeros",
        "nl.float8_e4m3fn[2]:zeros",
        "@a.npy:f8e8m0fnu",
        "f32[2]",
        "f32[-2]:zeros",
        "f32[2]:randn",
        "f32[2]:randn(0",
        "f32[2]:random(0)",
        "f32[2]:uniform(0,inf,3)",
        "i32[2]:randint(4,4,0)",
    ];
    let mut lines = String::new();
    for text in texts {
        let line = match parse_arg(text) {
            Ok(spec) => format!("{text}  ->  {spec:?}\n"),
            Err(error) => format!("{text}  ->  error: {}\n", message(&error)),
        };
        lines.push_str(&line);
    }
    insta::assert_snapshot!(lines);
}

#[test]
fn a_tensor_that_is_too_large_is_an_error() {
    let texts = [
        "f32[1000000,1000000]:zeros",
        "f32[4294967296,4294967296]:randn(0)",
    ];
    let messages = texts.map(|it| message(&source(it).load().unwrap_err()));
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn comparison() {
    let nan = f64::NAN;
    let infinity = f64::INFINITY;
    let compared = |dtype: Dtype, got: &[f64], want: &[f64], tolerance: Tolerance| {
        let got = Tensor::from_f64(dtype, vec![got.len() / 2, 2], got).unwrap();
        compare(&got, want, tolerance).unwrap()
    };
    let default = Tolerance::default();
    assert!(compared(Dtype::F32, &[1.0, nan], &[1.0, nan], default).ok);
    assert!(compared(Dtype::F32, &[infinity, 1.0], &[infinity, 1.0], default).ok);
    assert!(!compared(Dtype::F32, &[infinity, 1.0], &[-infinity, 1.0], default).ok);
    assert!(!compared(Dtype::F32, &[1.0, nan], &[1.0, 1.0], default).ok);
    assert!(!compared(Dtype::F32, &[1.0, 1.0], &[1.0, nan], default).ok);
    // The default absolute tolerance is that of the largest wanted value.
    assert!(compared(Dtype::F32, &[0.009, 100.0], &[0.0, 100.0], default).ok);
    assert!(!compared(Dtype::F32, &[0.011, 100.0], &[0.0, 100.0], default).ok);
    assert!(!compared(Dtype::I32, &[1.0, 100.0], &[2.0, 100.0], default).ok);
    let exact = Tolerance {
        rtol: Some(0.0),
        atol: Some(0.0),
    };
    let check = compared(Dtype::Bf16, &[1.0, 2.0, 3.5, 4.0], &[1.0, 2.0, 3.0, 4.5], exact);
    assert_eq!((check.ok, check.n_bad, check.max_abs_err), (false, 2, 0.5));
    assert_eq!(check.first_bad, Some((vec![1, 0], 3.5, 3.0)));
    let got = Tensor::from_f64(Dtype::F32, vec![2], &[1.0, 2.0]).unwrap();
    assert_eq!(compare(&got, &[1.0], default), None);
}

proptest! {
    /// No header, however broken, takes the process down.
    #[test]
    fn broken_npy_headers(at in 0usize..128, byte: u8, length in 0usize..152) {
        let mut file = std::fs::read(format!("{DATA}/f32.npy")).unwrap();
        file[at] = byte;
        file.truncate(length.max(at));
        let mut reader = &file[..];
        if let Ok(header) = npy::read_header("x.npy", &mut reader) {
            let _ = npy::read_elements("x.npy", &header, None, &mut reader);
        }
    }

    #[test]
    fn no_argument_panics(text in "[@(),:\\[\\]a-z0-9.'\"é ]{0,40}") {
        let _ = parse_arg(&text);
    }
}
