//! The three presets: the numbers of the SPEC, each once.

use super::commands::Commands;
use super::{
    Approval, Attest, AttestMode, Bounds, Budget, Caps, ClassRule, Deposits, Earned, FactRule, Field, Gate, Observed,
    Permission, Pipeline, Places, Policy, Preset, Prune, Roles, Rules, Rung, Session, Special, Time, Trust, falsify,
};
use crate::budget::Cost;
use crate::facts::{Class, FactKind};
use crate::falsify::{Severity, Vector};
use crate::field::{Decay, Signal, Source};
use crate::fixed::Fixed;
use crate::glob::Glob;
use crate::trust::Role;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

impl Policy {
    /// A preset.
    #[must_use]
    pub fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Reference => reference(),
            Preset::Standard => standard(),
            Preset::Strict => strict(),
        }
    }
}

/// SPEC 2 to 8.
fn reference() -> Policy {
    Policy {
        preset: Preset::Reference,
        pipeline: Pipeline::Reference,
        time: Time { tick_ms: 0 },
        field: Field {
            fast: Fixed::milli(300),
            normal: Fixed::milli(100),
            slow: Fixed::milli(20),
            max_strength: Fixed::whole(10),
            max_deposit: Fixed::whole(1_000_000),
            reinforcement: Fixed::milli(150),
            sources: BTreeMap::from([
                (Source::Human, Fixed::whole(2)),
                (Source::Test, Fixed::milli(1500)),
                (Source::Security, Fixed::milli(1500)),
                (Source::Agent, Fixed::ONE),
                (Source::Runtime, Fixed::ONE),
            ]),
            decays: BTreeMap::from([
                (Signal::Failure, Decay::Fast),
                (Signal::Success, Decay::Slow),
                (Signal::Risk, Decay::Fast),
                (Signal::Need, Decay::Normal),
                (Signal::Dependency, Decay::Slow),
                (Signal::HumanPriority, Decay::Slow),
            ]),
        },
        budget: Budget {
            caps: Caps {
                llm_calls: Some(Fixed::whole(500)),
                runtime_seconds: Some(Fixed::whole(3600)),
                risk_level: Some(Fixed::milli(800)),
                human_attention_minutes: Some(Fixed::whole(120)),
                merge_risk: Some(Fixed::milli(700)),
                doc_debt: Some(Fixed::whole(1000)),
                security_exposure: Some(Fixed::milli(500)),
            },
            accounts: BTreeMap::new(),
            period_seconds: 86_400,
            reserve: false,
            reservation_seconds: 600,
            call_cost: Cost::default(),
            history: 200,
        },
        trust: Trust {
            initial: Fixed::milli(100),
            passed: Fixed::milli(40),
            failed: Fixed::milli(-80),
            repair: Fixed::milli(-50),
            feedback: Fixed::milli(30),
            recent_window: 10,
            history: 200,
            action_types: 256,
        },
        roles: Roles {
            min_proposals: 3,
            ladder: Vec::from([
                Rung { role: Role::RepairAnt, trust: Fixed::milli(200) },
                Rung { role: Role::MemoryAnt, trust: Fixed::milli(350) },
                Rung { role: Role::Dispatcher, trust: Fixed::milli(500) },
                Rung { role: Role::GuardAnt, trust: Fixed::milli(700) },
            ]),
            special: Special {
                floor: Fixed::milli(300),
                failures: 3,
                earned: Vec::from([
                    earned(Role::GuardAnt, 850, &["security_scan", "vulnerability_fix"]),
                    earned(Role::RepairAnt, 800, &["test_fix", "bug_repair"]),
                    earned(Role::MemoryAnt, 800, &["doc_write", "memory_index"]),
                ]),
                dispatcher_proposals: 20,
                dispatcher_accepted: Fixed::milli(700),
            },
            matrix: BTreeMap::new(),
        },
        gate: Gate {
            weight_budget: Fixed::milli(300),
            weight_risk: Fixed::milli(300),
            weight_trust: Fixed::milli(250),
            weight_completeness: Fixed::milli(150),
            execute: Fixed::milli(750),
            hold: Fixed::milli(500),
            medium_hazard: Fixed::whole(3),
            high_hazard: Fixed::whole(6),
            medium_risk: Fixed::milli(500),
            high_risk: Fixed::ZERO,
            trust_floor: Fixed::milli(300),
            trust_full: Fixed::milli(600),
            trust_partial: Fixed::milli(500),
            recent_failures: 3,
            recent_penalty: Fixed::milli(250),
            missing_field: Fixed::milli(350),
            severities: BTreeMap::from([
                (Severity::Low, Fixed::milli(50)),
                (Severity::Medium, Fixed::milli(200)),
                (Severity::High, Fixed::milli(450)),
                (Severity::Critical, Fixed::ONE),
            ]),
            prospective: BTreeMap::from([
                (Severity::Low, Fixed::ZERO),
                (Severity::Medium, Fixed::ZERO),
                (Severity::High, Fixed::ZERO),
                (Severity::Critical, Fixed::ZERO),
            ]),
        },
        falsify: falsify::Falsify::default(),
        deposits: Deposits {
            finding_failure: Fixed::ONE,
            finding_risk: Fixed::milli(500),
            refusal: Fixed::ONE,
            refusal_severity: Fixed::whole(3),
            risk_per_finding: Fixed::milli(800),
            risk_most: Fixed::whole(3),
            prospective_most: Fixed::whole(10),
            success: Fixed::milli(1500),
            failure: Fixed::whole(2),
            dependency: Fixed::milli(500),
            denial: Fixed::whole(3),
            approval: Fixed::milli(1500),
        },
        observed: Observed {
            failure: Fixed::ONE,
            check_failure: Fixed::milli(600),
            check_places: 20,
            check_passed_trust: Fixed::milli(10),
            check_failed_trust: Fixed::milli(-20),
            trust_floor: Fixed::milli(350),
        },
        facts: fact_rules(),
        bulk_over: 20,
        classes: class_rules(),
        places: places(),
        rules: Rules::default(),
        commands: Commands::default(),
        approval: Approval { expires_seconds: 600, longest_grant_seconds: 28_800, grants: 1000, unattended: false },
        session: Session { paths: 2000, sessions: 64, changes: 500, checks: 64 },
        prune: Prune {
            dependency: Fixed::whole(2),
            duplicate: Fixed::milli(850),
            never_used: Fixed::milli(900),
            idle_unused: Fixed::milli(700),
            idle_rare: Fixed::milli(500),
            idle_days: 30,
            rare_calls: 5,
        },
        attest: Attest::DISABLED,
        bounds: Bounds {
            id_bytes: 256,
            location_bytes: 4096,
            text_bytes: 65_536,
            evidence_bytes: 262_144,
            evidence_depth: 32,
            list_items: 4096,
            import_edges: 262_144,
            agents: 100_000,
            traces: 10_000_000,
            proposals: 100_000,
            proposal_ms: 86_400_000,
        },
    }
}

