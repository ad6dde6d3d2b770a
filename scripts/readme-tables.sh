#!/usr/bin/env bash
# Copies the README's tables from the summaries under results/ that it names. tests/readme.rs fails where they
# differ.
set -euo pipefail
cd "$(dirname "$0")/.."

SIMGPU_COPY_TABLES=1 cargo test --quiet --test readme tables_are_those_of_the_results
