// SPDX-License-Identifier: Apache-2.0
// Puts the page together: reads the profile, makes the parts and connects them, the keyboard included.

import {colorsOf} from './colors.js';
import {DetailsPanel, Describer} from './details.js';
import * as format from './format.js';
import {Overview, Ruler} from './overview.js';
import {readProfile} from './profile.js';
import {Links, rowsOf} from './rows.js';
import {Search} from './search.js';
import * as tables from './tables.js';
import {Timeline, zoomStep} from './timeline.js';

const {element} = format;
const find = id => document.getElementById(id);
const page = window.canopyPage = {ready: false, problem: '', times: {}};

const styles = {
    light: {dark: false, background: [255, 255, 255], grid: [238, 241, 245], line: [232, 236, 241], heading: [244, 246, 249], curve: [205, 222, 240],
        curveEdge: [88, 136, 188], ink: '#10151c', faint: '#77808c', accent: '#c2410c', onAccent: '#ffffff', arrow: 'rgb(60 72 90 / 60%)',
        veil: 'rgb(194 65 12 / 9%)', shade: 'rgb(120 130 145 / 22%)'},
    dark: {dark: true, background: [20, 23, 28], grid: [31, 35, 42], line: [34, 39, 46], heading: [28, 32, 39], curve: [36, 58, 84],
        curveEdge: [92, 148, 206], ink: '#0b0e12', faint: '#8b95a3', accent: '#ff9d5c', onAccent: '#14171c', arrow: 'rgb(200 210 225 / 55%)',
        veil: 'rgb(255 157 92 / 12%)', shade: 'rgb(0 0 0 / 45%)'},
};

