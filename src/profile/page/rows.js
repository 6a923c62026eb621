// SPDX-License-Identifier: Apache-2.0
// The rows of the timeline: which records each one shows, in which order, under which heading.

import {BusyCurve, StepCurve} from './curves.js';
import {lanesOf} from './lanes.js';
import {copyWords, Detail, Kind, Role, Task} from './profile.js';

export const headingHeight = 26;
const laneHeight = {stream: 24, nodes: 17, steps: 15, copies: 18, worker: 15, thread: 17, marks: 18};
const curveHeight = 42;

// A row of spans, a row with a curve, or a heading. `parent` is the row that unfolds into this one.
class Row {
    constructor(type, id, label, more = {}) {
        Object.assign(this, {type, id, label, note: '', records: [], lanes: [], curve: null, parent: null, open: true}, more);
    }
    get laneHeight() { return laneHeight[this.type] ?? 17; }
    get height() {
        if (this.type === 'heading') return headingHeight;
        if (this.curve) return curveHeight;
        return Math.max(1, this.lanes.length) * this.laneHeight + 3;
    }
}

const roleNames = ['Host thread', 'Worker', 'CPU core', 'Runtime thread'];

export function threadLabel(thread) {
    if (thread.role === Role.worker || thread.role === Role.cpuCore) return `${roleNames[thread.role]} ${thread.index}`;
    return thread.name || `${roleNames[thread.role]} ${thread.number}`;
}

class Rows {
    constructor(profile) {
        this.profile = profile;
        this.streamDevices = new Map();
        for (const stream of [...profile.head.streams.sums, ...profile.head.streams.known])
            this.streamDevices.set(stream.number, stream.device);
        this.streams = new Map();  // by number
        this.nodes = new Map();
        this.steps = new Map();
        this.threads = [];         // by place in head.threads
        this.marks = new Map();    // by domain
        this.copies = new Map();   // by kind
        this.counters = new Map();
        this.memory = new Map();   // by device: points
        this.stepPoints = null;
    }

    stream(number) {
        return made(this.streams, number, () => new Row('stream', `stream ${number}`, `Stream ${number}`, {number}));
    }
    deviceOf(stream) { return this.streamDevices.get(stream) ?? 0; }

    // The row that shows a record first; others may show it as well.
    place(i) {
        const {profile} = this;
        const stream = profile.stream[i];
        if (profile.isItsBlock(i)) this.thread(profile.thread[i]).records.push(i);
        switch (profile.kind[i]) {
            case Kind.task:
                if (!this.streamDevices.has(stream)) this.streamDevices.set(stream, profile.device(i));
                if (profile.taskType(i) === Task.copy)
                    made(this.copies, profile.how(i), kind => copyRow(kind)).records.push(i);
                return this.stream(stream);
            case Kind.node:
                this.stream(stream);
                return made(this.nodes, stream, () => new Row('nodes', `nodes of stream ${stream}`, 'Graph nodes', {number: stream}));
            case Kind.step:
                this.stream(stream);
                made(this.steps, stream, () => new Row('steps', `steps of stream ${stream}`, 'Fused steps', {number: stream}))
                    .records.push(i);
                return this.thread(profile.thread[i]);
            case Kind.call: case Kind.block: case Kind.piece: case Kind.idle:
                return this.thread(profile.thread[i]);
            case Kind.mark: return this.mark(i);
            case Kind.stepPoint:
                return this.stepPoints ??= new Row('marks', 'steps', 'Steps of training');
            default: return null;
        }
    }
    thread(place) {
        return this.threads[place] ??= new Row('thread', `thread ${place}`, threadLabel(this.profile.head.threads[place]),
            {thread: this.profile.head.threads[place], place});
    }
    mark(i) {
        const domain = this.profile.texts[this.profile.name[i]] || 'default';
        const onDevice = (this.profile.argument[i] >>> 16 & 1) !== 0;
        return made(this.marks, `${domain}${onDevice ? ' on the device' : ''}`, name => new Row('marks', `marks ${name}`, name));
    }

    point(i) {
        const {profile} = this;
        if (profile.kind[i] === Kind.memory) {
            made(this.memory, profile.object[i] >>> 8 & 255, () => []).push([profile.begin[i], profile.link(i)]);
        } else if (profile.kind[i] === Kind.counter) {
            const device = profile.object[i] === 4294967295 ? 'all' : profile.object[i];
            const key = `${device} ${profile.texts[profile.name[i]]}`;
            made(this.counters, key, () => ({name: profile.texts[profile.name[i]], device, points: []}))
                .points.push([profile.begin[i], profile.link(i)]);
        }
    }

