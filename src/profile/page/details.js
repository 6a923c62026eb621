// SPDX-License-Identifier: Apache-2.0
// What the page says about one record, about a gap of a stream, and about a period.

import * as format from './format.js';
import {firstAbove} from './lanes.js';
import {threadLabel} from './rows.js';
import {coreWords, copyWords, Detail, Kind, Task, TaskFlag, taskWords} from './profile.js';

const {element} = format;
const mostRecords = 200000;  // that are looked at for sums over a period

const kindWords = ['', 'call', 'task', 'graph node', 'block', 'step of a fused launch', 'part of a copy', '', 'memory', 'mark',
    'figure', 'step of training', 'idle'];
const markForms = ['mark', 'range of a thread', 'range', 'mark on a stream'];
const stepForms = ['start of a step', 'end of a step', 'trace point'];
const markSources = ['aclprof', 'mstx', 'Canopy'];

export class Describer {
    constructor(profile, layout, links) {
        Object.assign(this, {profile, layout, links});
    }

    name(i) {
        const {profile} = this;
        const text = profile.texts[profile.label(i)];
        if (text) return text;
        if (profile.isTask(i)) return profile.taskType(i) === Task.copy ? copyWords[profile.how(i)] ?? 'copy' : taskWords[profile.taskType(i)] ?? 'task';
        return kindWords[profile.kind[i]];
    }
    // The text in a bar of the timeline; `figures`: its row says what it is.
    short(i, figures = false) {
        const {profile} = this;
        if (!profile.isTask(i) || profile.taskType(i) !== Task.copy) return this.name(i);
        const size = `${format.bytes(profile.bytes(i))}, ${format.bandwidth(profile.bytes(i), profile.duration[i])}`;
        return figures ? size : `${copyWords[profile.how(i)] ?? 'copy'}, ${size}`;
    }
    what(i) {
        const {profile} = this;
        if (!profile.isTask(i)) return kindWords[profile.kind[i]];
        const core = [Task.kernel, Task.cpuKernel].includes(profile.taskType(i)) ? coreWords[profile.how(i)] : '';
        const word = taskWords[profile.taskType(i)] ?? 'task';
        return `${core && core !== 'CPU' ? `${core} ` : ''}${word}${profile.kind[i] === Kind.node ? ', graph node' : ''}`;
    }

    // Pairs of a label and a text or {text, record}; pairs without a value are left out.
    fields(i) {
        const {profile, layout} = this;
        const fields = [
            ['What', this.what(i)],
            ['Row', layout.rowOf[i]?.parent?.label ?? layout.rowOf[i]?.label],
            ['Start', format.exactTime(profile.begin[i])],
            ['Duration', format.exactTime(profile.duration[i])],
            ['End', format.exactTime(profile.end(i))],
        ];
        switch (profile.kind[i]) {
            case Kind.task: case Kind.node: fields.push(...this.taskFields(i)); break;
            case Kind.call: fields.push(...this.callFields(i)); break;
            case Kind.block: case Kind.step: case Kind.piece: fields.push(...this.blockFields(i)); break;
            case Kind.mark: fields.push(...this.markFields(i)); break;
            case Kind.stepPoint: fields.push(...this.stepFields(i)); break;
        }
        return fields.filter(([, value]) => value !== undefined && value !== null && value !== '');
    }

