// SPDX-License-Identifier: Apache-2.0
// The strip above the timeline that shows the whole run and the window in it, and the ruler.

import * as format from './format.js';

function prepared(canvas) {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
    }
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return {context, width, height};
}

export class Overview {
    constructor(canvas, timeline) {
        this.canvas = canvas;
        this.timeline = timeline;
        this.curves = timeline.rows.filter(row => row.curve?.unit === 'busy').map(row => row.curve);
        canvas.addEventListener('pointerdown', event => {
            canvas.setPointerCapture(event.pointerId);
            const {timeline: {from, until}} = this;
            const time = this.timeAt(event.offsetX);
            this.drag = {offset: time >= from && time <= until ? time - from : (until - from) / 2};
            this.move(event);
        });
        canvas.addEventListener('pointermove', event => this.drag && this.move(event));
        canvas.addEventListener('pointerup', () => { this.drag = null; });
        canvas.addEventListener('wheel', event => {
            event.preventDefault();
            timeline.zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY)) * 0.004));
        }, {passive: false});
    }
    get whole() { return [-this.timeline.margin, this.timeline.length + this.timeline.margin]; }
    timeAt(x) {
        const [from, until] = this.whole;
        return from + x / Math.max(1, this.canvas.clientWidth) * (until - from);
    }
    move(event) {
        const {timeline} = this;
        const from = this.timeAt(event.offsetX) - this.drag.offset;
        timeline.show(from, from + timeline.until - timeline.from);
    }
    paint() {
        const {timeline, timeline: {style}} = this;
        const {context, width, height} = prepared(this.canvas);
        const [from, until] = this.whole;
        const count = Math.max(1, Math.floor(width));
        this.values = this.values?.length === count ? this.values : new Float64Array(count);
        context.fillStyle = `rgb(${style.curveEdge.join(' ')})`;
        this.curves.forEach((curve, place) => {
            curve.sample(from, until, count, this.values);
            const room = (height - 4) / this.curves.length, floor = (place + 1) * room + 2;
            for (let x = 0; x < count; ++x) {
                const size = Math.min(1, this.values[x] / curve.top) * (room - 2);
                if (size > 0) context.fillRect(x, floor - Math.max(1, size), 1, Math.max(1, size));
            }
        });
        const x1 = (timeline.from - from) / (until - from) * width, x2 = (timeline.until - from) / (until - from) * width;
        context.fillStyle = style.shade;
        context.fillRect(0, 0, x1, height);
        context.fillRect(x2, 0, width - x2, height);
        context.strokeStyle = style.accent;
        context.lineWidth = 1.5;
        context.strokeRect(x1 + 0.75, 0.75, Math.max(3, x2 - x1) - 1.5, height - 1.5);
    }
}

export class Ruler {
    constructor(canvas, timeline) {
        Object.assign(this, {canvas, timeline});
    }
    paint(ticks, step) {
        const {timeline, timeline: {style}} = this;
        const {context, width, height} = prepared(this.canvas);
        context.font = '11px system-ui, sans-serif';
        context.textBaseline = 'middle';
        for (const tick of ticks) {
            const x = Math.round(timeline.xOf(tick));
            context.fillStyle = style.faint;
            context.fillRect(x, height - 5, 1, 5);
            if (x < width - 20) context.fillText(label(tick, step), x + 4, height / 2 - 1);
        }
        const {measured} = timeline;
        if (!measured) return;
        const x1 = timeline.xOf(measured.begin), x2 = timeline.xOf(measured.end);
        const text = format.time(measured.end - measured.begin, 4);
        const size = context.measureText(text).width + 12;
        const middle = Math.max(size / 2, Math.min(width - size / 2, (x1 + x2) / 2));
        context.fillStyle = style.accent;
        context.fillRect(x1, height - 3, x2 - x1, 3);
        context.beginPath();
        context.roundRect(middle - size / 2, 2, size, height - 7, 4);
        context.fill();
        context.fillStyle = style.onAccent;
        context.fillText(text, middle - size / 2 + 6, height / 2 - 1);
    }
}

// A time with as many digits as tell neighbouring ticks apart.
function label(tick, step) {
    const [factor, unit] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']].find(([least]) => Math.abs(tick) >= least || step >= least) ?? [1, 'ns'];
    return `${(tick / factor).toFixed(Math.max(0, Math.ceil(-Math.log10(step / factor) - 1e-9)))} ${unit}`;
}
