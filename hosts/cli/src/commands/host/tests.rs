use super::hooks::{Note, Started, install, take_back};
use super::line::{Quoting, line, words};
use super::table::{FORMS, Form, Moment, form};
use crate::json_text::{Dialect, Document};
use proptest::prelude::*;
use serde_json::{Value, json};
use stigmergate_intake::hosts::Host;

fn started(program: &str, form: &Form) -> Started {
    Started { program: program.to_owned(), arguments: vec!["hook".to_owned(), form.host.name().to_owned()] }
}

fn document(form: &Form, text: &str) -> Document {
    Document::read(text, form.dialect).unwrap()
}

fn installed(form: &Form, text: &str) -> (String, Note) {
    let (document, note) = install(form, &document(form, text), &started("stigmergate", form), None).unwrap();
    (document.text().to_owned(), note)
}

fn taken_back(form: &Form, text: &str, note: Option<&Note>) -> String {
    take_back(form, &document(form, text), note).unwrap().text().to_owned()
}

fn value_of(form: &Form, text: &str) -> Value {
    let document = document(form, text);
    document.value(document.root())
}

fn claude() -> &'static Form {
    form(Host::Claude)
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_hooks_are_added_in_the_style_of_the_file() {
    let (text, _) = installed(claude(), "{}\n");
    assert_eq!(
        text,
        r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "stigmergate",
            "args": ["hook", "claude"],
            "timeout": 30,
            "onFailure": "block"
          }
        ]
      }
    ],
    "PostToolUse": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "stigmergate",
            "args": ["hook", "claude"],
            "timeout": 30
          }
        ]
      }
    ],
    "PostToolUseFailure": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "stigmergate",
            "args": ["hook", "claude"],
            "timeout": 30
          }
        ]
      }
    ]
  }
}
"#
    );
    let (tabs, _) = installed(claude(), "{\r\n\t\"model\": \"x\"\r\n}\r\n");
    assert!(tabs.starts_with("{\r\n\t\"model\": \"x\",\r\n\t\"hooks\": {\r\n\t\t\"PreToolUse\": ["), "{tabs}");
    let (compact, _) = installed(claude(), r#"{"model":"x"}"#);
    assert!(compact.starts_with(r#"{"model":"x","hooks":{"PreToolUse":[{"matcher":"*","hooks":["#), "{compact}");
}

#[test]
fn what_stands_there_keeps_its_order_spacing_and_spelling() {
    let text = "{ \"z\": 1.50, \"a\" : [1,2 ],\n  \"hooks\": {\"PreToolUse\": [\n  {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]}\n ]}, \"e\": 1E2 }";
    let (with, note) = installed(claude(), text);
    for part in ["{ \"z\": 1.50, \"a\" : [1,2 ],\n", "\"command\": \"lint\"}]}", ", \"e\": 1E2 }"] {
        assert!(with.contains(part), "{with}");
    }
    assert_eq!(value(&with)["hooks"]["PreToolUse"].as_array().unwrap().len(), 2);
    assert_eq!(taken_back(claude(), &with, Some(&note)), text);
}

#[test]
fn a_second_time_changes_nothing_and_another_path_replaces_the_first() {
    for form in FORMS {
        let (once, note) = installed(form, "{}\n");
        let again =
            |started: &Started, text: &str| install(form, &document(form, text), started, Some(note.clone())).unwrap();
        assert_eq!(again(&started("stigmergate", form), &once).0.text(), once);
        let program = "/opt/it's here/stigmergate";
        let (moved, note) = again(&started(program, form), &once);
        let standing = |event| form.standing(&moved, event);
        assert!(
            form.events.iter().flat_map(standing).all(|standing| standing.started.program == program),
            "{}",
            moved.text()
        );
        assert!(!moved.text().contains("\"stigmergate hook") && !moved.text().contains("\"command\": \"stigmergate\""));
        assert_eq!(taken_back(form, moved.text(), Some(&note)), "{}\n");
    }
}

#[test]
fn hooks_that_a_person_adds_to_the_group_stay_when_it_is_taken_back() {
    let (text, note) = installed(claude(), "{}");
    let mut settings = value(&text);
    settings["hooks"]["PreToolUse"][0]["hooks"]
        .as_array_mut()
        .unwrap()
        .push(json!({"type": "command", "command": "mine"}));
    settings["hooks"]["Stop"] = json!([]);
    let back = value(&taken_back(claude(), &settings.to_string(), Some(&note)));
    let hooks = json!([{"matcher": "*", "hooks": [{"type": "command", "command": "mine"}]}]);
    assert_eq!(back, json!({"hooks": {"PreToolUse": hooks, "Stop": []}}));
}

#[test]
fn without_a_note_the_hooks_go_and_what_is_empty_with_them() {
    let (text, _) = installed(claude(), r#"{"model": "x"}"#);
    assert_eq!(value(&taken_back(claude(), &text, None)), json!({"model": "x"}));
}

#[test]
fn settings_of_another_form_are_left_alone() {
    for text in ["[]", r#"{"hooks": []}"#, r#"{"hooks": {"PreToolUse": {}}}"#, "null", "3"] {
        let document = document(claude(), text);
        assert!(install(claude(), &document, &started("stigmergate", claude()), None).is_err(), "{text}");
    }
    for text in ["", "{", "{} {}", "{'a': 1}", "// no\n{}"] {
        assert!(Document::read(text, Dialect::Strict).is_err(), "{text}");
    }
    for text in ["// only", "{} /* open", "{/}", "{\"a\": 1,}", "{\"a\"/**/1}"] {
        assert!(Document::read(text, Dialect::Comments).is_err(), "{text}");
    }
}

/// A hook of somebody else's, or a value that no host would expect there.
fn any_json(depth: u32) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~]{0,8}".prop_map(Value::from),
        "\\PC{0,4}".prop_map(Value::from),
        Just(json!("}],\"{[")),
    ];
    leaf.prop_recursive(depth, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-zA-Z\"\\\\]{0,6}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_group() -> impl Strategy<Value = Value> {
    let hook = "[a-z ]{0,9}".prop_map(|command| json!({"type": "command", "command": command}));
    prop_oneof![
        prop::collection::vec(hook, 0..3).prop_map(|hooks| json!({"matcher": "Bash", "hooks": hooks})),
        any_json(2),
    ]
}

fn any_settings(form: &'static Form) -> impl Strategy<Value = Value> {
    let mut names: Vec<&str> = form.events.iter().map(|event| event.name).collect();
    names.insert(1, "Stop");
    let events = prop::sample::subsequence(names.clone(), 0..=names.len());
    let hooks = events.prop_flat_map(|events| {
        let groups = prop::collection::vec(prop::collection::vec(any_group(), 0..3), events.len());
        groups.prop_map(move |groups| {
            let members = events.iter().zip(groups).map(|(event, groups)| ((*event).to_owned(), Value::from(groups)));
            Value::Object(members.collect())
        })
    });
    let rest = prop::collection::vec(("[a-z]{1,6}", any_json(3)), 0..4);
    (rest, prop::option::of(hooks)).prop_map(|(rest, hooks)| {
        let mut settings: serde_json::Map<String, Value> = rest.into_iter().filter(|(key, _)| key != "hooks").collect();
        settings.extend(hooks.map(|hooks| ("hooks".to_owned(), hooks)));
        Value::Object(settings)
    })
}

/// A printed document whose empty objects and lists hold something. A line that ends with one does not end with a string.
fn emptied(pretty: &str, object: &str, list: &str) -> String {
    let line = |line: &str| {
        let (body, comma) = line.strip_suffix(',').map_or((line, ""), |body| (body, ","));
        let body = body.strip_suffix("{}").map(|body| format!("{body}{object}")).unwrap_or_else(|| body.to_owned());
        let body = body.strip_suffix("[]").map(|body| format!("{body}{list}")).unwrap_or(body);
        format!("{body}{comma}")
    };
    pretty.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// A document as people and programs print it.
fn printed(settings: &Value, how: u8) -> String {
    let pretty = serde_json::to_string_pretty(settings).unwrap();
    match how {
        0 => settings.to_string(),
        1 => pretty,
        2 => pretty + "\n",
        3 => pretty.replace("\n", "\r\n") + "\r\n",
        // Strings hold no line breaks, so that every one of these belongs to the layout.
        4 => emptied(&pretty.replace("\n  ", "\n\t"), "{}", "[ ]"),
        5 => emptied(&pretty, "{\n\n}", "[\n]"),
        6 => format!("\n\n  {settings}  "),
        // Comments, where the host reads them.
        7 => pretty.replace("\n", " // a \"remark\", {\n"),
        8 => emptied(&pretty, "{ // none, yet\n}", "[]").replace("\n", "\n/* a remark\n } */ "),
        9 => emptied(&pretty, "{}", "[/**/]").replace(",\n", " /* a, */ , // and\n//more\n"),
        _ => format!("/* one */ {settings} // {{"),
    }
}

fn any_case() -> impl Strategy<Value = (&'static Form, Value, String)> {
    prop::sample::select(FORMS.to_vec()).prop_flat_map(|form| {
        let most = if form.dialect == Dialect::Comments { 11_u8 } else { 7 };
        (any_settings(form), 0..most).prop_map(move |(settings, how)| {
            let text = printed(&settings, how);
            (form, settings, text)
        })
    })
}

/// The settings without what is ours.
fn without_ours(form: &Form, with: &Document, before: &Value) -> Value {
    let mut rest = with.value(with.root());
    for event in form.events {
        assert!(rest["hooks"][event.name].as_array_mut().unwrap().pop().is_some());
        if before["hooks"].get(event.name).is_none() {
            rest["hooks"].as_object_mut().unwrap().remove(event.name);
        }
    }
    if before.get("hooks").is_none() {
        rest.as_object_mut().unwrap().remove("hooks");
        if before.get("version").is_none() && form.versioned {
            assert_eq!(rest.as_object_mut().unwrap().remove("version"), Some(json!(1)));
        }
    }
    rest
}

/// The comments of a text, each by its words.
fn remarks(text: &str) -> usize {
    ["a \"remark\", {", "a remark", "none, yet", "a, */", "// and", "//more", "/**/", "/* one */"]
        .iter()
        .map(|remark| text.matches(remark).count())
        .sum()
}

proptest! {
    #[test]
    fn taking_back_what_was_added_gives_the_same_bytes((form, settings, text) in any_case()) {
        let (with, note) = installed(form, &text);
        // Nothing is lost: without what is ours, all is as it was.
        prop_assert_eq!(&without_ours(form, &document(form, &with), &settings), &settings);
        prop_assert_eq!(remarks(&with), remarks(&text));
        // Once is enough.
        let ours = started("stigmergate", form);
        let (again, _) = install(form, &document(form, &with), &ours, Some(note.clone())).unwrap();
        prop_assert_eq!(again.text(), &with);
        prop_assert_eq!(taken_back(form, &with, Some(&note)), text);
    }

    #[test]
    fn taking_back_without_a_note_loses_nothing_of_others((form, settings, text) in any_case()) {
        let (with, _) = installed(form, &text);
        let back = taken_back(form, &with, None);
        let value = value_of(form, &back);
        for (key, member) in settings.as_object().unwrap().iter().filter(|(key, _)| *key != "hooks") {
            prop_assert_eq!(&value[key], member);
        }
        for (event, entries) in settings["hooks"].as_object().into_iter().flatten() {
            if entries != &json!([]) {
                prop_assert_eq!(&value["hooks"][event], entries);
            }
        }
        prop_assert!(remarks(&back) >= remarks(&text));
    }

    #[test]
    fn comments_that_a_person_adds_keep_nothing_from_being_taken_back(
        settings in any_settings(form(Host::Gemini)),
        how in prop::collection::vec(0_u8..5, 1..40),
        has_note in any::<bool>(),
    ) {
        let form = form(Host::Gemini);
        let (with, note) = installed(form, &printed(&settings, 1));
        let remark = |(line, how): (&str, &u8)| match how {
            0 => format!("{line} // }} \"one\"\n"),
            1 => format!("/* two, */{line}\n"),
            2 => format!("{line}/* three\n*/\n"),
            3 => format!("// four\n{line}\n"),
            _ => format!("{line}\n"),
        };
        let with: String = with.lines().zip(how.iter().cycle()).map(remark).collect();
        let before = value_of(form, &with);
        let back = taken_back(form, &with, has_note.then_some(&note));
        let value = value_of(form, &back);
        for event in form.events {
            prop_assert!(form.standing(&document(form, &back), event).is_empty());
        }
        for (key, member) in before.as_object().unwrap().iter().filter(|(key, _)| *key != "hooks") {
            prop_assert_eq!(&value[key], member);
        }
        for (event, entries) in settings["hooks"].as_object().into_iter().flatten() {
            prop_assert!(value["hooks"][event] == *entries || *entries == json!([]));
        }
    }

    #[test]
    fn no_text_makes_the_reader_fail_otherwise_than_by_an_error(text in "[\\PC\n\"/*{}:,]{0,40}") {
        if let Ok(document) = Document::read(&text, Dialect::Strict) {
            prop_assert_eq!(document.value(document.root()), value(&text));
        }
        _ = Document::read(&text, Dialect::Comments);
    }

    #[test]
    fn a_line_starts_what_it_was_made_from(words in prop::collection::vec("[\\PC]{0,12}", 1..5)) {
        for shell in [Quoting::Posix, Quoting::PowerShell] {
            prop_assert_eq!(super::line::words(&line(&words, shell), shell), Some(words.clone()));
        }
    }
}

#[test]
fn a_shell_reads_a_line_as_it_was_meant() {
    let odd = ["/opt/it's \"here\" $HOME `x` \\/stigmergate", "hook", "", "a;b", "*", "~", "#", "é"];
    let odd = odd.map(str::to_owned);
    let script = format!("printf '%s\\n' {}", line(&odd, Quoting::Posix));
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().collect::<Vec<_>>(), odd);
    let windows = ["C:\\Program Files\\it's\\stigmergate.exe", "hook", "codex"].map(str::to_owned);
    assert_eq!(line(&windows, Quoting::PowerShell), "& 'C:\\Program Files\\it''s\\stigmergate.exe' hook codex");
    assert_eq!(line(&windows, Quoting::Cmd), "\"C:\\Program Files\\it's\\stigmergate.exe\" hook codex");
    assert_eq!(words(&line(&windows, Quoting::Cmd), Quoting::Cmd).unwrap(), windows);
}

#[test]
fn a_line_that_does_more_than_start_a_program_is_somebodys_own() {
    for text in
        ["a; b", "a && b", "a | b", "$A b", "\"$A\" b", "`a`", "$(a)", "~/a", "a > b", "a &", "a\nb", "'a", "a *"]
    {
        assert_eq!(words(text, Quoting::Posix), None, "{text}");
    }
    let words = |text| words(text, Quoting::Posix).unwrap();
    assert_eq!(words(r#"'/a b'/stigmergate "hook"  codex\ x"#), ["/a b/stigmergate", "hook", "codex x"]);
}

#[test]
fn each_host_gets_its_own_form() {
    let written = |host| value(&installed(form(host), "{}").0);
    let codex = written(Host::Codex);
    let hook = json!({"type": "command", "command": "stigmergate hook codex", "timeout": 30});
    assert_eq!(codex["hooks"]["PreToolUse"], json!([{"matcher": "*", "hooks": [hook]}]));
    let gemini = written(Host::Gemini);
    let hook =
        json!({"name": "stigmergate", "type": "command", "command": "stigmergate hook gemini", "timeout": 30_000});
    assert_eq!(gemini["hooks"]["AfterTool"], json!([{"matcher": "*", "hooks": [hook]}]));
    let copilot = written(Host::Copilot);
    let line = "stigmergate hook copilot";
    let hook = json!({"type": "command", "bash": line, "powershell": line, "timeoutSec": 30});
    assert_eq!(copilot["hooks"]["preToolUse"], json!([hook]));
    assert_eq!(copilot["version"], json!(1));
    let cursor = written(Host::Cursor);
    let hook = json!({"command": "stigmergate hook cursor", "timeout": 30, "failClosed": true});
    assert_eq!((&cursor["hooks"]["preToolUse"], &cursor["version"]), (&json!([hook]), &json!(1)));
    assert_eq!(cursor["hooks"]["postToolUseFailure"], json!([{"command": "stigmergate hook cursor", "timeout": 30}]));
}

#[test]
fn a_host_has_one_event_before_calls_and_its_project_first() {
    for form in FORMS {
        let before = form.events.iter().filter(|event| event.moment == Moment::Before).count();
        assert_eq!((before, form.places[0].scope.flag()), (1, "--project"), "{}", form.host.title());
        assert_eq!(super::table::form(form.host).host, form.host);
    }
}

#[test]
fn comments_stay_where_they_are() {
    let text = "{\n  // mine\n  \"theme\": \"dark\", // as at night\n  \"ui\": {} /* later */\n  // the end\n}\n";
    let (with, note) = installed(form(Host::Gemini), text);
    assert!(
        with.starts_with(
            "{\n  // mine\n  \"theme\": \"dark\", // as at night\n  \"ui\": {}, /* later */\n  \"hooks\": {"
        ),
        "{with}"
    );
    assert!(with.ends_with("\n  }\n  // the end\n}\n"), "{with}");
    assert_eq!(taken_back(form(Host::Gemini), &with, Some(&note)), text);
}
