//! The known commands: data, in the order of programs. `commands` says how a row is read.

use super::commands::{Observe, Operands, Row, Which};
use crate::facts::{Class, Effect, FactKind};
use Class::{Check, Delete, Deploy, Execute, Network, Read, Write};
use Effect as E;
use FactKind as F;
use Observe as O;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

fn row(command: &str, class: Class) -> Row {
    Row { command: command.to_string(), class: Some(class), ..Row::default() }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(ToString::to_string).collect()
}

impl Row {
    fn when(mut self, options: &str) -> Self {
        self.when = words(options);
        self
    }
    fn unless(mut self, options: &str) -> Self {
        self.unless = words(options);
        self
    }
    fn fact(mut self, kind: FactKind) -> Self {
        self.facts.push(kind);
        self
    }
    fn places(mut self, which: Which, effect: Effect) -> Self {
        self.operands.push(Operands { which, effect });
        self
    }
    fn option(mut self, names: &str, effect: Effect) -> Self {
        self.options.extend(words(names).into_iter().map(|name| (name, effect)));
        self
    }
    fn values(mut self, options: &str) -> Self {
        self.values = words(options);
        self
    }
    fn dry(mut self, options: &str) -> Self {
        self.dry_run = words(options);
        self
    }
    fn look(mut self, what: &[Observe]) -> Self {
        self.observe.extend_from_slice(what);
        self
    }
    fn back(mut self, command: &str) -> Self {
        self.way_back = Some(command.to_string());
        self
    }
}

pub(super) fn rows() -> Vec<Row> {
    let rooms: [fn() -> Vec<Row>; 10] =
        [own, mcp, files, text, git, hosting, packages, infrastructure, databases, system];
    rooms.iter().flat_map(|room| room()).collect()
}

/// The gate's own commands: an agent may read, nothing else.
fn own() -> Vec<Row> {
    Vec::from([
        row("stigmergate", Write).fact(F::OwnCommand).unless("--version -V"),
        row("stigmergate status|log|why|hot|agents|budget|replay|report|help|completions", Read),
        row("stigmergate policy show|check|diff|explain", Read),
        row("stigmergate ledger verify|show", Read),
        row("npx|bunx|uvx|pnpx stigmergate", Write).fact(F::OwnCommand),
        row("npx|bunx|uvx|pnpx stigmergate status|log|why|hot|agents|budget|replay|report", Read),
        row("npx|bunx|uvx|pnpx stigmergate policy show|check|diff|explain", Read),
        row("npx|bunx|uvx|pnpx stigmergate ledger verify|show", Read),
    ])
}

/// Tools of MCP servers, by the words of their names.
fn mcp() -> Vec<Row> {
    Vec::from([
        row("mcp", Execute),
        row("mcp get|list|read|search|find|fetch|retrieve|describe|show|view|lookup|query|count|check|inspect|status|info|browse|resolve|explain|summarize|analyze|preview|take|screenshot|snapshot|console|network|wait|hover|sequentialthinking|think|stat|tree|directory|glob|grep|download", Read),
        row("mcp query|execute|run|exec|sql|read|apply", Execute).look(&[O::Sql]),
        row("mcp execute|run|exec|start|send|spawn|shell|bash|terminal|powershell|cmd|write", Execute).look(&[O::Shell, O::Sql]),
        row("mcp create|add|write|edit|update|set|insert|append|put|post|comment|open|upload|save|patch|modify|replace|rename|move|copy|assign|label|send|submit|request|reply|make|start|new|fill|click|type|press|navigate|select|drag", Write),
        row("mcp delete|remove|drop|destroy|purge|wipe|truncate|erase|clear|reset|terminate|uninstall|revoke|kill|rm|unlink|archive|trash|flush|empty|prune|deprovision|cancel|refund", Delete).fact(F::Irreversible),
        row("mcp batch|bulk|force|hard|permanently|browser|page|tab|network|snapshot|directory|tree|console|status|info|query|sql|release delete|remove|drop|destroy|purge|wipe|truncate|terminate|rm", Delete).fact(F::Irreversible),
        row("mcp merge", Deploy).fact(F::SharedBranch),
        row("mcp push|create|update|delete file|files|ref|contents|commit", Network).look(&[O::Push]),
        row("mcp create|update or update|create file|files|contents", Network).look(&[O::Push]),
        row("mcp delete file|ref|branch", Delete).look(&[O::Push]).fact(F::Irreversible),
        row("mcp push", Network).look(&[O::Push]),
        row("mcp publish|deploy|release|promote|rollout|launch", Deploy).fact(F::Publishing),
        row("mcp browser|page|puppeteer|playwright|chrome|tab", Network),
        row("mcp browser|puppeteer|playwright|chrome click|type|press|press_key|navigate|close|fill|select|drag|hover|evaluate|snapshot|resize|handle|install|file|run|tabs|network|console|take|wait", Network),
    ])
}

