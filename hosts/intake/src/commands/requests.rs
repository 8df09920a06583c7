//! Requests: what they would take away, and which files they send.

use super::{Asked, Reader};
use crate::redact;
use crate::targets::Collector;
use stigmergate_core::facts::{Class, Effect, FactKind};

impl<'a> Reader<'a> {
    /// A request to a service.
    pub(super) fn http(&self, asked: &Asked<'a>, class: &mut Class, collector: &mut Collector<'a>) {
        let words: Vec<&str> = asked.arguments.iter().map(|word| word.text.as_str()).collect();
        let method = method(&words);
        let bodies = bodies(&words);
        let body = self.body(&bodies);
        if self.asks_own_services(&words) {
            if method.as_deref().is_none_or(|method| matches!(method, "GET" | "HEAD")) && bodies.is_empty() {
                *class = Class::Read;
            }
            self.sent(&words, collector);
            return;
        }
        let deletes = method.as_deref() == Some("DELETE") || words.iter().any(|word| overrides_method(word));
        if deletes || deletes_by_graphql(&body) {
            *class = Class::Delete;
            let method = if deletes { "DELETE" } else { "a mutation" };
            let to = addresses(&words).find(|word| host(word).is_some()).unwrap_or_default();
            let told = redact::one(to.split('?').next().unwrap_or(to), self.policy);
            collector.fact(FactKind::Irreversible, &format!("{method} {told}"));
        }
        let sends =
            method.as_deref().is_some_and(|method| matches!(method, "POST" | "PUT" | "PATCH")) || !bodies.is_empty();
        if let Some(url) = words.iter().find(|word| sends && names_removal(word)) {
            *class = Class::Delete;
            collector.fact(FactKind::Irreversible, &redact::one(url, self.policy));
        }
        self.sent(&words, collector);
    }

    /// Whether every host that is named is a service that the developer runs for trying.
    fn asks_own_services(&self, words: &[&str]) -> bool {
        let redirected =
            |word: &&str| matches!(*word, "-x" | "--proxy" | "--connect-to" | "--resolve" | "-K" | "--config");
        let mut hosts = addresses(words).filter_map(host).peekable();
        hosts.peek().is_some()
            && !words.iter().any(redirected)
            && hosts.all(|host| self.policy.places.is_own_service(host))
    }

    /// The files that a request sends, or reads itself.
    fn sent(&self, words: &[&str], collector: &mut Collector<'a>) {
        for path in words.iter().filter_map(|word| word.strip_prefix("file://")) {
            collector.spelled(path, false, Effect::Read, false);
        }
        let following = words.iter().skip(1).map(Some).chain([None]);
        for path in words.iter().zip(following).filter_map(|(word, next)| sent_by(word, next.copied())) {
            collector.spelled(path, false, Effect::Read, false);
        }
    }

    /// `curl -O`: a file of the address's last name.
    pub(super) fn remote_name(&self, asked: &Asked<'a>, collector: &mut Collector<'a>) {
        let words: Vec<&str> = asked.arguments.iter().map(|word| word.text.as_str()).collect();
        let folder = words.iter().zip(words.iter().skip(1)).find(|(option, _)| **option == "--output-dir");
        let folder = folder.map_or(".", |(_, folder)| folder);
        for url in words.iter().filter(|word| word.contains("://")) {
            let path = url.split(['?', '#']).next().unwrap_or(url);
            let name = path.rsplit('/').next().filter(|name| !name.is_empty() && path.matches('/').count() > 2);
            if let Some(name) = name {
                collector.spelled(&format!("{}/{name}", folder.trim_end_matches('/')), false, Effect::Overwrite, false);
            }
        }
    }

    /// The bodies together; one that stands on standard input is what is known of that.
    fn body(&self, bodies: &[&str]) -> String {
        let mut body = bodies.join(" ");
        if bodies.iter().any(|body| matches!(*body, "@-" | "@/dev/stdin")) {
            body.extend(self.given_texts());
        }
        body
    }

