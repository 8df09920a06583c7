//! `agents`: who proposed, and how far each is trusted. `budget`: what may be used, is used and is set aside.

use super::Answer;
use crate::args::{AgentsArgs, BudgetArgs};
use crate::failure::Failure;
use crate::gate::Gate;
use crate::screen::{self, plain};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use stigmergate_core::budget::{Balance, Dimension};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::kernel::AgentView;
use stigmergate_core::policy::Caps;
use stigmergate_core::trust::Record;

#[derive(Serialize)]
struct Agents {
    agents: Vec<AgentView>,
}

pub(crate) fn agents(gate: &Gate, args: &AgentsArgs) -> Result<Answer, Failure> {
    let mut store = gate.look_closely()?;
    if let Some(id) = &args.agent {
        return one(gate, &mut store, id);
    }
    let agents = store.with_current(|kernel| kernel.at(gate.clock.now).agents())?;
    let agents = Agents { agents };
    Ok(Answer::new(gate, &agents, || {
        if agents.agents.is_empty() {
            return "nobody has proposed anything yet\n".to_owned();
        }
        let row = |agent: &AgentView| {
            vec![
                screen::cut(&agent.id, 40),
                agent.role.as_str().to_owned(),
                agent.trust.to_string(),
                agent.proposals.to_string(),
                agent.accepted.to_string(),
                agent.recent_failures.to_string(),
            ]
        };
        let head = ["agent", "role", "trust", "proposals", "accepted", "recent failures"];
        let mut text = screen::table(&head, agents.agents.iter().map(row).collect(), gate.width);
        text.push_str(&screen::faint(
            "`stigmergate agents claude` shows one; trust and acceptance come from reported outcomes\n",
        ));
        text
    }))
}

/// An agent in detail.
#[derive(Serialize)]
struct Detail {
    #[serde(flatten)]
    agent: AgentView,
    /// Outcomes by action type.
    actions: BTreeMap<String, Record>,
}

fn one(gate: &Gate, store: &mut stigmergate_store::Store, id: &str) -> Result<Answer, Failure> {
    let found = store.with_current(|kernel| {
        let view = kernel.at(gate.clock.now);
        let known = view.agents().into_iter().find(|agent| agent.id == id)?;
        let actions = view.profile(id).map(|profile| profile.actions.clone()).unwrap_or_default();
        Some(Detail { agent: known, actions })
    })?;
    let Some(detail) = found else {
        let message = format!("no agent {} here; `stigmergate agents` lists them", plain(id));
        return Err(Failure::absent("unknown_agent", message).in_field("agent"));
    };
    Ok(Answer::new(gate, &detail, || {
        let agent = &detail.agent;
        let mut text = format!(
            "{}\n  role {}, trust {}; {} proposals, {} outcomes without failure or repair, {} recent failures\n",
            screen::bold(&plain(&agent.id)),
            agent.role.as_str(),
            agent.trust,
            agent.proposals,
            agent.accepted,
            agent.recent_failures
        );
        if let Some(rate) = agent.success_rate {
            _ = writeln!(text, "  share of clean outcomes {rate}");
        }
        for (action, record) in &detail.actions {
            _ = writeln!(text, "  {}: {} of {} outcomes clean", plain(action), record.clean, record.outcomes);
        }
        let lines = balance_rows(&agent.balance, None);
        if !lines.is_empty() {
            text.push_str(&screen::table(&BALANCE, lines, gate.width));
        }
        text
    }))
}

/// What may be used, is used and is set aside, of everybody together or of one agent.
#[derive(Serialize)]
struct Budget {
    /// Of one agent; `null`: of everybody.
    agent: Option<String>,
    balance: Balance,
    caps: Caps,
    /// What is left under each cap.
    left: BTreeMap<&'static str, Fixed>,
    period_seconds: u64,
}

pub(crate) fn budget(gate: &Gate, args: &BudgetArgs) -> Result<Answer, Failure> {
    let mut store = gate.look_closely()?;
    let budget = store.with_current(|kernel| {
        let view = kernel.at(gate.clock.now);
        let (all, all_caps) = view.budget();
        let numbers = &kernel.policy().budget;
        let (balance, caps) = match &args.agent {
            None => (all, all_caps.clone()),
            Some(agent) => (view.account(agent), numbers.accounts.get(agent).cloned().unwrap_or_default()),
        };
        let left = Dimension::ALL.into_iter().filter_map(|dimension| {
            let cap = caps.get(dimension)?;
            Some((dimension.as_str(), cap.less(balance.used.get(dimension)).less(balance.reserved.get(dimension))))
        });
        Budget {
            agent: args.agent.clone(),
            left: left.collect(),
            balance,
            caps,
            period_seconds: numbers.period_seconds,
        }
    })?;
    Ok(Answer::new(gate, &budget, || {
        let whose = budget.agent.as_deref().map_or_else(|| "everybody together".to_owned(), plain);
        let mut text = format!("budget of {whose}");
        if budget.period_seconds > 0 {
            _ = write!(text, ", anew every {}", screen::span(budget.period_seconds.saturating_mul(1000)));
        }
        text.push('\n');
        let rows = balance_rows(&budget.balance, Some(&budget.caps));
        if rows.is_empty() {
            text.push_str("no caps are set, and nothing was used\n");
        } else {
            text.push_str(&screen::table(&BALANCE, rows, gate.width));
        }
        text.push_str(&screen::faint(
            "caps stand under [budget.caps]; a tool call costs what [budget.call_cost] says\n",
        ));
        text
    }))
}

const BALANCE: [&str; 6] = ["what", "used", "set aside", "cap", "left", "ever used"];

/// A row for each dimension in which anything was used or may not be.
fn balance_rows(balance: &Balance, caps: Option<&Caps>) -> Vec<Vec<String>> {
    let row = |dimension: Dimension| {
        let [used, reserved, lifetime] =
            [balance.used, balance.reserved, balance.lifetime].map(|cost| cost.get(dimension));
        let cap = caps.and_then(|caps| caps.get(dimension));
        let is_idle = [used, reserved, lifetime].into_iter().all(|amount| amount == Fixed::ZERO);
        (cap.is_some() || !is_idle).then(|| {
            vec![
                dimension.as_str().to_owned(),
                used.to_string(),
                reserved.to_string(),
                cap.map_or_else(|| "none".to_owned(), |cap| cap.to_string()),
                cap.map_or_else(|| "-".to_owned(), |cap| cap.less(used).less(reserved).to_string()),
                lifetime.to_string(),
            ]
        })
    };
    Dimension::ALL.into_iter().filter_map(row).collect()
}
