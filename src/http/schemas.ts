/** The atoms that schemas are made of, so that an id, a time or a page looks the same in every operation. */
import { type SchemaOptions, type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { SECRET_PREFIXES, type SecretKind } from '../core/secret.ts';
import { LANGUAGE_LEVELS } from '../store/languages.ts';

/** An ISO 8601 UTC time with milliseconds. */
export const Timestamp = (options: SchemaOptions = {}) =>
  Type.String({ $id: 'Timestamp', format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'], ...options });

export const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** How the kinds of ids are called, by what an id of them begins with. */
const ID_NAMES = {
  adr: 'AddressId',
  app: 'ApplicationId',
  aud: 'ActivityId',
  bet: 'BetaInterestId',
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

/** @param prefix of the kind of id, for name and example alone: an id that looks otherwise is merely not found. */
export const Id = (prefix: keyof typeof ID_NAMES, options: SchemaOptions = {}) =>
  Type.String({ $id: ID_NAMES[prefix], examples: [`${prefix}_01kat1h5ppe3bv2d9g3wq5r1xm`], ...options });

/** A secret in an answer, which shows it this once. */
export const NewSecret = (kind: SecretKind, description = 'In plain text, this once.') =>
  Type.String({ description, examples: [`${SECRET_PREFIXES[kind]}_…`] });

/** What a secret is told by afterwards: no secret itself. */
export const SecretPrefix = (kind: SecretKind, options: SchemaOptions = {}) =>
  Type.String({ examples: [`${SECRET_PREFIXES[kind]}_4fJq0aXz`], ...options });

/** An address as it is typed, to be normalised by whoever takes it; it may have letters that are not ASCII. */
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

/** One line, for mails and terminals, without the marks that make a text read other than it is written. */
export const LINE_PATTERN = '[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]*';

/** A few lines of a person's own words, without what steers a terminal. */
export const Remark = (remedy = 'Give at most 500 characters, without control characters.') =>
  Type.String({ maxLength: 500, pattern: `^${LINE_PATTERN.replace('\\u001f', '\\u0009\\u000b-\\u001f')}$`, remedy });

/** A name that people read. */
export const Name = () =>
  Type.String({
    $id: 'Name',
    minLength: 1,
    maxLength: 100,
    pattern: `^(?=.*\\S)${LINE_PATTERN}$`,
    remedy: 'Give a name of 1 to 100 characters.',
    examples: ['Shop'],
  });

/** The six digits of a mailed code, as people type and paste them. */
export const OneTimeCode = () =>
  Type.String({
    maxLength: 32,
    pattern: '^(?:[\\s-]*[0-9]){6}[\\s-]*$',
    remedy: 'Give the six digits of the code.',
    examples: ['042917'],
  });

/** What is told in an answer of where and how a person lives: checked when it was given. */
export const Country = () => Type.String({ describedFormat: 'iso-3166-1-alpha-2', examples: ['AT'] });
export const Currency = () => Type.String({ describedFormat: 'iso-4217', examples: ['EUR'] });
export const TimeZone = (options: SchemaOptions = {}) =>
  Type.String({ describedFormat: 'iana-time-zone', examples: ['Europe/Vienna'], ...options });
export const LanguageTag = (options: SchemaOptions = {}) =>
  Type.String({ describedFormat: 'bcp-47', examples: ['de-AT'], ...options });

/** Where a person is at home; null for what they have not set. */
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

/** One of a few words; the refusal names them all. */
export const Choice = <const Values extends readonly string[]>(values: Values, options: SchemaOptions = {}) =>
  Type.Unsafe<Values[number]>(
    Type.String({
      enum: [...values],
      pattern: `^(?:${values.join('|')})$`,
      remedy: `Give one of: ${values.join(', ')}.`,
      ...options,
    }),
  );

/** A language that a person speaks. */
export const LanguageSchema = Type.Object(
  { code: LanguageTag(), level: Choice(LANGUAGE_LEVELS, { $id: 'LanguageLevel' }) },
  { $id: 'Language' },
);

/** An object of a request: fields that are not named are refused. */
export const Input = <Properties extends TProperties>(properties: Properties, options: SchemaOptions = {}) =>
  Type.Object(properties, { additionalProperties: false, remedy: 'Give a JSON object.', ...options });

/** Accepts any value, but is described as the schema: for rows that are judged one by one. */
export const Described = <Schema extends TSchema>(schema: Schema) =>
  Type.Unsafe<Static<Schema>>(Type.Any({ described: schema }));

/** A page of a list. */
export const PageOf = <Item extends TSchema>(item: Item) =>
  Type.Object(
    { items: Type.Array(item), nextCursor: Nullable(Type.String()) },
    item.$id === undefined ? {} : { $id: `${item.$id}Page` },
  );

/** What every list takes: how many, and where the last page ended. */
export const PageQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      default: 50,
      description: 'How many at most.',
      remedy: 'Give a whole number from 1 to 200.',
    }),
  ),
  cursor: Type.Optional(Type.String({ isAnyText: true, description: '`nextCursor` of the page before.' })),
});
export type PageQuery = Static<typeof PageQuery>;

export const DEFAULT_PAGE_SIZE = 50;

const CHANGE_OUTCOMES = ['changed', 'unchanged', 'not_found', 'refused'] as const;

/** What became of one of many that a call was to change. */
export type ChangeOutcome = (typeof CHANGE_OUTCOMES)[number];
export const ChangeOutcomeSchema = Choice(CHANGE_OUTCOMES, { $id: 'ChangeOutcome' });

/** Why one of many is `refused`; the others go on. */
export const refusalOfOne = {
  error: Type.Optional(
    Type.String({ description: 'Of what is `refused`: the code of the refusal.', examples: ['invalid_state'] }),
  ),
  message: Type.Optional(
    Type.String({ description: 'The same as a sentence.', examples: ['The current state does not allow this.'] }),
  ),
};

export const ChangeSummary = Type.Object(
  {
    requested: Type.Integer(),
    changed: Type.Integer({ examples: [2] }),
    skipped: Type.Integer({ description: 'All others: see their outcomes.' }),
  },
  { $id: 'ChangeSummary' },
);

/** Ids of what a call is to change. */
export const ManyIds = (prefix: keyof typeof ID_NAMES, max: number) =>
  Type.Array(Id(prefix), {
    minItems: 1,
    maxItems: max,
    uniqueItems: true,
    remedy: `Give 1 to ${max} different ids.`,
  });