fn files() -> Vec<Row> {
    Vec::from([
        row("rm|unlink|trash|rimraf|del-cli", Delete).places(Which::All, E::Delete),
        row("rmdir", Delete).places(Which::All, E::Delete),
        row("shred", Delete).places(Which::All, E::Delete).values("-n -s --iterations --size"),
        row("del|erase|rd|remove-item|ri", Delete).places(Which::All, E::Delete).values("-include -exclude -filter").option("-path -literalpath", E::Delete),
        row("clear-content|clc", Delete).places(Which::All, E::Overwrite),
        row("set-content|sc|out-file", Write).places(Which::First, E::Overwrite).option("-path -literalpath -filepath", E::Overwrite).values("-value -encoding"),
        row("add-content|ac", Write).places(Which::First, E::Create).values("-value -encoding"),
        row("new-item|ni|md", Write).places(Which::First, E::Create).values("-itemtype -name -value").option("-path", E::Create),
        row("move-item|mi|move|ren|rename-item|rni", Write).places(Which::AllButLast, E::Move).places(Which::Last, E::Overwrite).look(&[O::Into]),
        row("copy-item|cpi|copy|xcopy|robocopy", Write).places(Which::AllButLast, E::Read).places(Which::Last, E::Overwrite).look(&[O::Into]),
        row("robocopy", Delete).when("/MIR /mir /PURGE /purge").places(Which::First, E::Read).places(Which::Rest, E::Delete),
        row("mv", Write).places(Which::AllButLast, E::Move).places(Which::Last, E::Overwrite).look(&[O::Into]).values("-S --suffix").option("-t --target-directory", E::Create),
        row("mv", Write).when("-n --no-clobber -b --backup").places(Which::AllButLast, E::Move).places(Which::Last, E::Create).look(&[O::Into]),
        row("cp", Write).places(Which::AllButLast, E::Read).places(Which::Last, E::Overwrite).look(&[O::Into]).values("-S --suffix").option("-t --target-directory", E::Create),
        row("cp", Write).when("-n --no-clobber -b --backup --update=none").places(Which::AllButLast, E::Read).places(Which::Last, E::Create).look(&[O::Into]),
        row("install", Write).places(Which::AllButLast, E::Read).places(Which::Last, E::Overwrite).look(&[O::Into]).values("-m -o -g --mode --owner --group"),
        row("install", Write).when("-d --directory").places(Which::All, E::Create).values("-m -o -g --mode --owner --group"),
        row("ln", Write).places(Which::Last, E::Create).look(&[O::Into]),
        row("ln", Write).when("-f --force").places(Which::Last, E::Overwrite).look(&[O::Into]),
        row("rsync", Write).places(Which::AllButLast, E::Read).places(Which::Last, E::Create).dry("-n --dry-run").look(&[O::Into])
            .values("-e --rsh --exclude --include --exclude-from --include-from --files-from --filter -f --bwlimit --rsync-path --port --chmod --chown --log-file --password-file --max-size --min-size"),
        row("rsync", Delete).when("--delete --delete-before --delete-after --delete-during --delete-delay --delete-excluded --del").places(Which::AllButLast, E::Read).places(Which::Last, E::Delete),
        row("rsync", Write).when("--remove-source-files").places(Which::AllButLast, E::Move).places(Which::Last, E::Create),
        row("rclone", Network).values("--config --filter --exclude --include").dry("-n --dry-run"),
        row("rclone sync|delete|purge|deletefile|rmdirs|move|cleanup", Delete).fact(F::Irreversible),
        row("scp|sftp", Network).values("-i -P -o -F -l -c -S -J").places(Which::AllButLast, E::Read).places(Which::Last, E::Overwrite).look(&[O::Into]),
        row("mkdir|mktemp", Write).places(Which::All, E::Create).values("-m --mode -p --tmpdir --suffix"),
        row("mkdir", Write).places(Which::All, E::Create).values("-m --mode"),
        row("touch", Write).places(Which::All, E::Create).values("-d -r -t --date --reference"),
        row("tee", Write).places(Which::All, E::Overwrite),
        row("tee", Write).when("-a --append").places(Which::All, E::Create),
        row("truncate", Delete).places(Which::All, E::Overwrite).values("-s --size -r --reference"),
        row("dd", Write).look(&[O::Program]),
        row("chmod", Write).places(Which::Rest, E::Mode).look(&[O::Recursive]).values("--reference"),
        row("chmod", Write).when("-[rwxXst]*").places(Which::All, E::Mode),
        row("chown|chgrp", Write).places(Which::Rest, E::Mode).look(&[O::Recursive]).values("--reference --from"),
        row("setfacl|chattr|xattr|icacls|takeown|attrib", Write).places(Which::Rest, E::Mode).look(&[O::Recursive]),
        row("tar|bsdtar|gtar", Write).look(&[O::Archive]),
        row("zip|7z|7za", Write).places(Which::Rest, E::Read),
        row("zip", Delete).when("-m --move -*m*").places(Which::Rest, E::Delete),
        row("unzip|gunzip|gzip|bunzip2|xz|unxz|bzip2|zstd|unzstd", Write),
        row("find|fd|fdfind", Read).places(Which::First, E::Read).values("-name -iname -path -type -maxdepth -mindepth -newer -size -mtime -mmin -perm -user -regex -exec -e -t -d -E"),
        row("ls|dir|tree|stat|file|du|df|pwd|realpath|readlink|basename|dirname|eza|exa|lsof|get-childitem|gci|test-path|get-item|gi|resolve-path", Read),
        row("cat|bat|head|tail|less|more|nl|tac|xxd|hexdump|od|strings|wc|md5sum|sha1sum|sha256sum|sha512sum|shasum|cksum|type|get-content|gc|view|batcat", Read)
            .places(Which::All, E::Read).values("-n -c --lines --bytes -s --style -l --language -m -totalcount -tail"),
        row("diff|cmp|comm|paste|join|cut|uniq|fold|column|rev|expand|fmt|pr|look|tsort|base64|base32|iconv|dos2unix|delta|difft|sdiff|colordiff|vimdiff", Read).places(Which::All, E::Read)
            .values("-d -f -c -b -s -t -w -F --delimiter --fields -U -I -x"),
        row("sort", Read).places(Which::All, E::Read).option("-o --output", E::Overwrite).values("-k -t -S -T --key --field-separator"),
        row("open|xdg-open|start|code|subl|emacs", Execute),
        row("vim|vi|nvim|ex|ed|nano", Execute).places(Which::All, E::Edit).values("-c -S -u --cmd"),
        row("get-childitem|gci|dir|ls", Read).when("env:* Env:*").fact(F::Secret),
        row("split|csplit", Write).places(Which::First, E::Read),
        row("patch", Write).option("-o --output", E::Overwrite).option("-i --input", E::Read).dry("--dry-run").values("-p -d --strip --directory"),
    ])
}

fn text() -> Vec<Row> {
    Vec::from([
        row("grep|egrep|fgrep|zgrep|rg|ag|ack|ripgrep|findstr|select-string|sls", Read).places(Which::Rest, E::Read)
            .values("-A -B -C -m -g --glob -t --type --type-not -T -f --file --include --exclude --exclude-dir --max-count --context --after-context --before-context --color --colors -d -M --max-columns -j --sort -r --replace"),
        row("grep|egrep|fgrep|rg|ag", Read).when("-e --regexp --files -f --file").places(Which::All, E::Read).values("-e --regexp"),
        row("sed|gsed", Read).places(Which::Rest, E::Read).values("-e -f -l --expression --file"),
        row("sed|gsed", Read).when("-e -f --expression --file").places(Which::All, E::Read).values("-e -f -l --expression --file"),
        row("sed|gsed", Write).when("-i --in-place -i*").places(Which::Rest, E::Edit).values("-e -f -l --expression --file"),
        row("awk|gawk|mawk", Read).places(Which::Rest, E::Read).values("-F -v -f --field-separator --assign --file"),
        row("perl", Execute).look(&[O::Program]).values("-e -E -I -M"),
        row("perl", Write).when("-i -i* -pi -pie -ni").places(Which::All, E::Edit).values("-e -E -I -M -pe -pie -ne"),
        row("jq|yq|gron|xq|dasel|fx|mlr|xmllint|xsltproc|htmlq|pup", Read).places(Which::Rest, E::Read).values("--arg --argjson --slurpfile --rawfile -f --from-file --indent --tab"),
        row("yq|dasel", Write).when("-i --inplace -w").places(Which::Rest, E::Edit),
        row("tr|seq|expr|true|false|test|\\[|\\[\\[|date|cal|sleep|wait|which|whereis|whatis|type|command|hash|man|info|help|tldr|id|whoami|groups|hostname|uname|arch|nproc|uptime|free|vmstat|ps|pgrep|top|htop|who|w|last|tty|clear|reset|tput|stty|locale|getconf|jobs|fg|bg|times|ulimit|umask|cd|pushd|popd|dirs|:|exit|return|break|continue|shift|getopts|let|local|declare|typeset|readonly|shopt|unset|unalias|alias|trap|bind|complete|compgen|history|yes|nohup|ping|dig|nslookup|host|traceroute|netstat|ss|ifconfig|lscpu|lsblk|lspci|lsusb|dmesg|journalctl|ldd|nm|objdump|readelf|size|otool|ldconfig|write-host|write-output|get-date|get-location|get-process|get-command|get-help|measure-object|select-object|where-object|sort-object|format-table|foreach-object|convertto-json|convertfrom-json|out-null|out-string|cls|ver|where|tasklist|systeminfo", Read),
        row("echo|printf|print|write-host|write-output", Read).look(&[O::Shown]),
        row("printenv", Read).look(&[O::Variables]),
        row("env|export|set|declare", Read).look(&[O::Variables]),
        row("export|set|declare|unset|source|.", Read),
        row("prettier|black|gofmt|rustfmt|isort|autopep8|yapf|clang-format|goimports|standard|dprint|shfmt|google-java-format|ktlint|swiftformat|taplo|biome", Write)
            .places(Which::All, E::Edit).values("--config --parser --line-length -l --config-path --style -i --indent"),
        row("prettier|black|isort|ruff|dprint|yapf|rustfmt|shfmt|taplo|biome", Check).when("--check -c --check-only --diff -d -l check"),
    ])
}

