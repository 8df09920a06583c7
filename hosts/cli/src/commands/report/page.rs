//! The page: one file that loads nothing, runs nothing, and shows every stored text as text.
//!
//! Texts from the store pass [`screen::cut`], which makes controls and marks of direction visible and bounds the length; the markup
//! then escapes them. Its policy lets the browser load and run nothing, should that ever fail.

use super::{Facts, Steps, Verdicts, dimensions};
use crate::commands::ledger::PROVES;
use crate::commands::log::{HotPlace, Line, kind_text};
use crate::gate::Gate;
use crate::screen::{self, Clock};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use stigmergate_core::gate::Decision;
use stigmergate_core::kernel::AgentView;

const STYLE: &str = include_str!("style.css");
/// Nothing may be loaded, run or sent; only the page's own style counts.
const SECURITY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Characters of a stored text in a table, and of a name.
const TEXT: usize = 300;
const NAME: usize = 80;

pub(super) fn page(gate: &Gate, facts: &Facts) -> String {
    let clock = &gate.clock;
    let place = facts.root.file_name().map_or_else(|| facts.root.to_string_lossy(), |name| name.to_string_lossy());
    let title = format!("What the gate did in {}", screen::cut(&place, NAME));
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(SECURITY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header {
                    h1 { (title) }
                    p.soft {
                        "From " (clock.exactly(facts.since)) " to " (clock.exactly(facts.until))
                        ", made " (clock.exactly(facts.made_at)) "."
                    }
                    (numbers(&facts.verdicts))
                }
                nav aria-label="Parts of this page" {
                    ul {
                        @for (id, name) in PARTS { li { a href={ "#" (id) } { (name) } } }
                    }
                }
                main id="main" {
                    (over_time(clock, facts))
                    (reasons(facts))
                    (stopped(clock, facts))
                    (places(facts))
                    (agents(facts))
                    (budget(facts))
                    (lifecycle(clock, facts))
                    (ledger(facts))
                }
                footer.soft {
                    p { "Made by stigmergate " (env!("CARGO_PKG_VERSION")) " from the store of this repository. "
                        "The page loads nothing and runs no script." }
                }
            }
        }
    };
    markup.into_string() + "\n"
}

const PARTS: [(&str, &str); 8] = [
    ("time", "Over time"),
    ("reasons", "Reasons"),
    ("stopped", "Held and refused"),
    ("places", "Hot places"),
    ("agents", "Agents"),
    ("budget", "Budget"),
    ("lifecycle", "Lifecycle"),
    ("ledger", "Ledger"),
];

fn section(id: &str, body: &Markup) -> Markup {
    let name = PARTS.iter().find(|(part, _)| *part == id).map_or(id, |(_, name)| name);
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (name) }
            (body)
        }
    }
}

/// A table that scrolls by itself where the window is narrow, also by keyboard.
fn table(caption: &str, head: &Markup, rows: &Markup) -> Markup {
    html! {
        div.wide role="region" aria-label=(caption) tabindex="0" {
            table {
                caption { (caption) }
                thead { tr { (head) } }
                tbody { (rows) }
            }
        }
    }
}

fn more(count: usize) -> Markup {
    html! { @if count > 0 { p.soft { "and " (count) " more" } } }
}

fn word(decision: Decision) -> (&'static str, &'static str) {
    match decision {
        Decision::Execute => ("execute", "EXECUTE"),
        Decision::Hold => ("hold", "HOLD"),
        Decision::Refuse => ("refuse", "REFUSE"),
    }
}

fn numbers(verdicts: &Verdicts) -> Markup {
    html! {
        dl.numbers {
            div { dt { "verdicts" } dd { (verdicts.total()) } }
            div.execute { dt { "executed" } dd { (verdicts.execute) } }
            div.hold { dt { "held" } dd { (verdicts.hold) } }
            div.refuse { dt { "refused" } dd { (verdicts.refuse) } }
        }
    }
}

/// The drawing's measures, in its own units; it is stretched to the window.
const WIDE: f64 = 960.0;
const HIGH: f64 = 200.0;

fn over_time(clock: &Clock, facts: &Facts) -> Markup {
    let series = &facts.over_time;
    let highest = series.highest();
    if highest == 0 {
        return section("time", &html! { p { "Nothing was judged in this period." } });
    }
    let rows = html! {
        @for (index, step) in series.steps.iter().enumerate() {
            @if step.total() > 0 {
                tr {
                    th.when scope="row" { (clock.minute(series.at(index))) }
                    td.n { (step.execute) } td.n { (step.hold) } td.n { (step.refuse) }
                }
            }
        }
    };
    let head = html! { th scope="col" { "from" } th.n scope="col" { "executed" } th.n scope="col" { "held" } th.n scope="col" { "refused" } };
    let step = screen::span(series.step);
    section(
        "time",
        &html! {
            ul.key aria-hidden="true" {
                li { svg viewBox="0 0 10 10" { rect.execute width="10" height="10" {} } "executed" }
                li { svg viewBox="0 0 10 10" { rect.hold width="10" height="10" {} } "held" }
                li { svg viewBox="0 0 10 10" { rect.refuse width="10" height="10" {} } "refused" }
            }
            (chart(clock, facts))
            details {
                summary { "The same as a table" }
                (table(&format!("Verdicts in steps of {step}; steps without any are left out"), &head, &rows))
            }
        },
    )
}