    spread() {
        const rowOf = this.rowOf = new Array(this.profile.count);
        for (let i = 0; i < this.profile.count; ++i) {
            const row = this.place(i);
            if (row) row.records.push(i); else this.point(i);
            rowOf[i] = row;
        }
    }

    // Not if kernels have blocks that were not recorded.
    get knowsBlocks() {
        const {profile} = this;
        let lacks = false;
        for (let i = 0; i < profile.count; ++i) {
            if (profile.kind[i] === Kind.block) return true;
            lacks ||= profile.runsBlocks(i) && !profile.isItsBlock(i);
        }
        return !lacks;
    }
    busyCurve(device, workers) {
        const {profile} = this;
        const isBlock = i => (profile.kind[i] === Kind.block || profile.kind[i] === Kind.step || profile.isItsBlock(i))
            && profile.head.threads[profile.thread[i]].role !== Role.cpuCore;
        const isWork = i => profile.kind[i] === Kind.task && !profile.isWait(i) && profile.taskType(i) !== Task.replay
            || profile.kind[i] === Kind.node && !profile.isWait(i);
        const curves = [[isWork, 'Tasks at once', 0]];
        if (this.knowsBlocks) curves.unshift([isBlock, 'Workers busy', workers]);
        for (const [wanted, label, available] of curves) {
            let count = 0;
            const places = new Uint32Array(profile.count);
            for (let i = 0; i < profile.count; ++i)
                if (wanted(i) && this.deviceOf(profile.stream[i]) === device) places[count++] = i;
            if (count === 0) continue;
            const begins = new Float64Array(count), ends = new Float64Array(count);
            for (let at = 0; at < count; ++at) {
                begins[at] = profile.begin[places[at]];
                ends[at] = profile.end(places[at]);
            }
            const curve = new BusyCurve(begins, ends, available || 1);
            if (!available) curve.available = Math.max(1, Math.min(8, this.streams.size));
            return new Row('curve', `busy ${device}`, label, {curve, device, note: available ? `of ${available}` : ''});
        }
        return null;
    }

    deviceRows(device) {
        const {head} = this.profile;
        const known = head.devices.known.find(one => one.number === device);
        const numbers = [...this.streams.keys()].filter(number => this.deviceOf(number) === device).sort((a, b) => a - b);
        const cores = known ? known.cubeCores + known.vectorCores : 0;
        const heading = new Row('heading', `device ${device}`, `Device ${device}`,
            {note: known ? [known.chip || known.kind, cores ? `${cores} cores` : ''].filter(Boolean).join(', ') : ''});
        const workers = known?.workers || head.threads.filter(thread => thread.role === Role.worker).length;
        const rows = [heading, this.busyCurve(device, workers)];
        if (this.memory.has(device))
            rows.push(new Row('curve', `memory ${device}`, 'Memory in use', {curve: new StepCurve(this.memory.get(device), 'bytes'), device}));
        for (const counter of this.counters.values())
            if (counter.device === device)
                rows.push(new Row('curve', `counter ${counter.name} ${device}`, counter.name, {curve: new StepCurve(counter.points, ''), device}));
        for (const number of numbers) rows.push(...this.streamRows(number));
        return rows.filter(Boolean);
    }

    streamRows(number) {
        const stream = this.streams.get(number);
        const known = this.profile.head.streams.known.find(one => one.number === number);
        if (known?.priority) stream.note = `priority ${known.priority}`;
        const children = [this.nodes.get(number), this.steps.get(number)].filter(Boolean);
        for (const child of children) child.parent = stream;
        stream.unfolds = children.length > 0;
        return [stream, ...children];
    }

