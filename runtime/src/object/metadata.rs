//! The metadata note of a code object: a MessagePack document with the kernels, their arguments and
//! the resources that they use. Unknown keys are skipped, wrong types and missing required keys are
//! errors with the path of the key. Depth and size are limited before anything is built.

use rmpv::ValueRef;

use super::error::LoadError;

/// The deepest nesting that is read; real documents have six levels.
const MAX_DEPTH: usize = 24;
/// The longest document that is read; thousands of kernels take a few megabytes.
const MAX_BYTES: usize = 8 << 20;
/// The largest kernel argument segment.
pub const MAX_KERNARG: u64 = 1 << 20;

/// The whole document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// `amdhsa.version`: 1.0 in code object version 3, 1.1 in 4, 1.2 in 5 and 6.
    pub version: (u32, u32),
    /// `amdhsa.target`, from version 4 on.
    pub target: Option<String>,
    /// `amdhsa.printf`: formats of the device's printf calls.
    pub printf: Vec<String>,
    /// `amdhsa.kernels`.
    pub kernels: Vec<KernelMetadata>,
}

/// Metadata of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelMetadata {
    /// Name in the source.
    pub name: String,
    /// Name of the kernel descriptor, `NAME.kd`.
    pub symbol: String,
    /// Arguments in the order of the source, then the hidden ones.
    pub args: Vec<ArgMetadata>,
    /// Size of the argument segment.
    pub kernarg_segment_size: u32,
    /// Alignment of the argument segment; 8 when not said.
    pub kernarg_segment_align: u32,
    /// Static LDS in bytes.
    pub group_segment_fixed_size: u32,
    /// Scratch per work-item in bytes.
    pub private_segment_fixed_size: u32,
    /// Lanes of a wave; 64 when not said.
    pub wavefront_size: u32,
    /// SGPRs used.
    pub sgpr_count: Option<u32>,
    /// VGPRs used.
    pub vgpr_count: Option<u32>,
    /// Accumulation registers used (gfx908, gfx90a).
    pub agpr_count: Option<u32>,
    /// Number of spilled SGPRs.
    pub sgpr_spill_count: Option<u32>,
    /// Number of VGPRs spilled to scratch.
    pub vgpr_spill_count: Option<u32>,
    /// The largest workgroup.
    pub max_flat_workgroup_size: Option<u32>,
    /// The only workgroup size that is allowed.
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// The author's workgroup size hint.
    pub workgroup_size_hint: Option<[u32; 3]>,
    /// The author's vector type hint.
    pub vec_type_hint: Option<String>,
    /// The most workgroups in each dimension.
    pub max_num_workgroups: [Option<u32>; 3],
    /// Whether all workgroups are full.
    pub uniform_work_group_size: Option<bool>,
    /// Whether scratch use is unknown at compile time.
    pub uses_dynamic_stack: bool,
    /// Whether workgroups run in work-group processor mode (gfx10 and later).
    pub workgroup_processor_mode: Option<bool>,
    /// `normal`, `init` or `fini`.
    pub kind: Option<String>,
    /// Source language.
    pub language: Option<String>,
    /// Its version.
    pub language_version: Option<(u32, u32)>,
    /// Name of the handle through which device code enqueues this kernel.
    pub device_enqueue_symbol: Option<String>,
}

/// Metadata of one argument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgMetadata {
    /// Name in the source; compilers often leave it out.
    pub name: Option<String>,
    /// Type in the source.
    pub type_name: Option<String>,
    /// Position in the argument segment.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Its kind.
    pub kind: ArgKind,
    /// `global`, `constant`, `local`, `private`, `generic` or `region`.
    pub address_space: Option<String>,
    /// `read_only`, `write_only` or `read_write`, as declared.
    pub access: Option<String>,
    /// The same, as the code really does.
    pub actual_access: Option<String>,
    /// Declared `const`.
    pub is_const: bool,
    /// Declared `restrict`.
    pub is_restrict: bool,
    /// Declared `volatile`.
    pub is_volatile: bool,
    /// Declared `pipe`.
    pub is_pipe: bool,
    /// Alignment of the pointee of an LDS pointer.
    pub pointee_align: Option<u32>,
}

impl ArgMetadata {
    /// Does the kernel only read what it points to, as far as the metadata says? It is declared so, or
    /// the compiler has found it.
    pub fn is_read_only(&self) -> bool {
        let read_only = |access: &Option<String>| access.as_deref() == Some("read_only");
        self.is_const
            || self.address_space.as_deref() == Some("constant")
            || read_only(&self.access)
            || read_only(&self.actual_access)
    }

