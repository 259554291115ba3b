import { Type } from '@sinclair/typebox';
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { type AdjustableClock, DAY, isoTime } from '../../core/clock.ts';
import { normalizeEmail } from '../../core/email.ts';
import type { Database } from '../../db/database.ts';
import { decodeCursor, pageOf } from '../../db/page.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { Input, Nullable, PageOf, PageQuery, Timestamp } from '../../http/schemas.ts';
import { deleteAllMails, listMails, type Mail } from '../../store/mails.ts';

const CapturedMail = Type.Object({
  id: Type.String(),
  to: Type.String(),
  sender: Nullable(Type.String()),
  replyTo: Nullable(Type.String()),
  subject: Type.String(),
  text: Nullable(Type.String()),
  html: Nullable(Type.String()),
  code: Nullable(Type.String()),
  createdAt: Timestamp(),
});

const MAX_ADVANCE_MS = 3650 * DAY;
const MAX_PAGE = 1000;

export interface TestToolDependencies {
  readonly db: Database;
  readonly clock: AdjustableClock;
  readonly runJobs: () => Promise<void>;
}

export function testToolRoutes({ db, clock, runJobs }: TestToolDependencies): Operation[] {
  const open = { tag: 'Test', access: 'none', scope: 'instance', limit: 'none', isUndocumented: true } as const;
  return [
    operation({
      ...open,
      id: 'listCapturedMail',
      method: 'GET',
      path: '/test/outbox',
      summary: 'Captured mail, newest first',
      query: Type.Object({
        to: Type.Optional(Type.String()),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE })),
        cursor: PageQuery.properties.cursor,
      }),
      data: PageOf(CapturedMail),
      errors: ['invalid_cursor'],
      async handle({ query: { to, cursor, limit = MAX_PAGE } }) {
        const recipient = to === undefined ? undefined : (normalizeEmail(to) ?? to);
        const before = cursor === undefined ? undefined : decodeCursor(cursor, ['string'])[0];
        const mails = await listMails(db.reader, { recipient, before, limit: limit + 1 });
        return pageOf(mails, limit, ({ id }) => [id], present);
      },
    }),
    operation({
      ...open,
      id: 'clearCapturedMail',
      method: 'DELETE',
      path: '/test/outbox',
      summary: 'Empty the captured mail',
      data: Type.Object({ deleted: Type.Integer() }),
      handle: async () => ({ deleted: await db.write(SYSTEM_ACTOR, deleteAllMails) }),
    }),
    operation({
      ...open,
      id: 'advanceClock',
      method: 'POST',
      path: '/test/clock',
      summary: 'Move this instance’s clock forward and run what became due',
      body: Input({
        advanceMs: Type.Integer({
          minimum: 0,
          maximum: MAX_ADVANCE_MS,
          remedy: 'Give a whole number of milliseconds, 0 or more and at most ten years.',
        }),
      }),
      data: Type.Object({ now: Timestamp() }),
      async handle({ body }) {
        clock.advance(body.advanceMs);
        await runJobs();
        return { now: isoTime(clock.now()) };
      },
    }),
  ];
}

function present({ id, recipient, senderName, replyTo, subject, text, html, code, createdAt }: Mail) {
  return { id, to: recipient, sender: senderName, replyTo, subject, text, html, code, createdAt: isoTime(createdAt) };
}
