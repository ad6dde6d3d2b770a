//! What datasketch and datatrove compute, with equal values: the part of their twins that needs no Python.
//!
//! The Python package `simgpu` has modules that replace those packages: `simgpu.datasketch` and `simgpu.datatrove`. Their
//! values and their bytes are computed here. Their classes, which read Python's objects and raise Python's exceptions,
//! are in the extension module. So the values are tested without a Python, and no type of Python occurs here.

pub mod datasketch;

pub mod datatrove;