    /// Name and type for a message, such as `x (float*)`.
    pub fn label(&self) -> String {
        match (&self.name, &self.type_name) {
            (Some(name), Some(ty)) => format!("{name} ({ty})"),
            (Some(name), None) => name.clone(),
            (None, Some(ty)) => format!("({ty})"),
            (None, None) => format!("({})", self.kind),
        }
    }
}

/// Declares the kinds of arguments with the names that the metadata uses.
macro_rules! arg_kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// Kind of an argument, `.value_kind` in the metadata.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum ArgKind {
            $($(#[$doc])* $variant,)*
            /// An unknown kind.
            Unknown(String),
        }

        impl ArgKind {
            /// From the name in the metadata.
            pub fn from_name(name: &str) -> ArgKind {
                match name {
                    $($name => ArgKind::$variant,)*
                    _ => ArgKind::Unknown(name.to_owned()),
                }
            }

            /// The name in the metadata.
            pub fn name(&self) -> &str {
                match self {
                    $(ArgKind::$variant => $name,)*
                    ArgKind::Unknown(name) => name,
                }
            }
        }
    };
}

arg_kinds! {
    /// The value itself.
    ByValue = "by_value",
    /// A pointer to memory.
    GlobalBuffer = "global_buffer",
    /// A pointer to LDS whose size the caller chooses.
    DynamicSharedPointer = "dynamic_shared_pointer",
    /// A sampler.
    Sampler = "sampler",
    /// An image.
    Image = "image",
    /// A pipe.
    Pipe = "pipe",
    /// A device queue.
    Queue = "queue",
    /// Global work offset, x.
    HiddenGlobalOffsetX = "hidden_global_offset_x",
    /// Global work offset, y.
    HiddenGlobalOffsetY = "hidden_global_offset_y",
    /// Global work offset, z.
    HiddenGlobalOffsetZ = "hidden_global_offset_z",
    /// Space without a meaning.
    HiddenNone = "hidden_none",
    /// The buffer of the OpenCL printf.
    HiddenPrintfBuffer = "hidden_printf_buffer",
    /// The buffer for calls to the host.
    HiddenHostcallBuffer = "hidden_hostcall_buffer",
    /// The default device queue.
    HiddenDefaultQueue = "hidden_default_queue",
    /// Completion of device-enqueued kernels.
    HiddenCompletionAction = "hidden_completion_action",
    /// Synchronisation of cooperative grids on several devices.
    HiddenMultigridSyncArg = "hidden_multigrid_sync_arg",
    /// Complete workgroups, x (version 5 from here on).
    HiddenBlockCountX = "hidden_block_count_x",
    /// Complete workgroups, y.
    HiddenBlockCountY = "hidden_block_count_y",
    /// Complete workgroups, z.
    HiddenBlockCountZ = "hidden_block_count_z",
    /// Workgroup size, x.
    HiddenGroupSizeX = "hidden_group_size_x",
    /// Workgroup size, y.
    HiddenGroupSizeY = "hidden_group_size_y",
    /// Workgroup size, z.
    HiddenGroupSizeZ = "hidden_group_size_z",
    /// Size of the last, partial workgroup, x.
    HiddenRemainderX = "hidden_remainder_x",
    /// Size of the last, partial workgroup, y.
    HiddenRemainderY = "hidden_remainder_y",
    /// Size of the last, partial workgroup, z.
    HiddenRemainderZ = "hidden_remainder_z",
    /// Dimensions of the grid.
    HiddenGridDims = "hidden_grid_dims",
    /// The device's heap.
    HiddenHeapV1 = "hidden_heap_v1",
    /// LDS that the caller added.
    HiddenDynamicLdsSize = "hidden_dynamic_lds_size",
    /// High half of the private aperture's address (gfx6 to gfx8).
    HiddenPrivateBase = "hidden_private_base",
    /// High half of the shared aperture's address (gfx6 to gfx8).
    HiddenSharedBase = "hidden_shared_base",
    /// Address of the queue.
    HiddenQueuePtr = "hidden_queue_ptr",
}

impl ArgKind {
    /// Whether the runtime fills it in, not the caller.
    pub fn is_hidden(&self) -> bool {
        self.name().starts_with("hidden_")
    }
}

impl Default for ArgKind {
    fn default() -> ArgKind {
        ArgKind::Unknown(String::new())
    }
}

impl std::fmt::Display for ArgKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl KernelMetadata {
    /// The arguments that the caller gives.
    pub fn explicit_args(&self) -> impl Iterator<Item = &ArgMetadata> {
        self.args.iter().filter(|arg| !arg.kind.is_hidden())
    }
}

