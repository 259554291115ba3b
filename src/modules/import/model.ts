import { type SchemaOptions, type Static, Type } from '@sinclair/typebox';
import { Choice, Described, Input, Nullable } from '../../http/schemas.ts';
import { ATTRIBUTES_INPUT } from '../../http/user-attributes.ts';
import { LANGUAGE_LEVELS } from '../../store/languages.ts';

const MAX_ROWS = 500;

const Text = () => Type.Optional(Nullable(Type.String({ maxLength: 200, remedy: 'Give at most 200 characters.' })));

const Slugs = (options: SchemaOptions = {}) =>
  Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100, remedy: 'Give a list of slugs.', ...options }),
  );

const SlugsAlso = (name: string) => Slugs({ description: `The same as \`${name}\`; give one of the two.` });

export const ImportProfile = Input(
  {
    username: Text(),
    givenName: Text(),
    familyName: Text(),
    fullName: Text(),
    locale: Text(),
    timezone: Text(),
    languages: Type.Optional(
      Type.Array(
        Input({
          code: Type.String({ minLength: 2, maxLength: 35, remedy: 'Give a language tag.', examples: ['en'] }),
          level: Choice(LANGUAGE_LEVELS, { $id: 'LanguageLevel' }),
        }),
        { maxItems: 50, remedy: 'Give at most 50 languages.' },
      ),
    ),
  },
  { $id: 'ImportProfile' },
);
export type ImportProfile = Static<typeof ImportProfile>;

export const ImportRow = Input(
  {
    email: Type.String({ maxLength: 1000, remedy: 'Give an e-mail address.', examples: ['ada@example.com'] }),
    roles: Slugs(),
    scopes: Slugs(),
    memberships: Slugs(),
    roleSlugs: SlugsAlso('roles'),
    scopeSlugs: SlugsAlso('scopes'),
    membershipSlugs: SlugsAlso('memberships'),
    ...ATTRIBUTES_INPUT,
    profile: Type.Optional(ImportProfile),
  },
  { $id: 'ImportRow' },
);
export type ImportRow = Static<typeof ImportRow>;

export const ImportInput = Input({
  // An invalid row fails alone: see `rows.ts`.
  users: Type.Array(Described(ImportRow), {
    maxItems: MAX_ROWS,
    isAnyText: true,
    remedy: `Give a list of at most ${MAX_ROWS} rows.`,
  }),
});

export const IMPORT_OUTCOMES = ['created', 'linked', 'already_member', 'skipped'] as const;
export type ImportOutcome = (typeof IMPORT_OUTCOMES)[number];

export const ImportResult = Type.Object(
  {
    summary: Type.Object({
      requested: Type.Integer(),
      created: Type.Integer(),
      linked: Type.Integer(),
      alreadyMember: Type.Integer(),
      skipped: Type.Integer(),
    }),
    results: Type.Array(
      Type.Object({
        email: Type.String(),
        outcome: Choice(IMPORT_OUTCOMES, { $id: 'ImportOutcome' }),
        userId: Nullable(Type.String()),
        error: Type.Optional(
          Type.String({
            description:
              'Why the row is skipped: `email_invalid`, `email_archived`, `user_deleted`, `username_taken:<name>`, `external_id_taken:<id>`, `username_invalid`, `locale_invalid`, `timezone_invalid` or `language_invalid`; `field_invalid:<path>` for any other field, such as `field_invalid:profile.fullName`; `field_unknown:<path>` for one that does not exist; `field_repeated:<name>` for `roles` beside `roleSlugs` and the like; `row_invalid` for what is no object.',
          }),
        ),
      }),
    ),
    unknownSlugs: Type.Object({
      roles: Type.Array(Type.String()),
      scopes: Type.Array(Type.String()),
      memberships: Type.Array(Type.String()),
    }),
  },
  { $id: 'ImportResult' },
);
export type ImportResult = Static<typeof ImportResult>;

export const UsernameCheckInput = Input({
  usernames: Type.Array(Type.String({ maxLength: 1000 }), {
    maxItems: MAX_ROWS,
    isAnyText: true,
    remedy: `Give a list of at most ${MAX_ROWS} names.`,
  }),
});

export const UsernameCheck = Type.Object({
  results: Type.Array(
    Type.Object({
      input: Type.String(),
      username: Type.String({ description: 'Normalised.' }),
      status: Choice(['available', 'taken', 'format_invalid']),
    }),
  ),
  summary: Type.Object({
    requested: Type.Integer(),
    available: Type.Integer(),
    taken: Type.Integer(),
    formatInvalid: Type.Integer(),
  }),
});
export type UsernameCheck = Static<typeof UsernameCheck>;
