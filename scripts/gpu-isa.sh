#!/usr/bin/env bash
# Compiles every signing kernel with the compilers of real GPUs, without a GPU, and compares what they make with the
# table in results/gpu-isa.
#
#   scripts/gpu-isa.sh [--targets sm_90,navi31] [--only TEXT]      fails where an update takes over 5 % more than before
#   scripts/gpu-isa.sh --accept                                    writes the table again
#   scripts/gpu-isa.sh --drivers                                   checks that real drivers take every program
#   scripts/gpu-isa.sh --fetch                                     fetches the compilers, for a later call
#
# Needs Linux on x86-64, cargo, Python 3.11 with venv, a C compiler, and Debian's apt and dpkg. The compilers, about 1 GB,
# come from the registries that pip and apt use on this machine; they are kept in target/gpu-isa, and nothing is installed.
# What cannot be fetched is named as "not compared".
#
# Exit status: 0, 1 where something is worse, missing or does not compile, and 3 where all of that is of compilers of
# other versions than those of the table.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

exec "${PYTHON:-python3}" -B "$here/gpu_isa" "$@"
