import { expect, test } from 'bun:test';
import { type RequestQueue, requestQueue } from '@/http/request-queue.ts';

/** Holds the loop, as a handler that works. */
function work(ms: number): void {
  const since = performance.now();
  while (performance.now() - since < ms);
}

/** Runs a request as the intake does. */
const taking =
  ({ isFree, wait }: RequestQueue) =>
  <Result>(run: () => Promise<Result>): Promise<Result> =>
    isFree() ? run() : wait(run);

test('a burst of requests lets timers and others in between, and is taken in the order of arrival', async () => {
  const inTurn = taking(requestQueue());
  const order: string[] = [];
  const requests = Array.from({ length: 20 }, (_, index) =>
    inTurn(async () => {
      work(2);
      order.push(`request ${index}`);
    }),
  );
  setImmediate(() => order.push('somebody else'));
  await Promise.all(requests);
  expect(order.filter((name) => name.startsWith('request'))).toEqual(
    Array.from({ length: 20 }, (_, index) => `request ${index}`),
  );
  expect(order.indexOf('somebody else')).toBeLessThan(15);
});

test('a request in a fresh turn is taken at once', async () => {
  await new Promise((resolve) => setImmediate(resolve));
  let isTaken = false;
  const request = taking(requestQueue())(async () => {
    isTaken = true;
  });
  expect(isTaken).toBe(true);
  await request;
});

test('a request that fails fails for its caller alone', async () => {
  const inTurn = taking(requestQueue());
  const answers = await Promise.allSettled([
    inTurn(async () => work(6)),
    inTurn(async () => {
      throw new Error('mine');
    }),
    inTurn(async () => 'ok'),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('an urgent request is taken before those that wait, which keep their order', async () => {
  const { wait } = requestQueue();
  const order: string[] = [];
  const named = (name: string, isUrgent?: boolean) => wait(async () => void order.push(name), isUrgent);
  await Promise.all([named('first'), named('second'), named('urgent', true)]);
  expect(order).toEqual(['urgent', 'first', 'second']);
});
