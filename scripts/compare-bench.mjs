// Compares the CPU step of two `supple` binaries. They take turns, so that a busy machine slows both, and the median of all
// rounds is printed: the step, the part of it outside its local and global phases, and the ratio to the textbook step.
//
//   node scripts/compare-bench.mjs OLD NEW [--rounds 5] [--only male] [--models ../shared/data/fps]
import { execFileSync } from 'node:child_process';

const args = process.argv.slice(2);
const options = { rounds: '5', only: 'male', models: '../shared/data/fps' };
const binaries = [];
while (args.length > 0) {
  const arg = args.shift();
  const name = arg.replace(/^--/, '');
  if (!arg.startsWith('--')) {
    binaries.push(arg);
  } else if (name in options && args.length > 0) {
    options[name] = args.shift();
  } else {
    fail(`unknown option ${arg}`);
  }
}
const rounds = Number(options.rounds);
if (binaries.length !== 2 || !(rounds >= 1)) {
  fail('it takes two binaries and a number of rounds');
}

function fail(what) {
  console.error(`${what}; see the head of scripts/compare-bench.mjs`);
  process.exit(1);
}

// Older binaries cannot leave out the other measurements, which then take a minute each round.
const parts = binaries.map((binary) => {
  const help = execFileSync(binary, ['bench', '--help'], { encoding: 'utf8' });
  return help.includes('--parts') ? ['--parts', 'tissue'] : ['--vertices', '1'];
});

// Numbers by "model, threads", one list for each binary.
const found = new Map();
for (let round = 0; round < rounds; round++) {
  // Who goes first changes as well.
  for (const which of round % 2 === 0 ? [0, 1] : [1, 0]) {
    const command = ['bench', '--baseline', '--json', '--quiet', '--only', options.only, '--models', options.models];
    const text = execFileSync(binaries[which], [...command, ...parts[which]], { encoding: 'utf8' });
    for (const row of JSON.parse(text).tissue.filter((row) => row.textbook_ms)) {
      for (const step of row.steps) {
        const key = `${row.model}, ${step.threads} thread${step.threads > 1 ? 's' : ''}`;
        const lists = found.get(key) ?? [[], []];
        found.set(key, lists);
        // Phases are summed over threads.
        const phases = (step.local_ms + step.global_ms) / step.threads;
        lists[which].push({ step: step.total_ms, rest: step.total_ms - phases, ratio: step.ratio });
      }
    }
  }
}

function median(list) {
  const sorted = list.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

console.log(`median of ${rounds} rounds: step [ms], of it outside both phases [ms], ratio to the textbook step (range)`);
for (const [key, lists] of found) {
  const shown = lists.map((list) => {
    const of = (name) => list.map((entry) => entry[name]);
    const [low, high] = [Math.min(...of('ratio')), Math.max(...of('ratio'))];
    const [step, rest] = ['step', 'rest'].map((name) => median(of(name)).toFixed(2));
    return `${step} ${rest} ${median(of('ratio')).toFixed(1)} (${low.toFixed(1)}-${high.toFixed(1)})`;
  });
  console.log(`${key}: ${shown[0]} -> ${shown[1]}`);
}
