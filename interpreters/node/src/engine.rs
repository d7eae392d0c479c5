//! A run from the first statement to the last event, and its exit code.
//!
//! The order of events is decided in JavaScript: `lib/loop.js` has the timers, the ticks and the pending operations.
//! This file has the parts that need the engine: after each callback run the ticks, then the promises' jobs, then the
//! handlers of unhandled rejections.

use std::cell::OnceCell;
use std::rc::Rc;

use isopod_gnu::output::complain;
use rquickjs::function::{Args, IntoArgs};
use rquickjs::{Context, Ctx, Error, FromJs, Function, Object, Persistent, Result, Runtime, Value};

use crate::modules::{Finder, Reader};
use crate::{library, natives};

/// The part of the component's stack that scripts may use: about 9,000 calls, nearly as many as in Node. The stack of
/// the code itself grows beside it and cannot be measured; where it grows fastest, in deeply nested expressions, it is
/// 14 times as large and comes close to the 40 MiB that an interpreter has.
const STACK: usize = 5 << 19;
/// The size of the heap at which the first search for cycles starts. Most scripts end before.
const FIRST_COLLECTION: usize = 8 << 20;
/// The exit code after `abort`, which Node calls when its heap is full.
const OUT_OF_MEMORY: u8 = 134;
/// The exit code for a fault of the library itself.
const BROKEN: u8 = 70;

/// A program to run, as `main` of `lib/modules.js` takes it.
#[derive(Default)]
pub(crate) struct Task {
    /// `eval`, `print`, `module`, `file`, `check` or `checkFile`.
    pub(crate) kind: &'static str,
    /// The file, or a name for the text.
    pub(crate) name: String,
    /// The text, if it is not a file.
    pub(crate) source: String,
    /// The arguments at the end of `process.argv`.
    pub(crate) arguments: Vec<String>,
    /// Modules to load first.
    pub(crate) required: Vec<String>,
    /// The contents of `process.execArgv`.
    pub(crate) options: Vec<String>,
}

/// The functions that `lib/boot.js` returns, for callbacks of the engine.
#[derive(Clone, Default)]
pub(crate) struct Library(Rc<OnceCell<Persistent<Object<'static>>>>);

impl Library {
    /// Calls one of the functions.
    pub(crate) fn call<'js, R: FromJs<'js>>(
        &self,
        ctx: &Ctx<'js>,
        name: &str,
        arguments: impl IntoArgs<'js>,
    ) -> Result<R> {
        let functions = self.0.get().ok_or(Error::Unknown)?.clone().restore(ctx)?;
        let mut collected = Args::new(ctx.clone(), arguments.num_args());
        arguments.into_args(&mut collected)?;
        functions.get::<_, Function>(name)?.call_arg(collected)
    }
}

/// Runs a task to its end. The heap is not freed: it ends with the process.
pub(crate) fn run(task: Task) -> ! {
    let code = match start(task) {
        Ok(code) => code,
        Err(error) => {
            complain("node", &error.to_string());
            BROKEN
        }
    };
    natives::flush();
    isopod_sys::exit(code)
}

fn start(task: Task) -> Result<u8> {
    let runtime = Runtime::new()?;
    runtime.set_max_stack_size(STACK);
    runtime.set_gc_threshold(FIRST_COLLECTION);
    let library = Library::default();
    runtime.set_loader(Finder(library.clone()), Reader(library.clone()));
    let tracker = library.clone();
    runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, is_handled| {
        // The function only changes a list. Without memory for that the script cannot continue anyway.
        let _ = tracker.call::<()>(&ctx, "onRejection", (promise, reason, is_handled));
    })));
    let context = Context::full(&runtime)?;
    let code = context.with(|ctx| {
        let run = Run { ctx: ctx.clone(), library };
        let result = run.boot().and_then(|()| run.all(task));
        result.or_else(|error| run.broken(error))
    });
    // Dropping them would free object by object, just before the process ends.
    std::mem::forget((context, runtime));
    code
}

struct Run<'js> {
    ctx: Ctx<'js>,
    library: Library,
}

impl<'js> Run<'js> {
    fn boot(&self) -> Result<()> {
        let boot: Function = library::compile(&self.ctx, "boot")?;
        let functions: Object = boot.call((natives::object(&self.ctx)?,))?;
        let _ = self.library.0.set(Persistent::save(&self.ctx, functions));
        Ok(())
    }

    fn all(&self, task: Task) -> Result<u8> {
        let Task { kind, name, source, arguments, required, options } = task;
        self.guarded("main", (kind, name, source, arguments, required, options))?;
        loop {
            self.settle()?;
            if !self.guarded("step", ())? {
                // A handler of `beforeExit` may have started something new.
                self.settle()?;
                if !self.guarded("beforeExit", ())? {
                    break;
                }
            }
        }
        let code: f64 = self.library.call(&self.ctx, "finish", ())?;
        Ok(code as u8)
    }

    /// Runs ticks and promises' jobs until there are none, then the handlers of unhandled rejections.
    fn settle(&self) -> Result<()> {
        loop {
            self.guarded("ticks", ())?;
            // An exception in a job is the rejection of its promise; `queueMicrotask` of the library catches by itself.
            while self.ctx.execute_pending_job() {}
            if self.library.call::<bool>(&self.ctx, "hasTicks", ())? {
                continue;
            }
            if !self.guarded("rejections", ())? {
                return Ok(());
            }
        }
    }

    /// Calls a function of the library and returns its result. An exception in it is uncaught.
    fn guarded(&self, name: &str, arguments: impl IntoArgs<'js>) -> Result<bool> {
        match self.library.call::<Value>(&self.ctx, name, arguments) {
            Ok(value) => Ok(value.as_bool().unwrap_or(false)),
            Err(Error::Exception) => {
                // Returns only if the script has a handler for it.
                self.library.call::<()>(&self.ctx, "uncaught", (self.ctx.catch(),))?;
                // Only one step has failed: there may be more.
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    /// Reports a failure of the library itself: for want of memory, or by its own fault.
    fn broken(&self, error: Error) -> Result<u8> {
        if !matches!(error, Error::Exception) {
            return Err(error);
        }
        let thrown = self.ctx.catch();
        let message = thrown.as_exception().and_then(|exception| exception.message()).unwrap_or_default();
        if message.contains("out of memory") {
            complain("node", "FATAL ERROR: JavaScript heap out of memory");
            return Ok(OUT_OF_MEMORY);
        }
        let stack = thrown.as_exception().and_then(|exception| exception.stack()).unwrap_or_default();
        complain("node", &format!("a fault of the library: {message}\n{stack}"));
        Ok(BROKEN)
    }
}
