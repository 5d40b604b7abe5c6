//! From TOML to a [`Manifest`].

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use runtime::dispatch::MAX_LANE_SCRATCH;
use runtime::files::read_whole;
use runtime::foreign::{self, Foreign};
use runtime::gws::RESOURCES as GWS_RESOURCES;
use toml::de::DeValue;

use super::compare::Tolerance;
use super::error::ManifestError;
use super::inside::{is_inside, outside};
use super::tree::{Node, Source, Table};
use super::{
    Arg, Array, Buffer, Check, Dispatch, Dtype, Expectation, Manifest, MemoryPlace, Output, check,
    keys, npy, random,
};

/// Largest contents of one buffer.
const MAX_BYTES: i128 = 1 << 40;

/// The files that a manifest may name.
pub(super) struct Files<'a> {
    /// The folder that names are relative to.
    folder: &'a Path,
    /// Only those in that folder.
    inside: bool,
}

impl<'a> Files<'a> {
    /// All files.
    pub(super) fn anywhere(manifest: &'a Path) -> Files<'a> {
        Files {
            folder: manifest.parent().unwrap_or(Path::new("")),
            inside: false,
        }
    }

    /// Those in the manifest's folder.
    pub(super) fn inside(manifest: &'a Path) -> Files<'a> {
        Files {
            inside: true,
            ..Files::anywhere(manifest)
        }
    }

    /// The file that is named to be read.
    fn named(&self, node: &Node<'_>) -> Result<PathBuf, ManifestError> {
        let path = self.folder.join(node.string("a file name")?);
        // What cannot be found is reported when it is read.
        if self.inside && matches!(is_inside(self.folder, &path), Ok(false)) {
            return Err(node.error(outside(foreign::path(&path))));
        }
        Ok(path)
    }
}

pub(super) fn manifest(
    path: &Path,
    text: &str,
    files: &Files<'_>,
) -> Result<Manifest, ManifestError> {
    let source = Source { path, text };
    let tree = source.parse(text)?;
    let root = Table::root(&source, &tree);
    root.only(keys::ROOT.names())?;

    let mut manifest = Manifest {
        path: path.to_owned(),
        memory: root.get("memory").map(|node| memory(&node)).transpose()?,
        buffers: Vec::new(),
        dispatches: Vec::new(),
        outputs: Vec::new(),
        expectations: Vec::new(),
        check: Check::default(),
    };
    if let Some(node) = root.get("buffers") {
        for (name, node) in node.table("a table of buffers")?.entries() {
            let fixed = manifest.memory.is_some();
            manifest.buffers.push(buffer(files, name, fixed, &node)?);
        }
    }
    let dispatches = root.need("dispatch")?;
    for node in dispatches.array("an array of tables: [[dispatch]]")? {
        let fixed = manifest.memory.is_some();
        let dispatch = dispatch(files, &manifest.buffers, fixed, &node)?;
        manifest.dispatches.push(dispatch);
    }
    if manifest.dispatches.is_empty() {
        return Err(dispatches.error("there must be at least one dispatch"));
    }
    if let Some(node) = root.get("outputs") {
        manifest.outputs = outputs(&manifest.buffers, &node)?;
    }
    if let Some(node) = root.get("expect") {
        for (name, node) in node.table("a table of expectations")?.entries() {
            let index = find(&manifest.buffers, name, &node)?;
            manifest
                .expectations
                .push(expectation(files, &manifest.buffers[index], index, &node)?);
        }
    }
    if let Some(node) = root.get("check") {
        manifest.check = check::table(&node)?;
    }
    Ok(manifest)
}

/// The buffer of that name.
fn find(buffers: &[Buffer], name: &str, node: &Node<'_>) -> Result<usize, ManifestError> {
    buffers
        .iter()
        .position(|buffer| buffer.name == name)
        .ok_or_else(|| {
            let known: Vec<_> = buffers.iter().map(|buffer| buffer.name.as_str()).collect();
            let known = match known.is_empty() {
                true => "the manifest has no buffers".to_owned(),
                false => format!("known are {}", Foreign(&known.join(", "))),
            };
            node.error(format!("unknown buffer `{}`; {known}", Foreign(name)))
        })
}

fn read_file(files: &Files<'_>, node: &Node<'_>) -> Result<(PathBuf, Vec<u8>), ManifestError> {
    let path = files.named(node)?;
    match read_whole(&path) {
        Ok(bytes) => Ok((path, bytes)),
        Err(error) => Err(node.error(format!("cannot read {}: {error}", foreign::path(&path)))),
    }
}

/// The contents of a `.npy` or `.bin` file.
fn read_array(files: &Files<'_>, node: &Node<'_>) -> Result<Array, ManifestError> {
    let (path, bytes) = read_file(files, node)?;
    let array = match path.extension().and_then(|extension| extension.to_str()) {
        Some("npy") => npy::read(&bytes)
            .map_err(|message| node.error(format!("{}: {message}", foreign::path(&path))))?,
        Some("bin") => Array::raw(bytes),
        _ => return Err(node.wanted("a .npy or .bin file")),
    };
    if array.bytes.is_empty() {
        return Err(node.error(format!("{} holds no data", foreign::path(&path))));
    }
    Ok(array)
}

fn dtype(node: &Node<'_>) -> Result<Dtype, ManifestError> {
    let names = Dtype::ALL.map(Dtype::name).join(" ");
    let wanted = format!("an element type ({names})");
    Dtype::from_name(node.string(&wanted)?).ok_or_else(|| node.wanted(&wanted))
}

/// Where guest memory is.
fn memory(node: &Node<'_>) -> Result<MemoryPlace, ManifestError> {
    let table = node.table("a table such as { address = 0x100000000000, bytes = 0x1000000000 }")?;
    table.only(keys::MEMORY.names())?;
    let address = table.need("address")?;
    let number = address.integer_in(1 << 16..1 << 47)? as u64;
    if !number.is_multiple_of(1 << 16) {
        return Err(address.error(format!("{number:#x} is no multiple of 65536")));
    }
    Ok(MemoryPlace {
        place: node.place(),
        address: number,
        bytes: table.need("bytes")?.integer_in(1 << 26..(1 << 46) + 1)? as u64,
    })
}

/// An address, which there is if and only if the manifest says where guest memory is (`fixed`).
fn address(table: &Table<'_>, key: &str, fixed: bool) -> Result<Option<u64>, ManifestError> {
    match (table.get(key), fixed) {
        (None, false) => Ok(None),
        (None, true) => Err(table.error(format!("with [memory] the key `{key}` is needed here"))),
        (Some(node), true) => Ok(Some(node.integer_in(0..1 << 63)? as u64)),
        (Some(node), false) => {
            Err(node.error("addresses need [memory], which says where guest memory is"))
        }
    }
}

fn buffer(
    files: &Files<'_>,
    name: &str,
    fixed: bool,
    node: &Node<'_>,
) -> Result<Buffer, ManifestError> {
    let table = node.table("a table such as { file = \"x.npy\" } or { bytes = 4096 }")?;
    table.only(keys::BUFFER.names())?;
    let array = if let Some(file) = table.get("file") {
        table.only(["file", "address"])?;
        read_array(files, &file)?
    } else if let Some(bytes) = table.get("bytes") {
        table.only(["bytes", "undefined", "address"])?;
        Array::raw(zeros(bytes.integer_in(1..MAX_BYTES + 1)?, &bytes)?)
    } else if let Some(ty) = table.get("type") {
        typed(&table, dtype(&ty)?)?
    } else {
        return Err(node.error("a buffer needs `file`, `bytes` or `type`"));
    };
    Ok(Buffer {
        place: node.place(),
        name: name.to_owned(),
        shaped: table.get("file").is_some() && array.dtype.is_some(),
        array,
        undefined: undefined(&table)?,
        address: address(&table, "address", fixed)?,
    })
}

/// Has nobody written the contents of a buffer?
fn undefined(table: &Table<'_>) -> Result<bool, ManifestError> {
    let Some(node) = table.get("undefined") else {
        return Ok(false);
    };
    let undefined = node.boolean()?;
    let contents = ["random", "values", "fill"].into_iter();
    match contents.filter_map(|key| table.get(key)).next() {
        Some(contents) if undefined => {
            Err(node.error(format!("the buffer has contents; see {}", contents.key)))
        }
        _ => Ok(undefined),
    }
}

/// That many zero bytes; an error when the host has no room.
fn zeros(bytes: i128, node: &Node<'_>) -> Result<Vec<u8>, ManifestError> {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut out = Vec::new();
    out.try_reserve_exact(bytes)
        .map_err(|_| node.error(format!("no room for {bytes} bytes")))?;
    out.resize(bytes, 0);
    Ok(out)
}

/// A buffer by type and contents.
fn typed(table: &Table<'_>, dtype: Dtype) -> Result<Array, ManifestError> {
    let contents: Vec<_> = ["random", "values", "fill"]
        .into_iter()
        .filter_map(|key| table.get(key))
        .collect();
    if let [first, second, ..] = &contents[..] {
        let message = format!(
            "a buffer takes one of random, values and fill; see {}",
            first.key
        );
        return Err(second.error(message));
    }
    if let Some(values) = table.get("values") {
        let mut bytes = Vec::new();
        let nodes = values.array("an array of numbers")?;
        for node in &nodes {
            number(node, dtype, &mut bytes)?;
        }
        if nodes.is_empty() {
            return Err(values.error("there must be at least one value"));
        }
        if let Some(count) = table.get("count") {
            let count_is = count.integer()?;
            if count_is != nodes.len() as i128 {
                let have = nodes.len();
                return Err(count.error(format!("{count_is}, but there are {have} values")));
            }
        }
        return Ok(Array::list(dtype, bytes));
    }
    let count_node = table.need("count")?;
    let size = dtype.size();
    let count = count_node.integer_in(1..MAX_BYTES / size as i128 + 1)?;
    let room = zeros(count * size as i128, &count_node)?;
    let count = room.len() / size;
    let bytes = if let Some(node) = table.get("random") {
        drop(room);
        random_contents(&node, dtype, count)?
    } else if let Some(node) = table.get("fill") {
        let mut element = Vec::new();
        number(&node, dtype, &mut element)?;
        let mut room = room;
        for slot in room.chunks_exact_mut(size) {
            slot.copy_from_slice(&element);
        }
        room
    } else {
        room
    };
    Ok(Array::list(dtype, bytes))
}

/// Appends a number of the type.
fn number(node: &Node<'_>, dtype: Dtype, out: &mut Vec<u8>) -> Result<(), ManifestError> {
    if dtype.is_float() {
        dtype.encode_float(node.float()?, out);
        return Ok(());
    }
    let value = node.integer()?;
    let (low, high) = dtype.limits();
    if !(low..=high).contains(&value) {
        return Err(node.error(format!("{value} does not fit {dtype} ({low} to {high})")));
    }
    dtype.encode_integer(value, out);
    Ok(())
}

fn random_contents(node: &Node<'_>, dtype: Dtype, count: usize) -> Result<Vec<u8>, ManifestError> {
    let table = node.table("a table such as { seed = 7, low = -1.0, high = 1.0 }")?;
    table.only(keys::RANDOM.names())?;
    let seed = table.need("seed")?.integer_in(0..1 << 64)? as u64;
    let (low, high) = (table.get("low"), table.get("high"));
    if dtype.is_float() {
        let low = low.map_or(Ok(0.0), |node| node.finite())?;
        let high = high.map_or(Ok(1.0), |node| node.finite())?;
        if low >= high || !(high - low).is_finite() {
            return Err(node.error(format!("low = {low:?} must be below high = {high:?}")));
        }
        return Ok(random::floats(dtype, count, seed, low, high));
    }
    let (least, most) = dtype.limits();
    let low = low.map_or(Ok(least), |node| node.integer_in(least..most + 1))?;
    let high = high.map_or(Ok(most), |node| node.integer_in(least..most + 1))?;
    if low > high {
        return Err(node.error(format!("low = {low} must not be above high = {high}")));
    }
    Ok(random::integers(dtype, count, seed, low, high))
}

/// One to three numbers; missing ones are `rest`.
fn three(
    node: &Node<'_>,
    range: std::ops::Range<i128>,
    rest: i128,
) -> Result<(u32, [i128; 3]), ManifestError> {
    let nodes = node.array("an array of 1 to 3 integers")?;
    if nodes.is_empty() || nodes.len() > 3 {
        return Err(node.error(format!("expected 1 to 3 numbers, found {}", nodes.len())));
    }
    let mut out = [rest; 3];
    for (slot, node) in out.iter_mut().zip(&nodes) {
        *slot = node.integer_in(range.clone())?;
    }
    Ok((nodes.len() as u32, out))
}

fn dispatch(
    files: &Files<'_>,
    buffers: &[Buffer],
    fixed: bool,
    node: &Node<'_>,
) -> Result<Dispatch, ManifestError> {
    let table = node.table("a table")?;
    table.only(keys::DISPATCH.names())?;
    let code_object = table.need("code_object")?;
    let kernel = table.need("kernel")?;
    let grid_node = table.need("grid")?;
    let workgroup_node = table.need("workgroup")?;
    let (dimensions, grid) = three(&grid_node, 1..1 << 32, 1)?;
    let (workgroup_dimensions, workgroup) = three(&workgroup_node, 1..1025, 1)?;
    if workgroup.iter().product::<i128>() > 1024 {
        let [x, y, z] = workgroup;
        let items = x * y * z;
        return Err(workgroup_node.error(format!(
            "a workgroup of {x} x {y} x {z} = {items} work-items; the most is 1024"
        )));
    }
    if workgroup_dimensions > dimensions
        && workgroup[dimensions as usize..] != [1; 3][dimensions as usize..]
    {
        return Err(workgroup_node.error(format!(
            "{workgroup_dimensions} numbers, but the grid has {dimensions}"
        )));
    }
    let global_offset = match table.get("global_offset") {
        Some(node) => {
            let (given, offset) = three(&node, 0..1 << 64, 0)?;
            if given > dimensions {
                return Err(node.error(format!("{given} numbers, but the grid has {dimensions}")));
            }
            offset
        }
        None => [0; 3],
    };
    let dynamic_lds = table.get("dynamic_lds");
    let stack = table.get("stack");
    let arg_list = table.get("args");
    let mut args = Vec::new();
    if let Some(list) = &arg_list {
        for node in list.array("an array of arguments")? {
            args.push((node.place(), arg(buffers, &node)?));
        }
    }
    let kernarg = match (table.get("kernarg"), &arg_list) {
        (None, _) => None,
        (Some(node), None) => Some(read_array(files, &node)?.bytes),
        (Some(node), Some(_)) => {
            return Err(node.error("give either `args` or `kernarg`, which has all arguments"));
        }
    };
    let gws = table.get("gws").map(|node| counters(&node)).transpose()?;
    let repeat = match table.get("repeat") {
        Some(node) => node.integer_in(1..1 << 32)? as u64,
        None => 1,
    };
    Ok(Dispatch {
        place: node.place(),
        code_object: files.named(&code_object)?,
        code_object_place: code_object.place(),
        code_address: address(&table, "code_address", fixed)?,
        kernel: kernel.string("a kernel's name")?.to_owned(),
        kernel_place: kernel.place(),
        dimensions,
        grid: grid.map(|n| n as u32),
        grid_place: grid_node.place(),
        workgroup: workgroup.map(|n| n as u32),
        workgroup_place: workgroup_node.place(),
        global_offset: global_offset.map(|n| n as u64),
        dynamic_lds: match &dynamic_lds {
            Some(node) => node.integer_in(0..65_537)? as u32,
            None => 0,
        },
        dynamic_lds_place: dynamic_lds.as_ref().unwrap_or(node).place(),
        stack: match &stack {
            Some(node) => Some(node.integer_in(0..i128::from(MAX_LANE_SCRATCH) + 1)? as u32),
            None => None,
        },
        stack_place: stack.as_ref().unwrap_or(node).place(),
        gws,
        repeat,
        args,
        kernarg,
        args_place: arg_list.as_ref().unwrap_or(node).place(),
    })
}

/// Counters of the global wave sync.
fn counters(node: &Node<'_>) -> Result<Vec<u32>, ManifestError> {
    let nodes = node.array("an array of integers")?;
    if nodes.len() > GWS_RESOURCES {
        let have = nodes.len();
        return Err(node.error(format!(
            "{have} counters, but there are {GWS_RESOURCES} resources"
        )));
    }
    let counters = nodes.iter().map(|node| node.integer_in(0..1 << 32));
    counters.map(|counter| counter.map(|n| n as u32)).collect()
}

const ARG: &str = "an argument: \"@buffer\", { f32 = 2.5 }, { local = 1024 } or { hex = \"00ff\" }";

fn arg(buffers: &[Buffer], node: &Node<'_>) -> Result<Arg, ManifestError> {
    match node.value {
        DeValue::String(text) => buffer_arg(buffers, node, text),
        DeValue::Table(_) => {
            let entries = node.table(ARG)?.entries();
            let [(name, value)] = &entries[..] else {
                return Err(node.wanted(ARG));
            };
            match *name {
                "local" => Ok(Arg::Local(value.integer_in(1..65_537)? as u32)),
                "hex" => hex(value).map(Arg::Bytes),
                name => {
                    let Some(dtype) = Dtype::from_name(name) else {
                        let names = Dtype::ALL.map(Dtype::name).join(" ");
                        let known = format!("known are {names} local hex");
                        let name = Foreign(name);
                        return Err(value.error(format!("unknown argument type `{name}`; {known}")));
                    };
                    let mut bytes = Vec::new();
                    number(value, dtype, &mut bytes)?;
                    Ok(Arg::Scalar { dtype, bytes })
                }
            }
        }
        _ => Err(node.wanted(ARG)),
    }
}

/// `@name` or `@name+bytes`.
fn buffer_arg(buffers: &[Buffer], node: &Node<'_>, text: &str) -> Result<Arg, ManifestError> {
    let name = text.strip_prefix('@').ok_or_else(|| node.wanted(ARG))?;
    if let Some(index) = buffers.iter().position(|buffer| buffer.name == name) {
        return Ok(Arg::Buffer { index, offset: 0 });
    }
    let Some((name, offset)) = name.rsplit_once('+') else {
        find(buffers, name, node)?;
        return Err(node.wanted(ARG));
    };
    let index = find(buffers, name.trim_end(), node)?;
    let digits = offset.trim_start();
    let offset = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    }
    .map_err(|_| {
        node.error(format!(
            "`{}` in \"{}\" is no number of bytes",
            Foreign(digits),
            Foreign(text)
        ))
    })?;
    let size = buffers[index].array.bytes.len() as u64;
    if offset > size {
        return Err(node.error(format!(
            "\"{}\" lies behind the end of the buffer, which has {size} bytes",
            Foreign(text)
        )));
    }
    Ok(Arg::Buffer { index, offset })
}

fn hex(node: &Node<'_>) -> Result<Vec<u8>, ManifestError> {
    let text = node.string("hexadecimal digits")?;
    let digits: Vec<u8> = text
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '_')
        .map(|c| c.to_digit(16).map(|digit| digit as u8))
        .collect::<Option<_>>()
        .ok_or_else(|| node.wanted("hexadecimal digits"))?;
    if digits.is_empty() || !digits.len().is_multiple_of(2) {
        return Err(node.error(format!(
            "expected two hexadecimal digits for each byte, found {} digits",
            digits.len()
        )));
    }
    Ok(digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect())
}

