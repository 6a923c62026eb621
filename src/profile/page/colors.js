// SPDX-License-Identifier: Apache-2.0
// Colours of records: kernels by rank of their total time, everything else by what it is.

import {Kind, Task, TaskFlag} from './profile.js';

const kernels = 12;
export const Color = {copyIn: 12, copyOut: 13, copy: 14, wait: 15, minor: 16, replay: 17, call: 18, callThatWaits: 19,
    mark: 20, idle: 21, failed: 22, host: 23};

// Hue, saturation and lightness in the light and the dark style; text on all of them is dark.
const hues = [212, 32, 148, 276, 186, 52, 338, 96, 236, 14, 168, 306];
const others = [
    [190, 42, 64], [158, 36, 62], [200, 22, 66],  // copies
    [220, 8, 74], [220, 14, 70], [250, 46, 76],   // wait, minor, replay
    [214, 26, 78], [38, 66, 72],                  // calls
    [140, 30, 74], [220, 10, 86], [358, 74, 66], [28, 30, 68],
];

function bytesOfColor([hue, saturation, lightness]) {
    const s = saturation / 100, l = lightness / 100, a = s * Math.min(l, 1 - l);
    const part = n => {
        const k = (n + hue / 30) % 12;
        return Math.round(255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
    };
    return [part(0), part(8), part(4)];
}

const shades = 16;

// Colours as the pixels of an image, blended with the background in `shades` steps.
export class Palette {
    constructor(dark, background) {
        const list = hues.map((hue, place) => [hue, place % 2 === 0 ? 46 : 50, dark ? 60 : 68])
            .concat(others.map(([hue, saturation, lightness]) => [hue, saturation, dark ? lightness - 16 : lightness]));
        this.colors = list.map(bytesOfColor);
        this.background = background;
        this.pixels = new Uint32Array(list.length * (shades + 1));
        this.colors.forEach((color, place) => {
            for (let shade = 0; shade <= shades; ++shade) {
                const mix = at => Math.round(background[at] + (color[at] - background[at]) * shade / shades);
                this.pixels[place * (shades + 1) + shade] = pixel(mix(0), mix(1), mix(2));
            }
        });
        this.empty = pixel(...background);
    }
    shade(color, share) {
        return this.pixels[color * (shades + 1) + Math.max(5, Math.min(shades, Math.ceil(share * shades)))];
    }
    full(color) { return this.pixels[color * (shades + 1) + shades]; }
    faint(color) { return this.pixels[color * (shades + 1) + 4]; }
    css(color) { return `rgb(${this.colors[color].join(' ')})`; }
}

export function pixel(red, green, blue) { return (255 << 24 | blue << 16 | green << 8 | red) >>> 0; }

function colorOfTask(profile, i, ranks) {
    if (profile.flags(i) & TaskFlag.failed) return Color.failed;
    switch (profile.taskType(i)) {
        case Task.kernel: case Task.cpuKernel: return ranks[profile.name[i]];
        case Task.copy: return profile.how(i) === 2 ? Color.copyIn : profile.how(i) === 3 ? Color.copyOut : Color.copy;
        case Task.fill: return Color.copy;
        case Task.wait: case Task.waitValue: return Color.wait;
        case Task.replay: return Color.replay;
        case Task.hostCall: case Task.runtimeCall: return Color.host;
        default: return Color.minor;
    }
}

// A colour for each record, and for each text that is the name of a kernel.
export function colorsOf(profile) {
    const ranks = new Uint8Array(profile.texts.length);
    profile.texts.forEach((_, place) => { ranks[place] = place % kernels; });
    profile.head.kernels.forEach((kernel, rank) => { ranks[kernel.text] = rank % kernels; });
    const waits = profile.texts.map(text => /Synchroni[sz]e|Dequeue|^aclrtMemcpy(2d)?$/.test(text));
    const colors = new Uint8Array(profile.count);
    for (let i = 0; i < profile.count; ++i) {
        switch (profile.kind[i]) {
            case Kind.task: case Kind.node: colors[i] = colorOfTask(profile, i, ranks); break;
            case Kind.block: case Kind.step: colors[i] = ranks[profile.name[i]]; break;
            case Kind.piece: colors[i] = Color.copy; break;
            case Kind.call:
                colors[i] = profile.object[i] !== 0 ? Color.failed : waits[profile.name[i]] ? Color.callThatWaits : Color.call;
                break;
            case Kind.mark: case Kind.stepPoint: colors[i] = Color.mark; break;
            default: colors[i] = Color.idle;
        }
    }
    return {colors, ranks};
}