class Page {
    constructor(profile) {
        this.profile = profile;
        const begin = performance.now();
        const layout = this.layout = rowsOf(profile);
        const {colors, ranks} = colorsOf(profile);
        this.ranks = ranks;
        page.times.rows = performance.now() - begin;
        const links = this.links = new Links(profile);
        this.describer = new Describer(profile, layout, links);
        this.search = new Search(profile, layout.rowOf);
        this.timeline = new Timeline(profile, layout, colors, links,
            {canvas: find('canvas'), scroller: find('scroller'), labels: find('labels')}, {
                select: record => this.select(record, {reveal: false}), selectGap: gap => this.selectGap(gap), selectRow: row => this.selectRow(row),
                measure: period => this.onMeasure(period), moved: () => this.onMove(), hover: (found, event) => this.onHover(found, event),
                painted: (ticks, step) => {
                    this.ruler.paint(ticks, step);
                    this.overview.paint();
                }});
        this.timeline.textOf = (record, row) => this.describer.short(record, row.type === 'copies');
        this.overview = new Overview(find('overview'), this.timeline);
        this.ruler = new Ruler(find('ruler'), this.timeline);
        this.panel = new DetailsPanel(find('details'), this.describer, {
            select: record => this.select(record), focus: (from, until) => this.timeline.focus(from, until),
            neighbour: (record, step) => this.step(record, step), why: record => this.why(record)});
        this.fillHeader();
        this.setStyle(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
        this.fillTabs();
        this.listen();
        this.timeline.resize();
    }

    // ---- selection -------------------------------------------------------------------------------------------------

    select(record, options) {
        this.timeline.select(record, options);
        if (record >= 0) this.panel.showRecord(record); else this.panel.showNothing();
    }
    selectGap(gap) {
        this.timeline.select(-1);
        this.timeline.gap = gap;
        this.panel.showGap(gap);
    }
    selectRow(row) {
        this.panel.showRow(row, Math.max(0, this.timeline.from), Math.min(this.timeline.length, this.timeline.until));
    }
    step(record, step) {
        const next = this.timeline.neighbour(record, step);
        if (next >= 0) this.select(next);
    }
    // Why a task did not begin earlier: the gap before it.
    why(record) {
        const before = this.timeline.neighbour(record, -1);
        const begin = before >= 0 ? this.profile.end(before) : 0;
        this.selectGap({row: this.layout.rowOf[record], before, after: record, begin, end: this.profile.begin[record]});
    }
    // Goes to a place of a table or a finding.
    jump(place) {
        const record = this.recordAt(place);
        if (record >= 0) this.select(record);
        this.timeline.focus(place.begin, place.end, record >= 0 ? 2 : 0.2);
    }
    recordAt(place) {
        const {profile, layout} = this;
        const isAt = record => Math.abs(profile.begin[record] - place.begin) <= 1 && Math.abs(profile.end(record) - place.end) <= 1;
        for (const row of layout.rows) {
            const fits = row.place === place.thread || (place.stream || place.task) && row.number === place.stream;
            for (const lane of fits ? row.lanes : [])
                for (let at = Math.max(0, lane.at(place.begin) - 1), tries = 0; at < lane.records.length && tries < 3; ++at, ++tries)
                    if (isAt(lane.records[at])) return lane.records[at];
        }
        return -1;
    }
    onMeasure(period) {
        if (period) this.panel.showPeriod(period); else this.panel.showNothing();
    }
    onMove() {
        const {from, until, length} = this.timeline;
        find('window').textContent = `${format.time(Math.max(0, from))} to ${format.time(Math.min(length, until))}`;
    }
    onHover(found, event) {
        const tip = find('tip');
        const record = found?.record ?? -1;
        tip.hidden = record < 0;
        if (record < 0) return;
        tip.replaceChildren(element('strong', {}, this.describer.short(record)), element('span', {}, `${format.time(this.profile.duration[record])}, ${this.describer.what(record)}`));
        const right = event.clientX > window.innerWidth - 340;
        tip.style.left = right ? '' : `${event.clientX + 14}px`;
        tip.style.right = right ? `${window.innerWidth - event.clientX + 10}px` : '';
        tip.style.top = `${event.clientY + (event.clientY > window.innerHeight - 90 ? -52 : 16)}px`;
    }

    // ---- search and measuring ---------------------------------------------------------------------------------------

    setSearch(wanted) {
        this.search.set(wanted.trim());
        this.timeline.matches = this.search.matches;
        this.timeline.changed();
        this.showMatches(-1);
    }
    showMatches(record) {
        const {search} = this;
        find('matches').textContent = !search.wanted ? '' : search.count === 0 ? 'no match'
            : record >= 0 ? `${format.grouped(search.place(record))} of ${format.grouped(search.count)}` : format.counted(search.count, 'match', 'matches');
    }
    nextMatch(step) {
        const record = this.search.next(this.timeline.selected, step);
        if (record < 0) return;
        this.select(record);
        this.showMatches(record);
    }
    setMeasuring(on) {
        this.timeline.measuring = on;
        find('measure').setAttribute('aria-pressed', String(on));
        find('canvas').classList.toggle('measuring', on);
        if (!on && this.timeline.measured) this.timeline.measure(null);
    }

    // ---- header, tabs, style ------------------------------------------------------------------------------------------

    fillHeader() {
        const {head} = this.profile;
        const title = head.title ? head.title.split('/').pop() : 'Profile';
        document.title = `${title}: profile`;
        find('title').textContent = title;
        const chips = [];
        for (const device of head.devices.known) chips.push(['', `Device ${device.number}: ${device.chip || device.kind}`]);
        chips.push(['', format.time(head.length, 4)], ['', format.counted(this.profile.count, 'record')]);
        if (head.recordCost) chips.push(['quiet', `recording: ${head.recordCost} ns a record, ${format.percent(head.costShare)} of the run`]);
        if (head.lost) chips.push(['warn', `${format.counted(head.lost, 'record')} lost`]);
        if (head.damage) chips.push(['bad', `Incomplete: ${head.damage}`]);
        find('chips').replaceChildren(...chips.map(([kind, text]) => element('li', {class: kind, title: text}, text)));
    }
    fillTabs() {
        const {head} = this.profile;
        const actions = {jump: place => this.jump(place), color: text => this.timeline.palette.css(this.ranks[text])};
        const tabs = [
            ['findings', `Findings ${head.findings.length || ''}`, () => tables.findingList(head.findings, actions)],
            ['kernels', 'Kernels', () => tables.kernelTable(head.kernels, actions)], ['calls', 'API calls', () => tables.callTable(head.calls, actions)],
            ['copies', 'Copies', () => tables.copyTable(head.copies)], ['streams', 'Streams', () => tables.streamTable(head.streams.sums, head.length)],
            ['facts', 'About this run', () => tables.factList(head)]];
        const bar = find('tabs');
        const open = id => {
            for (const button of bar.children) {
                const chosen = button.id === `tab-${id}`;
                button.setAttribute('aria-selected', String(chosen));
                button.tabIndex = chosen ? 0 : -1;
            }
            find('table').replaceChildren(tabs.find(([name]) => name === id)[2]());
            find('table').setAttribute('aria-labelledby', `tab-${id}`);
            this.openTab = id;
        };
        this.reopen = () => open(this.openTab);
        bar.replaceChildren(...tabs.map(([id, label]) => element('button', {id: `tab-${id}`, role: 'tab', 'aria-controls': 'table', onclick: () => open(id)}, label.trim())));
        bar.addEventListener('keydown', event => {
            const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
            if (!step) return;
            event.stopPropagation();
            const at = tabs.findIndex(([id]) => id === this.openTab);
            open(tabs[(at + step + tabs.length) % tabs.length][0]);
            find(`tab-${this.openTab}`).focus();
        });
        open(head.findings.length > 0 ? 'findings' : 'kernels');
    }
    setStyle(name) {
        document.documentElement.dataset.theme = this.style = name;
        find('theme').textContent = name === 'dark' ? 'Light' : 'Dark';
        find('theme').setAttribute('aria-label', `Switch to the ${name === 'dark' ? 'light' : 'dark'} style`);
        this.timeline.setStyle(styles[name]);
        if (this.openTab) this.reopen();
    }

    // ---- controls -----------------------------------------------------------------------------------------------------

    listen() {
        const {timeline} = this;
        const click = (id, action) => find(id).addEventListener('click', action);
        click('theme', () => this.setStyle(this.style === 'dark' ? 'light' : 'dark'));
        click('in', () => timeline.zoom(1 / zoomStep / zoomStep));
        click('out', () => timeline.zoom(zoomStep * zoomStep));
        click('fit', () => timeline.showAll());
        click('measure', () => this.setMeasuring(!timeline.measuring));
        click('launches', () => this.toggleLaunches());
        click('help', () => find('keys').showModal());
        click('close-keys', () => find('keys').close());
        click('next', () => this.nextMatch(1));
        click('previous', () => this.nextMatch(-1));
        find('search').addEventListener('input', event => this.setSearch(event.target.value));
        find('search').addEventListener('keydown', event => {
            event.stopPropagation();
            if (event.key === 'Enter') this.nextMatch(event.shiftKey ? -1 : 1);
            if (event.key === 'Escape') find('canvas').focus();
        });
        document.addEventListener('keydown', event => this.onKey(event));
        this.listenToDivider();
    }
    onKey(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || find('keys').open) return;
        const {timeline} = this;
        const {selected} = timeline;
        const keys = {
            w: () => timeline.zoom(1 / zoomStep), s: () => timeline.zoom(zoomStep), '+': () => timeline.zoom(1 / zoomStep), '=': () => timeline.zoom(1 / zoomStep),
            '-': () => timeline.zoom(zoomStep), a: () => timeline.pan(-timeline.width * 0.12), d: () => timeline.pan(timeline.width * 0.12),
            ArrowLeft: () => timeline.pan(-timeline.width * 0.12), ArrowRight: () => timeline.pan(timeline.width * 0.12),
            ArrowUp: () => { find('scroller').scrollTop -= 48; }, ArrowDown: () => { find('scroller').scrollTop += 48; },
            f: () => this.focusSelected(), 0: () => timeline.showAll(), m: () => this.setMeasuring(!timeline.measuring), l: () => this.toggleLaunches(),
            '/': () => find('search').focus(), '?': () => find('keys').showModal(), n: () => this.nextMatch(1), N: () => this.nextMatch(-1),
            ',': () => selected >= 0 && this.step(selected, -1), '.': () => selected >= 0 && this.step(selected, 1),
            Escape: () => {
                this.setMeasuring(false);
                if (timeline.measured) timeline.measure(null);
                this.select(-1);
            },
        };
        // Arrows keep their meaning in lists that scroll.
        const inPanel = event.target.closest?.('#details, #table, #tabs');
        if (inPanel && event.key.startsWith('Arrow')) return;
        const action = keys[event.key];
        if (!action) return;
        event.preventDefault();
        action();
    }
    toggleLaunches() {
        const {timeline} = this;
        timeline.launches = !timeline.launches;
        find('launches').setAttribute('aria-pressed', String(timeline.launches));
        timeline.changed();
    }
    focusSelected() {
        const {timeline, profile} = this;
        if (timeline.measured) timeline.focus(timeline.measured.begin, timeline.measured.end, 0.1);
        else if (timeline.selected >= 0) timeline.focus(profile.begin[timeline.selected], profile.end(timeline.selected));
        else if (timeline.gap) timeline.focus(timeline.gap.begin, timeline.gap.end);
        else timeline.showAll();
    }
    listenToDivider() {
        const divider = find('divider');
        const set = height => document.documentElement.style.setProperty('--dock', `${Math.max(80, Math.min(window.innerHeight - 220, height))}px`);
        divider.addEventListener('pointerdown', event => divider.setPointerCapture(event.pointerId));
        divider.addEventListener('pointermove', event => { if (divider.hasPointerCapture(event.pointerId)) set(window.innerHeight - event.clientY); });
        divider.addEventListener('keydown', event => {
            const step = {ArrowUp: 30, ArrowDown: -30}[event.key];
            if (!step) return;
            event.stopPropagation();
            event.preventDefault();
            set(find('dock').clientHeight + step);
        });
    }
}

