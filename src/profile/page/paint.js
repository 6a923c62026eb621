// SPDX-License-Identifier: Apache-2.0
// Painting lanes and curves into the pixels of the timeline: at most one span for each pixel of a lane.

import {nextAtOrAfter} from './lanes.js';
import {Color, pixel} from './colors.js';
import {Kind} from './profile.js';

const wideEnough = 1.6;       // pixels from which a span is painted by itself
const wideForText = 30;
const mostTexts = 2500;
const mostLookedAt = 48;      // spans of one pixel among which a match is looked for

export class LaneScratch {
    constructor() {
        this.result = {sum: 0, longest: 0};
        this.widths = new Map();
        this.hatches = [];
    }
    // The beginning of a text that fits into so many pixels.
    fitting(context, text, width, size) {
        text = text.slice(0, 200);
        const whole = this.width(context, text, size);
        if (whole <= width) return text;
        for (let letters = Math.floor(text.length * width / whole); letters >= 2; --letters) {
            const shorter = `${text.slice(0, letters)}…`;
            if (this.width(context, shorter, size) <= width) return shorter;
        }
        return '';
    }
    width(context, text, size) {
        const key = `${size} ${text}`;
        let width = this.widths.get(key);
        if (width === undefined) {
            if (this.widths.size > 20000) this.widths.clear();
            this.widths.set(key, width = context.measureText(text).width);
        }
        return width;
    }
}

function isMatch(timeline, record) { return timeline.matches[timeline.profile.label(record)] === 1; }

function shadeOf(timeline, record, share) {
    const {palette, colors, matches} = timeline;
    const color = colors[record];
    return matches && !isMatch(timeline, record) ? palette.faint(color) : palette.shade(color, share);
}

// One of the spans from..until of a pixel that matches the search, else the longest.
function representative(timeline, lane, from, until, longest) {
    if (!timeline.matches) return longest;
    const step = Math.max(1, Math.floor((until - from) / mostLookedAt));
    for (let place = from; place < until; place += step) if (isMatch(timeline, lane.records[place])) return place;
    return longest;
}

export function drawLane(timeline, row, lane, top, bottom, scale, texts) {
    const {pixels, image: {width, height}, from, scratch, profile, ratio} = timeline;
    const first = Math.max(0, top), last = Math.min(height, bottom);
    const line = first * width;
    const count = lane.begin.length;
    scratch.hatches.length = 0;
    let place = lane.firstEndingAfter(from);
    if (place > 0 && lane.end[place - 1] === lane.begin[place - 1] && lane.begin[place - 1] >= from) --place;
    while (place < count) {
        const left = (lane.begin[place] - from) * scale;
        if (left >= width) break;
        const right = (lane.end[place] - from) * scale;
        const record = lane.records[place];
        if (right - left >= wideEnough) {
            const start = Math.max(0, Math.round(left));
            const gap = right - left >= 4 ? Math.round(ratio) : 0;
            const stop = Math.min(width, Math.max(start + 1, Math.round(right) - gap));
            if (stop > start) {
                pixels.fill(shadeOf(timeline, record, 1), line + start, line + stop);
                const color = timeline.colors[record];
                if (color === Color.wait || color === Color.idle) scratch.hatches.push(start, stop);
                else if (stop - start > wideForText * ratio && texts.length < mostTexts && !(timeline.matches && !isMatch(timeline, record)))
                    texts.push({text: timeline.textOf(record, row), x: start, y: top, width: stop - start, height: bottom - top});
            }
            ++place;
            continue;
        }
        const column = Math.max(0, Math.floor(left));
        let until = nextAtOrAfter(lane.begin, from + (column + 1) / scale, place);
        if (until <= place) until = place + 1;
        if (until - place > 1 && (lane.end[until - 1] - lane.begin[until - 1]) * scale >= wideEnough) --until;
        const {sum, longest} = lane.over(place, until, scratch.result);
        const shown = representative(timeline, lane, place, until, longest);
        const isMark = profile.kind[lane.records[shown]] === Kind.mark || profile.kind[lane.records[shown]] === Kind.stepPoint;
        pixels[line + column] = shadeOf(timeline, lane.records[shown], isMark ? 1 : Math.min(1, sum * scale));
        if (isMark && column + 1 < width) pixels[line + column + 1] = pixels[line + column];
        place = until;
    }
    for (let y = first + 1; y < last; ++y) pixels.copyWithin(y * width, line, line + width);
    hatch(timeline, first, last);
}

function hatch(timeline, first, last) {
    const {pixels, image: {width}, scratch: {hatches}, palette, ratio} = timeline;
    const period = Math.round(6 * ratio), bar = Math.round(2.5 * ratio);
    for (let at = 0; at < hatches.length; at += 2)
        for (let y = first; y < last; ++y)
            for (let x = hatches[at], row = y * width; x < hatches[at + 1]; ++x)
                if ((x + y) % period >= bar) pixels[row + x] = palette.faint(Color.wait);
}

export function drawCurve(timeline, row, top, bottom) {
    const {pixels, image: {width, height}, style} = timeline;
    const values = timeline.scratch.values?.length === width ? timeline.scratch.values : timeline.scratch.values = new Float64Array(width);
    row.curve.sample(timeline.from, timeline.until, width, values);
    const fill = pixel(...style.curve), edge = pixel(...style.curveEdge);
    const room = bottom - top;
    const levelOf = x => Math.round(values[Math.max(0, Math.min(width - 1, x))] / row.curve.top * room);
    for (let x = 0, level = levelOf(0), before = level; x < width; before = level, ++x) {
        level = levelOf(x);
        // The edge is one line: down to the lower neighbour.
        const edgeSize = Math.max(timeline.ratio * 1.5, level - Math.min(before, levelOf(x + 1)));
        for (let y = Math.max(0, bottom - level), stop = Math.min(height, bottom); y < stop; ++y)
            pixels[y * width + x] = y - (bottom - level) < edgeSize ? edge : fill;
    }
}