fn outputs(buffers: &[Buffer], node: &Node<'_>) -> Result<Vec<Output>, ManifestError> {
    let mut out = Vec::new();
    let mut files = HashSet::new();
    for (name, node) in node.table("a table of files")?.entries() {
        let buffer = find(buffers, name, &node)?;
        let file = PathBuf::from(node.string("a .npy or .bin file")?);
        if !matches!(
            file.extension().and_then(|extension| extension.to_str()),
            Some("npy" | "bin")
        ) {
            return Err(node.wanted("a .npy or .bin file"));
        }
        if !files.insert(file.clone()) {
            return Err(node.error(format!("{} is written twice", foreign::path(&file))));
        }
        out.push(Output {
            place: node.place(),
            buffer,
            file,
        });
    }
    Ok(out)
}

fn expectation(
    files: &Files<'_>,
    spec: &Buffer,
    buffer: usize,
    node: &Node<'_>,
) -> Result<Expectation, ManifestError> {
    let table = node.table("a table such as { file = \"y.expected.npy\" }")?;
    table.only(keys::EXPECT.names())?;
    let array = expected(files, spec, &table, node)?;
    let (abs, rel, ulp) = (table.get("abs"), table.get("rel"), table.get("ulp"));
    let bound = |node: Option<Node<'_>>| match node {
        None => Ok(0.0),
        Some(node) => match node.finite()? {
            value if value >= 0.0 => Ok(value),
            _ => Err(node.error("a tolerance must not be negative")),
        },
    };
    let close = abs.is_some() || rel.is_some();
    let tolerance = match ulp {
        Some(ulp) if close => {
            return Err(ulp.error("give either `ulp` or `abs` and `rel`, not both"));
        }
        Some(ulp) => Tolerance::Ulp(ulp.integer_in(0..1 << 64)? as u64),
        None if close => Tolerance::Close {
            abs: bound(abs)?,
            rel: bound(rel)?,
        },
        None => Tolerance::Exact,
    };
    if tolerance != Tolerance::Exact && array.dtype.is_none() {
        return Err(
            node.error("a tolerance needs an element type: a .npy file, or `type` with `values`")
        );
    }
    Ok(Expectation {
        place: node.place(),
        buffer,
        array,
        tolerance,
    })
}

