//! How far long work has come, told on standard error where that is a terminal; elsewhere nothing is drawn.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// Work whose length is known; 0: it is not.
pub(crate) fn bar(length: u64, doing: &'static str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target((length > 0).then_some(length), ProgressDrawTarget::stderr());
    if length == 0 {
        return bar.with_message(doing);
    }
    if let Ok(style) = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len}") {
        bar.set_style(style);
    }
    bar.with_message(doing)
}

/// Does work whose length is not known.
pub(crate) fn during<T>(doing: &'static str, work: impl FnOnce() -> T) -> T {
    let sign = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_message(doing);
    if !sign.is_hidden() {
        sign.enable_steady_tick(Duration::from_millis(120));
    }
    let done = work();
    sign.finish_and_clear();
    done
}
