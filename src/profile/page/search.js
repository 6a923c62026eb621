// SPDX-License-Identifier: Apache-2.0
// Search by name: which texts match, how many records have them, and the next one in time.

export class Search {
    constructor(profile, rowOf) {
        Object.assign(this, {profile, rowOf, matches: null, count: 0, wanted: ''});
    }
    // `matches` has a 1 for each text that contains the wanted one, in any case of letters.
    set(wanted) {
        const {profile} = this;
        this.wanted = wanted;
        this.matches = null;
        this.count = 0;
        if (!wanted) return;
        const small = wanted.toLowerCase();
        this.matches = Uint8Array.from(profile.texts, text => text.toLowerCase().includes(small) ? 1 : 0);
        for (let i = 0; i < profile.count; ++i) if (this.isMatch(i)) ++this.count;
    }
    isMatch(i) { return this.matches[this.profile.label(i)] === 1 && this.rowOf[i] !== null; }

    // The match after (step 1) or before (step -1) a record in time, or the first (last) one. -1 without a match.
    next(from, step) {
        if (!this.count) return -1;
        const {profile} = this;
        const later = (a, b) => step * (profile.begin[a] - profile.begin[b] || a - b) > 0;
        let best = -1, extreme = -1;
        for (let i = 0; i < profile.count; ++i) {
            if (!this.isMatch(i)) continue;
            if (extreme < 0 || later(extreme, i)) extreme = i;
            if (from >= 0 && later(i, from) && (best < 0 || later(best, i))) best = i;
        }
        return best >= 0 ? best : extreme;
    }
    // How many matches are not after a record.
    place(record) {
        const {profile} = this;
        let count = 0;
        for (let i = 0; i < profile.count; ++i)
            if (this.isMatch(i) && (profile.begin[i] < profile.begin[record] || profile.begin[i] === profile.begin[record] && i <= record)) ++count;
        return count;
    }
}
