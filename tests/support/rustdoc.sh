#!/bin/sh
# rustdoc of a stable toolchain, with the unstable options that its JSON needs.
RUSTC_BOOTSTRAP=1 exec rustdoc "$@"
