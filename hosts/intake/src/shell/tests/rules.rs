//! One line of text, and what is read from it; see [`super::shown`] for the spelling.

use super::*;
use Dialect::{Cmd, Posix, PowerShell};

#[test]
fn separators_part_commands() {
    check(&[
        (Posix, "echo a;rm b&rm c", &["echo a", "rm b &", "rm c"]),
        (
            Posix,
            "git log --oneline -20 && git diff HEAD~1 --stat",
            &["git log --oneline -20", "git diff HEAD~1 --stat"],
        ),
        (Posix, "rm x && rm y || rm z", &["rm x", "rm y", "rm z"]),
        (Posix, "cmd1 |& cmd2", &["cmd1", "cmd2"]),
        (Posix, "rm a\nrm b", &["rm a", "rm b"]),
        (Posix, "! rm a", &["rm a"]),
        (Posix, "time -p rm a", &["rm a"]),
        (Posix, "rm a \\\n  b", &["rm a b"]),
        (Posix, "rm a # rm b", &["rm a"]),
    ]);
}

#[test]
fn words_inside_data_are_data() {
    check(&[
        (Posix, "git commit -m \"rm -rf / is bad; really\"", &["git commit -m 'rm -rf / is bad; really'"]),
        (Posix, "echo 'rm -rf /' > docs/warning.md", &["echo 'rm -rf /' >docs/warning.md"]),
        (Posix, "grep -rn \"rm -rf\" scripts/", &["grep -rn 'rm -rf' scripts/"]),
        (Posix, "echo '$(rm -rf a)'", &["echo '$(rm -rf a)'"]),
        (Posix, "cat <<'EOF'\n$(rm -rf a)\nEOF", &["cat"]),
        (
            Posix,
            "git commit -m \"$(cat <<'EOF'\nfix: don't (rm -rf) x\nEOF\n)\"",
            &["substitution: cat", "git commit -m 'fix: don't (rm -rf) x'"],
        ),
        (Posix, "cat <<EOF > a.txt\ndon't\nEOF\nrm b", &["cat >a.txt", "rm b"]),
        (Posix, "cat <<-EOF\n	x\n	EOF", &["cat"]),
        (Posix, "pkill -f 'node server.js'", &["pkill -f 'node server.js'"]),
        (Posix, "sqlite3 app.db 'DELETE FROM users;'", &["sqlite3 app.db 'DELETE FROM users;'"]),
        (
            Posix,
            "aws ec2 run-instances --instance-initiated-shutdown-behavior terminate --dry-run",
            &["aws ec2 run-instances --instance-initiated-shutdown-behavior terminate --dry-run"],
        ),
        (Posix, "echo \"it's\"; rm x", &["echo it's", "rm x"]),
        (Posix, "echo 'a'\\''b'; rm x", &["echo a'b", "rm x"]),
    ]);
}

#[test]
fn redirects_name_their_files() {
    check(&[
        (Posix, "> src/app.ts", &[">src/app.ts"]),
        (Posix, "rm a 2>/dev/null || true", &["rm a >/dev/null", "true"]),
        (Posix, "rm x 2>&1 >/dev/null &> log", &["rm x >/dev/null >log"]),
        (Posix, "echo x > a > b >> c 2> d &> e >| f <> g", &["echo x >a >b >>c >d >e >f <>g"]),
        (Posix, "{ rm a; rm b; } > log", &[">log", "rm a", "rm b"]),
        (Posix, "exec > log; rm x", &["exec >log", "rm x"]),
        (Posix, "printf '[rules]\\n' >> stigmergate.toml", &["printf [rules]\\n >>stigmergate.toml"]),
        (Posix, "echo x >&2", &["echo x"]),
        (Posix, "echo x >&file", &["echo x >file"]),
        (Posix, "while read f; do rm \"$f\"; done < list.txt", &["<list.txt", "loop: read f", "loop: rm $f?"]),
    ]);
}

#[test]
fn quotes_and_escapes_are_removed() {
    check(&[
        (Posix, "\\rm x; 'rm' y; \"r\"m z", &["rm x", "rm y", "rm z"]),
        (Posix, "r\\m -rf 'no'tes", &["rm -rf notes"]),
        (Posix, "$'\\x72m' -rf notes", &["rm -rf notes"]),
        (Posix, "rm${IFS}-rf${IFS}notes", &["rm -rf notes"]),
        (Posix, "rm -r \"/Users/user/Desktop/some folder\"", &["rm -r '/Users/user/Desktop/some folder'"]),
        (Posix, "type secrets\\id_rsa", &["type secretsid_rsa"]),
        (Posix, "cmd /c rd /s /q C:\\", &["cmd: rd /s /q C:\\"]),
        (
            Posix,
            "/bin/rm -rf x; ./node_modules/.bin/rimraf x; RM.EXE x",
            &["/bin/rm -rf x", "./node_modules/.bin/rimraf x", "RM.EXE x"],
        ),
    ]);
}

#[test]
fn home_is_marked() {
    check(&[
        (Posix, "rm -rf $HOME/x ~/y '~/z'", &["rm -rf ~/x ~/y \\~/z"]),
        (Posix, "rm -rf ~user/x \"$HOME\"/y ~/z \"~/w\" $HOME", &["rm -rf \\~user/x? ~/y ~/z \\~/w ~"]),
        (Posix, "rm --file=~/x --dir=$HOME/y", &["rm --file=~/x --dir=~/y"]),
        (Posix, "dd if=/dev/zero of=$HOME/x", &["dd if=/dev/zero of=~/x"]),
        (Posix, "D=~/x; rm -rf \"$D\"", &["rm -rf ~/x"]),
    ]);
}

#[test]
fn known_variables_are_filled_in() {
    check(&[
        (Posix, "D=notes; rm -rf \"$D\"", &["rm -rf notes"]),
        (Posix, "D=notes\nrm -rf \"${D}/a\"", &["rm -rf notes/a"]),
        (Posix, "F=\"-rf notes\"; rm $F", &["rm -rf notes"]),
        (Posix, "F=\"-rf notes\"; rm \"$F\"", &["rm '-rf notes'"]),
        (Posix, "export D=notes && rm -rf $D", &["export D=notes", "rm -rf notes"]),
        (Posix, "readonly Y=notes; rm $Y", &["readonly Y=notes", "rm notes"]),
        (Posix, "rm -rf \"${D:-build}\"", &["rm -rf build"]),
        (Posix, "rm -rf \"${TMPDIR:-/tmp}/x\"", &["rm -rf /tmp/x"]),
        (Posix, "P=a/b.txt; rm \"${P%/*}\" \"${P##*/}\" \"${P%.txt}\" \"${P/b/c}\"", &["rm a b.txt a/b a/c.txt"]),
        (Posix, "a=(x y); rm \"${a[@]}\"", &["rm x y"]),
        (Posix, "declare -a L=(a b); rm \"${L[@]}\" ${#L[@]} ${L[1]}", &["declare -a L?", "rm a b ${#L[@]}?{.} b"]),
        (Posix, "set -- a b; rm \"$@\" $1", &["set -- a b", "rm a b a"]),
        (Posix, "D=a D2=b; rm $D $D2", &["rm a b"]),
        (Posix, "D=notes sh -c 'rm -rf $D'", &["sh: rm -rf notes"]),
        (Posix, "D=$(echo notes); rm -rf \"$D\"", &["substitution: echo notes", "rm -rf notes"]),
        (Posix, "rm -rf \"$(pwd)/build\"", &["substitution: pwd", "rm -rf ./build"]),
        (Posix, "rm -rf \"$PWD\"/x; D=$PWD; cd y; rm $D/z", &["rm -rf ./x", "cd y", "rm $D/z? in(y) maybe"]),
        (
            Posix,
            "rm $(dirname a/b/c) $(basename a/b/c)",
            &["substitution: dirname a/b/c", "substitution: basename a/b/c", "rm a/b c"],
        ),
        (
            Posix,
            "DATABASE_URL=postgres://prod.internal/app npm run db:push",
            &["DATABASE_URL=postgres://prod.internal/app npm run db:push"],
        ),
    ]);
}