fn chart(clock: &Clock, facts: &Facts) -> Markup {
    let series = &facts.over_time;
    let highest = series.highest().max(1) as f64;
    let room = WIDE / series.steps.len().max(1) as f64;
    let tall = |count: u64| HIGH * count as f64 / highest;
    let n = |value: f64| format!("{value:.1}");
    let label = format!("Stacked bars of {} verdicts; the table below says the same", facts.verdicts.total(),);
    html! {
        p.soft { "Each bar is " (screen::span(series.step)) "; the highest has " (series.highest()) "." }
        svg.chart viewBox={ "0 0 " (WIDE) " " (HIGH) } preserveAspectRatio="none" role="img" aria-label=(label) {
            @for (index, step) in series.steps.iter().enumerate() {
                @if step.total() > 0 {
                    g {
                        title {
                            (clock.minute(series.at(index))) ": " (step.execute) " executed, " (step.hold) " held, "
                            (step.refuse) " refused"
                        }
                        @for (class, count, below) in [
                            ("execute", step.execute, 0),
                            ("hold", step.hold, step.execute),
                            ("refuse", step.refuse, step.execute.saturating_add(step.hold)),
                        ] {
                            @if count > 0 {
                                rect class=(class) x=(n(room * index as f64 + room * 0.1))
                                    y=(n(HIGH - tall(below) - tall(count))) width=(n(room * 0.8))
                                    height=(n(tall(count).max(0.5))) {}
                            }
                        }
                    }
                }
            }
        }
        p.ends aria-hidden="true" { span { (clock.minute(facts.since)) } span { (clock.minute(facts.until)) } }
    }
}

fn reasons(facts: &Facts) -> Markup {
    if facts.reasons.is_empty() {
        return section("reasons", &html! { p { "Nothing was held or refused in this period." } });
    }
    let rows = html! {
        @for reason in &facts.reasons {
            tr {
                th scope="row" { (super::name(reason.code)) }
                td.n { (reason.count) }
                td.text { (screen::cut(&reason.example, TEXT)) }
            }
        }
    };
    let head =
        html! { th scope="col" { "stopped by" } th.n scope="col" { "calls" } th scope="col" { "the last time" } };
    section("reasons", &table("What decided the calls that were held or refused", &head, &rows))
}

fn stopped(clock: &Clock, facts: &Facts) -> Markup {
    if facts.stopped.is_empty() {
        return section("stopped", &html! { p { "Nothing was held or refused in this period." } });
    }
    let row = |line: &Line| {
        let (class, word) = word(line.decision);
        html! {
            tr {
                th.n scope="row" { "#" (line.sequence) }
                td.when { (clock.minute(line.at)) }
                td { span class={ "mark " (class) } { (word) } }
                td { (line.state.unwrap_or("forgotten")) }
                td { (screen::cut(&line.agent, NAME)) }
                td.text { code { (screen::cut(&line.act, TEXT)) } }
                td.text { (screen::cut(&line.text, TEXT)) }
            }
        }
    };
    let rows = html! { @for line in &facts.stopped { (row(line)) } };
    let head = html! {
        @for name in ["#", "when", "verdict", "state", "agent", "act", "why"] { th scope="col" { (name) } }
    };
    let all = facts.verdicts.hold.saturating_add(facts.verdicts.refuse);
    let caption = format!("The last {} of {all} calls that were held or refused", facts.stopped.len());
    section("stopped", &table(&caption, &head, &rows))
}

fn places(facts: &Facts) -> Markup {
    if facts.places.first.is_empty() {
        return section("places", &html! { p { "No place is hot." } });
    }
    let row = |hot: &HotPlace| {
        let trace = &hot.trace;
        html! {
            tr {
                th.text scope="row" { code { (screen::cut(trace.location.as_str(), TEXT)) } }
                td { (screen::cut(&kind_text(&trace.kind), NAME)) }
                td { (trace.signal.as_str()) }
                td.n { (format!("{:.2}", trace.strength.to_f64())) }
                td.n { (hot.holds_for_ms.map_or_else(|| "-".to_owned(), screen::span)) }
            }
        }
    };
    let rows = html! { @for hot in &facts.places.first { (row(hot)) } };
    let head = html! {
        th scope="col" { "place" } th scope="col" { "act" } th scope="col" { "signal" }
        th.n scope="col" { "strength" } th.n scope="col" { "holds for" }
    };
    let caption = "Where something failed lately, the strongest first, as of when this page was made";
    section("places", &html! { (table(caption, &head, &rows)) (more(facts.places.more)) })
}

