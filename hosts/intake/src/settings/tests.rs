use super::*;
use stigmergate_core::fixed::Fixed;
use stigmergate_core::policy::Preset;

/// A user's folders and a project's, in a folder of their own.
struct Scene {
    base: tempfile::TempDir,
    locations: Locations,
}

impl Scene {
    fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| fs::canonicalize(base.path()).unwrap().join(name);
        for folder in ["config", "data", "project"] {
            fs::create_dir(at(folder)).unwrap();
        }
        let locations = Locations {
            root: at("project"),
            in_repository: false,
            data: at("data"),
            store: at("data/store.db"),
            user_file: at("config/stigmergate.toml"),
            project_file: at("project/stigmergate.toml"),
            trusted_file: at("data/trusted"),
        };
        Self { base, locations }
    }

    fn user(self, text: &str) -> Self {
        fs::write(&self.locations.user_file, text).unwrap();
        self
    }

    fn project(self, text: &str) -> Self {
        fs::write(&self.locations.project_file, text).unwrap();
        self
    }

    fn load(&self) -> Settings {
        self.locations.load().unwrap()
    }

    fn fails(&self) -> SettingsError {
        self.locations.load().unwrap_err()
    }
}

/// Everything that a project's file could ask for, to the better or the worse.
const PROJECT: &str = r#"
preset = "standard"
[rules]
deny = ["git push --force"]
ask = ["npm publish"]
allow = ["rm"]
deny_paths = ["vault/**"]
protected = ["ci/**"]
[places]
protected = ["deploy/**"]
secrets = ["keys/*.txt"]
not_secrets = ["**/.env"]
shared_branches = ["next"]
"production!" = []
[budget.caps]
llm_calls = 10
runtime_seconds = 9000
[budget.accounts.claude]
llm_calls = 5
[approval]
unattended = true
expires_seconds = 86000
[gate]
execute = 0.5
hold = 0.1
[trust]
initial = 1
"#;

const USER: &str = r#"
[rules]
deny = ["shutdown"]
[budget.caps]
llm_calls = 100
runtime_seconds = 600
"#;

#[test]
fn without_files_the_preset_standard_holds() {
    let settings = Scene::new().load();
    assert_eq!(settings.policy, Policy::preset(Preset::Standard));
    assert!(settings.sources.is_empty() && settings.ignored.is_empty());
}

#[test]
fn the_users_file_may_set_anything() {
    let settings = Scene::new().user("preset = \"reference\"\n[gate]\nexecute = 0.8\n").load();
    assert_eq!(settings.policy.preset, Preset::Reference);
    assert_eq!(settings.policy.gate.execute, Fixed::milli(800));
    assert!(settings.sources[0].trusted);
}

#[test]
fn an_untrusted_projects_file_only_tightens() {
    let settings = Scene::new().user(USER).project(PROJECT).load();
    let policy = &settings.policy;
    let globs = |globs: &[Glob]| globs.iter().map(|glob| glob.as_str().to_owned()).collect::<Vec<_>>();
    assert_eq!(policy.rules.deny, ["shutdown", "git push --force"]);
    assert_eq!(policy.rules.ask, ["npm publish"]);
    assert!(policy.rules.allow.is_empty());
    assert_eq!(globs(&policy.rules.deny_paths), ["vault/**"]);
    assert_eq!(globs(&policy.rules.protected), ["ci/**"]);
    for (list, added) in [
        (&policy.places.protected, "deploy/**"),
        (&policy.places.secrets, "keys/*.txt"),
        (&policy.places.shared_branches, "next"),
    ] {
        assert!(globs(list).iter().any(|glob| glob == added), "{added}");
    }
    assert_eq!(policy.budget.caps.llm_calls, Some(Fixed::whole(10)));
    assert_eq!(policy.budget.caps.runtime_seconds, Some(Fixed::whole(600)));
    assert_eq!(policy.budget.accounts["claude"].llm_calls, Some(Fixed::whole(5)));
    assert!(policy.approval.unattended);

    // The rest is as without the file.
    let mut rest = policy.clone();
    let user = Scene::new().user(USER).load().policy;
    rest.rules = user.rules.clone();
    rest.budget = user.budget.clone();
    rest.approval.unattended = false;
    rest.places.protected = user.places.protected.clone();
    rest.places.secrets = user.places.secrets.clone();
    rest.places.shared_branches = user.places.shared_branches.clone();
    assert_eq!(rest, user);

    let mut ignored = settings.ignored.clone();
    ignored.sort();
    assert_eq!(
        ignored,
        [
            "approval.expires_seconds",
            "budget.caps.runtime_seconds",
            "gate.execute",
            "gate.hold",
            "places.not_secrets",
            "places.production!",
            "rules.allow",
            "trust.initial",
        ]
    );
    assert!(settings.sources[0].trusted && !settings.sources[1].trusted);
}

