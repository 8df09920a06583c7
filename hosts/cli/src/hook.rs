//! A host's event in, the host's own answer out.

use crate::args::{Common, HookArgs};
use std::process::ExitCode;

/// Judges the event on standard input. Never ends with another code than 0 and 2: any other lets the call through on most hosts.
pub(crate) fn run(args: &HookArgs, _common: &Common) -> ExitCode {
    eprintln!("stigmergate hook {}: not built yet, so that nothing is let through", crate::screen::plain(&args.host));
    ExitCode::from(2)
}