#[test]
fn what_is_not_known_says_so() {
    check(&[
        (Posix, "rm -rf $UNSET/*", &["rm -rf $UNSET/*?"]),
        (Posix, "rm -rf \"$(cat target.txt)\"", &["substitution: cat target.txt", "rm -rf '$(cat target.txt)'?"]),
        (Posix, "rm -rf ${D:?unset}/x", &["rm -rf ${D:?unset}/x?"]),
        (
            Posix,
            "rm -rf $(git rev-parse --show-toplevel)/x",
            &["substitution: git rev-parse --show-toplevel", "rm -rf '$(git rev-parse --show-toplevel)/x'?"],
        ),
        (Posix, "X+=b; rm $X", &["rm $X?"]),
        (Posix, "X=a; if c; then X=b; fi; rm $X", &["c", "rm $X?"]),
        (Posix, "X=a; [ -n \"$Y\" ] && X=b; rm $X", &["[ -n $Y? ]", "rm $X?"]),
        (Posix, "X=a; while c; do rm $X; X=b; done", &["loop: c", "loop: rm a", "loop: c", "loop: rm $X?"]),
        (Posix, "read X; rm $X", &["read X", "rm $X?"]),
        (Posix, "unset X; rm $X", &["unset X", "rm $X?"]),
        (Posix, "rm \"$@\" \"$1\"", &["rm $@? $1?"]),
        (Posix, "rm -rf ${!X} ${X@Q}", &["rm -rf ${!X}? ${X@Q}?"]),
    ]);
}

#[test]
fn the_folder_of_an_unknown_word_is_kept() {
    check(&[
        (Posix, "C=\"rm -rf $HOME/x\"; $C", &["rm -rf ~/x"]),
        (Posix, "T=$(mktemp -d); rm -rf \"$T/x\"", &["substitution: mktemp -d", "rm -rf '$(mktemp -d)/x'?{/tmp}"]),
        (
            Posix,
            "T=$(mktemp -d) && cd \"$T\" && rm -rf *",
            &["substitution: mktemp -d", "cd '$(mktemp -d)'?{/tmp}", "rm -rf * in(/tmp/?)"],
        ),
        (Posix, "T=$(mktemp -d); rm -rf \"$T/../x\"", &["substitution: mktemp -d", "rm -rf '$(mktemp -d)/../x'?"]),
        (Posix, "rm -rf /tmp/x-$$", &["rm -rf /tmp/x-$$?{/tmp}"]),
        (Posix, "rm -rf /tmp/$X", &["rm -rf /tmp/$X?"]),
        (
            Posix,
            "for f in $(find notes -name x); do rm \"$f\"; done",
            &["substitution: find notes -name x", "loop: rm notes/**/x"],
        ),
        (
            Posix,
            "find notes -type f | while read -r f; do rm \"$f\"; done",
            &["find notes -type f", "loop: read -r f", "loop: rm $f?{notes}"],
        ),
    ]);
}

#[test]
fn braces_are_expanded() {
    check(&[
        (Posix, "rm -rf {a,b}/c{1..3}", &["rm -rf a/c1 a/c2 a/c3 b/c1 b/c2 b/c3"]),
        (Posix, "rm a{,.bak} {x..z} \"{a,b}\" {a} {}", &["rm a a.bak x y z {a,b} {a} {}"]),
        (Posix, "rm {1..100000}", &["rm {1..100000}"]),
        (Posix, "mkdir -p src/{a,b}", &["mkdir -p src/a src/b"]),
    ]);
}

#[test]
fn globs_are_marked() {
    check(&[
        (Posix, "rm -rf -- *", &["rm -rf -- *"]),
        (Posix, "rm -rf \"*\"", &["rm -rf *"]),
        (Posix, "rm -f dist/*.js", &["rm -f dist/*.js"]),
        (Posix, "rm -- !(a|b)", &["rm -- '!(a|b)'"]),
    ]);
}

#[test]
fn substitutions_run() {
    check(&[
        (
            Posix,
            "echo $(rm -rf a) `rm b` \"$(rm c)\"",
            &[
                "substitution: rm -rf a",
                "substitution: rm b",
                "substitution: rm c",
                "echo '$(rm -rf a)'? '`rm b`'? '$(rm c)'?",
            ],
        ),
        (Posix, "cat <<EOF\n$(rm -rf a)\nEOF", &["substitution: rm -rf a", "cat"]),
        (Posix, "diff <(rm a) <(rm b)", &["substitution: rm a", "substitution: rm b", "diff '<(rm a)'? '<(rm b)'?"]),
        (Posix, "tee >(rm a) < x", &["substitution: rm a", "tee '>(rm a)'? <x"]),
        (Posix, "echo $((1+$(rm a)))", &["substitution: rm a", "echo '$((1+$(rm a)))'?{.}"]),
        (Posix, "[[ $(rm a) == b ]]", &["substitution: rm a"]),
        (Posix, "a=(`rm x`); echo ${a[0]}", &["substitution: rm x", "echo '`rm x`'?"]),
        (Posix, "echo ${x:-$(rm a)}", &["substitution: rm a", "echo '$(rm a)'?"]),
        (Posix, "X=$(rm a)", &["substitution: rm a"]),
        (
            Posix,
            "echo \"$(echo \"$(rm a)\")\"",
            &["substitution: substitution: rm a", "substitution: echo '$(rm a)'?", "echo '$(echo \"$(rm a)\")'?"],
        ),
    ]);
}

#[test]
fn compound_commands_are_followed() {
    check(&[
        (Posix, "if [ -f x ]; then rm x; else rm y; fi", &["[ -f x ]", "conditional: rm x", "conditional: rm y"]),
        (Posix, "if true; then :; elif rm x; then :; fi", &["true", "conditional: :", "rm x", "conditional: :"]),
        (
            Posix,
            "case $x in a) rm a;; b) rm b;& *) rm c;; esac",
            &["conditional: rm a", "conditional: rm b", "conditional: rm c"],
        ),
        (
            Posix,
            "case \"$1\" in\n  start|stop) rm a ;;\n  *) rm b ;;\nesac",
            &["conditional: rm a", "conditional: rm b"],
        ),
        (Posix, "for f in a b; do rm $f; done", &["loop: rm a", "loop: rm b"]),
        (Posix, "for f in *.md; do rm \"$f\"; done", &["loop: rm *.md"]),
        (Posix, "for f in $(ls); do rm \"$f\"; done", &["substitution: ls", "loop: rm $(ls)?"]),
        (Posix, "for f in {1..60}; do rm \"$f\"; done", &["loop: rm $f?{.}"]),
        (
            Posix,
            "for i in 1 2; do for j in a b; do rm $i$j; done; done",
            &["loop: loop: rm 1a", "loop: loop: rm 1b", "loop: loop: rm 2a", "loop: loop: rm 2b"],
        ),
        (Posix, "for ((i=0;i<3;i++)); do rm $i; done", &["loop: rm $i?"]),
        (Posix, "while true; do rm x; done &", &["loop: true &", "loop: rm x &"]),
        (Posix, "until rm x; do :; done", &["loop: rm x", "loop: :"]),
        (Posix, "ls | while read -r f; do rm \"$f\"; done", &["ls", "loop: read -r f", "loop: rm $f?"]),
        (Posix, "((i++)); rm x", &["rm x"]),
        (Posix, "[[ -f x && ! -d y ]] && rm x", &["rm x"]),
        (Posix, "[ -f x ] && rm x", &["[ -f x ]", "rm x"]),
        (Posix, "( rm a ) && rm b", &["subshell: rm a", "rm b"]),
        (Posix, "coproc rm x", &["subshell: rm x &"]),
        (Posix, "coproc N { rm x; }", &["subshell: rm x &"]),
    ]);
}

#[test]
fn functions_run_where_they_are_called() {
    check(&[
        (Posix, "f() { rm -rf \"$1\"; }; f notes; f other", &["f(): rm -rf notes", "f(): rm -rf other"]),
        (Posix, "f() { g; }; g() { rm x; }; f", &["f(): g(): rm x"]),
        (Posix, "function f { rm x; }; f", &["f(): rm x"]),
        (Posix, "f() ( cd a; rm x ); f; rm y", &["f(): subshell: cd a", "f(): subshell: rm x in(a) maybe", "rm y"]),
        (Posix, "f() { rm x; }; true", &["true"]),
        (Posix, "f() { f; }; f", &[]),
        (Posix, "rm() { echo no; }; rm x; command rm y", &["rm(): echo no", "command: rm y"]),
        (Posix, "if c; then rm() { echo no; }; fi; rm x", &["c", "rm(): echo no", "rm x"]),
    ]);
}

#[test]
fn a_fork_bomb_is_named() {
    check(&[
        (Posix, ":(){ :|:& };:", &["! fork bomb"]),
        (Posix, "bomb() { bomb | bomb & }; bomb", &["! fork bomb"]),
        (Posix, "f() { f | f & }; true", &["true"]),
    ]);
}

