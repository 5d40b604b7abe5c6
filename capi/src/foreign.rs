//! Memory of the caller: texts, arrays, structures and results, by address.

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::result::{Failure, Outcome, guard, wavelift_status};

fn null(what: &str) -> Failure {
    Failure::argument(format!("{what} is NULL"))
}

/// A text.
///
/// # Safety
/// `at` must be null or point to bytes with a zero at the end, which do not change while the result
/// is used.
pub(crate) unsafe fn text<'a>(what: &str, at: *const c_char) -> Outcome<&'a str> {
    // SAFETY: the caller vouches for it.
    let text = unsafe { optional_text(what, at) }?;
    text.ok_or_else(|| null(what))
}

/// A text, or nothing for null.
///
/// # Safety
/// As for [`text`].
pub(crate) unsafe fn optional_text<'a>(what: &str, at: *const c_char) -> Outcome<Option<&'a str>> {
    if at.is_null() {
        return Ok(None);
    }
    // SAFETY: not null, and the caller vouches for the rest.
    let text = unsafe { CStr::from_ptr(at) };
    match text.to_str() {
        Ok(text) => Ok(Some(text)),
        Err(error) => Err(Failure::argument(format!(
            "{what} is not UTF-8: byte {} is wrong",
            error.valid_up_to()
        ))),
    }
}

/// May an array of `len` elements be at this address, as far as numbers tell?
pub(crate) fn check_array<T>(what: &str, at: *const T, len: usize) -> Outcome {
    if len == 0 {
        return Ok(());
    }
    if at.is_null() {
        return Err(null(what));
    }
    let bytes = len.checked_mul(size_of::<T>());
    let fits = bytes.is_some_and(|bytes| {
        isize::try_from(bytes).is_ok() && at.addr().checked_add(bytes).is_some()
    });
    match fits {
        true => Ok(()),
        false => Err(Failure::argument(format!(
            "{what}: no memory has {len} elements of {} bytes at {at:p}",
            size_of::<T>()
        ))),
    }
}

/// Bytes.
///
/// # Safety
/// `at` must be null or valid for reads of `len` bytes, which do not change while the result is used.
pub(crate) unsafe fn bytes<'a>(what: &str, at: *const u8, len: usize) -> Outcome<&'a [u8]> {
    check_array(what, at, len)?;
    match len {
        0 => Ok(&[]),
        // SAFETY: `check_array` has excluded null and overflows; the caller vouches for the rest.
        _ => Ok(unsafe { std::slice::from_raw_parts(at, len) }),
    }
}

/// Bytes to be written.
///
/// # Safety
/// `at` must be null or valid for writes of `len` bytes, which nothing else accesses while the result
/// is used.
pub(crate) unsafe fn bytes_mut<'a>(what: &str, at: *mut u8, len: usize) -> Outcome<&'a mut [u8]> {
    check_array(what, at, len)?;
    match len {
        0 => Ok(&mut []),
        // SAFETY: `check_array` has excluded null and overflows; the caller vouches for the rest.
        _ => Ok(unsafe { std::slice::from_raw_parts_mut(at, len) }),
    }
}

/// A copy of an array, aligned or not.
///
/// # Safety
/// `at` must be null or valid for reads of `len` elements.
pub(crate) unsafe fn array<T: Copy>(what: &str, at: *const T, len: usize) -> Outcome<Vec<T>> {
    check_array(what, at, len)?;
    let read = |index| {
        let element = at.wrapping_add(index);
        // SAFETY: the element is inside the array, for which the caller vouches.
        unsafe { element.read_unaligned() }
    };
    Ok((0..len).map(read).collect())
}

/// Where a result is written.
pub(crate) struct Out<T>(NonNull<T>);

impl<T: Copy> Out<T> {
    /// A null address is an error, before anything is done.
    ///
    /// # Safety
    /// `at` must be null or valid for writing a `T`, aligned or not, for as long as the result lives.
    pub(crate) unsafe fn new(what: &str, at: *mut T) -> Outcome<Out<T>> {
        NonNull::new(at).map(Out).ok_or_else(|| null(what))
    }

    pub(crate) fn put(self, value: T) {
        // SAFETY: `new` demands it.
        unsafe { self.0.write_unaligned(value) };
    }
}

/// A function of the interface with one result: writes what `value` gives to `at`.
///
/// # Safety
/// As for [`Out::new`].
pub(crate) unsafe fn give<T: Copy>(
    what: &str,
    at: *mut T,
    value: impl FnOnce() -> Outcome<T>,
) -> wavelift_status {
    guard(|| {
        // SAFETY: the caller vouches for it.
        let out = unsafe { Out::new(what, at) }?;
        out.put(value()?);
        Ok(())
    })
}

/// Writes a result that the caller need not want: nothing for null.
///
/// # Safety
/// As for [`Out::new`].
pub(crate) unsafe fn give_optional<T: Copy>(at: *mut T, value: impl FnOnce() -> T) {
    if let Some(at) = NonNull::new(at) {
        Out(at).put(value());
    }
}

/// A text as a result: its length without the zero at the end, and the text if there is room.
pub(crate) struct TextOut {
    text: *mut u8,
    capacity: usize,
    length: Option<Out<usize>>,
}

impl TextOut {
    /// # Safety
    /// `text` must be valid for writes of `capacity` bytes, `length` null or valid for a write.
    pub(crate) unsafe fn new(
        text: *mut c_char,
        capacity: usize,
        length: *mut usize,
    ) -> Outcome<TextOut> {
        let text = text.cast::<u8>();
        check_array("the text", text, capacity)?;
        if capacity == 0 && length.is_null() {
            return Err(null("the length of a text without capacity"));
        }
        Ok(TextOut {
            text,
            capacity,
            length: NonNull::new(length).map(Out),
        })
    }

