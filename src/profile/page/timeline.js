// SPDX-License-Identifier: Apache-2.0
// The timeline: the visible period, the canvas with the rows, and what the pointer does on it.

import * as format from './format.js';
import {drawCurve, drawLane, LaneScratch} from './paint.js';
import {Kind} from './profile.js';
import {headingHeight} from './rows.js';
import {Palette, pixel} from './colors.js';

const shortest = 20;  // nanoseconds in the window
const zoomStep = 1.25;
const mostArrows = 250;

export class Timeline {
    // listeners: {select(record), selectGap(gap), selectRow(row), measure(period), moved()}
    constructor(profile, layout, colors, links, elements, listeners) {
        Object.assign(this, {profile, rows: layout.rows, rowOf: layout.rowOf, colors, links, elements, listeners});
        this.length = Math.max(profile.head.length, 1000);
        this.margin = this.length * 0.01;
        this.from = -this.margin;
        this.until = this.length + this.margin;
        this.selected = -1;
        this.gap = null;
        this.measured = null;
        this.measuring = false;
        this.launches = false;  // arrows from calls to their tasks
        this.matches = null;  // by place of the text; null without a search
        this.hovered = null;
        this.context = elements.canvas.getContext('2d', {alpha: false, willReadFrequently: true});
        this.scratch = new LaneScratch();
        this.frames = 0;
        this.layOut();
        this.listen();
        new ResizeObserver(() => this.resize()).observe(elements.scroller);
    }

    // ---- the period ------------------------------------------------------------------------------------------------

    get width() { return this.elements.canvas.clientWidth || 1; }
    timeAt(x) { return this.from + x / this.width * (this.until - this.from); }
    xOf(time) { return (time - this.from) / (this.until - this.from) * this.width; }

    show(from, until) {
        let span = Math.min(Math.max(until - from, shortest), this.length + 2 * this.margin);
        if (!(span > 0)) span = this.length;
        const middle = (from + until) / 2;
        from = middle - span / 2;
        from = Math.max(-this.margin, Math.min(from, this.length + this.margin - span));
        this.from = from;
        this.until = from + span;
        this.changed();
        this.listeners.moved();
    }
    showAll() { this.show(-this.margin, this.length + this.margin); }
    zoom(factor, x = this.width / 2) {
        const time = this.timeAt(x);
        const span = Math.max(shortest, (this.until - this.from) * factor);
        const from = time - x / this.width * span;
        this.show(from, from + span);
    }
    pan(pixels) {
        const shift = pixels / this.width * (this.until - this.from);
        this.show(this.from + shift, this.until + shift);
    }
    // Brings a period into view, with some room around it.
    focus(begin, end, room = 0.6) {
        const span = Math.max(end - begin, shortest);
        this.show(begin - span * room, end + span * room);
    }
    // Brings a period into view without changing the zoom if it is small enough.
    reveal(begin, end) {
        const span = this.until - this.from;
        if (end - begin > span * 0.8 || end - begin < span / 400) this.focus(begin, end, end - begin < span / 400 ? 8 : 0.6);
        else if (begin < this.from || end > this.until) this.show((begin + end - span) / 2, (begin + end + span) / 2);
    }

    // ---- rows ------------------------------------------------------------------------------------------------------

    layOut() {
        let top = 0;
        this.visibleRows = this.rows.filter(row => row.parent === null || row.parent.open);
        for (const row of this.rows) row.top = -1;
        for (const row of this.visibleRows) {
            row.top = top;
            top += row.height;
        }
        this.totalHeight = top + 8;
        this.listRows();
        this.changed();
    }