#[test]
fn cd_moves_what_follows() {
    check(&[
        (Posix, "cd src && ls && rm x; rm y", &["cd src", "ls in(src)", "rm x in(src)", "rm y in(src) maybe"]),
        (Posix, "cd x && rm a", &["cd x", "rm a in(x)"]),
        (Posix, "mkdir -p x && cd x; rm a", &["mkdir -p x", "cd x", "rm a in(x) maybe"]),
        (Posix, "false && cd x; rm a", &["false", "cd x", "rm a in(?) maybe"]),
        (Posix, "test -d x && cd x; rm a", &["test -d x", "cd x", "rm a in(?) maybe"]),
        (Posix, "cd x || exit 1; rm a", &["cd x", "exit 1 in(x) maybe", "rm a in(x)"]),
        (Posix, "set -e; cd x; rm a", &["set -e", "cd x", "rm a in(x)"]),
        (Posix, "cd $X; rm a", &["cd $X?", "rm a in(?) maybe"]),
        (Posix, "cd; rm a", &["cd", "rm a in(~) maybe"]),
        (Posix, "cd -; rm a", &["cd -", "rm a in(?)"]),
        (Posix, "cd /a; cd b; rm c", &["cd /a", "cd b in(/a) maybe", "rm c in(/a/b) maybe"]),
        (Posix, "cd /a && cd b && rm c", &["cd /a", "cd b in(/a)", "rm c in(/a/b)"]),
        (
            Posix,
            "cd a && (cd b && rm c); rm d",
            &["cd a", "subshell: cd b in(a)", "subshell: rm c in(a/b)", "rm d in(a) maybe"],
        ),
        (Posix, "(cd a; rm b); rm c", &["subshell: cd a", "subshell: rm b in(a) maybe", "rm c"]),
        (Posix, "cd a | rm b; rm c", &["cd a", "rm b", "rm c"]),
        (Posix, "pushd x && rm a && popd && rm b", &["pushd x", "rm a in(x)", "popd in(x)", "rm b in(?)"]),
        (Posix, "if c; then cd x; fi; rm a", &["c", "conditional: cd x", "rm a in(?) maybe"]),
        (Posix, "env -C x rm a; rm b", &["env: rm a in(x)", "rm b"]),
    ]);
}

#[test]
fn wrappers_are_unwrapped() {
    check(&[
        (Posix, "sudo apt-get remove -y python3", &["sudo: apt-get remove -y python3"]),
        (Posix, "sudo -u root -E A=b rm x", &["sudo: A=b rm x"]),
        (Posix, "sudo bash -c 'rm -rf x && echo done'", &["sudo: bash: rm -rf x", "sudo: bash: echo done"]),
        (Posix, "doas rm x; pkexec rm y", &["doas: rm x", "pkexec: rm y"]),
        (Posix, "su - user -c 'rm x'", &["su: rm x"]),
        (Posix, "nohup timeout -k 5 10 rm x &", &["nohup: timeout: rm x &"]),
        (Posix, "env -i A=b rm x", &["env: A=b rm x"]),
        (Posix, "env -S 'rm -rf x'", &["env: rm -rf x"]),
        (Posix, "nice -n 10 ionice -c2 stdbuf -oL rm x", &["nice: ionice: stdbuf: rm x"]),
        (Posix, "strace -f -o t rm x", &["strace: rm x"]),
        (Posix, "command rm x; builtin cd y; exec rm z", &["command: rm x", "builtin: cd y", "exec: rm z in(y) maybe"]),
        (Posix, "command -v rm", &["command -v rm"]),
        (Posix, "busybox rm -rf x", &["busybox: rm -rf x"]),
        (Posix, "watch -n 5 'rm x'", &["watch: rm x"]),
        (Posix, "flock /tmp/l rm x; flock /tmp/l -c 'rm y'", &["flock: rm x", "flock: rm y"]),
        (
            Posix,
            "npx rimraf x; npm exec rimraf x; uvx x; pnpm dlx y",
            &["npx rimraf x", "npm exec rimraf x", "uvx x", "pnpm dlx y"],
        ),
        (Posix, "poetry run rm x", &["poetry: rm x"]),
        (Posix, "npx tsc --noEmit", &["npx tsc --noEmit"]),
    ]);
}

#[test]
fn shells_in_shells_are_read() {
    check(&[
        (Posix, "bash -c \"rm -rf notes\"", &["bash: rm -rf notes"]),
        (Posix, "bash -c 'rm \"$1\"' _ notes", &["bash: rm notes"]),
        (
            Posix,
            "bash -lc 'rm x'; zsh -c 'rm y'; sh -ec 'rm z'; bash -o pipefail -c 'rm w'",
            &["bash: rm x", "zsh: rm y", "sh: rm z", "bash: rm w"],
        ),
        (Posix, "bash -c \"cd $X && make\"", &["bash: cd $X?", "bash: make in(?)"]),
        (Posix, "eval rm -rf x", &["eval: rm -rf x"]),
        (Posix, "eval \"rm -rf $D\"", &["eval: rm -rf $D?"]),
        (Posix, "trap 'rm -rf tmp' EXIT", &["trap: rm -rf tmp"]),
        (Posix, "trap - EXIT; trap 'rm x' INT TERM", &["trap - EXIT", "trap: rm x"]),
        (Posix, "alias x='rm -rf'; x notes", &["alias 'x=rm -rf'", "rm -rf notes"]),
        (Posix, "alias ll='ls -l'\nll", &["alias 'll=ls -l'", "ls -l"]),
        (Posix, "wsl rm -rf /mnt/c/x", &["wsl: rm -rf /mnt/c/x"]),
        (Posix, "wsl -d Ubuntu -- bash -c 'rm x'", &["wsl: bash: rm x"]),
        (Posix, "cmd.exe /c \"del /q x\"", &["cmd: del /q x"]),
        (Posix, "cmd //c del x", &["cmd: del x"]),
        (
            Posix,
            "powershell.exe -NoProfile -Command \"& { Remove-Item x }\"",
            &["powershell: conditional: Remove-Item x"],
        ),
        (Posix, "pwsh -c 'rm x; rm y'", &["pwsh: rm x", "pwsh: rm y"]),
        (
            Posix,
            "powershell -EncodedCommand UgBlAG0AbwB2AGUALQBJAHQAZQBtACAAeAA=",
            &["powershell -EncodedCommand UgBlAG0AbwB2AGUALQBJAHQAZQBtACAAeAA= code=decoded", "decoded: Remove-Item x"],
        ),
        (Posix, "echo 'rm x' | pwsh -Command -", &["echo 'rm x'", "pwsh -Command - code=literal", "stdin(pwsh): rm x"]),
    ]);
}

#[test]
fn other_machines_are_named() {
    check(&[
        (Posix, "ssh build-host \"ls /var/tmp/rm-old\"", &["remote(build-host): ls /var/tmp/rm-old"]),
        (Posix, "ssh -p 22 -i key user@h rm -rf x", &["remote(user@h): rm -rf x"]),
        (Posix, "ssh h 'cd /x && rm y'", &["remote(h): cd /x", "remote(h): rm y in(/x)"]),
        (Posix, "ssh h <<EOF\nrm x\nEOF", &["ssh h code=literal", "remote(h): rm x"]),
        (Posix, "cd a && ssh h 'rm x'", &["cd a", "remote(h): rm x"]),
        (Posix, "docker exec -it c rm -rf /data", &["container(c): rm -rf /data"]),
        (Posix, "docker exec -u root c sh -c 'rm -rf /x'", &["container(c): sh: rm -rf /x"]),
        (
            Posix,
            "docker run --rm -v /:/x alpine rm -rf /x",
            &["docker run --rm -v /:/x alpine rm -rf /x", "container(alpine): rm -rf /x"],
        ),
        (
            Posix,
            "docker compose exec app rm x; docker-compose run app rm y",
            &["container(app): rm x", "docker-compose run app rm y", "container(app): rm y"],
        ),
        (Posix, "docker compose up -d", &["docker compose up -d"]),
        (Posix, "kubectl exec pod -- rm -rf /x", &["container(pod): rm -rf /x"]),
        (Posix, "kubectl -n ns exec -it pod -c c -- sh -c 'rm x'", &["container(pod): sh: rm x"]),
        (Posix, "tar czf - . | ssh h \"cat > x.tgz\"", &["tar czf - .", "remote(h): cat >x.tgz"]),
    ]);
}

