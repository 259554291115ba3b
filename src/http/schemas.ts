/** Basic schemas, so that an id, a time or a page looks the same in every operation. */
import { type SchemaOptions, type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { SECRET_PREFIXES, type SecretKind } from '../core/secret.ts';
import { LANGUAGE_LEVELS } from '../store/languages.ts';

/** An ISO 8601 UTC time with milliseconds. */
export const Timestamp = (options: SchemaOptions = {}) =>
  Type.String({ $id: 'Timestamp', format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'], ...options });

export const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** Schema names of ids, by their prefix. */
const ID_NAMES = {
  adr: 'AddressId',
  app: 'ApplicationId',
  aud: 'ActivityId',
  bet: 'BetaInterestId',
  blk: 'BulkChangeId',
  bkp: 'BackupRunId',
  chl: 'ChallengeId',
  dlv: 'DeliveryId',
  ent: 'LegalEntityId',
  evt: 'EventId',
  idp: 'ProviderIdentityId',
  mail: 'MailId',
  key: 'ApiKeyId',
  psk: 'PasskeyId',
  ses: 'SessionId',
  usr: 'UserId',
  whk: 'WebhookId',
  wsm: 'WorkspaceMemberId',
  wsp: 'WorkspaceId',
} as const;

/** Id. @param prefix for name and example only: an id with another prefix is merely not found. */
export const Id = (prefix: keyof typeof ID_NAMES, options: SchemaOptions = {}) =>
  Type.String({ $id: ID_NAMES[prefix], examples: [`${prefix}_01kat1h5ppe3bv2d9g3wq5r1xm`], ...options });

/** New secret, which only this answer shows. */
export const NewSecret = (kind: SecretKind, description = 'Returned once, in plain text.') =>
  Type.String({ description, examples: [`${SECRET_PREFIXES[kind]}_…`] });

export const SecretPrefix = (kind: SecretKind, options: SchemaOptions = {}) =>
  Type.String({ examples: [`${SECRET_PREFIXES[kind]}_4fJq0aXz`], ...options });

/** E-mail address as typed, maybe non-ASCII; the operation normalises it. */
export const Email = (options: SchemaOptions = {}) =>
  Type.String({
    $id: 'Email',
    describedFormat: 'idn-email',
    minLength: 3,
    maxLength: 320,
    remedy: 'Give an e-mail address.',
    examples: ['ada@example.com'],
    ...options,
  });

/** One line for mails and terminals, without control characters and bidi marks that disguise a text. */
export const LINE_PATTERN = '[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]*';

/** Several lines of free text, without terminal control characters. */
export const Remark = (remedy = 'Give at most 500 characters, without control characters.') =>
  Type.String({ maxLength: 500, pattern: `^${LINE_PATTERN.replace('\\u001f', '\\u0009\\u000b-\\u001f')}$`, remedy });

export const Name = () =>
  Type.String({
    $id: 'Name',
    minLength: 1,
    maxLength: 100,
    pattern: `^(?=.*\\S)${LINE_PATTERN}$`,
    remedy: 'Give a name of 1 to 100 characters.',
    examples: ['Shop'],
  });

/** Six digits of a mailed code, as people type and paste them. */
export const OneTimeCode = () =>
  Type.String({
    maxLength: 32,
    pattern: '^(?:[\\s-]*[0-9]){6}[\\s-]*$',
    remedy: 'Give the six digits of the code.',
    examples: ['042917'],
  });

/** Regional settings in answers; they were validated when set. */
export const Country = () => Type.String({ describedFormat: 'iso-3166-1-alpha-2', examples: ['AT'] });
export const Currency = () => Type.String({ describedFormat: 'iso-4217', examples: ['EUR'] });
export const TimeZone = (options: SchemaOptions = {}) =>
  Type.String({ describedFormat: 'iana-time-zone', examples: ['Europe/Vienna'], ...options });
export const LanguageTag = (options: SchemaOptions = {}) =>
  Type.String({ describedFormat: 'bcp-47', examples: ['de-AT'], ...options });

/** A person's regional settings; null for what they have not set. */
export const RegionSchema = Type.Union(
  [
    Type.Object(
      {
        country: Nullable(Country()),
        uiLocale: Nullable(LanguageTag()),
        timeZone: Nullable(TimeZone()),
        currency: Nullable(Currency()),
        measurementSystem: Nullable(Type.String({ examples: ['metric'] })),
      },
      { $id: 'Region' },
    ),
    Type.Null(),
  ],
  { $id: 'RegionIfGiven' },
);

export const Slug = () => Type.String({ examples: ['user'] });

/** The slugs of roles, scopes or groups, in an answer. */
export const SlugsHeld = () => Type.Array(Slug(), { $id: 'Slugs' });

/** One of a few words; the error names them all. */
export const Choice = <const Values extends readonly string[]>(values: Values, options: SchemaOptions = {}) =>
  Type.Unsafe<Values[number]>(
    Type.String({
      enum: [...values],
      pattern: `^(?:${values.join('|')})$`,
      remedy: `Give one of: ${values.join(', ')}.`,
      ...options,
    }),
  );

export const LanguageSchema = Type.Object(
  { code: LanguageTag(), level: Choice(LANGUAGE_LEVELS, { $id: 'LanguageLevel' }) },
  { $id: 'Language' },
);

/** Request object; unknown fields are refused. */
export const Input = <Properties extends TProperties>(properties: Properties, options: SchemaOptions = {}) =>
  Type.Object(properties, { additionalProperties: false, remedy: 'Give a JSON object.', ...options });

/** Accepts any value but documents the schema, for rows that are validated one by one. */
export const Described = <Schema extends TSchema>(schema: Schema) =>
  Type.Unsafe<Static<Schema>>(Type.Any({ described: schema }));

export const PageOf = <Item extends TSchema>(item: Item) =>
  Type.Object(
    { items: Type.Array(item), nextCursor: Nullable(Type.String()) },
    item.$id === undefined ? {} : { $id: `${item.$id}Page` },
  );

export const PageQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      default: 50,
      description: 'Maximum number of entries.',
      remedy: 'Give a whole number from 1 to 200.',
    }),
  ),
  cursor: Type.Optional(Type.String({ isAnyText: true, description: '`nextCursor` of the previous page.' })),
});
export type PageQuery = Static<typeof PageQuery>;

