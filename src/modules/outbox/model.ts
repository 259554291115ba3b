/** Schemas of a workspace's outbox and of the test mail. */
import { type Static, Type } from '@sinclair/typebox';
import { Choice, Email, Id, Input, Nullable, PageOf, PageQuery, Timestamp } from '../../http/schemas.ts';
import { SENT_NOW_OUTCOMES } from '../../mail/send-now.ts';
import { MAIL_STATUSES } from '../../store/outbox.ts';

const LANES = ['code', 'notice', 'bulk'] as const;

export const OutboxQuery = Type.Composite([
  PageQuery,
  Type.Object({
    status: Type.Optional(
      Choice(MAIL_STATUSES, { $id: 'MailStatus', description: 'Only mails that have come as far as this.' }),
    ),
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 320,
        description: 'Part of the recipient’s address, in any case.',
        remedy: 'Give 1 to 320 characters.',
        examples: ['ada@'],
      }),
    ),
  }),
]);
export type OutboxQuery = Static<typeof OutboxQuery>;

const record = {
  id: Id('mail'),
  to: Email(),
  subject: Nullable(
    Type.String({
      description: 'Its code is left out of a list.',
      examples: ['042917 is your code for Shop'],
    }),
  ),
  lane: Choice(LANES, { $id: 'MailLane' }),
  status: Choice(MAIL_STATUSES, { $id: 'MailStatus' }),
  attempts: Type.Integer(),
  lastError: Nullable(Type.String({ examples: ['450 4.2.1 mailbox busy'] })),
  applicationId: Nullable(Id('app')),
  createdAt: Timestamp(),
  sentAt: Nullable(Timestamp()),
  isReadable: Type.Boolean({
    description:
      'Whether it is shown what the mail says: it was captured here, no mail server has it, and its reader is somebody the ' +
      'caller’s own workspaces know, with an address they have proved, and no other does.',
  }),
};

export const OutboxMailSchema = Type.Object(record, { $id: 'OutboxMail' });
export type OutboxMailRecord = Static<typeof OutboxMailSchema>;

export const OutboxPage = PageOf(OutboxMailSchema);

export const OutboxLetterSchema = Type.Object(
  {
    ...record,
    text: Nullable(Type.String({ examples: ['042917 is your code for Shop.'] })),
    html: Nullable(Type.String({ examples: ['<!doctype html><p>042917 is your code for Shop.</p>'] })),
    code: Nullable(Type.String({ examples: ['042917'] })),
  },
  { $id: 'OutboxLetter' },
);
export type OutboxLetterRecord = Static<typeof OutboxLetterSchema>;

export const MailTestInput = Input({
  to: Type.Optional(Email({ description: 'Of a member of the workspace; a person’s own where it is left out.' })),
});

export const MailTestSchema = Type.Object(
  {
    transport: Choice(['smtp', 'outbox'], { $id: 'MailTransport' }),
    to: Email(),
    outcome: Choice(SENT_NOW_OUTCOMES, {
      description: '`captured` without a mail server; `timeout` where it had not answered when the wait was over.',
    }),
    answer: Nullable(
      Type.String({
        description: 'The mail server’s own words, or what failed in their place.',
        examples: ['250 2.0.0 Ok: queued as 4F2A1'],
      }),
    ),
    durationMs: Type.Integer(),
  },
  { $id: 'MailTest' },
);
export type MailTestRecord = Static<typeof MailTestSchema>;
