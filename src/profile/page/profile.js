// SPDX-License-Identifier: Apache-2.0
// Reads the profile that the page carries: its head, its texts and its records as columns (../page_records.h).

export const Kind = {
    call: 1, task: 2, node: 3, block: 4, step: 5, piece: 6, detail: 7, memory: 8, mark: 9, counter: 10, stepPoint: 11,
    idle: 12,
};
export const Task = {
    kernel: 0, cpuKernel: 1, copy: 2, fill: 3, signal: 4, wait: 5, writeValue: 6, waitValue: 7, hostCall: 8,
    runtimeCall: 9, replay: 10, condition: 11, control: 12, mark: 13,
};
export const Detail = {bytes: 1, place: 2, waitsFor: 3, releasedBy: 4, submitted: 5, code: 6, model: 7};
export const TaskFlag = {failed: 1, dropped: 2, fused: 4, builtIn: 8};
export const mixCore = 3;
export const Role = {host: 0, worker: 1, cpuCore: 2, runtime: 3};
export const taskWords = ['kernel', 'CPU kernel', 'copy', 'fill', 'signal', 'wait', 'write of a value',
    'wait for a value', 'host function', 'runtime call', 'graph replay', 'condition', 'control', 'mark'];
export const coreWords = ['', 'cube', 'vector', 'mix', 'CPU'];
export const copyWords = ['copy', 'host to host', 'host to device', 'device to host', 'device to device',
    'between devices'];

class Reader {
    constructor(bytes) {
        this.bytes = bytes;
        this.at = 0;
    }
    number() {
        const bytes = this.bytes;
        let at = this.at;
        let byte = bytes[at++];
        let value = byte & 127;
        if (byte > 127) {
            let factor = 128;
            do {
                byte = bytes[at++];
                value += (byte & 127) * factor;
                factor *= 128;
            } while (byte > 127);
        }
        this.at = at;
        if (at > bytes.length) throw new Error('the records of this page end early');
        return value;
    }
    text(decoder) {
        const size = this.number();
        this.at += size;
        return decoder.decode(this.bytes.subarray(this.at - size, this.at));
    }
    // Differences of 32-bit numbers may need 34 bits and are whole numbers throughout.
    differences(to, from, until) {
        let value = 0;
        for (let i = from; i < until; ++i) {
            const coded = this.number();
            const half = Math.floor(coded / 2);
            value += coded % 2 === 0 ? half : -half - 1;
            to[i] = value;
        }
    }
    numbers(to, from, until) {
        for (let i = from; i < until; ++i) to[i] = this.number();
    }
}

function bytesOfBase64(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
    return bytes;
}

async function inflated(base64) {
    const stream = new Blob([bytesOfBase64(base64)]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Profile {
    constructor(head, texts) {
        this.head = head;
        this.texts = texts;
        const count = this.count = head.count;
        this.begin = new Float64Array(count);  // nanoseconds since the first record
        this.duration = new Float64Array(count);
        this.kind = new Uint8Array(count);
        this.thread = new Uint16Array(count);  // places in head.threads
        this.name = new Uint32Array(count);    // places in texts
        this.object = new Uint32Array(count);
        this.argument = new Uint32Array(count);
        this.stream = new Uint32Array(count);  // the upper and the lower half of `link`
        this.task = new Uint32Array(count);
        this.details = {record: [], type: [], high: [], low: []};
    }

    end(i) { return this.kind[i] === Kind.memory ? this.begin[i] : this.begin[i] + this.duration[i]; }
    link(i) { return this.stream[i] * 4294967296 + this.task[i]; }
    // The text that stands for a record: of a mark what it says, of others their name.
    label(i) { return this.kind[i] === Kind.mark ? this.object[i] : this.name[i]; }
    taskType(i) { return this.object[i] & 255; }
    how(i) { return this.object[i] >>> 8 & 255; }
    device(i) { return this.object[i] >>> 16 & 255; }
    flags(i) { return this.object[i] >>> 24; }
    isTask(i) { return this.kind[i] === Kind.task || this.kind[i] === Kind.node; }
    isWait(i) {
        return this.isTask(i) && (this.taskType(i) === Task.wait || this.taskType(i) === Task.waitValue);
    }
    // Fused kernels run steps instead.
    runsBlocks(i) {
        return this.isTask(i) && this.taskType(i) === Task.kernel && !(this.flags(i) & (TaskFlag.fused | TaskFlag.dropped));
    }
    // Whether a kernel is its only block: the thread that wrote it ran it (../details.h).
    isItsBlock(i) { return this.runsBlocks(i) && this.argument[i] === 1 && this.how(i) !== mixCore; }
    // {high, low} or undefined
    detail(i, type) {
        const {record, type: types, high, low} = this.details;
        let from = 0, until = record.length;
        while (from < until) {
            const middle = from + until >> 1;
            if (record[middle] < i) from = middle + 1; else until = middle;
        }
        for (; from < record.length && record[from] === i; ++from)
            if (types[from] === type) return {high: high[from], low: low[from]};
        return undefined;
    }
    detailNumber(i, type) {
        const found = this.detail(i, type);
        return found && found.high * 4294967296 + found.low;
    }
    bytes(i) { return this.detailNumber(i, Detail.bytes) ?? this.argument[i]; }
}

function readPiece(profile, reader, thread, from, until) {
    const {kind} = profile;
    kind.set(reader.bytes.subarray(reader.at, reader.at + until - from), from);
    reader.at += until - from;
    profile.thread.fill(thread, from, until);
    reader.numbers(profile.name, from, until);
    reader.differences(profile.begin, from, until);
    reader.numbers(profile.duration, from, until);
    reader.numbers(profile.object, from, until);
    reader.numbers(profile.argument, from, until);
    reader.differences(profile.stream, from, until);
    reader.differences(profile.task, from, until);
    const {record, type, high, low} = profile.details;
    for (let left = reader.number(); left > 0; --left) {
        record.push(until - reader.number());
        type.push(reader.number());
        high.push(reader.number());
        low.push(reader.number());
    }
}

function sortDetails(details) {
    const {record} = details;
    let sorted = true;
    for (let i = 1; i < record.length && sorted; ++i) sorted = record[i - 1] <= record[i];
    if (sorted) return;
    const order = record.map((_, i) => i).sort((a, b) => record[a] - record[b] || a - b);
    for (const key of Object.keys(details)) {
        const column = details[key];
        details[key] = order.map(i => column[i]);
    }
}

export async function readProfile(base64) {
    const reader = new Reader(await inflated(base64));
    const decoder = new TextDecoder();
    const head = JSON.parse(reader.text(decoder));
    const texts = [];
    for (let left = reader.number(); left > 0; --left) texts.push(reader.text(decoder));
    const profile = new Profile(head, texts);
    let from = 0;
    for (let thread = reader.number(); thread !== 0; thread = reader.number()) {
        const until = from + reader.number();
        if (until > profile.count) throw new Error('this page holds more records than it says');
        readPiece(profile, reader, thread - 1, from, until);
        from = until;
    }
    profile.count = from;  // less if damage was found on the way
    sortDetails(profile.details);
    return profile;
}
