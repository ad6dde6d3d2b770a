//! Two folders beside each other, with their noise taken into account.
