// Sessions with wavelift debug --dap, by Microsoft's client for tests of adapters.
//
// WAVELIFT_PROGRAM is the program; the working directory is that of the project.

'use strict';

const assert = require('node:assert/strict');
const { execFileSync, spawn } = require('node:child_process');
const path = require('node:path');
const test = require('node:test');
const { DebugClient } = require('@vscode/debugadapter-testsupport');

const PROGRAM = process.env.WAVELIFT_PROGRAM;
const ADAPTER = path.join(__dirname, 'adapter.sh');
const TRACE = 'tests/dap/trace.toml';
const SAXPY = 'examples/saxpy/saxpy.gfx900.toml';
const HISTOGRAM = 'examples/histogram/histogram.gfx900.toml';
const FAULTS = 'tests/kernels/faults/faults.gfx900.co';
const LINES = 'tests/kernels/source/lines.gfx906.co';
const NORMS = { program: LINES, kernel: '_Z5normsIfEvPT_PKS0_i', grid: 64, block: [64], args: ['bytes:256', 'bytes:256', 5] };

// A session on standard input and output.
function session(name, body) {
    test(name, { timeout: 120000 }, async () => {
        const client = new DebugClient('sh', ADAPTER, 'wavelift', undefined, true);
        client.defaultTimeout = 60000;
        await client.start();
        try {
            await body(client);
        } finally {
            await client.stop();
        }
    });
}

// Starts a program, after `configure`, and returns its first stop.
async function begin(client, launch, configure) {
    const [, , , stopped] = await Promise.all([
        client.waitForEvent('initialized').then(async () => {
            if (configure) await configure();
            await client.configurationDoneRequest();
        }),
        client.initializeRequest(),
        client.launchRequest(launch),
        client.waitForEvent('stopped'),
    ]);
    return stopped.body;
}

// Sends a request that lets the program run, and returns the next stop.
async function go(client, command, args) {
    const [stopped] = await Promise.all([client.waitForEvent('stopped'), client.send(command, args)]);
    return stopped.body;
}

async function frame(client, threadId) {
    const { body } = await client.stackTraceRequest({ threadId });
    return body.stackFrames[0];
}

async function evaluate(client, expression, frameId) {
    const { body } = await client.evaluateRequest({ expression, frameId, context: 'watch' });
    return body;
}

// The address of a frame's next instruction in the guest.
async function at(client, threadId) {
    return BigInt((await frame(client, threadId)).instructionPointerReference);
}

async function refused(promise, message) {
    await assert.rejects(promise, (error) => {
        assert.match(error.message, message);
        return true;
    });
}

// The trace of the first wave, by the command line.
function trace(manifest) {
    const text = execFileSync(PROGRAM, ['run', manifest, '--trace', '--trace-json'], { encoding: 'utf8' });
    return text.trim().split('\n').map((line) => JSON.parse(line));
}

session('stops and registers at every step are those of the trace', async (client) => {
    const events = trace(TRACE);
    const first = await begin(client, { program: TRACE, stopOnEntry: true });
    assert.equal(first.reason, 'entry');
    let compared = 0;
    for (const [index, event] of events.entries()) {
        const here = await frame(client, 1);
        const { body: listed } = await client.send('disassemble', {
            memoryReference: here.instructionPointerReference,
            instructionCount: 1,
        });
        assert.equal(listed.instructions[0].instruction, event.instruction, `instruction ${index}`);
        assert.equal(listed.instructions[0].symbol, event.symbol.replace(/\+0x0$/, ''));
        const last = event.next === 'end';
        const stopped = await go(client, 'stepIn', { threadId: 1, granularity: 'instruction' });
        assert.equal(stopped.reason, 'step');
        if (last) break;
        for (const change of event.registers) {
            if (change.format !== 'b32' || change.value === undefined) continue;
            if (!/^s\d+$/.test(change.register)) continue;
            const { result } = await evaluate(client, `${change.register}/x`, here.id);
            assert.equal(BigInt(result), BigInt(change.value), `${change.register} behind instruction ${index}`);
            compared += 1;
        }
        for (const change of event.registers) {
            if (change.format !== 'b32' || change.lanes === undefined) continue;
            for (const [lane, value] of change.lanes) {
                const { result } = await evaluate(client, `${change.register}[${lane}]/x`, here.id);
                assert.equal(BigInt(result), BigInt(value), `${change.register}[${lane}] behind instruction ${index}`);
                compared += 1;
            }
        }
    }
    assert.ok(compared > 100, `${compared} values`);
});