#[test]
fn lists_of_arguments_reach_their_command() {
    check(&[
        (Posix, "echo a b | xargs rm", &["echo a b", "xargs: rm a b"]),
        (Posix, "printf 'a\\0b c\\0' | xargs -0 rm -rf", &["printf 'a\\0b c\\0'", "xargs: rm -rf a 'b c'"]),
        (Posix, "printf 'a\\nb\\n' | xargs -I{} rm -rf {}", &["printf a\\nb\\n", "xargs: rm -rf a", "xargs: rm -rf b"]),
        (Posix, "ls notes | xargs -I{} rm -rf {}/x", &["ls notes", "xargs: rm -rf $ITEM/x?"]),
        (Posix, "find . -name x -print0 | xargs -0 rm", &["find . -name x -print0", "xargs: rm ./**/x"]),
        (Posix, "find . -type f -print0 | xargs -0 rm", &["find . -type f -print0", "xargs: rm {}?{.}"]),
        (Posix, "git ls-files | xargs rm", &["git ls-files", "xargs: rm {}?{.}"]),
        (Posix, "grep -rl foo src | xargs sed -i s/a/b/", &["grep -rl foo src", "xargs: sed -i s/a/b/ {}?{src}"]),
        (Posix, "xargs -a list.txt rm", &["xargs: rm {}?"]),
        (Posix, "cat list.txt | xargs rm -rf", &["cat list.txt", "xargs: rm -rf {}?"]),
        (Posix, "find . -type f | xargs", &["find . -type f", "xargs"]),
        (Posix, "parallel rm ::: a b", &["xargs: rm a b"]),
        (Posix, "parallel 'rm {}' ::: a b", &["xargs: sh: rm a", "xargs: sh: rm b"]),
        (Posix, "ls | parallel rm", &["ls", "xargs: rm {}?"]),
    ]);
}

#[test]
fn find_runs_its_commands() {
    check(&[
        (Posix, "find notes -delete", &["find notes -delete", "findexec: rm -r {}?{notes}"]),
        (Posix, "find . -name '*.pyc' -delete", &["find . -name *.pyc -delete", "findexec: rm -r ./**/*.pyc"]),
        (Posix, "find . -name x -o -name y -delete", &["find . -name x -o -name y -delete", "findexec: rm -r ./**/y"]),
        (
            Posix,
            "find notes -name '*.md' -exec rm {} \\;",
            &["find notes -name *.md -exec rm {} ';'", "findexec: rm notes/**/*.md"],
        ),
        (
            Posix,
            "find a b -type f -exec sh -c 'rm \"$1\"' _ {} \\;",
            &["find a b -type f -exec sh -c 'rm \"$1\"' _ {} ';'", "findexec: sh: rm {}?{a,b}"],
        ),
        (
            Posix,
            "find . -type f -execdir mv {} {}.bak +",
            &["find . -type f -execdir mv {} {}.bak +", "findexec: mv {}?{.} $ITEM.bak?"],
        ),
        (Posix, "find $X -exec rm {} +", &["find $X? -exec rm {} +", "findexec: rm {}?"]),
        (
            Posix,
            "find . -exec rm {} \\; -o -delete",
            &["find . -exec rm {} ';' -o -delete", "findexec: rm {}?{.}", "findexec: rm -r {}?{.}"],
        ),
        (Posix, "fd -e pyc -x rm", &["fd -e pyc -x rm", "findexec: rm {}?{.}"]),
    ]);
}

#[test]
fn code_on_standard_input_has_a_source() {
    check(&[
        (
            Posix,
            "git log && curl https://get.example.net/x | sh",
            &["git log", "curl https://get.example.net/x", "sh code=downloaded"],
        ),
        (Posix, "wget -qO- x | bash", &["wget -qO- x", "bash code=downloaded"]),
        (Posix, "curl x | tee i.sh | sh", &["curl x", "tee i.sh", "sh code=downloaded"]),
        (Posix, "curl x | sudo bash", &["curl x", "sudo: bash code=downloaded"]),
        (Posix, "curl x | sudo -E bash -", &["curl x", "sudo: bash - code=downloaded"]),
        (Posix, "curl x | tar xz", &["curl x", "tar xz"]),
        (
            Posix,
            "curl -s https://api.example.net/v1/items | jq .",
            &["curl -s https://api.example.net/v1/items", "jq ."],
        ),
        (Posix, "cat a.sh | bash", &["cat a.sh", "bash code=computed"]),
        (Posix, "bash a.sh; ./a.sh; bash < a.sh", &["bash a.sh", "./a.sh", "bash <a.sh"]),
        (Posix, "echo 'rm -rf /' | sh", &["echo 'rm -rf /'", "sh code=literal", "stdin(sh): rm -rf /"]),
        (Posix, "cat <<EOF | sh\nrm -rf a\nEOF", &["cat", "sh code=literal", "stdin(sh): rm -rf a"]),
        (Posix, "bash <<EOF\nrm -rf notes\nEOF", &["bash code=literal", "stdin(bash): rm -rf notes"]),
        (Posix, "sh <<< \"rm -rf a\"", &["sh code=literal", "stdin(sh): rm -rf a"]),
        (Posix, "printf '\\x72\\x6d x' | sh", &["printf '\\x72\\x6d x'", "sh code=literal", "stdin(sh): rm x"]),
        (Posix, "curl x | python3", &["curl x", "python3 code=downloaded"]),
        (Posix, "curl x | python3 -m json.tool", &["curl x", "python3 -m json.tool"]),
        (Posix, "cat x.py | python", &["cat x.py", "python code=computed"]),
        (Posix, "yes | npx create-thing demo", &["yes", "npx create-thing demo"]),
    ]);
}

#[test]
fn code_that_is_computed_has_a_source() {
    check(&[
        (
            Posix,
            "bash <(curl -s https://x)",
            &["substitution: curl -s https://x", "bash '<(curl -s https://x)'? code=downloaded"],
        ),
        (
            Posix,
            "sh -c \"$(curl -fsSL https://x)\"",
            &[
                "substitution: curl -fsSL https://x",
                "sh: substitution: curl -fsSL https://x",
                "sh: '$(curl -fsSL https://x)'? code=downloaded",
                "sh -c '$(curl -fsSL https://x)'? code=downloaded",
            ],
        ),
        (
            Posix,
            "eval \"$(curl x)\"",
            &[
                "substitution: curl x",
                "eval: substitution: curl x",
                "eval: '$(curl x)'? code=downloaded",
                "eval '$(curl x)'? code=downloaded",
            ],
        ),
        (
            Posix,
            "eval \"$(ssh-agent -s)\"",
            &[
                "substitution: ssh-agent -s",
                "eval: substitution: ssh-agent -s",
                "eval: '$(ssh-agent -s)'? code=setup",
                "eval '$(ssh-agent -s)'? code=setup",
            ],
        ),
        (Posix, "source <(curl x)", &["substitution: curl x", "source '<(curl x)'? code=downloaded"]),
        (
            Posix,
            "python -c \"$(curl x)\"",
            &["substitution: curl x", "python -c '$(curl x)'? code=downloaded lang=python"],
        ),
        (Posix, "python -c \"$CODE\"", &["python -c $CODE? code=computed lang=python"]),
        (
            Posix,
            "X=$(curl y); eval \"$X\"",
            &[
                "substitution: curl y",
                "eval: substitution: curl y",
                "eval: '$(curl y)'? code=downloaded",
                "eval '$(curl y)'? code=downloaded",
            ],
        ),
        (Posix, "$(curl x)", &["substitution: curl x", "'$(curl x)'? code=downloaded"]),
    ]);
}

#[test]
fn a_downloaded_file_that_is_run_is_known_as_such() {
    check(&[
        (
            Posix,
            "curl -fsSL https://x.sh -o x.sh && sh x.sh",
            &["curl -fsSL https://x.sh -o x.sh", "sh x.sh code=downloaded"],
        ),
        (Posix, "wget https://x/i.sh; bash i.sh", &["wget https://x/i.sh", "bash i.sh code=downloaded"]),
        (Posix, "curl x > i.sh; chmod +x i.sh; ./i.sh", &["curl x >i.sh", "chmod +x i.sh", "./i.sh code=downloaded"]),
        (Posix, "curl x > data.json; cat data.json", &["curl x >data.json", "cat data.json"]),
    ]);
}