impl Metadata {
    /// Decodes the contents of the note.
    pub fn parse(bytes: &[u8]) -> Result<Metadata, LoadError> {
        let top = |defect: String| LoadError::Metadata {
            path: "the document".to_owned(),
            defect,
        };
        if bytes.len() > MAX_BYTES {
            return Err(top(format!(
                "{} bytes, more than the limit of {MAX_BYTES}",
                bytes.len()
            )));
        }
        let mut rest = bytes;
        let value = rmpv::decode::read_value_ref_with_max_depth(&mut rest, MAX_DEPTH)
            .map_err(|error| top(format!("not MessagePack: {error}")))?;
        let document = Node {
            path: String::new(),
            value: &value,
        }
        .map()?;
        let version = match document.get("amdhsa.version") {
            Some(node) => node.pair()?,
            None => return Err(document.missing("amdhsa.version")),
        };
        if version.0 != 1 {
            return Err(LoadError::Metadata {
                path: "amdhsa.version".to_owned(),
                defect: format!("{}.{} is not supported, only 1.x", version.0, version.1),
            });
        }
        let mut kernels = Vec::new();
        if let Some(list) = document.get("amdhsa.kernels") {
            for node in list.items()? {
                kernels.push(kernel(&node.map()?)?);
            }
        }
        let mut printf = Vec::new();
        if let Some(list) = document.get("amdhsa.printf") {
            for node in list.items()? {
                printf.push(node.text()?);
            }
        }
        let target = document
            .get("amdhsa.target")
            .map(|node| node.text())
            .transpose()?;
        Ok(Metadata {
            version,
            target,
            printf,
            kernels,
        })
    }
}

fn kernel(map: &Map<'_>) -> Result<KernelMetadata, LoadError> {
    let name = map.required(".name")?.text()?;
    let kernarg_segment_size = map.required(".kernarg_segment_size")?.number()?;
    if u64::from(kernarg_segment_size) > MAX_KERNARG {
        return Err(map.wrong(
            ".kernarg_segment_size",
            format!("{kernarg_segment_size} bytes, more than the limit of {MAX_KERNARG}"),
        ));
    }
    let mut args = Vec::new();
    if let Some(list) = map.get(".args") {
        for node in list.items()? {
            let map = node.map()?;
            let arg = arg(&map)?;
            if u64::from(arg.offset) + u64::from(arg.size) > u64::from(kernarg_segment_size) {
                return Err(map.wrong(
                    ".offset",
                    format!(
                        "{} bytes at {} are outside the {kernarg_segment_size} bytes of arguments",
                        arg.size, arg.offset
                    ),
                ));
            }
            args.push(arg);
        }
    }
    let kernarg_segment_align = map.number(".kernarg_segment_align")?.unwrap_or(8);
    if !kernarg_segment_align.is_power_of_two() || kernarg_segment_align > 4096 {
        let defect = format!("{kernarg_segment_align} is no power of two up to 4096");
        return Err(map.wrong(".kernarg_segment_align", defect));
    }
    Ok(KernelMetadata {
        name,
        symbol: map.required(".symbol")?.text()?,
        args,
        kernarg_segment_size,
        kernarg_segment_align,
        group_segment_fixed_size: map.required(".group_segment_fixed_size")?.number()?,
        private_segment_fixed_size: map.required(".private_segment_fixed_size")?.number()?,
        wavefront_size: map.number(".wavefront_size")?.unwrap_or(64),
        sgpr_count: map.number(".sgpr_count")?,
        vgpr_count: map.number(".vgpr_count")?,
        agpr_count: map.number(".agpr_count")?,
        sgpr_spill_count: map.number(".sgpr_spill_count")?,
        vgpr_spill_count: map.number(".vgpr_spill_count")?,
        max_flat_workgroup_size: map.number(".max_flat_workgroup_size")?,
        reqd_workgroup_size: map.triple(".reqd_workgroup_size")?,
        workgroup_size_hint: map.triple(".workgroup_size_hint")?,
        vec_type_hint: map.text(".vec_type_hint")?,
        max_num_workgroups: [
            map.number(".max_num_workgroups_x")?,
            map.number(".max_num_workgroups_y")?,
            map.number(".max_num_workgroups_z")?,
        ],
        uniform_work_group_size: map.flag(".uniform_work_group_size")?,
        uses_dynamic_stack: map.flag(".uses_dynamic_stack")?.unwrap_or(false),
        workgroup_processor_mode: map.flag(".workgroup_processor_mode")?,
        kind: map.text(".kind")?,
        language: map.text(".language")?,
        language_version: map
            .get(".language_version")
            .map(|node| node.pair())
            .transpose()?,
        device_enqueue_symbol: map.text(".device_enqueue_symbol")?,
    })
}

