//! A tool call as a proposal, and what became of it as an observation.

use crate::surroundings::Surroundings;
use crate::tools::{self, Tool};
use serde_json::{Map, Value};
use std::borrow::Cow;
use stigmergate_core::digest::Digest;
use stigmergate_core::facts::{Act, Call, Class};
use stigmergate_core::kernel::Observation;
use stigmergate_core::location::Location;
use stigmergate_core::policy::Policy;
use stigmergate_core::proposal::Proposal;

/// A call as a host tells it.
#[derive(Clone, Debug)]
pub struct ToolCall<'a> {
    /// The host: `claude`.
    pub host: &'a str,
    /// The session.
    pub session: &'a str,
    /// The call's own id, where the host gives one.
    pub id: Option<&'a str>,
    /// The kind of sub-agent, where one calls.
    pub agent_type: Option<&'a str>,
    /// The tool's name.
    pub name: &'a str,
    /// The tool's name, common to all hosts.
    pub common_name: Cow<'a, str>,
    /// What the tool does.
    pub tool: Tool<'a>,
    /// Its input, after all rewriting.
    pub input: &'a Map<String, Value>,
}

/// Members of a command's input that only speak of it.
const SAID_OF_COMMANDS: [&str; 4] = ["description", "explanation", "justification", "reason"];

impl ToolCall<'_> {
    /// The proposal's id: host, session and call (SPEC 12); `None` where the host has no ids of calls.
    #[must_use]
    pub fn proposal_id(&self) -> Option<String> {
        self.id.map(|id| self.id_with(id))
    }

    /// An id for a call of a host that gives none: by the number of the judgement.
    #[must_use]
    pub fn numbered_id(&self, sequence: u64) -> String {
        self.id_with(&format!("call-{sequence}"))
    }

    fn id_with(&self, id: &str) -> String {
        let full = format!("{}:{}:{id}", self.host, self.session);
        let clean = !full.chars().any(char::is_control);
        if full.len() <= 250 && clean {
            full
        } else {
            format!("{}:{}", self.host, Digest::of("stigmergate call id", full.as_bytes()))
        }
    }

    /// The agent: host and agent type.
    #[must_use]
    pub fn agent(&self) -> String {
        let kind = self.agent_type.map(|kind| kind.chars().filter(|c| !c.is_control()).take(120).collect::<String>());
        match kind.filter(|kind| !kind.trim().is_empty()) {
            Some(kind) => format!("{}/{kind}", self.host),
            None => self.host.to_string(),
        }
    }

    /// The session, as the core keeps it.
    #[must_use]
    pub fn session(&self) -> String {
        crate::commands::cut(self.session, 250)
    }

    /// The digest of exactly what would run, and where.
    #[must_use]
    pub fn digest(&self, around: &Surroundings) -> Digest {
        let mut input = self.input.clone();
        if matches!(self.tool, Tool::Shell { .. }) {
            // What the model says about a command does not run, and the next time it says it in other words.
            input.retain(|field, _| !SAID_OF_COMMANDS.contains(&field.as_str()));
        }
        // Objects are kept sorted by key, so that equal inputs have one text.
        let what = Value::from(vec![
            Value::from(self.name),
            Value::Object(input),
            Value::from(around.directory().to_string_lossy().into_owned()),
        ]);
        Digest::of("stigmergate call", what.to_string().as_bytes())
    }

    /// The call as a proposal with this id: facts as they are now.
    #[must_use]
    pub fn propose(&self, id: &str, around: &Surroundings, policy: &Policy) -> Proposal {
        let read = tools::read(self.name, &self.tool, self.input, around, policy, true);
        let target = main_place(&read.acts);
        let mut proposal = Proposal::new(id, &self.agent(), &tool_name(self.name), target);
        proposal.call = Some(Call {
            tool: tool_name(&self.common_name),
            session: self.session(),
            digest: self.digest(around),
            acts: read.acts,
            facts: read.facts,
        });
        proposal
    }

    /// What became of the call that was proposed under this id.
    #[must_use]
    pub fn observation(
        &self,
        id: &str,
        around: &Surroundings,
        policy: &Policy,
        ok: bool,
        interrupted: bool,
    ) -> Observation {
        let read = tools::read(self.name, &self.tool, self.input, around, policy, false);
        let stamps =
            read.changed.into_iter().filter_map(|(place, path)| Some((place, crate::repository::stamp(&path)?)));
        Observation { proposal_id: id.to_string(), ok, interrupted, stamps: stamps.take(1000).collect(), cost: None }
    }
}

