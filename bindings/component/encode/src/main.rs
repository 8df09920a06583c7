//! Makes a component of a core module that holds its interface in a custom section, as wit-bindgen leaves it.
//!
//! It fails when the result is not valid, needs anything from outside, or is over the budget.

use anyhow::{Context, Result, bail};
use clap::Parser;
use std::path::PathBuf;
use stigmergate_encode::{encode, imports};

#[derive(Parser)]
#[command(about = "Makes a WebAssembly component of a core module, and checks it.")]
struct Arguments {
    /// The core module, optimised.
    module: PathBuf,
    /// Where the component goes.
    #[arg(long)]
    out: PathBuf,
    /// The module before it was optimised, which holds the interface: optimisers may drop it.
    #[arg(long)]
    interface_from: Option<PathBuf>,
    /// The most bytes that it may have.
    #[arg(long)]
    budget: Option<usize>,
}

fn main() -> Result<()> {
    let Arguments { module, out, interface_from, budget } = Arguments::parse();
    let read = |path: &PathBuf| std::fs::read(path).with_context(|| format!("reading {}", path.display()));
    let optimised = read(&module)?;
    let original = interface_from.as_ref().map(read).transpose()?;
    let component = encode(&optimised, original.as_deref())?;
    let needed = imports(&component)?;
    if !needed.is_empty() {
        bail!("the component needs from outside: {}", needed.join(", "));
    }
    std::fs::write(&out, &component).with_context(|| format!("writing {}", out.display()))?;
    println!("{}: {} bytes, valid, imports nothing", out.display(), component.len());
    match budget {
        Some(budget) if component.len() > budget => {
            bail!("{} bytes are over the budget of {budget}", component.len())
        }
        _ => Ok(()),
    }
}