    /// A request to a hosting service's API, by path and method.
    pub(super) fn api(&self, asked: &Asked<'a>, class: &mut Class, collector: &mut Collector<'a>) {
        let words: Vec<&str> = asked.arguments.iter().map(|word| word.text.as_str()).collect();
        let path = asked.reading.operands.last().and_then(|number| words.get(*number)).copied().unwrap_or_default();
        let method = method(&words);
        let body = words.join(" ");
        let reads = method.as_deref().is_none_or(|method| method == "GET")
            && !words.iter().any(|word| matches!(*word, "-f" | "-F" | "--field" | "--raw-field" | "--input"));
        if reads {
            *class = Class::Read;
        }
        if method.as_deref() == Some("DELETE") || deletes_by_graphql(&body) {
            *class = Class::Delete;
            collector.fact(FactKind::Irreversible, path);
        }
        let merges =
            (path.ends_with("/merge") || path.ends_with("/merges") || body.contains("mergePullRequest")) && !reads;
        let branch = words.iter().find_map(|word| word.strip_prefix("branch="));
        let writes_file = path.contains("/contents/")
            && matches!(method.as_deref(), Some("PUT" | "DELETE"))
            && branch.is_none_or(|branch| self.is_shared(branch));
        let moves_branch = path.contains("/git/refs") && !reads || writes_file;
        if merges || moves_branch {
            collector.fact(FactKind::SharedBranch, path);
        }
        // What a repository is to others.
        for word in words.iter().filter(|_| !reads) {
            match *word {
                "private=false" | "visibility=public" => collector.fact(FactKind::Publishing, word),
                "archived=true" => collector.fact(FactKind::Irreversible, word),
                _ => {}
            }
        }
    }
}

/// Options whose value is no address.
const VALUES: [&str; 24] = [
    "-o",
    "--output",
    "-w",
    "--write-out",
    "-m",
    "--max-time",
    "--connect-timeout",
    "--retry",
    "--retry-delay",
    "--retry-max-time",
    "-H",
    "--header",
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--json",
    "-u",
    "--user",
    "-A",
    "-b",
    "-c",
    "-F",
    "--form",
];

/// The words that may be addresses.
fn addresses<'w>(words: &[&'w str]) -> impl Iterator<Item = &'w str> {
    let before = std::iter::once("").chain(words.iter().copied());
    words.iter().copied().zip(before).filter(|(_, before)| !VALUES.contains(before)).map(|(word, _)| word)
}

/// The host of an address, with its port: `http://host:1/x`, `host:1/x`.
fn host(word: &str) -> Option<&str> {
    let (scheme, rest) = word.split_once("://").map_or(("", word), |(scheme, rest)| (scheme, rest));
    let bare = scheme.is_empty();
    if word.starts_with(['-', '@', '/', '.', '{', '<'])
        || word.contains(char::is_whitespace)
        || word.contains('=') && bare
    {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // Without a scheme what cannot well be anything else, and what cannot be told.
    let is_host = !bare || authority.starts_with("localhost") || authority.contains(['.', ':', '$', '`']);
    (is_host && !authority.is_empty()).then_some(authority)
}

/// The method of a request.
fn method(words: &[&str]) -> Option<String> {
    let pairs = words.iter().zip(words.iter().skip(1));
    let named = pairs
        .filter(|(option, _)| matches!(**option, "-X" | "--request" | "--method" | "-method" | "-Method"))
        .map(|(_, value)| *value)
        .next_back();
    let attached = words.iter().find_map(|word| {
        let value = word.strip_prefix("--request=").or_else(|| word.strip_prefix("--method="));
        let value = value.or_else(|| word.strip_prefix("-Method:")).or_else(|| word.strip_prefix("-method:"));
        value.or_else(|| in_bundle(word, 'X').filter(|rest| !rest.is_empty()))
    });
    let plain = words.iter().find(|word| matches!(**word, "DELETE" | "GET" | "POST" | "PUT" | "PATCH")).copied();
    named.or(attached).or(plain).map(str::to_ascii_uppercase)
}

/// The value of a letter that stands last in a bundle of those without one: `-sXDELETE`, `-XDELETE`.
fn in_bundle(word: &str, letter: char) -> Option<&str> {
    const WITHOUT_VALUE: &str = "sSfLkivgqnaGIJNORlZ#0123456";
    let bundle = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
    let (before, value) = bundle.split_once(letter)?;
    before.chars().all(|c| WITHOUT_VALUE.contains(c)).then_some(value)
}

/// A method that stands in a header, a field or the address, for services that take it there.
fn overrides_method(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let header = lower
        .strip_prefix("x-http-method-override:")
        .or_else(|| lower.strip_prefix("x-http-method:"))
        .or_else(|| lower.strip_prefix("x-method-override:"));
    header.is_some_and(|value| value.trim() == "delete")
        || lower.split(['?', '&', ' ']).any(|field| field == "_method=delete")
}

/// The bodies of a request that stand in its words.
fn bodies<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let options = [
        "-d",
        "--data",
        "--data-raw",
        "--data-binary",
        "--data-urlencode",
        "--json",
        "-F",
        "--form",
        "--post-data",
        "--body-data",
        "-Body",
        "-body",
    ];
    words
        .iter()
        .zip(words.iter().skip(1))
        .filter(|(option, _)| options.contains(*option))
        .map(|(_, value)| *value)
        .collect()
}