    taskFields(i) {
        const {profile} = this;
        const type = profile.taskType(i), flags = profile.flags(i);
        const fields = [['Device', String(profile.device(i))], ['Task', String(profile.task[i])]];
        if (flags & TaskFlag.failed) fields.push(['Failed', `with code ${profile.detailNumber(i, Detail.code) ?? 'unknown'}`]);
        if (flags & TaskFlag.dropped) fields.push(['Dropped', 'not run, because its stream had failed']);
        if (type === Task.kernel || type === Task.cpuKernel) fields.push(...this.kernelFields(i, flags));
        if (type === Task.copy || type === Task.fill) {
            const size = profile.bytes(i);
            fields.push(['Direction', type === Task.copy ? copyWords[profile.how(i)] : ''], ['Bytes', `${format.grouped(size)} (${format.bytes(size)})`],
                ['Bandwidth', format.bandwidth(size, profile.duration[i])]);
        }
        if (profile.isWait(i)) fields.push(...this.waitFields(i));
        if (profile.kind[i] === Kind.node) {
            const place = profile.detail(i, Detail.place);
            if (place) fields.push(['Place in graph', `lane ${place.high}, position ${place.low}`]);
            const replay = this.links.taskAt(profile.stream[i], profile.task[i]);
            if (replay >= 0) fields.push(['Replay', {text: this.name(replay), record: replay}]);
            return fields;
        }
        if (type === Task.replay) fields.push(['Nodes', format.grouped(this.nodesOf(i).length)]);
        return fields.concat(this.submissionFields(i));
    }

    kernelFields(i, flags) {
        const {profile} = this;
        const fields = [['Blocks', format.grouped(profile.argument[i])]];
        if (flags & TaskFlag.fused) fields.push(['Fused', 'several kernels in one launch']);
        if (flags & TaskFlag.builtIn) fields.push(['Built in', 'a kernel of the runtime']);
        if (profile.isItsBlock(i)) fields.push(['Ran on', threadLabel(profile.head.threads[profile.thread[i]])]);
        const blocks = this.blocksOf(i);
        if (blocks.length === 0) return fields;
        const times = Float64Array.from(blocks, block => profile.duration[block]).sort();
        const workers = new Set(blocks.map(block => profile.thread[block])).size;
        const slowest = blocks.reduce((a, b) => profile.duration[b] > profile.duration[a] ? b : a);
        fields.push(['Block times', `${format.time(times[0])} to ${format.time(times[times.length - 1])}, median ${format.time(times[times.length >> 1])}`],
            ['Ran on', format.counted(workers, 'worker')], ['Slowest block', {text: `block ${profile.object[slowest] & 0x7fffffff}`, record: slowest}]);
        return fields;
    }

    waitFields(i) {
        const {profile} = this;
        const target = profile.detailNumber(i, Detail.waitsFor);
        const by = this.links.releaserOf(i);
        return [
            ['Waits for', target === undefined ? '' : `${profile.taskType(i) === Task.wait ? 'event or notify' : 'value'} ${target}`],
            ['Released by', by === 'host' ? 'the host, or nothing was waited for'
                : by === undefined ? 'unknown' : {text: `${this.name(by)} on stream ${profile.stream[by]}`, record: by}],
        ];
    }

    submissionFields(i) {
        const {profile, links} = this;
        const submitted = profile.detailNumber(i, Detail.submitted);
        const call = links.callOf(i);
        const fields = [];
        if (submitted !== undefined) fields.push(['Submitted', format.exactTime(submitted)], ['In the queue', format.time(Math.max(0, profile.begin[i] - submitted))]);
        if (call >= 0) {
            fields.push(['Submitted by', {text: `${this.name(call)} on ${this.layout.rowOf[call].label}`, record: call}]);
            if (submitted === undefined) fields.push(['After the call', format.time(Math.max(0, profile.begin[i] - profile.begin[call]))]);
        }
        return fields;
    }

    callFields(i) {
        const {profile} = this;
        const fields = [['Returned', profile.object[i] === 0 ? '0' : String(profile.object[i] | 0)]];
        if (profile.argument[i] > 0) {
            const task = this.links.taskAt(profile.stream[i], profile.task[i]);
            fields.push(['Submitted', format.counted(profile.argument[i], 'task')]);
            if (task >= 0) fields.push(['Last task', {text: `${this.name(task)} on stream ${profile.stream[task]}`, record: task}]);
        }
        return fields;
    }