#[test]
fn decoded_code_is_read_decoded() {
    check(&[
        (
            Posix,
            "echo cm0gLXJmIH4K | base64 -d | bash",
            &["echo cm0gLXJmIH4K", "base64 -d", "bash code=decoded", "decoded: rm -rf ~"],
        ),
        (Posix, "base64 -d <<< cm0gLXJmIH4K | sh", &["base64 -d", "sh code=decoded", "decoded: rm -rf ~"]),
        (
            Posix,
            "echo cm0gLXJmIH4K | base64 --decode > a.sh; sh a.sh",
            &["echo cm0gLXJmIH4K", "base64 --decode >a.sh", "sh a.sh code=decoded", "script(\"a.sh\"): rm -rf ~"],
        ),
        (
            Posix,
            "eval \"$(echo cm0gLXJmIH4K | base64 -d)\"",
            &[
                "substitution: echo cm0gLXJmIH4K",
                "substitution: base64 -d",
                "eval: decoded: rm -rf ~",
                "eval 'rm -rf ~' code=decoded",
            ],
        ),
        (
            Posix,
            "bash -c \"$(echo cm0gLXJmIH4K | base64 -d)\"",
            &[
                "substitution: echo cm0gLXJmIH4K",
                "substitution: base64 -d",
                "bash: decoded: rm -rf ~",
                "bash -c 'rm -rf ~' code=decoded",
            ],
        ),
        (
            Posix,
            "echo 726d202d7266207e | xxd -r -p | sh",
            &["echo 726d202d7266207e", "xxd -r -p", "sh code=decoded", "decoded: rm -rf ~"],
        ),
        (Posix, "cat x.b64 | base64 -d | sh", &["cat x.b64", "base64 -d", "sh code=decoded"]),
        (Posix, "echo hello | base64", &["echo hello", "base64"]),
    ]);
}

#[test]
fn python_calls_become_commands() {
    check(&[
        (Posix, "python -c \"print('rm -rf /')\"", &["python -c 'print('rm -rf /')' lang=python"]),
        (
            Posix,
            "python3 -c \"import shutil; shutil.rmtree('notes')\"",
            &["python3 -c 'import shutil; shutil.rmtree('notes')' lang=python", "inline(python): rm -r notes"],
        ),
        (
            Posix,
            "python3 -c \"import os; os.remove('notes/draft.md')\"",
            &["python3 -c 'import os; os.remove('notes/draft.md')' lang=python", "inline(python): rm notes/draft.md"],
        ),
        (
            Posix,
            "python -c \"from shutil import rmtree as r; r('a')\"",
            &["python -c 'from shutil import rmtree as r; r('a')' lang=python", "inline(python): rm -r a"],
        ),
        (
            Posix,
            "python -c \"import os as o; o.unlink('a'); o.system('rm -rf b')\"",
            &[
                "python -c 'import os as o; o.unlink('a'); o.system('rm -rf b')' lang=python",
                "inline(python): rm a",
                "inline(python): sh: rm -rf b",
            ],
        ),
        (
            Posix,
            "python -c \"from pathlib import Path; Path('a').unlink(); (Path('a')/'b').unlink(); Path('x').write_text('y')\"",
            &[
                "python -c 'from pathlib import Path; Path('a').unlink(); (Path('a')/'b').unlink(); Path('x').write_text('y')' lang=python",
                "inline(python): rm a",
                "inline(python): rm a/b",
                "inline(python): >x",
            ],
        ),
        (
            Posix,
            "python -c \"open('a','w').write('x'); open('b').read(); open('c', mode='a')\"",
            &[
                "python -c 'open('a','w').write('x'); open('b').read(); open('c', mode='a')' lang=python",
                "inline(python): >a",
                "inline(python): <b",
                "inline(python): >>c",
            ],
        ),
        (
            Posix,
            "python -c \"import subprocess; subprocess.run(['rm','-rf','x']); subprocess.check_output('rm y', shell=True)\"",
            &[
                "python -c 'import subprocess; subprocess.run(['rm','-rf','x']); subprocess.check_output('rm y', shell=True)' lang=python",
                "inline(python): rm -rf x",
                "inline(python): sh: rm y",
            ],
        ),
        (
            Posix,
            "python -c \"__import__('os').system('rm -rf x')\"",
            &["python -c '__import__('os').system('rm -rf x')' lang=python!", "inline(python): sh: rm -rf x"],
        ),
        (
            Posix,
            "python -c \"import os; getattr(os,'remove')('x')\"",
            &["python -c 'import os; getattr(os,'remove')('x')' lang=python!"],
        ),
        (
            Posix,
            "python -c \"exec(open('x').read())\"",
            &["python -c exec(open('x').read()) lang=python", "inline(python): python3 x", "inline(python): <x"],
        ),
        (
            Posix,
            "python - <<'EOF'\nimport glob, os\n# os.remove('no')\nfor f in glob.glob('notes/*.md'):\n    os.remove(f)\np = 'build'\nimport shutil\nshutil.rmtree(p)\ns = \"\"\"os.remove('no2')\"\"\"\nEOF",
            &["python - code=literal lang=python", "inline(python): rm notes/*.md", "inline(python): rm -r build"],
        ),
        (
            Posix,
            "python -c \"import os,sys; os.remove(sys.argv[1])\" notes",
            &["python -c 'import os,sys; os.remove(sys.argv[1])' notes lang=python", "inline(python): rm notes"],
        ),
        (
            Posix,
            "python -c 'import json; d={\"a\":1}; d.pop(\"a\"); x=[1]; x.remove(1); \"a\".replace(\"a\",\"b\")'",
            &[
                "python -c 'import json; d={\"a\":1}; d.pop(\"a\"); x=[1]; x.remove(1); \"a\".replace(\"a\",\"b\")' lang=python",
            ],
        ),
        (
            Posix,
            "python -c \"import os; os.remove('$UNK')\"",
            &["python -c 'import os; os.remove('$UNK')'? lang=python", "inline(python): rm $UNK?"],
        ),
        (
            Posix,
            "python -c \"import shutil; shutil.rmtree(os.path.expanduser('~/x')); shutil.move('a','b')\"",
            &[
                "python -c 'import shutil; shutil.rmtree(os.path.expanduser('~/x')); shutil.move('a','b')' lang=python",
                "inline(python): rm -r ~/x",
                "inline(python): mv a b",
            ],
        ),
        (
            Posix,
            "python3 -c \"import torch; m.eval(); getattr(torch,'__version__')\"",
            &["python3 -c 'import torch; m.eval(); getattr(torch,'__version__')' lang=python"],
        ),
        (
            Posix,
            "echo \"import os; os.remove('x')\" | python3",
            &["echo 'import os; os.remove('x')'", "python3 code=literal lang=python", "inline(python): rm x"],
        ),
        (
            Posix,
            "uv run python -c \"import os; os.remove('x')\"",
            &["uv: python -c 'import os; os.remove('x')' lang=python", "uv: inline(python): rm x"],
        ),
        (Posix, "python3 -m http.server 8000 --bind 127.0.0.1", &["python3 -m http.server 8000 --bind 127.0.0.1"]),
        (Posix, "cat > x.py <<'EOF'\nimport os; os.remove('x')\nEOF", &["cat >x.py"]),
    ]);
}

