// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them, and elements of the page. Texts of a profile go in as text, never as markup.

const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
export function grouped(number) { return Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, ','); }

export function time(nanoseconds, digits = 3) {
    const size = Math.abs(nanoseconds);
    if (size === 0) return '0 ns';
    const [factor, unit] = units.find(([least]) => size >= least) ?? units[3];
    const value = nanoseconds / factor;
    const decimals = factor === 1 ? 0 : Math.max(0, digits - String(Math.trunc(Math.abs(value))).length);
    return `${value.toFixed(decimals)} ${unit}`;
}

// Every digit: what a reader copies into a report.
export function exactTime(nanoseconds) {
    const [factor, unit] = units.find(([least]) => Math.abs(nanoseconds) >= least) ?? units[3];
    return `${(nanoseconds / factor).toFixed(Math.round(Math.log10(factor)))} ${unit}`;
}

export function bytes(count) {
    let unit = 0;
    while (Math.abs(count) >= 1024 && unit < 5) {
        count /= 1024;
        ++unit;
    }
    const name = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'][unit];
    return `${unit === 0 ? count : count.toFixed(count < 10 ? 2 : count < 100 ? 1 : 0)} ${name}`;
}

export function bandwidth(size, nanoseconds) {
    return nanoseconds > 0 ? `${(size / nanoseconds).toFixed(size / nanoseconds < 10 ? 2 : 1)} GB/s` : '';
}

export function percent(share) {
    if (share > 0 && share < 0.0005) return '< 0.1 %';
    return `${(share * 100).toFixed(share < 0.1 && share > 0 ? 1 : 0)} %`;
}

export function counted(count, noun, plural = noun + 's') {
    return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

// element('button', {class: 'x', onclick: f}, 'text', child)
export function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
        else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? '' : value);
    }
    made.append(...children.filter(child => child !== undefined && child !== null && child !== ''));
    return made;
}
