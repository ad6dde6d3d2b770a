//! On what it was measured: what decides the numbers, beside the code.