    listRows() {
        const {labels} = this.elements;
        labels.style.height = `${this.totalHeight}px`;
        labels.replaceChildren(...this.visibleRows.map(row => this.labelOf(row)));
    }
    labelOf(row) {
        const note = row.note ? format.element('span', {class: 'note'}, row.note) : null;
        if (row.type === 'heading') {
            const heading = format.element('div', {class: 'heading', role: 'heading', 'aria-level': '3'}, row.label, note);
            heading.style.top = `${row.top}px`;
            return heading;
        }
        const name = format.element('button', {
            class: 'name', title: row.label, 'data-row': row.id,
            onclick: () => this.listeners.selectRow(row),
        }, format.element('span', {}, row.label), note);
        const fold = row.unfolds && format.element('button', {
            class: 'fold', 'aria-expanded': String(row.open), 'aria-label': `${row.open ? 'Fold' : 'Unfold'} ${row.label}`,
            onclick: () => this.unfold(row, !row.open),
        }, row.open ? '▾' : '▸');
        const label = format.element('div', {class: `row ${row.type}${row.parent ? ' child' : ''}`, role: 'listitem'}, fold || null, name);
        label.style.top = `${row.top}px`;
        label.style.height = `${row.height}px`;
        return label;
    }
    unfold(row, open) {
        row.open = open;
        this.layOut();
        this.elements.labels.querySelector(`[data-row="${CSS.escape(row.id)}"]`)?.parentElement.querySelector('.fold')?.focus();
    }
    rowAtY(y) { return this.visibleRows.find(row => y >= row.top && y < row.top + row.height); }

    // ---- selection -------------------------------------------------------------------------------------------------

    select(record, {reveal = true} = {}) {
        this.selected = record;
        this.gap = null;
        if (record >= 0) {
            const row = this.rowOf[record];
            if (row?.parent && !row.parent.open) this.unfold(row.parent, true);
            if (reveal) {
                this.reveal(this.profile.begin[record], this.profile.end(record));
                if (row) this.scrollTo(row);
            }
        }
        this.changed();
    }
    scrollTo(row) {
        const {scroller} = this.elements;
        if (row.top < scroller.scrollTop + headingHeight || row.top + row.height > scroller.scrollTop + scroller.clientHeight)
            scroller.scrollTop = Math.max(0, row.top - scroller.clientHeight / 3);
    }
    // [lane, place] of a record in a row that shows it.
    placeOf(row, record) {
        for (const lane of row.lanes) {
            let place = lane.firstEndingAfter(this.profile.end(record) - 1);
            for (place = Math.max(0, place - 4); place < lane.records.length; ++place) {
                if (lane.records[place] === record) return [lane, place];
                if (lane.begin[place] > this.profile.begin[record]) break;
            }
        }
        return null;
    }
    neighbour(record, step) {
        const row = this.rowOf[record];
        const found = row && this.placeOf(row, record);
        return found ? found[0].records[found[1] + step] ?? -1 : -1;
    }

    // What lies at a point of the canvas: {row, record} or {row, gap}.
    at(x, y) {
        const row = this.rowAtY(y + this.elements.scroller.scrollTop);
        if (!row || row.type === 'heading') return null;
        const time = this.timeAt(x), reach = 3 / this.width * (this.until - this.from);
        if (row.curve) return {row, time};
        const lane = row.lanes[Math.floor((y + this.elements.scroller.scrollTop - row.top) / row.laneHeight)];
        if (!lane) return {row};
        const place = lane.at(time);
        if (place >= 0) return {row, record: lane.records[place]};
        const next = lane.firstEndingAfter(time);
        const after = next < lane.begin.length ? lane.begin[next] - time : Infinity;
        const before = next > 0 ? time - lane.end[next - 1] : Infinity;
        if (Math.min(after, before) <= reach) return {row, record: lane.records[after <= before ? next : next - 1]};
        if (row.type !== 'stream') return {row};
        return {row, gap: {row, before: next > 0 ? lane.records[next - 1] : -1, after: next < lane.begin.length ? lane.records[next] : -1,
            begin: next > 0 ? lane.end[next - 1] : 0, end: next < lane.begin.length ? lane.begin[next] : this.length}};
    }

    // ---- painting --------------------------------------------------------------------------------------------------

