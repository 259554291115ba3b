/** Streams read on from their own position, and end with everything that was for them. */
import { expect, test } from 'bun:test';
import { streamHub, type StreamSource } from '@/http/stream-hub.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test('a stream is read once more after it was closed, even if that happens as a read ends', async () => {
  const hub = streamHub({ total: 1, perSubject: 1 });
  const waiting = ['first'];
  let isLastToCome = true;
  const source: StreamSource = {
    budgetId: 'budget',
    subject: 'session',
    topics: [],
    async *read() {
      for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) yield bytes(text);
      if (!isLastToCome) return;
      isLastToCome = false;
      queueMicrotask(() => {
        waiting.push('last');
        hub.close(source);
      });
    },
  };
  expect(await new Response(hub.open(source)).text()).toBe('firstlast');
});

test('a stream that is opened during a stop ends after its first read, so that the stop does not wait for it', async () => {
  const hub = streamHub({ total: 2, perSubject: 2 });
  const source = (text: string): StreamSource => ({
    budgetId: 'budget',
    subject: 'session',
    topics: ['application'],
    async *read() {
      yield bytes(text);
    },
  });
  hub.closeAll();
  expect(await new Response(hub.open(source('snapshot'))).text()).toBe('snapshot');
  expect([hub.count(), hub.has('application')]).toEqual([0, false]);
});
