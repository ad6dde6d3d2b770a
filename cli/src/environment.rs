//! What a process that runs the command prepares first.

/// The variable to set in the environment, if any, so that Mesa's device selection layer is off where it has no use.
/// Without a desktop, it prints a harmless error to stderr whenever a program lists the devices.
pub fn mesa_variable() -> Option<(&'static str, &'static str)> {
    let is_set = |name| std::env::var_os(name).is_some();
    let uses = ["DISPLAY", "WAYLAND_DISPLAY", "MESA_VK_DEVICE_SELECT"];
    let is_needed = cfg!(target_os = "linux") && !uses.into_iter().any(is_set);
    is_needed.then_some(("NODEVICE_SELECT", "1"))
}

/// Prints no panic of a thread that is reading a file: the run reports it as an error about the file.
pub fn silence_reader() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !simgpu_io::is_reading() {
            print(panic);
        }
    }));
}
