/** An operator's night, as far as it is quick: `bun test/faults/night.ts` plays all of it. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { night } from '../faults/night.ts';

// Mail is waited for that is tried again after some seconds.
setDefaultTimeout(90_000);

test('a dead mail server, a move to another machine and a lost mailbox are lived through by the binary alone', async () => {
  expect((await night(['mail', 'move', 'locked out'])).problems).toEqual([]);
});
