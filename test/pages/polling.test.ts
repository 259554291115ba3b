/** The polling of the pages: its rhythm, in a tab that is hidden, and while the server is away. */
import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import { poll, type Polled } from '@/pages/browser/polling.ts';

const SECOND = 1_000;
const page = Object.assign(new EventTarget(), { hidden: false });
let asked = 0;
let answer: Polled = 'answered';
let stop: () => void;

const ask = () => {
  asked += 1;
  return Promise.resolve(answer);
};

/** Lets time pass second by second, with what follows each answer. @returns how often the server was asked. */
async function within(seconds: number): Promise<number> {
  const before = asked;
  for (let passed = 0; passed < seconds; passed += 1) {
    jest.advanceTimersByTime(SECOND);
    await Promise.resolve();
    await Promise.resolve();
  }
  return asked - before;
}

function setHidden(hidden: boolean): void {
  page.hidden = hidden;
  page.dispatchEvent(new Event('visibilitychange'));
}

beforeEach(() => {
  jest.useFakeTimers();
  Object.assign(globalThis, { document: page });
  page.hidden = false;
  asked = 0;
  answer = 'answered';
  stop = () => {};
});
afterEach(() => {
  stop();
  jest.useRealTimers();
  Reflect.deleteProperty(globalThis, 'document');
});

test('the server is asked within six seconds, and about ten times a minute', async () => {
  stop = poll(ask);
  expect(asked).toBe(0);
  expect(await within(6)).toBe(1);
  const many = await within(60);
  expect([many >= 10, many <= 12]).toEqual([true, true]);
});

test('the server is asked at once where the page needs it', () => {
  stop = poll(ask, true);
  expect(asked).toBe(1);
});

test('a hidden tab asks nothing, and asks at once when it is seen again', async () => {
  stop = poll(ask);
  setHidden(true);
  expect(await within(120)).toBe(0);
  setHidden(false);
  expect(asked).toBe(1);
  expect(await within(7)).toBe(1);
});

test('a server that is away is asked ever more rarely, and as before once it answers', async () => {
  stop = poll(ask);
  answer = 'failed';
  expect(await within(600)).toBeLessThan(14);
  answer = 'answered';
  expect(await within(100)).toBeGreaterThan(0);
  expect(await within(60)).toBeGreaterThanOrEqual(9);
});

test('polling that is over or stopped asks nothing more, whatever happens to the tab', async () => {
  stop = poll(ask);
  answer = 'over';
  expect(await within(7)).toBe(1);
  setHidden(true);
  setHidden(false);
  expect(await within(60)).toBe(0);
  answer = 'answered';
  poll(ask)();
  setHidden(true);
  setHidden(false);
  expect(await within(60)).toBe(0);
});