#[test]
fn a_trusted_projects_file_is_laid_over_the_users_until_it_changes() {
    let scene = Scene::new().user(USER).project(PROJECT);
    let digest = scene.locations.trust(&scene.locations.project_file).unwrap();
    let settings = scene.load();
    assert!(settings.ignored.is_empty());
    assert_eq!(settings.sources[1], SourceFile { path: scene.locations.project_file.clone(), digest, trusted: true });
    assert_eq!(settings.policy.rules.deny, ["shutdown", "git push --force"], "rules add up");
    assert_eq!(settings.policy.rules.allow, ["rm"]);
    assert_eq!(settings.policy.gate.execute, Fixed::milli(500));
    assert_eq!(settings.policy.budget.caps.runtime_seconds, Some(Fixed::whole(9000)));
    assert!(settings.policy.places.production.is_empty());

    let scene = scene.project(&(PROJECT.to_owned() + "# one more line\n"));
    let changed = scene.load();
    assert!(changed.policy.rules.allow.is_empty() && !changed.sources[1].trusted);
    // And its old bytes are trusted again: the digest is what counts.
    assert!(scene.project(PROJECT).load().sources[1].trusted);
}

#[test]
fn trust_is_for_a_file_at_its_place() {
    let scene = Scene::new().project(PROJECT);
    let copy = scene.base.path().join("copy.toml");
    fs::write(&copy, PROJECT).unwrap();
    scene.locations.trust(&copy).unwrap();
    assert!(!scene.load().sources[0].trusted);
}

#[test]
fn a_key_that_is_not_known_is_an_error_trusted_or_not() {
    let scene = Scene::new().project("[rules]\ndeney = [\"rm\"]\n");
    let error = scene.fails();
    assert_eq!((error.code(), error.field()), ("settings_policy", Some("rules.deney")));
    assert!(error.to_string().contains("project/stigmergate.toml"), "{error}");
    assert_eq!(scene.locations.trust(&scene.locations.project_file).unwrap_err().field(), Some("rules.deney"));
    assert_eq!(Scene::new().project("[gate]\nexecute = \"high\"\n").fails().field(), Some("gate.execute"));
    assert_eq!(Scene::new().user("[budget.caps]\nllm_calls = inf\n").fails().field(), Some("budget.caps.llm_calls"));
    assert_eq!(Scene::new().user("[trust]\ninitial = 2026-11-30\n").fails().field(), Some("trust.initial"));
    assert_eq!(Scene::new().project("[gate]\nhold = 0.9\n").fails().field(), Some("gate.hold"), "a contradiction");
}