    pub(crate) fn put(self, text: &str) -> Outcome {
        if let Some(length) = self.length {
            length.put(text.len());
        }
        if self.capacity == 0 {
            return Ok(());
        }
        if self.capacity <= text.len() {
            let (needed, capacity) = (text.len() + 1, self.capacity);
            return Err(Failure::new(
                wavelift_status::WAVELIFT_TOO_SMALL,
                format!("the text needs {needed} bytes, but there are {capacity}"),
            ));
        }
        // SAFETY: the capacity, for which the caller of `new` vouches, is larger than the text.
        unsafe {
            self.text
                .copy_from_nonoverlapping(text.as_ptr(), text.len())
        };
        let end = self.text.wrapping_add(text.len());
        // SAFETY: as above; the zero is the last byte that fits.
        unsafe { end.write(0) };
        Ok(())
    }
}

/// A structure that begins with its size, so that later versions of the library may append fields.
///
/// # Safety
/// It is `repr(C)`, its first field is `size: usize`, it has no padding before its end, and all bytes
/// zero are a valid value.
pub(crate) unsafe trait Growing: Copy {
    /// Its name in messages.
    const NAME: &'static str;
    /// Its size in the first version of the header that has it.
    const FIRST: usize;
}

/// Declares structures of the header as growing, with their size in ABI version 1.
macro_rules! growing {
    ($($name:ident = $first:literal;)*) => {
        $(
            // SAFETY: the fields are numbers, handles and pointers, the first one is the size, and
            // the sum of their sizes is that of the structure.
            unsafe impl $crate::foreign::Growing for $name {
                const NAME: &'static str = stringify!($name);
                const FIRST: usize = $first;
            }
            const _: () = assert!(size_of::<$name>() >= $first);
            const _: () = assert!(std::mem::offset_of!($name, size) == 0);
        )*
    };
}
pub(crate) use growing;

/// The size that the caller gives a structure.
///
/// # Safety
/// `at` must be null or valid for reads of a `usize`.
unsafe fn given_size<T: Growing>(at: *const T) -> Outcome<usize> {
    if at.is_null() {
        return Err(null(T::NAME));
    }
    // SAFETY: not null, and the caller vouches for the rest.
    let size = unsafe { at.cast::<usize>().read_unaligned() };
    // A size that was not set is mostly far away from these.
    const LARGEST: usize = 1 << 16;
    match (T::FIRST..=LARGEST).contains(&size) {
        true => Ok(size),
        false => Err(Failure::argument(format!(
            "{name}.size is {size}; set it to sizeof({name}), which is {now}",
            name = T::NAME,
            now = size_of::<T>()
        ))),
    }
}

/// A copy of a structure. Fields that the caller's version does not have are zero; fields that this
/// version does not have must be zero.
///
/// # Safety
/// `at` must be null, or valid for reads of the size that it begins with.
pub(crate) unsafe fn read_growing<T: Growing>(at: *const T) -> Outcome<T> {
    // SAFETY: the caller vouches for it.
    let size = unsafe { given_size(at) }?;
    let unknown = size.saturating_sub(size_of::<T>());
    let rest = at.cast::<u8>().wrapping_add(size - unknown);
    // SAFETY: the bytes are inside the size, for which the caller vouches.
    let rest = unsafe { bytes(T::NAME, rest, unknown) }?;
    if rest.iter().any(|&byte| byte != 0) {
        return Err(Failure::argument(format!(
            "{name} has fields that this version ({version}) of the library does not know",
            name = T::NAME,
            version = env!("CARGO_PKG_VERSION")
        )));
    }
    let mut value = MaybeUninit::<T>::zeroed();
    let to = value.as_mut_ptr().cast::<u8>();
    // SAFETY: no more bytes than either side has.
    unsafe { to.copy_from_nonoverlapping(at.cast(), size - unknown) };
    // SAFETY: the trait says that zeros are valid, and so are the caller's numbers and addresses.
    Ok(unsafe { value.assume_init() })
}

/// Where a structure is written as a result, as far as the caller's version has it.
pub(crate) struct GrowingOut<T> {
    at: *mut T,
    size: usize,
}

impl<T: Growing> GrowingOut<T> {
    /// # Safety
    /// `at` must be null, or valid for reads and writes of the size that it begins with, for as long
    /// as the result lives.
    pub(crate) unsafe fn new(at: *mut T) -> Outcome<GrowingOut<T>> {
        // SAFETY: the caller vouches for it.
        let size = unsafe { given_size(at) }?;
        Ok(GrowingOut { at, size })
    }

    /// As [`GrowingOut::new`]; nothing for null.
    ///
    /// # Safety
    /// As for [`GrowingOut::new`].
    pub(crate) unsafe fn optional(at: *mut T) -> Outcome<Option<GrowingOut<T>>> {
        match at.is_null() {
            true => Ok(None),
            // SAFETY: the caller vouches for it.
            false => unsafe { GrowingOut::new(at) }.map(Some),
        }
    }

    /// Writes all but the size. Fields that this version does not have become zero.
    pub(crate) fn put(self, value: T) {
        const HEAD: usize = size_of::<usize>();
        let common = self.size.min(size_of::<T>());
        let from = (&raw const value).cast::<u8>().wrapping_add(HEAD);
        let to = self.at.cast::<u8>().wrapping_add(HEAD);
        // SAFETY: `common` is at most the size of both, and at least that of the head.
        unsafe { to.copy_from_nonoverlapping(from, common - HEAD) };
        let rest = self.at.cast::<u8>().wrapping_add(common);
        // SAFETY: `new` demands that all of the caller's size is valid.
        unsafe { rest.write_bytes(0, self.size - common) };
    }
}
