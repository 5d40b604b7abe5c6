//! What a launch is, as digests, so that verdicts and changes are not used for another one.

use anyhow::Context as _;
use sha2::{Digest, Sha256};
use wavelift::manifest::{Arg, Manifest, read_whole};

use super::super::options::RunOptions;

/// The digests of a launch, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// Code, kernel, grid, arguments, types and sizes of buffers.
    pub(super) launch: String,
    /// The initial contents of the buffers.
    pub(super) inputs: String,
}

/// A digest over fields, each with its length.
struct Fields(Sha256);

impl Fields {
    fn new() -> Fields {
        Fields(Sha256::new())
    }

    fn add(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn number(&mut self, n: u64) {
        self.add(&n.to_le_bytes());
    }

    fn digest(self) -> String {
        let digest = self.0.finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Identity {
    /// Of a manifest with one launch.
    pub(super) fn of(manifest: &Manifest, options: &RunOptions) -> anyhow::Result<Identity> {
        let dispatch = &manifest.dispatches[0];
        let code = read_whole(&dispatch.code_object)
            .with_context(|| format!("cannot read {}", dispatch.code_object.display()))?;
        let mut launch = Fields::new();
        launch.add(&code);
        launch.add(dispatch.kernel.as_bytes());
        launch.add(options.target.as_deref().unwrap_or_default().as_bytes());
        let sizes = dispatch.grid.iter().chain(&dispatch.workgroup);
        sizes.for_each(|&n| launch.number(n.into()));
        dispatch
            .global_offset
            .iter()
            .for_each(|&n| launch.number(n));
        launch.number(dispatch.dimensions.into());
        launch.number(dispatch.dynamic_lds.into());
        let stack = options.stack.or(dispatch.stack);
        launch.number(stack.map_or(u64::MAX, u64::from));
        if let Some(bytes) = &dispatch.kernarg {
            launch.add(bytes);
        }
        let place = dispatch.code_address.unwrap_or_default();
        launch.number(place);
        for (_, arg) in &dispatch.args {
            match arg {
                Arg::Buffer { index, offset } => {
                    launch.add(b"buffer");
                    launch.number(*index as u64);
                    launch.number(*offset);
                }
                Arg::Scalar { bytes, .. } | Arg::Bytes(bytes) => {
                    launch.add(b"value");
                    launch.add(bytes);
                }
                Arg::Local(bytes) => {
                    launch.add(b"local");
                    launch.number((*bytes).into());
                }
            }
        }
        let mut inputs = Fields::new();
        for buffer in &manifest.buffers {
            launch.add(buffer.name.as_bytes());
            let dtype = buffer.array.dtype.map_or("", |dtype| dtype.name());
            launch.add(dtype.as_bytes());
            launch.number(buffer.array.bytes.len() as u64);
            launch.number(buffer.address.unwrap_or_default());
            inputs.add(&buffer.array.bytes);
        }
        Ok(Identity {
            launch: launch.digest(),
            inputs: inputs.digest(),
        })
    }
}
