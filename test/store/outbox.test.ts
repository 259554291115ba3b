/** A search limited to a number of mails per call resumes where it stopped, without gaps or repeats. */
import { expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY } from '@/core/clock.ts';
import { queueMail } from '@/store/mails.ts';
import { listOutbox } from '@/store/outbox.ts';
import { createInstance } from '../support/instance.ts';

test('mails of the workspace and of the console are found together for any batch size', async () => {
  // Nothing is sent, so all mails stay queued.
  const instance = await createInstance({ mail: { slots: 1, send: () => new Promise(() => {}), close() {} } });
  const { db, workspaceId, clock } = instance;
  const consoleId = instance.services.workspaces.consoleId();
  const written: string[] = [];
  await db.write(SYSTEM_ACTOR, async (unit) => {
    for (let n = 0; n < 30; n += 1) {
      const isConsole = n % 4 === 0;
      const to = isConsole ? 'owner@example.com' : n % 3 === 0 ? `own${n}@example.com` : `other${n}@example.net`;
      const origin = isConsole ? { applicationId: consoleId, workspaceId: null } : { applicationId: null, workspaceId };
      const content = { subject: 's', text: 't', html: 'h', code: null, expiresAt: clock.now() + DAY, origin };
      const id = await queueMail(unit, { to, ...content });
      if (to.includes('own')) written.unshift(id);
    }
  });
  for (const size of [1, 2, 5, 100])
    for (const limit of [1, 3, 50])
      for (const status of [undefined, 'queued'] as const) {
        const seen: string[] = [];
        let before: string | undefined;
        for (;;) {
          const filter = { workspaceId, consoleId, status, q: 'own' };
          const { found, reached } = await listOutbox(db.reader, filter, { before, limit, size });
          seen.push(...found.map(({ id }) => id));
          const isFull = found.length === limit;
          if (!isFull && reached === null) break;
          before = isFull ? found.at(-1)!.id : reached!;
        }
        expect([size, limit, seen]).toEqual([size, limit, written]);
      }
});

test('a rare recipient is found on the first page however many mails are newer, indexed or not', async () => {
  const instance = await createInstance({ mail: { slots: 1, send: () => new Promise(() => {}), close() {} } });
  const { db, workspaceId, clock } = instance;
  const consoleId = instance.services.workspaces.consoleId();
  const content = { subject: 's', text: 't', html: 'h', code: null, expiresAt: clock.now() + DAY };
  const origin = { applicationId: null, workspaceId };
  const rare = await db.write(SYSTEM_ACTOR, async (unit) => {
    const ids = [await queueMail(unit, { ...content, origin, to: 'rare@example.com' })];
    ids.unshift(await queueMail(unit, { ...content, origin, to: 'rare@example.com' }));
    for (let n = 0; n < 1100; n += 1) await queueMail(unit, { ...content, origin, to: `often${n % 7}@example.com` });
    return ids;
  });
  const search = (q: string, status?: 'queued' | 'sent', limit = 50) =>
    listOutbox(db.reader, { workspaceId, consoleId, status, q }, { before: undefined, limit, size: 1000 });
  for (const isIndexed of [false, true]) {
    if (isIndexed) await instance.services.scheduler.runAll();
    expect((await search('rare')).found.map(({ id }) => id)).toEqual(rare);
    expect(await search('rare', 'queued', 1)).toMatchObject({ found: [{ id: rare[0]! }], reached: null });
    expect(await search('rare', 'sent')).toEqual({ found: [], reached: null });
    expect(await search('nobody')).toEqual({ found: [], reached: null });
    expect((await search('often')).found).toHaveLength(50);
  }
});
