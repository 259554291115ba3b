/** Pages of captured mail in an ephemeral instance. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY } from '@/core/clock.ts';
import { queueMail } from '@/store/mails.ts';
import { createInstance, START } from '../../support/instance.ts';
import { BAD_CURSORS } from '../users/management.ts';

async function withMails(count: number) {
  const instance = await createInstance({ mode: 'ephemeral' });
  await instance.db.write(SYSTEM_ACTOR, async (unit) => {
    for (let index = 0; index < count; index += 1)
      await queueMail(unit, {
        to: `p${index % 2}@example.com`,
        ...{ subject: String(index), text: 'Hello', html: '<p>Hello</p>', code: null, expiresAt: START + DAY },
        origin: { applicationId: null, workspaceId: null },
      });
  });
  const page = async (query: string) => (await instance.call('GET', `/test/outbox?${query}`)).json.data;
  const read = async (query: string) => {
    const pages: string[][] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { items, nextCursor }: { items: { subject: string }[]; nextCursor: string | null } = await page(
        `${query}${cursor && `&cursor=${cursor}`}`,
      );
      pages.push(items.map(({ subject }) => subject));
      cursor = nextCursor;
    }
    return pages;
  };
  return { instance, read };
}

describe('the outbox of an ephemeral instance', () => {
  test('lists more than a page completely and without repeats', async () => {
    const { read } = await withMails(2003);
    const pages = await read('');
    expect(pages.map(({ length }) => length)).toEqual([1000, 1000, 3]);
    expect(pages.flat()).toEqual(Array.from({ length: 2003 }, (_, index) => String(2002 - index)));
  });

  test('filters by recipient, with pages of the requested size', async () => {
    const { read } = await withMails(9);
    expect(await read('to=p1@example.com&limit=2')).toEqual([
      ['7', '5'],
      ['3', '1'],
    ]);
    expect(await read('to=nobody@example.com')).toEqual([[]]);
  });

  test.each(['limit=0', 'limit=1001', 'limit=x'])('refuses %s', async (query) => {
    const { instance } = await withMails(0);
    const { status, json } = await instance.call('GET', `/test/outbox?${query}`);
    expect([status, json.fields]).toEqual([400, [{ path: 'limit', message: 'Give a whole number from 1 to 1,000.' }]]);
  });

  test.each(BAD_CURSORS)('refuses the cursor %j', async (cursor) => {
    const { instance } = await withMails(0);
    const { status, json } = await instance.call('GET', `/test/outbox?cursor=${cursor}`);
    expect([status, json.error]).toEqual([400, 'invalid_cursor']);
  });
});
