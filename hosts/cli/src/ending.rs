//! What the system would end the process with: for a hook every end but 2 lets the call through.

#[cfg(unix)]
use std::sync::{Arc, atomic::AtomicBool};

/// A file over the limit of its length is an error of the write, not the end of the process.
pub(crate) fn survive_long_files() {
    #[cfg(unix)]
    {
        use signal_hook::consts::SIGXFSZ;
        // Who cannot have it is ended by the signal, as before.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }
}

/// Ends with this code where the system, or the runtime for want of memory or stack, would end the process by a signal. It cannot
/// for `SIGKILL`, `SIGSEGV`, `SIGILL` and `SIGFPE`.
pub(crate) fn end_with(code: u8) {
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGABRT, SIGBUS, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};
        let always = Arc::new(AtomicBool::new(true));
        for signal in [SIGABRT, SIGBUS, SIGXCPU, SIGTERM, SIGHUP, SIGINT, SIGQUIT] {
            let _ = signal_hook::flag::register_conditional_shutdown(signal, i32::from(code), Arc::clone(&always));
        }
    }
    #[cfg(not(unix))]
    let _ = code;
}

/// Whether nobody can read what is written to standard output: it was closed, which the runtime replaces by the null device, or is that
/// device.
pub(crate) fn is_stdout_lost() -> bool {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        use std::os::unix::fs::MetadataExt as _;
        let out = std::io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from);
        let device = |found: std::io::Result<std::fs::Metadata>| found.map(|found| found.rdev()).ok();
        let null = device(std::fs::metadata("/dev/null"));
        null.is_some_and(|null| null != 0 && device(out.and_then(|out| out.metadata())) == Some(null))
    }
    #[cfg(not(unix))]
    false
}