#[test]
fn other_languages_calls_become_commands() {
    check(&[
        (
            Posix,
            "node -e \"require('fs').rmSync('x',{recursive:true,force:true})\"",
            &["node -e require('fs').rmSync('x',{recursive:true,force:true}) lang=node", "inline(node): rm -rf x"],
        ),
        (
            Posix,
            "node -e \"const fs=require('fs'); fs.unlinkSync('a'); fs.writeFileSync('b','c'); fs.promises.rm('q')\"",
            &[
                "node -e 'const fs=require('fs'); fs.unlinkSync('a'); fs.writeFileSync('b','c'); fs.promises.rm('q')' lang=node",
                "inline(node): rm a",
                "inline(node): >b",
                "inline(node): rm q",
            ],
        ),
        (
            Posix,
            "node -e \"const {rmSync: r, unlinkSync} = require('node:fs'); r('a'); unlinkSync('b')\"",
            &[
                "node -e 'const {rmSync: r, unlinkSync} = require('node:fs'); r('a'); unlinkSync('b')' lang=node",
                "inline(node): rm a",
                "inline(node): rm b",
            ],
        ),
        (
            Posix,
            "node -e \"require('child_process').execSync('rm -rf x'); require('child_process').spawn('rm',['-rf','y'])\"",
            &[
                "node -e 'require('child_process').execSync('rm -rf x'); require('child_process').spawn('rm',['-rf','y'])' lang=node",
                "inline(node): sh: rm -rf x",
                "inline(node): rm -rf y",
            ],
        ),
        (Posix, "node --eval=\"console.log('fs.rmSync(1)')\"", &["node --eval=console.log('fs.rmSync(1)') lang=node"]),
        (
            Posix,
            "node -e \"/rm -rf/.exec('x'); eval(atob('x'))\"",
            &["node -e '/rm -rf/.exec('x'); eval(atob('x'))' lang=node!"],
        ),
        (
            Posix,
            "node -e \"require('rimraf').sync('x')\"",
            &["node -e require('rimraf').sync('x') lang=node", "inline(node): rm -rf x"],
        ),
        (Posix, "node scripts/gen.js > src/gen.ts", &["node scripts/gen.js >src/gen.ts"]),
        (
            Posix,
            "deno eval \"Deno.removeSync('x')\"",
            &["deno eval Deno.removeSync('x') lang=deno", "inline(deno): rm -rf x"],
        ),
        (
            Posix,
            "perl -e 'unlink \"a\",\"b\"; system(\"rm -rf x\"); `rm y`; print \"unlink z\"'",
            &[
                "perl -e 'unlink \"a\",\"b\"; system(\"rm -rf x\"); `rm y`; print \"unlink z\"' lang=perl",
                "inline(perl): rm a b",
                "inline(perl): sh: rm -rf x",
                "inline(perl): sh: rm y",
            ],
        ),
        (Posix, "perl -pi -e 's/a/b/' f.txt", &["perl -pi -e s/a/b/ f.txt lang=perl"]),
        (
            Posix,
            "perl -e 'use File::Path; rmtree(\"x\"); open(F, \">\", \"o\"); unlink glob(\"*.x\");'",
            &[
                "perl -e 'use File::Path; rmtree(\"x\"); open(F, \">\", \"o\"); unlink glob(\"*.x\");' lang=perl",
                "inline(perl): rm -r x",
                "inline(perl): >o",
                "inline(perl): rm *.x",
            ],
        ),
        (
            Posix,
            "ruby -e \"File.delete('a'); FileUtils.rm_rf 'b'; system('rm c'); puts 'rm d'\"",
            &[
                "ruby -e 'File.delete('a'); FileUtils.rm_rf 'b'; system('rm c'); puts 'rm d'' lang=ruby",
                "inline(ruby): rm a",
                "inline(ruby): rm -rf b",
                "inline(ruby): sh: rm c",
            ],
        ),
        (
            Posix,
            "ruby -rfileutils -e 'FileUtils.rm_rf(\"x\")'",
            &["ruby -rfileutils -e FileUtils.rm_rf(\"x\") lang=ruby", "inline(ruby): rm -rf x"],
        ),
        (
            Posix,
            "php -r 'unlink(\"a\"); file_put_contents(\"b\", 1); exec(\"rm c\");'",
            &[
                "php -r 'unlink(\"a\"); file_put_contents(\"b\", 1); exec(\"rm c\");' lang=php",
                "inline(php): rm a",
                "inline(php): >b",
                "inline(php): sh: rm c",
            ],
        ),
        (Posix, "awk '{print $1}' f", &["awk '{print $1}' f lang=awk"]),
        (
            Posix,
            "awk 'BEGIN{system(\"rm -rf x\")}'",
            &["awk 'BEGIN{system(\"rm -rf x\")}' lang=awk", "inline(awk): sh: rm -rf x"],
        ),
        (Posix, "awk '{print > \"out.txt\"}' f", &["awk '{print > \"out.txt\"}' f lang=awk", "inline(awk): >out.txt"]),
        (Posix, "awk '$1 > 5 {print \"x\"}' f", &["awk '$1 > 5 {print \"x\"}' f lang=awk"]),
        (
            Posix,
            "osascript -e 'do shell script \"rm -rf x\"'",
            &["osascript -e 'do shell script \"rm -rf x\"' lang=osascript", "inline(osascript): sh: rm -rf x"],
        ),
    ]);
}

#[test]
fn powershell_is_read() {
    check(&[
        (
            PowerShell,
            "Remove-Item -Recurse -Force 'C:\\Users\\x'; rm -r y | Out-Null",
            &["Remove-Item -Recurse -Force C:\\Users\\x", "rm -r y", "Out-Null"],
        ),
        (
            PowerShell,
            "Get-ChildItem x | ForEach-Object { Remove-Item $_.FullName }",
            &["Get-ChildItem x", "loop: Remove-Item $_.FullName?", "ForEach-Object '{ Remove-Item $_.FullName }'?"],
        ),
        (PowerShell, "$p = 'notes'; Remove-Item $p -Recurse", &["Remove-Item notes -Recurse"]),
        (PowerShell, "$x = Get-Content a; Remove-Item $x", &["Get-Content a", "Remove-Item $x?"]),
        (PowerShell, "iwr https://x | iex", &["iwr https://x", "iex code=downloaded"]),
        (
            PowerShell,
            "iex (iwr https://x).Content",
            &["substitution: iwr https://x", "iex '(iwr https://x).Content'? code=downloaded"],
        ),
        (
            PowerShell,
            "iex ((New-Object System.Net.WebClient).DownloadString('https://x'))",
            &[
                "substitution: substitution: New-Object System.Net.WebClient",
                "iex '((New-Object System.Net.WebClient).DownloadString('https://x'))'? code=downloaded",
            ],
        ),
        (PowerShell, "Remove-Item \"$env:USERPROFILE\\x\"", &["Remove-Item ~\\x"]),
        (PowerShell, "[System.IO.File]::Delete('a.txt')", &["rm a.txt"]),
        (PowerShell, "(Get-Item x).Delete()", &["substitution: Get-Item x", "rm '(Get-Item x).Delete'?"]),
        (
            PowerShell,
            "if (Test-Path x) { Remove-Item x } else { del y }",
            &["substitution: Test-Path x", "conditional: Remove-Item x", "conditional: del y"],
        ),
        (
            PowerShell,
            "foreach ($f in Get-ChildItem) { Remove-Item $f }",
            &["substitution: Get-ChildItem", "loop: Remove-Item $f?"],
        ),
        (PowerShell, "function F { Remove-Item x }; F", &["conditional: Remove-Item x", "F"]),
        (PowerShell, "Set-Location src; Remove-Item a", &["Set-Location src", "Remove-Item a in(src) maybe"]),
        (PowerShell, "git push --force; echo \"rm -rf x\" > a.txt", &["git push --force", "echo 'rm -rf x' >a.txt"]),
        (PowerShell, "Write-Host 'Remove-Item x'", &["Write-Host 'Remove-Item x'"]),
        (PowerShell, "& 'C:\\x\\rm.exe' -rf y", &["C:\\x\\rm.exe -rf y"]),
        (
            PowerShell,
            "Start-Process powershell -Verb RunAs -ArgumentList 'x'",
            &["runas: Start-Process powershell -Verb RunAs -ArgumentList x"],
        ),
        (PowerShell, "Remove-Item (Join-Path a b)", &["substitution: Join-Path a b", "Remove-Item '(Join-Path a b)'?"]),
        (PowerShell, "Remove-Item -Path \"a b\",\"c\"", &["Remove-Item -Path 'a b' c"]),
        (PowerShell, "Get-Content a | Set-Content b", &["Get-Content a", "Set-Content b"]),
        (PowerShell, "try { rm x } catch { Write-Host 'no' }", &["conditional: rm x", "conditional: Write-Host no"]),
        (PowerShell, "Remove-It`em x", &["Remove-Item x"]),
        (PowerShell, "rm 'it''s'", &["rm it's"]),
        (PowerShell, "rm x 2>$null; echo a *> b", &["rm x >$null", "echo a >b"]),
        (PowerShell, "# rm x\n<# rm y #> rm z", &["rm z"]),
        (PowerShell, "bash -c 'rm x'", &["bash: rm x"]),
    ]);
}

#[test]
fn cmd_is_read() {
    check(&[
        (Cmd, "del /s /q C:\\x & rd /s y && echo hi > out.txt", &["del /s /q C:\\x", "rd /s y", "echo hi >out.txt"]),
        (Cmd, "if exist x (del x) else (rd y)", &["del x", "rd y"]),
        (Cmd, "if not exist x del y", &["del y"]),
        (Cmd, "for %i in (*.txt) do del %i", &["del %i?"]),
        (Cmd, "set P=notes& rd /s /q %P%", &["set P=notes", "rd /s /q notes"]),
        (Cmd, "del \"%USERPROFILE%\\x\"", &["del ~\\x"]),
        (Cmd, "powershell -c \"Remove-Item x\"", &["powershell: Remove-Item x"]),
        (Cmd, "cd /d D:\\x && del y", &["cd /d D:\\x", "del y in(D:/x) maybe"]),
        (Cmd, "@echo off\nrem del x\n:: del y\ndel z", &["echo off", "del z"]),
        (Cmd, "d^el x", &["del x"]),
        (Cmd, "echo \"a & del b\"", &["echo 'a & del b'"]),
        (Cmd, "call del x", &["del x"]),
        (Cmd, "type a | more >> b", &["type a", "more >>b"]),
    ]);
}