fn git() -> Vec<Row> {
    Vec::from([
        row("git", Write).when("alias.**=!** core.pager=** core.sshCommand=**").fact(F::UntrustedCode),
        row("git", Write).values("-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix"),
        row("git status|log|diff|show|blame|annotate|grep|ls-files|ls-tree|ls-remote|rev-parse|rev-list|describe|shortlog|whatchanged|cat-file|name-rev|merge-base|for-each-ref|show-ref|show-branch|var|version|help|count-objects|verify-commit|verify-tag|check-ignore|check-attr|range-diff|cherry|diff-tree|diff-index|diff-files|fsck|bugreport|archive|bundle|format-patch|request-pull|symbolic-ref|--version|--help", Read).values("-n --format --pretty --since --until --author --grep -S -G -L --max-count -U --diff-filter -o --output"),
        row("git show|cat-file|diff|blame|annotate|difftool", Read).places(Which::All, E::Read).look(&[O::Revisions]),
        row("git grep", Read).places(Which::Rest, E::Read).look(&[O::Revisions]),
        row("git log|whatchanged", Read).when("-p -u --patch -L*").places(Which::All, E::Read).look(&[O::Revisions]),
        row("git reflog", Read),
        row("git reflog expire|delete", Delete).fact(F::Irreversible),
        row("git add|commit|stage|mv|tag|init|merge|cherry-pick|revert|am|apply|notes|worktree|submodule|config|bisect|rebase|pull|sparse-checkout|maintenance|rerere|remote|update-index|read-tree|write-tree|commit-tree|hash-object|mktree|lfs|flow", Write).values("-m --message -F --file -C -c --author --date -X --strategy --onto -u"),
        row("git rebase|merge|pull|cherry-pick|am|revert", Write).values("-m --onto -X -s --strategy -i").back("git reflog"),
        row("git add|commit", Write).dry("-n --dry-run"),
        row("git commit", Write).when("-a --all --amend").values("-m --message -F --file --author --date").back("git reflog"),
        row("git fetch|clone|remote|pull|ls-remote", Network).values("-b --branch --depth -o --origin -j --jobs --filter --reference --upload-pack -c"),
        row("git remote|remote-show", Write),
        row("git branch", Read).values("-u --set-upstream-to --contains --merged --no-merged --sort --format"),
        row("git branch", Write).when("-d -D -m -M -c -C -f --delete --move --copy --force -u --set-upstream-to --unset-upstream --edit-description").back("git reflog"),
        row("git tag", Write).when("-d --delete -f --force").back("git reflog"),
        row("git stash", Write).values("-m --message"),
        row("git stash list|show", Read),
        row("git stash push|save|apply|pop|branch|create|store", Write).values("-m --message"),
        row("git stash drop|clear", Delete).fact(F::Irreversible),
        row("git checkout", Write).values("-b -B --orphan --conflict").places(Which::AfterDashes, E::Overwrite).look(&[O::Checkout]),
        row("git checkout", Write).when("-f --force").look(&[O::DirtyTree]),
        row("git checkout", Write).when("-b -B --orphan"),
        row("git switch", Write).values("-c -C --create --force-create --orphan --conflict"),
        row("git switch", Write).when("-f --force --discard-changes").look(&[O::DirtyTree]),
        row("git restore", Delete).places(Which::All, E::Overwrite).values("-s --source --conflict --pathspec-from-file"),
        row("git restore", Write).when("--staged -S").unless("--worktree -W").values("-s --source").places(Which::All, E::Read),
        row("git checkout-index", Write).when("-f --force").look(&[O::DirtyTree]),
        row("git read-tree", Write).when("--reset").look(&[O::DirtyTree]),
        row("git reset", Write).back("git reflog"),
        row("git reset", Delete).when("--hard --merge --keep").look(&[O::DirtyTree]),
        row("git clean", Delete).look(&[O::UntrackedFiles]).dry("-n --dry-run").values("-e --exclude").places(Which::All, E::Read),
        row("git clean", Delete).when("-x -X").look(&[O::UntrackedFiles, O::IgnoredFiles]).dry("-n --dry-run").values("-e --exclude"),
        row("git rm", Delete).places(Which::All, E::Delete).dry("-n --dry-run"),
        row("git rm", Write).when("--cached").places(Which::All, E::Read),
        row("git push", Network).look(&[O::Push]).dry("-n --dry-run").values("-o --push-option --repo --receive-pack --exec"),
        row("git send-pack|send-email", Network).look(&[O::Push]),
        row("git filter-branch|filter-repo|replace", Write).look(&[O::PublishedHistory]).fact(F::RewrittenHistory),
        row("git gc|prune|repack", Write),
        row("git gc|prune", Delete).when("--prune --prune=now --expire --expire=now --aggressive").unless("--prune=never").back("git reflog"),
        row("git update-ref|symbolic-ref", Write).when("-d --delete").fact(F::Irreversible),
        row("git worktree remove", Delete).places(Which::All, E::Delete),
        row("git submodule deinit", Delete).places(Which::All, E::Delete),
        row("git config", Write).values("-f --file --get --get-all --unset").option("-f --file", E::Edit),
        row("git config --get|--list|-l|get|list", Read),
        row("git svn dcommit", Network).fact(F::SharedBranch),
        row("git lfs prune", Delete),
        row("git-filter-repo|bfg", Write).fact(F::RewrittenHistory),
        row("hg|svn|jj|fossil", Write),
        row("hg|svn|jj status|log|diff|st|info|annotate|cat|show", Read),
        row("svn commit|ci", Network).fact(F::SharedBranch),
        row("svn revert", Delete).places(Which::All, E::Overwrite),
        row("hg purge|strip", Delete).fact(F::Irreversible),
        row("hg push", Network).fact(F::SharedBranch),
        row("pre-commit|lefthook|husky|lint-staged", Check),
    ])
}

