//! What reaches the terminal: colour, tables that fit, times as people read them, and nothing that a stored text could do to it.
//!
//! Stored texts (paths, commands, names of agents) are hostile until [`plain`] has made every control visible. Colour is written
//! always and taken away at the end where it cannot be seen.

use anstyle::{AnsiColor, Style};
use jiff::{Timestamp, tz::TimeZone};
use std::fmt::Write as _;
use stigmergate_core::falsify::Finding;
use stigmergate_core::gate::{Decision, Reason, Verdict};
use tabled::builder::Builder;
use tabled::settings::peaker::Priority;
use tabled::settings::{Padding, Style as Frame, Width};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Whether a character could move the cursor, change colours, reorder text or hide.
fn is_treacherous(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// A stored text on one line, with every control made visible.
pub(crate) fn plain(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, character| {
        match character {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            other if is_treacherous(other) => _ = write!(shown, "\\u{{{:x}}}", u32::from(other)),
            other => shown.push(other),
        }
        shown
    })
}

/// A stored text, plain, cut to a width.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let text = plain(text);
    let mut used = 0_usize;
    let mut shown = String::new();
    let room = width.saturating_sub(1);
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let wide = character.width().unwrap_or(0);
        let last = rest.peek().is_none();
        if used.saturating_add(wide) > if last { width } else { room } {
            shown.push('…');
            break;
        }
        used = used.saturating_add(wide);
        shown.push(character);
    }
    shown
}

/// Lines broken at blanks to fit a width; what follows a break is indented two columns deeper.
pub(crate) fn wrap(text: &str, width: usize) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.lines() {
        let indent: String = line.chars().take_while(|character| *character == ' ').collect();
        let mut used = 0_usize;
        for word in line.split_inclusive(' ') {
            let wide = anstream::adapter::strip_str(word).to_string().trim_end().width();
            if used > indent.len() && used.saturating_add(wide) > width {
                shown.truncate(shown.trim_end_matches(' ').len());
                shown.push('\n');
                shown.push_str(&indent);
                shown.push_str("  ");
                used = indent.len().saturating_add(2);
            }
            shown.push_str(word);
            used = used.saturating_add(anstream::adapter::strip_str(word).to_string().width());
        }
        shown.push('\n');
    }
    shown
}

/// A verdict whose texts cannot do anything to a terminal, nor pretend to be a line of the explanation.
pub(crate) fn plain_verdict(verdict: &Verdict) -> Verdict {
    let mut verdict = verdict.clone();
    verdict.id = plain(&verdict.id);
    verdict.agent = plain(&verdict.agent);
    verdict.hazard_at = plain(&verdict.hazard_at);
    verdict.reasons =
        verdict.reasons.into_iter().map(|reason| Reason { subject: plain(&reason.subject), ..reason }).collect();
    verdict.findings = verdict
        .findings
        .into_iter()
        .map(|finding| Finding { detail: finding.detail.as_deref().map(plain), ..finding })
        .collect();
    verdict
}

/// JSON whose texts cannot do anything to a terminal either.
pub(crate) fn json(value: &impl serde::Serialize) -> String {
    escaped(&serde_json::to_string_pretty(value).unwrap_or_else(|_| "null".to_owned()))
}

/// The same on one line, for a document a line.
pub(crate) fn json_line(value: &impl serde::Serialize) -> String {
    escaped(&serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()))
}