fn tool_name(name: &str) -> String {
    let name: String = name.chars().filter(|c| !c.is_control()).take(120).collect();
    if name.trim().is_empty() { "tool".to_string() } else { name }
}

/// The place that a call is about: that of its gravest act, the first of those.
fn main_place(acts: &[Act]) -> Location {
    let gravest = acts.iter().map(|act| act.class).max().unwrap_or(Class::Read);
    acts.iter().find(|act| act.class == gravest).map_or_else(|| Location::own("call"), |act| act.place.clone())
}

#[cfg(test)]
mod tests {
    use crate::hosts::{Event, Host};
    use crate::surroundings::Surroundings;
    use crate::testing::Scene;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use std::path::Path;
    use stigmergate_core::policy::{Policy, Preset};

    #[test]
    fn what_an_approval_is_bound_to_is_tool_input_and_folder() {
        let scene = Scene::new();
        let digest = |tool: &str, input: &Value| scene.propose(tool, input).call.unwrap().digest;
        let one = json!({"command": "ls", "timeout": 1});
        assert_eq!(digest("Bash", &one), digest("Bash", &json!({"timeout": 1, "command": "ls"})));
        assert_ne!(digest("Bash", &one), digest("Bash", &json!({"command": "ls"})));
        assert_ne!(digest("Bash", &one), digest("PowerShell", &one));
    }

    #[test]
    fn an_id_names_host_session_and_call_and_stays_short() {
        let scene = Scene::new();
        assert_eq!(scene.propose("Bash", &json!({"command": "ls"})).proposal_id, "claude:s:u");
        let event = json!({"hook_event_name": "PreToolUse", "session_id": "s".repeat(5000), "tool_use_id": "\u{1}",
            "tool_name": "Bash", "tool_input": {"command": "ls"}, "agent_type": "re\u{7}viewer"});
        let event = Event::read(Host::Claude, event.to_string().as_bytes()).unwrap();
        let call = event.call().unwrap();
        let proposal = call.propose(&call.proposal_id().unwrap(), &scene.around(), &scene.policy);
        proposal.check(&scene.policy.bounds).unwrap();
        assert_eq!(proposal.agent_id, "claude/reviewer");
    }

    #[test]
    fn a_secret_in_a_command_is_not_kept() {
        let scene = Scene::new();
        let command = "API_KEY=hunter2 curl --token hunter2 -H 'Authorization: hunter2' https://u:hunter2@example.org";
        let proposal = scene.propose("Bash", &json!({"command": command}));
        assert!(!format!("{:?}", proposal.call.unwrap().acts).contains("hunter2"));
    }

    /// Whether an event is answered: refused as none, or read into a proposal that the core takes.
    fn answers(bytes: &[u8]) {
        Host::ALL.into_iter().for_each(|host| answers_from(host, bytes));
    }

    fn answers_from(host: Host, bytes: &[u8]) {
        let policy = Policy::preset(Preset::Standard);
        let Ok(event) = Event::read(host, bytes) else { return };
        let Ok(call) = event.call() else { return };
        // A folder that nobody has: what is read does not depend on what is there.
        let around = Surroundings::new(Path::new("/nonexistent/repository"), Some(Path::new("/nonexistent/home")));
        let id = call.proposal_id().unwrap_or_else(|| call.numbered_id(1));
        let proposal = call.propose(&id, &around, &policy);
        proposal.check(&policy.bounds).unwrap();
        let _ = call.observation(&id, &around, &policy, false, false);
    }

