import { afterAll, expect, test } from 'bun:test';
import { closeAfter } from '@/http/close-after.ts';
import { listenerDrain } from '@/http/listener-drain.ts';

const { arrived, leave } = listenerDrain();
const listener = Bun.serve({
  port: 0,
  fetch: () => (arrived() ? closeAfter(new Response('here')) : new Response('here')),
});
afterAll(() => listener.stop(true));

test('a listener that is closing asks clients to reconnect, and is not held open by busy ones', async () => {
  const connectionOf = async () => (await fetch(listener.url)).headers.get('connection');
  expect(await connectionOf()).not.toBe('close');
  let isGone = false;
  const gone = leave().then(() => (isGone = true));
  const seen = new Set<string | null>();
  while (!isGone) seen.add(await connectionOf());
  await gone;
  expect([...seen]).toEqual(['close']);
});
