//! From a core module to a component, and what a component needs.

use anyhow::{Context, Result};
use wasmparser::{Parser, Payload, Validator, WasmFeatures};
use wit_component::ComponentEncoder;

/// The component of a core module whose interface stands in a custom section: its own, or that of the module it was optimised from.
///
/// # Errors
/// Where the module is no module, or does not have what the interface says.
pub fn encode(module: &[u8], original: Option<&[u8]>) -> Result<Vec<u8>> {
    let mut whole = module.to_vec();
    if let Some(original) = original.filter(|_| !has_interface(module)) {
        append_interface(original, &mut whole)?;
    }
    let component = ComponentEncoder::default()
        .validate(true)
        .module(&whole)
        .context("reading the module and its interface")?
        .encode()
        .context("making the component")?;
    Validator::new_with_features(WasmFeatures::default())
        .validate_all(&component)
        .context("validating the component")?;
    Ok(component)
}

/// How the names of the sections begin in which wit-bindgen leaves the interface.
const INTERFACE: &str = "component-type";

fn has_interface(module: &[u8]) -> bool {
    sections(module).any(|(name, _)| name.starts_with(INTERFACE))
}

fn sections(module: &[u8]) -> impl Iterator<Item = (String, Vec<u8>)> {
    Parser::new(0).parse_all(module).filter_map(|payload| match payload {
        Ok(Payload::CustomSection(section)) => Some((section.name().to_string(), section.data().to_vec())),
        _ => None,
    })
}

fn append_interface(original: &[u8], module: &mut Vec<u8>) -> Result<()> {
    for (name, data) in sections(original).filter(|(name, _)| name.starts_with(INTERFACE)) {
        let mut content = leb128(name.len())?;
        content.extend_from_slice(name.as_bytes());
        content.extend_from_slice(&data);
        module.push(0);
        module.extend(leb128(content.len())?);
        module.extend(content);
    }
    Ok(())
}

/// A size as WebAssembly writes it.
fn leb128(size: usize) -> Result<Vec<u8>> {
    let mut rest = u32::try_from(size).context("a section of more than 4 GiB")?;
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(rest & 0x7f)?;
        rest >>= 7;
        if rest == 0 {
            bytes.push(low);
            return Ok(bytes);
        }
        bytes.push(low | 0x80);
    }
}

/// What a component needs from outside, by name.
///
/// # Errors
/// Where it cannot be parsed.
pub fn imports(component: &[u8]) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(component) {
        match payload? {
            // The modules and components inside have imports that it satisfies itself.
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth = depth.saturating_add(1),
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    names.push(import?.name.name.to_string());
                }
            }
            _ => {}
        }
    }
    Ok(names)
}