fn arg(map: &Map<'_>) -> Result<ArgMetadata, LoadError> {
    Ok(ArgMetadata {
        name: map.text(".name")?,
        type_name: map.text(".type_name")?,
        offset: map.required(".offset")?.number()?,
        size: map.required(".size")?.number()?,
        kind: ArgKind::from_name(&map.required(".value_kind")?.text()?),
        address_space: map.text(".address_space")?,
        access: map.text(".access")?,
        actual_access: map.text(".actual_access")?,
        is_const: map.flag(".is_const")?.unwrap_or(false),
        is_restrict: map.flag(".is_restrict")?.unwrap_or(false),
        is_volatile: map.flag(".is_volatile")?.unwrap_or(false),
        is_pipe: map.flag(".is_pipe")?.unwrap_or(false),
        pointee_align: map.number(".pointee_align")?,
    })
}

/// A value and its path.
struct Node<'a> {
    path: String,
    value: &'a ValueRef<'a>,
}

/// A map and its path.
struct Map<'a> {
    path: String,
    entries: &'a [(ValueRef<'a>, ValueRef<'a>)],
}

impl<'a> Node<'a> {
    fn wrong(&self, expected: &str) -> LoadError {
        let path = if self.path.is_empty() {
            "the document".to_owned()
        } else {
            self.path.clone()
        };
        LoadError::Metadata {
            path,
            defect: format!("expected {expected}"),
        }
    }

    fn map(&self) -> Result<Map<'a>, LoadError> {
        match self.value {
            ValueRef::Map(entries) => Ok(Map {
                path: self.path.clone(),
                entries,
            }),
            _ => Err(self.wrong("a map")),
        }
    }

    fn items(&self) -> Result<impl Iterator<Item = Node<'a>>, LoadError> {
        match self.value {
            ValueRef::Array(items) => Ok(items.iter().enumerate().map(|(i, value)| Node {
                path: format!("{}[{i}]", self.path),
                value,
            })),
            _ => Err(self.wrong("a list")),
        }
    }

    fn text(&self) -> Result<String, LoadError> {
        match self.value {
            ValueRef::String(text) => text
                .as_str()
                .map(str::to_owned)
                .ok_or_else(|| self.wrong("UTF-8 text")),
            _ => Err(self.wrong("text")),
        }
    }

    fn number(&self) -> Result<u32, LoadError> {
        self.value
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
            .ok_or_else(|| self.wrong("a number of 32 bits"))
    }

    fn numbers<const N: usize>(&self) -> Result<[u32; N], LoadError> {
        let numbers: Vec<u32> = self
            .items()?
            .map(|node| node.number())
            .collect::<Result<_, LoadError>>()?;
        numbers
            .try_into()
            .map_err(|_| self.wrong(&format!("a list of {N} numbers")))
    }

    fn pair(&self) -> Result<(u32, u32), LoadError> {
        self.numbers().map(|[major, minor]| (major, minor))
    }
}

impl<'a> Map<'a> {
    fn join(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{}", self.path, key.trim_start_matches('.'))
        }
    }

    fn get(&self, key: &str) -> Option<Node<'a>> {
        let named = |name: &ValueRef<'_>| match name {
            ValueRef::String(name) => name.as_str() == Some(key),
            _ => false,
        };
        let (_, value) = self.entries.iter().find(|(name, _)| named(name))?;
        Some(Node {
            path: self.join(key),
            value,
        })
    }

    fn wrong(&self, key: &str, defect: String) -> LoadError {
        LoadError::Metadata {
            path: self.join(key),
            defect,
        }
    }

    fn missing(&self, key: &str) -> LoadError {
        self.wrong(key, "missing".to_owned())
    }

    fn required(&self, key: &str) -> Result<Node<'a>, LoadError> {
        self.get(key).ok_or_else(|| self.missing(key))
    }

    fn number(&self, key: &str) -> Result<Option<u32>, LoadError> {
        self.get(key).map(|node| node.number()).transpose()
    }

    fn text(&self, key: &str) -> Result<Option<String>, LoadError> {
        self.get(key).map(|node| node.text()).transpose()
    }

    fn triple(&self, key: &str) -> Result<Option<[u32; 3]>, LoadError> {
        self.get(key).map(|node| node.numbers()).transpose()
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, LoadError> {
        self.get(key)
            .map(|node| match node.value {
                ValueRef::Boolean(flag) => Ok(*flag),
                // LLVM writes some flags as numbers
                _ => match node.number() {
                    Ok(0) => Ok(false),
                    Ok(1) => Ok(true),
                    _ => Err(node.wrong("true or false")),
                },
            })
            .transpose()
    }
}

#[cfg(test)]
mod tests;
