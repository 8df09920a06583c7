//! `watch`: verdicts as they come, what waits, and which places are hot.
//!
//! The store is only read, and asked for little: the number of its last record, several times a second. Verdicts are appended like
//! the lines of any log. On a terminal a few lines below them say where the gate stands; they are drawn anew with each change and
//! left as they are at the end, so that Ctrl-C needs no tidying up.

use super::log::{HotPlace, Line, hot_places};
use super::{Answer, count};
use crate::args::{Color, WatchArgs};
use crate::failure::{DONE, Failure};
use crate::gate::{Gate, by_id, judged, show, verdicts};
use crate::screen::{self, Clock};
use std::io::{ErrorKind, IsTerminal as _, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use stigmergate_core::kernel::{ProposalView, Status};
use stigmergate_store::{Order, Store, StoreError};

/// How often the store is asked.
const PAUSE: Duration = Duration::from_millis(400);
/// What waits and fades changes with time alone.
const REDRAW: Duration = Duration::from_secs(15);
/// How many of what waits and of what is hot are shown.
const SHOWN: usize = 3;

pub(crate) fn watch(gate: &Gate, args: &WatchArgs, color: Color) -> Result<Answer, Failure> {
    let stdout = std::io::stdout();
    let is_terminal = stdout.is_terminal() && !gate.json;
    let choice = match color {
        Color::Always if !gate.json => anstream::ColorChoice::Always,
        Color::Auto => anstream::AutoStream::choice(&stdout),
        Color::Always | Color::Never => anstream::ColorChoice::Never,
    };
    let mut screen = Screen { out: anstream::AutoStream::new(stdout, choice), is_terminal, below: 0 };
    let mut watcher = Watcher { gate, store: None, last: None, seen: None, told: None, drawn: None };
    loop {
        match watcher.look(args.last, &mut screen) {
            Ok(()) => {}
            Err(Ended::Reader) => return Ok(Answer { text: String::new(), exit: DONE }),
            Err(Ended::Failed(failure)) => return Err(failure),
        }
        std::thread::sleep(PAUSE);
    }
}

enum Ended {
    /// Whoever read has read enough.
    Reader,
    Failed(Failure),
}

impl From<std::io::Error> for Ended {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            return Self::Reader;
        }
        Self::Failed(Failure::new("io", format!("the view cannot be written: {error}")))
    }
}

/// Which file it is: another file under the same name is another store.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Which file it is, as far as that can be told.
#[cfg(not(unix))]
fn identity(path: &Path) -> Option<(u64, u64)> {
    let made = std::fs::metadata(path).ok()?.created().ok()?;
    let since = made.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some((since.as_secs(), u64::from(since.subsec_nanos())))
}

struct Watcher<'g> {
    gate: &'g Gate,
    store: Option<Store>,
    /// The last record that was shown; `None` before the first look.
    last: Option<u64>,
    seen: Option<(u64, u64)>,
    /// What was said last about a store that cannot be read.
    told: Option<String>,
    drawn: Option<Instant>,
}

impl Watcher<'_> {
    fn look(&mut self, first: usize, screen: &mut Screen) -> Result<(), Ended> {
        match self.step(first, screen) {
            Err(Trouble::Store(StoreError::Busy { .. })) => Ok(()),
            Err(Trouble::Store(error)) => {
                self.store = None;
                self.tell(screen, &screen::cut(&error.to_string(), 400))
            }
            Err(Trouble::Ended(ended)) => Err(ended),
            Ok(()) => Ok(()),
        }
    }

    /// Says a line once, not with every look.
    fn tell(&mut self, screen: &mut Screen, line: &str) -> Result<(), Ended> {
        if self.told.as_deref() == Some(line) {
            return Ok(());
        }
        self.told = Some(line.to_owned());
        if self.gate.json {
            return Ok(());
        }
        screen.append(&screen::faint(line))?;
        Ok(())
    }

    fn step(&mut self, first: usize, screen: &mut Screen) -> Result<(), Trouble> {
        let path = self.gate.locations.store.as_path();
        let identity = identity(path);
        if identity != self.seen {
            // What was there is gone; what is there now is read from its beginning, but for the first look.
            if self.seen.is_some() {
                self.last = Some(0);
            }
            (self.store, self.seen) = (None, identity);
        }
        if self.store.is_none() {
            let opened = self.gate.look().map_err(Ended::Failed);
            match opened {
                Ok(Some(store)) => (self.store, self.told) = (Some(store), None),
                Ok(None) => {
                    self.last = Some(0);
                    let line = format!("nothing was judged here yet: waiting for {}", show(path));
                    return Ok(self.tell(screen, &line)?);
                }
                Err(Ended::Failed(failure)) => {
                    return Ok(self.tell(screen, &screen::cut(&failure.message, 400))?);
                }
                Err(ended) => return Err(ended.into()),
            }
        }
        let Some(store) = self.store.as_mut() else { return Ok(()) };
        let clock = Clock::at(None);
        let end = store.last_sequence()?;
        let changed = self.last != Some(end);
        let lines = match self.last {
            None => latest(store, first)?,
            Some(last) => since(store, last)?,
        };
        self.last = Some(end.max(self.last.unwrap_or(0)));
        for line in &lines {
            if self.gate.json {
                screen.append(&screen::json_line(line))?;
            } else {
                screen.append(&verdict_line(&clock, line, screen.width()))?;
            }
        }
        let is_due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= REDRAW);
        if screen.is_terminal && (changed || is_due) {
            self.drawn = Some(Instant::now());
            let (status, waiting, hot) = store.with_current(|kernel| {
                let view = kernel.at(clock.now);
                (view.status(), view.waiting(), hot_places(kernel, clock.now, None, false))
            })?;
            let mut numbered = Vec::new();
            for held in waiting.into_iter().rev().take(SHOWN) {
                // Its record may have been compacted away.
                if let Some(judged) = by_id(store, &held.id).map_err(Ended::Failed)? {
                    numbered.push((judged.sequence, held));
                }
            }
            screen.draw(&standing(&clock, &status, &numbered, &hot, screen.width()))?;
        }
        Ok(())
    }
}