fn escaped(text: &str) -> String {
    // The line breaks are the printer's own: those of texts are escaped already.
    text.chars().fold(String::with_capacity(text.len()), |mut shown, character| {
        if character != '\n' && is_treacherous(character) {
            let mut units = [0_u16; 2];
            for unit in character.encode_utf16(&mut units) {
                _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(character);
        }
        shown
    })
}

/// Text in a style.
pub(crate) fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

pub(crate) fn bold(text: &str) -> String {
    styled(Style::new().bold(), text)
}

pub(crate) fn faint(text: &str) -> String {
    styled(Style::new().dimmed(), text)
}

/// A decision in its colour.
pub(crate) fn decision(decision: Decision) -> String {
    let (color, text) = match decision {
        Decision::Execute => (AnsiColor::Green, "EXECUTE"),
        Decision::Hold => (AnsiColor::Yellow, "HOLD"),
        Decision::Refuse => (AnsiColor::Red, "REFUSE"),
    };
    styled(color.on_default().bold(), text)
}

/// Rows under a head, the widest columns cut until all fits.
pub(crate) fn table(head: &[&str], rows: Vec<Vec<String>>, width: usize) -> String {
    let mut builder = Builder::with_capacity(rows.len().saturating_add(1), head.len());
    builder.push_record(head.iter().map(|name| faint(name)));
    for row in rows {
        builder.push_record(row);
    }
    let mut table = builder.build();
    table.with(Frame::empty()).with(Padding::new(0, 2, 0, 0));
    // The last column's padding is cut away below.
    let fits = Width::truncate(width.saturating_add(2)).suffix("…").priority(Priority::max(true));
    table.with(fits);
    let lines: Vec<String> = table.to_string().lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// The clock of whoever reads.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// Milliseconds since the epoch.
    pub(crate) now: u64,
    zone: Option<TimeZone>,
}

impl Clock {
    /// The system's clock, or one that stands at a time; its zone is looked up when it is first needed.
    pub(crate) fn at(time: Option<u64>) -> Self {
        let now = || u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0);
        Self { now: time.unwrap_or_else(now), zone: None }
    }

    fn format(&self, at: u64, format: &str) -> String {
        let zone = self.zone.clone().unwrap_or_else(TimeZone::system);
        let instant = i64::try_from(at).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
        instant
            .map_or_else(|| format!("{at} ms"), |instant| instant.to_zoned_datetime(zone).strftime(format).to_string())
    }

    /// `now`, `3 min ago`, `14:02`, `Nov 28 14:02`, `2025-11-28`.
    pub(crate) fn when(&self, at: u64) -> String {
        let minutes = self.now.saturating_sub(at) / 60_000;
        match minutes {
            _ if at > self.now.saturating_add(60_000) => self.format(at, "%Y-%m-%d %H:%M"),
            0 => "now".to_owned(),
            1..=59 => format!("{minutes} min ago"),
            _ if self.format(at, "%F") == self.format(self.now, "%F") => self.format(at, "%H:%M"),
            _ if self.format(at, "%Y") == self.format(self.now, "%Y") => self.format(at, "%b %-d %H:%M"),
            _ => self.format(at, "%Y-%m-%d"),
        }
    }

    /// The day and the time.
    pub(crate) fn exactly(&self, at: u64) -> String {
        self.format(at, "%Y-%m-%d %H:%M:%S")
    }

    /// The day and the time, to the minute.
    pub(crate) fn minute(&self, at: u64) -> String {
        self.format(at, "%Y-%m-%d %H:%M")
    }

    /// The time of day, to the second.
    pub(crate) fn second(&self, at: u64) -> String {
        self.format(at, "%H:%M:%S")
    }

    /// `14:12, in 9 min`.
    pub(crate) fn until(&self, at: u64) -> String {
        let left = span(at.saturating_sub(self.now));
        format!("{}, in {left}", self.format(at, "%H:%M"))
    }

    /// The beginning of a range: a while ago, a day, or a time of today.
    pub(crate) fn since(&self, text: &str) -> Option<u64> {
        if let Some(seconds) = seconds(text) {
            return Some(self.now.saturating_sub(seconds.saturating_mul(1000)));
        }
        let zone = self.zone.clone().unwrap_or_else(TimeZone::system);
        let millisecond = |at: Timestamp| u64::try_from(at.as_millisecond()).ok();
        if let Ok(at) = text.parse::<Timestamp>() {
            return millisecond(at);
        }
        if let Ok(day) = text.parse::<jiff::civil::DateTime>() {
            return millisecond(day.to_zoned_datetime(zone).ok()?.timestamp());
        }
        let time = text.parse::<jiff::civil::Time>().ok()?;
        let today =
            Timestamp::from_millisecond(i64::try_from(self.now).ok()?).ok()?.to_zoned_datetime(zone.clone()).date();
        millisecond(today.to_datetime(time).to_zoned_datetime(zone).ok()?.timestamp())
    }
}