fn agents(facts: &Facts) -> Markup {
    if facts.agents.first.is_empty() {
        return section("agents", &html! { p { "No agent is known." } });
    }
    let row = |agent: &AgentView| {
        let clean = agent.success_rate.map(|rate| format!("{:.0} %", rate.to_f64() * 100.0));
        html! {
            tr {
                th.text scope="row" { (screen::cut(&agent.id, NAME)) }
                td.n { (format!("{:.2}", agent.trust.to_f64())) }
                td { (agent.role.as_str()) }
                td.n { (agent.proposals) }
                td.n { (agent.accepted) }
                td.n { (agent.recent_failures) }
                td.n { (clean.as_deref().unwrap_or("-")) }
            }
        }
    };
    let rows = html! { @for agent in &facts.agents.first { (row(agent)) } };
    let head = html! {
        th scope="col" { "agent" } th.n scope="col" { "trust" } th scope="col" { "role" } th.n scope="col" { "proposals" }
        th.n scope="col" { "accepted" } th.n scope="col" { "recent failures" } th.n scope="col" { "clean outcomes" }
    };
    let caption = "Agents by trust, as of when this page was made; the numbers are since the beginning";
    section("agents", &html! { (table(caption, &head, &rows)) (more(facts.agents.more)) })
}

fn budget(facts: &Facts) -> Markup {
    let spending = &facts.budget;
    if dimensions(spending).next().is_none() {
        return section("budget", &html! { p { "Nothing is used, set aside or capped." } });
    }
    let rows = html! {
        @for dimension in dimensions(spending) {
            tr {
                th scope="row" { (dimension.as_str().replace('_', " ")) }
                td.n { (spending.balance.used.get(dimension).to_string()) }
                td.n { (spending.balance.reserved.get(dimension).to_string()) }
                td.n { (spending.caps.get(dimension).map_or_else(|| "no cap".to_owned(), |cap| cap.to_string())) }
            }
        }
    };
    let head = html! {
        th scope="col" { "dimension" } th.n scope="col" { "used" } th.n scope="col" { "set aside" } th.n scope="col" { "cap" }
    };
    section("budget", &table("The whole colony in the budget's present period", &head, &rows))
}

fn lifecycle(clock: &Clock, facts: &Facts) -> Markup {
    let Steps { approved, denied, authorized, executed, concluded, outcomes, observed, incidents } = facts.lifecycle;
    let rows = html! {
        @for (step, count) in [
            ("approved by a person", approved),
            ("denied by a person", denied),
            ("authorized", authorized),
            ("executed, with a receipt", executed),
            ("concluded on the ledger", concluded),
            ("outcome reported", outcomes),
            ("outcome seen by a hook", observed),
            ("ran although it should not have", incidents),
        ] { tr { th scope="row" { (step) } td.n { (count) } } }
    };
    let head = html! { th scope="col" { "step" } th.n scope="col" { "in this period" } };
    let noted = html! {
        @for incident in &facts.incidents {
            tr {
                th.when scope="row" { (clock.minute(incident.at)) }
                td { (screen::cut(&incident.kind, NAME)) }
                td.text { (screen::cut(&incident.detail, TEXT)) }
            }
        }
    };
    let noted_head = html! { th scope="col" { "when" } th scope="col" { "kind" } th scope="col" { "what happened" } };
    section(
        "lifecycle",
        &html! {
            (table("What was recorded about calls", &head, &rows))
            @if !facts.incidents.is_empty() {
                (table("Incidents among the last that were noted", &noted_head, &noted))
            }
        },
    )
}

fn ledger(facts: &Facts) -> Markup {
    let view = facts.standing.as_ref().and_then(|standing| standing.ledger.as_ref());
    let (Some(view), Some(report)) = (view, &facts.ledger) else {
        return section("ledger", &html! { p { "No signed ledger was begun here." } });
    };
    let fault = report.fault.as_ref().map(|fault| screen::cut(&fault.to_string(), TEXT));
    let rows = html! {
        tr { th scope="row" { "verification" } td.text { strong { (report.status.as_str()) } @if let Some(fault) = fault { ": " (fault) } } }
        tr { th scope="row" { "events read" } td { (report.records) } }
        tr { th scope="row" { "identity" } td.text { (screen::cut(&view.origin, TEXT)) } }
        tr { th scope="row" { "root" } td.text { code { (report.root.to_string()) } } }
        tr { th scope="row" { "key in force" } td.text { code { (screen::cut(&view.key.verifier_key(), TEXT)) } } }
        tr { th scope="row" { "executions without an outcome" } td { (report.incomplete) } }
    };
    let head = html! { th scope="col" { "of the ledger" } th scope="col" { "found" } };
    let proves = PROVES.trim().replace('\n', " ");
    section(
        "ledger",
        &html! {
            (table("The signed head, verified when this page was made", &head, &rows))
            p { "A ledger like this has limits: " (proves) "." }
        },
    )
}