enum Trouble {
    Store(StoreError),
    Ended(Ended),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Ended> for Trouble {
    fn from(ended: Ended) -> Self {
        Self::Ended(ended)
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Self::Ended(error.into())
    }
}

fn latest(store: &Store, most: usize) -> Result<Vec<Line>, Trouble> {
    let mut found = Vec::new();
    if most > 0 {
        verdicts(store, |judged| {
            found.push(Line::of(judged, None));
            found.len() < most
        })
        .map_err(Ended::Failed)?;
    }
    found.reverse();
    Ok(found)
}

fn since(store: &Store, last: u64) -> Result<Vec<Line>, Trouble> {
    let mut found = Vec::new();
    for record in store.records(last.saturating_add(1).., Order::OldestFirst) {
        found.extend(judged(record?).map(|judged| Line::of(judged, None)));
    }
    Ok(found)
}

/// A verdict on one line, and why on a second where it was stopped.
fn verdict_line(clock: &Clock, line: &Line, width: usize) -> String {
    let number = format!("#{}", line.sequence);
    let head = format!("{} {number:<5} ", clock.second(line.at));
    let word = screen::decision(line.decision);
    let used = head.len().saturating_add(line.decision.as_str().len()).saturating_add(1);
    let act = format!("{}  {}", screen::cut(&line.agent, 24), screen::plain(&line.act));
    let mut text = format!("{}{word} {}", screen::faint(&head), screen::cut(&act, width.saturating_sub(used).max(10)));
    if line.decision != stigmergate_core::gate::Decision::Execute {
        text.push_str("\n         ");
        text.push_str(&screen::cut(&line.text, width.saturating_sub(9).max(10)));
    }
    text
}

/// Where the gate stands, a few lines that each fit.
fn standing(
    clock: &Clock,
    status: &Status,
    waiting: &[(u64, ProposalView)],
    hot: &[HotPlace],
    width: usize,
) -> Vec<String> {
    let counts = &status.counts;
    let mut lines = vec![
        screen::faint(&"─".repeat(width)),
        screen::cut(
            &format!(
                "{} executed, {} held, {} refused; {}; {} waiting (Ctrl-C ends)",
                counts.executed,
                counts.held,
                counts.refused,
                count(status.agents, "agent", "agents"),
                status.waiting
            ),
            width,
        ),
    ];
    for (number, held) in waiting {
        let until = held.deadline.map(|at| format!(", until {}", clock.until(at))).unwrap_or_default();
        let line = format!("waits: #{number} of {}{until}", screen::cut(&held.verdict.agent, 24));
        lines.push(screen::cut(&line, width));
    }
    for place in hot.iter().filter(|place| place.holds_for_ms.is_some()).take(SHOWN) {
        let for_ = place.holds_for_ms.map(screen::span).unwrap_or_default();
        lines.push(screen::cut(&format!("hot for {for_}: {}", place.trace.location.as_str()), width));
    }
    lines
}

/// Lines that stay, and below them on a terminal a few that are drawn anew.
struct Screen {
    out: anstream::AutoStream<std::io::Stdout>,
    is_terminal: bool,
    /// The lines below, as they are drawn.
    below: usize,
}

impl Screen {
    /// The terminal's present width; 80 where there is none.
    fn width(&self) -> usize {
        crate::width()
    }

    fn append(&mut self, line: &str) -> std::io::Result<()> {
        self.clear()?;
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }

    fn draw(&mut self, lines: &[String]) -> std::io::Result<()> {
        self.clear()?;
        for line in lines {
            writeln!(self.out, "{line}")?;
        }
        self.below = lines.len();
        self.out.flush()
    }

    /// Takes the lines below away. Said to the terminal itself: where colour is not wanted, this still is.
    fn clear(&mut self) -> std::io::Result<()> {
        if self.below > 0 && self.is_terminal {
            let mut out = std::io::stdout().lock();
            write!(out, "\x1b[{}A\r\x1b[J", self.below)?;
            out.flush()?;
        }
        self.below = 0;
        Ok(())
    }
}