    blockFields(i) {
        const {profile} = this;
        const fields = [];
        if (profile.kind[i] === Kind.block) {
            fields.push(['Block', String(profile.object[i] & 0x7fffffff)], ['Core', profile.object[i] >>> 31 ? 'vector core of a group' : '']);
            if (profile.argument[i] > 0) fields.push(['Piece', `${profile.argument[i] + 1}: the block was suspended before`]);
        } else if (profile.kind[i] === Kind.step) fields.push(['Step', String(profile.object[i])]);
        else fields.push(['Bytes', format.bytes(profile.argument[i])]);
        const task = this.links.taskAt(profile.stream[i], profile.task[i]);
        fields.push(['Stream', String(profile.stream[i])]);
        if (task >= 0) fields.push(['Task', {text: this.name(task), record: task}]);
        return fields;
    }

    markFields(i) {
        const {profile} = this;
        const argument = profile.argument[i];
        return [['Form', markForms[argument & 255]], ['Made by', markSources[argument >>> 8 & 255]], ['Domain', profile.texts[profile.name[i]]],
            ['Category', argument >>> 24 ? String(argument >>> 24) : ''], ['Thread', profile.head.threads[profile.thread[i]]?.name]];
    }

    stepFields(i) {
        const {profile} = this;
        const model = profile.detailNumber(i, Detail.model);
        const task = this.links.taskAt(profile.stream[i], profile.task[i]);
        return [['Form', stepForms[profile.object[i] & 255]], ['Number', format.grouped(profile.argument[i])], ['Tag', profile.object[i] >>> 16 ? String(profile.object[i] >>> 16) : ''],
            ['Model', model === undefined ? '' : String(model)], ['Task', task >= 0 ? {text: `${this.name(task)} on stream ${profile.stream[task]}`, record: task} : '']];
    }

    // ---- records that belong to others -----------------------------------------------------------------------------

    *within(rows, begin, end) {
        let left = mostRecords;
        for (const row of rows)
            for (const lane of row.lanes)
                for (let place = lane.firstEndingAfter(begin), last = firstAbove(lane.begin, end); place < last && left > 0; ++place, --left)
                    yield lane.records[place];
    }
    linked(rows, i, kind) {
        const {profile} = this;
        const found = [];
        for (const record of this.within(rows, profile.begin[i], profile.end(i)))
            if (profile.kind[record] === kind && profile.task[record] === profile.task[i] && profile.stream[record] === profile.stream[i]) found.push(record);
        return found;
    }
    get threadRows() { return this.layout.rows.filter(row => row.thread); }
    blocksOf(i) { return this.linked(this.threadRows, i, Kind.block); }
    nodesOf(i) { return this.linked(this.layout.rows.filter(row => row.type === 'nodes' && row.number === this.profile.stream[i]), i, Kind.node); }

    // ---- gaps ------------------------------------------------------------------------------------------------------

