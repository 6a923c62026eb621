// SPDX-License-Identifier: Apache-2.0
// Builds page.html: the script in one piece, the style and the template. Its first lines name the hash of the sources,
// which tests/page compares. Run by scripts/build_page.sh.

import {createHash} from 'node:crypto';
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {build, transform} from 'esbuild';

const here = new URL('.', import.meta.url).pathname;
const read = name => readFileSync(here + name, 'utf8');

// The files by name, each with its size, as tests/page/sources_test.py does it.
export function sourceHash() {
    const names = readdirSync(here).filter(name => /\.(js|css|mjs)$|^template\.html$|^package-lock\.json$/.test(name)).sort();
    const hash = createHash('sha256');
    for (const name of names) {
        const bytes = readFileSync(here + name);
        hash.update(`${name} ${bytes.length}\n`).update(bytes);
    }
    return hash.digest('hex');
}

const sourceOf = text => `sha256-${createHash('sha256').update(text).digest('base64')}`;
const bundle = await build({entryPoints: [here + 'main.js'], bundle: true, minify: true, write: false, format: 'iife', target: 'es2022', charset: 'utf8', legalComments: 'none'});
const script = bundle.outputFiles[0].text.trim();
const style = (await transform(read('page.css'), {loader: 'css', minify: true, charset: 'utf8'})).code.trim();
if (script.includes('</script') || script.includes('@PROFILE@')) throw new Error('the script holds what ends it');
const parts = {SOURCES: sourceHash(), SCRIPT_HASH: sourceOf(script), STYLE_HASH: sourceOf(style), STYLE: style, SCRIPT: script};
const page = read('template.html').replace(/@([A-Z_]+)@/g, (whole, name) => parts[name] ?? whole);
writeFileSync(here + 'page.html', page);
console.log(`page.html: ${page.length} characters, of sources ${parts.SOURCES.slice(0, 12)}`);