session('breakpoints on functions stop each wave, with conditions, counts and messages', async (client) => {
    const messages = [];
    client.on('output', (event) => messages.push(event.body.output));
    const stopped = await begin(client, { program: SAXPY }, async () => {
        const { body } = await client.send('setFunctionBreakpoints', {
            breakpoints: [
                { name: 'saxpy+0x8c', condition: 'exec != 0', hitCondition: '2' },
                { name: 'saxpy', logMessage: 'wave begins at {pc}, {nonsense}' },
                { name: 'saxpy', logMessage: 'open {' },
                { name: 'nothing' },
                { name: 'saxpy', condition: '1 +' },
                { name: 'saxpy', hitCondition: 'often' },
            ],
        });
        const [first, second, ...others] = body.breakpoints;
        assert.deepEqual([first.verified, second.verified], [true, true]);
        assert.deepEqual(others.map((point) => point.verified), [false, false, false, false]);
        assert.match(others[1].message, /nothing/);
        assert.match(others[3].message, /a number of hits was expected/);
    });
    assert.equal(stopped.reason, 'function breakpoint');
    assert.equal(stopped.threadId, 2);
    assert.match(messages.join(''), /wave begins at 0x1900, \(`nonsense` is neither/);
    const { body } = await client.threadsRequest();
    assert.match(body.threads[1].name, /^wave 1 of workgroup \(0,0,0\)/);
    const here = await frame(client, 2);
    assert.equal((await evaluate(client, 'v2[5].f32', here.id)).result, '-1.2730312');
    const again = await go(client, 'continue', { threadId: 2 });
    assert.equal(again.threadId, 3);
});

session('lines of source text: breakpoints, stacks of inlined functions, steps', async (client) => {
    const source = path.resolve('tests/kernels/source/lines.hip');
    const stopped = await begin(client, NORMS, async () => {
        const { body } = await client.setBreakpointsRequest({
            source: { path: source },
            breakpoints: [{ line: 16 }, { line: 4000 }],
        });
        assert.equal(body.breakpoints[0].verified, true);
        assert.equal(body.breakpoints[0].line, 16);
        assert.equal(body.breakpoints[1].verified, false);
        const other = await client.setBreakpointsRequest({
            source: { path: '/nowhere/other.hip' },
            breakpoints: [{ line: 1 }],
        });
        assert.match(other.body.breakpoints[0].message, /no code comes from line 1/);
    });
    assert.equal(stopped.reason, 'breakpoint');
    const { body } = await client.stackTraceRequest({ threadId: 1 });
    assert.deepEqual(body.stackFrames.slice(0, 2).map((it) => it.name),
        ['float norm<float>(float, float) (inlined)', 'void norms<float>(float*, float const*, int)']);
    assert.equal(body.stackFrames[0].line, 16);
    assert.equal(body.stackFrames[0].source.path, source);
    assert.equal(body.totalFrames, body.stackFrames.length);
    const before = await at(client, 1);
    await go(client, 'next', { threadId: 1 });
    const line = (await frame(client, 1)).line;
    assert.notEqual(line, 16);
    await go(client, 'stepBack', { threadId: 1 });
    assert.equal((await frame(client, 1)).line, 16);
    await go(client, 'stepIn', { threadId: 1, granularity: 'instruction' });
    await go(client, 'stepBack', { threadId: 1, granularity: 'instruction' });
    assert.equal((await frame(client, 1)).line, 16);
    assert.ok((await at(client, 1)) >= before);
    // Into the function that is not inlined, and out of it.
    await client.setBreakpointsRequest({ source: { path: source }, breakpoints: [{ line: 25 }] });
    await go(client, 'continue', { threadId: 1 });
    const inside = await client.stackTraceRequest({ threadId: 1 });
    assert.match(inside.body.stackFrames[0].name, /filter::clamp/);
    assert.match(inside.body.stackFrames[1].name, /norms<float>/);
    await go(client, 'stepOut', { threadId: 1 });
    assert.match((await frame(client, 1)).name, /norms<float>/);
    const loaded = await client.send('loadedSources', {});
    assert.ok(loaded.body.sources.some((it) => it.path === source));
    // Out of the kernel: the wave ends.
    await client.setBreakpointsRequest({ source: { path: source }, breakpoints: [] });
    const out = await go(client, 'stepOut', { threadId: 1 });
    assert.match(out.description, /the wave has ended/);
});

session('watched memory, and back to before the write', async (client) => {
    const stopped = await begin(client, { program: HISTOGRAM }, async () => {
        const info = await client.send('dataBreakpointInfo', { name: 'bins[7]' });
        assert.equal(info.body.dataId, 'bins[7]');
        const none = await client.send('dataBreakpointInfo', { name: 'v3' });
        assert.equal(none.body.dataId, null);
        const { body } = await client.send('setDataBreakpoints', {
            breakpoints: [{ dataId: 'bins[7]', accessType: 'write' }, { dataId: 'nothing' }],
        });
        assert.deepEqual(body.breakpoints.map((point) => point.verified), [true, false]);
        await refused(client.send('setDataBreakpoints', { breakpoints: [{ dataId: 'bins[7]', accessType: 'guess' }] }),
            /unknown variant `guess`/);
    });
    assert.equal(stopped.reason, 'data breakpoint');
    assert.match(stopped.description, /lane 7 changed bins\[7\] from 0 to 46/);
    assert.equal((await evaluate(client, 'bins[7]')).result, '46');
    await go(client, 'stepBack', { threadId: stopped.threadId, granularity: 'instruction' });
    assert.equal((await evaluate(client, 'bins[7]')).result, '0');
    const again = await go(client, 'continue', { threadId: stopped.threadId });
    assert.equal(again.reason, 'data breakpoint');
    const back = await go(client, 'reverseContinue', { threadId: stopped.threadId });
    assert.equal(back.reason, 'step');
    await go(client, 'restart', {});
    assert.equal((await evaluate(client, 'bins[7]')).result, '46');
});

session('scopes, variables by lane, assignments, memory', async (client) => {
    await begin(client, { program: TRACE, stopOnEntry: true }, async () => {
        await client.send('setInstructionBreakpoints', { breakpoints: [] });
    });
    const entry = await frame(client, 1);
    const { body: set } = await client.send('setInstructionBreakpoints', {
        breakpoints: [
            { instructionReference: entry.instructionPointerReference, offset: 0x90 },
            { instructionReference: '0x3', offset: 0 },
            { instructionReference: 'here' },
        ],
    });
    assert.deepEqual(set.breakpoints.map((point) => point.verified), [true, false, false]);
    const stopped = await go(client, 'continue', { threadId: 1 });
    assert.equal(stopped.reason, 'instruction breakpoint');
    const here = await frame(client, 1);
    assert.match(here.source.name, /^trace \(disassembly\)/);
    const { body: text } = await client.send('source', { sourceReference: here.source.sourceReference });
    assert.match(text.content.split('\n')[here.line - 1], /s_waitcnt lgkmcnt\(0\)/);
    const { body: scopes } = await client.scopesRequest({ frameId: here.id });
    const scope = (name) => scopes.scopes.find((it) => it.name === name).variablesReference;
    const { body: vectors } = await client.variablesRequest({ variablesReference: scope('Vector registers') });
    const v0 = vectors.variables[0];
    assert.equal(v0.name, 'v0');
    assert.equal(v0.indexedVariables, 64);
    const { body: lanes } = await client.variablesRequest({
        variablesReference: v0.variablesReference, filter: 'indexed', start: 56, count: 2, format: { hex: true },
    });
    assert.deepEqual(lanes.variables.map((it) => [it.name, it.value]), [['[56]', '0x40000000'], ['[57]', '0x3fe00000']]);
    const written = await client.send('setVariable', {
        variablesReference: v0.variablesReference, name: '[3]', value: '1.5',
    });
    assert.equal(written.body.value, '0x3fc00000');
    assert.equal((await evaluate(client, 'v0[3].f32', here.id)).result, '1.5');
    await client.send('setExpression', { expression: 's9', value: '7', frameId: here.id });
    const { body: scalars } = await client.variablesRequest({
        variablesReference: scope('Scalar registers'), start: 9, count: 1,
    });
    assert.equal(scalars.variables[0].value, '0x7');
    const { body: special } = await client.variablesRequest({ variablesReference: scope('Special registers') });
    assert.equal(special.variables.find((it) => it.name === 'exec').value, '0xffffffffffffffff');
    const { body: lds } = await client.variablesRequest({ variablesReference: scope('LDS'), start: 1, count: 1 });
    assert.equal(lds.variables[0].name, '[0x4]');
    const { body: buffers } = await client.variablesRequest({ variablesReference: scope('Buffers') });
    const input = buffers.variables.find((it) => it.name === 'in');
    assert.match(input.value, /^8 elements of f32 at 0x/);
    const { body: elements } = await client.variablesRequest({
        variablesReference: input.variablesReference, start: 6, count: 9,
    });
    assert.deepEqual(elements.variables.map((it) => it.value), ['1.75', '2.0']);
    const { body: memory } = await client.send('readMemory', { memoryReference: input.memoryReference, count: 8 });
    const bytes = Buffer.from(memory.data, 'base64');
    assert.deepEqual([bytes.readFloatLE(0), bytes.readFloatLE(4)], [0.25, 0.5]);
    bytes.writeFloatLE(3.25, 4);
    await client.send('writeMemory', { memoryReference: input.memoryReference, data: bytes.toString('base64') });
    assert.equal((await evaluate(client, '@in[1]')).result, '3.25');
    const { body: nothing } = await client.send('readMemory', { memoryReference: '0x10', count: 8 });
    assert.equal(nothing.unreadableBytes, 8);
    const { body: around } = await client.send('disassemble', {
        memoryReference: entry.instructionPointerReference, instructionOffset: -2, instructionCount: 4,
    });
    assert.deepEqual(around.instructions.map((it) => it.presentationHint), ['invalid', 'invalid', undefined, undefined]);
    assert.match(around.instructions[2].instruction, /^s_load_dwordx2/);
    await refused(client.variablesRequest({ variablesReference: 999 }), /they are valid until the program goes on/);
    await refused(evaluate(client, 'v0 +', here.id), /at `/);
});

session('a fault is an exception, and the end has an exit status', async (client) => {
    const stopped = await begin(client, { program: FAULTS, kernel: 'wild_load', grid: 64, args: ['bytes:4096', 64] });
    assert.equal(stopped.reason, 'exception');
    assert.match(stopped.text, /lane 17 read 4 bytes at 0x40/);
    const { body } = await client.send('exceptionInfo', { threadId: 1 });
    assert.match(body.description, /64 bytes from a null pointer/);
    assert.equal((await evaluate(client, 'v[2:3][17]/x')).result, '0x40');
    const [exited] = await Promise.all([
        client.waitForEvent('exited'), client.waitForEvent('terminated'), client.continueRequest({ threadId: 1 }),
    ]);
    assert.equal(exited.body.exitCode, 3);
    await refused(client.send('stackTrace', { threadId: 1 }), /no wave is stopped/);
});

session('a program without stops ends with its expectations', async (client) => {
    const output = [];
    client.on('output', (event) => output.push(event.body.output));
    const [exited] = await Promise.all([
        client.waitForEvent('exited'),
        client.waitForEvent('terminated'),
        client.configurationSequence(),
        client.launch({ program: SAXPY }),
    ]);
    assert.equal(exited.body.exitCode, 0);
    assert.match(output.join(''), /the program has ended\nexpect y: ok/);
});

session('pause stops a program that does not end', async (client) => {
    await begin(client, { program: FAULTS, kernel: 'endless', grid: 64, args: ['bytes:64', '0'], stopOnEntry: true });
    await client.continueRequest({ threadId: 1 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const stopped = await go(client, 'pause', { threadId: 1 });
    assert.equal(stopped.reason, 'pause');
    // Requests are answered and breakpoints are set while the program runs.
    await client.continueRequest({ threadId: 1 });
    const { body: running } = await client.threadsRequest();
    assert.equal(running.threads.length, 1);
    // The program may stop before the answer is read.
    const hit = client.waitForEvent('stopped');
    const { body: set } = await client.send('setFunctionBreakpoints', { breakpoints: [{ name: 'endless+0x10' }] });
    assert.equal(set.breakpoints[0].verified, true);
    await hit;
    await client.send('setFunctionBreakpoints', { breakpoints: [] });
    // Right behind the request to go on.
    const both = [client.waitForEvent('stopped'), client.continueRequest({ threadId: 1 }), client.send('pause', { threadId: 1 })];
    assert.equal((await Promise.all(both))[0].body.reason, 'pause');
    await Promise.all([client.waitForEvent('terminated'), client.send('terminate', {})]);
});

session('the console takes commands of the debugger', async (client) => {
    await begin(client, { program: TRACE, stopOnEntry: true });
    const repl = async (expression) => (await client.evaluateRequest({ expression, context: 'repl' })).body.result;
    assert.match(await repl('break trace+0x88 wave 0'), /^breakpoint 1 at 0x1a88/);
    assert.equal(await repl('exec/x'), '0xffffffffffffffff');
    assert.match(await repl('info waves'), /wave 0: runs/);
    const [stopped] = await Promise.all([client.waitForEvent('stopped'), repl('continue')]);
    assert.deepEqual(stopped.body.hitBreakpointIds, [1]);
    await refused(repl('fly'), /fly/);
});

session('requests that make no sense are refused with a reason', async (client) => {
    await client.initializeRequest();
    await refused(client.initializeRequest(), /sent before/);
    await refused(client.threadsRequest(), /threads before launch/);
    await refused(client.configurationDoneRequest(), /configurationDone before launch/);
    await refused(client.launchRequest({}), /missing field `program`/);
    await refused(client.launchRequest({ program: 'nothing.toml' }), /nothing\.toml/);
    await refused(client.launchRequest({ program: SAXPY, grid: 'wide' }), /--grid/);
    await refused(client.launchRequest({ program: SAXPY, grid: 64 }), /is a launch manifest/);
    await refused(client.launchRequest({ program: SAXPY, args: [{}] }), /arguments of launch/);
    await refused(client.attachRequest({}), /nothing to attach to/);
    await refused(client.send('dance', {}), /there is no request `dance` here/);
    await client.launchRequest({ program: SAXPY, stopOnEntry: true });
    await refused(client.launchRequest({ program: SAXPY }), /sent before/);
    await refused(client.send('next', { threadId: 1 }), /no wave is stopped/);
    await Promise.all([client.waitForEvent('stopped'), client.configurationDoneRequest()]);
    await refused(client.send('next', { threadId: 99 }), /has no wave 98/);
    await refused(client.send('next', { threadId: 0 }), /thread 0/);
    await refused(client.send('next', {}), /missing field `threadId`/);
    await refused(client.send('readMemory', { memoryReference: 'x', count: 1 }), /`x`/);
    await refused(client.send('disassemble', { memoryReference: '0x0', instructionCount: 1e9 }), /are the most/);
});

test('a port serves one client', { timeout: 120000 }, async () => {
    const adapter = spawn(PROGRAM, ['debug', '--dap=0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const port = await new Promise((resolve) => {
        adapter.stdout.on('data', (text) => {
            const found = /127\.0\.0\.1:(\d+)/.exec(text);
            if (found) resolve(Number(found[1]));
        });
    });
    const client = new DebugClient('', '', 'wavelift');
    client.defaultTimeout = 60000;
    await client.start(port);
    const stopped = await begin(client, { program: SAXPY, stopOnEntry: true });
    assert.equal(stopped.reason, 'entry');
    const ended = new Promise((resolve) => adapter.on('exit', resolve));
    await client.disconnectRequest();
    assert.equal(await ended, 0);
});
