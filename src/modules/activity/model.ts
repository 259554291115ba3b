import { type Static, Type } from '@sinclair/typebox';
import { Choice, Id, Nullable, PageOf, PageQuery, Timestamp } from '../../http/schemas.ts';

const Time = (description: string) =>
  Type.String({
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,9})?)?(?:Z|[+-]\\d\\d:\\d\\d)$',
    description,
    remedy: 'Give an ISO 8601 time with a zone, such as 2027-01-31T00:00:00Z.',
    examples: ['2027-01-31T00:00:00.000Z'],
  });

const IdFilter = (description: string, example: string) =>
  Type.Optional(
    Type.String({
      pattern: '^[a-z]{2,8}_[0-9A-Za-z]{1,64}$',
      description,
      remedy: `Give a whole id, such as ${example}.`,
      examples: [example],
    }),
  );

export const ActivityQuery = Type.Composite([
  PageQuery,
  Type.Object({
    status: Type.Optional(Choice(['ok', 'error'], { description: 'Only successes, or only failures.' })),
    family: Type.Optional(
      Type.String({
        pattern: '^[a-z._]{1,50}$',
        description: 'Prefix of a kind: a family such as `signin`, or a longer or shorter prefix.',
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
    userId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Only records about this person, `usr_…`.',
        remedy: 'Give the id of a user.',
        examples: ['usr_01kat1h5ppe3bv2d9g3wq5r1xm'],
      }),
    ),
    actorUserId: IdFilter('Only what this person, or this key’s principal, did.', 'usr_01kat1h5ppe3bv2d9g3wq5r1xm'),
    actorApiKeyId: IdFilter('Only calls with this API key.', 'key_01kat1h5ppe3bv2d9g3wq5r1xm'),
    targetId: IdFilter(
      'Only records about this object, by any id; a person’s works as `userId`.',
      'whk_01kat1h5ppe3bv2d9g3wq5r1xm',
    ),
    requestId: IdFilter('Only what this request did: its `x-request-id`.', 'req_01kat1h5ppe3bv2d9g3wq5r1xm'),
    email: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 320,
        description:
          'Only records about exactly this address. With `status=error`: why somebody was refused, with or without an account.',
        remedy: 'Give an e-mail address.',
        examples: ['ada@example.com'],
      }),
    ),
    reason: Type.Optional(
      Type.String({
        pattern: '^[a-z_]{1,60}$',
        description:
          'Only records with this reason in their `detail`: of a refusal its error code, as in `refusalsByReason` of the statistics.',
        remedy: 'Give an error code, such as gate_closed.',
        examples: ['gate_closed'],
      }),
    ),
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 320,
        description: 'Part of the user’s e-mail, in any case; or a whole user id.',
        remedy: 'Give 1 to 320 characters.',
      }),
    ),
    from: Type.Optional(Time('Only from this time.')),
    to: Type.Optional(Time('Only before this time.')),
  }),
]);
export type ActivityQuery = Static<typeof ActivityQuery>;

export const AuthEvent = Type.Object(
  {
    id: Id('aud'),
    applicationId: Nullable(Type.String({ description: 'Null for the workspace as a whole.' })),
    kind: Type.String({ examples: ['signin.succeeded'] }),
    ok: Type.Boolean(),
    userId: Nullable(Type.String({ description: 'The person it is about.' })),
    userName: Nullable(Type.String({ description: 'Their name, with full access.', examples: ['Ada Lovelace'] })),
    email: Nullable(Type.String()),
    actorType: Choice(['user', 'key', 'anonymous', 'system']),
    actorUserId: Nullable(Type.String()),
    actorApiKeyId: Nullable(Type.String()),
    actorName: Nullable(
      Type.String({
        description: 'Of a key, its name; of a person, the name with full access, else the e-mail.',
        examples: ['Deploy'],
      }),
    ),
    targetId: Nullable(Type.String()),
    targetName: Nullable(
      Type.String({ description: 'Name of the object, at the time if it was recorded.', examples: ['Shop backend'] }),
    ),
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
