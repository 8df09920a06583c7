//! Secrets in the words of a command: they are judged by name, and never stored (SPEC 12, journal).

use stigmergate_core::facts::is_secret_name;
use stigmergate_core::policy::Policy;

/// The words of a command with the values of secrets replaced by their length.
pub(crate) fn words(words: &[String], policy: &Policy) -> Vec<String> {
    let mut hide_next = false;
    words
        .iter()
        .map(|word| {
            if std::mem::replace(&mut hide_next, names_secret_option(word, policy)) {
                return hidden(word);
            }
            one(word, policy)
        })
        .collect()
}

/// One word: `NAME=value`, `--option=value`, `Header: value`, and the password of a URL.
pub(crate) fn one(word: &str, policy: &Policy) -> String {
    for separator in ['=', ':'] {
        if let Some((name, value)) = word.split_once(separator) {
            let bare = name.trim_start_matches('-').trim();
            let is_url = separator == ':' && value.starts_with("//");
            if !value.trim().is_empty() && !is_url && !bare.is_empty() && is_secret_name(bare, policy) {
                return format!("{name}{separator}{}", hidden(value));
            }
        }
    }
    without_password(word)
}

/// `--token value`: the option is a word of its own.
fn names_secret_option(word: &str, policy: &Policy) -> bool {
    let bare = word.trim_start_matches('-');
    word.starts_with("--") && !word.contains('=') && is_secret_name(bare, policy)
}

fn hidden(value: &str) -> String {
    format!("<{} bytes hidden>", value.len())
}

/// `scheme://user:password@host` without the password.
fn without_password(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_string() };
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(authority_end).unwrap_or((rest, ""));
    let Some((user, host)) = authority.rsplit_once('@') else { return word.to_string() };
    let Some((name, password)) = user.split_once(':') else { return word.to_string() };
    format!("{scheme}://{name}:{}@{host}{path}", hidden(password))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stigmergate_core::policy::Preset;

    #[test]
    fn values_of_secrets_are_hidden_and_nothing_else() {
        let policy = Policy::preset(Preset::Standard);
        let hide = |text: &str| one(text, &policy);
        assert_eq!(hide("API_KEY=abc"), "API_KEY=<3 bytes hidden>");
        assert_eq!(hide("--password=abc"), "--password=<3 bytes hidden>");
        assert_eq!(hide("Authorization: Bearer abc"), "Authorization:<11 bytes hidden>");
        assert_eq!(hide("postgres://me:pw@db/x"), "postgres://me:<2 bytes hidden>@db/x");
        for same in ["NODE_ENV=test", "https://example.org/a:b", "src/app.ts:12", "--tag=x", "a=b"] {
            assert_eq!(hide(same), same);
        }
        let line = ["curl", "--token", "abc", "x"].map(String::from);
        assert_eq!(words(&line, &policy), ["curl", "--token", "<3 bytes hidden>", "x"]);
    }
}
