//! What only this project's own tests and benchmarks do with devices. No promise covers it.

mod measure;

mod host_side;

mod programs;

pub use self::host_side::HostSide;
pub use self::measure::DeviceLoad;
pub use self::programs::{GpuProgram, MadeProgram, gpu_programs};
