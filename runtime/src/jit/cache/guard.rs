//! Who may have written a folder of translated code and its files. The checksums of files find damage,
//! not forgery: whoever can write a file with a right checksum decides what this process executes. So
//! the folder and each file must belong to this user, and others must not be able to write them. Links
//! are not followed, and pipes are not waited for.
//!
//! On systems other than Unix nothing is known of that, and only checksums are checked.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};

/// Creates a folder and those above it, for this user only, unless they exist.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    builder.mode(0o700);
    builder.create(path)
}

/// An error unless only this user may write the folder.
pub(super) fn check_folder(path: &Path) -> io::Result<()> {
    check(&std::fs::metadata(path)?, user()).map_err(io::Error::other)
}

/// Opens a file of code to read it: a regular file that only this user may write.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    let file = plain(&mut options).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    check(&about, user()).map_err(io::Error::other)?;
    Ok(file)
}

/// Creates a file that is not there, for this user only.
pub(super) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    plain(&mut options).open(path)
}

/// Opens or creates the file that a process locks. Nothing is written to it.
pub(super) fn lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    plain(&mut options).open(path)
}

/// Options by which no link is followed and no pipe waited for; new files are this user's only.
#[cfg(unix)]
fn plain(options: &mut OpenOptions) -> &mut OpenOptions {
    options
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .mode(0o600)
}

#[cfg(not(unix))]
fn plain(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// The user whose rights this process has.
#[cfg(unix)]
#[expect(unsafe_code, reason = "a call of the C library")]
fn user() -> u32 {
    // SAFETY: the function has no conditions.
    unsafe { libc::geteuid() }
}

#[cfg(not(unix))]
fn user() -> u32 {
    0
}

/// Why a user must not trust a file or folder, if there is a reason.
#[cfg(unix)]
fn check(about: &Metadata, user: u32) -> Result<(), String> {
    if about.uid() != user {
        return Err(format!(
            "it belongs to user {}, and this is user {user}; code is kept in a folder of one's own only",
            about.uid()
        ));
    }
    let mode = about.mode() & 0o7777;
    if mode & 0o022 != 0 {
        return Err(format!(
            "others may write to it (mode {mode:04o}), so that what is kept there could be anyone's code; chmod go-w \
             protects it"
        ));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check(_: &Metadata, _: u32) -> Result<(), String> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests;
