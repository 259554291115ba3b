/** Slow bodies end at their deadline, and are limited per client and in total. */
import { expect, test } from 'bun:test';
import type { AppError } from '@/core/error.ts';
import { ReadingValue, slowBodies } from '@/http/slow-bodies.ts';

const LIMITS = { bodySeconds: 0.03, slowBodiesPerAddress: 2, slowBodiesInAll: 3 };
const SLOW_MS = 5;

const client = (ip: string) => ({ ip, headers: {} as Record<string, string> });
const never = () => Promise.withResolvers<string>().promise;
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: AppError) => error,
  );

const asItIs = {
  taken: (text: string) => text,
  failed(error: unknown): never {
    throw error;
  },
};
const reading = (own: ReturnType<typeof client>) => new ReadingValue(own, asItIs, null);

test('a body that arrives in time is returned and not counted as slow', async () => {
  const bodies = slowBodies(LIMITS, SLOW_MS);
  const own = client('192.0.2.1');
  expect(await bodies.watch(Promise.resolve('body'), reading(own))).toBe('body');
  expect([bodies.count(), own.headers]).toEqual([0, {}]);
});

test('a slow body that arrives before its deadline is returned', async () => {
  const bodies = slowBodies({ ...LIMITS, bodySeconds: 25 }, SLOW_MS);
  const body = Promise.withResolvers<string>();
  const given = bodies.watch(body.promise, reading(client('192.0.2.1')));
  while (bodies.count() === 0) await new Promise(setImmediate);
  body.resolve('body');
  expect(await given).toBe('body');
  expect(bodies.count()).toBe(0);
});

test('an error of reading the body is passed on', async () => {
  const bodies = slowBodies(LIMITS, SLOW_MS);
  expect(bodies.watch(Promise.reject(new Error('gone')), reading(client('192.0.2.1')))).rejects.toThrow('gone');
});

test('a body that does not arrive is refused at its deadline, and its connection is closed', async () => {
  const bodies = slowBodies(LIMITS, SLOW_MS);
  const own = client('192.0.2.1');
  const since = performance.now();
  const error = await refusal(bodies.watch(never(), reading(own)));
  expect(error?.code).toBe('request_timeout');
  expect(own.headers).toEqual({ Connection: 'close' });
  expect(performance.now() - since).toBeGreaterThanOrEqual(28);
  expect(bodies.count()).toBe(0);
});

test('a refused body frees its slot once, though its read ends only later', async () => {
  const bodies = slowBodies(LIMITS, SLOW_MS);
  const body = Promise.withResolvers<string>();
  expect((await refusal(bodies.watch(body.promise, reading(client('192.0.2.1')))))?.code).toBe('request_timeout');
  body.reject(new Error('the connection was closed'));
  await new Promise(setImmediate);
  expect(bodies.count()).toBe(0);
});

test('slow bodies are limited in total and per client, with an IPv6 network as one client', async () => {
  const bodies = slowBodies({ ...LIMITS, bodySeconds: 0.2 }, SLOW_MS);
  const watched = ['2001:db8::1', '2001:db8::2', '2001:db8::3', '192.0.2.1', '192.0.2.2'].map((ip) =>
    refusal(bodies.watch(never(), reading(client(ip)))),
  );
  const [, , third, , fifth] = watched;
  expect(await third).toMatchObject({ code: 'rate_limited', limit: 2, retryAfterSeconds: 5 });
  expect(await fifth).toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 });
  expect(bodies.count()).toBe(3);
  expect((await Promise.all(watched)).map((error) => error?.code)).toEqual([
    'request_timeout',
    'request_timeout',
    'rate_limited',
    'request_timeout',
    'unavailable',
  ]);
  expect(bodies.count()).toBe(0);
});

test('many concurrent refusals yield to the event loop, since closing them nests in the runtime', async () => {
  const bodies = slowBodies({ ...LIMITS, slowBodiesPerAddress: 1 }, SLOW_MS);
  let refused = 0;
  let mostInOneTurn = 0;
  const all = Array.from({ length: 1000 }, () =>
    bodies.watch(never(), reading(client('192.0.2.1'))).catch(() => {
      refused += 1;
    }),
  );
  for (let before = 0; refused < all.length; before = refused) {
    await new Promise(setImmediate);
    mostInOneTurn = Math.max(mostInOneTurn, refused - before);
  }
  expect(mostInOneTurn).toBeLessThanOrEqual(200);
});
