/**
 * Bodies and queries that break parsers, sent to every operation with a body or query: refused quickly, with a clear
 * error.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import { isOfClients, type Operation } from '@/http/operation.ts';
import type { Answer } from '../support/instance.ts';
import { dumpTables } from '../support/stored.ts';
import { arbitraryOf } from './arbitrary.ts';
import { addressOf, createAttackWorld, describeApi, send } from './world.ts';

setDefaultTimeout(120_000);

const world = await createAttackWorld();
const { instance } = world;
const description = await describeApi(instance);
const named = (list: readonly Operation[]) => list.map((operation) => [operation.id, operation] as const);
const withBody = instance.app.operations.filter(({ body }) => body);
const propertiesOf = ({ body }: Operation) => Object.keys((body!['properties'] ?? {}) as object);

/** Sends a text as an operation's body, to existing resources, with sufficient rights. */
async function sendBody(operation: Operation, body: string, by?: string) {
  const token = by ?? (await world.tokenFor(operation));
  return send(world, operation.method, addressOf(operation, world.ids), { token, body });
}

/** Expects texts to be refused without a change. */
async function expectRefused(operation: Operation, texts: readonly string[]): Promise<void> {
  const token = await world.tokenFor(operation);
  const before = dumpTables(instance);
  for (const text of texts) {
    const answer = await sendBody(operation, text, token);
    expect([text.slice(0, 200), ...isInvalid(answer)]).toEqual([text.slice(0, 200), 400, 'invalid_request']);
    expect(answer.text.length).toBeLessThan(5000);
  }
  expect(dumpTables(instance)).toEqual(before);
}

/** A page has no error code, so its status decides. */
const isInvalid = ({ status, json }: Pick<Answer, 'status' | 'json'>) => [
  status,
  json === undefined && status === 400 ? 'invalid_request' : (json?.errorMessage ?? json?.error),
];

describe('depth', () => {
  const nested = (depth: number, open: string, close: string) => `${open.repeat(depth)}1${close.repeat(depth)}`;
  const DEEP = 200_000;

  test.each(named(withBody))('%s: refuses a deeply nested body', async (_, operation) => {
    const bombs = [
      nested(20_000, '[', ']'),
      ...propertiesOf(operation).map((name) => `{${JSON.stringify(name)}:${nested(33, '[{"a":', '}]')}}`),
    ];
    await expectRefused(operation, bombs);
  });

  test.each([[nested(DEEP, '[', ']')], [nested(100_000, '{"a":', '}')], [nested(40_000, '[{"signinMethods":', '}]')]])(
    'is named as the reason',
    async (value) => {
      const { status, json } = await instance.call('POST', '/api/applications', {
        token: instance.workspaceKey,
        body: `{"signinMethods":${value}}`,
      });
      expect([status, json.error]).toEqual([400, 'invalid_request']);
      expect(json.message).toContain('nested too deeply');
    },
  );
});

describe('width', () => {
  const MANY = 20_000;
  const wide = (parts: (index: number) => string, [open, close]: string, count: number) =>
    `${open}${Array.from({ length: count }, (_, index) => parts(index)).join(',')}${close}`;

  test.each(named(withBody))('%s: refuses a very wide body with a short answer', async (_, operation) => {
    const texts = [
      wide((index) => `"k${index}":1`, '{}', 5000),
      ...propertiesOf(operation).flatMap((name) => [
        `{${JSON.stringify(name)}:${wide(() => '[]', '[]', MANY)}}`,
        `{${JSON.stringify(name)}:"${'a'.repeat(100_000)}"}`,
      ]),
    ];
    for (const text of texts) {
      const answer = await sendBody(operation, text);
      const isTokenOfAnyKind = operation.access === 'key' || isOfClients(operation.access);
      if (!isTokenOfAnyKind) expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
      expect(answer.text.length).toBeLessThan(20_000);
    }
  });
});

