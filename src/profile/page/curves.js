// SPDX-License-Identifier: Apache-2.0
// Curves over time: how much of something was busy, and values that change in steps.

import {firstAbove, nextAtOrAfter} from './lanes.js';

// The mean number of spans at once, exact at every zoom: the time in spans up to a moment follows from the sums of the
// begins and of the ends before it.
export class BusyCurve {
    constructor(begins, ends, available) {
        this.begins = begins.sort();
        this.ends = ends.sort();
        this.beginSums = sums(this.begins);
        this.endSums = sums(this.ends);
        this.available = available;
        this.unit = 'busy';
    }
    upTo(time) {
        const begun = firstAbove(this.begins, time), ended = firstAbove(this.ends, time);
        return begun * time - this.beginSums[begun] - (ended * time - this.endSums[ended]);
    }
    // The highest value to be drawn, and one value for each of `count` parts of a period.
    get top() { return this.available; }
    sample(from, until, count, values) {
        const width = (until - from) / count;
        let before = this.upTo(from);
        for (let i = 0; i < count; ++i) {
            const next = this.upTo(from + (i + 1) * width);
            values[i] = Math.min(this.available, Math.max(0, (next - before) / width));
            before = next;
        }
    }
}

function sums(values) {
    const result = new Float64Array(values.length + 1);
    for (let i = 0; i < values.length; ++i) result[i + 1] = result[i] + values[i];
    return result;
}

const group = 32;

// A value from each moment to the next; a period shows its highest.
export class StepCurve {
    constructor(points, unit) {
        points.sort((a, b) => a[0] - b[0]);
        this.times = Float64Array.from(points, point => point[0]);
        this.values = Float64Array.from(points, point => point[1]);
        this.highest = new Float64Array(Math.ceil(points.length / group));
        for (let i = 0; i < points.length; ++i) {
            const place = Math.floor(i / group);
            this.highest[place] = Math.max(this.highest[place], this.values[i]);
        }
        this.top = this.values.reduce((most, value) => Math.max(most, value), 0) || 1;
        this.unit = unit;
    }
    valueAt(time) {
        const place = firstAbove(this.times, time) - 1;
        return place < 0 ? 0 : this.values[place];
    }
    sample(from, until, count, values) {
        const width = (until - from) / count;
        let next = firstAbove(this.times, from);
        for (let i = 0; i < count; ++i) {
            const limit = from + (i + 1) * width;
            let most = next > 0 ? this.values[next - 1] : 0;
            const last = next < this.times.length && this.times[next] < limit ? nextAtOrAfter(this.times, limit, next) : next;
            for (let at = next; at < last;) {
                const whole = at % group === 0 && at + group <= last;
                most = Math.max(most, whole ? this.highest[at / group] : this.values[at]);
                at += whole ? group : 1;
            }
            values[i] = most;
            next = last;
        }
    }
}
