/** Bodies in progress use no more memory than `anonymousBodiesMib` and `authenticatedBodiesMib`. */
import { expect, test } from 'bun:test';
import * as given from '../support/given.ts';
import { bodyReader } from '@/http/body-reader.ts';
import type { RequestContext } from '@/http/request-context.ts';
import { createInstance, type Instance, seenAs } from '../support/instance.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const SETTINGS = { GATEHOUSE_LIMIT_ANONYMOUS_BODIES_MIB: '1', GATEHOUSE_LIMIT_AUTHENTICATED_BODIES_MIB: '4' };
/** The largest body that is accepted without a credential. Sixteen of them are 1 MiB. */
const ANONYMOUS = 64 * KIB;

interface Sending {
  /** Resolves once the body is read, so that its bytes are held. */
  readonly isRead: Promise<void>;
  readonly answer: Promise<{ status: number; retryAfter: string | null; error: string | undefined }>;
  /** Sends the part that was held back. */
  finish(): void;
}

/** Sends a request whose body ends on `finish`. A chunked body has sent `bytes` before. */
function send(
  instance: Instance,
  path: string,
  text: object,
  options: { token?: string; bytes: number; isChunked?: boolean; method?: string },
): Sending {
  const { token, bytes, isChunked = false, method = 'POST' } = options;
  const json = Buffer.from(JSON.stringify(text).padEnd(bytes, ' '));
  const held = Promise.withResolvers<void>();
  const reading = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (isChunked) controller.enqueue(new Uint8Array(json));
      },
      async pull(controller) {
        reading.resolve();
        await held.promise;
        if (!isChunked) controller.enqueue(new Uint8Array(json));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(!isChunked && { 'content-length': String(bytes) }),
  };
  const request = new Request(`http://localhost${path}`, { method, headers, body });
  const answer = Promise.resolve(instance.app.fetch(request, seenAs(path))).then(async (response) => ({
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    error: ((await response.json()) as { error?: string }).error,
  }));
  return { isRead: reading.promise, answer, finish: held.resolve };
}

const REFUSED = { status: 503, retryAfter: '1', error: 'unavailable' };
const times = (count: number, make: () => Sending) => Array.from({ length: count }, make);
async function statuses(sendings: readonly Sending[]): Promise<number[]> {
  for (const { finish } of sendings) finish();
  return (await Promise.all(sendings.map(({ answer }) => answer))).map(({ status }) => status);
}

test.each([
  ['with a declared length', false],
  ['in chunks', true],
])(
  'anonymous bodies %s are limited to the setting, except small ones, and release their memory',
  async (_, isChunked) => {
    const instance = await createInstance({ environment: SETTINGS });
    const verify = (bytes = ANONYMOUS) =>
      send(instance, '/api/v1/auth/otp/verify', { challengeId: 'none', code: '123456' }, { bytes, isChunked });
    for (let round = 0; round < 2; round += 1) {
      const held = times(16, () => verify());
      // Chunks are counted as they are read.
      await new Promise((resolve) => setImmediate(resolve));
      expect(await verify().answer).toEqual(REFUSED);
      expect(await statuses([verify(4 * KIB)])).not.toContain(503);
      expect(await statuses(held)).not.toContain(503);
    }
  },
);

test('authenticated bodies have their own pool, a quarter of it per workspace for all its keys', async () => {
  const instance = await createInstance({ environment: SETTINGS });
  const create = (token: string, bytes = 512 * KIB) =>
    send(instance, '/api/applications', { name: 'Shop' }, { token, bytes });
  const anonymous = times(16, () =>
    send(instance, '/api/v1/auth/otp/verify', { challengeId: 'none', code: '123456' }, { bytes: ANONYMOUS }),
  );
  const second = await given.workspaceKey(instance);
  const held = [create(instance.workspaceKey), create(second.token)];
  await Promise.all(held.map(({ isRead }) => isRead));
  expect(await create(instance.workspaceKey).answer).toEqual(REFUSED);
  expect(await create(second.token, 5 * KIB).answer).toEqual(REFUSED);
  const other = create((await given.tenant(instance)).workspaceKey);
  expect(await statuses([other, ...held])).toEqual([200, 200, 200]);
  expect(await statuses([create(instance.workspaceKey)])).toEqual([200]);
  expect(await statuses(anonymous)).not.toContain(503);
});

test('a body that its operation does not read counts until the response', async () => {
  const instance = await createInstance({ environment: SETTINGS });
  const { id } = await instance.createApplication();
  const remove = (bytes: number) =>
    send(
      instance,
      `/api/applications/${id}/api-keys/none`,
      {},
      { token: instance.workspaceKey, method: 'DELETE', bytes },
    ).answer;
  expect(await remove(2 * MIB)).toEqual(REFUSED);
  expect((await remove(KIB)).status).toBe(404);
});

test('a chunked body that keeps arriving after its request holds no memory', async () => {
  const bodies = bodyReader({
    bodySeconds: 20,
    slowBodiesPerAddress: 1,
    slowBodiesInAll: 1,
    anonymousBodiesMib: 1,
    authenticatedBodiesMib: 1,
  });
  const begin = () => {
    const stream = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
    const body = new ReadableStream<Uint8Array>({ start: (controller) => stream.resolve(controller) });
    const request = new Request('http://localhost/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const context = { request, ip: '192.0.2.1', headers: {}, bodyHold: null } as unknown as RequestContext;
    return { context, stream: stream.promise, read: bodies.read(context, null) };
  };
  for (let count = 0; count < 17; count += 1) {
    const { context, stream, read } = begin();
    bodies.release(context);
    (await stream).enqueue(new Uint8Array(ANONYMOUS).fill(0x20));
    await expect(read).rejects.toMatchObject({ code: 'unavailable' });
  }
  const { stream, read } = begin();
  (await stream).enqueue(Buffer.from('{}'.padEnd(ANONYMOUS, ' ')));
  (await stream).close();
  expect(await read).toEqual({});
});