fn hosting() -> Vec<Row> {
    Vec::from([
        row("gh|glab|hub|tea", Network).values("-R --repo --hostname -t --title -b --body -F --field -f --raw-field -H --header -X --method --json -q --jq --template -B --base -l --label -a --assignee -m --milestone -L --limit -s --state"),
        row("gh|glab pr|issue|repo|run|workflow|release|gist|label|search|project|cache|secret|variable|ruleset|mr|ci list|view|status|diff|checks|ls|watch|download|trace|show", Read),
        row("gh|glab auth status", Read),
        row("gh|glab auth token", Read).fact(F::Secret),
        row("gh auth status", Read).when("-t --show-token").fact(F::Secret),
        row("gh|glab auth login|logout|refresh|setup-git", Write),
        row("gh search", Read),
        row("gh pr merge", Deploy).fact(F::SharedBranch).values("-b --body -t --subject -A --author-email --match-head-commit"),
        row("glab mr merge|accept", Deploy).fact(F::SharedBranch),
        row("gh|glab pr|mr close", Network),
        row("gh pr|issue create|comment|edit|review|reopen|ready|checkout", Network),
        row("gh pr checkout", Write),
        row("gh issue|gist|label|cache|variable|secret|ssh-key|gpg-key|run|codespace|project delete", Delete).fact(F::Irreversible),
        row("gh|glab repo delete|archive", Delete).fact(F::Irreversible),
        row("gh repo edit|rename", Deploy),
        row("gh repo edit", Deploy).when("--visibility --default-branch").fact(F::Publishing),
        row("gh repo sync", Deploy).when("--force").fact(F::RewrittenHistory),
        row("gh|glab release create|upload|edit", Deploy).fact(F::Publishing),
        row("gh|glab release delete|delete-asset", Delete).fact(F::Irreversible),
        row("gh|glab secret|variable set", Write),
        row("gh workflow run|enable|disable", Deploy).look(&[O::Environment]),
        row("gh|glab api", Network).look(&[O::Api]).values("-X --method -f -F --field --raw-field -H --header --input -q --jq -t --template --hostname -p --preview --cache"),
        row("curl|wget|http|https|xh|httpie|aria2c|invoke-webrequest|iwr|invoke-restmethod|irm", Network).look(&[O::Http])
            .values("-X --request -H --header -d --data --data-raw --data-binary --data-urlencode -F --form -u --user -A --user-agent -b --cookie -c --cookie-jar -e --referer -m --max-time --connect-timeout -T --upload-file -x --proxy --retry -w --write-out -K --config --cacert --cert --key -P --json --url -method -body -headers -uri -outfile --method --body-data --post-data --post-file -r --range --resolve")
            .option("-o --output -O -outfile", E::Overwrite),
        row("curl", Network).when("-O --remote-name").values("-X --request -H --header -d --data"),
    ])
}

