// SPDX-License-Identifier: Apache-2.0
// Lanes: spans of time that do not overlap, in order, with a pyramid of their sums and their longest span, so that a
// pixel that holds thousands of them costs as much as one that holds ten.

const base = 16;   // spans in a group of the lowest level
const factor = 4;  // groups in a group of the next one
const mostLanes = 24;

// The first place from `from` on whose value is above (or, with `orEqual`, not below) the limit.
export function firstAbove(values, limit, from = 0, orEqual = false, until = values.length) {
    while (from < until) {
        const middle = from + until >> 1;
        if (orEqual ? values[middle] < limit : values[middle] <= limit) from = middle + 1; else until = middle;
    }
    return from;
}

// The same, quick if the place is near.
export function nextAtOrAfter(values, limit, from) {
    const count = values.length;
    let step = 1, low = from;
    while (low + step < count && values[low + step] < limit) {
        low += step;
        step *= 2;
    }
    return firstAbove(values, limit, low, true, Math.min(count, low + step + 1));
}

export class Lane {
    constructor(profile, records) {
        const count = records.length;
        this.records = records;
        this.begin = new Float64Array(count);
        this.end = new Float64Array(count);
        for (let i = 0; i < count; ++i) {
            this.begin[i] = profile.begin[records[i]];
            this.end[i] = profile.end(records[i]);
        }
        this.levels = [];
        let below = null;
        for (let size = base; size <= count; size *= factor) below = this.addLevel(size, below);
    }

    addLevel(size, below) {
        const groups = Math.floor(this.begin.length / size);
        const level = {size, sum: new Float64Array(groups), longest: new Uint32Array(groups)};
        for (let group = 0; group < groups; ++group) {
            let sum = 0, most = -1, longest = 0;
            const parts = below ? factor : base;
            for (let part = group * parts; part < (group + 1) * parts; ++part) {
                const place = below ? below.longest[part] : part;
                const length = this.end[place] - this.begin[place];
                sum += below ? below.sum[part] : length;
                if (length > most) {
                    most = length;
                    longest = place;
                }
            }
            level.sum[group] = sum;
            level.longest[group] = longest;
        }
        this.levels.push(level);
        return level;
    }

    // The sum and the longest of the spans from..until.
    over(from, until, result) {
        let sum = 0, most = -1, longest = from;
        while (from < until) {
            let place = from, length, next = from + 1;
            let level = this.levels.length - 1;
            while (level >= 0 && (from % this.levels[level].size !== 0 || from + this.levels[level].size > until)) --level;
            if (level >= 0) {
                const {size, sum: sums, longest: places} = this.levels[level];
                place = places[from / size];
                length = this.end[place] - this.begin[place];
                sum += sums[from / size];
                next = from + size;
            } else {
                length = this.end[place] - this.begin[place];
                sum += length;
            }
            if (length > most) {
                most = length;
                longest = place;
            }
            from = next;
        }
        result.sum = sum;
        result.longest = longest;
        return result;
    }

    // The first span that ends after a time.
    firstEndingAfter(time) { return firstAbove(this.end, time); }
    // The place of the span at a time, or -1.
    at(time) {
        const place = firstAbove(this.begin, time) - 1;
        return place >= 0 && this.end[place] >= time ? place : -1;
    }
    // Time in spans between two times.
    busy(from, until) {
        let first = this.firstEndingAfter(from);
        const last = firstAbove(this.begin, until, first, true);
        if (first >= last) return 0;
        const total = this.over(first, last, {}).sum;
        return total - Math.max(0, from - this.begin[first]) - Math.max(0, this.end[last - 1] - until);
    }
}

function inOrder(profile, records) {
    const {begin, duration} = profile;
    const before = (a, b) => begin[a] - begin[b] || duration[b] - duration[a] || a - b;
    // Records come in the order of their ends, so most are in place already.
    let moves = records.length * 8 + 1000;
    for (let i = 1; i < records.length; ++i) {
        const record = records[i];
        let place = i;
        while (place > 0 && before(records[place - 1], record) > 0) {
            records[place] = records[place - 1];
            --place;
            if (--moves < 0) {
                records[place] = record;
                return records.sort(before);
            }
        }
        records[place] = record;
    }
    return records;
}

// Packs records into as few lanes as they need; what lies inside another span comes below it.
export function lanesOf(profile, records) {
    inOrder(profile, records);
    const lane = new Uint8Array(records.length);
    const ends = [], counts = [];
    for (let i = 0; i < records.length; ++i) {
        const record = records[i];
        let place = 0;
        while (place < ends.length && ends[place] > profile.begin[record]) ++place;
        if (place === mostLanes) --place;
        if (place === ends.length) counts.push(0);
        ends[place] = Math.max(ends[place] ?? 0, profile.end(record));
        lane[i] = place;
        ++counts[place];
    }
    const parts = counts.map(count => new Uint32Array(count));
    const filled = counts.map(() => 0);
    for (let i = 0; i < records.length; ++i) parts[lane[i]][filled[lane[i]]++] = records[i];
    return parts.map(part => new Lane(profile, part));
}
