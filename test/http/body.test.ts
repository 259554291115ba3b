import { describe, expect, test } from 'bun:test';
import { createInstance } from '../support/instance.ts';

const MIB = 1024 * 1024;

async function setUp() {
  const instance = await createInstance();
  const send = async (init: RequestInit & { duplex?: 'half' }, headers: Record<string, string> = {}) => {
    const response = await instance.app.fetch(
      new Request('http://localhost/api/applications', {
        method: 'POST',
        ...init,
        headers: { authorization: `Bearer ${instance.workspaceKey}`, ...headers },
      }),
    );
    return { status: response.status, json: (await response.json()) as any };
  };
  const count = () => instance.sqlite.query('SELECT count(*) AS n FROM applications').get() as { n: number };
  return { instance, send, count };
}

const JSON_TYPE = { 'content-type': 'application/json' };

function chunked(totalBytes: number, chunkBytes = 64 * 1024) {
  let sent = 0;
  let wasCancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const size = Math.min(chunkBytes, totalBytes - sent);
      if (size <= 0) return controller.close();
      sent += size;
      controller.enqueue(new Uint8Array(size).fill(0x20));
    },
    cancel() {
      wasCancelled = true;
    },
  });
  return { stream, sent: () => sent, wasCancelled: () => wasCancelled };
}

describe('a JSON body', () => {
  test.each([
    ['{"name'],
    ['{'],
    ['{"name":"Shop",}'],
    ["{'name':1}"],
    ['undefined'],
    ['{"name":"Shop"} x'],
    ['\u0000'],
  ])('is refused when malformed, without repeating it: %j', async (body) => {
    const { instance, count } = await setUp();
    const before = count();
    const answer = await instance.call('POST', '/api/applications', { token: instance.workspaceKey, body });
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_request']);
    expect(answer.json.message).toContain('not valid JSON');
    if (body.length > 3) expect(answer.text).not.toContain(body);
    expect(count()).toEqual(before);
  });

  test.each([['null'], ['[]'], ['"text"'], ['5'], ['true']])(
    'is refused when it is not an object: %s',
    async (body) => {
      const { instance } = await setUp();
      const answer = await instance.call('POST', '/api/applications', { token: instance.workspaceKey, body });
      expect([answer.status, answer.json.fields]).toEqual([400, [{ path: 'body', message: 'Give a JSON object.' }]]);
    },
  );

  test('is refused with dangerous field names, as with any unknown field', async () => {
    const { instance } = await setUp();
    const body = '{"__proto__":{"name":"x"},"constructor":1}';
    const answer = await instance.call('POST', '/api/applications', { token: instance.workspaceKey, body });
    expect(answer.status).toBe(400);
    expect(answer.json.fields.map(({ path }: { path: string }) => path).sort()).toEqual(['__proto__', 'constructor']);
  });

  test('is refused when it is required and missing', async () => {
    const { instance } = await setUp();
    const path = `/api/applications/${(await instance.createApplication()).id}/api-keys`;
    for (const body of [undefined, '', ' \n'])
      expect((await instance.call('POST', path, { token: instance.workspaceKey, body })).json).toMatchObject({
        error: 'invalid_request',
        fields: [{ path: 'body' }],
      });
  });
});

describe('the media type of a body', () => {
  test.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['application/jsonp'],
    ['application/json5'],
    ['text/json'],
    ['application/xml, application/json'],
    [''],
  ])('is refused when it is not JSON: %j', async (type) => {
    const { send, count } = await setUp();
    const before = count();
    const { status, json } = await send({ body: '{"name":"Shop"}' }, type ? { 'content-type': type } : {});
    expect([status, json.error]).toEqual([415, 'unsupported_media_type']);
    expect(count()).toEqual(before);
  });

  test.each([['application/json'], ['application/json; charset=utf-8'], ['APPLICATION/JSON ;charset="utf-8"']])(
    'is accepted as JSON: %s',
    async (type) => {
      const { send } = await setUp();
      expect((await send({ body: '{"name":"Shop"}' }, { 'content-type': type })).status).toBe(200);
    },
  );
});