fn packages() -> Vec<Row> {
    let managers = "npm|pnpm|yarn|bun";
    let mut rows = Vec::from([
        row("npm|pnpm|yarn|bun", Execute).values("--prefix -C --dir --cwd -w --workspace --filter -F --registry --loglevel --cache --otp --tag --access --userconfig"),
        row("npm|pnpm|yarn|bun ls|list|view|info|show|search|outdated|why|explain|config|root|bin|prefix|help|version|-v|--version|ping|whoami|docs|repo|bugs|fund|audit|query|pack|licenses|doctor", Read),
        row("npm|pnpm|yarn|bun audit", Check),
        row("npm|pnpm|yarn|bun audit fix", Write),
        row("npm|pnpm|yarn|bun install|i|ci|add|update|up|upgrade|uninstall|remove|rm|un|dedupe|prune|link|unlink|init|create|import|rebuild|set-script|pkg|dlx|x|exec|patch|store|fetch|version|shrinkwrap|approve-builds", Write),
        row("npm|pnpm|yarn|bun test|t|tst|lint|typecheck|check|type-check|tsc|vitest|jest|eslint|build", Check),
        row("npm|pnpm|yarn|bun run|run-script|exec|x|dlx", Execute).look(&[O::Environment]),
        row("npm|pnpm|yarn|bun run|run-script test*|lint*|check*|typecheck*|type-check*|build*|tsc*|unit*|e2e*|coverage*|validate*|verify*|format:check|ci", Check),
        row("npm|pnpm|yarn|bun run|run-script clean*|reset*|nuke*", Execute),
        row("npm|pnpm|yarn|bun run|run-script deploy*|release*|publish*|ship*", Deploy).fact(F::Publishing).look(&[O::Environment]),
        row("npm|pnpm|yarn|bun run|run-script *db:reset*|*db:drop*|*migrate:reset*|*migrate:fresh*|*db:wipe*|*migrate:rollback*|*db:truncate*", Delete).fact(F::Irreversible).look(&[O::Environment]),
        row("npm|pnpm|yarn|bun start|dev|serve|preview|storybook", Execute).look(&[O::Environment]),
        row("npm|pnpm|yarn|bun publish|unpublish", Deploy).fact(F::Publishing).values("--tag --access --otp --registry"),
        row("yarn npm publish|tag", Deploy).fact(F::Publishing),
        row("npm|pnpm|yarn|bun unpublish", Delete).fact(F::Publishing).fact(F::Irreversible),
        row("npm|pnpm|yarn|bun deprecate|dist-tag|owner|access|team|star|hook|org|profile", Deploy).fact(F::Publishing),
        row("npm dist-tag|owner|access|team|org ls|list", Read),
        row("npm|pnpm|yarn|bun token|adduser|login|logout", Write),
        row("npm token create|list", Read).fact(F::Secret),
        row("npm|pnpm|yarn|bun cache|store clean|prune|clear", Write).back("the package manager's install"),
        row("npx|bunx|pnpx", Execute).values("-p --package -c --call"),
        row("prettier|eslint|biome|stylelint|standard|xo", Write).when("--write -w --fix --apply"),
        row("prisma generate|format|validate|studio|version", Check),
        row("prisma migrate status|diff", Read),
        row("prisma migrate reset", Delete).fact(F::Irreversible).look(&[O::Environment]),
        row("prisma db push", Write).when("--force-reset --accept-data-loss").fact(F::Irreversible).look(&[O::Environment]),
        row("prisma db execute", Execute).look(&[O::Sql, O::Environment]),
        row("drizzle-kit generate|check|studio|introspect|pull", Check),
        row("drizzle-kit push", Write).look(&[O::Environment]),
        row("drizzle-kit drop", Delete).fact(F::Irreversible),
        row("typeorm|typeorm-ts-node-commonjs|typeorm-ts-node-esm schema:drop|migration:revert", Delete).fact(F::Irreversible).look(&[O::Environment]),
        row("sequelize|sequelize-cli db:drop|db:migrate:undo|db:migrate:undo:all", Delete).fact(F::Irreversible).look(&[O::Environment]),
        row("knex migrate:rollback|migrate:down", Delete).fact(F::Irreversible).look(&[O::Environment]),
        row("gh-pages|surge|semantic-release|np|release-it", Deploy).fact(F::Publishing),
        row("changeset", Write),
        row("changeset status", Read),
        row("changeset publish", Deploy).fact(F::Publishing),
        row("lerna publish", Deploy).fact(F::Publishing),
        row("prettier|biome|svelte-check|vue-tsc|tsd|size-limit|madge|publint|attw|xo|standard|depcheck|tsc|eslint|jest|vitest|mocha|ava|pylint|flake8|mypy|pyright|ruff|pytest|tox|nox|unittest|shellcheck|hadolint|yamllint|markdownlint|golangci-lint|staticcheck|rubocop|rspec|phpunit|phpstan|psalm|ctest|bats|actionlint|tflint|ansible-lint|swiftlint|ktlint|detekt|clippy-driver|cppcheck|clang-tidy|luacheck|credo|dialyzer|checkov|semgrep|bandit|trivy|gitleaks|snyk|playwright|cypress|tap|deno-lint|stylelint|py.test|coverage|codespell|vale|typos|nextest|doctest|hlint|oxlint|knip", Check)
            .values("-k -m -n -p -c --config -x --maxfail --tb -W --timeout --project --reporter -t --testNamePattern --grep -g -o --rootdir --cov"),
        row("eslint|ruff|rubocop|stylelint|biome|oxlint|swiftlint|golangci-lint|typos|codespell|ktlint", Write).when("--fix --fix-all -A -a --autocorrect --write-changes -w --write"),
        row("ruff format", Write).places(Which::All, E::Edit),
        row("make|gmake|ninja|cmake|meson|bazel|buck|buck2|gradle|gradlew|mvn|mvnw|ant|sbt|mill|xcodebuild|swift|just|task|rake|mage|msbuild|nmake|scons|waf|stack|cabal|lein|mix|rebar3|zig|dune|turbo|nx|lerna|invoke|earthly|pants|moon|vite|webpack|rollup|esbuild|parcel|next|nuxt|astro|gatsby|hugo|jekyll|mkdocs|sphinx-build|jest-worker|tsup|swc|babel|gcc|g++|cc|clang|clang++|javac|rustc|ghc|ocamlfind|ld|ar|nasm|protoc|buf|wasm-pack|wasm-opt", Check)
            .dry("-n --just-print --recon").values("-C -f -j -o -D -I -L -B -S --directory --file -G"),
        row("make|gmake|just|task|rake|mage|invoke|mix|turbo|nx run|deploy*|release*|publish*|ship*", Deploy).look(&[O::Environment]),
        row("make|gmake|just|task|rake|mage|invoke|mix deploy*|release*|publish*|ship*|push*", Deploy).fact(F::Publishing).look(&[O::Environment]),
        row("make|gmake|just|task|rake|ninja|gradle|gradlew|mvn|mvnw|mix|bazel|swift clean|distclean|mostlyclean", Write).back("the build"),
        row("make|gmake|just|task start|run|serve|dev|up|install", Execute),
        row("gradle|gradlew|mvn|mvnw|sbt|lein publish*|deploy|release*|*publish*", Deploy).fact(F::Publishing),
        row("cargo", Execute).values("--manifest-path -p --package --target-dir --features -F --target --profile -j --bin --example --test --config -Z"),
        row("cargo build|check|test|clippy|bench|doc|nextest|t|b|c|tree|metadata|fmt|audit|deny|llvm-cov|expand|miri|udeps|machete|semver-checks|hack|outdated|geiger|msrv|verify-project|insta|mutants", Check).values("-p --package --features -F --target --profile -j --bin --example --test --manifest-path --workspace"),
        row("cargo search|info|tree|metadata|locate-project|help|version|--version|pkgid|read-manifest", Read),
        row("cargo fmt|fix|add|remove|rm|update|new|init|generate-lockfile|vendor|fetch", Write),
        row("cargo fmt", Check).when("--check"),
        row("cargo clippy", Write).when("--fix"),
        row("cargo run|r|install|uninstall|x|xtask|make", Execute),
        row("cargo clean", Write).back("cargo build").dry("-n --dry-run"),
        row("cargo publish|yank|owner|login|release", Deploy).fact(F::Publishing).dry("-n --dry-run"),
        row("rustup|cargo-binstall|volta|nvm|fnm|n|pyenv|rbenv|asdf|mise|sdk|corepack|goenv|jenv", Write),
        row("go", Execute).values("-C -o -run -tags -mod -ldflags -timeout -count"),
        row("go build|test|vet|list|version|env|doc|tool|generate|mod|work|help|fmt", Check).values("-C -o -run -tags -mod -ldflags -timeout -count -bench"),
        row("go list|version|doc|help|env", Read),
        row("go fmt|get|mod|work|generate|install", Write),
        row("go clean", Write).back("go build"),
        row("go run", Execute),
        row("pip|pip3|uv|poetry|pdm|pipenv|conda|mamba|pipx|hatch|rye|easy_install|micromamba|pixi", Write).values("-r --requirement -i --index-url --extra-index-url -t --target --prefix -c --constraint -e --editable -p --python --with --from --directory --project"),
        row("pip|pip3|uv|poetry|pdm|pipenv|conda|mamba|pipx|hatch|rye|pixi list|show|freeze|check|search|info|env|--version|version|index|tree|config|debug|lock|help", Read),
        row("uv|poetry|pdm|pipenv|hatch|rye|pixi run|exec|tool", Execute),
        row("uv|poetry|pdm|pipenv|hatch|rye|pixi run|exec pytest|mypy|ruff|pyright|tox|nox|black|flake8|pylint|coverage|unittest|pre-commit|isort|bandit", Check),
        row("uv|poetry|pdm|hatch|rye|flit publish", Deploy).fact(F::Publishing),
        row("uv|poetry|pdm|hatch|rye|flit build", Check),
        row("conda|mamba|micromamba env|remove|clean", Write),
        row("uvx|pipx", Execute),
        row("uvx ruff|mypy|pytest|pyright|black|flake8|pylint|ty|tox|nox|pre-commit", Check),
        row("twine upload", Deploy).fact(F::Publishing),
        row("twine check", Check),
        row("gem|bundle|bundler|composer|cpan|cpanm|luarocks|opam|hex|pub|flutter|dart|dotnet|nuget|vcpkg|conan|swiftpm|pod|carthage|helm-docs|brew", Write).values("-v --version --source -k"),
        row("gem|bundle|composer|dotnet|flutter|dart|pod|brew list|info|show|outdated|search|check|help|--version|doctor|deps|desc|leaves|config", Read),
        row("bundle|composer|dotnet|flutter|dart exec|run|test|analyze|build|format|watch", Execute),
        row("dotnet|flutter|dart|swift test|build|analyze|restore", Check),
        row("bundle exec rspec|rubocop|rake|cucumber|minitest|standardrb|brakeman|steep|sorbet", Check),
        row("bundle exec rails|rake db:drop|db:reset|db:purge|db:schema:load", Delete).fact(F::Irreversible).look(&[O::Environment]),
        row("rails|rake|bin/rails db:drop|db:reset|db:purge|db:truncate_all|db:schema:load", Delete).fact(F::Irreversible).look(&[O::Environment]),
        row("rails", Execute).look(&[O::Environment]),
        row("gem push|yank", Deploy).fact(F::Publishing),
        row("dotnet nuget push|delete", Deploy).fact(F::Publishing),
        row("nuget push|delete", Deploy).fact(F::Publishing),
        row("dart|flutter pub publish", Deploy).fact(F::Publishing),
        row("pod trunk push", Deploy).fact(F::Publishing),
        row("mix hex.publish", Deploy).fact(F::Publishing),
        row("vsce|ovsx publish|unpublish", Deploy).fact(F::Publishing),
        row("python|python3|python2|py|node|deno|ruby|php|lua|luajit|julia|Rscript|r|tsx|ts-node|bash|sh|zsh|dash|fish|ksh|pwsh|powershell|osascript|java|scala|kotlin|groovy|elixir|erl|perl6|raku|tclsh|racket|guile|sbcl|clojure|crystal|nim|swipl|octave|matlab", Execute).look(&[O::Program]).values("-c -m -W -X -e -E --eval -r --require --loader --import -I -cp -jar -classpath -D"),
        row("python|python3|python2|py|node|ruby|php|deno|bash|java|perl", Read).when("--version -V -v --help -h").unless("-c -e -m --eval -r"),
        row("deno test|lint|check|fmt|bench|doc|info", Check),
        row("node", Check).when("--test --check"),
        row("django-admin|manage.py", Execute).look(&[O::Environment]),
        row("django-admin|manage.py flush|reset_db|sqlflush", Delete).fact(F::Irreversible).look(&[O::Environment]),
        row("django-admin|manage.py test|check|showmigrations|makemigrations", Check),
        row("alembic downgrade", Delete).fact(F::Irreversible).look(&[O::Environment]),
        row("alembic|flyway|liquibase|dbmate|goose|atlas|sqlx|diesel|knex|sequelize|typeorm|prisma|drizzle-kit|migrate", Execute).look(&[O::Environment]),
        row("flyway clean", Delete).fact(F::Irreversible).look(&[O::Environment]),
        row("liquibase dropAll|drop-all", Delete).fact(F::Irreversible).look(&[O::Environment]),
        row("dbmate|atlas|sqlx|diesel drop|down|reset|rollback", Delete).fact(F::Irreversible).look(&[O::Environment]),
        row("sqlx|diesel|dbmate database drop|reset", Delete).fact(F::Irreversible).look(&[O::Environment]),
        row("artisan", Execute).look(&[O::Environment]),
        row("artisan migrate:fresh|migrate:reset|migrate:refresh|db:wipe", Delete).fact(F::Irreversible).look(&[O::Environment]),
        row("artisan test", Check),
        row("apt|apt-get|dnf|yum|zypper|pacman|apk|snap|flatpak|port|choco|winget|scoop|dpkg|rpm|nix-env|nix|emerge", Write).values("-o -c -t").dry("-s --simulate --just-print --dry-run --assume-no"),
        row("apt|apt-get|apt-cache|dnf|yum|apk|snap|flatpak|choco|winget|scoop|dpkg list|show|search|info|policy|depends|rdepends|madison|-l|-L|-s|-S|--list", Read),
        row("apt-cache", Read),
    ]);
    rows.extend([row(&alloc::format!("{managers} run|run-script *prod*"), Deploy).fact(F::Production)]);
    rows
}