    changed() {
        if (this.asked) return;
        this.asked = requestAnimationFrame(() => {
            this.asked = 0;
            this.paint();
        });
    }
    setStyle(style) {
        this.style = style;
        this.palette = new Palette(style.dark, style.background);
        this.changed();
    }
    resize() {
        const {canvas, scroller} = this.elements;
        const ratio = Math.min(2, window.devicePixelRatio || 1);
        canvas.style.height = `${scroller.clientHeight}px`;
        this.ratio = ratio;
        const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
        const height = Math.max(1, Math.round(scroller.clientHeight * ratio));
        if (canvas.width !== width || canvas.height !== height || !this.image) {
            canvas.width = width;
            canvas.height = height;
            this.image = this.context.createImageData(width, height);
            this.pixels = new Uint32Array(this.image.data.buffer);
        }
        this.listeners.moved();
        this.changed();
    }

    paint() {
        if (!this.image || !this.palette) return;
        const {pixels, image, palette, style} = this;
        const {width, height} = image;
        ++this.frames;
        pixels.fill(palette.empty);
        const step = tickStep(this.until - this.from, this.width);
        const grid = pixel(...style.grid);
        const ticks = [];
        for (let tick = Math.ceil(this.from / step) * step; tick < this.until; tick += step) {
            ticks.push(tick);
            const x = Math.round(this.xOf(tick) * this.ratio);
            if (x >= 0 && x < width) for (let at = x; at < pixels.length; at += width) pixels[at] = grid;
        }
        const scroll = this.elements.scroller.scrollTop;
        const texts = [];
        for (const row of this.visibleRows) {
            const top = Math.round((row.top - scroll) * this.ratio), bottom = Math.round((row.top + row.height - scroll) * this.ratio);
            if (bottom > 0 && top < height) this.paintRow(row, top, bottom, texts);
        }
        this.context.putImageData(image, 0, 0);
        this.paintTexts(texts);
        this.paintOver(scroll);
        this.listeners.painted?.(ticks, step);
    }
    paintRow(row, top, bottom, texts) {
        const {pixels, image: {width, height}, style} = this;
        const scale = width / (this.until - this.from);
        if (row.type === 'heading') {
            pixels.fill(pixel(...style.heading), Math.max(0, top) * width, Math.min(height, bottom) * width);
            return;
        }
        if (bottom - 1 >= 0 && bottom - 1 < height) pixels.fill(pixel(...style.line), (bottom - 1) * width, bottom * width);
        if (row.curve) {
            drawCurve(this, row, top + 3, bottom - 2);
            return;
        }
        const laneHeight = row.laneHeight * this.ratio;
        row.lanes.forEach((lane, number) => {
            const laneTop = Math.round(top + 2 * this.ratio + number * laneHeight);
            const laneBottom = Math.round(top + (number + 1) * laneHeight);
            if (laneBottom > 0 && laneTop < height) drawLane(this, row, lane, laneTop, laneBottom, scale, texts);
        });
    }

    paintTexts(texts) {
        const {context, ratio} = this;
        context.textBaseline = 'middle';
        context.fillStyle = this.style.ink;
        let size = 0;
        for (const {text, x, y, width, height} of texts) {
            const wanted = Math.min(11.5, height / ratio - 4);
            if (wanted < 8) continue;
            if (wanted !== size) {
                size = wanted;
                context.font = `${size * ratio}px system-ui, sans-serif`;
            }
            const shown = this.scratch.fitting(context, text, width - 8 * ratio, size);
            if (shown) context.fillText(shown, x + 4 * ratio, y + height / 2 + 0.5);
        }
    }

    // The rectangle of a record on the canvas, in CSS pixels; null if its row is folded.
    boxOf(record, row = this.rowOf[record]) {
        if (!row || row.top < 0) return null;
        const found = this.placeOf(row, record);
        if (!found) return null;
        const number = row.lanes.indexOf(found[0]);
        const x = this.xOf(this.profile.begin[record]);
        return {x, width: Math.max(2, this.xOf(this.profile.end(record)) - x),
            y: row.top - this.elements.scroller.scrollTop + number * row.laneHeight + 2, height: row.laneHeight - 2};
    }

