import { type Static, type TProperties, Type } from '@sinclair/typebox';
import {
  Choice,
  Email,
  Id,
  Input,
  Name,
  NewSecret,
  Nullable,
  PageOf,
  PageQuery,
  SecretPrefix,
  SlugsHeld,
  Slug,
  Timestamp,
  SeriesUnit,
} from '../../http/schemas.ts';
import { KEY_ACCESS, KEY_SOURCES } from '../../store/api-keys.ts';

export const ApiKeyQuery = Type.Composite([
  PageQuery,
  Type.Object({
    source: Type.Optional(
      Choice(KEY_SOURCES, {
        $id: 'KeySource',
        description: '`device` for personal keys of connected devices, `api` for all others.',
      }),
    ),
  }),
]);
export type ApiKeyQuery = Static<typeof ApiKeyQuery>;

export const DEFAULT_RATE_LIMITS = { perMinute: 60, perDay: 10_000 };

const RateLimits = {
  perMinute: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    remedy: 'Give a whole number from 1 to 1000000.',
    examples: [60],
  }),
  perDay: Type.Integer({
    minimum: 1,
    maximum: 1_000_000_000,
    remedy: 'Give a whole number from 1 to 1000000000.',
    examples: [10_000],
  }),
};

const Slugs = () => Type.Optional(Type.Array(Slug(), { maxItems: 100, remedy: 'Give a list of slugs.' }));

const input = {
  name: Name(),
  access: Type.Optional(Choice(KEY_ACCESS, { description: 'Default `read`.' })),
  expiresAt: Type.Optional(
    Nullable(
      Type.String({
        pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,9})?)?(?:Z|[+-]\\d\\d:\\d\\d)$',
        remedy: 'Give an ISO 8601 time with a zone, such as 2027-01-31T00:00:00Z, or null.',
        examples: ['2027-01-31T00:00:00.000Z'],
      }),
    ),
  ),
  rateLimits: Type.Optional(Input(RateLimits)),
} satisfies TProperties;

export const ApplicationKeyInput = Input({ ...input, roles: Slugs(), scopes: Slugs(), memberships: Slugs() });
export type ApplicationKeyInput = Static<typeof ApplicationKeyInput>;

export const WorkspaceKeyInput = Input({
  ...input,
  roles: Slugs(),
  scopes: Slugs(),
  memberships: Slugs(),
  applicationIds: Type.Optional(
    Nullable(
      Type.Array(Id('app'), { minItems: 1, maxItems: 200, remedy: 'Give 1 to 200 application ids, or null for all.' }),
    ),
  ),
});
export type WorkspaceKeyInput = Static<typeof WorkspaceKeyInput>;

export const ApiKeyPatch = Input(
  {
    name: Type.Optional(input.name),
    expiresAt: input.expiresAt,
    rateLimits: Type.Optional(Input(Type.Partial(Type.Object(RateLimits)).properties)),
  },
  { $id: 'ApiKeyPatch' },
);
export type ApiKeyPatch = Static<typeof ApiKeyPatch>;

/** The person or key that knows a key's token. */
const KeyCreator = Type.Object(
  {
    userId: Id('usr', { description: 'The person, or the principal of the key that created it.' }),
    email: Nullable(Email({ description: 'E-mail of a workspace member; null for a key and for everybody else.' })),
    key: Nullable(
      Type.Object(
        { id: Id('key'), name: Type.String() },
        { description: 'The key that created it; null for a person.' },
      ),
    ),
  },
  { $id: 'KeyCreator' },
);

const record = {
  id: Id('key'),
  name: Type.String(),
  prefix: SecretPrefix('apiKey', { description: 'Distinguishes keys; not a secret.' }),
  access: Choice(KEY_ACCESS, { $id: 'KeyAccess' }),
  applicationId: Nullable(Id('app')),
  applicationIds: Nullable(Type.Array(Id('app'))),
  userId: Id('usr', { description: 'The synthetic principal; of a personal key the person.' }),
  source: Type.String({ description: '`device` for a personal key.', examples: ['api'] }),
  createdBy: Type.Union([KeyCreator, Type.Null()], {
    description: 'Who knows its token, by creating or later rotating it; null for the server itself.',
  }),
  deviceKeyId: Nullable(
    Type.String({ description: 'The personal key that created it and ends it; null for other keys.' }),
  ),
  roles: SlugsHeld(),
  scopes: SlugsHeld(),
  memberships: SlugsHeld(),
  rateLimits: Type.Object(RateLimits, { $id: 'RateLimits' }),
  usage: Type.Object(
    { minute: Type.Integer({ examples: [12] }), day: Type.Integer({ examples: [340] }) },
    {
      $id: 'KeyUsage',
      description: 'Calls in the present minute and UTC day; a key and its successors count as one.',
    },
  ),
  expiresAt: Nullable(Timestamp()),
  revokedAt: Nullable(Timestamp()),
  rotatedToId: Nullable(Id('key')),
  gracePeriodEndsAt: Nullable(Timestamp()),
  lastUsedAt: Nullable(Timestamp()),
  createdAt: Timestamp(),
  updatedAt: Timestamp(),
} satisfies TProperties;

export const ApiKeySchema = Type.Object(record, { $id: 'ApiKey' });
export type ApiKeyRecord = Static<typeof ApiKeySchema>;

export const ApiKeyPage = PageOf(ApiKeySchema);

export const NewApiKeySchema = Type.Intersect([ApiKeySchema, Type.Object({ token: NewSecret('apiKey') })], {
  $id: 'NewApiKey',
});
export type NewApiKeyRecord = Static<typeof NewApiKeySchema>;

const Calls = Type.Integer({ examples: [340] });

export const KeyCalls = Type.Object(
  {
    unit: SeriesUnit,
    points: Type.Array(Type.Object({ at: Timestamp(), accepted: Calls, refused: Calls })),
  },
  { $id: 'KeyCalls', description: 'Refused: answered with an error, or with a token that is not valid.' },
);
export type KeyCalls = Static<typeof KeyCalls>;