describe('names of Object.prototype', () => {
  test.each(named(withBody))('%s: are refused as unknown fields', async (_, operation) => {
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];
    await expectRefused(
      operation,
      names.map((name) => `{${JSON.stringify(name)}:{"polluted":true,"access":"full"}}`),
    );
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('do not replace a parameter of a query or a form', async () => {
    const token = instance.workspaceKey;
    for (const name of ['__proto__', 'constructor']) {
      const { status } = await send(world, 'GET', `/api/applications/${world.applicationId}/users?${name}=1`, {
        token,
      });
      expect([200, 400]).toContain(status);
      const form = await send(world, 'POST', '/api/v1/device/code', {
        body: `client_id=${world.clientId}&${name}=1`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      // OAuth requires unknown parameters to be ignored.
      expect([form.status, typeof form.json.device_code]).toEqual([200, 'string']);
    }
  });
});

describe('a duplicate', () => {
  test('field in JSON takes its last value, which is both validated and stored', async () => {
    const { status, json } = await instance.call('POST', `/api/applications/${world.applicationId}/api-keys`, {
      token: instance.workspaceKey,
      body: '{"name":"first","access":"full","access":"read","name":"second"}',
    });
    expect([status, json.data.name, json.data.access]).toEqual([200, 'second', 'read']);
  });

  const listing = instance.app.operations.filter(({ query }) => query?.properties['limit']);

  test.each(named(listing))('%s: is refused in a query', async (_, operation) => {
    const token = await world.tokenFor(operation);
    const address = `${addressOf(operation, world.ids)}?limit=1&limit=200`;
    const answer = await send(world, 'GET', address, { token });
    expect([...isInvalid(answer), answer.json.fields[0].path]).toEqual([400, 'invalid_request', 'limit']);
  });

  test('workspace parameter is refused, since parsers differ in which value they read', async () => {
    const address = `/api/workspace?workspaceId=${instance.workspaceId}&workspaceId=wsp_01h455vb4pex5vsknk084sn02q`;
    const answer = await send(world, 'GET', address, { token: instance.workspaceKey });
    expect(isInvalid(answer)).toEqual([400, 'invalid_request']);
  });
});

describe('invalid Unicode text', () => {
  type Path = readonly (string | number)[];

  function* textsIn(value: unknown, path: Path = []): Generator<Path> {
    if (typeof value === 'string') yield path;
    else if (Array.isArray(value)) for (const [at, part] of value.entries()) yield* textsIn(part, [...path, at]);
    else if (typeof value === 'object' && value !== null)
      for (const [name, part] of Object.entries(value)) yield* textsIn(part, [...path, name]);
  }

  function replaced(value: unknown, [at, ...rest]: Path, by: (text: string) => string): unknown {
    if (at === undefined) return by(value as string);
    const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>;
    copy[at] = replaced(copy[at], rest, by);
    return copy;
  }

  const hasOwnValidation = ({ body }: Operation, path: Path) =>
    (body!['properties'] as Record<string, { isAnyText?: boolean }>)[String(path[0])]?.isAnyText === true;

  const BAD = ['a\0b', '\ud800', 'x\udc00', '\ud83dx'];

  test.each(named(withBody.filter(({ isUndocumented }) => !isUndocumented)))(
    '%s: is refused in every text field',
    async (_, operation) => {
      const schema = description.at(operation).requestBody!.content['application/json']!.schema;
      const fitting = arbitraryOf(schema, description, 0);
      const seen = new Set<string>();
      const texts: string[] = [];
      for (const body of fc.sample(fitting, { numRuns: 20, seed: 12 }))
        for (const path of textsIn(body)) {
          const name = path.filter((part) => typeof part === 'string').join('.');
          if (seen.has(name) || hasOwnValidation(operation, path)) continue;
          seen.add(name);
          for (const bad of BAD) texts.push(JSON.stringify(replaced(body, path, (text) => `${text}${bad}`)));
        }
      await expectRefused(operation, texts);
    },
  );

  test('is reported with its field if everything else is valid', async () => {
    for (const description of BAD) {
      const { json } = await instance.call('POST', `/api/applications/${world.applicationId}/roles`, {
        token: instance.workspaceKey,
        body: { slug: 'waiter', description },
      });
      expect(json.fields).toEqual([
        { path: 'description', message: expect.stringMatching(/no text can have|control characters/) },
      ]);
    }
  });

  test('makes a token invalid, and in an import only its own row', async () => {
    const key = await instance.createKey(world.applicationId);
    for (const bad of BAD) {
      const verdict = await send(world, 'POST', '/api/v1/verify', { token: key.token, body: { token: bad } });
      expect([verdict.status, verdict.json.errorMessage]).toEqual([200, 'invalid_token']);
      const rows = [
        { email: 'good@example.com' },
        { email: `bad${bad}@example.com` },
        { email: 'name@example.com', profile: { givenName: bad } },
        { email: 'roles@example.com', roleSlugs: [bad] },
      ];
      const { status, json } = await send(world, 'POST', `/api/applications/${world.applicationId}/users/bulk`, {
        token: key.token,
        body: { users: rows },
      });
      expect([status, json.data.results[1].error]).toEqual([200, 'email_invalid']);
    }
    const stored = instance.sqlite.query('SELECT full_name, given_name FROM users').values().flat();
    expect(stored.filter((text) => typeof text === 'string' && (!text.isWellFormed() || text.includes('\0')))).toEqual(
      [],
    );
  });
});

describe('wrong types', () => {
  const WRONG = ['null', 'true', '0', '-1.5e308', '"text"', '[]', '{}', '[[]]', '[null]', '{"length":1}'];

  test.each(named(withBody))('%s: cause no internal error in any field', async (_, operation) => {
    for (const name of propertiesOf(operation))
      for (const wrong of WRONG) {
        const { status, text } = await sendBody(operation, `{${JSON.stringify(name)}:${wrong}}`);
        expect([name, wrong, status < 500 ? 'answered' : text]).toEqual([name, wrong, 'answered']);
      }
  });
});

test('none of these requests logs a fault', () => {
  expect(instance.logLines.filter((line) => JSON.parse(line).msg === 'request failed')).toEqual([]);
});