    paintOver(scroll) {
        const {context, ratio, style} = this;
        context.save();
        context.scale(ratio, ratio);
        this.paintArrows();
        if (this.gap) {
            const x = this.xOf(this.gap.begin), width = this.xOf(this.gap.end) - x;
            context.strokeStyle = style.accent;
            context.setLineDash([4, 3]);
            context.strokeRect(x, this.gap.row.top - scroll + 3, width, this.gap.row.laneHeight - 4);
            context.setLineDash([]);
        }
        const box = this.selected >= 0 && this.boxOf(this.selected);
        if (box) {
            context.strokeStyle = style.accent;
            context.lineWidth = 2;
            context.strokeRect(box.x - 1, box.y - 0.5, box.width + 2, box.height + 1);
        }
        if (this.measured) {
            const x = this.xOf(this.measured.begin), width = this.xOf(this.measured.end) - x;
            context.fillStyle = style.veil;
            context.fillRect(x, 0, width, this.elements.scroller.clientHeight);
            context.fillStyle = style.accent;
            context.fillRect(x - 0.5, 0, 1, this.elements.scroller.clientHeight);
            context.fillRect(x + width - 0.5, 0, 1, this.elements.scroller.clientHeight);
        }
        context.restore();
    }

    paintArrows() {
        const {profile, links} = this;
        const releases = links.releases;
        let from = 0, until = releases.length;
        while (from < until) {
            const middle = from + until >> 1;
            if (profile.end(releases[middle][0]) < this.from) from = middle + 1; else until = middle;
        }
        const shown = [];
        for (; from < releases.length && shown.length <= mostArrows; ++from) {
            const [wait, by] = releases[from];
            if (profile.end(by) > this.until) break;
            shown.push([by, wait]);
        }
        if (shown.length <= mostArrows) for (const [by, wait] of shown) this.arrow(by, wait, profile.end(by), profile.end(wait), false);
        if (this.launches) for (const [call, task] of this.visibleLaunches()) this.launchArrow(call, task, false);
        if (this.selected < 0) return;
        const i = this.selected;
        if (profile.isTask(i)) {
            const call = links.callOf(i);
            if (call >= 0) this.launchArrow(call, i, true);
            const by = links.releaserOf(i);
            if (typeof by === 'number') this.arrow(by, i, profile.end(by), profile.end(i), true);
        } else if (profile.argument[i] > 0 && profile.kind[i] === Kind.call) {
            const task = links.taskAt(profile.stream[i], profile.task[i]);
            if (task >= 0) this.launchArrow(i, task, true);
        }
    }
    launchArrow(call, task, strong) {
        const {profile} = this;
        this.arrow(call, task, Math.min(profile.end(call), profile.begin[task]), profile.begin[task], strong);
    }
    // [call, last task it submitted] of the calls in the window; none if they are too many to be told apart.
    visibleLaunches() {
        const {profile} = this;
        const found = [];
        for (const row of this.visibleRows)
            for (const lane of row.thread ? row.lanes : [])
                for (let at = lane.firstEndingAfter(this.from), tries = 0; at < lane.begin.length && lane.begin[at] < this.until; ++at) {
                    if (++tries > 4 * mostArrows || found.length > mostArrows) return [];
                    const record = lane.records[at];
                    if (profile.kind[record] !== Kind.call || profile.argument[record] === 0) continue;
                    const task = this.links.taskAt(profile.stream[record], profile.task[record]);
                    if (task >= 0) found.push([record, task]);
                }
        return found;
    }
    arrow(from, to, fromTime, toTime, strong) {
        const start = this.boxOf(from), stop = this.boxOf(to);
        if (!start || !stop) return;
        const {context, style} = this;
        const x1 = this.xOf(fromTime), x2 = this.xOf(toTime);
        const y1 = start.y + start.height / 2, y2 = stop.y + stop.height / 2;
        if (Math.max(x1, x2) < -50 || Math.min(x1, x2) > this.width + 50) return;
        context.strokeStyle = context.fillStyle = strong ? style.accent : style.arrow;
        context.lineWidth = strong ? 2 : 1.2;
        const bend = Math.max(14, Math.min(40, Math.abs(x2 - x1) / 2));
        context.beginPath();
        context.arc(x1, y1, strong ? 3 : 2.2, 0, 2 * Math.PI);
        context.fill();
        context.beginPath();
        context.moveTo(x1, y1);
        context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - 4, y2);
        context.stroke();
        context.beginPath();
        context.moveTo(x2, y2);
        context.lineTo(x2 - 7, y2 - 4);
        context.lineTo(x2 - 7, y2 + 4);
        context.fill();
    }

    // ---- the pointer -----------------------------------------------------------------------------------------------

    listen() {
        const {canvas, scroller} = this.elements;
        scroller.addEventListener('scroll', () => this.changed());
        canvas.addEventListener('wheel', event => this.onWheel(event), {passive: false});
        canvas.addEventListener('pointerdown', event => this.onPress(event));
        canvas.addEventListener('pointermove', event => this.onMove(event));
        canvas.addEventListener('pointerup', event => this.onRelease(event));
        canvas.addEventListener('pointerleave', () => this.listeners.hover(null));
        canvas.addEventListener('dblclick', event => {
            const found = this.at(event.offsetX, event.offsetY);
            if (found?.record >= 0) this.focus(this.profile.begin[found.record], this.profile.end(found.record));
            else if (found?.gap) this.focus(found.gap.begin, found.gap.end);
        });
    }
    onWheel(event) {
        const lines = event.deltaMode === 1 ? 16 : 1;
        if (event.ctrlKey || event.metaKey) {
            event.preventDefault();
            this.zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY * lines)) * 0.004), event.offsetX);
        } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            event.preventDefault();
            this.pan((event.deltaX || event.deltaY) * lines);
        }
    }
    onPress(event) {
        if (event.button !== 0) return;
        this.elements.canvas.setPointerCapture(event.pointerId);
        const measuring = this.measuring || event.shiftKey;
        this.drag = {x: event.offsetX, y: event.offsetY, lastX: event.offsetX, lastY: event.clientY, moved: false, measuring,
            time: this.snapped(event.offsetX, event.offsetY)};
    }
    onMove(event) {
        const {drag} = this;
        if (!drag) {
            this.listeners.hover(this.at(event.offsetX, event.offsetY), event);
            return;
        }
        if (!drag.moved && Math.abs(event.offsetX - drag.x) + Math.abs(event.offsetY - drag.y) < 4) return;
        drag.moved = true;
        this.listeners.hover(null);
        if (drag.measuring) {
            const time = this.snapped(event.offsetX, event.offsetY);
            this.measure(Math.min(time, drag.time), Math.max(time, drag.time));
        } else {
            this.pan(drag.lastX - event.offsetX);
            this.elements.scroller.scrollTop += drag.lastY - event.clientY;
        }
        drag.lastX = event.offsetX;
        drag.lastY = event.clientY;
    }
    onRelease(event) {
        const {drag} = this;
        this.drag = null;
        if (!drag || drag.moved) return;
        if (drag.measuring && this.measured) this.measure(null);
        const found = this.at(event.offsetX, event.offsetY);
        if (found?.record >= 0) this.listeners.select(found.record);
        else if (found?.gap) this.listeners.selectGap(found.gap);
        else if (found?.row) this.listeners.selectRow(found.row);
        else this.listeners.select(-1);
    }
    // The time at a point, or the begin or end of a record close to it.
    snapped(x, y) {
        const time = this.timeAt(x), reach = 5 / this.width * (this.until - this.from);
        const row = this.rowAtY(y + this.elements.scroller.scrollTop);
        let best = time, distance = reach;
        for (const lane of row?.lanes ?? []) {
            const place = lane.firstEndingAfter(time - reach);
            for (const edge of [lane.begin[place], lane.end[place], lane.begin[place + 1]])
                if (Math.abs(edge - time) < distance) {
                    distance = Math.abs(edge - time);
                    best = edge;
                }
        }
        return best;
    }
    measure(begin, end) {
        this.measured = begin === null ? null : {begin, end};
        this.listeners.measure(this.measured);
        this.changed();
    }
}

export {zoomStep};

// A round distance between the lines of the ruler.
export function tickStep(span, width) {
    const least = span / Math.max(2, width / 110);
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map(factor => factor * power).find(step => step >= least) ?? power * 10;
}
