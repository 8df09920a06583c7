//! What was acknowledged, and what became of it.

use std::fmt::Write as _;

/// A line of the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) scene: String,
    /// Processes or files that met a fault.
    pub(crate) faults: u64,
    /// Records that a process has said are kept.
    pub(crate) acknowledged: u64,
    /// Of these the ones that were found afterwards.
    pub(crate) survived: u64,
    /// Records under an id that another has too.
    pub(crate) duplicated: u64,
    /// Stores that replayed to the last digest.
    pub(crate) verified: u64,
    /// Stores that said what is intact.
    pub(crate) told: u64,
    /// What must not be: a call let through, a store without a statement, a repair that kept less than was intact.
    pub(crate) wrong: Vec<String>,
}

impl Row {
    pub(crate) fn new(scene: &str) -> Self {
        Self { scene: scene.to_owned(), ..Self::default() }
    }

    pub(crate) const fn lost(&self) -> u64 {
        self.acknowledged.saturating_sub(self.survived)
    }

    pub(crate) const fn is_bad(&self) -> bool {
        self.lost() > 0 || self.duplicated > 0 || !self.wrong.is_empty()
    }
}

/// The table, and under it what went wrong.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<34}{:>8}{:>8}{:>10}{:>6}{:>8}{:>10}{:>7}{:>7}\n",
        "scene", "faults", "acked", "survived", "lost", "doubled", "verified", "told", "wrong"
    );
    for row in rows {
        let wrong = row.wrong.len();
        let _ = writeln!(
            text,
            "{:<34}{:>8}{:>8}{:>10}{:>6}{:>8}{:>10}{:>7}{wrong:>7}",
            row.scene,
            row.faults,
            row.acknowledged,
            row.survived,
            row.lost(),
            row.duplicated,
            row.verified,
            row.told
        );
    }
    /// More of one kind say the same.
    const MOST: usize = 12;
    for row in rows.iter().filter(|row| row.is_bad()) {
        let _ = writeln!(text, "\n{}:", row.scene);
        row.wrong.iter().take(MOST).for_each(|line| {
            let _ = writeln!(text, "  {line}");
        });
    }
    text
}
