//! Host arrays under arguments at the corners: whatever a kernel file asks for, the answer is a value or an error.

use nk_compiler::ast::BIN_OPS;
use nk_compiler::host::{self, Arg, HostArray, HostDtype, HostState};

/// Arguments that bring out the corners: no elements, no dimensions, not a number, out of range, of the wrong kind.
fn odd_arguments() -> Vec<Arg> {
    let array = |shape: &[usize], values: Vec<f64>, dtype| {
        Arg::Array(HostArray::new(shape, values, dtype).expect("as many values as the shape has"))
    };
    let counted = |n: usize| (0..n).map(|it| it as f64 - 1.0).collect::<Vec<f64>>();
    vec![
        Arg::Int(0),
        Arg::Int(2),
        Arg::Int(-1),
        Arg::Int(i64::MAX),
        Arg::Int(i64::MIN),
        Arg::Float(f64::NAN),
        Arg::Float(f64::INFINITY),
        Arg::Float(1e300),
        Arg::Float(0.5),
        Arg::Bool(true),
        Arg::None,
        Arg::Ellipsis,
        Arg::Str("ij,jk".into()),
        Arg::Str("...->".into()),
        Arg::Dtype(HostDtype::F8e4m3),
        Arg::Dtype(HostDtype::U8),
        Arg::Slice {
            start: Some(i64::MAX),
            stop: Some(i64::MIN),
            step: Some(i64::MIN),
        },
        Arg::Slice {
            start: None,
            stop: Some(-1),
            step: Some(i64::MAX),
        },
        Arg::List(vec![]),
        Arg::Tuple(vec![Arg::Int(1), Arg::Int(0)]),
        Arg::Tuple(vec![Arg::Int(i64::MAX), Arg::Int(i64::MAX), Arg::Int(0)]),
        Arg::List(vec![Arg::Bool(true), Arg::Bool(false), Arg::Bool(true)]),
        Arg::List(vec![
            array(&[2], counted(2), HostDtype::F32),
            array(&[2, 2], counted(4), HostDtype::I8),
        ]),
        array(&[], vec![2.0], HostDtype::I32),
        array(&[0], vec![], HostDtype::F64),
        array(&[0, 3], vec![], HostDtype::Bool),
        array(&[3], counted(3), HostDtype::I64),
        array(&[3], vec![f64::NAN, f64::INFINITY, -1.0], HostDtype::F16),
        array(&[2, 3], counted(6), HostDtype::U8),
        array(&[3, 2], counted(6), HostDtype::Bf16),
        array(&[3, 3], counted(9), HostDtype::Bool),
        array(&[2, 1, 3], counted(6), HostDtype::F32),
    ]
}

#[test]
fn no_call_panics() {
    let odd = odd_arguments();
    let mut state = HostState::default();
    let random = [
        "rand",
        "randn",
        "random",
        "uniform",
        "normal",
        "randint",
        "permutation",
        "choice",
        "RandomState",
    ];
    let random = random.iter().map(|it| format!("random.{it}"));
    let names: Vec<String> = host::names().map(String::from).chain(random).collect();
    let keywords: Vec<(String, Arg)> = ["axis", "keepdims", "k", "dtype"]
        .iter()
        .map(|it| (it.to_string(), Arg::Int(1)))
        .collect();
    let mut n_results = 0;
    for name in &names {
        for first in &odd {
            n_results += usize::from(host::call(name, std::slice::from_ref(first), &[], &mut state).is_ok());
            for keyword in &keywords {
                let keyword = std::slice::from_ref(keyword);
                n_results +=
                    usize::from(host::call(name, std::slice::from_ref(first), keyword, &mut state).is_ok());
            }
            for second in &odd {
                let both = [first.clone(), second.clone()];
                if let Ok(result) = host::call(name, &both, &[], &mut state) {
                    n_results += 1;
                    if let Arg::Array(array) = result {
                        assert!(!array.to_string().is_empty());
                    }
                }
                for third in odd.iter().step_by(4).filter(|_| !name.contains("logical")) {
                    let three = [first.clone(), second.clone(), third.clone()];
                    n_results += usize::from(host::call(name, &three, &[], &mut state).is_ok());
                }
            }
        }
    }
    assert!(n_results > 20_000, "only {n_results} calls gave a result");
}

#[test]
fn no_index_panics() {
    let odd = odd_arguments();
    let arrays = odd.iter().filter_map(|it| {
        if let Arg::Array(array) = it {
            Some(array)
        } else {
            None
        }
    });
    let mut n_results = 0;
    for array in arrays {
        for first in &odd {
            for second in &odd {
                let both = [first.clone(), second.clone()];
                for keys in [&both[..1], &both] {
                    n_results += usize::from(host::index(array, keys).is_ok());
                    n_results += usize::from(host::assign(&mut array.clone(), keys, first).is_ok());
                }
                for op in BIN_OPS {
                    n_results += usize::from(host::binary(op.0, first, second).is_ok());
                }
            }
        }
    }
    assert!(n_results > 1000, "only {n_results} operations gave a result");
}
