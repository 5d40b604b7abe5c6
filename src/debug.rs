//! A debugger: runs launches on the interpreter, stops waves at breakpoints, watchpoints and faults, and
//! shows and changes their registers and memory. `wavelift debug` does this for a launch manifest.
//!
//! A [`Debugger`] has a device of its own, for modules and buffers. Launches are added, and
//! [`Debugger::start`] runs them up to the first instruction of the first; [`Debugger::resume`] runs on
//! to the next stop:
//!
//! ```
//! use wavelift::debug::{Debugger, Dispatch, Event, Limits, Named, Reason, Resume};
//! use wavelift::{DeviceOptions, Dtype, Launch, Module};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut debugger = Debugger::new(DeviceOptions::default())?;
//! let device = debugger.device().clone();
//! let module = Module::load(&device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
//! let x = device.buffer(&[1.0f32; 256])?;
//! debugger.name(Named::of(&x, "x", Some(Dtype::F32)));
//! debugger.add(Dispatch::new(
//!     module.kernel("saxpy")?,
//!     Launch::new(256, 256),
//!     vec![(&x).into(), (&x).into(), 2.0f32.into(), 256u32.into()],
//! ));
//! debugger.start()?;
//! debugger.watch_text("x[70]", Default::default(), Limits::default())?;
//! let Event::Stopped(stop) = debugger.resume(Resume::Continue { pass: 0 })? else {
//!     panic!("it is written");
//! };
//! assert!(matches!(stop.reason, Reason::Watchpoint { .. }));
//! assert_eq!((stop.wave, stop.workgroup), (1, [0; 3]));
//! assert_eq!(debugger.evaluate("x[70]")?.show(None)?, "3.0");
//! debugger.resume(Resume::Back { steps: 1 })?;
//! assert_eq!(debugger.evaluate("x[70]")?.show(None)?, "1.0");
//! # Ok(())
//! # }
//! ```
//!
//! Launches run on one thread, workgroup by workgroup, so that a program takes the same course whenever it
//! is debugged. A workgroup gives way to others only when it waits for them.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use frontend::WaveState;
use runtime::debug::{Debugging, is_call};
use runtime::dispatch::{CancelToken, Settings};
use runtime::lockstep::Snapshot;
use runtime::trace::Space;

mod assign;
mod driver;
mod error;
mod eval;
mod event;
mod expr;
mod operators;
mod place;
mod points;
mod program;
mod value;

pub use crate::breaks::{Place, PlaceError};
pub use error::{DebugError, DtypeSuffix};
pub use event::{Ended, Event, Frame, Reason, Stop, WaveInfo};
pub use expr::Expr;
pub use place::{CodePlace, Disassembled, SourceLine};
pub use points::{HitCondition, Limits, Message, Point, Trigger, WatchKind};
pub use program::{Dispatch, Named, Resume};
pub use runtime::debug::{Call, Phase, State};
pub use value::{Evaluated, Lanes, Radix, Scalar, Value};

use assign::make;
use driver::{Course, Goal, Order, Pilot, Report, Until};
use eval::{At, Scope};
use points::Points;

use crate::device::{Device, DeviceOptions};
use crate::error::Error;
use crate::module::Module;
use crate::{Dtype, EngineKind};

/// Stops the program that runs, from any thread.
#[derive(Clone, Debug)]
pub struct Interrupter(Arc<AtomicBool>);

impl Interrupter {
    /// The wave that runs stops before its next instruction.
    pub fn interrupt(&self) {
        self.0.store(true, Relaxed);
    }

    /// The flag that [`Interrupter::interrupt`] sets, for handlers of signals. It is cleared when the
    /// program stops.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

/// The running program.
struct Run {
    orders: Sender<Order>,
    reports: Receiver<Report>,
    thread: Option<JoinHandle<()>>,
    cancel: CancelToken,
    interrupt: Arc<AtomicBool>,
}

impl Drop for Run {
    fn drop(&mut self) {
        self.cancel.cancel();
        // Interrupts the program, which then finds its channels closed.
        self.interrupt.store(true, Relaxed);
        let (orders, _) = mpsc::channel();
        self.orders = orders;
        if let Some(thread) = self.thread.take() {
            // A panic there was reported there.
            let _ = thread.join();
        }
    }
}

/// A device whose launches are debugged.
pub struct Debugger {
    device: Device,
    engine: Arc<Debugging>,
    program: Vec<Dispatch>,
    buffers: Vec<Named>,
    points: Arc<Mutex<Points>>,
    interrupt: Arc<AtomicBool>,
    limit: Option<Duration>,
    /// Memory as it was when the program was started first.
    before: Option<Snapshot>,
    run: Option<Run>,
    stop: Option<Stop>,
    selected: u32,
}

impl fmt::Debug for Debugger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Debugger")
            .field("device", &self.device)
            .field("stop", &self.stop)
            .finish_non_exhaustive()
    }
}

