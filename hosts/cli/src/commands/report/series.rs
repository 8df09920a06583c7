//! Verdicts over time, in steps of one length.

use super::Verdicts;
use serde::Serialize;
use stigmergate_core::gate::Decision;

/// At most this many steps.
const MOST: u64 = 48;
const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// The lengths of a step, in milliseconds.
const LENGTHS: [u64; 11] =
    [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY, 365 * DAY, 3_650 * DAY];

#[derive(Debug, Serialize)]
pub(super) struct Series {
    /// When the first step begins, in milliseconds since 1970.
    pub(super) begins: u64,
    /// How long each step is, in milliseconds.
    pub(super) step: u64,
    pub(super) steps: Vec<Verdicts>,
}

impl Series {
    /// The fewest steps of a usual length, at most [`MOST`], that cover a period.
    pub(super) fn over(begins: u64, ends: u64) -> Self {
        let length = ends.saturating_sub(begins).max(1);
        let fits = |step: &u64| length.div_ceil(*step) <= MOST;
        let step = LENGTHS.into_iter().find(fits).unwrap_or(length.div_ceil(MOST).max(1));
        let count = usize::try_from(length.div_ceil(step)).unwrap_or(1);
        Self { begins, step, steps: vec![Verdicts::default(); count] }
    }

    /// Counts a verdict; one outside the period is left out.
    pub(super) fn add(&mut self, at: u64, decision: Decision) {
        let step = at.checked_sub(self.begins).and_then(|into| into.checked_div(self.step));
        if let Some(step) = step.and_then(|step| self.steps.get_mut(usize::try_from(step).unwrap_or(usize::MAX))) {
            step.add(decision);
        }
    }

    /// When a step begins.
    pub(super) fn at(&self, step: usize) -> u64 {
        self.begins.saturating_add(self.step.saturating_mul(step as u64))
    }

    /// The most verdicts in a step.
    pub(super) fn highest(&self) -> u64 {
        self.steps.iter().map(Verdicts::total).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_of_a_period_is_in_one_of_few_steps() {
        for (begins, ends) in [(0, 1), (5, 6), (1_000, 1_000 + 7 * DAY), (0, u64::MAX), (u64::MAX - 1, u64::MAX)] {
            let mut series = Series::over(begins, ends);
            assert!((1..=48).contains(&series.steps.len()), "{begins}..{ends}: {}", series.steps.len());
            for at in [begins, begins + (ends - begins) / 2, ends - 1] {
                series.add(at, Decision::Hold);
            }
            assert_eq!(series.steps.iter().map(Verdicts::total).sum::<u64>(), 3, "{begins}..{ends}");
        }
    }

    #[test]
    fn a_verdict_outside_the_period_is_left_out() {
        let mut series = Series::over(1_000, 2_000);
        series.add(999, Decision::Refuse);
        series.add(u64::MAX, Decision::Refuse);
        assert_eq!(series.highest(), 0);
    }
}