// For tests and measurements: pans over the whole run and counts the frames that were painted.
page.pan = frames => new Promise(done => {
    const {timeline} = page.view;
    const span = timeline.length / 8;
    let left = frames;
    let paint = 0;
    const begin = performance.now();
    const step = () => {
        const from = (frames - left) / frames * (timeline.length - span);
        const before = performance.now();
        timeline.show(from, from + span);
        cancelAnimationFrame(timeline.asked);
        timeline.asked = 0;
        timeline.paint();
        paint += performance.now() - before;
        if (--left > 0) requestAnimationFrame(step);
        else done({frames, milliseconds: performance.now() - begin, paint});
    };
    requestAnimationFrame(step);
});
// Where a record lies on the screen; null if it is not in view.
page.pointOf = record => {
    const {timeline} = page.view;
    const box = timeline.boxOf(record);
    const frame = find('canvas').getBoundingClientRect();
    return box && {x: frame.left + box.x + Math.min(box.width / 2, Math.max(1, frame.width - box.x) / 2), y: frame.top + box.y + box.height / 2};
};

async function start() {
    try {
        const begin = performance.now();
        const holder = find('profile');
        const profile = await readProfile(holder.textContent.trim());
        holder.remove();
        page.times.read = performance.now() - begin;
        page.view = new Page(profile);
        page.profile = profile;
        page.times.made = performance.now() - begin;
        find('loading').remove();
        requestAnimationFrame(() => requestAnimationFrame(() => {
            page.times.shown = performance.now() - begin;
            page.times.sinceNavigation = performance.now();
            page.ready = true;
        }));
    } catch (problem) {
        page.problem = String(problem?.message ?? problem);
        find('loading').textContent = `This page cannot show its profile: ${page.problem}`;
        find('loading').setAttribute('role', 'alert');
    }
}
start();
