/** Schemas of an application's activity. */
import { type Static, Type } from '@sinclair/typebox';
import { Choice, Id, Nullable, PageOf, PageQuery, Timestamp } from '../../http/schemas.ts';

export const ActivityQuery = Type.Composite([
  PageQuery,
  Type.Object({
    status: Type.Optional(Choice(['ok', 'error'], { description: 'Only what went well, or only what failed.' })),
    family: Type.Optional(
      Type.String({
        pattern: '^[a-z._]{1,50}$',
        description: 'What a kind begins with: a family, such as `signin`, or more of the kind or less.',
        remedy: 'Give the beginning of a kind, such as signin or apikey.rot.',
        examples: ['signin'],
      }),
    ),
    country: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z]{2}$',
        description: 'The `ipCountry` of the record.',
        remedy: 'Give a two-letter country code.',
        examples: ['DE'],
      }),
    ),
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 320,
        description: 'Part of the user’s e-mail, in any case.',
        remedy: 'Give 1 to 320 characters.',
      }),
    ),
  }),
]);
export type ActivityQuery = Static<typeof ActivityQuery>;

export const AuthEvent = Type.Object(
  {
    id: Id('aud'),
    kind: Type.String({ examples: ['signin.succeeded'] }),
    ok: Type.Boolean(),
    userId: Nullable(Type.String({ description: 'The person it is about.' })),
    email: Nullable(Type.String()),
    actorType: Choice(['user', 'key', 'anonymous', 'system']),
    actorUserId: Nullable(Type.String()),
    actorApiKeyId: Nullable(Type.String()),
    targetId: Nullable(Type.String()),
    requestId: Nullable(Type.String()),
    ip: Nullable(Type.String()),
    ipCountry: Nullable(Type.String()),
    detail: Nullable(Type.Record(Type.String(), Type.Unknown())),
    createdAt: Timestamp(),
  },
  { $id: 'AuthEvent' },
);
export type AuthEvent = Static<typeof AuthEvent>;

export const ActivityPage = PageOf(AuthEvent);
