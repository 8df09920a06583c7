//! The component, compiled once.

use crate::error::Error;
use crate::interface::{Gate, GatePre};
use crate::kernel::Kernel;
use crate::limits::{Limits, Options};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stigmergate_core::policy::Policy;
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, InstanceAllocationStrategy, PoolingAllocationConfig, Store};

/// The component, compiled: cheap to clone, and shared by all kernels that it makes, on any thread.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    engine: wasmtime::Engine,
    component: Component,
    pre: GatePre<Limits>,
    options: Options,
    clock: Option<Arc<AtomicBool>>,
}

/// How often the clock of deadlines ticks.
const STEP: Duration = Duration::from_millis(1);

impl Engine {
    /// Compiles the component.
    ///
    /// # Errors
    /// [`Error::Component`] for bytes that are not the component, [`Error::Options`].
    pub fn new(component: &[u8], options: &Options) -> Result<Self, Error> {
        let engine = engine(options)?;
        let component = Component::new(&engine, component).map_err(foreign)?;
        Self::with(engine, component, options)
    }

    /// The compiled form, which the same version of this crate loads on the same kind of machine, with the same options, without compiling.
    ///
    /// # Errors
    /// [`Error::Component`].
    pub fn precompiled(&self) -> Result<Vec<u8>, Error> {
        self.inner.component.serialize().map_err(foreign)
    }

    /// Loads the compiled form.
    ///
    /// # Safety
    /// It is machine code: the bytes must be what [`Engine::precompiled`] returned, and nobody may have been able to change them since.
    ///
    /// # Errors
    /// [`Error::Component`] for the form of another version, machine or options.
    #[expect(unsafe_code, reason = "machine code cannot be checked; the caller answers for where it comes from")]
    pub unsafe fn from_precompiled(precompiled: &[u8], options: &Options) -> Result<Self, Error> {
        let engine = engine(options)?;
        // SAFETY: the caller's promise.
        let component = unsafe { Component::deserialize(&engine, precompiled) }.map_err(foreign)?;
        Self::with(engine, component, options)
    }

    fn with(engine: wasmtime::Engine, component: Component, options: &Options) -> Result<Self, Error> {
        // Nothing is offered to it: it has to need nothing.
        let linker = Linker::new(&engine);
        let pre = linker.instantiate_pre(&component).and_then(GatePre::new).map_err(foreign)?;
        let clock = options.deadline.map(|_| run_clock(&engine)).transpose()?;
        Ok(Self { inner: Arc::new(Inner { engine, component, pre, options: options.clone(), clock }) })
    }

    /// A kernel that remembers nothing yet.
    ///
    /// # Errors
    /// [`Error::Core`] for a policy that needs what the component does not have, and the limits.
    pub fn kernel(&self, policy: &Policy) -> Result<Kernel, Error> {
        Kernel::create(self.clone(), policy)
    }

    /// A kernel as it was when a snapshot was made, by this or the native kernel.
    ///
    /// # Errors
    /// [`Error::Core`] for a snapshot that cannot be read, and the limits.
    pub fn restore(&self, snapshot: &[u8]) -> Result<Kernel, Error> {
        Kernel::restore(self.clone(), snapshot)
    }

    /// The limits.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    pub(crate) fn instantiate(&self) -> Result<(Store<Limits>, Gate), Error> {
        let options = self.options();
        let mut store = Store::new(&self.inner.engine, Limits::new(options.memory_bytes));
        store.limiter(|limits| limits);
        self.allow_call(&mut store)?;
        let gate = self.inner.pre.instantiate(&mut store).map_err(|error| match options.pool {
            Some(instances) if error.is::<wasmtime::PoolConcurrencyLimitError>() => Error::PoolFull { instances },
            _ => self.explain(&error, store.data_mut()),
        })?;
        Ok((store, gate))
    }

    /// Gives a call what it may use.
    pub(crate) fn allow_call(&self, store: &mut Store<Limits>) -> Result<(), Error> {
        let options = self.options();
        store.data_mut().refused = None;
        if let Some(fuel) = options.fuel {
            store.set_fuel(fuel).map_err(|error| Error::Options { detail: error.to_string() })?;
        }
        if let Some(deadline) = options.deadline {
            // One more, as the step that has begun is not whole.
            let steps = deadline.as_millis().div_ceil(STEP.as_millis()).saturating_add(1);
            store.set_epoch_deadline(u64::try_from(steps).unwrap_or(u64::MAX / 2));
        }
        Ok(())
    }

    /// Why a call did not come back.
    pub(crate) fn explain(&self, error: &wasmtime::Error, limits: &mut Limits) -> Error {
        let options = self.options();
        match (error.downcast_ref::<wasmtime::Trap>(), limits.refused.take()) {
            (Some(wasmtime::Trap::OutOfFuel), _) => Error::OutOfFuel { limit: options.fuel.unwrap_or_default() },
            (Some(wasmtime::Trap::Interrupt), _) => Error::Deadline,
            // Who gets no memory ends.
            (_, Some(wanted)) => Error::OutOfMemory { wanted, limit: options.memory_bytes },
            _ => Error::Trap { detail: format!("{error:#}") },
        }
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Engine").field("options", self.options()).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(clock) = &self.clock {
            clock.store(false, Ordering::Relaxed);
        }
    }
}

fn foreign(error: wasmtime::Error) -> Error {
    Error::Component { detail: format!("{error:#}") }
}

fn engine(options: &Options) -> Result<wasmtime::Engine, Error> {
    let mut config = Config::new();
    config
        .consume_fuel(options.fuel.is_some())
        .epoch_interruption(options.deadline.is_some())
        // The same bits on every machine.
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true);
    if let Some(instances) = options.pool {
        let mut pool = PoolingAllocationConfig::new();
        pool.total_component_instances(instances)
            .total_core_instances(instances.saturating_mul(4))
            .total_memories(instances)
            .total_tables(instances.saturating_mul(4))
            .table_elements(20_000)
            .max_component_instance_size(1 << 20)
            .max_core_instance_size(1 << 20)
            .max_memory_size(options.memory_bytes);
        let reservation = u64::try_from(options.memory_bytes).unwrap_or(u64::MAX);
        config.memory_reservation(reservation).memory_guard_size(1 << 16);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    }
    wasmtime::Engine::new(&config).map_err(|error| Error::Options { detail: format!("{error:#}") })
}

/// Lets the clock of deadlines tick as long as there is an engine.
fn run_clock(engine: &wasmtime::Engine) -> Result<Arc<AtomicBool>, Error> {
    let runs = Arc::new(AtomicBool::new(true));
    let (seen, engine) = (Arc::clone(&runs), engine.clone());
    let clock = move || {
        while seen.load(Ordering::Relaxed) {
            std::thread::sleep(STEP);
            engine.increment_epoch();
        }
    };
    std::thread::Builder::new()
        .name("stigmergate deadlines".into())
        .spawn(clock)
        .map_err(|error| Error::Options { detail: format!("no thread for deadlines: {error}") })?;
    Ok(runs)
}