    // Why a stream did nothing from `gap.begin` to `gap.end`: sentences, and records that they name.
    whyIdle(gap) {
        const {profile, links} = this;
        if (gap.after < 0) return [['Nothing was submitted to this stream afterwards.']];
        const next = gap.after;
        const call = links.callOf(next);
        const submitted = profile.detailNumber(next, Detail.submitted) ?? (call >= 0 ? profile.begin[call] : undefined);
        const name = `“${this.name(next)}”`;
        if (submitted === undefined) return [[`The next task is ${name}; when the host submitted it is not recorded.`], ...this.meanwhile(gap)];
        if (submitted > gap.begin) {
            const share = Math.min(1, (submitted - gap.begin) / Math.max(1, gap.end - gap.begin));
            const reasons = [[`Nothing to do: the host submitted the next task, ${name}, only ${format.time(submitted - gap.begin)} into the gap (${format.percent(share)} of it).`, next]];
            if (call >= 0) reasons.push([`It did so in ${this.name(call)}.`, call]);
            return [...reasons, ...this.hostMeanwhile(gap, submitted, call)];
        }
        return [[`The next task, ${name}, had been submitted ${format.time(gap.begin - submitted)} before the gap, but the device started it only at the end of the gap.`, next],
            ...this.meanwhile(gap)];
    }
    // What the thread that submitted did before.
    hostMeanwhile(gap, until, call) {
        const {profile} = this;
        const rows = this.threadRows.filter(row => row.thread.role === 0 && (call < 0 || row === this.layout.rowOf[call]));
        const sums = this.sums(rows, gap.begin, until, record => profile.kind[record] === Kind.call && record !== call);
        if (sums.length === 0) return [['Meanwhile the host called nothing: it ran code of the program.']];
        const {record, time} = sums[0];
        const rest = until - gap.begin - sums.reduce((total, sum) => total + sum.time, 0);
        const reasons = [[`Meanwhile the host was in ${this.name(record)} for ${format.time(time)}.`, record]];
        if (rest > (until - gap.begin) / 10) reasons.push([`It ran code of the program for ${format.time(rest)}.`]);
        return reasons;
    }
    meanwhile(gap) {
        const rows = this.layout.rows.filter(row => row.type === 'stream' && row !== gap.row);
        const sums = this.sums(rows, gap.begin, gap.end, record => !this.profile.isWait(record));
        if (sums.length === 0) return [['No other stream did anything meanwhile.']];
        return sums.slice(0, 2).map(({record, time}) => [`Meanwhile stream ${this.profile.stream[record]} was in “${this.name(record)}” for ${format.time(time)}.`, record]);
    }
    // Time in records by name, longest first, with the longest record of each.
    sums(rows, begin, end, wanted) {
        const {profile} = this;
        const sums = new Map();
        for (const record of this.within(rows, begin, end)) {
            if (!wanted(record)) continue;
            const time = Math.min(end, profile.end(record)) - Math.max(begin, profile.begin[record]);
            if (time < 0) continue;
            const key = `${profile.stream[record]} ${profile.label(record)} ${profile.isTask(record) ? profile.taskType(record) : ''}`;
            const sum = sums.get(key) ?? {record, time: 0, count: 0, longest: -1};
            sum.time += time;
            ++sum.count;
            if (time > sum.longest) Object.assign(sum, {longest: time, record});
            sums.set(key, sum);
        }
        return [...sums.values()].sort((a, b) => b.time - a.time);
    }
    // Streams in a period: [label, busy, waiting].
    streamsIn(begin, end) {
        const {profile} = this;
        return this.layout.rows.filter(row => row.type === 'stream').map(row => {
            let busy = 0, waiting = 0, count = 0;
            for (const record of this.within([row], begin, end)) {
                const time = Math.max(0, Math.min(end, profile.end(record)) - Math.max(begin, profile.begin[record]));
                if (profile.isWait(record)) waiting += time; else busy += time;
                ++count;
            }
            return {row, busy, waiting, count};
        }).filter(sum => sum.count > 0);
    }
}

// ---- the panel ------------------------------------------------------------------------------------------------------

