/** The quick incidents of an operator's night; `bun test/faults/night.ts` plays all of them. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { night } from '../faults/night.ts';

// A failed mail is retried after some seconds.
setDefaultTimeout(90_000);

test('a dead mail server, a move to another machine and a lost mailbox are lived through by the binary alone', async () => {
  expect((await night(['mail', 'move', 'locked out'])).problems).toEqual([]);
});