export const DEFAULT_PAGE_SIZE = 50;

const CHANGE_OUTCOMES = ['changed', 'unchanged', 'not_found', 'refused'] as const;

export type ChangeOutcome = (typeof CHANGE_OUTCOMES)[number];
export const ChangeOutcomeSchema = Choice(CHANGE_OUTCOMES, { $id: 'ChangeOutcome' });

/** Reason why one item of a bulk change is `refused`; the other items go on. */
export const refusalOfOne = {
  error: Type.Optional(Type.String({ description: 'Error code, if `refused`.', examples: ['invalid_state'] })),
  message: Type.Optional(
    Type.String({ description: 'The refusal as a sentence.', examples: ['The current state does not allow this.'] }),
  ),
};

export const ChangeSummary = Type.Object(
  {
    requested: Type.Integer(),
    changed: Type.Integer({ examples: [2] }),
    skipped: Type.Integer({ description: 'All others; see their outcomes.' }),
  },
  { $id: 'ChangeSummary' },
);

export const ManyIds = (prefix: keyof typeof ID_NAMES, max: number) =>
  Type.Array(Id(prefix), {
    minItems: 1,
    maxItems: max,
    uniqueItems: true,
    remedy: `Give 1 to ${max} different ids.`,
  });

/** Query of values over time. */
export const SeriesQuery = Type.Object({
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 31,
      default: 7,
      description: 'UTC days, up to today; 1 for the last 24 hours by the hour.',
      remedy: 'Give a whole number from 1 to 31.',
    }),
  ),
});
export type SeriesQuery = Static<typeof SeriesQuery>;

export const DEFAULT_SERIES_DAYS = 7;

export const SeriesUnit = Choice(['hour', 'day'], { $id: 'SeriesUnit' });