/// SPEC 10 `standard`, as what differs from `reference`.
fn standard() -> Policy {
    let mut policy = reference();
    policy.preset = Preset::Standard;
    policy.pipeline = Pipeline::Standard;
    policy.time.tick_ms = 60_000;
    policy.field.fast = Fixed::milli(50);
    policy.field.normal = Fixed::milli(15);
    policy.field.slow = Fixed::ten_thousandths(1);
    policy.budget.caps = Caps::default();
    policy.budget.reserve = true;
    policy.trust.initial = Fixed::milli(500);
    policy.roles.min_proposals = 0;
    policy.gate.medium_hazard = Fixed::milli(1500);
    policy.gate.high_hazard = Fixed::milli(4500);
    policy.gate.prospective = BTreeMap::from([
        (Severity::Low, Fixed::ZERO),
        (Severity::Medium, Fixed::ONE),
        (Severity::High, Fixed::whole(3)),
        (Severity::Critical, Fixed::whole(3)),
    ]);
    policy.deposits.prospective_most = Fixed::milli(1400);
    policy.commands = Commands::known();
    policy
}

/// SPEC 10 `strict`, as what differs from `standard`.
fn strict() -> Policy {
    use Class::{Check, Delete, Deploy, Execute, Network, Read, Write};
    let mut policy = standard();
    policy.preset = Preset::Strict;
    policy.trust.initial = Fixed::milli(100);
    policy.roles.min_proposals = 3;
    policy.roles.matrix = BTreeMap::from([
        (Role::Sandbox, row(&[Read, Check], &[Write])),
        (Role::RepairAnt, row(&[Read, Check, Write], &[Execute, Network, Delete, Deploy])),
        (Role::MemoryAnt, row(&[Read, Check, Write], &[Execute, Network, Delete, Deploy])),
        (Role::Dispatcher, row(&[Read, Check, Write, Execute, Network], &[Delete, Deploy])),
        (Role::GuardAnt, row(&[Read, Check, Write, Execute, Network], &[Delete, Deploy])),
    ]);
    // The matrix takes the place of the trust floor.
    policy.gate.trust_floor = Fixed::ZERO;
    policy.observed.check_passed_trust = Fixed::ZERO;
    policy.observed.check_failed_trust = Fixed::ZERO;
    policy.attest = Attest { mode: AttestMode::Required, independent_observer: true, ..Attest::DISABLED };
    policy
}

