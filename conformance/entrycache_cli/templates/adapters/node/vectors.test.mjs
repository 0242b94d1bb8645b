// Plays vectors, by `node --test` or vitest: cases with the outcomes that the rules ask for, a JSON object a line.
// Those are played that need only what is declared. ENTRYCACHE_VECTORS names another; its manifest stands beside it.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { DECLARED, run } from './cache.mjs';

const { test } = process.env.VITEST ? await import('vitest') : await import('node:test');

/** What of an object is sent or compared: these keys, where it has them. */
const among = (from, names) => Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));

test('vectors', (t) => {
  const pack = process.env.ENTRYCACHE_VECTORS ?? fileURLToPath(new URL('vectors/small.jsonl.gz', import.meta.url));
  const text = gunzipSync(readFileSync(pack));
  const manifest = readFileSync(join(dirname(pack), 'manifest.json'), 'utf8');
  const hash = createHash('sha256').update(text).digest('hex');
  assert.ok(manifest.includes(hash), `${pack} is not as the manifest beside it says`);
  const lines = text.toString().trimEnd().split('\n');
  const { varies } = JSON.parse(manifest);
  let [played, own] = [0, 0];
  for (const line of lines) {
    const { system, config, steps, outcomes, note } = JSON.parse(line);
    const offered = DECLARED.systems[system];
    own += offered ? 1 : 0;
    if (!offered || !steps.length || !steps.every(({ op }) => offered.ops.includes(op))) continue;
    const usual = Object.entries(varies[note.split(' ')[0]]);
    if (!usual.every(([name, value]) => config[name] === value || offered.config.includes(name))) continue;
    const answer = run({ id: played, config: among(config, offered.config), steps });
    assert.equal(answer.errored, undefined, note);
    played += 1;
    for (const [at, step] of steps.entries()) {
      const shown = (outcome) => (step.op === 'observe' ? among(outcome, offered.introspection) : outcome);
      const got = JSON.parse(JSON.stringify(answer.outcomes[at])); // what JSON tells of it
      delete got.message; // of a refusal, for people
      const told = `${note}: step ${at}, ${JSON.stringify(step)}: expected ${JSON.stringify(outcomes[at])}`;
      assert.deepEqual(shown(got), shown(outcomes[at]), `${told}, got ${JSON.stringify(got)}`);
    }
  }
  (t.diagnostic?.bind(t) ?? console.log)(`${played} of ${own} vectors played; the others need more`);
  const enough = played >= 10 && 10 * played >= own;
  assert.ok(enough, `too few vectors were played: ${played} of ${own}; expected 10, and one of ten`);
});
