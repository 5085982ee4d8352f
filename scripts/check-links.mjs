// Checks every tracked Markdown file: relative links and images must exist, anchors must name a heading, and repository
// paths in backticks (`crates/…/file.rs`) must exist. Prints what is broken and exits with 1.
//
//   node scripts/check-links.mjs
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'));

const FOLDERS = 'crates|docs|scripts|viewer/src|viewer/tests|viewer/scripts|viewer/bindgen';
// The page is built there, not committed.
const REPOSITORY_PATH = new RegExp(`^(?!crates/view/dist)(?:${FOLDERS})/[\\w./-]*$`);

const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.md'], {
  encoding: 'utf8',
});
const pages = listed.split('\0').filter((page) => page && existsSync(page));

/** Lines without fenced code, which holds no links. */
function prose(text) {
  let fenced = false;
  return text.split('\n').map((line) => {
    const fence = /^\s*(```|~~~)/.test(line);
    if (fence) fenced = !fenced;
    return fence || fenced ? '' : line;
  });
}

/** The anchor that GitHub gives a heading. */
function slug(heading) {
  const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
  return text.trim().toLowerCase().replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replace(/ /g, '-');
}

const anchorsOf = new Map();
function anchors(page) {
  if (!anchorsOf.has(page)) {
    const found = new Set();
    const seen = new Map();
    for (const line of prose(readFileSync(page, 'utf8'))) {
      const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line);
      if (heading) {
        const name = slug(heading[1]);
        const count = seen.get(name) ?? 0;
        seen.set(name, count + 1);
        found.add(count ? `${name}-${count}` : name);
      }
      for (const [, id] of line.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) found.add(id);
    }
    anchorsOf.set(page, found);
  }
  return anchorsOf.get(page);
}

/** Why a link from a page leads nowhere, or undefined. */
function problem(page, target) {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target) || target.startsWith('//')) return undefined;
  const [path, anchor] = target.split('#');
  const file = path ? normalize(join(dirname(page), decodeURIComponent(path))) : page;
  if (file.startsWith('..')) return 'leaves the repository';
  if (!existsSync(file)) return 'does not exist';
  if (anchor && statSync(file).isFile() && file.endsWith('.md') && !anchors(file).has(decodeURIComponent(anchor))) {
    return `has no heading "#${anchor}"`;
  }
  return undefined;
}

const broken = [];
let links = 0;
for (const page of pages) {
  prose(readFileSync(page, 'utf8')).forEach((line, number) => {
    const report = (target, why) => broken.push(`${page}:${number + 1}: ${target} ${why}`);
    for (const [, path] of line.matchAll(/`([^`]+)`/g)) {
      if (!REPOSITORY_PATH.test(path)) continue;
      links += 1;
      if (!existsSync(path)) report(path, 'does not exist');
    }
    const text = line.replace(/`[^`]*`/g, '');
    const inline = [...text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)];
    const defined = [...text.matchAll(/^\s*\[[^\]]+\]:\s+<?([^\s>]+)>?/g)];
    const html = [...text.matchAll(/<(?:img|a)\s[^>]*(?:src|href)="([^"]+)"/g)];
    for (const [, target] of [...inline, ...defined, ...html]) {
      links += 1;
      const why = problem(page, target);
      if (why) report(target, why);
    }
  });
}
if (broken.length > 0) {
  console.error(broken.join('\n'));
  console.error(`${broken.length} broken links`);
  process.exit(1);
}
console.log(`${links} links in ${pages.length} pages`);