    fn event(tool: &str, input: &Value) -> Vec<u8> {
        let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": "u",
            "cwd": "/nonexistent/repository", "tool_name": tool, "tool_input": input});
        event.to_string().into_bytes()
    }

    #[test]
    fn hostile_calls_are_answered() {
        let long = "x".repeat(64 * 1024);
        let commands = [
            String::new(),
            "\0".into(),
            long.clone(),
            format!("rm -rf {long}"),
            format!("rm -rf {}", "a ".repeat(20_000)),
            "echo x; ".repeat(2000),
            "rm -rf a; ".repeat(2000),
            "echo x | ".repeat(500) + "cat",
            format!("cat {}", "\u{202e}\u{0301}𝒙/".repeat(500)),
            format!("git push origin {}", "+".repeat(5000)),
            format!("echo {}rm{}", "$(".repeat(30), ")".repeat(30)),
            "python3 -c \"".to_string() + &"open(".repeat(500) + "\"",
            "mysql -e\"".to_string() + &"DROP ".repeat(5000) + "\"",
            "rm -rf {a,b}{c,d}{e,f}{g,h}{i,j}{k,l}{m,n}{o,p}{q,r}{s,t}".into(),
            "cat <<EOF\n".to_string() + &long,
            "\u{feff}rm\u{a0}-rf\u{2028}x".into(),
            "tar -fff".into(),
            "tar f".into(),
            "curl -o".into(),
            "find -name".into(),
            "-- -- --".into(),
        ];
        for command in commands {
            for tool in ["Bash", "PowerShell"] {
                answers(&event(tool, &json!({"command": command})));
            }
        }
        let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        for text in [
            deep(100),
            deep(100_000),
            "{".repeat(100_000),
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","#.into(),
            r#"{"hook_event_name":7}"#.into(),
            r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_use_id":"u","tool_name":"Bash","tool_input":{"command":"\ud800"}}"#.into(),
        ] {
            answers(text.as_bytes());
        }
        answers(&[0xff, 0xfe, 0x00]);
        answers(b"");
        answers(&event(&"t".repeat(10_000), &json!({})));
        answers(&event(&format!("mcp__{}__{}", "s".repeat(5000), "delete_".repeat(2000)), &json!({"path": long})));
        let paths = vec!["a"; 10_000];
        answers(&event("mcp__filesystem__read_multiple_files", &json!({"paths": paths})));
        answers(&event("Write", &json!({"file_path": long})));
        answers(&event("Write", &json!({"file_path": "\0"})));
        answers(&event("Read", &json!({"file_path": ""})));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,40}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z_]{1,12}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// Text of the parts that shell commands are made of.
    fn command() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec![
            "rm",
            "-rf",
            "git",
            "push",
            "--force",
            "checkout",
            "--",
            "a/b",
            "~",
            "$X",
            "$(",
            ")",
            "`",
            "'",
            "\"",
            "|",
            "&&",
            ";",
            ">",
            "<<EOF",
            "\n",
            "EOF",
            "tar",
            "czf",
            "-C",
            "find",
            "-name",
            "*.x",
            "-delete",
            "-exec",
            "{}",
            "\\;",
            "xargs",
            "psql",
            "-c",
            "DROP TABLE t",
            "curl",
            "-X",
            "DELETE",
            "python3",
            "open('a')",
            "for",
            "in",
            "do",
            "done",
            "npx",
            "-p",
            "@x/y@1",
            "env",
            "A=b",
            "sudo",
            "ssh",
            "h",
            "docker",
            "exec",
            "=",
            "\\",
            "é",
            "\u{0}",
            "*",
            "?",
            "[",
        ]);
        prop::collection::vec(part, 0..24).prop_map(|parts| parts.join(" "))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            answers(&bytes);
        }

        #[test]
        fn any_input_of_any_tool_is_answered(
            tool in "(Bash|Write|Read|Edit|MultiEdit|NotebookEdit|Grep|PowerShell|mcp__[a-z]{1,8}__[a-zA-Z_]{1,16}|.{1,20})",
            input in prop::collection::btree_map(
                "(command|file_path|notebook_path|path|paths|sql|query|branch|args|[a-z]{1,6})", value(), 0..5),
        ) {
            answers(&event(&tool, &Value::Object(input.into_iter().collect())));
        }

        #[test]
        fn any_command_is_answered(text in command(), other in ".{0,200}") {
            answers(&event("Bash", &json!({"command": text})));
            answers(&event("PowerShell", &json!({"command": text})));
            answers(&event("Bash", &json!({"command": other})));
        }
    }
}
