//! The library: devices and buffers, manifests and arrays.

mod array;
mod compare;
mod device;
mod manifest;
mod npy;
mod profile;
mod random;
