use super::text::{parse, print};
use super::types::{F32, F64, I8, I32, I32X4, I32X8, I64};
use super::verify::verify;
use super::*;

/// Builds a function with an entry block and its context, verifies it and parses its text.
fn build(write: impl FnOnce(&mut Builder<'_>, Value)) -> Func {
    let (mut f, mut ssa) = (Func::new(), Ssa::default());
    build_into(&mut f, &mut ssa, write);
    f
}

fn build_into(f: &mut Func, ssa: &mut Ssa, write: impl FnOnce(&mut Builder<'_>, Value)) {
    let mut b = Builder::new(f, ssa);
    let entry = b.create_block();
    let context = b.append_block_param(entry, I64);
    b.switch_to_block(entry);
    write(&mut b, context);
    b.finish();
    if let Err(broken) = verify(f) {
        panic!("{broken}\n{}", print(f));
    }
    reparsed(f);
}

/// A function from its own text.
fn reparsed(f: &Func) -> Func {
    let text = print(f);
    let read = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(print(&read), text);
    read
}

fn read(text: &str) -> Func {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

mod ssa_construction;
mod text_form;
mod verifier;
