/** What only an ephemeral instance offers, so that an integration test can read its mail and move its clock. */
import { desc, eq } from 'drizzle-orm';
import { Type } from '@sinclair/typebox';
import { type AdjustableClock, DAY, isoTime } from '../../core/clock.ts';
import { normalizeEmail } from '../../core/email.ts';
import { mails } from '../../db/schema/records.ts';
import type { Database } from '../../db/unit-of-work.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { Input, Nullable, Timestamp } from '../../http/schemas.ts';

const CapturedMail = Type.Object({
  id: Type.String(),
  to: Type.String(),
  subject: Type.String(),
  text: Nullable(Type.String()),
  html: Nullable(Type.String()),
  code: Nullable(Type.String()),
  createdAt: Timestamp(),
});

const MAX_ADVANCE_MS = 3650 * DAY;
const MAX_MAILS = 1000;

export interface TestToolDependencies {
  readonly db: Database;
  readonly clock: AdjustableClock;
  /** Runs whatever is due. */
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
      query: Type.Object({ to: Type.Optional(Type.String()) }),
      data: Type.Object({ items: Type.Array(CapturedMail) }),
      handle({ query: { to } }) {
        const rows = db.orm
          .select()
          .from(mails)
          .where(to === undefined ? undefined : eq(mails.recipient, normalizeEmail(to) ?? to))
          .orderBy(desc(mails.id))
          .limit(MAX_MAILS)
          .all();
        const items = rows.map(({ id, recipient, subject, text, html, code, createdAt }) => ({
          id,
          to: recipient,
          subject,
          text,
          html,
          code,
          createdAt: isoTime(createdAt),
        }));
        return { items };
      },
    }),
    operation({
      ...open,
      id: 'clearCapturedMail',
      method: 'DELETE',
      path: '/test/outbox',
      summary: 'Empty the captured mail',
      data: Type.Object({ deleted: Type.Integer() }),
      handle: () => ({ deleted: db.orm.delete(mails).returning({ id: mails.id }).all().length }),
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
