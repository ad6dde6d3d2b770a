#!/usr/bin/env bash
# Copies the figures and tables that the pages quote from the summaries under results/. cli/tests/readme.rs fails
# where they differ.
set -euo pipefail
cd "$(dirname "$0")/.."

SIMGPU_COPY_TABLES=1 cargo test --quiet --package simgpu-cli --test all pages_quote_the_results
