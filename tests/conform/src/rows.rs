//! The rows: what each kind asks of a surface, and what it must answer.

use serde_json::{Map, Value, json};

/// What a surface has to be able to do. Values are JSON as in the vectors.
pub(crate) trait Surface {
    /// A kernel with a policy of preset `reference` and these caps.
    type Kernel;

    /// The findings as `[vector, severity]`, and the verdict, of a plan.
    fn falsify(&self, plan: &Value) -> Result<Value, String>;
    /// One gate evaluation: `decision`, `score`, `severity`, `budget_approved`.
    fn gate(&self, input: &Map<String, Value>) -> Result<Value, String>;
    /// The role that follows from trust and counted proposals.
    fn role(&self, trust: &Value, proposals: u64) -> Result<String, String>;
    /// A fresh kernel with budget caps.
    fn kernel(&self, policy: &Value) -> Result<Self::Kernel, String>;
    /// Applies a command, in the JSON form of `Command`, and answers with the reply.
    fn apply(&self, kernel: &mut Self::Kernel, command: &Value) -> Result<Value, String>;
    /// All live traces as `location:signal` -> strength.
    fn field(&self, kernel: &Self::Kernel) -> Value;
    /// What the budget used, by dimension.
    fn usage(&self, kernel: &Self::Kernel) -> Value;
    /// The digest of the final state.
    fn digest(&self, kernel: &Self::Kernel) -> String;
}

/// Runs a row.
pub(crate) fn run<S: Surface>(surface: &S, line: &str) -> Result<(), String> {
    let row: Map<String, Value> = serde_json::from_str(line).map_err(|error| format!("not a JSON object: {error}"))?;
    match text(&row, "kind")? {
        "falsify" => falsify(surface, &row),
        "gate" => gate(surface, &row),
        "role" => role(surface, &row),
        "scenario" => scenario(surface, &row),
        other => Err(format!("kind {other:?} is not known")),
    }
}

fn falsify<S: Surface>(surface: &S, row: &Map<String, Value>) -> Result<(), String> {
    let answer = surface.falsify(get(row, "plan")?)?;
    same("findings", get(row, "findings")?, answer.get("findings").unwrap_or(&Value::Null))?;
    same("verdict", get(row, "verdict")?, answer.get("verdict").unwrap_or(&Value::Null))
}

fn gate<S: Surface>(surface: &S, row: &Map<String, Value>) -> Result<(), String> {
    contains("gate", get(row, "expect")?, &surface.gate(row)?)
}

fn role<S: Surface>(surface: &S, row: &Map<String, Value>) -> Result<(), String> {
    let proposals = get(row, "total_proposals")?.as_u64().ok_or("total_proposals: a count")?;
    let answer = surface.role(get(row, "trust")?, proposals)?;
    same("role", get(row, "role")?, &Value::from(answer))
}

fn scenario<S: Surface>(surface: &S, row: &Map<String, Value>) -> Result<(), String> {
    let mut kernel = surface.kernel(&policy_of(get(row, "budget")?)?)?;
    let steps = get(row, "ops")?.as_array().ok_or("ops: a list")?;
    for (number, step) in steps.iter().enumerate() {
        let step = step.as_object().ok_or("ops: objects")?;
        let here = |mismatch: String| {
            format!("{} op {number} ({}): {mismatch}", text(row, "id").unwrap_or("?"), text(step, "op").unwrap_or("?"))
        };
        let reply = surface.apply(&mut kernel, &command_of(step).map_err(here)?).map_err(here)?;
        if let Some(expect) = step.get("expect") {
            contains("reply", expect, &reply_of(&reply)).map_err(here)?;
        }
        if let Some(field) = step.get("field") {
            same_field(field, &surface.field(&kernel)).map_err(here)?;
        }
        if let Some(usage) = step.get("usage") {
            contains("usage", usage, &surface.usage(&kernel)).map_err(here)?;
        }
    }
    // Asked for so that every surface computes it; surfaces are compared with each other by it.
    if surface.digest(&kernel).len() == 64 { Ok(()) } else { Err("digest: 64 hexadecimal digits".into()) }
}