export class DetailsPanel {
    // actions: {select(record), focus(begin, end), neighbour(record, step), why(record), gap}
    constructor(panel, describer, actions) {
        Object.assign(this, {panel, describer, actions});
        this.showNothing();
    }
    jump(text, record) {
        return element('button', {class: 'link', onclick: () => this.actions.select(record)}, text);
    }
    fill(title, ...content) {
        this.panel.replaceChildren(element('h2', {}, title), ...content.filter(Boolean));
        this.panel.scrollTop = 0;
    }
    list(fields) {
        const list = element('dl');
        for (const [label, value] of fields)
            list.append(element('dt', {}, label), element('dd', {}, typeof value === 'object' ? this.jump(value.text, value.record) : value));
        return list;
    }
    showNothing() {
        this.fill('Details', element('p', {class: 'hint'},
            'Click something on the timeline. Click an empty place of a stream to learn why it was idle. Press ? for all keys.'));
    }
    showRecord(i) {
        const {describer, actions} = this;
        const {profile} = describer;
        const buttons = element('p', {class: 'buttons'},
            element('button', {onclick: () => actions.focus(profile.begin[i], profile.end(i))}, 'Zoom to it'),
            element('button', {onclick: () => actions.neighbour(i, -1), 'aria-label': 'Previous in this row'}, '← Previous'),
            element('button', {onclick: () => actions.neighbour(i, 1), 'aria-label': 'Next in this row'}, 'Next →'),
            profile.kind[i] === Kind.task && element('button', {onclick: () => actions.why(i)}, 'Why not earlier?'));
        this.fill(describer.name(i), this.list(describer.fields(i)), buttons);
    }
    showGap(gap) {
        const reasons = this.describer.whyIdle(gap);
        const list = element('ul', {class: 'reasons'}, ...reasons.map(([text, record]) =>
            element('li', {}, text, record !== undefined ? ' ' : '', record !== undefined ? this.jump('Show', record) : '')));
        this.fill(`Why was ${gap.row.label.toLowerCase()} idle here?`, this.list([['From', format.exactTime(gap.begin)],
            ['Duration', format.exactTime(gap.end - gap.begin)], ['Until', format.exactTime(gap.end)]]), list,
            element('p', {class: 'buttons'}, element('button', {onclick: () => this.actions.focus(gap.begin, gap.end)}, 'Zoom to it')));
    }
    showRow(row, begin, end) {
        if (row.curve) {
            const values = new Float64Array(1);
            row.curve.sample(begin, end, 1, values);
            const unit = row.curve.unit;
            const shown = value => unit === 'bytes' ? format.bytes(value) : unit === 'busy' ? value.toFixed(2) : format.grouped(value);
            this.fill(row.label, this.list([['In the window', `${unit === 'busy' ? 'mean' : 'at most'} ${shown(values[0])}`],
                [unit === 'busy' ? 'Available' : 'Highest', shown(row.curve.top)]]));
            return;
        }
        const busy = row.lanes.reduce((total, lane) => total + lane.busy(begin, end), 0);
        const sums = this.describer.sums([row], begin, end, () => true).slice(0, 8);
        const thread = row.thread;
        this.fill(row.label, this.list([['Records', format.grouped(row.records.length)],
            ['In the window', `${format.time(busy)} in records, ${format.percent(busy / Math.max(1, end - begin) / Math.max(1, row.lanes.length))}`],
            ...(thread ? [['Thread', `${thread.name || 'without a name'}, id ${thread.id}`]] : []),
            ...(thread?.lost ? [['Lost', format.counted(thread.lost, 'record')]] : [])]), this.sumTable(sums));
    }
    sumTable(sums) {
        if (sums.length === 0) return null;
        return element('table', {}, element('thead', {}, element('tr', {}, ...['Name', 'Count', 'Time'].map(text => element('th', {scope: 'col'}, text)))),
            element('tbody', {}, ...sums.map(sum => element('tr', {}, element('td', {}, this.jump(this.describer.name(sum.record), sum.record)),
                element('td', {class: 'number'}, format.grouped(sum.count)), element('td', {class: 'number'}, format.time(sum.time))))));
    }
    showPeriod({begin, end}) {
        const {describer} = this;
        const span = Math.max(1, end - begin);
        const streams = describer.streamsIn(begin, end);
        const rows = streams.map(({row}) => row);
        const kernels = describer.sums(rows, begin, end, record => !describer.profile.isWait(record)).slice(0, 8);
        const table = streams.length > 0 && element('table', {}, element('thead', {}, element('tr', {},
            ...['Stream', 'Busy', 'Waiting'].map(text => element('th', {scope: 'col'}, text)))),
            element('tbody', {}, ...streams.slice(0, 12).map(sum => element('tr', {}, element('td', {}, sum.row.label),
                element('td', {class: 'number'}, format.percent(sum.busy / span)), element('td', {class: 'number'}, format.percent(sum.waiting / span))))));
        this.fill('Measured', this.list([['From', format.exactTime(begin)], ['Duration', format.exactTime(end - begin)], ['Until', format.exactTime(end)],
            ['Per second', end > begin ? format.grouped(1e9 / (end - begin)) : '']]), table, this.sumTable(kernels));
    }
}
