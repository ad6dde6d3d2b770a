#!/usr/bin/env bash
# A model of the way of texts through a GPU: says where a machine saturates, and checks itself on measured runs.
#
#   scripts/gpu-model.sh predict h100 [--set cores=64]     the stages of a machine, and its bottleneck
#   scripts/gpu-model.sh fit                               the rates of lavapipe, fitted on two corpora
#   scripts/gpu-model.sh check                             measured runs beside their predictions
#   scripts/gpu-model.sh tables [--accept]                 whether the pages have what the rates give; or writes it
#   scripts/gpu-model.sh measure --simgpu FILE --corpora FOLDER     adds runs on lavapipe to results/gpu-model
#
# Needs Python 3.11; `measure` also Linux, lavapipe, and the corpora of results/gpu-model/README.md.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

exec "${PYTHON:-python3}" -B "$here/gpu_model" "$@"