impl Debugger {
    /// A device with these options, which interprets on one thread, whatever they say.
    pub fn new(options: DeviceOptions) -> Result<Debugger, Error> {
        let engine = Arc::new(Debugging::default());
        let options = DeviceOptions {
            engine: EngineKind::Interp,
            threads: 1,
            timeout: None,
            on_wait: None,
            detect_deadlocks: false,
            ..options
        };
        Ok(Debugger {
            device: Device::with_engine(options, Box::new(engine.clone()))?,
            engine,
            program: Vec::new(),
            buffers: Vec::new(),
            points: Arc::default(),
            interrupt: Arc::default(),
            limit: None,
            before: None,
            run: None,
            stop: None,
            selected: 0,
        })
    }

    /// The device, for modules and buffers.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Lets expressions name memory.
    pub fn name(&mut self, named: Named) {
        self.buffers.push(named);
    }

    /// Adds a launch to the program.
    pub fn add(&mut self, dispatch: Dispatch) {
        self.program.push(dispatch);
    }

    /// The launches of the program.
    pub fn program(&self) -> &[Dispatch] {
        &self.program
    }

    /// Time that the program may run from one stop to the next, after which it is interrupted.
    pub fn set_limit(&mut self, limit: Option<Duration>) {
        self.limit = limit;
    }

