/** The quick incidents of an operator's night; a long run plays all of them. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { ACTS, night } from '../faults/night.ts';
import { isLong } from '../support/long.ts';

// A failed mail is retried after some seconds.
setDefaultTimeout(isLong ? 600_000 : 120_000);

test('an operator recovers from a dead mail server, a move to another machine and a lost mailbox with the binary alone', async () => {
  expect((await night(isLong ? ACTS : ['mail', 'move', 'locked out'])).problems).toEqual([]);
});