/// A file that a word, or a word with the next one, sends: `-d @x`, `-d@x`, `--data=@x`, `-Tx`, `name@x`.
fn sent_by<'w>(word: &'w str, next: Option<&'w str>) -> Option<&'w str> {
    if let Some((option, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
        return sent_file(option, value);
    }
    let attached = ["-d", "-T", "-F", "-K"].iter().find_map(|option| {
        let value = in_bundle(word, option.chars().last()?).filter(|value| !value.is_empty())?;
        sent_file(option, value)
    });
    let field = || {
        let (name, file) = word.split_once('@')?;
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        (is_name && !file.contains('@') && file.contains(['/', '.']) && !word.starts_with('-')).then_some(file)
    };
    attached.or_else(|| sent_file(word, next?)).or_else(field)
}

/// A file whose contents a request sends.
fn sent_file<'w>(option: &str, value: &'w str) -> Option<&'w str> {
    match option {
        "-T" | "--upload-file" | "--post-file" | "--body-file" | "-InFile" | "-K" | "--config" => Some(value),
        "-d" | "--data" | "--data-ascii" | "--data-binary" | "--json" => value.strip_prefix('@'),
        "-b" | "--cookie" => Some(value).filter(|value| !value.contains('=')),
        "-H" | "--header" => value.strip_prefix('@'),
        "--data-urlencode" => value.split_once('@').map(|(_, file)| file),
        "-F" | "--form" => value
            .split_once('=')
            .and_then(|(_, file)| file.strip_prefix('@').or_else(|| file.strip_prefix('<')))
            .map(|file| file.split(';').next().unwrap_or(file)),
        _ => None,
    }
    .filter(|path| *path != "-" && !path.is_empty())
}

/// A mutation whose name begins with a verb that destroys.
fn deletes_by_graphql(body: &str) -> bool {
    let Some((_, after)) = body.split_once("mutation") else { return false };
    let names = after.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    // `deleteProject`, `volumeDelete`
    names.into_iter().map(crate::tools::split_name).any(|words| {
        words.first().is_some_and(|word| destroys(word)) || words.last().is_some_and(|word| destroys(word))
    })
}

/// Whether a word is a verb that destroys.
fn destroys(word: &str) -> bool {
    let verbs = ["delete", "remove", "destroy", "drop", "purge", "archive", "cancel", "terminate", "wipe", "truncate"];
    verbs.contains(&word)
}

/// Whether the path of a URL names a removal: `/users/7/delete`, `/_delete_by_query`.
fn names_removal(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://").or_else(|| Some(("", url)).filter(|_| url.contains('/'))) else {
        return false;
    };
    let path = rest.split(['?', '#']).next().unwrap_or(rest);
    if url.contains(char::is_whitespace) || url.starts_with('-') || url.starts_with('@') {
        return false;
    }
    // `/users/7:purge` is a verb of its own, too.
    path.split(['/', ':']).skip(1).any(|part| crate::tools::split_name(part).first().is_some_and(|word| destroys(word)))
}
