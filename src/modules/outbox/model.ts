import { type Static, Type } from '@sinclair/typebox';
import { Choice, Email, Id, Input, Nullable, PageOf, PageQuery, Timestamp } from '../../http/schemas.ts';
import { SENT_NOW_OUTCOMES } from '../../mail/send-now.ts';
import { MAIL_STATUSES } from '../../store/outbox.ts';

const LANES = ['code', 'notice', 'bulk'] as const;

export const OutboxQuery = Type.Composite([
  PageQuery,
  Type.Object({
    status: Type.Optional(Choice(MAIL_STATUSES, { $id: 'MailStatus', description: 'Only mails in this state.' })),
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
  sender: Nullable(Type.String({ examples: ['Shop'] })),
  subject: Nullable(
    Type.String({
      description: 'Lists omit its code.',
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
      'Whether the content can be read: it was captured, not sent, and its recipient has a proved address ' +
      'and is known only to the caller’s workspaces.',
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
  to: Type.Optional(Email({ description: 'Address of a workspace member; default the caller’s own.' })),
});

export const MailTestSchema = Type.Object(
  {
    transport: Choice(['smtp', 'outbox'], { $id: 'MailTransport' }),
    to: Email(),
    outcome: Choice(SENT_NOW_OUTCOMES, {
      description: '`captured` without a mail server; `timeout` if it did not answer in time.',
    }),
    answer: Nullable(
      Type.String({
        description: 'The mail server’s answer, or the failure that prevented one.',
        examples: ['250 2.0.0 Ok: queued as 4F2A1'],
      }),
    ),
    durationMs: Type.Integer(),
  },
  { $id: 'MailTest' },
);
export type MailTestRecord = Static<typeof MailTestSchema>;
