// SPDX-License-Identifier: Apache-2.0
// The tables below the timeline: findings, kernels, calls, copies, streams and what is known about the run.

import * as format from './format.js';

const {element} = format;
const svg = 'http://www.w3.org/2000/svg';

function sparkline(values) {
    const width = 110, height = 18;
    const picture = document.createElementNS(svg, 'svg');
    const most = Math.max(...values, 1e-9);
    picture.setAttribute('viewBox', `0 0 ${width} ${height}`);
    picture.setAttribute('class', 'spark');
    picture.setAttribute('role', 'img');
    picture.setAttribute('aria-label', 'time by moment of the run');
    const step = width / values.length;
    values.forEach((value, place) => {
        if (value <= 0) return;
        const bar = document.createElementNS(svg, 'rect');
        const size = Math.max(1, value / most * height);
        for (const [key, number] of Object.entries({x: place * step, y: height - size, width: Math.max(0.8, step - 0.5), height: size}))
            bar.setAttribute(key, number.toFixed(2));
        picture.append(bar);
    });
    return picture;
}

// A table whose columns sort. columns: [{label, value(item), show(item) -> text or node, text: true}]
export function sortableTable(caption, columns, items) {
    let by = -1, down = true;
    const body = element('tbody');
    const heads = columns.map((column, place) => element('th', {scope: 'col', class: column.text ? '' : 'number'}, column.value
        ? element('button', {onclick: () => sort(place)}, column.label) : column.label));
    const fill = list => body.replaceChildren(...list.map(item => element('tr', {}, ...columns.map(column =>
        element('td', {class: column.text ? 'text' : 'number'}, column.show(item))))));
    const sort = place => {
        down = by === place ? !down : !columns[place].text;
        by = place;
        heads.forEach((head, at) => { if (at === place) head.setAttribute('aria-sort', down ? 'descending' : 'ascending'); else head.removeAttribute('aria-sort'); });
        const {value} = columns[place];
        fill([...items].sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (down ? -1 : 1)));
    };
    fill(items);
    return element('table', {class: 'wide'}, element('caption', {class: 'hidden'}, caption), element('thead', {}, element('tr', {}, ...heads)), body);
}

const timeColumn = (label, key) => ({label, value: item => item[key], show: item => format.time(item[key])});
const countColumn = (label, key) => ({label, value: item => item[key], show: item => format.grouped(item[key])});

// actions: {jump(place), color(text)}
function nameColumn(label, actions) {
    return {label, text: true, value: item => item.name, show: item => {
        const button = element('button', {class: 'link', title: `Show the longest run of ${item.name}`, onclick: () => actions.jump(item.longest)}, item.name || '(without a name)');
        const swatch = element('span', {class: 'swatch', 'aria-hidden': 'true'});
        const color = actions.color?.(item.text);
        if (color) swatch.style.background = color;
        return color ? element('span', {class: 'named'}, swatch, button) : button;
    }};
}

export function kernelTable(kernels, actions) {
    if (kernels.length === 0) return nothing('No kernel ran.');
    return sortableTable('Kernels by total time', [nameColumn('Kernel', actions), timeColumn('Total', 'total'),
        {label: 'Share', value: kernel => kernel.share, show: kernel => format.percent(kernel.share)}, countColumn('Runs', 'count'),
        timeColumn('Mean', 'average'), timeColumn('Median', 'median'), timeColumn('Least', 'least'), timeColumn('Most', 'most'),
        {label: 'Blocks', value: kernel => kernel.mostBlocks, show: kernel => kernel.leastBlocks === kernel.mostBlocks
            ? format.grouped(kernel.mostBlocks) : `${format.grouped(kernel.leastBlocks)} to ${format.grouped(kernel.mostBlocks)}`},
        {label: 'Over the run', text: true, show: kernel => sparkline(kernel.spark)}], kernels);
}

export function callTable(calls, actions) {
    if (calls.length === 0) return nothing('No call was recorded.');
    return sortableTable('Functions of the interface by total time', [nameColumn('Function', {jump: actions.jump}), timeColumn('Total', 'total'),
        countColumn('Calls', 'count'), timeColumn('Mean', 'average'), timeColumn('Median', 'median'), timeColumn('Least', 'least'), timeColumn('Most', 'most'),
        timeColumn('Device idle', 'deviceIdle'), countColumn('Failed', 'failed'), countColumn('Tasks', 'submitted')], calls);
}

export function copyTable(copies) {
    if (copies.length === 0) return nothing('Nothing was copied.');
    return sortableTable('Copies by direction', [{label: 'Direction', text: true, value: copy => copy.kind, show: copy => copy.kind},
        countColumn('Device', 'device'), countColumn('Copies', 'count'), {label: 'Bytes', value: copy => copy.bytes, show: copy => format.bytes(copy.bytes)},
        timeColumn('Total', 'total'), {label: 'GB/s', value: copy => copy.bandwidth, show: copy => copy.bandwidth.toFixed(2)},
        timeColumn('Least', 'least'), timeColumn('Most', 'most')], copies);
}

export function streamTable(streams, length) {
    if (streams.length === 0) return nothing('No stream did anything.');
    const share = key => ({label: key[0].toUpperCase() + key.slice(1), value: stream => stream[key],
        show: stream => `${format.time(stream[key])}, ${format.percent(stream[key] / Math.max(1, length))}`});
    return sortableTable('Streams', [{label: 'Stream', value: stream => stream.number, show: stream => String(stream.number)}, countColumn('Device', 'device'),
        countColumn('Tasks', 'tasks'), share('busy'), share('waiting'), share('idle')], streams);
}

export function findingList(findings, actions) {
    if (findings.length === 0) return nothing('Nothing stands out in this run.');
    return element('ol', {class: 'findings'}, ...findings.map(finding => element('li', {},
        finding.place ? element('button', {class: 'finding', onclick: () => actions.jump(finding.place)}, finding.text) : element('span', {class: 'finding'}, finding.text),
        finding.stake > 0 ? element('span', {class: 'stake'}, format.time(finding.stake)) : '')));
}

export function factList(head) {
    const list = element('dl', {class: 'facts'});
    const add = (label, value) => { if (value) list.append(element('dt', {}, label), element('dd', {}, value)); };
    for (const [key, value] of head.facts) add(key[0].toUpperCase() + key.slice(1), value);
    add('Process', String(head.process));
    add('Started', new Date(head.startedAt).toISOString().replace('T', ' ').replace('Z', ' UTC'));
    add('Records', `${format.grouped(head.count)}, and ${format.counted(head.records - head.count, 'detail')} of them`);
    for (const device of head.devices.known)
        add(`Device ${device.number}`, [device.chip || device.kind, `${device.cubeCores} cube cores`, `${device.vectorCores} vector cores`,
            `${device.workers} workers`, format.bytes(device.memory)].join(', '));
    for (const thread of head.threads) if (thread.lost) add(`Lost by ${thread.name}`, format.counted(thread.lost, 'record'));
    if (head.damage) add('Damage', head.damage);
    if (head.recordCost) add('Cost of a record', `${head.recordCost} ns; ${format.percent(head.costShare)} of the time of the recorded threads`);
    return list;
}

function nothing(text) { return element('p', {class: 'hint'}, text); }