fn row(allowed: &[Class], held: &[Class]) -> BTreeMap<Class, Permission> {
    let permission = |class: Class| {
        if allowed.contains(&class) {
            Permission::Allow
        } else if held.contains(&class) {
            Permission::Hold
        } else {
            Permission::Refuse
        }
    };
    Class::ALL.into_iter().map(|class| (class, permission(class))).collect()
}

fn earned(role: Role, trust: i32, action_types: &[&str]) -> Earned {
    Earned { role, trust: Fixed::milli(trust), action_types: action_types.iter().map(ToString::to_string).collect() }
}

/// SPEC 11, the table of facts.
fn fact_rules() -> BTreeMap<FactKind, FactRule> {
    use FactKind as F;
    use Severity::{Critical, High, Medium};
    let rules = [
        (F::CatastrophicTarget, Vector::NoRollback, Critical),
        (F::ProtectedTarget, Vector::SecurityRisk, Critical),
        (F::OwnCommand, Vector::SecurityRisk, Critical),
        (F::Irreversible, Vector::NoRollback, High),
        (F::OutsideWorkspace, Vector::ScopeCreep, High),
        (F::UnresolvedTarget, Vector::ScopeCreep, High),
        (F::SharedBranch, Vector::ScopeCreep, High),
        (F::RewrittenHistory, Vector::ScopeCreep, High),
        (F::Production, Vector::ScopeCreep, High),
        (F::Publishing, Vector::ScopeCreep, High),
        (F::Secret, Vector::SecurityRisk, High),
        (F::UntrustedCode, Vector::SecurityRisk, High),
        (F::RaisedPrivileges, Vector::SecurityRisk, High),
        (F::Bulk, Vector::ScopeCreep, Medium),
        (F::Unreadable, Vector::ScopeCreep, High),
    ];
    rules.into_iter().map(|(kind, vector, severity)| (kind, FactRule { vector, severity: Some(severity) })).collect()
}

/// SPEC 10.f for proposals that are no tool calls.
fn class_rules() -> Vec<ClassRule> {
    let rules = [
        (Class::Read, "read* list* search* find* query* inspect* review* analy* explain* summar* plan*"),
        (Class::Check, "test* check* lint* build* compile* typecheck* verify* validate* audit* *_scan"),
        (Class::Deploy, "deploy* release* publish* rollout* promote* merge* push*"),
        (Class::Delete, "delete* drop* remove* truncate* purge* wipe* destroy* prune* archive*"),
        (Class::Network, "fetch* download* upload* send* request* call_* http* network*"),
        (
            Class::Write,
            "write* edit* patch* create* add* update* refactor* rename* move* doc* fix* *_fix *_repair *_write *_index modify* replace* implement* migrate* introduce*",
        ),
        (Class::Execute, "*"),
    ];
    let each = rules.into_iter().flat_map(|(class, patterns)| patterns.split(' ').map(move |pattern| (class, pattern)));
    each.filter_map(|(class, pattern)| Some(ClassRule { pattern: Glob::new(pattern).ok()?, class })).collect()
}

