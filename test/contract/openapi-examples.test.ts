/**
 * Every body of a request has examples for its parts, which are valid together and which a server takes; refusals have an
 * example too.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, test } from 'bun:test';
import { addressOf, createAttackWorld, send } from '../attack/world.ts';
import { createInstance } from '../support/instance.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

interface Media {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, object>>;
}

interface Content {
  readonly content?: Readonly<Record<string, Media>>;
}

interface Described {
  readonly operationId: string;
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

const instance = await createInstance();
const { json: document } = await instance.call('GET', '/openapi.json?part=all');
const components = document.components as Record<string, Record<string, object>>;

function resolve<Part extends object>(part: Part): Part {
  const [, , kind = '', name = ''] = ('$ref' in part ? String(part.$ref) : '').split('/');
  return (components[kind]?.[name] as Part | undefined) ?? part;
}

const ajv = new Ajv2020({ strict: false });
// The package exports itself as `default`, which is how its types see it.
formats.default(ajv);
for (const format of ['idn-email', 'iso-3166-1-alpha-2', 'iso-4217', 'iana-time-zone', 'bcp-47', 'binary'])
  ajv.addFormat(format, true);
ajv.addSchema({ $id: 'api', components });

function problemWith(schema: object, value: unknown): string | null {
  const own = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')) as object;
  return ajv.validate(own, value) ? null : ajv.errorsText();
}

/** Builds an example as a documentation page does. @throws {Error} for a part without an example. */
function sample(given: Schema, at: string): unknown {
  const schema = resolve(given);
  const { examples, enum: words, properties, additionalProperties, items, allOf, anyOf, oneOf } = schema;
  if (schema.const !== undefined) return schema.const;
  if (examples) return examples[0];
  if (schema.default !== undefined) return schema.default;
  if (words) return words[0];
  const [first] = anyOf ?? oneOf ?? [];
  if (first) return sample(first, at);
  if (allOf) return Object.assign({}, ...allOf.map((part) => sample(part, at)));
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0];
  if (type === 'array') return items ? [sample(items, `${at}[]`)] : [];
  if (type === 'boolean') return true;
  if (type === 'null') return null;
  if (type !== 'object') throw new Error(`${at} has no example`);
  const rest = typeof additionalProperties === 'object' ? { other: sample(additionalProperties, `${at}.*`) } : {};
  return {
    ...rest,
    ...Object.fromEntries(
      Object.entries(properties ?? {}).map(([name, part]) => [name, sample(part, `${at}.${name}`)]),
    ),
  };
}

/** Bodies by their first use: several operations can share an answer. */
const bodies = new Map<Media, string>();
for (const methods of Object.values(document.paths))
  for (const { operationId, requestBody, responses } of Object.values(methods as Record<string, Described>))
    for (const [place, part] of Object.entries({ body: requestBody ?? {}, 400: responses['400'] ?? {} })) {
      const media = resolve(part).content?.['application/json'];
      if (media && !bodies.has(media)) bodies.set(media, `${operationId} ${place}`);
    }

describe('examples', () => {
  test('exist for every kind of body', () => {
    const places = new Set([...bodies.values()].map((name) => name.split(' ')[1]));
    expect([...places].toSorted()).toEqual(['400', 'body']);
    expect(bodies.size).toBeGreaterThan(70);
  });

  test.each([...bodies].map(([media, name]) => [name, media] as const))('%s', (name, { schema, examples }) => {
    const values = examples
      ? Object.values(examples).map((example) => (resolve(example) as { readonly value: unknown }).value)
      : [sample(schema, name)];
    expect(values.length).toBeGreaterThan(0);
    expect(values.map((value) => problemWith(schema, value)).filter((problem) => problem !== null)).toEqual([]);
  });
});

/** Bodies whose parts exclude each other or name what another server has: the fields that are refused for it. */
const NAMES_OF_ELSEWHERE: Readonly<Record<string, RegExp>> = {
  requestProof: /^target$/,
  createLegalEntity: /^addressId$/,
  setOpenId: /^jwks\.keys\.0$/,
  createApplicationKey: /^scopes\.0$/,
  createWorkspaceKey: /^applicationIds\.0$/,
  changeUserGrants: /\.remove\.0$/,
  setUserRoles: /^slugs$/,
  setUserScopes: /^slugs$/,
  setUserMemberships: /^slugs$/,
  startBulkChange: /^action$/,
  applyDocument: /\.(?:secret|token|clientSecret)\.env$/,
  applyToApplication: /\.(?:secret|token|clientSecret)\.env$/,
  testMail: /^to$/,
};

describe('a server takes the example of', async () => {
  const world = await createAttackWorld();
  const withBody = world.instance.app.operations.filter(({ isUndocumented, body }) => !isUndocumented && body);
  const described = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods as Record<string, Described>),
  );

  test.each(withBody.map((operation) => [operation.id, operation] as const))('%s', async (id, operation) => {
    const { requestBody = {} } = described.find(({ operationId }) => operationId === id) ?? {};
    const media = resolve(requestBody).content?.['application/json'];
    const token = await world.tokenFor(operation);
    const body = sample(media?.schema ?? {}, id);
    const answer = await send(world, operation.method, addressOf(operation, world.ids), { token, body });
    const { error, fields = [] } = (answer.json ?? {}) as {
      error?: string;
      fields?: { path: string; message: string }[];
    };
    // Codes and tickets of an example are nobody's; a form that is wrong is named with its field.
    const wrong = error === 'invalid_request' ? fields.filter(({ path }) => !NAMES_OF_ELSEWHERE[id]?.test(path)) : [];
    expect([answer.status === 413 || answer.status === 415, wrong]).toEqual([false, []]);
  });
});