    all() {
        const {head} = this.profile;
        const rows = [];
        const group = (id, label, members) => {
            if (members.length > 0) rows.push(new Row('heading', id, label), ...members);
        };
        const marks = [...this.marks.values(), this.stepPoints].filter(Boolean);
        group('marks', 'Ranges and marks', marks);
        const devices = new Set([...head.devices.known.map(one => one.number), ...this.memory.keys(), ...this.streamDevices.values()]);
        for (const device of [...devices].sort((a, b) => a - b)) {
            const members = this.deviceRows(device);
            if (members.length > 1 || head.devices.known.some(one => one.number === device)) rows.push(...members);
        }
        group('copies', 'Copies', [...this.copies.keys()].sort().map(kind => this.copies.get(kind)));
        const threads = this.threads.filter(Boolean);
        const ofRoles = (...roles) => threads.filter(row => roles.includes(row.thread.role))
            .sort((a, b) => a.thread.role - b.thread.role || a.thread.index - b.thread.index || a.place - b.place);
        for (const row of threads)
            if (row.thread.role === Role.worker || row.thread.role === Role.cpuCore) row.type = 'worker';
        group('host', 'Host threads', ofRoles(Role.host, Role.runtime));
        group('workers', 'Workers', ofRoles(Role.worker, Role.cpuCore));
        const everywhere = [...this.counters.values()].filter(counter => counter.device === 'all');
        group('counters', 'Figures', everywhere.map(counter =>
            new Row('curve', `counter ${counter.name}`, counter.name, {curve: new StepCurve(counter.points, '')})));
        return rows;
    }
}

function copyRow(kind) {
    const words = copyWords[kind] ?? 'copy';
    return new Row('copies', `copies ${kind}`, words[0].toUpperCase() + words.slice(1));
}

function made(map, key, make) {
    let value = map.get(key);
    if (value === undefined) map.set(key, value = make(key));
    return value;
}

// {rows, rowOf}: all rows from top to bottom, and the row of each record (null: a point of a curve).
export function rowsOf(profile) {
    const rows = new Rows(profile);
    rows.spread();
    const all = rows.all();
    for (const row of all) {
        if (row.type === 'heading' || row.curve) continue;
        row.records = Uint32Array.from(row.records);
        row.lanes = lanesOf(profile, row.records);
        if (row.unfolds) row.open = rows.streams.size <= 8;
    }
    return {rows: all, rowOf: rows.rowOf, streamRows: rows.streams, streamDevices: rows.streamDevices};
}

// Lookups between records: tasks by link, calls by the tasks that they submitted. Made on first use.
export class Links {
    constructor(profile) {
        this.profile = profile;
        this.tasks = new Map();  // by stream: records in the order of their numbers
        this.calls = new Map();
        const {kind, stream, task, argument} = profile;
        for (let i = 0; i < profile.count; ++i) {
            if (kind[i] === Kind.task) made(this.tasks, stream[i], () => []).push(i);
            else if (kind[i] === Kind.call && argument[i] > 0) made(this.calls, stream[i], () => []).push(i);
        }
        for (const list of [...this.tasks.values(), ...this.calls.values()])
            if (list.some((record, at) => at > 0 && task[list[at - 1]] > task[record])) list.sort((a, b) => task[a] - task[b]);
    }
    find(map, stream, task) {
        const list = map.get(stream) ?? [];
        let from = 0, until = list.length;
        while (from < until) {
            const middle = from + until >> 1;
            if (this.profile.task[list[middle]] < task) from = middle + 1; else until = middle;
        }
        return list[from] ?? -1;
    }
    // The record of a task, or -1.
    taskAt(stream, task) {
        const found = this.find(this.tasks, stream, task);
        return found >= 0 && this.profile.task[found] === task ? found : -1;
    }
    // The call that submitted a task, or -1.
    callOf(i) {
        const {profile} = this;
        const found = this.find(this.calls, profile.stream[i], profile.task[i]);
        return found >= 0 && profile.task[found] - profile.argument[found] < profile.task[i] ? found : -1;
    }
    // The task that ended a wait: a record, 'host', or undefined if that is unknown, as with values.
    releaserOf(i) {
        const by = this.profile.detail(i, Detail.releasedBy);
        if (!by) return this.profile.isTask(i) && this.profile.taskType(i) === Task.wait ? 'host' : undefined;
        if (by.high === 0 && by.low === 0) return 'host';
        const found = this.taskAt(by.high, by.low);
        return found >= 0 ? found : undefined;
    }
    // [wait, task that released it] for all waits, by the ends of the waits.
    get releases() {
        if (this.allReleases) return this.allReleases;
        const {details} = this.profile;
        const pairs = [];
        for (let at = 0; at < details.record.length; ++at) {
            if (details.type[at] !== Detail.releasedBy) continue;
            const by = this.releaserOf(details.record[at]);
            if (typeof by === 'number') pairs.push([details.record[at], by]);
        }
        pairs.sort((a, b) => this.profile.end(a[0]) - this.profile.end(b[0]));
        return this.allReleases = pairs;
    }
}