/// A length of time in its largest unit.
pub(crate) fn span(milliseconds: u64) -> String {
    let seconds = milliseconds.div_ceil(1000);
    match seconds {
        0..=99 => format!("{seconds} s"),
        100..=5_999 => format!("{} min", seconds.div_ceil(60)),
        6_000..=172_799 => format!("{} h", seconds.div_ceil(3_600)),
        _ => format!("{} days", seconds.div_ceil(86_400)),
    }
}

/// `90s`, `30m`, `2h`, `3d`, `1h30m`: in seconds.
pub(crate) fn seconds(text: &str) -> Option<u64> {
    let mut total = 0_u64;
    let mut digits = String::new();
    for character in text.trim().chars() {
        let unit = match character {
            '0'..='9' => {
                digits.push(character);
                continue;
            }
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            _ => return None,
        };
        total = total.checked_add(digits.parse::<u64>().ok()?.checked_mul(unit)?)?;
        digits.clear();
    }
    (digits.is_empty() && !text.trim().is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_text_cannot_reach_the_terminal_raw() {
        assert_eq!(plain("a\x1b[31mb\u{202e}c\nd\u{9b}"), "a\\u{1b}[31mb\\u{202e}c\\nd\\u{9b}");
        let shown = json(&"\x1b[2J\u{9b}\u{202e}\u{e0041}");
        assert!(!shown.chars().any(is_treacherous), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), "\x1b[2J\u{9b}\u{202e}\u{e0041}");
    }

    #[test]
    fn a_text_is_cut_by_its_width_and_says_so() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("漢字漢字", 5), "漢字…");
    }

    #[test]
    fn a_long_line_is_broken_at_blanks_and_stays_indented() {
        assert_eq!(wrap("  one two three four", 12), "  one two\n    three\n    four\n");
        assert_eq!(wrap("short\n  unbreakableunbreakable", 10), "short\n  unbreakableunbreakable\n");
        assert_eq!(wrap(&bold("a b c"), 80), bold("a b c") + "\n");
    }

    #[test]
    fn a_table_fits_whatever_is_in_it() {
        let rows = vec![vec!["#1".to_owned(), decision(Decision::Hold), "x".repeat(500)]];
        let shown = table(&["id", "verdict", "what"], rows, 80);
        let bare = anstream::adapter::strip_str(&shown).to_string();
        assert!(bare.lines().all(|line| line.chars().count() <= 80), "{bare}");
        assert!(bare.contains("HOLD") && bare.contains('…'));
    }

    #[test]
    fn a_while_is_read_in_its_units() {
        assert_eq!(seconds("30m"), Some(1800));
        assert_eq!(seconds("1h30m"), Some(5400));
        for wrong in ["", "30", "m", "-1m", "1w", "99999999999999999999d"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_are_told_as_people_tell_them() {
        let clock = Clock { now: 1_700_000_000_000, zone: Some(TimeZone::UTC) };
        assert_eq!(clock.when(1_700_000_000_000), "now");
        assert_eq!(clock.when(1_699_999_800_000), "3 min ago");
        assert_eq!(clock.when(1_699_990_000_000), "19:26");
        assert_eq!(clock.when(1_699_900_000_000), "Nov 13 18:26");
        assert_eq!(clock.when(1_600_000_000_000), "2020-09-13");
        assert_eq!(clock.until(1_700_000_540_000), "22:22, in 9 min");
        assert_eq!(clock.since("1h"), Some(1_699_996_400_000));
        assert_eq!(clock.since("2023-11-14"), Some(1_699_920_000_000));
        assert_eq!(clock.since("22:00"), Some(1_699_999_200_000));
        assert_eq!(clock.since("soon"), None);
    }
}