describe('a body of more than 1 MiB', () => {
  test('is refused by its declared length, at one byte over', async () => {
    const { send, count } = await setUp();
    const before = count();
    const headers = { ...JSON_TYPE, 'content-length': String(MIB + 1) };
    const { status, json } = await send({ body: ' '.repeat(MIB + 1) }, headers);
    expect([status, json.error]).toEqual([413, 'payload_too_large']);
    expect(count()).toEqual(before);
  });

  test('is refused while it arrives in chunks, and not read to its end', async () => {
    const { send } = await setUp();
    const { stream, sent } = chunked(64 * MIB);
    const { status, json } = await send({ body: stream, duplex: 'half' }, JSON_TYPE);
    expect([status, json.error]).toEqual([413, 'payload_too_large']);
    expect(sent()).toBeLessThan(3 * MIB);
  });

  test('is refused in chunks at one byte over', async () => {
    const { send } = await setUp();
    const { stream } = chunked(MIB + 1, 4097);
    expect((await send({ body: stream, duplex: 'half' }, JSON_TYPE)).status).toBe(413);
  });

  test('gets a 401 instead of a 413 without a credential', async () => {
    const { instance } = await setUp();
    const answer = await instance.call('POST', '/api/applications', {
      body: ' '.repeat(MIB + 1),
      headers: { 'content-length': String(MIB + 1) },
    });
    expect(answer.status).toBe(401);
  });

  test('is refused only from one byte more: exactly 1 MiB is read', async () => {
    const { send } = await setUp();
    const text = '{"name":"Shop"}'.padEnd(MIB, ' ');
    expect((await send({ body: text }, { ...JSON_TYPE, 'content-length': String(MIB) })).status).toBe(200);
    const { stream } = chunked(MIB);
    expect((await send({ body: stream, duplex: 'half' }, JSON_TYPE)).status).toBe(200);
  });
});

describe('a body of more than 64 KiB for a public operation', () => {
  const LARGEST = 64 * 1024;
  const asking = JSON.stringify({ email: 'owner@example.com', clientId: 'console' });

  test('is refused with the limit, and one of exactly 64 KiB is read', async () => {
    const { instance } = await setUp();
    const send = (length: number) =>
      instance.call('POST', '/api/v1/auth/otp/send', {
        body: asking.padEnd(length, ' '),
        headers: { ...JSON_TYPE, 'content-length': String(length) },
      });
    const { status, json } = await send(LARGEST + 1);
    expect([status, json.error, json.message]).toEqual([
      413,
      'payload_too_large',
      'The body is too large; send at most 64 KiB.',
    ]);
    expect((await send(LARGEST)).status).toBe(200);
  });
});

describe('an optional body', () => {
  test.each([
    ['none', undefined, {}],
    ['none, with a media type', undefined, JSON_TYPE],
    ['an empty one', '', {}],
    ['an empty one with another media type', '', { 'content-type': 'text/plain' }],
    ['blanks', ' \r\n\t ', JSON_TYPE],
    ['an empty object', '{}', JSON_TYPE],
  ] as [string, string | undefined, Record<string, string>][])('may be %s', async (_, body, headers) => {
    const { send } = await setUp();
    const { status, json } = await send(body === undefined ? {} : { body }, headers);
    expect([status, json.data.name]).toEqual([200, 'Untitled application']);
  });

  test('is refused with unknown fields, which are named without their values', async () => {
    const { instance } = await setUp();
    const body = { colour: 'very-red', size: { deep: 1 } };
    const answer = await instance.call('POST', '/api/applications', { token: instance.workspaceKey, body });
    expect(answer.status).toBe(400);
    expect(answer.json.fields.map(({ path }: { path: string }) => path)).toEqual(['colour', 'size']);
    expect(answer.text).not.toContain('very-red');
  });

  test('with many unknown fields lists at most twenty problems', async () => {
    const { instance } = await setUp();
    const body = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`x${index}`, 1]));
    const answer = await instance.call('POST', '/api/applications', { token: instance.workspaceKey, body });
    expect(answer.json.fields).toHaveLength(20);
  });
});