/// The right contents of a buffer: from a file, listed, or the same value everywhere.
fn expected(
    files: &Files<'_>,
    spec: &Buffer,
    table: &Table<'_>,
    node: &Node<'_>,
) -> Result<Array, ManifestError> {
    let contents: Vec<_> = ["file", "values", "fill"]
        .into_iter()
        .filter_map(|key| table.get(key))
        .collect();
    let given = match &contents[..] {
        [] => return Err(node.error("an expectation needs `file`, `values` or `fill`")),
        [given] => given,
        [first, second, ..] => {
            let message = format!(
                "an expectation takes one of file, values and fill; see {}",
                first.key
            );
            return Err(second.error(message));
        }
    };
    let ty = table.get("type");
    if table.get("file").is_some() {
        return match ty {
            Some(ty) => {
                Err(ty.error("a file has its own type; `type` belongs to `values` and `fill`"))
            }
            None => read_array(files, given),
        };
    }
    let dtype = match (ty, spec.array.dtype) {
        (Some(ty), _) => dtype(&ty)?,
        (None, Some(dtype)) => dtype,
        (None, None) => {
            return Err(given.error("the buffer has no element type; give one: type = \"f32\""));
        }
    };
    let mut bytes = Vec::new();
    if table.get("fill").is_some() {
        let count = spec.array.bytes.len() / dtype.size();
        number(given, dtype, &mut bytes)?;
        return Ok(Array::list(dtype, bytes.repeat(count)));
    }
    for node in given.array("an array of numbers")? {
        number(&node, dtype, &mut bytes)?;
    }
    let (have, need) = (
        bytes.len() / dtype.size(),
        spec.array.bytes.len() / dtype.size(),
    );
    if have != need {
        return Err(given.error(format!(
            "{have} values, but the buffer has {need} elements of {dtype}"
        )));
    }
    // Listed values have the buffer's shape.
    let shape = match spec.array.dtype == Some(dtype) {
        true => spec.array.shape.clone(),
        false => vec![need as u64],
    };
    Ok(Array {
        dtype: Some(dtype),
        shape,
        bytes,
    })
}