fn places() -> Places {
    Places {
        protected: globs(&[
            "**/stigmergate.toml",
            "**/.stigmergate/**",
            "**/.config/stigmergate/**",
            "**/.local/share/stigmergate/**",
            "**/Library/Application Support/stigmergate/**",
            "**/AppData/*/stigmergate/**",
            // Claude Code: settings, hooks, what is managed.
            "**/.claude",
            "**/.claude/settings*.json",
            "**/.claude/hooks",
            "**/.claude/hooks/**",
            "**/.claude.json",
            "**/managed-settings*.json",
            "/etc/claude-code/**",
            "**/ClaudeCode/**",
            // Codex.
            "**/.codex",
            "**/.codex/hooks.json",
            "**/.codex/config.toml",
            "**/.codex/*.config.toml",
            "**/.codex/hooks/**",
            "**/.codex/plugins/**",
            "/etc/codex/**",
            // Gemini CLI.
            "**/.gemini",
            "**/.gemini/settings.json",
            "**/.gemini/trusted*.json",
            "**/.gemini/extensions/**",
            "**/.gemini/.env",
            "/etc/gemini-cli/**",
            "**/GeminiCli/**",
            // Copilot CLI.
            "**/.github/hooks",
            "**/.github/hooks/**",
            "**/.github/copilot/settings*.json",
            "**/.copilot",
            "**/.copilot/config.json",
            "**/.copilot/settings*.json",
            "**/.copilot/hooks",
            "**/.copilot/hooks/**",
            "/etc/github-copilot/**",
            // Cursor.
            "**/.cursor",
            "**/.cursor/hooks.json",
            "**/.cursor/hooks",
            "**/.cursor/hooks/**",
            "**/.cursor/cli*.json",
            "/etc/cursor/**",
            "**/Application Support/Cursor/hooks.json",
        ]),
        // Matched against the lower-cased place.
        secrets: globs(&[
            "**/.env",
            "**/.env.*",
            "**/*.env",
            "**/.envrc",
            "**/id_rsa",
            "**/id_dsa",
            "**/id_ecdsa",
            "**/id_ed25519",
            "**/*.pem",
            "**/*.key",
            "**/*.p12",
            "**/*.pfx",
            "**/*.jks",
            "**/*.keystore",
            "**/*.kdbx",
            "**/.ssh",
            "**/.ssh/*_key",
            "**/.aws",
            "**/.aws/credentials",
            "**/.aws/sso/cache/**",
            "**/.azure/*.json",
            "**/.config/gcloud/**",
            "**/.config/gh/hosts.yml",
            "**/.docker/config.json",
            "**/.kube/config",
            "**/.netrc",
            "**/_netrc",
            "**/.npmrc",
            "**/.pypirc",
            "**/.cargo/credentials*",
            "**/.git-credentials",
            "**/.gnupg",
            "**/.gnupg/**",
            "**/.pgpass",
            "**/.my.cnf",
            "**/.vault-token",
            "**/.htpasswd",
            "**/.claude/.credentials.json",
            // The keys that sign the gate's own ledger.
            "**/stigmergate/*/keys/*",
            "**/.codex/auth.json",
            "**/credentials.json",
            "**/service-account*.json",
            "**/secrets.y*ml",
            "**/secrets.json",
            "**/secrets.toml",
            "**/*.tfvars",
            "**/*.tfstate",
            "/etc/shadow",
            "/etc/gshadow",
            "/etc/sudoers",
            "/proc/*/environ",
            "**/.ssh/*",
            "**/.config/git/credentials",
            "**/*service-account*.json",
            "**/*service_account*.json",
            "**/client_secret*.json",
            "**/application_default_credentials.json",
            "**/.terraform.d/credentials*",
            "**/.terraformrc",
            "**/.gem/credentials",
            "**/.m2/settings*.xml",
            "**/.gradle/gradle.properties",
            "**/.composer/auth.json",
            "**/.nuget/**/nuget.config",
            "**/.mylogin.cnf",
            "**/.password-store/**",
            "**/.config/op/**",
            "**/.config/rclone/**",
            "**/rclone.conf",
            "**/.s3cfg",
            "**/.boto",
            "**/.config/hub",
            "**/.config/doctl/*",
            "**/.fly/config.yml",
            "**/.heroku/*",
            "**/.gemini/oauth_creds.json",
            "**/.wrangler/config/*",
            "**/.config/.wrangler/config/*",
            "**/.netlify/config.json",
            "**/.config/netlify/config.json",
            "**/.*_history",
            "**/google-chrome/**/cookies",
            "**/chromium/**/cookies",
            "**/logins.json",
            "**/key4.db",
            "/etc/kubernetes/*.conf",
            "**/wallet.dat",
            "**/.config/solana/*.json",
            "**/.dev.vars",
            "**/.dev.vars.*",
            "**/.secrets",
            "**/local.settings.json",
            "**/*vault_pass*",
            "**/*vault-pass*",
            "/run/secrets/**",
            "/var/run/secrets/**",
            "**/key*.keychain*",
            "**/login.keychain*",
            "**/login data",
            "**/cookies.sqlite",
        ]),
        not_secrets: globs(&[
            "**/*.example",
            "**/*.example.*",
            "**/*example.env",
            "**/*.sample",
            "**/*.sample.*",
            "**/*sample.env",
            "**/*.template",
            "**/*.dist",
            "**/*.defaults",
            "**/*.pub",
            "**/.ssh/config",
            "**/.ssh/known_hosts*",
            "**/.ssh/authorized_keys*",
            "**/*public*.pem",
            "**/*cacert*.pem",
            "**/ca-certificates*",
            "**/ca-bundle*",
            "**/fullchain.pem",
            "**/testdata/**",
            "**/test/fixtures/**",
            "**/tests/fixtures/**",
            "**/node_modules/**",
            "**/*.d.ts",
        ]),
        secret_names: globs(&[
            "*API_KEY*",
            "*APIKEY*",
            "*SECRET*",
            "*TOKEN*",
            "*PASSWORD*",
            "*PASSWD*",
            "*CREDENTIAL*",
            "*PRIVATE_KEY*",
            "*ACCESS_KEY*",
            "*_PAT",
            "*_AUTH",
            "PGPASS*",
            "AUTHORIZATION",
            "X-API-KEY",
            "*CONNECTION_STRING*",
            "*_DSN",
        ]),
        shared_branches: globs(&[
            "main",
            "master",
            "trunk",
            "develop",
            "development",
            "release/*",
            "release-*",
            "production",
            "prod",
            "staging",
        ]),
        production: globs(&["prod", "production", "prd", "live"]),
        test_data: globs(&["test", "testing", "test_*", "test-*", "*_test", "*-test", "*_testing", "*_test[0-9]*"]),
        own_services: globs(&[
            "localhost",
            "localhost:*",
            "*.localhost",
            "*.localhost:*",
            "127.0.0.1",
            "127.0.0.1:*",
            "0.0.0.0",
            "0.0.0.0:*",
            "\\[::1\\]",
            "\\[::1\\]:*",
            "host.docker.internal",
            "host.docker.internal:*",
        ]),
        // Container engines, clusters, key stores, databases and queues, by their usual ports.
        not_own_services: globs(&[
            "*:2375", "*:2376", "*:2379", "*:5984", "*:6333", "*:6443", "*:7474", "*:8001", "*:8086", "*:8123",
            "*:8200", "*:8500", "*:8529", "*:8983", "*:9200", "*:9201", "*:10250", "*:11434", "*:15672",
        ]),
        rebuildable: BTreeMap::from(
            [
                ("node_modules", "the package manager's install"),
                ("target", "cargo build"),
                ("dist", "the build"),
                ("build", "the build"),
                ("out", "the build"),
                (".next", "next build"),
                (".nuxt", "nuxt build"),
                (".svelte-kit", "the build"),
                (".turbo", "turbo run build"),
                (".parcel-cache", "the build"),
                (".cache", "the tools that fill it"),
                ("coverage", "the tests"),
                ("htmlcov", "the tests"),
                (".nyc_output", "the tests"),
                (".coverage", "the tests"),
                (".venv", "python -m venv and pip install"),
                ("venv", "python -m venv and pip install"),
                ("__pycache__", "python"),
                (".pytest_cache", "pytest"),
                (".mypy_cache", "mypy"),
                (".ruff_cache", "ruff"),
                (".tox", "tox"),
                (".nox", "nox"),
                (".gradle", "gradle build"),
                (".terraform", "terraform init"),
                ("vendor", "the package manager's install"),
                ("bin", "the build"),
                ("obj", "the build"),
                ("Pods", "pod install"),
                ("DerivedData", "xcodebuild"),
                (".eslintcache", "eslint"),
                ("*.tsbuildinfo", "tsc"),
                ("tmp/cache", "the tools that fill it"),
                ("test-results", "the tests"),
                ("playwright-report", "the tests"),
                ("coverage.xml", "the tests"),
                ("coverage.json", "the tests"),
                (".coverage.*", "the tests"),
                ("lcov.info", "the tests"),
                ("junit*.xml", "the tests"),
                ("*.log", "the program that writes it"),
                ("*.log.[0-9]*", "the program that writes it"),
                ("nohup.out", "the program that writes it"),
                ("*.pid", "the program that writes it"),
                ("*.tmp", "the program that writes it"),
                ("~/.cache", "the tools that fill it"),
                ("~/Library/Caches", "the tools that fill it"),
                ("~/.npm/_cacache", "the package manager's install"),
                ("~/.npm/_npx", "npx"),
                ("~/.yarn/cache", "the package manager's install"),
                ("~/.yarn/berry/cache", "the package manager's install"),
                ("~/.local/share/pnpm/store", "the package manager's install"),
                ("~/.pnpm-store", "the package manager's install"),
                ("~/.bun/install/cache", "the package manager's install"),
                ("~/.m2/repository", "the next build"),
                ("~/.gradle/caches", "the next build"),
                ("~/.ivy2/cache", "the next build"),
                ("~/.cargo/registry", "cargo fetch"),
                ("~/.cargo/git", "cargo fetch"),
                ("~/go/pkg/mod", "go mod download"),
                ("~/.nuget/packages", "dotnet restore"),
                ("~/.composer/cache", "composer install"),
                ("~/.bundle/cache", "bundle install"),
                ("~/.pub-cache", "pub get"),
            ]
            .map(|(name, command)| (String::from(name), String::from(command))),
        ),
    }
}

/// The globs of this file compile: a test holds them to it.
fn globs(patterns: &[&str]) -> Vec<Glob> {
    patterns.iter().filter_map(|pattern| Glob::new(pattern).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_valid_and_differs_from_the_others() {
        let digests: alloc::collections::BTreeSet<_> = Preset::ALL
            .into_iter()
            .map(|preset| {
                let policy = Policy::preset(preset);
                policy.validate().unwrap();
                policy.digest()
            })
            .collect();
        assert_eq!(digests.len(), 3);
    }

    #[test]
    fn the_patterns_of_the_presets_compile() {
        let places = places();
        assert!(places.secrets.iter().any(|glob| glob.matches("a/.env")));
        assert_eq!(class_rules().last().unwrap().pattern.as_str(), "*");
        assert_eq!((places.protected.len(), places.secrets.len(), places.not_secrets.len()), (44, 100, 23));
    }
}