fn infrastructure() -> Vec<Row> {
    Vec::from([
        row("docker|podman|nerdctl", Execute).values("-H --host --context -c --config -l --log-level --name -p --publish -v --volume -e --env --env-file -w --workdir -u --user --network --entrypoint -f --file -t --tag --build-arg --target --platform --mount --label --cpus -m --memory"),
        row("docker|podman|nerdctl ps|images|logs|inspect|info|version|stats|top|port|history|events|search|diff|--version|--help", Read),
        row("docker|podman image|container|volume|network|system|context|compose|builder|buildx|manifest|secret|config|node|service|stack ls|list|ps|inspect|logs|df|info|images|config|top|port|version|events", Read),
        row("docker|podman build|compose|buildx|pull|tag|create|start|restart|stop|pause|unpause|run|exec|cp|attach|wait|rename|update|load|save|import|export|commit|login|logout", Execute),
        row("docker compose|buildx build|up|start|restart|stop|pull|create|run|exec|cp|watch|bake|kill|pause|unpause", Execute).values("-f --file -p --project-name --profile --env-file"),
        row("docker|podman rm|rmi|kill", Delete),
        row("docker|podman container|image rm|prune", Delete),
        row("docker|podman rm|container", Delete).when("-v --volumes").fact(F::Irreversible),
        row("docker|podman volume rm|remove|prune", Delete).fact(F::Irreversible),
        row("docker|podman system prune", Delete),
        row("docker|podman system prune", Delete).when("--volumes -a --all").fact(F::Irreversible),
        row("docker|podman system reset", Delete).fact(F::Irreversible),
        row("docker compose down|rm", Delete),
        row("docker compose down|rm", Delete).when("-v --volumes").fact(F::Irreversible),
        row("docker-compose", Execute).values("-f --file -p --project-name --profile --env-file"),
        row("docker-compose ps|logs|config|images|top|version", Read),
        row("docker-compose down|rm", Delete),
        row("docker-compose down|rm", Delete).when("-v --volumes").fact(F::Irreversible),
        row("docker|podman push", Deploy).fact(F::Publishing),
        row("docker|podman image|manifest push", Deploy).fact(F::Publishing),
        row("docker buildx|image build", Execute).when("--push").fact(F::Publishing),
        row("docker build", Execute).when("--push").fact(F::Publishing),
        row("docker stack|service|node|swarm|secret|config rm|remove|leave", Delete).fact(F::Irreversible),
        row("docker stack deploy", Deploy).look(&[O::Environment]),
        row("kubectl|oc|k9s|k3s|microk8s", Deploy).values("-n --namespace --context --cluster --kubeconfig -f --filename -l --selector -o --output -c --container --field-selector --replicas -k --kustomize -p --patch --type").look(&[O::Environment]),
        row("kubectl|oc get|describe|logs|top|explain|version|cluster-info|api-resources|api-versions|diff|wait|events|auth|options|config|whoami|status", Read).values("-n --namespace --context -l -o --output -c --container --tail --since"),
        row("kubectl|oc config view|get-contexts|current-context|get-clusters|get-users", Read),
        row("kubectl|oc config", Write),
        row("kubectl|oc get secret|secrets|secret/*|secrets/*|secret,*|*,secret|*,secrets", Read).when("-o --output -o* --output=*").fact(F::Secret),
        row("kubectl|oc port-forward|proxy|exec|attach|cp|debug|run", Execute),
        row("kubectl|oc apply|create|replace|patch|edit|scale|rollout|set|label|annotate|expose|autoscale|cordon|uncordon|taint", Deploy),
        row("kubectl|oc delete|drain", Delete).fact(F::Irreversible),
        row("kubectl|oc replace", Delete).when("--force").fact(F::Irreversible),
        row("kubectl rollout status|history", Read),
        row("kubectx|kubens", Write),
        row("helm", Deploy).values("-n --namespace --kube-context -f --values --set --version --kubeconfig").look(&[O::Environment]),
        row("helm list|ls|status|get|history|show|search|template|lint|version|env|repo|dependency|dep|pull|test|verify|plugin", Read),
        row("helm uninstall|delete|del|un", Delete).fact(F::Irreversible),
        row("helm push", Deploy).fact(F::Publishing),
        row("terraform|tofu|terragrunt|opentofu", Deploy).values("-chdir -var -var-file -target -state -out -backend-config").look(&[O::Environment]),
        row("terraform|tofu|terragrunt plan|validate|fmt|show|output|providers|version|graph|console|get|init|workspace|test|metadata|state|hclfmt|render-json|run-all", Check),
        row("terraform|tofu|terragrunt show|output|providers|version|graph", Read),
        row("terraform|tofu|terragrunt apply|import|refresh|taint|untaint|login|force-unlock", Deploy),
        row("terraform|tofu|terragrunt apply", Deploy).when("-destroy --destroy").fact(F::Irreversible),
        row("terraform|tofu|terragrunt apply", Deploy).when("-auto-approve --auto-approve --terragrunt-non-interactive").fact(F::Irreversible),
        row("terraform|tofu|terragrunt destroy", Delete).fact(F::Irreversible),
        row("terragrunt run-all|destroy-all destroy", Delete).fact(F::Irreversible),
        row("terraform|tofu|terragrunt state list|show|pull", Read),
        row("terraform|tofu|terragrunt state rm|mv|push|replace-provider", Delete).fact(F::Irreversible),
        row("terraform|tofu workspace delete", Delete).fact(F::Irreversible),
        row("pulumi", Deploy).values("-s --stack -C --cwd -m --message").look(&[O::Environment]),
        row("pulumi preview|stack|config|whoami|version|about|logs|history", Read),
        row("pulumi destroy|cancel", Delete).fact(F::Irreversible),
        row("pulumi stack rm", Delete).fact(F::Irreversible),
        row("cdk|sst|serverless|sls|sam|copilot|eb|amplify", Deploy).look(&[O::Environment]),
        row("cdk|sst|serverless|sls|sam|copilot diff|synth|list|ls|validate|info|doctor|package|build|local|metadata|context|dev|invoke|logs|print", Check),
        row("cdk|sst|serverless|sls|sam|copilot|eb|amplify destroy|remove|delete|terminate", Delete).fact(F::Irreversible),
        row("ansible|ansible-playbook", Deploy).dry("--check -C --syntax-check --list-hosts --list-tasks").values("-i -e -l -u --limit -m -a --tags").look(&[O::Environment]),
        row("ansible-vault view|decrypt|edit", Read).fact(F::Secret),
        row("vault read|kv|token|unwrap", Read).fact(F::Secret),
        row("vault status|list|version|path-help", Read),
        row("vault kv list|metadata", Read),
        row("vault delete", Delete).fact(F::Irreversible),
        row("vault kv delete|destroy", Delete).fact(F::Irreversible),
        row("vault kv metadata delete", Delete).fact(F::Irreversible),
        row("op|pass|bw|lpass|keyring|security|secret-tool|gopass|doppler|infisical|chamber|sops|age|gpg", Read).when("read get item show find-generic-password find-internet-password lookup secrets export -d --decrypt decrypt reveal find-password run --export-secret-keys --export-secret-subkeys").fact(F::Secret),
        row("gpg|age|sops", Write),
        row("aws", Network).values("--profile --region --output --query --endpoint-url --stack-name --bucket --cli-input-json --filters --instance-ids").look(&[O::Environment]),
        row("aws * describe-*|list-*|get-*|head-*|batch-get-*|lookup-*|search-*|scan|query|wait|ls|help|estimate-*|preview-*|simulate-*|validate-*|filter-*|tail", Read),
        row("aws secretsmanager get-secret-value", Read).fact(F::Secret),
        row("aws secretsmanager batch-get-secret-value", Read).fact(F::Secret),
        row("aws ssm get-parameter|get-parameters|get-parameters-by-path", Read).when("--with-decryption").fact(F::Secret),
        row("aws sts get-session-token|assume-role", Read).fact(F::Secret),
        row("aws sts get-caller-identity", Read),
        row("aws ecr|codeartifact get-login-password|get-authorization-token", Read).fact(F::Secret),
        row("aws configure|sso list|get|login", Read),
        row("aws configure export-credentials", Read).fact(F::Secret),
        row("aws * delete-*|terminate-*|remove-*|purge-*|destroy-*|deregister-*|revoke-*|batch-delete-*|disable-*|detach-*|cancel-*|schedule-key-deletion|reset-*|release-*", Delete).fact(F::Irreversible),
        row("aws * create-*|put-*|update-*|modify-*|run-*|start-*|stop-*|reboot-*|attach-*|enable-*|register-*|deploy|publish*|execute-*|invoke|send-*|set-*|tag-*|import-*|associate-*|authorize-*|rollback-*|restore-*", Deploy),
        row("aws s3 ls|presign", Read),
        row("aws s3 cp|mv", Network).places(Which::First, E::Read).places(Which::Last, E::Create).dry("--dryrun"),
        row("aws s3 mb|website", Deploy),
        row("aws s3 rm|rb", Delete).fact(F::Irreversible).dry("--dryrun"),
        row("aws s3 sync", Network).dry("--dryrun").places(Which::Last, E::Create),
        row("aws s3 sync", Delete).when("--delete").fact(F::Irreversible).dry("--dryrun"),
        row("aws cloudformation deploy|create-stack|update-stack", Deploy),
        row("gcloud|gsutil|bq|az|doctl|flyctl|fly|heroku|vercel|netlify|wrangler|firebase|railway|render|supabase|oci|ibmcloud|linode-cli|hcloud|scw|exo|civo|openstack|eksctl|kops|gcloud-alpha|neonctl|turso|planetscale|pscale|upstash|convex|deployctl|dokku|cf|kamal|cap", Network)
            .values("--project --zone --region --account --format --filter -g --resource-group -n --name --subscription -a --app -c --config -t --token --scope --environment --env").look(&[O::Environment]),
        row("gcloud|az|doctl|fly|flyctl|heroku|vercel|netlify|wrangler|firebase|railway|supabase|oci|hcloud|eksctl list|ls|show|get|describe|status|info|logs|version|whoami|config|help|tail|inspect|env", Read),
        row("gcloud|az|doctl|oci|hcloud|supabase|fly|flyctl|heroku * list|show|describe|get|get-value|ls|read|info|status|wait|diff", Read),
        row("gcloud|az|doctl|oci * * list|show|describe|get|get-iam-policy|ls|read|get-credentials", Read),
        row("gcloud|az|doctl|oci|hcloud|supabase|fly|flyctl|heroku|firebase|wrangler|neonctl|turso|pscale|railway|vercel|netlify delete|destroy|remove|rm|purge|down|reset|*:delete|*:destroy|*:remove|*:reset|*:disable", Delete).fact(F::Irreversible),
        row("gcloud|az|doctl|oci|hcloud|supabase|fly|flyctl|heroku|firebase|wrangler|neonctl|turso|pscale|railway|vercel|netlify * delete|delete-*|destroy|remove|rm|purge|purge-*|reset|drop|terminate", Delete).fact(F::Irreversible),
        row("gcloud|az|doctl|oci|hcloud|supabase|firebase|wrangler * * delete|delete-*|destroy|remove|rm|purge|purge-*|terminate", Delete).fact(F::Irreversible),
        row("gcloud|az|oci * * * delete|delete-*|remove|purge|purge-*|terminate", Delete).fact(F::Irreversible),
        row("heroku apps:destroy|pg:reset|addons:destroy|pg:credentials:rotate|apps:delete|pipelines:destroy|releases:rollback", Delete).fact(F::Irreversible),
        row("heroku config", Read).fact(F::Secret),
        row("gcloud secrets versions access", Read).fact(F::Secret),
        row("gcloud auth print-access-token|print-identity-token", Read).fact(F::Secret),
        row("gcloud auth application-default print-access-token", Read).fact(F::Secret),
        row("az account get-access-token", Read).fact(F::Secret),
        row("az keyvault secret show|download", Read).fact(F::Secret),
        row("supabase db reset", Delete).unless("--local").fact(F::Irreversible),
        row("supabase db push", Deploy),
        row("vercel|netlify|wrangler|firebase|railway|fly|flyctl|deployctl|convex|kamal|cap|cf|render deploy|publish|up|push|promote|rollback|alias|release", Deploy).look(&[O::Environment]),
        row("vercel|netlify|wrangler|firebase", Deploy).when("--prod --production").fact(F::Production),
        row("gsutil rm|rb", Delete).fact(F::Irreversible),
        row("gsutil rsync", Delete).when("-d").fact(F::Irreversible),
        row("gsutil ls|cat|du|stat|hash|version", Read),
        row("bq rm", Delete).fact(F::Irreversible),
        row("bq ls|show|head|query|help", Read).look(&[O::Sql]),
        row("eksctl|kops delete", Delete).fact(F::Irreversible),
        row("vagrant destroy", Delete).fact(F::Irreversible),
        row("vagrant|multipass|limactl|colima|minikube|kind|k3d|orb", Execute),
        row("minikube|kind|k3d delete", Delete),
        row("colima|limactl|multipass delete|purge", Delete).fact(F::Irreversible),
        row("argocd|flux|fluxctl", Deploy).look(&[O::Environment]),
        row("argocd|flux get|list|logs|diff|version|history|stats|check|tree|trace|export", Read),
        row("argocd|flux app|delete|uninstall delete", Delete).fact(F::Irreversible),
        row("flux delete|uninstall", Delete).fact(F::Irreversible),
        row("nomad|consul|etcdctl", Deploy).look(&[O::Environment]),
        row("nomad|consul status|members|info|monitor|catalog|version|get|list", Read),
        row("etcdctl del", Delete).fact(F::Irreversible),
        row("consul kv delete", Delete).fact(F::Irreversible),
    ])
}

