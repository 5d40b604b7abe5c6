//! Threads, which are waves, their frames, and the scopes of a frame.

use serde::Deserialize;
use serde_json::json;
use wavelift::debug::Phase;

use super::memory;
use super::request::Request;
use super::server::{Answer, Server};
use super::variables::{Handle, Kind};
use crate::cli::debug::act::Failure;

/// Frames of a wave that have a number of their own.
const FRAMES: u64 = 1 << 20;

/// Frames in one response, if the client does not say how many.
const LEVELS: usize = 1000;

impl Server<'_, '_> {
    /// Takes down how the waves are called.
    pub(super) fn name_threads(&mut self) -> Result<(), Failure> {
        let Some(stop) = self.shell.debugger.stop() else {
            return Ok(());
        };
        let [x, y, z] = stop.workgroup;
        let several = self.shell.session.dispatches.len() > 1;
        let dispatch = match several {
            true => format!(", dispatch {}", stop.dispatch),
            false => String::new(),
        };
        let name = |(wave, phase): (u32, Phase)| {
            let what = match phase {
                Phase::Ready => "",
                Phase::Barrier => ", at the barrier",
                Phase::Ended => ", has ended",
            };
            format!("wave {wave} of workgroup ({x},{y},{z}){dispatch}{what}")
        };
        let waves = self.shell.debugger.waves()?;
        let waves = waves.into_iter().map(|info| (info.wave, info.phase));
        self.threads = waves.map(name).collect();
        Ok(())
    }

    pub(super) fn threads(&self) -> Answer {
        let threads = self.threads.iter().enumerate();
        let threads = threads.map(|(index, name)| json!({ "id": index + 1, "name": name }));
        let mut threads: Vec<_> = threads.collect();
        if threads.is_empty() && self.shell.debugger.is_running() {
            // A client can pause only what it knows.
            threads.push(json!({ "id": 1, "name": "wave 0" }));
        }
        Ok(json!({ "threads": threads }))
    }

    pub(super) fn stack_trace(&mut self, request: &Request) -> Answer {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Arguments {
            thread_id: u64,
            #[serde(default)]
            start_frame: usize,
            #[serde(default)]
            levels: usize,
        }
        let arguments: Arguments = request.arguments()?;
        let wave = self.select(arguments.thread_id)?;
        let frames = self.shell.debugger.backtrace()?;
        let total = frames.len();
        let levels = match arguments.levels {
            0 => LEVELS,
            levels => levels,
        };
        let mut shown = Vec::new();
        let part = frames
            .into_iter()
            .enumerate()
            .skip(arguments.start_frame)
            .take(levels);
        for (number, frame) in part {
            let symbol = frame.place.symbol.as_ref();
            let name = match (frame.function.is_empty(), symbol) {
                (false, _) => frame.function.clone(),
                (true, Some((name, offset))) => format!("{name}+0x{offset:x}"),
                (true, None) => format!("0x{:x}", frame.place.address),
            };
            let mut body = self.place(frame.pc, frame.place.line.as_ref());
            body["id"] = (u64::from(wave) * FRAMES + number as u64 + 1).into();
            body["name"] = match frame.inlined {
                true => format!("{name} (inlined)").into(),
                false => name.into(),
            };
            body["instructionPointerReference"] = memory::reference(frame.pc).into();
            shown.push(body);
        }
        Ok(json!({ "stackFrames": shown, "totalFrames": total }))
    }

    /// The wave of a frame is selected; without a frame it remains the one that is.
    pub(super) fn select_frame(&mut self, frame: Option<u64>) -> Result<(), Failure> {
        let Some(frame) = frame else { return Ok(()) };
        let wave = frame.checked_sub(1).map(|frame| frame / FRAMES);
        let wave = wave.and_then(|wave| u32::try_from(wave).ok());
        let wave = wave.ok_or_else(|| format!("there is no frame {frame}"))?;
        Ok(self.shell.debugger.select(wave)?)
    }

    pub(super) fn scopes(&mut self, request: &Request) -> Answer {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Arguments {
            frame_id: u64,
        }
        let Arguments { frame_id } = request.arguments()?;
        self.select_frame(Some(frame_id))?;
        let wave = self.shell.debugger.selected();
        let (lds, scratch) = self
            .shell
            .debugger
            .inspect(move |state| (state.lds().len(), state.scratch(wave).lane_bytes))?;
        let agprs = self.shell.debugger.registers()?.agprs_touched != 0;
        let mut scopes = Vec::new();
        let mut scope = |name: &str, kind: Kind, registers: bool, indexed: Option<u64>| {
            let reference = self.handles.add(Handle::Scope(wave, kind));
            let mut body = json!({
                "name": name,
                "variablesReference": reference,
                "expensive": matches!(kind, Kind::Lds | Kind::Scratch),
            });
            if registers {
                body["presentationHint"] = "registers".into();
            }
            if let Some(count) = indexed {
                body["indexedVariables"] = count.into();
            }
            scopes.push(body);
        };
        scope("Buffers", Kind::Buffers, false, None);
        scope("Special registers", Kind::Special, true, None);
        scope("Scalar registers", Kind::Scalars, true, None);
        scope("Vector registers", Kind::Vectors, true, None);
        if agprs {
            scope("Accumulation registers", Kind::Accumulation, true, None);
        }
        if lds >= 4 {
            scope("LDS", Kind::Lds, false, Some(lds as u64 / 4));
        }
        if scratch >= 4 {
            scope(
                "Scratch",
                Kind::Scratch,
                false,
                Some(u64::from(scratch) / 4),
            );
        }
        Ok(json!({ "scopes": scopes }))
    }
}