#[test]
fn text_that_cannot_be_read_still_gives_commands() {
    check(&[
        (Posix, "echo \"unclosed; rm -rf notes", &["echo unclosed", "rm -rf notes", "! SyntaxError"]),
        (Posix, "rm x; }", &["rm x", "! SyntaxError"]),
        (Posix, ") rm x", &["rm x", "! SyntaxError"]),
        (Posix, "rm 'x", &["rm x", "! SyntaxError"]),
        (Posix, "rm \"x $(rm y", &["rm x", "rm y", "! SyntaxError"]),
        (Posix, "rm x; cat <<EOF\nrm y", &["rm x", "cat", "! SyntaxError"]),
        (Posix, "if true; then rm x", &["true", "rm x", "! SyntaxError"]),
        (Posix, "for x in a b; do rm $x", &["rm $x?", "! SyntaxError"]),
        (Posix, "D=notes; rm -rf $D; fi", &["rm -rf $D?", "! SyntaxError"]),
        (Posix, "cd x; rm y; fi", &["cd x", "rm y in(?) maybe", "! SyntaxError"]),
        (Posix, "echo $(case x in a) rm y;; esac)", &["echo '$(case x in a)'? rm y", "! SyntaxError"]),
        (Posix, "select f in a b; do rm $f; done", &["rm $f?", "! SyntaxError"]),
        (Posix, "echo 1 > 99999999999>x", &["echo 1 >x", "! SyntaxError"]),
        (Posix, "bash -c \"rm -rf x", &["bash -c", "rm -rf x", "! SyntaxError"]),
        (Posix, "sudo rm x )", &["sudo: rm x", "! SyntaxError"]),
        (Posix, "ssh h 'rm x", &["ssh h", "rm x", "! SyntaxError"]),
    ]);
}

#[test]
fn the_grammar_of_bash_is_covered() {
    check(&[
        (Posix, "shopt -s extglob; rm !(*.md)", &["shopt -s extglob", "rm !(*.md)"]),
        (Posix, "rm +(a|b)*", &["rm '+(a|b)*'"]),
        (Posix, "coproc { rm x; }", &["subshell: rm x &"]),
        (Posix, "a=([0]=x [1]=y); rm ${a[1]}", &["rm y"]),
        (Posix, "declare -A m=([k]=v); echo ${m[k]}", &["declare -A m?", "echo ${m[k]}?"]),
        (Posix, "a+=(z); rm ${a[@]}", &["rm $a?"]),
        (
            Posix,
            "case x in a) rm a ;& b) rm b ;;& c) rm c ;; esac",
            &["conditional: rm a", "conditional: rm b", "conditional: rm c"],
        ),
        (Posix, "if [[ $x =~ ^a(b|c)$ ]]; then rm x; fi", &["conditional: rm x"]),
        (Posix, "for i in \"${a[@]}\"; do rm \"$i\"; done", &["loop: rm ${a[@]}?"]),
        (Posix, "for f; do rm \"$f\"; done", &["loop: rm $@?"]),
        (Posix, "for f in a b\ndo\n  rm $f\ndone", &["loop: rm a", "loop: rm b"]),
        (
            Posix,
            "while IFS= read -r line; do echo \"$line\"; done < <(find . -name x)",
            &[
                "substitution: find . -name x",
                "<'<(find . -name x)'?{.}",
                "loop: IFS='' read -r line",
                "loop: echo $line?{.}",
            ],
        ),
        (Posix, "cat <<\"EOF\"\na\nEOF", &["cat"]),
        (Posix, "cat <<\\EOF\n$(rm x)\nEOF", &["cat"]),
        (Posix, "cmd <<A <<B\n1\nA\n2\nB", &["cmd"]),
        (Posix, "f () { echo; }\nf", &["f(): echo"]),
        (Posix, "function f() { rm x; }; f", &["f(): rm x"]),
        (Posix, "function f\n{ rm x; }\nf", &["f(): rm x"]),
        (Posix, "f() if true; then rm x; fi; f", &["f(): true", "f(): conditional: rm x"]),
        (Posix, "x=$(cat <<EOF\na\nEOF\n)", &["substitution: cat"]),
        (Posix, "echo $((a>b?1:2)) $[1+1]", &["echo $((a>b?1:2))?{.} $[1+1]"]),
        (Posix, "((a=1,b=2)) && rm x", &["rm x"]),
        (Posix, "let i++; rm x", &["let i++", "rm x"]),
        (Posix, "[[ -n $a && ( $b == c || $d ) ]] && rm x", &["rm x"]),
        (
            Posix,
            "echo \"${a[*]}\" ${a:0:3} ${a/#x/y} ${!a[@]} ${a@Q} ${#a} ${a^^}",
            &["echo ${a[*]}? ${a:0:3}? ${a/#x/y}? ${!a[@]}? ${a@Q}? ${#a}?{.} ${a^^}?"],
        ),
        (Posix, "echo a >&2; exec 3<>f; exec 3>&-; echo b >&3", &["echo a", "exec <>f", "exec", "echo b"]),
        (Posix, "{ echo a; } 2>&1 | tee log", &["echo a", "tee log"]),
        (Posix, "time { rm x; }", &["rm x"]),
        (Posix, "! { rm x; }", &["rm x"]),
        (Posix, "rm x &> /dev/null &", &["rm x >/dev/null &"]),
        (Posix, "rm x &>> log", &["rm x >>log"]),
        (Posix, "cat < a > b", &["cat <a >b"]),
        (Posix, "<a cat", &["cat <a"]),
        (Posix, ">b cat", &["cat >b"]),
        (Posix, "A=1 B=2 >c cmd d", &["A=1 B=2 cmd d >c"]),
        (Posix, "if true; then rm x; fi > log 2>&1", &[">log", "true", "conditional: rm x"]),
        (Posix, "until false; do break; done", &["loop: false", "loop: break"]),
        (Posix, "echo {a..e} {1..10..2} {01..03}", &["echo a b c d e 1 3 5 7 9 01 02 03"]),
        (Posix, "echo \"a\\\"b\" 'c' $'d\\'e'", &["echo a\"b c d'e"]),
        (Posix, "echo a\\ b", &["echo 'a b'"]),
        (Posix, "# only a comment", &[]),
        (Posix, "echo a # b'c", &["echo a"]),
        (Posix, "echo a#b", &["echo a#b"]),
        (
            Posix,
            "echo `echo \\`rm x\\``",
            &["substitution: substitution: rm x", "substitution: echo '`rm x`'?", "echo '`echo \\`rm x\\``'?"],
        ),
        (
            Posix,
            "test \"$(ls | wc -l)\" -gt 3 && rm x",
            &["substitution: ls", "substitution: wc -l", "test '$(ls | wc -l)'? -gt 3", "rm x"],
        ),
        (Posix, "(( $(date +%s) > 1 )) && rm x", &["substitution: date +%s", "rm x"]),
        (Posix, "set -euo pipefail\ncd x\nrm y", &["set -euo pipefail", "cd x", "rm y in(x)"]),
        (Posix, "if ! command -v jq &>/dev/null; then rm x; fi", &["command -v jq >/dev/null", "conditional: rm x"]),
        (
            Posix,
            "for d in */; do (cd \"$d\" && git pull); done",
            &["loop: subshell: cd */", "loop: subshell: git pull in(?)"],
        ),
        (
            Posix,
            "git log --format='%h %s' | while read h s; do echo $h; done",
            &["git log '--format=%h %s'", "loop: read h s", "loop: echo $h?"],
        ),
        (Posix, "export PATH=\"$HOME/bin:$PATH\"", &["export PATH=~/bin:$PATH?"]),
        (Posix, "[ \"$a\" = \"b\" ] && { rm x; exit 1; }", &["[ $a? = b ]", "rm x", "exit 1"]),
        (Posix, "sed -i 's/a(b)/c/' x; rm y", &["sed -i s/a(b)/c/ x", "rm y"]),
        (Posix, "awk -F: '{ if ($1 ~ /a/) print $2 }' f", &["awk -F: '{ if ($1 ~ /a/) print $2 }' f lang=awk"]),
        (Posix, "jq '.a[] | select(.b == \"c\")' f.json", &["jq '.a[] | select(.b == \"c\")' f.json"]),
        (Posix, "rg \"fn \\w+\\(\" src", &["rg 'fn \\w+\\(' src"]),
        (Posix, "psql -c \"select * from a where b = 'c'\"", &["psql -c 'select * from a where b = 'c''"]),
        (Posix, "docker ps -q | xargs -r docker rm -f", &["docker ps -q", "xargs: docker rm -f {}?"]),
        (
            Posix,
            "curl -X POST -d '{\"a\": {\"b\": [1,2]}}' http://x",
            &["curl -X POST -d '{\"a\": {\"b\": [1,2]}}' http://x"],
        ),
        (Posix, "echo \"$(date): done\" >> log", &["substitution: date", "echo '$(date): done'? >>log"]),
        (Posix, "x=\"a b\"; echo ${x// /_}", &["echo a_b"]),
        (Posix, "printf '%s\\n' \"${a[@]}\"", &["printf %s\\n ${a[@]}?"]),
        (Posix, "trap \"rm -f $T\" EXIT", &["trap: rm -f $T?"]),
        (Posix, "kill %1; wait $!; jobs", &["kill %1", "wait $!?", "jobs"]),
        (Posix, "ls -la {src,test}/**/*.ts", &["ls -la src/**/*.ts test/**/*.ts"]),
        (Posix, "echo ${x:=$(rm y)}", &["substitution: rm y", "echo '$(rm y)'?"]),
        (
            Posix,
            "npm run build && (npm test || true); echo $?",
            &["npm run build", "subshell: npm test", "subshell: true", "echo $??"],
        ),
        (Posix, "echo a |\n grep b", &["echo a", "grep b"]),
        (Posix, "echo a &&\n rm b", &["echo a", "rm b"]),
        (Posix, "if a; then\n # comment\n rm b\nfi", &["a", "conditional: rm b"]),
        (Posix, "case $x in (a) rm a;; esac", &["conditional: rm a"]),
        (Posix, "foo() { local x=$1; shift; rm \"$@\"; }; foo a b c", &["foo(): local x=a", "foo(): rm b c"]),
        (Posix, "eval 'f() { rm x; }'; f", &["f(): rm x"]),
        (Posix, "source ./env.sh && rm $X", &["source ./env.sh", "rm $X?"]),
        (Posix, "cat <<EOF\nit's $(echo \"q)\") fine\nEOF\nrm x", &["substitution: echo q)", "cat", "rm x"]),
        (Posix, "echo $(echo ')')", &["substitution: echo )", "echo )"]),
        (Posix, "echo \"$(echo ')' \"a\")\" ; rm x", &["substitution: echo ) a", "echo ') a'", "rm x"]),
        (Posix, "echo ${x:-')'} ; rm y", &["echo )", "rm y"]),
        (
            Posix,
            "diff <(sort a) <(sort b) | head",
            &["substitution: sort a", "substitution: sort b", "diff '<(sort a)'? '<(sort b)'?", "head"],
        ),
        (Posix, "exec bash -c 'rm x'", &["exec: bash: rm x"]),
        (Posix, "yes | rm -i x", &["yes", "rm -i x"]),
        (
            Posix,
            "rm -rf -- \"$(dirname \"$0\")/x\"",
            &["substitution: dirname $0?", "rm -rf -- '$(dirname \"$0\")/x'?"],
        ),
        (
            Posix,
            "for f in {01..03} {10..1..4}; do rm $f; done",
            &["loop: rm 01", "loop: rm 02", "loop: rm 03", "loop: rm 10", "loop: rm 6", "loop: rm 2"],
        ),
        (
            Posix,
            "mapfile -t a < <(find notes -type f); for f in \"${a[@]}\"; do rm \"$f\"; done",
            &[
                "substitution: find notes -type f",
                "mapfile -t a <'<(find notes -type f)'?{notes}",
                "loop: rm $a?{notes}",
            ],
        ),
    ]);
}

