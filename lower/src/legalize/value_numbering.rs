//! What was emitted before and is used again: it is less to look it up than to emit, select and allocate it anew.

use cranelift_codegen::ir::{
    AbiParam, Block, Constant, ConstantData, ExtFuncData, ExternalName, FuncRef, Immediate,
    InstBuilder, Signature, Type, UserExternalName, Value,
};
use cranelift_frontend::FunctionBuilder;

use crate::maps::HashMap;

/// Most arguments of what is called by name.
const ARGS: usize = 4;

/// A name, the types of arguments and result.
type Callee = (UserExternalName, [Option<Type>; ARGS], Option<Type>);

/// What of a region can be used again.
#[derive(Default)]
pub(crate) struct ValueNumbering {
    callees: HashMap<Callee, FuncRef>,
    patterns: HashMap<[u8; 16], Immediate>,
    constants: HashMap<(Type, u64), Constant>,
    /// The block that the rest is of.
    block: Option<Block>,
    vectors: HashMap<(Type, u64), Value>,
    wholes: HashMap<(Type, Constant), Value>,
    flushed: HashMap<Value, Value>,
    dwords: HashMap<[Value; 2], [Value; 2]>,
}

impl ValueNumbering {
    /// What is called by this name with such arguments.
    pub(super) fn callee(
        &mut self,
        b: &mut FunctionBuilder<'_>,
        name: UserExternalName,
        args: &[Value],
        result: Option<Type>,
    ) -> FuncRef {
        let mut types = [None; ARGS];
        for (ty, &arg) in types.iter_mut().zip(args) {
            *ty = Some(b.func.dfg.value_type(arg));
        }
        *self
            .callees
            .entry((name.clone(), types, result))
            .or_insert_with(|| {
                let mut signature = Signature::new(b.func.signature.call_conv);
                let params = types.iter().flatten().copied();
                signature.params.extend(params.map(AbiParam::new));
                signature.returns.extend(result.map(AbiParam::new));
                let signature = b.import_signature(signature);
                let name = b.func.declare_imported_user_function(name);
                b.import_function(ExtFuncData {
                    name: ExternalName::user(name),
                    signature,
                    colocated: false,
                    patchable: false,
                })
            })
    }

    /// The number of a shuffle's pattern.
    pub(super) fn pattern(&mut self, b: &mut FunctionBuilder<'_>, pattern: [u8; 16]) -> Immediate {
        let new = || {
            let data = ConstantData::from(&pattern[..]);
            b.func.dfg.immediates.push(data)
        };
        *self.patterns.entry(pattern).or_insert_with(new)
    }

    /// A vector with this lane, of 32 or 64 bits, in all lanes.
    pub(super) fn vector(&mut self, b: &mut FunctionBuilder<'_>, ty: Type, lane: u64) -> Value {
        self.go_to(b);
        if let Some(&v) = self.vectors.get(&(ty, lane)) {
            return v;
        }
        let constant = *self.constants.entry((ty, lane)).or_insert_with(|| {
            let lane = lane.to_le_bytes();
            let lanes = lane[..ty.lane_type().bytes() as usize].iter().cycle();
            let bytes: Vec<u8> = lanes.copied().take(ty.bytes() as usize).collect();
            b.func.dfg.constants.insert(bytes.into())
        });
        let v = b.ins().vconst(ty, constant);
        self.vectors.insert((ty, lane), v);
        v
    }

    /// A vector of these bytes.
    pub(super) fn whole(&mut self, b: &mut FunctionBuilder<'_>, ty: Type, bytes: &[u8]) -> Value {
        self.go_to(b);
        let constant = b.func.dfg.constants.insert(bytes.into());
        let new = || b.ins().vconst(ty, constant);
        *self.wholes.entry((ty, constant)).or_insert_with(new)
    }

    /// A value without its denormals, if it was made or has none.
    pub(super) fn flushed(&mut self, b: &FunctionBuilder<'_>, v: Value) -> Option<Value> {
        self.go_to(b);
        self.flushed.get(&v).copied()
    }

    /// Notes that one value is another without its denormals.
    pub(super) fn note_flushed(&mut self, v: Value, flushed: Value) {
        self.flushed.insert(v, flushed);
        self.flushed.insert(flushed, flushed);
    }

    /// The low and the high dwords of two vectors of quads, if they were made.
    pub(super) fn dwords(
        &mut self,
        b: &FunctionBuilder<'_>,
        quads: [Value; 2],
    ) -> Option<[Value; 2]> {
        self.go_to(b);
        self.dwords.get(&quads).copied()
    }

    /// Notes these.
    pub(super) fn note_dwords(
        &mut self,
        b: &FunctionBuilder<'_>,
        quads: [Value; 2],
        dwords: [Value; 2],
    ) {
        self.go_to(b);
        self.dwords.insert(quads, dwords);
    }

    /// Forgets what another block has.
    fn go_to(&mut self, b: &FunctionBuilder<'_>) {
        let here = b.current_block();
        if self.block != here {
            self.block = here;
            self.vectors.clear();
            self.wholes.clear();
            self.flushed.clear();
            self.dwords.clear();
        }
    }
}