/// The policy of a scenario: caps and period in the vectors' names.
fn policy_of(budget: &Value) -> Result<Value, String> {
    let mut caps = Map::new();
    let mut period = Value::from(0);
    for (key, value) in budget.as_object().ok_or("budget: an object")? {
        match key.strip_prefix("max_") {
            Some(dimension) => caps.insert(dimension.into(), value.clone()),
            None if key == "period_seconds" => std::mem::replace(&mut period, value.clone()).into(),
            None => return Err(format!("budget.{key} is not known")),
        };
    }
    Ok(json!({"preset": "reference", "budget": {"caps": caps, "period_seconds": period}}))
}

/// An op in the JSON form of a command.
fn command_of(step: &Map<String, Value>) -> Result<Value, String> {
    Ok(match text(step, "op")? {
        "propose" => json!({"propose": get(step, "proposal")?}),
        "tick" => json!({"tick": {"count": get(step, "n")?}}),
        "outcome" => {
            let outcome = get(step, "outcome")?.as_object().ok_or("outcome: an object")?;
            let mut report = outcome.clone();
            report.insert("proposal".into(), get(step, "proposal")?.clone());
            report.insert("tests_passed".into(), get(step, "tests_passed")?.clone());
            report.insert("human_feedback".into(), step.get("human_feedback").cloned().unwrap_or_default());
            json!({"record_outcome": report})
        }
        "deposit" => {
            json!({"deposit": pick(step, &["location", "signal", "strength", "source", "decay", "trust_factor"])})
        }
        "reinforce" => json!({"reinforce": pick(step, &["location", "signal"])}),
        other => return Err(format!("op {other:?} is not known")),
    })
}

fn pick(step: &Map<String, Value>, keys: &[&str]) -> Value {
    keys.iter().filter_map(|key| Some(((*key).to_string(), step.get(*key)?.clone()))).collect::<Map<_, _>>().into()
}

/// A reply in the vectors' names.
fn reply_of(reply: &Value) -> Value {
    let inner = reply.as_object().and_then(|map| map.values().next()).cloned().unwrap_or_default();
    let mut flat = inner.as_object().cloned().unwrap_or_default();
    if let Some(codes) = flat.get("required_evidence").and_then(Value::as_array).map(Vec::len) {
        flat.insert("required_evidence_count".into(), Value::from(codes));
    }
    if let Some(approved) = flat.get("budget").and_then(|budget| budget.get("approved")).cloned() {
        flat.insert("budget_approved".into(), approved);
    }
    flat.into()
}

fn get<'a>(row: &'a Map<String, Value>, key: &str) -> Result<&'a Value, String> {
    row.get(key).ok_or_else(|| format!("{key} is missing"))
}

fn text<'a>(row: &'a Map<String, Value>, key: &str) -> Result<&'a str, String> {
    get(row, key)?.as_str().ok_or_else(|| format!("{key}: a text"))
}

fn same(what: &str, want: &Value, got: &Value) -> Result<(), String> {
    let equal = match (want.as_f64(), got.as_f64()) {
        (Some(want), Some(got)) => nano(want) == nano(got),
        _ => want == got,
    };
    if equal { Ok(()) } else { Err(format!("{what}: want {want}, got {got}")) }
}

/// Every key of `want` is in `got`, with the same value.
fn contains(what: &str, want: &Value, got: &Value) -> Result<(), String> {
    want.as_object()
        .ok_or("expect: an object")?
        .iter()
        .try_for_each(|(key, want)| same(&format!("{what}.{key}"), want, got.get(key).unwrap_or(&Value::Null)))
}

/// Both name the same traces with the same strengths.
fn same_field(want: &Value, got: &Value) -> Result<(), String> {
    contains("field", want, got)?;
    contains("unexpected trace", got, want)
}

/// Vectors are rounded to nine decimals.
fn nano(value: f64) -> i128 {
    (value * 1e9).round() as i128
}
