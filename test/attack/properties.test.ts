/**
 * Property-based requests generated from the description: nothing breaks, and every answer matches the description.
 * `FUZZ_SEED` and `FUZZ_RUNS` widen the search; a failure prints its seed.
 */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import type { Operation } from '@/http/operation.ts';
import { amount } from '../support/long.ts';
import { arbitraryOf, HOSTILE_TEXTS } from './arbitrary.ts';
import { type AttackWorld, createAttackWorld, describeApi, type Schema, send } from './world.ts';

setDefaultTimeout(120_000);

const SEED = Number(process.env['FUZZ_SEED'] ?? 12);
const RUNS = Number(process.env['FUZZ_RUNS'] ?? amount(6, 100));

const world = await createAttackWorld();
const description = await describeApi(world.instance);
const documented = world.instance.app.operations.filter(({ isUndocumented }) => !isUndocumented);

const ajv = new Ajv2020({ strict: false, allErrors: false });
// The package exports itself as `default`, which is how its types see it.
formats.default(ajv);
// Formats for readers and other programs; none of our libraries checks them.
for (const format of ['idn-email', 'iso-3166-1-alpha-2', 'iso-4217', 'iana-time-zone', 'bcp-47'])
  ajv.addFormat(format, true);
ajv.addSchema({ $id: 'api', components: description.components });
const compiled = new Map<object, (value: unknown) => boolean>();

/** Returns what is wrong with an answer's body; null if it matches the description. */
function mismatch(schema: Schema, value: unknown): string | null {
  let check = compiled.get(schema);
  if (!check) {
    const own = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')) as object;
    compiled.set(schema, (check = ajv.compile(own)));
  }
  return check(value) ? null : ajv.errorsText((check as { errors?: [] }).errors ?? null);
}

interface Try {
  readonly ids: Record<string, string>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
}

function tries(operation: Operation, { ids }: AttackWorld): fc.Arbitrary<Try> {
  const { parameters = [], requestBody } = description.at(operation);
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const schema = requestBody?.content['application/json']?.schema;
  return fc.record({
    ids: fc.record(
      Object.fromEntries(
        inPath.map(({ name }) => [
          name,
          fc.oneof(
            { weight: 12, arbitrary: fc.constant(ids[name] ?? 'nothing') },
            // An empty part makes another path.
            {
              weight: 1,
              arbitrary: fc.constantFrom(...HOSTILE_TEXTS.filter((text) => text !== '' && text.isWellFormed())),
            },
          ),
        ]),
      ),
    ),
    query: fc.record(Object.fromEntries(inQuery.map(({ name, schema }) => [name, arbitraryOf(schema, description)])), {
      requiredKeys: [],
    }),
    body: schema ? arbitraryOf(schema, description) : fc.constant(undefined),
  });
}

async function attempt(operation: Operation, { ids, query, body }: Try): Promise<string | null> {
  const path = operation.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(ids[name]!));
  const parameters = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  ).toString();
  const token = await world.tokenFor(operation);
  const address = parameters === '' ? path : `${path}?${parameters}`;
  const answer = await send(world, operation.method, address, { token, body });
  const { status, json } = answer;
  if (status >= 500 && status !== 502 && status !== 503) return `${status} ${answer.text}`;
  const { responses } = description.at(operation);
  const described = responses[String(status)] ?? (status >= 400 ? responses['default'] : undefined);
  if (!described) return `${status} is not described: ${answer.text.slice(0, 300)}`;
  const schema = described.content?.['application/json']?.schema;
  if (!schema) return json === undefined ? null : `${status} is described without JSON: ${answer.text.slice(0, 300)}`;
  const problem = mismatch(schema, json);
  return problem === null ? null : `${status}: ${problem}: ${answer.text.slice(0, 500)}`;
}

test.each(documented.map((operation) => [operation.id, operation] as const))(
  '%s: survives every request and answers as described',
  async (_, operation) => {
    await fc.assert(
      fc.asyncProperty(tries(operation, world), async (one) => {
        expect(await attempt(operation, one)).toBeNull();
      }),
      { seed: SEED, numRuns: RUNS, endOnFailure: process.env['FUZZ_SHRINK'] === undefined },
    );
  },
);

test('these requests neither pollute Object.prototype nor log a fault', () => {
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  const faults = world.instance.logLines.filter((line) => JSON.parse(line).msg === 'request failed');
  expect(faults).toEqual([]);
});