fn databases() -> Vec<Row> {
    Vec::from([
        row("psql|mysql|mariadb|sqlite3|sqlite|sqlcmd|duckdb|clickhouse-client|clickhouse|cockroach|usql|pgcli|mycli|litecli|snowsql|isql|osql|trino|presto|beeline|hive|spark-sql|cqlsh", Execute)
            .values("-c --command -e --execute -f --file -h --host -U --username -u --user -d --dbname -D --database -p --port -P -q --query -S -Q -i -o -v --set -cmd -init --init-command")
            .look(&[O::Sql, O::Environment]),
        row("sqlite3|sqlite|duckdb|litecli", Execute).places(Which::First, E::Edit).look(&[O::Sql]),
        row("sql", Execute).look(&[O::Sql]),
        row("turso|wrangler|supabase|neonctl|pscale db|d1|sql|shell execute|shell|query", Execute).look(&[O::Sql, O::Environment]),
        row("mongosh|mongo", Execute).values("--eval --host --port -u -p").look(&[O::Sql, O::Environment]),
        row("redis-cli|valkey-cli", Execute).values("-h -p -a -n -u --user").look(&[O::Environment]),
        row("redis-cli|valkey-cli get|mget|keys|scan|info|ping|ttl|type|exists|hget|hgetall|lrange|smembers|dbsize|monitor|client|config|memory|zrange|strlen|llen", Read),
        row("redis-cli|valkey-cli flushall|flushdb|FLUSHALL|FLUSHDB|del|DEL|unlink|UNLINK|shutdown|SHUTDOWN", Delete).fact(F::Irreversible),
        row("dropdb|dropuser|pg_dropcluster|mysqladmin", Delete).fact(F::Irreversible).look(&[O::Environment]),
        row("mysqladmin status|ping|version|processlist|variables|extended-status", Read),
        row("mysqladmin create|flush-hosts|flush-logs|refresh|reload", Write),
        row("createdb|createuser|initdb|pg_ctl|pg_ctlcluster", Write),
        row("pg_dump|pg_dumpall|mysqldump|mongodump|mongoexport|sqlite3_analyzer|pg_isready|redis-dump", Read).option("-f --file -r --result-file -o --out", E::Overwrite),
        row("pg_restore|mongorestore|mongoimport|mysqlimport", Write).look(&[O::Environment]),
        row("pg_restore|mongorestore", Delete).when("-c --clean --drop").fact(F::Irreversible).look(&[O::Environment]),
        row("kafka-topics|kafka-topics.sh", Execute),
        row("kafka-topics|kafka-topics.sh|kafka-consumer-groups|kafka-consumer-groups.sh", Delete).when("--delete").fact(F::Irreversible),
        row("rabbitmqctl|rabbitmqadmin purge_queue|delete_queue|reset|delete|purge", Delete).fact(F::Irreversible),
    ])
}

