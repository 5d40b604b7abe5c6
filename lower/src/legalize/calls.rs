//! Stack slots for calls of the runtime.

use frontend::op::MatrixKinds;

use super::code::{Code, offset32};
use crate::ir::matrix::{Addend, MAX_CALLS};
use crate::ir::{Args, MatrixCall};
use crate::vir::{self, Builder, Memory, StackSlot, Value, types};

/// Maximum number of results of a call.
const MAX_RESULTS: usize = 16;

/// The stack slots by which code passes words to functions of the runtime. They serve the whole
/// region.
pub(super) struct Calls {
    /// Arguments.
    args: StackSlot,
    /// Addresses of lane results.
    out: StackSlot,
    /// The buffer for the words of scalar loads that are checked together and made by the runtime.
    loaded: Option<StackSlot>,
    /// The words of the matrix instructions of a terminator.
    products: Option<StackSlot>,
    /// The arguments of the last call with effects, and the host block after it, while they are
    /// still in `args`.
    present: Option<(vir::Block, Vec<Value>)>,
}

impl Calls {
    /// Allocates the slots.
    pub(super) fn new(b: &mut Builder<'_>) -> Calls {
        Calls {
            args: b.func.stack_slot(8 * 2 * Args::MAX as u32),
            out: b.func.stack_slot(8 * MAX_RESULTS as u32),
            loaded: None,
            products: None,
            present: None,
        }
    }

    /// Stores the arguments of a call; returns their address.
    pub(super) fn store_args(&mut self, code: &mut Code<'_>, words: &[Value]) -> Value {
        self.present = None;
        store_changed(code, self.args, words, &[])
    }

    /// Stores the addresses of a call's lane results; returns the address of the list.
    pub(super) fn store_outputs(&mut self, code: &mut Code<'_>, words: &[Value]) -> Value {
        self.present = None;
        store_changed(code, self.out, words, &[])
    }

    /// Stores the arguments of a function with effects. The baseline tier omits those that the
    /// preceding call in the same host block has stored: functions only read them.
    pub(super) fn store_changed_args(&mut self, code: &mut Code<'_>, words: &[Value]) -> Value {
        let present = self.present.take();
        let here = code.b.current_block();
        let baseline = code.region.options().baseline;
        let present = present.filter(|&(block, _)| baseline && Some(block) == here);
        let present = present.map_or_else(Vec::new, |(_, words)| words);
        store_changed(code, self.args, words, &present)
    }

    /// Records that the current host block follows a call with these arguments.
    pub(super) fn keep_args(&mut self, code: &Code<'_>, words: &[Value]) {
        let after = code.b.current_block();
        self.present = after.map(|block| (block, words.to_vec()));
    }

    /// Stores matrix instructions of a block with so many staging registers; returns the address of what `EffectFn::Matrix` gets.
    pub(super) fn store_matrix_calls(
        &mut self,
        code: &mut Code<'_>,
        calls: &[MatrixCall],
        staged: u32,
    ) -> Value {
        let most = 8 * (1 + 3 * MAX_CALLS as u32);
        let slot = *self
            .products
            .get_or_insert_with(|| code.b.func.stack_slot(most));
        let kinds = calls.iter().map(|call| MatrixKinds::of(call.shape));
        let kinds = kinds.fold(MatrixKinds::default(), MatrixKinds::with);
        let header = calls.len() as u64 | u64::from(kinds.0) << 8 | u64::from(staged) << 32;
        let mut words = vec![Some(header)];
        for (i, call) in calls.iter().enumerate() {
            let joined = i > 0 && call.continues(&calls[i - 1]);
            let [registers, shape, constant] = call.words(joined);
            // The last word is not read where it says nothing.
            let says = matches!(call.c, Addend::Constant(_)) || call.places.is_some();
            let constant = says.then_some(constant);
            words.extend([Some(registers), Some(shape), constant]);
        }
        let at = code.b.stack_addr(slot);
        for (i, word) in words.into_iter().enumerate() {
            if let Some(word) = word {
                let word = code.integer(types::I64, word.cast_signed());
                code.b.store(Memory::Trusted, word, at, offset32(8 * i));
            }
        }
        at
    }

    /// The address of the buffer for words that the runtime loaded, of this number of bytes.
    pub(super) fn loaded(&mut self, code: &mut Code<'_>, bytes: u32) -> Value {
        let slot = self.loaded.unwrap_or_else(|| code.b.func.stack_slot(bytes));
        self.loaded = Some(slot);
        code.b.stack_addr(slot)
    }
}

/// Stores words to a stack slot that already contains the words `present`; returns its address.
fn store_changed(
    code: &mut Code<'_>,
    slot: StackSlot,
    words: &[Value],
    present: &[Value],
) -> Value {
    let at = code.b.stack_addr(slot);
    for (i, &w) in words.iter().enumerate() {
        if present.get(i) != Some(&w) {
            code.b.store(Memory::Trusted, w, at, offset32(8 * i));
        }
    }
    at
}