#[test]
fn a_rule_without_brackets_is_an_error_that_says_how_it_is_written() {
    for text in ["[rules]\ndeny = \"git push\"\n", "[rules]\ndeny = [1]\n", "[rules]\n\"deny!\" = \"git push\"\n"] {
        let error = Scene::new().project(text).fails();
        assert_eq!(error.field(), Some("rules.deny"), "{text}");
        assert!(error.to_string().contains(r#"["one", "two"]"#), "{error}");
    }
}

#[test]
fn what_is_no_settings_file_is_a_typed_error() {
    let syntax = Scene::new().user("a = 1\nb = = 2\n").fails();
    assert!(matches!(syntax, SettingsError::Syntax { line: 2, column: 5, .. }), "{syntax:?}");
    let scene = Scene::new();
    fs::write(&scene.locations.user_file, [b'a', 0xff]).unwrap();
    assert!(matches!(scene.fails(), SettingsError::NotUtf8 { offset: 1, .. }));
    fs::write(&scene.locations.user_file, "#".repeat(MAX_POLICY_BYTES + 1)).unwrap();
    assert!(matches!(scene.fails(), SettingsError::TooLarge { limit: MAX_POLICY_BYTES, .. }));
    fs::remove_file(&scene.locations.user_file).unwrap();
    fs::create_dir(&scene.locations.user_file).unwrap();
    assert!(matches!(scene.fails(), SettingsError::NotAFile { what: "a folder", .. }));
    let deep = format!("a = {}{}\n", "[".repeat(5000), "]".repeat(5000));
    assert!(matches!(Scene::new().user(&deep).fails(), SettingsError::Syntax { .. }));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_settings_file_and_nobody_waits_for_it() {
    let scene = Scene::new();
    let made = std::process::Command::new("mkfifo").arg(&scene.locations.project_file).status().unwrap();
    assert!(made.success());
    assert!(matches!(scene.fails(), SettingsError::NotAFile { what: "a pipe, a socket or a device", .. }));
}

#[test]
fn the_fingerprint_changes_with_every_file_and_with_trust() {
    let mut seen = Vec::new();
    let mut scene = Scene::new();
    let mut look = |scene: &Scene| seen.push(scene.locations.read().unwrap().fingerprint());
    look(&scene);
    scene = scene.user(USER);
    look(&scene);
    scene = scene.project(PROJECT);
    look(&scene);
    scene.locations.trust(&scene.locations.project_file).unwrap();
    look(&scene);
    scene = scene.user("");
    look(&scene);
    fs::remove_file(&scene.locations.user_file).unwrap();
    look(&scene);
    let again = scene.locations.read().unwrap().fingerprint();
    assert_eq!(seen.last(), Some(&again));
    assert_eq!(scene.load().fingerprint, again);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 6);
}

#[test]
fn a_cap_is_taken_only_where_it_is_lower() {
    let taken = |user: &str, project: &str| {
        let settings = Scene::new().user(user).project(project).load();
        (settings.policy.budget.caps.doc_debt, settings.ignored.len())
    };
    let cap = |cap: i32| format!("[budget.caps]\ndoc_debt = {cap}\n");
    assert_eq!(taken("", &cap(5)), (Some(Fixed::whole(5)), 0));
    assert_eq!(taken(&cap(5), &cap(4)), (Some(Fixed::whole(4)), 0));
    assert_eq!(taken(&cap(5), &cap(5)), (Some(Fixed::whole(5)), 0));
    assert_eq!(taken(&cap(5), &cap(6)), (Some(Fixed::whole(5)), 1));
}

#[test]
fn what_an_untrusted_file_would_replace_does_not_count() {
    let project = "[rules]\n\"deny!\" = [\"a\"]\n[budget.accounts.\"claude!\"]\nllm_calls = 1\n";
    let settings = Scene::new().user(USER).project(project).load();
    assert_eq!(settings.policy, Scene::new().user(USER).load().policy);
    assert_eq!(settings.ignored, ["budget.accounts.claude!.llm_calls", "rules.deny!"]);
}

#[test]
fn attestation_and_attendance_only_become_stricter() {
    let settings = Scene::new()
        .user("[attest]\nmode = \"optional\"\n[approval]\nunattended = true\n")
        .project("[attest]\nmode = \"disabled\"\n[approval]\nunattended = false\n")
        .load();
    assert_eq!(settings.policy.attest.mode, AttestMode::Optional);
    assert!(settings.policy.approval.unattended);
    assert_eq!(settings.ignored, ["approval.unattended", "attest.mode"]);
}

#[test]
fn every_root_has_a_store_of_its_own() {
    let name = store_name(Path::new("/home/ada/loom"));
    assert!(name.starts_with("loom-") && name.len() == "loom-".len() + 8, "{name}");
    assert_ne!(name, store_name(Path::new("/srv/loom")));
    assert!(store_name(Path::new("/")).starts_with("root-"));
    assert!(!store_name(Path::new("/a\nb")).contains('\n'));
}