    /// What stops the program from other threads.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(self.interrupt.clone())
    }

    // ---- running

    /// Starts the program, or starts it again with memory as it was when it was started first. It stops
    /// before its first instruction.
    pub fn start(&mut self) -> Result<Event, DebugError> {
        self.launch(Goal::Entry)?;
        self.wait()
    }

    /// Starts the program as [`Debugger::start`] does and lets it run to the first stop, which
    /// [`Debugger::poll`] waits for. A breakpoint at its first instruction stops it.
    pub fn run(&mut self) -> Result<(), DebugError> {
        self.launch(Goal::Continue { pass: 0 })
    }

    fn launch(&mut self, goal: Goal) -> Result<(), DebugError> {
        if self.program.is_empty() {
            return Err(DebugError::NoLaunch);
        }
        (self.run, self.stop) = (None, None);
        match &self.before {
            Some(before) => before.restore(&self.device.memory()).map_err(Error::from)?,
            None => {
                let before = Snapshot::take(&self.device.memory()).map_err(Error::from)?;
                self.before = Some(before);
            }
        }
        let (orders, received) = mpsc::channel();
        let (reporter, reports) = mpsc::channel();
        let cancel = CancelToken::new();
        let program: Arc<[Dispatch]> = self.program.clone().into();
        let course = Arc::new(Course::default());
        let pilot = Pilot {
            orders: received,
            reports: reporter.clone(),
            points: self.points.clone(),
            buffers: self.buffers.clone().into(),
            interrupt: self.interrupt.clone(),
            cancel: cancel.clone(),
            program: program.clone(),
            course: course.clone(),
            goal,
            resumed: None,
        };
        self.interrupt.store(false, Relaxed);
        self.engine.begin(Box::new(pilot));
        let (device, engine, token) = (self.device.clone(), self.engine.clone(), cancel.clone());
        let body = move || {
            let ended = launches(&device, &program, &course, &token);
            engine.end();
            if let Some(ended) = ended {
                // Nobody may listen any more.
                let _ = reporter.send(Report::Ended(ended));
            }
        };
        let thread = runtime::stack::spawn("debugged", body).map_err(DebugError::Thread)?;
        self.run = Some(Run {
            orders,
            reports,
            thread: Some(thread),
            cancel,
            interrupt: self.interrupt.clone(),
        });
        Ok(())
    }

    /// Goes on until the next stop.
    pub fn resume(&mut self, how: Resume) -> Result<Event, DebugError> {
        self.go(how)?;
        self.wait()
    }

    /// Goes on without waiting: [`Debugger::poll`] waits for the next stop. Meanwhile breakpoints and
    /// watchpoints may be changed, and [`Interrupter::interrupt`] stops the program.
    pub fn go(&mut self, how: Resume) -> Result<(), DebugError> {
        let goal = self.goal(how)?;
        let run = self.run.as_ref().ok_or(DebugError::NotStopped)?;
        self.interrupt.store(false, Relaxed);
        self.stop = None;
        run.orders
            .send(Order::Resume(goal))
            .map_err(|_| DebugError::NotStopped)
    }

    /// Waits for the next stop for at most this time; `None` if the program is running at its end.
    pub fn poll(&mut self, patience: Duration) -> Result<Option<Event>, DebugError> {
        let run = self.run.as_ref().filter(|_| self.stop.is_none());
        let run = run.ok_or(DebugError::NotRunning)?;
        match run.reports.recv_timeout(patience) {
            Ok(report) => self.reported(Some(report)).map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => self.reported(None).map(Some),
        }
    }

    /// Does the program run, so that [`Debugger::poll`] has something to wait for?
    pub fn is_running(&self) -> bool {
        self.run.is_some() && self.stop.is_none()
    }

    /// Ends the program.
    pub fn end(&mut self) {
        (self.run, self.stop) = (None, None);
    }

    fn goal(&self, how: Resume) -> Result<Goal, DebugError> {
        let wave = self.selected;
        let (workgroup, executed, ended, depth, call) = self.inspect(move |state| {
            let registers = state.wave(wave);
            let inst = registers.and_then(|wave| state.code().inst_at(wave.pc).ok());
            let call = inst.filter(|inst| is_call(inst));
            let pc = registers.map_or(0, |wave| wave.pc);
            let back = call.map(|inst| pc.wrapping_add(u64::from(inst.len)));
            let depth = state.calls(wave).len();
            let ended = state.phase(wave) == Phase::Ended;
            (state.workgroup(), state.executed(wave), ended, depth, back)
        })?;
        let forward = |until| match ended {
            true => Err(DebugError::WaveEnded(wave)),
            false => Ok(Goal::Wave {
                workgroup,
                wave,
                until,
            }),
        };
        match how {
            Resume::Continue { pass } => Ok(Goal::Continue { pass }),
            Resume::Step { steps } => forward(Until::Steps(steps.max(1))),
            Resume::Next => forward(match call {
                Some(pc) => Until::Place {
                    places: vec![pc],
                    depth,
                },
                None => Until::Steps(1),
            }),
            Resume::Finish if depth == 0 => Err(DebugError::NotInCall),
            Resume::Finish => forward(Until::Return { depth }),
            Resume::Until { places } => forward(Until::Place {
                places,
                depth: usize::MAX,
            }),
            Resume::Back { .. } if executed == 0 => Err(DebugError::NoHistory),
            Resume::Back { steps } => Ok(Goal::Back {
                wave,
                executed: executed.saturating_sub(steps.max(1)),
                restored: false,
            }),
            Resume::BackToPoint => Ok(Goal::Search {
                before: 0,
                begin: None,
                found: None,
            }),
        }
    }

    /// Waits for a stop.
    fn wait(&mut self) -> Result<Event, DebugError> {
        let run = self.run.as_ref().ok_or(DebugError::NotStopped)?;
        let report = match self.limit {
            None => run.reports.recv().ok(),
            Some(limit) => match run.reports.recv_timeout(limit) {
                Ok(report) => Some(report),
                Err(RecvTimeoutError::Timeout) => {
                    self.interrupt.store(true, Relaxed);
                    run.reports.recv().ok()
                }
                Err(RecvTimeoutError::Disconnected) => None,
            },
        };
        self.reported(report)
    }

    fn reported(&mut self, report: Option<Report>) -> Result<Event, DebugError> {
        match report {
            Some(Report::Stopped(stop)) => {
                self.selected = stop.wave;
                self.stop = Some(stop.clone());
                Ok(Event::Stopped(stop))
            }
            Some(Report::Ended(ended)) => {
                self.end();
                Ok(Event::Ended(ended))
            }
            None => {
                self.end();
                Err(DebugError::NotStopped)
            }
        }
    }

    /// The last stop, while the program is stopped.
    pub fn stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }

    // ---- waves

    /// Lets a closure see, and change, the stopped workgroup. It runs on the program's thread.
    pub fn inspect<R: Send + 'static>(
        &self,
        f: impl FnOnce(&mut State<'_, '_>) -> R + Send + 'static,
    ) -> Result<R, DebugError> {
        let run = self.run.as_ref().filter(|_| self.stop.is_some());
        let run = run.ok_or(DebugError::NotStopped)?;
        let (sender, receiver) = mpsc::channel();
        let inspection = Box::new(move |state: &mut State<'_, '_>| {
            // It waits for the result.
            let _ = sender.send(f(state));
        });
        let sent = run.orders.send(Order::Do(inspection));
        sent.map_err(|_| DebugError::NotStopped)?;
        receiver.recv().map_err(|_| DebugError::NotStopped)
    }

    /// The selected wave, which requests are about.
    pub fn selected(&self) -> u32 {
        self.selected
    }

    /// Selects a wave of the stopped workgroup.
    pub fn select(&mut self, wave: u32) -> Result<(), DebugError> {
        let waves = self.inspect(|state| state.waves())?;
        if wave >= waves {
            return Err(DebugError::NoWave { wave, waves });
        }
        self.selected = wave;
        Ok(())
    }

    /// The waves of the stopped workgroup.
    pub fn waves(&self) -> Result<Vec<WaveInfo>, DebugError> {
        let module = self.module()?;
        self.inspect(move |state| {
            let info = |wave| {
                let registers = state.wave(wave);
                WaveInfo {
                    wave,
                    phase: state.phase(wave),
                    place: CodePlace::of(&module, registers.map_or(0, |it| it.pc)),
                    exec: registers.map_or(0, |it| it.exec()),
                    executed: state.executed(wave),
                }
            };
            (0..state.waves()).map(info).collect()
        })
    }

    /// The registers of the selected wave.
    pub fn registers(&self) -> Result<Box<WaveState>, DebugError> {
        let wave = self.selected;
        let copy = self.inspect(move |state| state.wave(wave).map(|it| Box::new(it.clone())))?;
        copy.ok_or(DebugError::NotStopped)
    }

    /// The functions that the selected wave is in, the innermost first, by the calls that it has made.
    pub fn backtrace(&self) -> Result<Vec<Frame>, DebugError> {
        let (module, wave) = (self.module()?, self.selected);
        self.inspect(move |state| {
            let pc = state.wave(wave).map_or(0, |wave| wave.pc);
            let calls = state.calls(wave).iter().rev();
            // Where they go on, and what decides the line.
            let places = calls.map(|call| (call.back, call.site));
            let mut frames = Vec::new();
            for (pc, at) in std::iter::once((pc, pc)).chain(places) {
                let place = CodePlace::of(&module, pc);
                let functions = place::functions(&module, at);
                if functions.is_empty() {
                    frames.push(Frame {
                        function: String::new(),
                        inlined: false,
                        place: place.clone(),
                        pc,
                    });
                }
                frames.extend(functions.into_iter().map(|function| Frame {
                    function: function.name,
                    inlined: function.inlined,
                    place: CodePlace {
                        line: function.line,
                        ..place.clone()
                    },
                    pc,
                }));
            }
            frames
        })
    }

    /// The module of the launch that runs; of the first one if none does.
    pub fn module(&self) -> Result<Module, DebugError> {
        let dispatch = self.stop.as_ref().map_or(0, |stop| stop.dispatch);
        let dispatch = self.program.get(dispatch).ok_or(DebugError::NoLaunch)?;
        Ok(dispatch.kernel.module().clone())
    }

    /// All modules, that of the launch that runs first.
    fn modules(&self) -> Result<impl Iterator<Item = Module>, DebugError> {
        let others = self.program.iter().map(|it| it.kernel.module().clone());
        Ok(std::iter::once(self.module()?).chain(others))
    }

    // ---- code

    /// Guest addresses of a location ([`Place`]): `0x1a00`, `saxpy+0x10`, `file.cl:12`. The code object of
    /// the launch that runs is searched first.
    pub fn locate(&self, text: &str) -> Result<Vec<u64>, DebugError> {
        place::locate(self.modules()?, text)
    }

    /// Instructions around a guest address: at most `before` that precede it in its function, `count` in
    /// all.
    pub fn disassemble(
        &self,
        pc: u64,
        before: usize,
        count: usize,
    ) -> Result<Vec<Disassembled>, DebugError> {
        let found = self.modules()?.find_map(|module| {
            let listed = place::around(&module, pc, before, count);
            (!listed.is_empty()).then_some(listed)
        });
        Ok(found.unwrap_or_default())
    }

    // ---- breakpoints and watchpoints

    fn lock(&self) -> MutexGuard<'_, Points> {
        driver::points(&self.points)
    }

    /// All breakpoints and watchpoints.
    pub fn points(&self) -> Vec<Point> {
        self.lock().all.clone()
    }

    /// Sets a breakpoint at a location ([`Debugger::locate`]).
    pub fn break_at(&mut self, location: &str, limits: Limits) -> Result<Point, DebugError> {
        let all = self.locate(location)?;
        let text = location.trim().to_owned();
        Ok(self.lock().add(Trigger::Code(all), text, limits).clone())
    }

    /// Sets a breakpoint at guest addresses, at each of which an instruction must begin.
    pub fn break_on(
        &mut self,
        addresses: &[u64],
        text: &str,
        limits: Limits,
    ) -> Result<Point, DebugError> {
        for &pc in addresses {
            let begins = |module: Module| place::instruction(module.code(), pc).is_ok();
            if !self.modules()?.any(begins) {
                return Err(PlaceError::NoInstruction(Place::Address(pc)).into());
            }
        }
        let trigger = Trigger::Code(addresses.to_vec());
        Ok(self.lock().add(trigger, text.to_owned(), limits).clone())
    }

    /// The messages of breakpoints and watchpoints that have one ([`Limits::message`]), since they were taken
    /// last, and the number of those that were too many to keep.
    pub fn take_messages(&mut self) -> (Vec<String>, u64) {
        self.lock().take_messages()
    }

    /// Sets a watchpoint on bytes of memory.
    pub fn watch(
        &mut self,
        (space, address, bytes): (Space, u64, u64),
        kind: WatchKind,
        text: &str,
        limits: Limits,
    ) -> Result<Point, DebugError> {
        if bytes == 0 {
            return Err(DebugError::Index("there are no bytes to watch".to_owned()));
        }
        let trigger = Trigger::Memory {
            space,
            address,
            bytes,
            kind,
        };
        Ok(self.lock().add(trigger, text.to_owned(), limits).clone())
    }

    /// Sets a watchpoint on the memory that an expression names: `x[3]`, `x[0:7]`, `lds[16]`,
    /// `scratch[4]`, `mem[0x7f0010]`, or four bytes at the address that it computes. `bytes` sets another size than that
    /// of the elements.
    pub fn watch_text(
        &mut self,
        text: &str,
        (kind, bytes): (WatchKind, Option<u64>),
        limits: Limits,
    ) -> Result<Point, DebugError> {
        let expr = Expr::parse(text)?;
        let found = self.scoped(move |scope| {
            let Some(place) = scope.place(&expr.0)? else {
                let value = scope.evaluate(&expr)?.value;
                return match value {
                    Value::One(scalar) if !scalar.dtype.is_float() => Ok((Space::Global, scalar.bits, 4)),
                    _ => Err(DebugError::Index("an address is one integer".to_owned())),
                };
            };
            // That it can be read shows that it exists.
            let size = place.size();
            Ok(match place.at {
                At::Buffer(address, len, _) => (Space::Global, address, len),
                At::Global(address, count) => (Space::Global, address, count * size),
                At::Lds(offset, count) => {
                    if scope.wave.is_some() {
                        scope.load(&place)?;
                    }
                    (Space::Lds, offset, count * size)
                }
                At::Scratch(offset, _) => {
                    if scope.wave.is_some() {
                        scope.load(&place)?;
                    }
                    (Space::Scratch, offset, size)
                }
                _ => {
                    return Err(DebugError::Operation(
                        "memory can be watched, registers cannot; a condition of a breakpoint can test them"
                            .to_owned(),
                    ));
                }
            })
        })?;
        let (space, address, size) = found;
        let bytes = bytes.unwrap_or(size);
        if space == Space::Global && !self.device.memory().contains(address, bytes) {
            return Err(DebugError::Memory {
                what: "guest memory".to_owned(),
                address,
                bytes,
                limit: None,
            });
        }
        self.watch((space, address, bytes), kind, text.trim(), limits)
    }

    /// Deletes a breakpoint or a watchpoint.
    pub fn delete(&mut self, id: u32) -> Result<(), DebugError> {
        let mut points = self.lock();
        let count = points.all.len();
        points.all.retain(|point| point.id != id);
        match points.all.len() == count {
            true => Err(DebugError::NoPoint(id)),
            false => Ok(()),
        }
    }

    /// Heeds a breakpoint or a watchpoint, or no longer does.
    pub fn enable(&mut self, id: u32, enabled: bool) -> Result<(), DebugError> {
        let mut points = self.lock();
        let point = points.all.iter_mut().find(|point| point.id == id);
        point.ok_or(DebugError::NoPoint(id))?.enabled = enabled;
        Ok(())
    }

    // ---- expressions

    /// What `f` finds in the scope of the selected wave, or without one if none is stopped.
    fn scoped<R: Send + 'static>(
        &self,
        f: impl FnOnce(&Scope<'_>) -> Result<R, DebugError> + Send + 'static,
    ) -> Result<R, DebugError> {
        let (wave, buffers) = (self.selected, self.buffers.clone());
        if self.stop.is_none() {
            let memory = self.device.memory();
            return f(&Scope {
                memory: &memory,
                buffers: &buffers,
                wave: None,
            });
        }
        self.inspect(move |state| f(&Scope::of(state, wave, &buffers)?))?
    }

    /// The value of an expression in the selected wave. Buffers and memory have values after the program's
    /// end, too.
    pub fn evaluate(&self, text: &str) -> Result<Evaluated, DebugError> {
        let expr = Expr::parse(text)?;
        self.scoped(move |scope| scope.evaluate(&expr))
    }

    /// Consecutive elements of memory from the one that an expression names, or from the address that it
    /// computes, on; of another type than their own if one is given.
    pub fn examine(
        &self,
        text: &str,
        dtype: Option<Dtype>,
        count: u64,
    ) -> Result<Evaluated, DebugError> {
        let expr = Expr::parse(text)?;
        self.scoped(move |scope| scope.examine(&expr, dtype, count))
    }

    /// Sets a register or an element of memory: `v3[5]`, `x[7]`. Of a vector register without a lane, the
    /// active lanes are set.
    pub fn assign(&mut self, to: &str, value: &str) -> Result<(), DebugError> {
        let (to, value) = (Expr::parse(to)?, Expr::parse(value)?);
        let (wave, buffers) = (self.selected, self.buffers.clone());
        let change = move |state: &mut State<'_, '_>| {
            let write = Scope::of(state, wave, &buffers)?.assignment(&to, &value)?;
            make(state, wave, write)
        };
        self.inspect(change)?
    }
}

/// Runs the launches of a program. `None` if they were cancelled.
fn launches(
    device: &Device,
    program: &[Dispatch],
    course: &Course,
    cancel: &CancelToken,
) -> Option<Ended> {
    for (number, dispatch) in program.iter().enumerate() {
        for launch in 0..dispatch.repeat {
            course.dispatch.store(number, Relaxed);
            course.launch.store(launch, Relaxed);
            let base = device.settings();
            let settings = Settings {
                stack_bytes: dispatch.stack_bytes.or(base.stack_bytes),
                gws: dispatch.gws.clone(),
                cancel: Some(cancel.clone()),
                steady: true,
                ..base
            };
            let Dispatch {
                kernel,
                launch,
                args,
                ..
            } = dispatch;
            match device.launch_with(kernel, launch, args, &settings) {
                Ok(_) => {}
                Err(Error::Cancelled { .. }) => return None,
                Err(Error::Fault(fault)) => {
                    return Some(Ended::Fault {
                        dispatch: number,
                        fault,
                    });
                }
                Err(error) => {
                    return Some(Ended::Refused {
                        dispatch: number,
                        error,
                    });
                }
            }
        }
    }
    Some(Ended::Completed)
}