fn system() -> Vec<Row> {
    Vec::from([
        row("mkfs*|mke2fs|mkswap|wipefs|newfs*|format|format-volume|clear-disk|initialize-disk|hdparm|blkdiscard|sgdisk|cryptsetup|lvremove|vgremove|pvremove|zpool|zfs|mdadm", Delete).fact(F::CatastrophicTarget),
        row("zpool|zfs list|status|get|iostat", Read),
        row("fdisk|parted|gdisk|cfdisk|sfdisk|diskpart|diskutil", Delete).fact(F::CatastrophicTarget),
        row("fdisk|parted|sfdisk|gdisk", Read).when("-l --list"),
        row("diskutil list|info", Read),
        row("mount|umount|losetup|swapon|swapoff", Execute),
        row("shutdown|reboot|halt|poweroff|init|telinit|stop-computer|restart-computer", Execute).fact(F::RaisedPrivileges),
        row("systemctl|service|launchctl|sc|initctl|rc-service|supervisorctl|pm2|net", Execute),
        row("systemctl|service|launchctl|supervisorctl|pm2 status|list|show|is-active|is-enabled|list-units|list-unit-files|cat|logs|print|ls|describe|info", Read),
        row("systemctl|launchctl disable|mask|poweroff|reboot|halt|isolate|remove|unload|bootout", Execute).fact(F::RaisedPrivileges),
        row("pm2 delete|kill", Execute),
        row("crontab", Write).fact(F::OutsideWorkspace).unless("-l -e"),
        row("crontab", Read).when("-l"),
        row("crontab", Delete).when("-r -ri").fact(F::Irreversible),
        row("at|batch|schtasks", Execute),
        row("schtasks", Delete).when("/delete /Delete").fact(F::Irreversible),
        row("kill|killall|pkill|taskkill|stop-process|spps|xkill", Execute),
        row("useradd|adduser|usermod|groupadd|groupmod|passwd|chpasswd|visudo|chsh|chfn|dscl|net", Write).fact(F::RaisedPrivileges),
        row("userdel|deluser|groupdel|remove-localuser", Delete).fact(F::RaisedPrivileges).fact(F::Irreversible),
        row("iptables|ip6tables|nft|ufw|firewall-cmd|pfctl|netsh|setenforce|sysctl|modprobe|rmmod|insmod|nmcli|ifup|ifdown|route|ip", Write).fact(F::RaisedPrivileges),
        row("ip addr|a|link|route|neigh|r|l", Read),
        row("sysctl", Read).unless("-w --write -p"),
        row("iptables|ip6tables|ufw|nft|pfctl", Read).when("-L --list status list -s"),
        row("reg|set-itemproperty|remove-itemproperty|new-itemproperty|regedit", Write).fact(F::RaisedPrivileges),
        row("reg query", Read),
        row("set-executionpolicy|add-mppreference|set-mppreference", Write).fact(F::RaisedPrivileges),
        row("defaults", Write),
        row("defaults read|find|domains", Read),
        row("defaults delete", Delete).fact(F::Irreversible),
        row("tmutil|csrutil|spctl|nvram|fdesetup|vssadmin|wevtutil|bcdedit|cipher", Execute).fact(F::RaisedPrivileges),
        row("ssh|mosh|telnet|nc|ncat|socat|ftp|lftp|tftp", Network).values("-p -i -o -l -F -J -L -R -D -b -c -e -m -W"),
        row("ssh-keygen", Write).option("-f", E::Create).values("-t -b -C -N -m -P"),
        row("ssh-add|ssh-copy-id|ssh-agent|ssh-keyscan", Execute),
        row("openssl", Read).option("-out", E::Overwrite),
        row("openssl rsa|pkey|ec|dsa|pkcs8|pkcs12|pkeyutl|rsautl", Read).option("-in -inkey", E::Read).option("-out", E::Overwrite),
        row("screen|tmux|zellij|expect|script|watch|entr|parallel|xargs", Execute),
        row("mail|sendmail|mutt|mailx|msmtp|swaks", Network).fact(F::Publishing),
        row("fork-bomb", Delete).fact(F::CatastrophicTarget),
    ])
}
