//! The published gate once more, written from SPEC 5 in a few lines of whole nano-units, for differential tests.
//!
//! It shares no code and no number with [`gate`](crate::gate): where the two differ, one of them is wrong.

/// What the gate weighs, in units of 10⁻⁹.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// The budget covers the estimate.
    pub budget: bool,
    /// A failed budget refuses instead of holding.
    pub standalone: bool,
    /// The role is SANDBOX.
    pub sandbox: bool,
    /// Trust.
    pub trust: i64,
    /// Recent failures.
    pub recent_failures: u32,
    /// RISK at the place.
    pub risk: i64,
    /// FAILURE at the place.
    pub failure: i64,
    /// There is a CRITICAL finding.
    pub critical: bool,
    /// Missing fields, 0 to 3.
    pub missing: u8,
}

/// `(decision, score)`; the decision is 0 EXECUTE, 1 HOLD, 2 REFUSE.
#[must_use]
pub fn judge(input: &Input) -> (u8, i64) {
    if !input.budget {
        return (if input.standalone { 2 } else { 1 }, 0);
    }
    if input.sandbox || input.trust < 300_000_000 || input.critical {
        return (2, 0);
    }
    let hazard = input.risk.max(input.failure);
    let risk = if hazard < 3_000_000_000 {
        300_000_000
    } else {
        i64::from(hazard < 6_000_000_000).saturating_mul(150_000_000)
    };
    let trust = if input.trust >= 600_000_000 { 250_000_000 } else { 125_000_000_i64 };
    let trust = if input.recent_failures >= 3 { trust.saturating_sub(62_500_000) } else { trust };
    let complete = match input.missing {
        0 => 150_000_000,
        1 => 97_500_000,
        2 => 45_000_000,
        _ => 0_i64,
    };
    let score = 300_000_000_i64.saturating_add(risk).saturating_add(trust).saturating_add(complete);
    (if score >= 750_000_000 { 0 } else { u8::from(score < 500_000_000).saturating_add(1) }, score)
}