#[test]
fn known_gaps_stay_careful() {
    check(&[
        (
            Posix,
            "rm -rf \"$(cat a)/$(cat b)\"",
            &["substitution: cat a", "substitution: cat b", "rm -rf '$(cat a)/$(cat b)'?"],
        ),
        (Posix, "sh -c \"rm -rf '$X'\"", &["sh: rm -rf $X?"]),
        (Posix, "while read -a x; do rm ${x[0]}; done", &["loop: read -a x", "loop: rm ${x[0]}?"]),
        (Posix, "rm $((1+1))", &["rm $((1+1))?{.}"]),
        (Posix, "bash -c \"$CMD\"", &["bash: $CMD?", "bash -c $CMD? code=computed"]),
        (Posix, "$CMD --force", &["$CMD? --force"]),
        (Posix, "xargs rm < list.txt", &["xargs: rm {}? <list.txt"]),
        (Posix, "find . | xargs sh -c 'rm \"$@\"' _", &["find .", "xargs: sh: rm {}?{.}"]),
        (
            Posix,
            "env $(cat .env | xargs) npm start",
            &["substitution: cat .env", "substitution: xargs", "env: npm start"],
        ),
        (Posix, "ssh \"$HOST\" rm -rf /x", &["remote($HOST): rm -rf /x"]),
        (Posix, "sudo $CMD", &["sudo: $CMD?"]),
        (Posix, "rm -rf \"${DIR}\"/../x", &["rm -rf ${DIR}/../x?"]),
        (Posix, "tee out.txt < in.txt", &["tee out.txt <in.txt"]),
        (Posix, "PATH=/x:$PATH make", &["PATH=/x:$PATH? make"]),
        (Posix, "find . -exec sh -c \"rm '{}'\" \\;", &["find . -exec sh -c 'rm '{}'' ';'", "findexec: sh: rm $ITEM?"]),
        (Posix, "bash <<EOF\nrm '$X'\nEOF", &["bash code=computed", "stdin(bash): rm $X?"]),
        (Posix, "X=a; sh -c \"rm -rf '$X'\"", &["sh: rm -rf a"]),
        (Posix, "powershell -c \"Remove-Item '$X'\"", &["powershell: Remove-Item $X?"]),
        (Posix, "cmd /c \"del $X\"", &["cmd: del $X?"]),
        (Posix, "eval \"rm '$X'\"", &["eval: rm $X?"]),
        (Posix, "ssh h \"rm '$X'\"", &["remote(h): rm $X?"]),
    ]);
}

#[test]
fn a_command_is_seen_through_its_disguise() {
    check(&[
        (Posix, "a=rm; $a -rf notes", &["rm -rf notes"]),
        (Posix, "eval $(printf 'rm -rf notes')", &["substitution: printf 'rm -rf notes'", "eval: rm -rf notes"]),
        (Posix, "IFS=,; X=rm,-rf,notes; $X", &["rm -rf notes"]),
        (Posix, "IFS=$'\\n'; for f in $(echo a); do rm \"$f\"; done", &["substitution: echo a", "loop: rm a"]),
        (Posix, "set -- rm -rf notes; \"$@\"", &["set -- rm -rf notes", "rm -rf notes"]),
        (Posix, "${x:-rm} -rf notes", &["rm -rf notes"]),
        (Posix, "bash -c 'rm $0' notes", &["bash: rm notes"]),
        (Posix, "bash -s <<< 'rm x'", &["bash -s code=literal", "stdin(bash): rm x"]),
        (Posix, "bash -s arg <<EOF\nrm \"x\"\nEOF", &["bash -s arg code=literal", "stdin(bash): rm x"]),
        (Posix, "xargs -I% sh -c 'rm %' <<< notes", &["xargs: sh: rm notes"]),
        (Posix, "nohup bash -c 'rm x' >/dev/null 2>&1 &", &["nohup: >/dev/null &", "nohup: bash: rm x &"]),
        (Posix, "busybox sh -c 'rm x'", &["busybox: sh: rm x"]),
        (Posix, "sudo -i rm x; sudo -- sh -c 'rm y'", &["sudo: rm x", "sudo: sh: rm y"]),
        (Posix, ". <(echo rm x)", &["substitution: echo rm x", ". '<(echo rm x)'? code=computed"]),
        (Posix, "bash < <(echo rm x)", &["substitution: echo rm x", "bash <'<(echo rm x)'? code=computed"]),
        (Posix, "f() { \"$@\"; }; f rm -rf notes", &["f(): rm -rf notes"]),
        (Posix, "r=r m=m; $r$m -rf notes", &["rm -rf notes"]),
        (
            Posix,
            "X='rm -rf notes'; eval \"$X\"; bash -c \"$X\"; sh <<< \"$X\"",
            &["eval: rm -rf notes", "bash: rm -rf notes", "sh code=literal", "stdin(sh): rm -rf notes"],
        ),
        (
            Posix,
            "python3 <<'EOF'\nimport os\nos.system(\"rm -rf notes\")\nEOF",
            &["python3 code=literal lang=python", "inline(python): sh: rm -rf notes"],
        ),
        (Posix, "git status; { { { rm x; }; }; }", &["git status", "rm x"]),
        (Posix, "echo x | tee >(sh)", &["echo x", "substitution: sh code=computed", "tee >(sh)?"]),
    ]);
}
